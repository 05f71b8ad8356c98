// One small kernel per intrinsic: n elements of a, b, c to out.
// PTX: nvcc -arch=sm_90 -ptx intrinsics.cu
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

#define EACH(name, out_t, in_t, expression)                                                                            \
  extern "C" __global__ void name(const in_t *in, out_t *out) {                                                        \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                     \
    [[maybe_unused]] in_t a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];                                         \
    out[i] = expression;                                                                                               \
  }

// integers
EACH(int_brev, unsigned, unsigned, __brev(a))
EACH(int_clz, int, int, __clz(a))
EACH(int_ffs, int, int, __ffs(a))
EACH(int_popc, int, unsigned, __popc(a))
EACH(int_byte_perm, unsigned, unsigned, __byte_perm(a, b, c))
EACH(int_funnel_l, unsigned, unsigned, __funnelshift_l(a, b, c))
EACH(int_funnel_rc, unsigned, unsigned, __funnelshift_rc(a, b, c % 40))
EACH(int_mul24, int, int, __mul24(a, b))
EACH(int_mulhi, int, int, __mulhi(a, b))
EACH(int_umulhi, unsigned, unsigned, __umulhi(a, b))
EACH(int_hadd, int, int, __hadd(a, b))
EACH(int_rhadd, int, int, __rhadd(a, b))
EACH(int_sad, unsigned, int, __sad(a, b, c))
EACH(int_usad, unsigned, unsigned, __usad(a, b, c))
EACH(int_dp4a, int, int, __dp4a(a, b, c))
EACH(int_dp2a_lo, int, int, __dp2a_lo(a, b, c))
EACH(int_divide, int, int, a / (b | 1) + a % (b | 1))
EACH(int_udivide, unsigned, unsigned, a / (b | 1) + a % (b | 1))
EACH(int_shifts, int, int, (a >> (b & 31)) ^ int(unsigned(c) << (b & 31)))
EACH(int_minmax, int, int, max(min(a, b), c))
EACH(long_mul, long long, long long, a *b + c)
EACH(long_mulhi, long long, long long, __mul64hi(a, b))
EACH(long_clz, int, long long, __clzll(a) + __popcll(b) + __ffsll(c))
EACH(long_divide, long long, long long, a / (b | 1) + a % (c | 1))
EACH(simd_add2, unsigned, unsigned, __vadd2(a, b))
EACH(simd_addss4, unsigned, unsigned, __vaddss4(a, b))
EACH(simd_absdiffu4, unsigned, unsigned, __vabsdiffu4(a, b))
EACH(simd_maxs2, unsigned, unsigned, __vmaxs2(a, b))
EACH(simd_cmpltu4, unsigned, unsigned, __vcmpltu4(a, b))
EACH(simd_sadu4, unsigned, unsigned, __vsadu4(a, b))
EACH(simd_relu, unsigned, unsigned, __vimax_s16x2_relu(a, b))
EACH(simd_max3, int, int, __vimax3_s32(a, b, c))

// f32
EACH(float_add_rz, float, float, __fadd_rz(a, b))
EACH(float_mul_ru, float, float, __fmul_ru(a, b))
EACH(float_fma_rd, float, float, __fmaf_rd(a, b, c))
EACH(float_div_rn, float, float, __fdiv_rn(a, b))
EACH(float_div_rd, float, float, __fdiv_rd(a, b))
EACH(float_sqrt_ru, float, float, __fsqrt_ru(fabsf(a)))
EACH(float_rcp_rz, float, float, __frcp_rz(a))
EACH(float_saturate, float, float, __saturatef(a))
EACH(float_floor, float, float, floorf(a) + ceilf(b) + truncf(c) + rintf(a))
EACH(float_to_int, int, float, __float2int_rd(a) + __float2int_ru(b) + __float2int_rn(c))
EACH(int_to_float, float, int, __int2float_rz(a) + __uint2float_ru(b))
EACH(float_fmod, float, float, fmodf(a, b))
EACH(float_minmax, float, float, fmaxf(fminf(a, b), c))
EACH(float_copysign, float, float, copysignf(a, b))
EACH(float_classes, int, float, isnan(a) + 2 * isinf(b) + 4 * signbit(c))
EACH(float_exp, float, float, expf(a))
EACH(float_log, float, float, logf(fabsf(a) + 1))
EACH(float_sin, float, float, sinf(a))
EACH(float_pow, float, float, powf(fabsf(a), 0.7f))
EACH(float_tanh, float, float, tanhf(a))
EACH(float_erf, float, float, erff(a))
EACH(float_cbrt, float, float, cbrtf(a))
EACH(float_hypot, float, float, hypotf(a, b))
EACH(float_fast, float, float, __fdividef(__expf(a * 0.1f), 1.f + __expf(a * 0.1f)))

// f64
EACH(double_fma_ru, double, double, __fma_ru(a, b, c))
EACH(double_div_rz, double, double, __ddiv_rz(a, b))
EACH(double_sqrt, double, double, sqrt(fabs(a)))
EACH(double_exp, double, double, exp(a))
EACH(double_log, double, double, log(fabs(a) + 1))
EACH(double_sin, double, double, sin(a))
EACH(double_to_long, long long, double, __double2ll_rn(a) + __double2ll_rd(b))
EACH(long_to_double, double, long long, __ll2double_rz(a))

