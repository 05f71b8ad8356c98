// Opens devices by name, and keeps the models loaded on them.
#include "lib/Runtime/DeviceState.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace joule {

namespace {

// "virtual:a100,exact" is {virtual, "a100", ",exact"}, "cuda" is {cuda, "", ""}.
struct DeviceName {
  bool isVirtual = false;
  std::string which, options;
};

} // namespace

static std::string lowerCase(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

static bool isNumber(const std::string &text) {
  return text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
}

static std::optional<DeviceName> parseName(const std::string &name) {
  size_t colon = name.find(':');
  std::string driver = name.substr(0, colon);
  std::string which = colon == std::string::npos ? "" : name.substr(colon + 1);
  if ((driver != "virtual" && driver != "cuda") || (colon != std::string::npos && which.empty()))
    return std::nullopt;
  size_t comma = driver == "virtual" ? std::min(which.find(','), which.size()) : which.size();
  return DeviceName{driver == "virtual", lowerCase(which.substr(0, comma)), lowerCase(which.substr(comma))};
}

// A number, or part of the name that the driver gives a device.
static Result<int> findOrdinal(const Driver &driver, const DeviceName &name) {
  int count = 0;
  if (CUresult code = driver.cuDeviceGetCount(&count); code != CUDA_SUCCESS)
    return driver.failure(code, "count the devices");
  if (isNumber(name.which)) {
    int ordinal = name.which.empty() ? 0 : std::stoi(name.which);
    if (ordinal < count)
      return ordinal;
    return Error{ErrorCode::DeviceUnknown,
                 fmt::format("there is no device {}; the driver has {}", ordinal, count), ""};
  }
  std::string names;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    char text[256] = "";
    if (driver.cuDeviceGetName(text, sizeof text, ordinal) != CUDA_SUCCESS)
      continue;
    if (lowerCase(text).find(name.which) != std::string::npos)
      return ordinal;
    names += (names.empty() ? "" : ", ") + std::string(text);
  }
  return Error{ErrorCode::DeviceUnknown,
               fmt::format("there is no device \"{}\"; the driver has: {}", name.which, names), ""};
}

// A driver is opened once in a process, a device once while anybody holds it.
namespace {
struct OpenDevices {
  std::mutex mutex;
  std::shared_ptr<const Driver> drivers[2]; // real, virtual
  std::string virtualOptions;
  std::map<std::pair<bool, int>, std::weak_ptr<Device::Impl>> devices;
};
} // namespace

static OpenDevices &openDevices() {
  // Never destroyed: a device that a global variable holds may be the last to go.
  static auto *devices = new OpenDevices;
  return *devices;
}

Result<Device> Device::open(const std::string &name) {
  std::optional<DeviceName> parsed = parseName(name);
  if (!parsed)
    return Error{ErrorCode::DeviceUnknown,
                 fmt::format("\"{}\" is no device; write virtual, virtual:<gpu>, cuda or cuda:<n>", name),
                 ""};
  OpenDevices &open = openDevices();
  std::lock_guard lock(open.mutex);
  std::shared_ptr<const Driver> &driver = open.drivers[parsed->isVirtual];
  if (!driver) {
    Result<std::shared_ptr<const Driver>> opened =
        parsed->isVirtual
            ? Driver::openVirtual((isNumber(parsed->which) ? "" : parsed->which) + parsed->options)
            : Driver::openCuda();
    if (!opened)
      return opened.error();
    driver = *opened;
    if (parsed->isVirtual)
      open.virtualOptions = parsed->options;
  } else if (parsed->isVirtual && !parsed->options.empty() && parsed->options != open.virtualOptions) {
    return Error{ErrorCode::DeviceUnknown,
                 fmt::format("the virtual GPU of this process was first opened without \"{}\"",
                             parsed->options.substr(1)),
                 ""};
  }
  Result<int> ordinal = findOrdinal(*driver, *parsed);
  if (!ordinal)
    return ordinal.error();
  std::weak_ptr<Impl> &known = open.devices[{parsed->isVirtual, *ordinal}];
  if (std::shared_ptr<Impl> impl = known.lock())
    return Device(impl);
  Result<std::shared_ptr<Impl>> impl = Impl::open(driver, *ordinal, name);
  if (!impl)
    return impl.error();
  known = *impl;
  return Device(*impl);
}

