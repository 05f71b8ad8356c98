// Reductions, scans and what lanes do together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce_shared(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? in[i] : 0.f;
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce_shuffle(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}

extern "C" __global__ void scan_block(const int *in, int *out) { // inclusive, 128 threads
  __shared__ int warpTotals[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5, v = in[blockIdx.x * 128 + t];
  for (int d = 1; d < 32; d <<= 1) {
    int u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) warpTotals[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v += warpTotals[w];
  out[blockIdx.x * 128 + t] = v;
}

// Each block waits for its predecessor's running total.
extern "C" __global__ void scan_lookback(const int *in, int *out, volatile int *flags, volatile int *totals) {
  __shared__ int before;
  __shared__ int s[64];
  int t = threadIdx.x, b = blockIdx.x;
  s[t] = in[b * 64 + t];
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 64; ++i) s[i] += s[i - 1];
    int sum = 0;
    if (b > 0) {
      while (flags[b - 1] == 0) {}
      __threadfence();
      sum = totals[b - 1];
    }
    totals[b] = sum + s[63];
    __threadfence();
    flags[b] = 1;
    before = sum;
  }
  __syncthreads();
  out[b * 64 + t] = before + s[t];
}

extern "C" __global__ void vote_and_match(const int *in, unsigned *out) {
  int t = threadIdx.x, v = in[t];
  out[t] = __ballot_sync(0xffffffffu, v > 5);
  out[32 + t] = __match_any_sync(0xffffffffu, v);
  out[64 + t] = __any_sync(0xffffffffu, v == 7) + 2 * __all_sync(0xffffffffu, v >= 0);
  if (t % 3 == 0) out[96 + t] = __popc(__activemask());
  out[128 + t] = __reduce_add_sync(0xffffffffu, v);
}

extern "C" __global__ void tiles(const int *in, int *out) { // groups of eight
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = tile.size() / 2; d > 0; d /= 2) v = max(v, tile.shfl_xor(v, d));
  out[blockIdx.x * blockDim.x + threadIdx.x] = v + tile.thread_rank();
}

extern "C" __global__ void coalesced_count(const int *in, int *count) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(count, active.size());
  }
}

extern "C" __global__ void grid_sum(const float *in, float *partial, float *out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ float s[64];
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 64; ++i) s[0] += s[i];
    partial[blockIdx.x] = s[0];
  }
  grid.sync();
  if (grid.thread_rank() == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

extern "C" __global__ void softmax_rows(const float *in, float *out, int n) { // one warp per row
  const float *row = in + blockIdx.x * n;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, row[i]);
  for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  for (int i = threadIdx.x; i < n; i += 32) sum += __expf(row[i] - most);
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int i = threadIdx.x; i < n; i += 32) out[blockIdx.x * n + i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void layernorm(const float *in, const float *gain, const float *bias, float *out, int n) {
  __shared__ float s[2][4];
  const float *row = in + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += 128) sum += row[i], squares += row[i] * row[i];
  for (int d = 16; d; d >>= 1) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  }
  if (threadIdx.x % 32 == 0) s[0][threadIdx.x / 32] = sum, s[1][threadIdx.x / 32] = squares;
  __syncthreads();
  sum = s[0][0] + s[0][1] + s[0][2] + s[0][3];
  squares = s[1][0] + s[1][1] + s[1][2] + s[1][3];
  float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 128) out[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}
