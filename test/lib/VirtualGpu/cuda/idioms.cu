// Ways to share memory that are right: check mode is silent about them.
// PTX: nvcc -arch=sm_90a -ptx idioms.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(int *out, const int *in, int *flags)

__device__ uint32_t shared(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ int self() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ void copyAsync16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n> __device__ void waitGroups() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }

// --- within a warp ---

KERNEL(volatileTail) { // as it was written before Volta
  __shared__ int sums[64];
  int t = threadIdx.x;
  sums[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile int *v = sums;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0)
    out[0] = sums[0];
}

KERNEL(partialMasks) { // groups of eight lanes that part company
  __shared__ int words[64];
  int t = threadIdx.x, group = t / 8 % 4;
  unsigned mask = 0xffu << 8 * group;
  words[t] = in[t];
  if (group == 0)
    __nanosleep(10);
  if (group < 2) {
    __syncwarp(mask);
    out[t] = words[t ^ 7];
  } else {
    for (int i = 0; i < group; ++i) {
      __syncwarp(mask);
      int v = words[t ^ 1];
      __syncwarp(mask);
      words[t] = v + i;
    }
    __syncwarp(mask);
    out[t] = words[t ^ 7];
  }
}

KERNEL(tiles) {
  __shared__ int words[128];
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int t = threadIdx.x, sum = cg::reduce(tile, in[t], cg::plus<int>());
  words[t] = sum + tile.thread_rank();
  tile.sync();
  sum += words[t ^ 15];
  tile.sync();
  words[t] = cg::inclusive_scan(tile, sum);
  tile.sync();
  out[t] = words[t ^ 3];
  auto pair = cg::tiled_partition<2>(tile);
  tile.sync();
  words[t] = pair.shfl(sum, 0);
  pair.sync();
  out[t] += words[t ^ 1];
}

KERNEL(aggregatedAtomics) {
  if (in[self()] & 1) {
    auto active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0)
      base = atomicAdd(&flags[0], active.size());
    int place = active.shfl(base, 0) + active.thread_rank();
    out[place] = in[self()];
  }
}

KERNEL(labels) { // lanes with equal keys
  int t = threadIdx.x;
  auto group = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), in[t] & 3);
  int sum = 0;
  for (int i = 0; i < group.size(); ++i)
    sum += group.shfl(in[t], i);
  out[t] = sum;
}

KERNEL(bitonic) {
  __shared__ int keys[128];
  int t = threadIdx.x;
  keys[t] = in[t];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      int other = t ^ step;
      if (other > t) {
        int a = keys[t], b = keys[other];
        if ((a > b) == ((t & size) == 0))
          keys[t] = b, keys[other] = a;
      }
      if (step > 32)
        __syncthreads();
      else {
        __syncwarp();
        if (step == 1 || step == 32)
          __syncthreads();
      }
    }
  out[t] = keys[t];
}

// --- within a block ---

KERNEL(earlyExit) { // threads that leave before a named barrier of the others
  __shared__ int words[128];
  int t = threadIdx.x;
  words[t] = in[t];
  if (t >= 64 && in[4000] >= 0)
    return;
  asm volatile("barrier.sync 3, 64;" ::: "memory");
  out[t] = words[63 - t];
}

KERNEL(exitsThenBarrier) { // exited warps count as arrived
  __shared__ int words[128];
  int t = threadIdx.x;
  if (t >= 96)
    return;
  words[t] = in[t];
  __syncthreads();
  out[t] = words[95 - t];
}

KERNEL(counts) { // barriers that reduce order as barriers do
  __shared__ int words[96];
  int t = threadIdx.x;
  words[t] = in[t];
  int odd = __syncthreads_count(in[t] & 1);
  int v = words[95 - t];
  int any = __syncthreads_or(v > 100);
  words[t] = v + odd;
  int all = __syncthreads_and(v > 0);
  out[t] = words[(t + 1) % 96] + any + all;
}

KERNEL(namedHandOver) { // producer and consumer with bar.arrive
  __shared__ int slot[2][32];
  int t = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    for (int i = 0; i < 6; ++i) {
      asm volatile("barrier.sync %0, 64;" ::"r"(3 + (i & 1)) : "memory");
      slot[i & 1][t] = in[i * 32 + t];
      asm volatile("barrier.arrive %0, 64;" ::"r"(1 + (i & 1)) : "memory");
    }
  } else {
    asm volatile("barrier.arrive 3, 64;\nbarrier.arrive 4, 64;" ::: "memory");
    for (int i = 0; i < 6; ++i) {
      asm volatile("barrier.sync %0, 64;" ::"r"(1 + (i & 1)) : "memory");
      out[i * 32 + t] = slot[i & 1][31 - t];
      if (i < 4)
        asm volatile("barrier.arrive %0, 64;" ::"r"(3 + (i & 1)) : "memory");
    }
  }
}

