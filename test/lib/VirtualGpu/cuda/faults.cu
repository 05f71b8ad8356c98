// Faults as people make them, each beside the kernel without it: NAME_wrong and NAME_right.
// PTX: nvcc -arch=sm_90a -ptx faults.cu
#include <cooperative_groups.h>
#include <cstdint>
#include <mma.h>
namespace cg = cooperative_groups;

#define PAIR(name)                                                                                                   \
  template <bool right> __device__ void name##Body(int *out, const int *in, int *flags);                             \
  extern "C" __global__ void name##_wrong(int *out, const int *in, int *flags) {                                     \
    name##Body<false>(out, in, flags);                                                                               \
  }                                                                                                                  \
  extern "C" __global__ void name##_right(int *out, const int *in, int *flags) {                                     \
    name##Body<true>(out, in, flags);                                                                                \
  }                                                                                                                  \
  template <bool right> __device__ void name##Body(int *out, const int *in, int *flags)

#define SYNC_IF(condition)                                                                                           \
  if constexpr (condition)                                                                                           \
  __syncthreads()

__device__ uint32_t shared(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ int self() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ void copyAsync(void *to, const void *from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> __device__ void waitGroups() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }

__device__ void init(uint64_t *b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(n) : "memory");
}
__device__ void arrive(uint64_t *b) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(shared(b)) : "memory");
}
__device__ void expect(uint64_t *b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}
__device__ void waitParity(uint64_t *b, int parity) {
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(
                   shared(b)),
               "r"(parity)
               : "memory");
}
__device__ void bulkIn(void *to, const void *from, int bytes, uint64_t *b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared(to)),
               "l"(from), "r"(bytes), "r"(shared(b))
               : "memory");
}
__device__ void bulkOut(void *to, const void *from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
               "r"(shared(from)), "r"(bytes)
               : "memory");
}
__device__ void bulkAddOut(void *to, const void *from, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;\n"
               "cp.async.bulk.commit_group;" ::"l"(to),
               "r"(shared(from)), "r"(bytes)
               : "memory");
}
__device__ void waitBulk() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void waitBulkRead() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void proxyFence() { asm volatile("fence.proxy.async;" ::: "memory"); }

// --- barriers of the block ---

PAIR(tree) {
  __shared__ int sums[256];
  int t = threadIdx.x;
  sums[t] = in[self()];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half)
      sums[t] += sums[t + half];
    SYNC_IF(right);
  }
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

PAIR(warpTail) { // the last warp of a tree as it was written for lanes in lockstep, and with warp barriers
  __shared__ int sums[64];
  int t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  if (t < 32)
    for (int half = 32; half > 0; half /= 2) {
      int sum = sums[t] + sums[t + half % 64];
      if constexpr (right)
        __syncwarp();
      sums[t] = sum;
      if constexpr (right)
        __syncwarp();
    }
  if (t == 0)
    out[0] = sums[0];
}

PAIR(scan) { // one buffer: what is read must have been read by all before it is written
  __shared__ int sums[128];
  int t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    int left = t >= step ? sums[t - step] : 0;
    SYNC_IF(right);
    sums[t] += left;
    __syncthreads();
  }
  out[t] = sums[t];
}

PAIR(transpose) {
  __shared__ int tile[16][17];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = in[threadIdx.x];
  SYNC_IF(right);
  out[threadIdx.x] = tile[x][y];
}

PAIR(halo) { // the right neighbour of the last element is never loaded
  __shared__ int tile[130];
  int t = threadIdx.x, i = 1 + t;
  tile[t + 1] = in[i];
  if (t == 0)
    tile[0] = in[0];
  if (right && t == 127)
    tile[129] = in[129];
  __syncthreads();
  out[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

PAIR(stencil) { // in has 4096 words
  int i = blockIdx.x * 1024 + threadIdx.x;
  out[i] = in[i] + (right && i == 4095 ? 0 : in[i + 1]);
}

PAIR(branchBarrier) {
  __shared__ int words[64];
  int t = threadIdx.x;
  words[t] = in[t];
  if constexpr (right) {
    __syncthreads();
    if (t < 40)
      out[t] = words[63 - t];
  } else if (t < 40) {
    __syncthreads();
    out[t] = words[63 - t];
  }
}

PAIR(histogram) {
  __shared__ int bins[32];
  int t = threadIdx.x;
  if (t < 32)
    bins[t] = 0;
  __syncthreads();
  if constexpr (right)
    atomicAdd(&bins[in[t] & 31], 1);
  else
    bins[in[t] & 31]++;
  __syncthreads();
  if (t < 32)
    out[t] = bins[t];
}

PAIR(binsNotCleared) {
  __shared__ int bins[32];
  int t = threadIdx.x;
  if (t < (right ? 32 : 31))
    bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[t] & 31], 1);
  __syncthreads();
  if (t < 32)
    out[t] = bins[t];
}

