// Half precision, doubles, special functions, matrix instructions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void half_arithmetic(const __half *a, const __half *b, __half *out) {
  int t = threadIdx.x;
  out[4 * t] = a[t] + b[t];
  out[4 * t + 1] = __hfma(a[t], b[t], a[t]);
  out[4 * t + 2] = __hmul(a[t], b[t]);
  out[4 * t + 3] = a[t] > b[t] ? a[t] : __hneg(b[t]);
}

extern "C" __global__ void half2_axpy(const __half2 *x, __half2 *y, __half2 a) { y[threadIdx.x] = __hfma2(a, x[threadIdx.x], y[threadIdx.x]); }

extern "C" __global__ void bf16_sum(const __nv_bfloat16 *in, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += __bfloat162float(in[i]);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void double_functions(const double *in, double *out) {
  int t = threadIdx.x;
  double x = in[t];
  out[8 * t] = exp(x), out[8 * t + 1] = log(fabs(x) + 0.5), out[8 * t + 2] = sin(x), out[8 * t + 3] = pow(fabs(x), 1.7);
  out[8 * t + 4] = sqrt(fabs(x)), out[8 * t + 5] = x / 3.0, out[8 * t + 6] = cbrt(x), out[8 * t + 7] = erf(x);
}

extern "C" __global__ void float_functions(const float *in, float *out) {
  int t = threadIdx.x;
  float x = in[t];
  out[8 * t] = expf(x), out[8 * t + 1] = logf(fabsf(x) + 0.5f), out[8 * t + 2] = sinf(x), out[8 * t + 3] = tanhf(x);
  out[8 * t + 4] = 1.f / sqrtf(fabsf(x) + 1), out[8 * t + 5] = erff(x), out[8 * t + 6] = floorf(x) + rintf(x), out[8 * t + 7] = fmodf(x, 0.7f);
}

extern "C" __global__ void gelu(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * in[i] * (1.f + tanhf(0.79788456f * (in[i] + 0.044715f * in[i] * in[i] * in[i])));
}

// One warp multiplies 16x16 by 16x8 with mma.sync; A row-major, B column-major.
extern "C" __global__ void mma_f16(const __half *a, const __half *b, float *c) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  unsigned ra[4], rb[2];
  const unsigned *wa = (const unsigned *)a, *wb = (const unsigned *)b;
  ra[0] = wa[g * 8 + t], ra[1] = wa[(g + 8) * 8 + t], ra[2] = wa[g * 8 + t + 4], ra[3] = wa[(g + 8) * 8 + t + 4];
  rb[0] = wb[g * 8 + t], rb[1] = wb[g * 8 + t + 4];
  float d[4] = {1, 1, 1, 1};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  c[g * 8 + 2 * t] = d[0], c[g * 8 + 2 * t + 1] = d[1], c[(g + 8) * 8 + 2 * t] = d[2], c[(g + 8) * 8 + 2 * t + 1] = d[3];
}

extern "C" __global__ void mma_s8(const int *a, const int *b, int *c) { // A 16x32, B 32x8 by columns
  int lane = threadIdx.x, g = lane / 4, t = lane % 4, d[4] = {};
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
  c[g * 8 + 2 * t] = d[0], c[g * 8 + 2 * t + 1] = d[1], c[(g + 8) * 8 + 2 * t] = d[2], c[(g + 8) * 8 + 2 * t + 1] = d[3];
}

extern "C" __global__ void ldmatrix_mma(const __half *a, const __half *b, float *c) { // as mma_f16, B row-major
  __shared__ __align__(16) __half sa[16][16], sb[16][8];
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  for (int i = lane; i < 256; i += 32) sa[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32) sb[i / 8][i % 8] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2];
  unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[lane % 16][lane / 16 * 8]), pb = (unsigned)__cvta_generic_to_shared(&sb[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  float d[4] = {};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  c[g * 8 + 2 * t] = d[0], c[g * 8 + 2 * t + 1] = d[1], c[(g + 8) * 8 + 2 * t] = d[2], c[(g + 8) * 8 + 2 * t + 1] = d[3];
}

extern "C" __global__ void dot_bytes(const int *a, const int *b, int *out) { out[threadIdx.x] = __dp4a(a[threadIdx.x], b[threadIdx.x], 5); }

extern "C" __global__ void funnel(const unsigned *in, unsigned *out) {
  unsigned v = in[threadIdx.x];
  out[threadIdx.x] = __funnelshift_l(v, ~v, threadIdx.x) ^ __byte_perm(v, 0x11223344, 0x2501 + threadIdx.x);
}

extern "C" __global__ void philox(unsigned seed, float *out) { // counter-based random numbers
  unsigned c0 = blockIdx.x * blockDim.x + threadIdx.x, c1 = 0, k = seed;
  for (int i = 0; i < 10; ++i) {
    unsigned high = __umulhi(0xD256D193u, c0), low = 0xD256D193u * c0;
    c0 = high ^ k ^ c1, c1 = low, k += 0x9E3779B9u;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = c0 * 2.3283064e-10f;
}
