// The kernels that bench-vgpu times. kernels.ptx is made of it by:
//   nvcc -arch=sm_80 -ptx -O3 kernels.cu -o kernels.ptx
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}

// Four chains of dependent multiply-adds per thread.
extern "C" __global__ void fmaloop(int n, float a, float *y) {
  float r0 = threadIdx.x, r1 = r0 + 1, r2 = r0 + 2, r3 = r0 + 3;
  for (int i = 0; i < n; ++i) {
    r0 = r0 * a + 0.5f;
    r1 = r1 * a + 0.5f;
    r2 = r2 * a + 0.5f;
    r3 = r3 * a + 0.5f;
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = r0 + r1 + r2 + r3;
}

// One output per thread, tiles of 16 x 16.
extern "C" __global__ void sgemm_tile(int n, const float *a, const float *b, float *c) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 4 x 4 outputs per thread, 256 threads, tiles of 64 x 64.
extern "C" __global__ void sgemm_reg(int n, const float *a, const float *b, float *c) {
  __shared__ __align__(16) float as[16][64], bs[16][64];
  int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    float4 av = *(const float4 *)&a[(row + thread / 4) * n + k + thread % 4 * 4];
    as[thread % 4 * 4 + 0][thread / 4] = av.x;
    as[thread % 4 * 4 + 1][thread / 4] = av.y;
    as[thread % 4 * 4 + 2][thread / 4] = av.z;
    as[thread % 4 * 4 + 3][thread / 4] = av.w;
    *(float4 *)&bs[thread / 16][thread % 16 * 4] =
        *(const float4 *)&b[(k + thread / 16) * n + column + thread % 16 * 4];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float4 x = *(float4 *)&as[i][ty * 4], y = *(float4 *)&bs[i][tx * 4];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
      for (int p = 0; p < 4; ++p)
        for (int q = 0; q < 4; ++q)
          sum[p][q] += xs[p] * ys[q];
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; ++p)
    *(float4 *)&c[(row + ty * 4 + p) * n + column + tx * 4] =
        make_float4(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}

// Products of fragments alone: `chains` independent accumulators per warp.
extern "C" __global__ void mma_f16(int n, float *out) {
  unsigned a[4], b[2];
  float c[4][4] = {};
  for (int i = 0; i < 4; ++i)
    a[i] = 0x3c003c00u ^ (threadIdx.x * 0x00010001u & 0x00ff00ffu);
  for (int i = 0; i < 2; ++i)
    b[i] = 0x38003800u ^ (threadIdx.x * 0x00030003u & 0x00ff00ffu);
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                   "{%0,%1,%2,%3};"
                   : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float sum = 0;
  for (int j = 0; j < 4; ++j)
    sum += c[j][0] + c[j][1] + c[j][2] + c[j][3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void mma_s8(int n, int *out) {
  unsigned a[4], b[2];
  int c[4][4] = {};
  for (int i = 0; i < 4; ++i)
    a[i] = threadIdx.x * 0x01030507u + i;
  for (int i = 0; i < 2; ++i)
    b[i] = threadIdx.x * 0x07050301u + i;
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                   "{%0,%1,%2,%3};"
                   : "+r"(c[j][0]), "+r"(c[j][1]), "+r"(c[j][2]), "+r"(c[j][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  int sum = 0;
  for (int j = 0; j < 4; ++j)
    sum += c[j][0] + c[j][1] + c[j][2] + c[j][3];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A row per block: strided loop, shuffles, shared memory.
extern "C" __global__ void softmax(int n, const float *x, float *y) {
  __shared__ float parts[32];
  const float *row = x + (long long)blockIdx.x * n;
  float most = -1e30f;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    most = fmaxf(most, row[i]);
  for (int d = 16; d; d /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = most;
  __syncthreads();
  for (int i = 0; i < blockDim.x / 32; ++i)
    most = fmaxf(most, parts[i]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += exp2f((row[i] - most) * 1.4426950f);
  for (int d = 16; d; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < blockDim.x / 32; ++i)
    sum += parts[i];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[(long long)blockIdx.x * n + i] = exp2f((row[i] - most) * 1.4426950f) / sum;
}