PAIR(namedBarriers) { // two groups of two warps; the wrong one shares a barrier's number but not the data
  __shared__ int words[128];
  int t = threadIdx.x, group = t / 64;
  words[t] = in[t];
  asm volatile("barrier.sync %0, 64;" ::"r"(1 + group) : "memory");
  out[t] = words[right ? (t ^ 32) : (t ^ 64)];
}

PAIR(tiles) { // a tile's barrier does not order other tiles
  __shared__ int words[32];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int t = threadIdx.x;
  words[t] = in[t];
  tile.sync();
  out[t] = words[right ? (t ^ 7) : (t ^ 8)];
}

PAIR(halfMasks) {
  __shared__ int words[32];
  int t = threadIdx.x;
  words[t] = in[t];
  __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
  out[t] = words[right ? (t ^ 15) : (t ^ 16)];
}

PAIR(fullMaskShuffle) {
  int t = threadIdx.x, v = in[t];
  if (t < 16)
    v += __shfl_down_sync(right ? 0xffffu : 0xffffffffu, v, 8, 16);
  __syncwarp();
  out[t] = v;
}

PAIR(ballotOfSome) {
  int t = threadIdx.x;
  unsigned votes = 0;
  if (in[t] & 1)
    votes = __ballot_sync(right ? __activemask() : 0xffffffffu, in[t] & 2);
  __syncthreads();
  out[t] = votes;
}

PAIR(flagInShared) { // one thread publishes through a plain word
  __shared__ volatile int ready;
  __shared__ int value;
  if (threadIdx.x == 0)
    ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = in[5];
    if constexpr (right)
      __threadfence_block();
    ready = 1;
  } else if (threadIdx.x == 32) {
    while (!ready)
      ;
    __threadfence_block();
    out[0] = value;
  }
}

// --- memory ---

PAIR(overlap) { // blocks of 32 that step by 31
  int i = blockIdx.x * (right ? 32 : 31) + threadIdx.x;
  out[i] = in[i] + blockIdx.x;
}

__constant__ int table[16] = {1, 2, 3, 4};
PAIR(constant) {
  int *p = right ? out : const_cast<int *>(table);
  p[threadIdx.x] = 7;
  if (threadIdx.x == 0)
    out[100] = table[in[1] & 15];
}

PAIR(vectorCast) {
  const int4 *p = reinterpret_cast<const int4 *>(in + (right ? 4 : 1));
  int4 v = p[threadIdx.x];
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

PAIR(dynamicShared) { // launched with 256 bytes
  extern __shared__ int dynamic[];
  int t = threadIdx.x;
  dynamic[right ? t : t + 1] = in[t];
  __syncthreads();
  out[t] = dynamic[right ? t ^ 1 : t + 1];
}

PAIR(stackArray) {
  int stack[8];
  for (int i = 0; i < 8; ++i)
    stack[i] = in[i];
  int at = in[threadIdx.x] & 7;
  out[threadIdx.x] = stack[right ? at : at + 1];
}

PAIR(stackHalfFilled) {
  int stack[8];
  for (int i = 0; i < (right ? 8 : in[4] & 3); ++i)
    stack[i] = in[i];
  out[threadIdx.x] = stack[in[threadIdx.x] & 7];
}

// --- blocks ---

PAIR(lastBlock) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = in[blockIdx.x];
    if constexpr (right)
      __threadfence();
    last = atomicAdd(&flags[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; ++i)
      sum += out[1 + i];
    out[0] = sum;
  }
}

PAIR(blockScope) {
  if constexpr (right)
    atomicAdd(&flags[threadIdx.x & 1], 1);
  else
    atomicAdd_block(&flags[threadIdx.x & 1], 1);
}

PAIR(lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flags[0], 0, 1) != 0)
      ;
    __threadfence();
    flags[1] += in[blockIdx.x];
    if constexpr (right)
      __threadfence();
    atomicExch(&flags[0], 0);
  }
}

PAIR(peek) { // a plain look at what is added atomically
  if (threadIdx.x == 0) {
    int before = right ? atomicAdd(&flags[0], 0) : flags[0];
    if (before < 1000)
      atomicAdd(&flags[0], 1);
  }
}

