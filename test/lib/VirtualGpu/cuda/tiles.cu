// Matrices, convolutions and stencils through shared memory.
extern "C" __global__ void transpose(const float *in, float *out, int w, int h) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void sgemm_tiled(const float *a, const float *b, float *c, int n) { // n a multiple of 16
  __shared__ float sa[16][16], sb[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    sa[y][x] = a[row * n + k + x];
    sb[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += sa[y][i] * sb[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 64x64 outputs by 256 threads, 4x4 each.
extern "C" __global__ void __launch_bounds__(256) sgemm_blocked(const float *a, const float *b, float *c, int n) {
  __shared__ __align__(16) float sa[16][64], sb[16][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, bm = blockIdx.y * 64, bn = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    float4 v = *(const float4 *)&a[(bm + t / 4) * n + k0 + t % 4 * 4];
    sa[t % 4 * 4][t / 4] = v.x, sa[t % 4 * 4 + 1][t / 4] = v.y, sa[t % 4 * 4 + 2][t / 4] = v.z, sa[t % 4 * 4 + 3][t / 4] = v.w;
    *(float4 *)&sb[t / 16][t % 16 * 4] = *(const float4 *)&b[(k0 + t / 16) * n + bn + t % 16 * 4];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 x = *(const float4 *)&sa[k][ty * 4], y = *(const float4 *)&sb[k][tx * 4];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    *(float4 *)&c[(bm + ty * 4 + i) * n + bn + tx * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

__constant__ float filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

extern "C" __global__ void conv3x3(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) {
      int u = min(max(x + i, 0), w - 1), v = min(max(y + j, 0), h - 1);
      sum += in[v * w + u] * filter[(j + 1) * 3 + i + 1];
    }
  out[y * w + x] = sum / 16;
}

extern "C" __global__ void stencil1d(const float *in, float *out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t + 2] = i < n ? in[i] : 0;
  if (t < 2) {
    s[t] = i >= 2 ? in[i - 2] : 0;
    s[blockDim.x + 2 + t] = i + (int)blockDim.x < n ? in[i + blockDim.x] : 0;
  }
  __syncthreads();
  if (i < n) out[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}

extern "C" __global__ void bitonic_sort(int *data) { // 256 numbers by 256 threads
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  for (int size = 2; size <= 256; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int other = t ^ step;
      if (other > t) {
        bool up = (t & size) == 0;
        int a = s[t], b = s[other];
        if ((a > b) == up) s[t] = b, s[other] = a;
      }
    }
  __syncthreads();
  data[blockIdx.x * 256 + t] = s[t];
}

extern "C" __global__ void maxpool2x2(const float *in, float *out, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  const float *p = in + 2 * y * w + 2 * x;
  out[y * (w / 2) + x] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[w], p[w + 1]));
}

extern "C" __global__ void async_copy(const float4 *in, float4 *out) {
  __shared__ __align__(16) float4 s[64];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(in + blockIdx.x * 64 + threadIdx.x));
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n");
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