KERNEL(splitBarrier) { // arrive, work, wait
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char place[sizeof(Barrier)];
  Barrier &bar = *reinterpret_cast<Barrier *>(place);
  __shared__ int words[64];
  int t = threadIdx.x;
  if (t == 0)
    init(&bar, 64);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    words[t] = in[t + i];
    auto token = bar.arrive();
    sum += i;
    bar.wait(std::move(token));
    sum += words[63 - t];
    bar.arrive_and_wait();
  }
  out[t] = sum;
}

KERNEL(pipelines) { // cuda::pipeline with two stages
  __shared__ alignas(16) int stage[2][256];
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ alignas(State) char place[sizeof(State)];
  State &state = *reinterpret_cast<State *>(place);
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, sum = 0;
  for (int i = 0, fetched = 0; i < 6; ++i) {
    for (; fetched < 6 && fetched < i + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[fetched & 1], in + fetched * 256, cuda::aligned_size_t<16>(1024), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    block.sync();
    sum += stage[i & 1][255 - t];
    pipe.consumer_release();
  }
  out[t] = sum;
}

KERNEL(doubleBuffer) { // cp.async into two places, wait_group 1
  __shared__ alignas(16) int stage[2][512];
  int t = threadIdx.x, sum = 0;
  copyAsync16(&stage[0][4 * t], in + 4 * t);
  commit();
  for (int i = 0; i < 7; ++i) {
    if (i + 1 < 7)
      copyAsync16(&stage[(i + 1) & 1][4 * t], in + (i + 1) * 512 + 4 * t);
    commit();
    waitGroups<1>();
    __syncthreads();
    uint32_t a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(shared(&stage[i & 1][(t * 4 + 128) % 512])));
    sum += a + b + c + d;
    __syncthreads();
  }
  out[t] = sum;
}

KERNEL(zeroFill) { // bytes beyond the source are zeros, and an address of nothing is not read
  __shared__ alignas(16) int words[256];
  int t = threadIdx.x, bytes = t < 20 ? 16 : t == 20 ? 4 : 0;
  const int *from = bytes ? in + 4 * t : in + 100000;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared(&words[4 * t])), "l"(from), "r"(bytes)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = words[t] + words[t + 64] + words[t + 128] + words[t + 192];
}

KERNEL(asyncArrive) { // cp.async.mbarrier.arrive.noinc
  __shared__ alignas(16) int words[256];
  __shared__ uint64_t full;
  int t = threadIdx.x;
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(shared(&full)) : "memory");
  __syncthreads();
  copyAsync16(&words[4 * t], in + 4 * t);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared(&full)) : "memory");
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(
                   shared(&full))
               : "memory");
  out[t] = words[255 - t];
}

KERNEL(found) { // all who find it say so
  __shared__ int any;
  __shared__ unsigned char seen[64];
  int t = threadIdx.x;
  if (t == 0)
    any = 0;
  seen[t] = 0;
  __syncthreads();
  if (in[t] > 100)
    any = 1;
  seen[in[t] & 63] = 1;
  __syncthreads();
  out[t] = any + seen[t];
  if (in[t] & 1)
    flags[0] = 1;
}

KERNEL(reuse) { // one piece of shared memory for two purposes
  __shared__ union {
    int words[64];
    short halves[128];
    double pairs[32];
  } u;
  int t = threadIdx.x;
  u.words[t] = in[t];
  __syncthreads();
  int v = u.words[63 - t];
  __syncthreads();
  u.halves[t] = short(v);
  u.halves[t + 64] = short(v >> 1);
  __syncthreads();
  v = u.halves[127 - t];
  __syncthreads();
  if (t < 32)
    u.pairs[t] = v;
  __syncthreads();
  out[t] = int(u.pairs[t & 31]);
}

struct Padded {
  char tag;
  int value;
  short last;
};
KERNEL(padding) { // structs are copied with what lies between their fields
  __shared__ Padded items[64];
  int t = threadIdx.x;
  Padded own;
  own.tag = char(in[t]);
  own.value = in[t];
  own.last = 3;
  items[t] = own;
  __syncthreads();
  Padded other = items[63 - t];
  __syncthreads();
  items[t] = other;
  reinterpret_cast<Padded *>(out)[t] = other;
  __syncthreads();
  reinterpret_cast<Padded *>(out)[64 + t] = reinterpret_cast<Padded *>(out)[t];
}

