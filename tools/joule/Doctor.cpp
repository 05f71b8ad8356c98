// `joule doctor`: what this machine has for Joule to run on.
#include "joule/Device.h"
#include "tools/joule/Command.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

/// The first file of that name that may be executed, on the path and where the CUDA toolkit is put; empty:
/// none.
static std::string findProgram(const std::string &name) {
  const char *variable = std::getenv("PATH");
  std::string path = variable ? variable : "";
  path += ":/usr/local/cuda/bin";
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin) + "/" + name;
    if (std::filesystem::is_regular_file(file) && access(file.c_str(), X_OK) == 0)
      return file;
    begin = end + 1;
  }
  return "";
}

static Json describe(const DeviceProperties &properties) {
  return {{"name", properties.name},
          {"computeCapability", fmt::format("{}.{}", properties.major, properties.minor)},
          {"multiprocessors", properties.multiprocessors},
          {"memoryBytes", properties.memoryBytes},
          {"clockHz", properties.clockHz},
          {"virtual", properties.isVirtual}};
}

/// The devices of one driver ("cuda", "virtual"), or why there are none.
static Json inspect(const std::string &driver) {
  Json devices = Json::array();
  // The numbers run from 0; the first that is missing ends them.
  for (int number = 0;; ++number) {
    Result<Device> device = Device::open(fmt::format("{}:{}", driver, number));
    if (!device && number == 0)
      return {{"driver", driver}, {"devices", devices}, {"problem", device.error().toString()}};
    if (!device)
      return {{"driver", driver}, {"devices", devices}};
    devices.push_back(describe(device->properties()));
    devices.back()["open"] = fmt::format("{}:{}", driver, number);
  }
}

static void printDriver(const Json &driver) {
  std::string name = driver["driver"];
  if (driver.contains("problem"))
    fmt::print("{}: none: {}\n", name, driver["problem"].get<std::string>());
  for (const Json &device : driver["devices"])
    fmt::print("{}: {}, compute capability {}, {} multiprocessors, {:.1f} GB\n",
               device["open"].get<std::string>(), device["name"].get<std::string>(),
               device["computeCapability"].get<std::string>(), device["multiprocessors"].get<int>(),
               device["memoryBytes"].get<double>() / 1e9);
}

static ExitCode examine(bool json) {
  Json drivers = {inspect("cuda"), inspect("virtual")};
  std::string ptxas = findProgram("ptxas");
  bool any = !drivers[0]["devices"].empty() || !drivers[1]["devices"].empty();
  if (json) {
    print({{"drivers", drivers}, {"ptxas", ptxas.empty() ? Json(nullptr) : Json(ptxas)}});
  } else {
    for (const Json &driver : drivers)
      printDriver(driver);
    fmt::print("ptxas: {}\n",
               ptxas.empty() ? "none: the driver assembles kernels when they are loaded" : ptxas);
  }
  return any ? Succeeded : Failed;
}

Command addDoctor(CLI::App &parent) {
  auto json = std::make_shared<bool>(false);
  CLI::App *app = addSubcommand(parent, "doctor",
                                "Say which drivers, devices and tools are found; exits with 1 if no "
                                "device can be opened",
                                "joule doctor");
  addJson(*app, *json);
  return {app, [json] { return examine(*json); }};
}

} // namespace joule::cli
