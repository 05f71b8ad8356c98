// How the matrix units of each architecture add up, bit for bit. This header is included by files compiled
// for different instruction sets, so it holds data only.
//
// For one output with the products p_k = a_k * b_k and the addend c, a unit sums `step` products at a time:
// every term is cut towards zero to a multiple of 2^(E - fraction), where E is the largest exponent of a
// term; the cut terms are added exactly; the sum is rounded once. The exponent of a product is the sum of its
// factors' exponents, each at least its format's smallest, and its significand stays in [1, 4). A term that
// is zero has the exponent -126, as has the smallest c. With several steps the rounded sum is the next step's
// c.
#pragma once

#include <cstdint>

namespace joule::vgpu {

struct MatrixRule {
  int16_t fraction; // bits kept below E
  int16_t step;     // products added at once, 1 to 32
  int16_t
      resultFraction; // bits of the result's fraction: 23 (f32) or 13, cut; 10 (f16), rounded to nearest even
  int16_t smallestExponent; // of the factors' format
};
static_assert(sizeof(MatrixRule) == sizeof(int64_t)); // an operation carries it as its `imm`

enum class MatrixElement { F16, BF16, TF32, E4M3, E5M2 };

enum class MatrixUnit { Warp, Warpgroup }; // mma.sync and wmma, or wgmma

/// `architecture` as in sm_80: 80. Not known from measurements, and so assumed: fp8 by single warps from
/// sm_90 on is taken as f16.
MatrixRule matrixRule(int architecture, MatrixElement element, bool halfResult, MatrixUnit unit);

} // namespace joule::vgpu