KERNEL(queue) { // work handed out by a counter
  __shared__ int item;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0)
      item = atomicAdd(&flags[0], 1);
    __syncthreads();
    if (item >= 16)
      break;
    out[item * 64 + threadIdx.x] = in[item * 64 + threadIdx.x];
  }
}

// --- between blocks ---

KERNEL(lastBlock) { // CUDA's sample: partial sums, the last block adds them
  __shared__ bool last;
  if (threadIdx.x == 0)
    out[1 + blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (threadIdx.x == 0)
    last = atomicInc((unsigned *)&flags[0], gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    int v = threadIdx.x < gridDim.x ? out[1 + threadIdx.x] : 0;
    for (int i = 16; i; i /= 2)
      v += __shfl_down_sync(~0u, v, i);
    if (threadIdx.x == 0)
      out[0] = v;
  }
}

KERNEL(lastBlockAllWrite) { // every thread writes and fences, one counts
  __shared__ bool last;
  out[1 + self()] = in[self()];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(&flags[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    int sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x)
      sum += out[1 + i];
    atomicAdd(&out[0], sum);
  }
}

KERNEL(gridSync) {
  auto grid = cg::this_grid();
  int n = gridDim.x * blockDim.x;
  out[self()] = in[self()];
  for (int i = 0; i < 3; ++i) {
    grid.sync();
    int v = out[n - 1 - self()];
    grid.sync();
    out[self()] = v + i;
  }
}

KERNEL(gridSplit) { // cooperative groups' barrier in two halves
  auto grid = cg::this_grid();
  int n = gridDim.x * blockDim.x;
  out[self()] = in[self()];
  auto token = grid.barrier_arrive();
  int v = in[self() + 1];
  grid.barrier_wait(std::move(token));
  out[n + self()] = out[n - 1 - self()] + v;
}

KERNEL(spinLock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&flags[0], 0, 1) != 0)
      ;
    __threadfence();
    flags[1] += in[blockIdx.x];
    __threadfence();
    atomicExch(&flags[0], 0);
  }
}

KERNEL(volatileUnlock) {
  if (threadIdx.x == 0) {
    while (atomicExch(&flags[0], 1) != 0)
      ;
    __threadfence();
    flags[1] += in[blockIdx.x];
    __threadfence();
    *(volatile int *)&flags[0] = 0;
  }
}

KERNEL(blockLock) { // the lock taken by one thread for its whole block
  if (threadIdx.x == 0) {
    while (atomicCAS(&flags[0], 0, 1) != 0)
      ;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x < 32)
    flags[1 + threadIdx.x] += 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(&flags[0], 0);
  }
}

KERNEL(ticketLock) {
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> next(flags[0]), serving(flags[1]);
    int ticket = next.fetch_add(1, cuda::memory_order_relaxed);
    while (serving.load(cuda::memory_order_acquire) != ticket)
      ;
    flags[2] += 1;
    serving.store(ticket + 1, cuda::memory_order_release);
  }
}

KERNEL(warpLocks) { // lanes that take one lock in turn
  bool done = false;
  while (!done) {
    if (atomicCAS(&flags[0], 0, 1) == 0) {
      __threadfence();
      flags[1] += 1;
      __threadfence();
      atomicExch(&flags[0], 0);
      done = true;
    }
  }
}

KERNEL(semaphore) { // blocks in turn add to one tile, as split sums are fixed up
  if (threadIdx.x == 0) {
    int state;
    do
      asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(state) : "l"(flags) : "memory");
    while (state != blockIdx.x);
  }
  __syncthreads();
  out[threadIdx.x] += in[self()];
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(flags) : "memory");
}

KERNEL(lookBack) { // chained scan: status and value in two words
  __shared__ int before;
  int t = threadIdx.x, b = blockIdx.x;
  int v = in[self()];
  for (int i = 1; i < 32; i *= 2) {
    int left = __shfl_up_sync(~0u, v, i);
    v += t >= i ? left : 0;
  }
  if (t == 31) {
    int sum = 0;
    if (b > 0) {
      while (*(volatile int *)&flags[b - 1] == 0)
        ;
      __threadfence();
      sum = *(volatile int *)&flags[32 + b - 1];
    }
    *(volatile int *)&flags[32 + b] = sum + v;
    __threadfence();
    *(volatile int *)&flags[b] = 1;
    before = sum;
  }
  __syncwarp();
  out[self()] = v + before;
}

