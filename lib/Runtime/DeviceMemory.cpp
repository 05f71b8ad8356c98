// Memory and streams for programs that have none of their own.
#include "lib/Runtime/DeviceState.h"

#include <fmt/format.h>

namespace joule {

class DeviceMemory::Impl {
public:
  explicit Impl(std::shared_ptr<Device::Impl> device, size_t bytes)
      : device(std::move(device)), bytes(bytes) {}
  Impl(const Impl &) = delete;
  ~Impl() {
    ContextScope scope(*device->driver, device->context);
    if (address)
      (void)device->driver->cuMemFree_v2(address);
  }

  Result<void> checkReach(size_t offset, size_t wanted) const {
    if (offset <= bytes && wanted <= bytes - offset)
      return {};
    return Error{ErrorCode::OutOfBounds,
                 fmt::format("{} bytes at {} are asked for of memory that has {}", wanted, offset, bytes),
                 ""};
  }

  const std::shared_ptr<Device::Impl> device;
  CUdeviceptr address = 0;
  const size_t bytes;
};

class Stream::Impl {
public:
  explicit Impl(std::shared_ptr<Device::Impl> device) : device(std::move(device)) {}
  Impl(const Impl &) = delete;
  ~Impl() {
    ContextScope scope(*device->driver, device->context);
    if (stream)
      (void)device->driver->cuStreamDestroy_v2(stream);
  }

  const std::shared_ptr<Device::Impl> device;
  CUstream stream = nullptr;
};

Result<DeviceMemory> Device::allocate(size_t bytes) const {
  auto memory = std::make_shared<DeviceMemory::Impl>(shared, bytes);
  ContextScope scope(*shared->driver, shared->context);
  if (bytes > 0)
    if (CUresult code = shared->driver->cuMemAlloc_v2(&memory->address, bytes); code != CUDA_SUCCESS)
      return shared->driver->failure(code, fmt::format("allocate {} bytes", bytes));
  return DeviceMemory(std::move(memory));
}

Result<Stream> Device::makeStream() const {
  auto stream = std::make_shared<Stream::Impl>(shared);
  ContextScope scope(*shared->driver, shared->context);
  if (CUresult code = shared->driver->cuStreamCreate(&stream->stream, CU_STREAM_NON_BLOCKING);
      code != CUDA_SUCCESS)
    return shared->driver->failure(code, "make a stream");
  return Stream(std::move(stream));
}

void *DeviceMemory::data() const { return reinterpret_cast<void *>(shared->address); }
size_t DeviceMemory::bytes() const { return shared->bytes; }

Result<void> DeviceMemory::write(const void *from, size_t bytes, size_t offset) const {
  if (Result<void> inside = shared->checkReach(offset, bytes); !inside || bytes == 0)
    return inside;
  const Driver &driver = *shared->device->driver;
  ContextScope scope(driver, shared->device->context);
  // A plain copy may return while the last bytes are on their way, and streams of sessions do not wait for
  // it.
  CUresult code = driver.cuMemcpyHtoDAsync_v2(shared->address + offset, from, bytes, nullptr);
  if (code == CUDA_SUCCESS)
    code = driver.cuStreamSynchronize(nullptr);
  return code == CUDA_SUCCESS ? Result<void>() : driver.failure(code, "copy to the device");
}

Result<void> DeviceMemory::read(void *to, size_t bytes, size_t offset) const {
  if (Result<void> inside = shared->checkReach(offset, bytes); !inside || bytes == 0)
    return inside;
  const Driver &driver = *shared->device->driver;
  ContextScope scope(driver, shared->device->context);
  CUresult code = driver.cuMemcpyDtoHAsync_v2(to, shared->address + offset, bytes, nullptr);
  if (code == CUDA_SUCCESS)
    code = driver.cuStreamSynchronize(nullptr);
  return code == CUDA_SUCCESS ? Result<void>() : driver.failure(code, "copy from the device");
}

TensorView DeviceMemory::view(ElementType type, std::vector<int64_t> shape) const {
  return {type, std::move(shape), data(), bytes(), Memory::Device};
}

TensorBuffer DeviceMemory::buffer() const { return {data(), bytes(), Memory::Device}; }

void *Stream::handle() const { return shared->stream; }

Result<void> Stream::wait() const {
  const Driver &driver = *shared->device->driver;
  ContextScope scope(driver, shared->device->context);
  CUresult code = driver.cuStreamSynchronize(shared->stream);
  return code == CUDA_SUCCESS ? Result<void>() : driver.failure(code, "wait for a stream");
}

} // namespace joule
