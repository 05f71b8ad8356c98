// Modules, kernels, libraries.
#include "lib/VirtualGpu/Driver/FatBinary.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Textures.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace joule::vgpu;

struct CUlib_st {
  std::string text;
  std::mutex mutex; // of all below
  std::map<CUcontext, CUmodule> modules;
  std::map<std::string, std::unique_ptr<CUkern_st>> kernels;
};

struct CUkern_st {
  CUlibrary library;
  std::string name;
};

namespace joule::vgpu {

/// The JIT options that Joule knows: where to write errors.
struct JitLog {
  char *buffer = nullptr;
  size_t size = 0;

  JitLog(unsigned int count, const CUjit_option *options, void **values) {
    want(count == 0 || (options && values), "options without values");
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        buffer = static_cast<char *>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        size = size_t(reinterpret_cast<uintptr_t>(values[i]));
    }
  }
  void write(const char *text) const {
    if (!buffer || !size)
      return;
    strncpy(buffer, text, size);
    buffer[size - 1] = 0;
  }
};

static DecodeOptions decodeOptions(const Device &device) {
  DecodeOptions options;
  options.exactArchitecture = driver().settings.exact ? device.facts.major * 10 + device.facts.minor : 0;
  options.check = driver().settings.check;
  return options;
}

static CUmodule load(std::string text, CUcontext context, const JitLog &log) {
  try {
    auto made = std::make_unique<CUmod_st>(std::move(text), context, context->device->memory,
                                           decodeOptions(*context->device));
    driver().handles.add(made.get(), HandleKind::Module);
    std::lock_guard lock(context->mutex);
    context->modules.insert(made.get());
    return made.release();
  } catch (const ptx::ParseError &error) {
    log.write(error.what());
    fail(CUDA_ERROR_INVALID_PTX, error.what());
  }
}