// halves
EACH(half_fma, __half, __half, __hfma(a, b, c))
EACH(half_div, __half, __half, __hdiv(a, b))
EACH(half_fma_relu, __half, __half, __hfma_relu(a, b, c))
EACH(half_add_sat, __half, __half, __hadd_sat(a, b))
EACH(half_max_nan, __half, __half, __hmax_nan(a, b))
EACH(half_to_int, int, __half, __half2int_rn(a))
EACH(half_sqrt, __half, __half, hsqrt(__habs(a)))
EACH(half2_fma, __half2, __half2, __hfma2(a, b, c))
EACH(half2_compare, unsigned, __half2, __hgt2_mask(a, b))
EACH(brain_fma, __nv_bfloat16, __nv_bfloat16, __hfma(a, b, c))
EACH(brain_add, __nv_bfloat16, __nv_bfloat16, __hadd(a, b))
EACH(brain2_max, __nv_bfloat162, __nv_bfloat162, __hmax2(a, b))
EACH(e4m3_from, __nv_fp8_storage_t, float, __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E4M3))
EACH(e5m2_from, __nv_fp8_storage_t, float, __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E5M2))
EACH(e4m3_to, __half, uint8_t, __half(__nv_cvt_fp8_to_halfraw(a, __NV_E4M3)))

// warps and blocks
extern "C" __global__ void warp_reduce(const int *in, int *out) {
  int v = in[threadIdx.x];
  out[threadIdx.x] = __reduce_add_sync(~0u, v) ^ __reduce_max_sync(~0u, v) ^ int(__reduce_or_sync(~0u, unsigned(v)));
}
extern "C" __global__ void warp_segments(const int *in, int *out) { // sums of equal neighbours' keys
  int v = in[threadIdx.x] % 5, sum = 0;
  unsigned same = __match_any_sync(~0u, v);
  for (unsigned rest = same; rest; rest &= rest - 1)
    sum += __shfl_sync(same, in[threadIdx.x], __ffs(rest) - 1);
  out[threadIdx.x] = sum;
}
extern "C" __global__ void bitonic(int *data) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = data[t];
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int o = t ^ j;
      if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
        int x = s[t];
        s[t] = s[o], s[o] = x;
      }
    }
  __syncthreads();
  data[t] = s[t];
}
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, n = 0;
  if (x >= w || y >= h)
    return;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy)
        n += in[(y + dy + h) % h * w + (x + dx + w) % w];
  out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}
extern "C" __global__ void mandelbrot(int *out, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = (i % w) * 3.f / w - 2.f, cy = (i / w) * 2.f / w - 1.f, x = 0, y = 0;
  int k = 0;
  for (; k < 100 && __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 4; ++k) {
    float nx = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), cx);
    y = __fadd_rn(__fmul_rn(__fmul_rn(2.f, x), y), cy), x = nx;
  }
  out[i] = k;
}
extern "C" __global__ void crc32(const unsigned char *text, int length, unsigned *out) {
  unsigned crc = ~0u;
  for (int i = 0; i < length; ++i) {
    crc ^= text[threadIdx.x * length + i];
    for (int k = 0; k < 8; ++k)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  out[threadIdx.x] = ~crc;
}
extern "C" __global__ void big_add(const unsigned *a, const unsigned *b, unsigned *sum) { // 128 bits
  int t = threadIdx.x * 4;
  asm("add.cc.u32 %0, %4, %8;\naddc.cc.u32 %1, %5, %9;\naddc.cc.u32 %2, %6, %10;\naddc.u32 %3, %7, %11;"
      : "=r"(sum[t]), "=r"(sum[t + 1]), "=r"(sum[t + 2]), "=r"(sum[t + 3])
      : "r"(a[t]), "r"(a[t + 1]), "r"(a[t + 2]), "r"(a[t + 3]), "r"(b[t]), "r"(b[t + 1]), "r"(b[t + 2]), "r"(b[t + 3]));
}
extern "C" __global__ void common_length(const char *x, const char *y, int n, int *out) { // longest common subsequence
  __shared__ int row[2][65];
  int j = threadIdx.x;
  row[0][j + 1] = row[1][j + 1] = 0;
  if (j == 0)
    row[0][0] = row[1][0] = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    if (j == 0) // one thread does the dependent row; the others wait
      for (int k = 0; k < n; ++k)
        row[1][k + 1] = x[i] == y[k] ? row[0][k] + 1 : max(row[0][k + 1], row[1][k]);
    __syncthreads();
    row[0][j + 1] = row[1][j + 1];
    __syncthreads();
  }
  if (j == 0)
    *out = row[0][n];
}
extern "C" __global__ void ticket_lock(unsigned *lock, int *counter) {
  unsigned mine = atomicAdd(lock, 1);
  bool done = false;
  while (!done)
    if (((volatile unsigned *)lock)[1] == mine) {
      *(volatile int *)counter = *(volatile int *)counter * 3 % 1000003 + 1;
      __threadfence();
      atomicAdd(lock + 1, 1);
      done = true;
    }
}
extern "C" __global__ void compact(const int *in, int *out, int *count, int n) {
  namespace cg = cooperative_groups;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    int base = g.thread_rank() == 0 ? atomicAdd(count, int(g.size())) : 0;
    out[g.shfl(base, 0) + g.thread_rank()] = in[i];
  }
}
