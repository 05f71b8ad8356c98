// The engine in one process with another LLVM: whoever comes first, both work. Each order is a process of its
// own.
#include "lib/VirtualGpu/DriverApi.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace {

const char *const text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry square(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mul.lo.u32 %r2, %r1, %r1;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

/// As a program would that depends on it: seen by everything that is opened later.
void *openLlvm() { return dlopen(JOULE_LLVM_LIBRARY, RTLD_NOW | RTLD_GLOBAL); }

/// The other LLVM makes a module and prints it.
bool llvmWorks(void *library) {
  auto context = reinterpret_cast<void *(*)()>(dlsym(library, "LLVMContextCreate"));
  auto module =
      reinterpret_cast<void *(*)(const char *, void *)>(dlsym(library, "LLVMModuleCreateWithNameInContext"));
  auto print = reinterpret_cast<char *(*)(void *)>(dlsym(library, "LLVMPrintModuleToString"));
  auto disposeText = reinterpret_cast<void (*)(char *)>(dlsym(library, "LLVMDisposeMessage"));
  auto disposeContext = reinterpret_cast<void (*)(void *)>(dlsym(library, "LLVMContextDispose"));
  if (!context || !module || !print || !disposeText || !disposeContext)
    return false;
  void *owner = context();
  char *printed = print(module("company", owner));
  bool works = std::string(printed).find("company") != std::string::npos;
  disposeText(printed);
  disposeContext(owner); // and its modules
  return works;
}

#define JOULE_MEMBER(name, parameters) CUresult(*name) parameters;
struct Functions {
  JOULE_DRIVER_FUNCTIONS(JOULE_MEMBER)
};

/// A kernel is compiled and runs.
bool engineWorks() {
  void *library = dlopen(JOULE_VGPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  auto find = reinterpret_cast<JouleVgpuGetProcAddress>(dlsym(library, "joule_vgpu_get_proc_address"));
  Functions cu;
#define JOULE_FILL(name, parameters) cu.name = reinterpret_cast<CUresult(*) parameters>(find(#name));
  JOULE_DRIVER_FUNCTIONS(JOULE_FILL)
  CUcontext context;
  CUmodule module;
  CUfunction square;
  CUdeviceptr buffer;
  if (cu.cuInit(0) || cu.cuCtxCreate_v2(&context, 0, 0) || cu.cuModuleLoadData(&module, text) ||
      cu.cuModuleGetFunction(&square, module, "square") || cu.cuMemAlloc_v2(&buffer, 256))
    return false;
  void *parameters[] = {&buffer};
  uint32_t values[64] = {};
  if (cu.cuLaunchKernel(square, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr) ||
      cu.cuMemcpyDtoH_v2(values, buffer, 256))
    return false;
  for (uint32_t i = 0; i < 64; ++i)
    if (values[i] != i * i)
      return false;
  return true;
}

/// In a process of its own, where every kernel is compiled.
void prepare() {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("JOULE_VGPU_JIT", "force", 1);
}

TEST(Company, AnotherLlvmComesFirst) {
  prepare();
  EXPECT_EXIT(
      {
        void *llvm = openLlvm();
        bool works = llvm && llvmWorks(llvm) && engineWorks() && llvmWorks(llvm);
        exit(works ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Company, AnotherLlvmComesLater) {
  prepare();
  EXPECT_EXIT(
      {
        bool works = engineWorks();
        void *llvm = openLlvm();
        works = works && llvm && llvmWorks(llvm) && engineWorks();
        exit(works ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