KERNEL(packedLookBack) { // both in one word of 64 bits: no fence is needed
  auto *words = reinterpret_cast<unsigned long long *>(flags);
  if (threadIdx.x == 0) {
    unsigned long long sum = 0;
    if (blockIdx.x > 0) {
      unsigned long long w;
      while (((w = *(volatile unsigned long long *)&words[blockIdx.x - 1]) >> 32) == 0)
        ;
      sum = unsigned(w);
    }
    *(volatile unsigned long long *)&words[blockIdx.x] = 1ull << 32 | unsigned(sum + in[blockIdx.x]);
    out[blockIdx.x] = int(sum);
  }
}

KERNEL(handMadeGridBarrier) {
  int n = gridDim.x * blockDim.x;
  for (int round = 1; round <= 3; ++round) {
    out[n * (round & 1) + self()] = in[self()] + round;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(&flags[0], 1);
      while (*(volatile int *)&flags[0] < gridDim.x * round)
        ;
      __threadfence();
    }
    __syncthreads();
    out[2 * n + self()] = out[n * (round & 1) + (self() + blockDim.x) % n];
  }
}

KERNEL(messages) { // release and acquire of libcu++, and relaxed ones with fences
  using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
  if (threadIdx.x)
    return;
  if (blockIdx.x == 0) {
    out[0] = 7;
    Flag(flags[0]).store(1, cuda::memory_order_release);
    out[1] = 8;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    Flag(flags[1]).store(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    while (!Flag(flags[0]).load(cuda::memory_order_acquire))
      ;
    out[2] = out[0];
  } else {
    while (!Flag(flags[1]).load(cuda::memory_order_relaxed))
      ;
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[3] = out[0] + out[1];
  }
}

KERNEL(releaseSequence) { // the flag passes through an atomic addition of a third block
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
  if (threadIdx.x)
    return;
  if (blockIdx.x == 0) {
    out[0] = 7;
    flag.fetch_add(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    while (flag.load(cuda::memory_order_relaxed) == 0)
      ;
    flag.fetch_add(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_acquire) < 2)
      ;
    out[1] = out[0];
  }
}

KERNEL(hashTable) { // keys claimed by atomicCAS, values by their owner alone
  int key = in[self()] % 64 + 1;
  for (int slot = key % 64;; slot = (slot + 1) % 64) {
    int was = atomicCAS(&flags[slot], 0, key);
    if (was == 0 || was == key) {
      atomicAdd(&out[slot], 1);
      break;
    }
  }
}

KERNEL(casFloat) { // a float maximum by compare and swap, with a first look that is atomic
  int *at = &flags[threadIdx.x % 4], old = atomicAdd(at, 0);
  while (in[self()] > old) {
    int seen = atomicCAS(at, old, in[self()]);
    if (seen == old)
      break;
    old = seen;
  }
}

// --- clusters ---

KERNEL(ring) { // two blocks hand words round with red.async
  __shared__ alignas(8) uint64_t full;
  __shared__ int inbox[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, peer = cluster.block_rank() ^ 1;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&full)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(shared(&full)) : "memory");
  }
  inbox[t] = 5;
  cluster.sync();
  uint32_t to, bar;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared(&inbox[t])), "r"(peer));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(shared(&full)), "r"(peer));
  if (t & 1)
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::
                     "r"(to), "r"(in[self()]), "r"(bar)
                 : "memory");
  else
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to),
                 "r"(in[self()]), "r"(bar)
                 : "memory");
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(
          shared(&full))
      : "memory");
  out[self()] = inbox[t];
  cluster.sync();
}

KERNEL(peerHistogram) { // bins spread over the blocks of a cluster
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x;
  bins[t] = 0;
  cluster.sync();
  int bin = in[self()] & 63;
  atomicAdd(cluster.map_shared_rank(&bins[bin & 31], bin / 32), 1);
  cluster.sync();
  out[self()] = bins[t];
}

KERNEL(remoteArrive) { // arrivals at the mbarrier of another block
  __shared__ alignas(8) uint64_t full;
  __shared__ int inbox[32];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, peer = cluster.block_rank() ^ 1;
  if (t == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared(&full)) : "memory");
  cluster.sync();
  *cluster.map_shared_rank(&inbox[t], peer) = in[self()];
  uint32_t bar;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(shared(&full)), "r"(peer));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(
          shared(&full))
      : "memory");
  out[self()] = inbox[31 - t];
  cluster.sync();
}