std::string DeviceProperties::architecture() const { return fmt::format("sm_{}{}", major, minor); }

const std::string &Device::name() const { return shared->name; }
const DeviceProperties &Device::properties() const { return shared->properties; }

static Result<DeviceProperties> readProperties(const Driver &driver, CUdevice device) {
  DeviceProperties properties;
  char name[256] = "";
  int clockKhz = 0;
  size_t memory = 0;
  auto attribute = [&](int *value, CUdevice_attribute which) {
    return driver.cuDeviceGetAttribute(value, which, device);
  };
  for (CUresult code : {
           driver.cuDeviceGetName(name, sizeof name, device),
           driver.cuDeviceTotalMem_v2(&memory, device),
           attribute(&properties.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
           attribute(&properties.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
           attribute(&properties.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
           attribute(&clockKhz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
       })
    if (code != CUDA_SUCCESS)
      return driver.failure(code, "ask a device for its properties");
  properties.name = name;
  properties.memoryBytes = static_cast<int64_t>(memory);
  properties.clockHz = int64_t(1000) * clockKhz;
  properties.isVirtual = driver.isVirtual;
  return properties;
}

Result<std::shared_ptr<Device::Impl>> Device::Impl::open(std::shared_ptr<const Driver> driver, int ordinal,
                                                         std::string name) {
  std::shared_ptr<Impl> impl(new Impl);
  impl->name = std::move(name);
  impl->driver = std::move(driver);
  const Driver &calls = *impl->driver;
  if (CUresult code = calls.cuDeviceGet(&impl->device, ordinal); code != CUDA_SUCCESS)
    return calls.failure(code, fmt::format("open device {}", ordinal));
  Result<DeviceProperties> properties = readProperties(calls, impl->device);
  if (!properties)
    return properties.error();
  impl->properties = *properties;
  if (CUresult code = calls.cuDevicePrimaryCtxRetain(&impl->context, impl->device); code != CUDA_SUCCESS) {
    impl->context = nullptr;
    return calls.failure(code, fmt::format("use device {}", ordinal));
  }
  return impl;
}

Result<std::string> Device::Impl::busId() const {
  char text[64] = "";
  if (CUresult code = driver->cuDeviceGetPCIBusId(text, sizeof text, device); code != CUDA_SUCCESS)
    return driver->failure(code, "ask a device for its place");
  return std::string(text);
}

Device::Impl::~Impl() {
  if (context)
    (void)driver->cuDevicePrimaryCtxRelease_v2(device);
}

Result<std::shared_ptr<const LoadedModel>> Device::Impl::load(const Artifact &artifact,
                                                              const std::string &target) {
  std::lock_guard lock(mutex);
  Held &held = models[{artifact.impl().get(), target}];
  if (std::shared_ptr<const LoadedModel> model = held.model.lock();
      model && held.artifact.lock() == artifact.impl())
    return model;
  ContextScope scope(*driver, context);
  Result<std::shared_ptr<LoadedModel>> model =
      LoadedModel::load(driver, artifact, artifact.impl()->plans.at(target), !driver->isVirtual);
  if (!model)
    return model.error();
  // Whoever lets go last does so on a thread that may have another context. The deleter itself lives as long
  // as `held` knows it, so it must not keep this device.
  auto release = [self = shared_from_this(), model = *model](const LoadedModel *) mutable {
    std::shared_ptr<Impl> device = std::move(self);
    ContextScope scope(*device->driver, device->context);
    model.reset();
  };
  std::shared_ptr<const LoadedModel> shared(model->get(), release);
  *model = nullptr;
  held = {artifact.impl(), shared};
  return shared;
}

} // namespace joule