PAIR(gridBarrier) {
  out[self()] = in[self()];
  __syncthreads();
  if (threadIdx.x == 0) {
    if constexpr (right)
      __threadfence();
    atomicAdd(&flags[0], 1);
    while (*(volatile int *)&flags[0] < gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  flags[1] = 0;
  int other = (self() + blockDim.x) % (gridDim.x * blockDim.x);
  out[1024 + self()] = out[other];
}

PAIR(barrierOfTooMany) {
  if (threadIdx.x == 0) {
    atomicAdd(&flags[0], 1);
    while (*(volatile int *)&flags[0] < gridDim.x + (right ? 0 : 1))
      ;
  }
}

PAIR(unlockedRead) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flags[0], 0, 1) != 0)
      ;
    __threadfence();
    flags[1] += 1;
    int inside = flags[1];
    __threadfence();
    atomicExch(&flags[0], 0);
    out[blockIdx.x] = right ? inside : flags[1];
  }
}

// --- cp.async ---

PAIR(pipelineTail) { // all but the last stage are awaited
  __shared__ int stage[2][64];
  int t = threadIdx.x, sum = 0;
  copyAsync(&stage[0][t], &in[t]);
  commit();
  for (int i = 0; i < 8; ++i) {
    if (i + 1 < 8) {
      copyAsync(&stage[(i + 1) & 1][t], &in[(i + 1) * 64 + t]);
      commit();
    }
    if (right && i + 1 == 8)
      waitGroups<0>();
    else
      waitGroups<1>();
    __syncthreads();
    sum += stage[i & 1][t ^ 33];
    __syncthreads();
  }
  out[t] = sum;
}

PAIR(pipelineCount) { // three stages, one group too many in flight
  __shared__ int stage[3][64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 2; ++i) {
    copyAsync(&stage[i][t], &in[i * 64 + t]);
    commit();
  }
  for (int i = 0; i < 9; ++i) {
    waitGroups<right ? 1 : 2>();
    __syncthreads();
    if (i + 2 < 9)
      copyAsync(&stage[(i + 2) % 3][t], &in[(i + 2) * 64 + t]);
    commit();
    sum += stage[i % 3][t ^ 33];
  }
  out[t] = sum;
}

PAIR(pipelineReuse) { // the next stage is fetched into the place that others still read
  __shared__ int stage[2][64];
  int t = threadIdx.x, sum = 0;
  copyAsync(&stage[0][t], &in[t]);
  commit();
  for (int i = 0; i < 8; ++i) {
    if (i + 1 < 8)
      copyAsync(&stage[(i + 1) & 1][t], &in[(i + 1) * 64 + t]);
    commit();
    waitGroups<1>();
    __syncthreads();
    sum += stage[i & 1][t ^ 33];
    SYNC_IF(right);
  }
  out[t] = sum;
}

PAIR(ownWaitOnly) { // the wait makes a thread's own copies visible to itself
  __shared__ __align__(16) int words[128];
  int t = threadIdx.x;
  copyAsync(&words[t], &in[t]);
  asm volatile("cp.async.wait_all;" ::: "memory");
  SYNC_IF(right);
  int a;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(shared(&words[(t & 7) * 16])));
  out[t] = a;
}

