/// A GPU, real or virtual.
#pragma once

#include "joule/Error.h"
#include "joule/Export.h"
#include "joule/Tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace joule {

struct DeviceProperties {
  std::string name;         ///< as the driver says it
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int64_t memoryBytes = 0;
  int64_t clockHz = 0;    ///< the highest clock of the multiprocessors
  bool isVirtual = false; ///< computed on the CPU: its times and joules are modelled, never measured

  /// "sm_80": what CompileOptions::targets takes for it.
  JOULE_API std::string architecture() const;
};

/// Memory on a device, given back when the last copy of this goes. What runs read and write at the same time must not
/// overlap.
///
///   joule::DeviceMemory memory = *device.allocate(joule::bytesOf(type, shape));
///   memory.write(pixels.data(), memory.bytes());
///   session.run({{"image", memory.view(type, shape)}});
class JOULE_API DeviceMemory {
public:
  /// The device's address of the first byte; a multiple of 256. Null where there are no bytes.
  void *data() const;
  size_t bytes() const;

  /// Copies `bytes` bytes from the host to `offset` bytes behind the beginning, and waits for that. Errors:
  /// OutOfBounds, DriverFailed.
  Result<void> write(const void *from, size_t bytes, size_t offset = 0) const;

  /// The other way. Errors: OutOfBounds, DriverFailed.
  Result<void> read(void *to, size_t bytes, size_t offset = 0) const;

  /// What Session::run takes for an input, and for an output.
  TensorView view(ElementType type, std::vector<int64_t> shape) const;
  TensorBuffer buffer() const;

private:
  friend class Device;
  class JOULE_HIDDEN Impl;
  explicit DeviceMemory(std::shared_ptr<Impl> shared) : shared(std::move(shared)) {}
  std::shared_ptr<Impl> shared;
};

/// An order of work on a device: what is put into a stream is done one after another. Destroyed when the last copy of
/// this goes.
class JOULE_API Stream {
public:
  /// The CUstream, which is a cudaStream_t, too.
  void *handle() const;

  /// Waits until all of its work is done. Error: DriverFailed, KernelFailed.
  Result<void> wait() const;

private:
  friend class Device;
  class JOULE_HIDDEN Impl;
  explicit Stream(std::shared_ptr<Impl> shared) : shared(std::move(shared)) {}
  std::shared_ptr<Impl> shared;
};

/// Cheap to copy. Safe to use from several threads. Opening one name twice gives the same device.
class JOULE_API Device {
public:
  /// Opens "virtual", "virtual:a100", "virtual:a100,exact" (matrix products bit for bit), "cuda" (the first GPU) or
  /// "cuda:1". In one process the virtual GPU is what it was opened as first.
  ///
  ///   joule::Result<joule::Device> device = joule::Device::open("cuda");
  ///   if (!device) // JL0202 where no driver is installed
  ///     device = joule::Device::open("virtual:a100");
  ///
  /// Errors: DeviceUnknown, DriverMissing, DriverFailed.
  static Result<Device> open(const std::string &name);

  /// The name it was opened by.
  const std::string &name() const;
  const DeviceProperties &properties() const;

  /// Memory of the device's primary context, the one that CUDA's runtime uses: cudaMalloc's and this are alike.
  /// Errors: DeviceMemoryFull, DriverFailed.
  Result<DeviceMemory> allocate(size_t bytes) const;

  /// A stream that waits for no other. A program that has streams of its own needs none of these. Error: DriverFailed.
  Result<Stream> makeStream() const;

  class JOULE_HIDDEN Impl; ///< Joule's own side
  const std::shared_ptr<Impl> &impl() const { return shared; }
  explicit Device(std::shared_ptr<Impl> shared) : shared(std::move(shared)) {}

private:
  std::shared_ptr<Impl> shared;
};

} // namespace joule
