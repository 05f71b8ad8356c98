// Best fit among the free blocks, else a new one.
#include "lib/Runtime/BufferPool.h"

#include <algorithm>
#include <fmt/format.h>

namespace joule {

// Rounds up to one of eight steps between powers of two, so that a buffer that grows a little each turn of a
// loop finds its old blocks again, at a waste of an eighth at most.
static uint64_t rounded(uint64_t bytes) {
  uint64_t step = 256;
  while (bytes / step > 16)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

BufferPool::~BufferPool() { dropFree(); }

void BufferPool::dropFree() {
  for (auto [bytes, address] : free) {
    (void)driver.cuMemFree_v2(address);
    held -= bytes;
  }
  free.clear();
}

Result<std::shared_ptr<const BufferPool::Block>> BufferPool::allocate(uint64_t bytes) {
  if (bytes > cap)
    return Error{
        ErrorCode::DynamicMemoryCap,
        fmt::format("a buffer of {} bytes is more than the {} bytes that data-dependent sizes may take",
                    bytes, cap),
        ""};
  uint64_t size = std::max<uint64_t>(rounded(bytes), 256);
  auto give = [this](const Block *block) {
    free.emplace(block->bytes, block->address);
    delete block;
  };
  if (auto found = free.lower_bound(size); found != free.end() && found->first <= 2 * size) {
    auto *block = new Block{found->second, found->first};
    free.erase(found);
    return std::shared_ptr<const Block>(block, give);
  }
  if (held + size > cap)
    dropFree();
  if (held + size > cap)
    return Error{ErrorCode::DynamicMemoryCap,
                 fmt::format("a buffer of {} bytes beside {} bytes in use is more than the {} bytes that "
                             "data-dependent sizes may take",
                             bytes, held, cap),
                 ""};
  CUdeviceptr address = 0;
  if (CUresult code = driver.cuMemAlloc_v2(&address, size); code != CUDA_SUCCESS)
    return driver.failure(code, fmt::format("allocate {} bytes", size));
  ++allocations;
  held += size;
  return std::shared_ptr<const Block>(new Block{address, size}, give);
}

} // namespace joule
