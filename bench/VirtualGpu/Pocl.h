// The kernels of kernels.cl through pocl, for comparison: the public way to run GPU kernels on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace joule::bench {

/// OpenCL's library is opened when it is there; nothing is linked.
class Pocl {
public:
  /// `source`: OpenCL C. An address that a kernel gets stands for `bufferBytes` bytes.
  Pocl(const std::string &source, size_t bufferBytes);

  /// Why there is nothing to compare with; empty if there is.
  const std::string &problem() const { return missing; }
  bool has(const char *kernel);

  void begin(const char *kernel);
  void argument(int value);
  void argument(float value);
  void argument(uint64_t address);
  /// Returns when the kernel has ended.
  void run(const size_t (&global)[3], const size_t (&local)[3]);

private:
  void open(const std::string &source);
  template <class F> F function(const char *name);
  void set(size_t bytes, const void *value);

  std::string missing;
  size_t bufferBytes;
  void *library = nullptr, *context = nullptr, *queue = nullptr, *program = nullptr, *kernel = nullptr;
  unsigned next = 0;
};

} // namespace joule::bench
