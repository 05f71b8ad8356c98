// Finds the driver's library and fills the table.
#include "lib/Runtime/Driver.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <vector>

namespace joule {

constexpr const char *cudaLibrary = "libcuda.so.1";
constexpr const char *virtualLibrary = "libjoule-vgpu.so";
constexpr const char *virtualEntry = "joule_vgpu_get_proc_address";

// Functions that the runtime does without, so that older drivers are welcome.
static bool isOptional(const std::string &name) {
  return name == "cuLaunchKernelEx" || name == "cuGetProcAddress_v2" || name == "cuMemAllocAsync" ||
         name == "cuMemFreeAsync" || name == "cuCtxCreate_v2" || name == "cuFuncGetParamInfo";
}

template <typename Lookup> static Result<void> fillTable(Driver &driver, const char *library, Lookup lookup) {
#define JOULE_FILL(name, parameters)                                                                         \
  driver.name = reinterpret_cast<decltype(driver.name)>(lookup(#name));                                      \
  if (!driver.name && !isOptional(#name))                                                                    \
    return Error{ErrorCode::DriverMissing, fmt::format("{} lacks {}", library, #name), ""};
  JOULE_DRIVER_FUNCTIONS(JOULE_FILL)
#undef JOULE_FILL
  return {};
}

static Result<void> initialise(const Driver &driver) {
  if (CUresult code = driver.cuInit(0); code != CUDA_SUCCESS)
    return driver.failure(code, "start the driver");
  return {};
}

Result<std::shared_ptr<const Driver>> Driver::openCuda() {
  void *library = dlopen(cudaLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{ErrorCode::DriverMissing, fmt::format("cannot open the GPU's driver: {}", dlerror()), ""};
  auto driver = std::make_shared<Driver>();
  auto lookup = [&](const char *symbol) { return dlsym(library, symbol); };
  if (Result<void> filled = fillTable(*driver, cudaLibrary, lookup); !filled)
    return filled.error();
  if (Result<void> started = initialise(*driver); !started)
    return started.error();
  return std::shared_ptr<const Driver>(driver);
}

// Beside whatever holds this function: build/bin and build/lib, or an install's bin and lib.
static std::vector<std::string> virtualCandidates() {
  std::vector<std::string> paths;
  Dl_info self;
  if (dladdr(reinterpret_cast<void *>(&virtualCandidates), &self) && self.dli_fname) {
    std::error_code code;
    std::filesystem::path file = std::filesystem::canonical(self.dli_fname, code);
    // The main program's name is what it was called by; the link is exact.
    if (code || !file.has_parent_path())
      file = std::filesystem::read_symlink("/proc/self/exe", code);
    std::filesystem::path folder = file.parent_path();
    for (int level = 0; level < 4 && !folder.empty(); ++level, folder = folder.parent_path()) {
      paths.push_back((folder / virtualLibrary).string());
      paths.push_back((folder / "lib" / virtualLibrary).string());
    }
  }
  paths.push_back(virtualLibrary);
  return paths;
}

// Before the driver starts, which fixes what it is.
static Result<void> chooseVirtual(JouleVgpuGetProcAddress lookup, const std::string &which) {
  if (which.empty())
    return {};
  auto setOptions = reinterpret_cast<JouleVgpuSetOptions>(lookup("jouleVgpuSetOptions"));
  JouleVgpuOptions options = {};
  options.size = sizeof options;
  options.device = which.c_str();
  if (setOptions && setOptions(&options) == 0)
    return {};
  auto lastError = reinterpret_cast<JouleVgpuLastError>(lookup("jouleVgpuLastError"));
  std::string why = lastError ? lastError() : "";
  return Error{ErrorCode::DeviceUnknown,
               fmt::format("the virtual GPU cannot be \"{}\"{}{}", which, why.empty() ? "" : ": ", why), ""};
}

static void watchFindings(Driver &driver) {
  auto isChecking = reinterpret_cast<JouleVgpuIsChecking>(driver.virtualFunction("jouleVgpuIsChecking"));
  if (!isChecking || !isChecking())
    return;
  driver.countFindings =
      reinterpret_cast<JouleVgpuCountFindings>(driver.virtualFunction("jouleVgpuCountFindings"));
  driver.finding = reinterpret_cast<JouleVgpuFinding>(driver.virtualFunction("jouleVgpuFinding"));
  driver.nameNodes = reinterpret_cast<JouleVgpuNameNodes>(driver.virtualFunction("jouleVgpuNameNodes"));
}

Result<std::shared_ptr<const Driver>> Driver::openVirtual(const std::string &which) {
  void *library = nullptr;
  for (const std::string &path : virtualCandidates()) {
    std::error_code code;
    bool isBare = path == virtualLibrary;
    if (!isBare && !std::filesystem::exists(path, code))
      continue;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    if (!isBare)
      return Error{ErrorCode::DriverMissing, fmt::format("cannot open the virtual GPU: {}", dlerror()), ""};
  }
  if (!library)
    return Error{ErrorCode::DriverMissing, fmt::format("cannot find the virtual GPU, {}", virtualLibrary),
                 ""};
  auto lookup = reinterpret_cast<JouleVgpuGetProcAddress>(dlsym(library, virtualEntry));
  if (!lookup)
    return Error{ErrorCode::DriverMissing, fmt::format("{} lacks {}", virtualLibrary, virtualEntry), ""};
  auto driver = std::make_shared<Driver>();
  driver->isVirtual = true;
  driver->virtualFunction = lookup;
  if (Result<void> filled = fillTable(*driver, virtualLibrary, lookup); !filled)
    return filled.error();
  if (Result<void> chosen = chooseVirtual(lookup, which); !chosen)
    return chosen.error();
  if (Result<void> started = initialise(*driver); !started)
    return started.error();
  watchFindings(*driver);
  return std::shared_ptr<const Driver>(driver);
}

Result<void> Driver::findingsBeyond(size_t known) const {
  size_t count = countFindings ? countFindings() : 0;
  if (count <= known)
    return {};
  std::string more = count > known + 1 ? fmt::format(" (and {} more)", count - known - 1) : "";
  return Error{ErrorCode::DriverFailed, fmt::format("the virtual GPU found {}{}", finding(known), more), ""};
}

static ErrorCode kindOf(CUresult code) {
  switch (code) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return ErrorCode::DeviceMemoryFull;
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return ErrorCode::TimeLimit;
  default:
    return ErrorCode::DriverFailed;
  }
}

Error Driver::failure(CUresult code, const std::string &what) const {
  const char *name = nullptr;
  const char *text = nullptr;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS || !name)
    name = "an unknown error";
  if (cuGetErrorString(code, &text) != CUDA_SUCCESS || !text)
    text = "no description";
  return {kindOf(code),
          fmt::format("cannot {}: the driver says {} ({}): {}", what, name, static_cast<int>(code), text),
          ""};
}

} // namespace joule