PAIR(fragment) { // matrix fragments of what other warps have written
  __shared__ __align__(32) __half a[256], b[256];
  __shared__ __align__(32) float c[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64)
    a[i] = b[i] = __float2half(float(in[i] & 7));
  SYNC_IF(right);
  if (t < 32) {
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> fa;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::col_major> fb;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> fc;
    nvcuda::wmma::fill_fragment(fc, 0.f);
    nvcuda::wmma::load_matrix_sync(fa, a, 16);
    nvcuda::wmma::load_matrix_sync(fb, b, 16);
    nvcuda::wmma::mma_sync(fc, fa, fb, fc);
    nvcuda::wmma::store_matrix_sync(c, fc, 16, nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (int i = t; i < 256; i += 32)
      out[i] = int(c[i]);
  }
}

// --- mbarriers and bulk copies ---

PAIR(parity) { // the first phase has parity 0; parity 1 is the phase before, which is over
  __shared__ __align__(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    proxyFence();
  }
  __syncthreads();
  if (t == 0) {
    expect(&full, 1024);
    bulkIn(words, in, 1024, &full);
  }
  waitParity(&full, right ? 0 : 1);
  out[t] = words[t];
}

PAIR(phaseNotFlipped) {
  __shared__ __align__(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x, sum = 0;
  if (t == 0) {
    init(&full, 1);
    proxyFence();
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (t == 0) {
      expect(&full, 1024);
      bulkIn(words, in + 256 * i, 1024, &full);
    }
    waitParity(&full, right ? i & 1 : 0);
    sum += words[255 - t];
    __syncthreads();
  }
  out[t] = sum;
}

PAIR(expectShort) {
  __shared__ __align__(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    proxyFence();
  }
  __syncthreads();
  if (t == 0) {
    expect(&full, right ? 1024 : 512);
    bulkIn(words, in, 512, &full);
    bulkIn(words + 128, in + 128, 512, &full);
  }
  waitParity(&full, 0);
  out[t] = words[t];
}

PAIR(expectLong) {
  __shared__ __align__(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    proxyFence();
  }
  __syncthreads();
  if (t == 0) {
    expect(&full, right ? 1024 : 1040);
    bulkIn(words, in, 1024, &full);
  }
  waitParity(&full, 0);
  out[t] = words[t];
}

PAIR(expectNothing) { // the phase ends with the arrival, before the bytes come
  __shared__ __align__(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    proxyFence();
  }
  __syncthreads();
  if (t == 0) {
    if constexpr (right)
      expect(&full, 1024);
    bulkIn(words, in, 1024, &full);
    if constexpr (!right)
      arrive(&full);
  }
  waitParity(&full, 0);
  out[t] = words[t];
}

PAIR(initTwice) {
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0)
    init(&full, 32);
  __syncthreads();
  if (t < 32)
    arrive(&full);
  if (!right && t == 0)
    init(&full, 32);
  waitParity(&full, 0);
  out[t] = in[t];
}

PAIR(initByAll) {
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (right ? t == 0 : t % 32 == 0)
    init(&full, 64);
  __syncthreads();
  arrive(&full);
  waitParity(&full, 0);
  out[t] = in[t];
}

PAIR(arriveOfTooFew) {
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0)
    init(&full, 64);
  __syncthreads();
  if (right || t < 63)
    arrive(&full);
  waitParity(&full, 0);
  out[t] = in[t];
}

PAIR(emptySlot) { // the producer refills a slot that the consumers have not released
  __shared__ int slot[32];
  __shared__ uint64_t full, empty;
  int t = threadIdx.x;
  if (t == 0) {
    init(&full, 32);
    init(&empty, 32);
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i)
    if (t < 32) {
      if (right)
        waitParity(&empty, (i & 1) ^ 1);
      slot[t] = in[i * 32 + t];
      arrive(&full);
      if (!right)
        waitParity(&full, i & 1);
    } else {
      waitParity(&full, i & 1);
      out[i * 32 + t - 32] = slot[63 - t];
      arrive(&empty);
    }
}

PAIR(noProxyFence) {
  __shared__ __align__(16) int words[128];
  int t = threadIdx.x;
  words[t] = in[t] * 2;
  if constexpr (right)
    proxyFence();
  __syncthreads();
  if (t == 0) {
    bulkOut(out, words, 512);
    waitBulk();
  }
}

PAIR(bulkReadWait) { // .read says that the source is free, not that the destination is there
  __shared__ __align__(16) int words[128];
  int t = threadIdx.x;
  words[t] = in[t] * 2;
  proxyFence();
  __syncthreads();
  if (t == 0) {
    bulkOut(out, words, 512);
    if constexpr (right)
      waitBulk();
    else
      waitBulkRead();
    out[1000] = out[7];
  }
}

PAIR(bulkOverlap) { // two blocks' bulk stores
  __shared__ __align__(16) int words[128];
  int t = threadIdx.x;
  words[t] = in[t] + blockIdx.x;
  proxyFence();
  __syncthreads();
  if (t == 0) {
    bulkOut(out + blockIdx.x * (right ? 128 : 124), words, 512);
    waitBulk();
  }
}

PAIR(bulkAgainstStore) { // a thread of another block stores where a bulk copy reads
  __shared__ __align__(16) int words[128];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (blockIdx.x == 1) {
    flags[(right ? 32 : 0) + (t & 15)] = t & 15;
    return;
  }
  if (t == 0) {
    init(&full, 1);
    proxyFence();
    expect(&full, 64);
    bulkIn(words, flags, 64, &full);
  }
  __syncthreads();
  waitParity(&full, 0);
  out[t] = words[t & 15];
}

PAIR(bulkAdd) { // adding needs no order among the blocks, plain stores do
  __shared__ __align__(16) int words[32];
  int t = threadIdx.x;
  words[t] = in[t] + blockIdx.x;
  proxyFence();
  __syncwarp();
  if (t == 0) {
    if constexpr (right)
      bulkAddOut(out, words, 128);
    else
      bulkOut(out, words, 128);
    waitBulk();
  }
}

