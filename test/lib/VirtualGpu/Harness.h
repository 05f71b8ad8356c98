// Runs literal PTX on the engine: one kernel, one output buffer.
#pragma once

#include "lib/VirtualGpu/Launch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace joule::vgpu::test {

/// One executable runs its tests in check mode, too: nothing may be found.
inline DecodeOptions defaultOptions() {
  DecodeOptions options;
#ifdef JOULE_VGPU_CHECKED
  options.check = true;
#endif
  return options;
}

/// A module on a device of its own.
class Device {
public:
  explicit Device(const std::string &ptx, const DecodeOptions &options = defaultOptions())
      : memory(1ull << 34), module(ptx, startChecking(options), options) {}

  template <class T> uint64_t upload(const std::vector<T> &values) {
    uint64_t address = memory.allocate(values.size() * sizeof(T));
    memcpy(reinterpret_cast<void *>(address), values.data(), values.size() * sizeof(T));
    memory.hostWrote(address, values.size() * sizeof(T));
    return address;
  }
  template <class T> std::vector<T> download(uint64_t address, size_t count) const {
    const T *from = reinterpret_cast<const T *>(address);
    return std::vector<T>(from, from + count);
  }

  struct Shape {
    uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1}, cluster[3] = {1, 1, 1};
    uint32_t shared = 0;
    bool cooperative = false;
    unsigned threads = 2;
    bool count = false;
    double seconds = 30;
    unsigned schedule = 0;
    std::optional<CacheSizes> caches = std::nullopt;
  };

  /// Arguments must have exactly the sizes of the kernel's parameters.
  template <class... Args>
  LaunchResult launch(const std::string &kernel, const Shape &shape, const Args &...args) {
    LaunchRequest request;
    request.image = module.kernel(kernel);
    if (!request.image)
      throw std::runtime_error("no kernel " + kernel);
    memcpy(request.grid, shape.grid, sizeof request.grid);
    memcpy(request.block, shape.block, sizeof request.block);
    memcpy(request.cluster, shape.cluster, sizeof request.cluster);
    request.dynamicShared = shape.shared;
    request.cooperative = shape.cooperative;
    request.threads = shape.threads;
    request.count = shape.count || shape.caches;
    request.caches = shape.caches;
    request.memory = &memory;
    request.check = module.options().check;
    request.schedule = shape.schedule;
    request.deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(int64_t(shape.seconds * 1e3));
    request.parameters.resize(request.image->entry().kernelParameterBytes);
    size_t index = 0;
    (put(request, index++, &args, sizeof args), ...);
    if (index != request.image->entry().kernelParameters.size())
      throw std::runtime_error("wrong number of arguments");
    return joule::vgpu::launch(request);
  }

  template <class... Args> void run(const std::string &kernel, const Shape &shape, const Args &...args) {
    LaunchResult result = launch(kernel, shape, args...);
    ASSERT_EQ(result.fault, FaultKind::None) << result.message;
    for (const Finding &finding : result.findings)
      ADD_FAILURE() << describe(finding);
  }

  MemoryMap memory;
  LoadedModule module;

private:
  MemoryMap &startChecking(const DecodeOptions &options) {
    if (options.check)
      memory.startChecking();
    return memory;
  }
  static void put(LaunchRequest &request, size_t index, const void *value, size_t size) {
    const Program &program = request.image->entry();
    if (index >= program.kernelParameters.size() || program.kernelParameterSizes[index] != size)
      throw std::runtime_error("argument " + std::to_string(index) + " has another size");
    memcpy(request.parameters.data() + program.kernelParameters[index], value, size);
  }
};

template <class To, class From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// A kernel around `body`: every lane has its number in %lane and its output's address in %out (`width` bytes
/// apart). The registers are %a..%f in 16, 32 and 64 bits, %x.. in f32, %d.. in f64, and predicates %p, %q.
inline std::string kernelAround(const std::string &body, unsigned width) {
  return ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p, %q, %s;\n.reg .b16 %ha, %hb, %hc, %hd;\n.reg .b32 %a, %b, %c, %d, %e, %f, %lane;\n"
         ".reg .b64 %la, %lb, %lc, %ld, %out;\n.reg .f32 %x, %y, %z, %w;\n.reg .f64 %dx, %dy, %dz;\n"
         "ld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\nmul.wide.u32 %la, %lane, " +
         std::to_string(width) + ";\nadd.s64 %out, %out, %la;\n" + body + "\nret;\n}\n";
}

/// What lane 0..31 stored.
template <class T> std::vector<T> lanesOf(const std::string &body) {
  Device device(kernelAround(body, sizeof(T)));
  uint64_t out = device.upload(std::vector<T>(32));
  LaunchResult result = device.launch("k", {}, out);
  EXPECT_EQ(result.fault, FaultKind::None) << result.message;
  return device.download<T>(out, 32);
}

/// What lane 5 stored: enough for instructions that treat all lanes alike.
template <class T> T valueOf(const std::string &body) { return lanesOf<T>(body)[5]; }

} // namespace joule::vgpu::test
