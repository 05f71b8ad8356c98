// OpenCL's few functions that running a kernel takes, declared here: its headers are no dependency.
#include "bench/VirtualGpu/Pocl.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace joule::bench {

using Handle = void *;
constexpr uint64_t onAnyDevice = 0xffffffff, useHostMemory = 1 << 3;

template <class F> F Pocl::function(const char *name) { return reinterpret_cast<F>(dlsym(library, name)); }

static void check(int code, const char *what) {
  if (code != 0)
    fprintf(stderr, "error: OpenCL's %s fails with %d\n", what, code), exit(1);
}

Pocl::Pocl(const std::string &source, size_t bufferBytes) : bufferBytes(bufferBytes) {
  library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    missing = "libOpenCL.so.1 is not installed";
  else
    open(source);
}

void Pocl::open(const std::string &source) {
  Handle platforms[8], device = nullptr;
  unsigned count = 0;
  auto name = function<int (*)(Handle, unsigned, size_t, void *, size_t *)>("clGetPlatformInfo");
  function<int (*)(unsigned, Handle *, unsigned *)>("clGetPlatformIDs")(8, platforms, &count);
  for (unsigned i = 0; i < count && i < 8; ++i) {
    char text[128] = {};
    name(platforms[i], 0x0902, sizeof text - 1, text, nullptr);
    if (std::string(text) == "Portable Computing Language")
      function<int (*)(Handle, uint64_t, unsigned, Handle *, unsigned *)>("clGetDeviceIDs")(
          platforms[i], onAnyDevice, 1, &device, nullptr);
  }
  if (!device) {
    missing = "pocl-opencl-icd is not installed";
    return;
  }
  int code = 0;
  context = function<Handle (*)(const void *, unsigned, Handle *, void *, void *, int *)>("clCreateContext")(
      nullptr, 1, &device, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  queue = function<Handle (*)(Handle, Handle, uint64_t, int *)>("clCreateCommandQueue")(context, device, 0,
                                                                                        &code);
  check(code, "clCreateCommandQueue");
  const char *text = source.c_str();
  program = function<Handle (*)(Handle, unsigned, const char **, const size_t *, int *)>(
      "clCreateProgramWithSource")(context, 1, &text, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  check(function<int (*)(Handle, unsigned, Handle *, const char *, void *, void *)>("clBuildProgram")(
            program, 1, &device, "", nullptr, nullptr),
        "clBuildProgram");
}

bool Pocl::has(const char *name) {
  if (!missing.empty())
    return false;
  begin(name);
  return kernel != nullptr;
}

void Pocl::begin(const char *name) {
  int code = 0;
  kernel = function<Handle (*)(Handle, const char *, int *)>("clCreateKernel")(program, name, &code);
  next = 0;
}

void Pocl::set(size_t bytes, const void *value) {
  check(function<int (*)(Handle, unsigned, size_t, const void *)>("clSetKernelArg")(kernel, next++, bytes,
                                                                                    value),
        "clSetKernelArg");
}
void Pocl::argument(int value) { set(sizeof value, &value); }
void Pocl::argument(float value) { set(sizeof value, &value); }
void Pocl::argument(uint64_t address) {
  int code = 0;
  Handle buffer = function<Handle (*)(Handle, uint64_t, size_t, void *, int *)>("clCreateBuffer")(
      context, useHostMemory, bufferBytes, reinterpret_cast<void *>(address), &code);
  check(code, "clCreateBuffer");
  set(sizeof buffer, &buffer);
}

void Pocl::run(const size_t (&global)[3], const size_t (&local)[3]) {
  using Enqueue = int (*)(Handle, Handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
                          const Handle *, Handle *);
  check(function<Enqueue>("clEnqueueNDRangeKernel")(queue, kernel, 3, nullptr, global, local, 0, nullptr,
                                                    nullptr),
        "clEnqueueNDRangeKernel");
  check(function<int (*)(Handle)>("clFinish")(queue), "clFinish");
}

} // namespace joule::bench