// --- clusters of two blocks ---

PAIR(peerTooEarly) {
  __shared__ int words[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x;
  words[t] = in[self()];
  if constexpr (right)
    cluster.sync();
  else
    __syncthreads();
  out[self()] = *cluster.map_shared_rank(&words[t], cluster.block_rank() ^ 1);
  cluster.sync();
}

PAIR(peerGone) { // a block that ends while its neighbour still reads
  __shared__ int words[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x;
  words[t] = in[self()];
  cluster.sync();
  if (cluster.block_rank() == 0)
    out[t] = *cluster.map_shared_rank(&words[t], 1);
  if constexpr (right)
    cluster.sync();
}

PAIR(peerCounter) {
  __shared__ int count;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0)
    count = 0;
  cluster.sync();
  int *first = cluster.map_shared_rank(&count, 0);
  if constexpr (right)
    atomicAdd(first, 1);
  else if (threadIdx.x == 0)
    *first += 1;
  cluster.sync();
  if (threadIdx.x == 0)
    out[blockIdx.x] = *first;
  cluster.sync();
}

// --- wgmma ---

__device__ uint64_t describe(const void *p) { // no swizzle, core matrices of 8 rows of 16 bytes side by side
  return (uint64_t(shared(p)) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
}
__device__ void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ void wgmmaWait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
__device__ void wgmma8(float (&c)[4], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "l"(a), "l"(b));
}
struct Operands {
  __align__(128) __half a[64 * 16];
  __align__(128) __half b[8 * 16];
};
__device__ void fill(Operands &o, const int *in) {
  for (int i = threadIdx.x; i < 64 * 16; i += 128)
    o.a[i] = __float2half(float(in[i] & 7));
  if (threadIdx.x < 128)
    o.b[threadIdx.x] = __float2half(float(in[threadIdx.x] & 3));
}
__device__ void give(int *out, const float (&c)[4]) {
  for (int i = 0; i < 4; ++i)
    out[threadIdx.x * 4 + i] = int(c[i]);
}

PAIR(wgmmaProxy) {
  __shared__ Operands o;
  fill(o, in);
  if constexpr (right)
    proxyFence();
  __syncthreads();
  float c[4] = {};
  wgmmaFence();
  wgmma8(c, describe(o.a), describe(o.b));
  wgmmaCommit();
  wgmmaWait();
  give(out, c);
}

PAIR(wgmmaBarrier) { // operands that other warps have not written yet
  __shared__ Operands o;
  fill(o, in);
  proxyFence();
  SYNC_IF(right);
  float c[4] = {};
  wgmmaFence();
  wgmma8(c, describe(o.a), describe(o.b));
  wgmmaCommit();
  wgmmaWait();
  give(out, c);
}

PAIR(wgmmaReuse) { // operands overwritten while the product reads them
  __shared__ Operands o;
  fill(o, in);
  proxyFence();
  __syncthreads();
  float c[4] = {};
  wgmmaFence();
  wgmma8(c, describe(o.a), describe(o.b));
  wgmmaCommit();
  if constexpr (right)
    wgmmaWait();
  __syncthreads();
  o.b[threadIdx.x] = __float2half(1.f);
  if constexpr (!right)
    wgmmaWait();
  give(out, c);
}

PAIR(wgmmaNoFence) { // registers written by others than wgmma
  __shared__ Operands o;
  fill(o, in);
  proxyFence();
  __syncthreads();
  float c[4];
  for (int i = 0; i < 4; ++i)
    c[i] = float(in[i]);
  if constexpr (right)
    wgmmaFence();
  wgmma8(c, describe(o.a), describe(o.b));
  wgmmaCommit();
  wgmmaWait();
  give(out, c);
}

PAIR(wgmmaNoWait) { // sums that are read before they are there
  __shared__ Operands o;
  fill(o, in);
  proxyFence();
  __syncthreads();
  float c[4] = {};
  wgmmaFence();
  wgmma8(c, describe(o.a), describe(o.b));
  wgmmaCommit();
  if constexpr (right)
    wgmmaWait();
  give(out, c);
  if constexpr (!right)
    wgmmaWait();
}

PAIR(wgmmaUnwritten) { // half of an operand was never written
  __shared__ Operands o;
  fill(o, in);
  __shared__ Operands other;
  if (right)
    fill(other, in);
  proxyFence();
  __syncthreads();
  float c[4] = {};
  wgmmaFence();
  wgmma8(c, describe(o.a), describe(other.b));
  wgmmaCommit();
  wgmmaWait();
  give(out, c);
}