static std::string readFile(const char *file) {
  want(file, "null pointer");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read ") + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **values) {
  want(module && image, "null pointer");
  CUcontext context = ready();
  JitLog log(numOptions, options, values);
  log.write("");
  *module = load(ptxOfImage(image, context->device->facts), context, log);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoad(CUmodule *module, const char *file) {
  want(module, "null pointer");
  CUcontext context = ready();
  *module = load(ptxOfFile(readFile(file), context->device->facts), context, JitLog(0, nullptr, nullptr));
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  wantHandle(module, HandleKind::Module);
  drainAll();
  if (!driver().handles.remove(module, HandleKind::Module))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a module");
  for (auto &[name, function] : module->functions)
    driver().handles.remove(function.get(), HandleKind::Function);
  forgetReferencesOf(module);
  {
    std::lock_guard lock(module->context->mutex);
    module->context->modules.erase(module);
  }
  if (module->library) {
    std::lock_guard lock(module->library->mutex);
    module->library->modules.erase(module->context);
  }
  delete module;
  return CUDA_SUCCESS;
}

void destroyModulesOf(CUcontext context) {
  while (!context->modules.empty())
    cuModuleUnload(*context->modules.begin());
}

CUresult cuModuleGetLoadingMode(int *mode) {
  want(mode, "null pointer");
  *mode = 2; // kernels are decoded when they are asked for
  return CUDA_SUCCESS;
}

static CUfunction functionIn(CUmodule module, const std::string &name) {
  std::lock_guard lock(module->mutex);
  auto it = module->functions.find(name);
  if (it != module->functions.end())
    return it->second.get();
  KernelImage *image = module->module.kernel(name);
  if (!image)
    fail(CUDA_ERROR_NOT_FOUND, "the module has no kernel '" + name + "'");
  auto made = std::make_unique<CUfunc_st>(CUfunc_st{image, module, name});
  driver().handles.add(made.get(), HandleKind::Function);
  return (module->functions[name] = std::move(made)).get();
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  want(function && name, "null pointer");
  ready();
  wantHandle(module, HandleKind::Module);
  *function = functionIn(module, name);
  return CUDA_SUCCESS;
}

static std::vector<std::string> kernelsOf(const ptx::Module &module) {
  std::vector<std::string> names;
  for (auto &function : module.functions)
    if (function->entry && function->defined)
      names.push_back(function->name);
  return names;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module) {
  want(count, "null pointer");
  wantHandle(module, HandleKind::Module);
  *count = unsigned(kernelsOf(module->module.source()).size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module) {
  want(functions, "null pointer");
  wantHandle(module, HandleKind::Module);
  std::vector<std::string> names = kernelsOf(module->module.source());
  for (size_t i = 0; i < std::min<size_t>(count, names.size()); ++i)
    functions[i] = functionIn(module, names[i]);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  want(name, "null pointer");
  ready();
  wantHandle(module, HandleKind::Module);
  uint64_t where, size;
  if (!module->module.global(name, where, size))
    fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no variable '") + name + "'");
  if (address)
    *address = where;
  if (bytes)
    *bytes = size;
  return CUDA_SUCCESS;
}

// --- functions ---

static int maxThreads(const ptx::Function &f) {
  uint32_t required = f.requiredBlock[0] * f.requiredBlock[1] * f.requiredBlock[2];
  return int(required ? required : f.maxThreads ? f.maxThreads : 1024);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t parameter, size_t *offset, size_t *size) {
  want(offset, "null pointer");
  const Program &program = functionOf(function)->image->entry();
  want(parameter < program.kernelParameters.size(), "the kernel has no such parameter");
  *offset = program.kernelParameters[parameter];
  if (size)
    *size = program.kernelParameterSizes[parameter];
  return CUDA_SUCCESS;
}

/// 80 of "sm_80".
static int versionOf(const std::string &target) { return target.size() > 3 ? atoi(target.c_str() + 3) : 0; }

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
  want(value, "null pointer");
  CUfunction function = functionOf(handle);
  const KernelImage &image = *function->image;
  const DeviceFacts &facts = function->module->context->device->facts;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = maxThreads(*image.entry().function);
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = int(image.staticShared());
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = int(image.localBytes());
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = int(std::min(255u, image.entry().registers32));
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: // what it was compiled for, "sm_80"
    *value = versionOf(image.module().source().target);
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = facts.major * 10 + facts.minor;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = int(std::max(image.maxDynamicShared, 48u * 1024 - std::min(48u * 1024, image.staticShared())));
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = -1;
    break;
  default:
    want(int(attribute) >= 0 && int(attribute) <= 15, "no such attribute");
    *value = 0;
    break;
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  CUfunction function = functionOf(handle);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return CUDA_SUCCESS;
  int most =
      function->module->context->device->facts.sharedPerBlockOptIn - int(function->image->staticShared());
  if (value < 0 || value > most)
    fail(CUDA_ERROR_INVALID_VALUE,
         "this device has " + std::to_string(most) + " bytes of shared memory for a block of this kernel");
  function->image->maxDynamicShared = uint32_t(value);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  functionOf(function);
  return CUDA_SUCCESS;
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, int) {
  functionOf(function);
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction function) {
  functionOf(function);
  return CUDA_SUCCESS;
}
CUresult cuFuncIsLoaded(int *state, CUfunction function) {
  want(state, "null pointer");
  functionOf(function);
  *state = 1;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
  want(module, "null pointer");
  *module = functionOf(function)->module;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char **name, CUfunction function) {
  want(name, "null pointer");
  *name = functionOf(function)->name.c_str();
  return CUDA_SUCCESS;
}

// --- libraries: modules that every context loads for itself when it first needs them ---

static CUmodule moduleIn(CUlibrary library, CUcontext context) {
  std::lock_guard lock(library->mutex);
  CUmodule &module = library->modules[context];
  if (!module) {
    module = load(library->text, context, JitLog(0, nullptr, nullptr));
    module->library = library;
  }
  return module;
}

static CUlibrary makeLibrary(std::string text) {
  auto made = std::make_unique<CUlib_st>();
  made->text = std::move(text);
  driver().handles.add(made.get(), HandleKind::Library);
  return made.release();
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values,
                           unsigned int numOptions, int *, void **, unsigned int) {
  want(library && image, "null pointer");
  JitLog log(numOptions, options, values);
  Device &device = current() ? *ready()->device : deviceAt(0);
  std::string text = ptxOfImage(image, device.facts);
  try {
    ptx::parse(text);
  } catch (const ptx::ParseError &error) {
    log.write(error.what());
    fail(CUDA_ERROR_INVALID_PTX, error.what());
  }
  *library = makeLibrary(std::move(text));
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *options, void **values,
                               unsigned int numOptions, int *, void **, unsigned int) {
  want(library, "null pointer");
  Device &device = current() ? *ready()->device : deviceAt(0);
  std::string text = ptxOfFile(readFile(file), device.facts);
  return cuLibraryLoadData(library, text.c_str(), options, values, numOptions, nullptr, nullptr, 0);
}

CUresult cuLibraryUnload(CUlibrary library) {
  if (!driver().handles.remove(library, HandleKind::Library))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a library");
  auto modules = library->modules; // each takes itself out
  for (auto &[context, module] : modules)
    if (module)
      cuModuleUnload(module);
  for (auto &[name, kernel] : library->kernels)
    driver().handles.remove(kernel.get(), HandleKind::Kernel);
  delete library;
  return CUDA_SUCCESS;
}

static CUkernel kernelIn(CUlibrary library, const std::string &name) {
  std::lock_guard lock(library->mutex);
  auto &slot = library->kernels[name];
  if (!slot) {
    slot = std::make_unique<CUkern_st>(CUkern_st{library, name});
    driver().handles.add(slot.get(), HandleKind::Kernel);
  }
  return slot.get();
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  want(kernel && name, "null pointer");
  wantHandle(library, HandleKind::Library);
  std::vector<std::string> names = kernelsOf(*ptx::parse(library->text));
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail(CUDA_ERROR_NOT_FOUND, std::string("the library has no kernel '") + name + "'");
  *kernel = kernelIn(library, name);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library) {
  want(count, "null pointer");
  wantHandle(library, HandleKind::Library);
  *count = unsigned(kernelsOf(*ptx::parse(library->text)).size());
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary library) {
  want(kernels, "null pointer");
  wantHandle(library, HandleKind::Library);
  std::vector<std::string> names = kernelsOf(*ptx::parse(library->text));
  for (size_t i = 0; i < std::min<size_t>(count, names.size()); ++i)
    kernels[i] = kernelIn(library, names[i]);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  want(module, "null pointer");
  wantHandle(library, HandleKind::Library);
  *module = moduleIn(library, ready());
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  wantHandle(library, HandleKind::Library);
  return cuModuleGetGlobal_v2(address, bytes, moduleIn(library, ready()), name);
}
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  return cuLibraryGetGlobal(address, bytes, library, name);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  want(function, "null pointer");
  wantHandle(kernel, HandleKind::Kernel);
  *function = functionIn(moduleIn(kernel->library, ready()), kernel->name);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  want(library, "null pointer");
  wantHandle(kernel, HandleKind::Kernel);
  *library = kernel->library;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) {
  want(name, "null pointer");
  wantHandle(kernel, HandleKind::Kernel);
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUfunction functionOf(CUfunction handle) {
  if (driver().handles.has(handle, HandleKind::Function))
    return handle;
  if (!driver().handles.has(handle, HandleKind::Kernel))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a function");
  CUfunction function;
  cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(handle));
  return function;
}

/// The kernel's function on a device: in the current context if that is the device's, else in the primary
/// one.
static CUfunction functionOn(CUkernel kernel, CUdevice ordinal) {
  wantHandle(kernel, HandleKind::Kernel);
  Device &device = deviceAt(ordinal);
  CUcontext context = current() && current()->device == &device ? ready() : &device.primary;
  return functionIn(moduleIn(kernel->library, context), kernel->name);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t parameter, size_t *offset, size_t *size) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), parameter, offset, size);
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return cuFuncGetAttribute(value, attribute, functionOn(kernel, device));
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return cuFuncSetAttribute(functionOn(kernel, device), attribute, value);
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return cuFuncSetCacheConfig(functionOn(kernel, device), config);
}
CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *name) {
  want(function && name, "null pointer");
  wantHandle(library, HandleKind::Library);
  fail(CUDA_ERROR_NOT_FOUND, std::string("the library has no unified function '") + name + "'");
}

} // namespace joule::vgpu
