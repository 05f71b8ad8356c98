// The kernels that bench-vgpu times. kernels.ptx is made of it by:
//   nvcc -arch=sm_90a -ptx -O3 kernels.cu -o kernels.ptx
#include <cuda_fp16.h>
#include <stdint.h>

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

__device__ uint32_t inShared(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], const unsigned *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
               "{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void copyAsync(half *to, const half *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(inShared(to)), "l"(from) : "memory");
}

// Tiles of 128 x 128 by 32 in three buffers, a warp has 64 x 32 of them; a padded row shuns bank conflicts.
extern "C" __global__ void __launch_bounds__(256) gemm_f16(int n, const half *a, const half *b, float *c) {
  constexpr int stages = 3, depth = 32;
  __shared__ __align__(16) half as[stages][128][depth + 8], bs[stages][depth][128 + 8];
  int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, wm = warp / 4 * 64, wn = warp % 4 * 32;
  const half *aTile = a + blockIdx.y * 128 * n, *bTile = b + blockIdx.x * 128;
  auto fetch = [&](int step) {
    int stage = step % stages, k = step * depth;
    for (int i = 0; i < 2 && k < n; ++i) {
      int row = thread / 4 + 64 * i, column = thread % 4 * 8;
      copyAsync(&as[stage][row][column], aTile + row * n + k + column);
      row = thread / 16 + 16 * i, column = thread % 16 * 8;
      copyAsync(&bs[stage][row][column], bTile + (k + row) * n + column);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sum[4][4][4] = {};
  for (int step = 0; step < stages - 1; ++step)
    fetch(step);
  for (int step = 0; step < n / depth; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    fetch(step + stages - 1);
    int stage = step % stages;
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      unsigned x[4][4], y[2][4];
      for (int i = 0; i < 4; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                     : "r"(inShared(&as[stage][wm + 16 * i + lane % 16][k + lane / 16 * 8]))
                     : "memory");
      for (int j = 0; j < 2; ++j)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(y[j][0]), "=r"(y[j][1]), "=r"(y[j][2]), "=r"(y[j][3])
                     : "r"(inShared(&bs[stage][k + lane % 16][wn + 16 * j + lane / 16 * 8]))
                     : "memory");
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          multiply(sum[i][j], x[i], y[j / 2] + j % 2 * 2);
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int h = 0; h < 2; ++h) {
        int row = blockIdx.y * 128 + wm + 16 * i + lane / 4 + 8 * h;
        int column = blockIdx.x * 128 + wn + 8 * j + lane % 4 * 2;
        *(float2 *)&c[row * n + column] = make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
      }
}

// 64 x 128 sums per warpgroup. Both factors lie in shared memory, 64 deep, in lines of 128 bytes.
extern "C" __global__ void wgmma_f16(int n, float *out) {
  __shared__ __align__(1024) half as[64 * 64], bs[128 * 64];
  for (int i = threadIdx.x; i < 128 * 64; i += blockDim.x) {
    as[i % (64 * 64)] = __float2half(i % 7 * 0.25f - 0.5f);
    bs[i] = __float2half(i % 5 * 0.125f - 0.25f);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  // The distance of eight rows is 1024 bytes, the swizzle 128.
  uint64_t rest = uint64_t(1024 / 16) << 32 | uint64_t(1) << 62;
  uint64_t a = (inShared(as) & 0x3ffff) >> 4 | rest, b = (inShared(bs) & 0x3ffff) >> 4 | rest;
  float d[64] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k)
#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
      asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                   "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                   "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                   "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                   "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
                   "%64, %65, 1, 1, 1, 0, 0;"
                   : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                   : "l"(a + 2 * k), "l"(b + 2 * k));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  float sum = 0;
  for (int i = 0; i < 64; ++i)
    sum += d[i];
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

// Places that follow no pattern: of all lanes, and of some.
extern "C" __global__ void gather(int n, unsigned last, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    unsigned place = (i * n + k) * 2654435761u;
    sum += x[place >> 8 & last];
    if (place & 1u << 30)
      sum -= x[place >> 4 & last];
  }
  y[i] = sum;
}

// A tree in shared memory whose places meet in the banks, and a sum that all blocks add to.
extern "C" __global__ void reduce(int n, const float *x, float *y) {
  __shared__ float sums[256];
  int thread = threadIdx.x, i = blockIdx.x * 512 + thread;
  sums[thread] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    int place = 2 * step * thread;
    if (place < 256)
      sums[place] += sums[place + step];
  }
  if (thread == 0)
    atomicAdd(y, sums[0]);
}
