// Random kernels that are valid PTX, end, and mean one thing only: lanes part and meet, loop, wait for each
// other, share memory and exchange registers, but never race.
#pragma once

#include <cstdint>
#include <string>

namespace joule::vgpu::test {

/// The kernel `k(.u64 in, .u64 out, .u32 n)`. `in` has `randomInputWords` words; each thread writes
/// `randomOutputWords` words of `out`, in the grid's order; behind them stand 64 words that atomics add to.
struct RandomKernel {
  std::string ptx;
  uint32_t grid, block[3];
};
constexpr uint32_t randomInputWords = 4096, randomOutputWords = 64;

RandomKernel randomKernel(uint64_t seed);

} // namespace joule::vgpu::test
