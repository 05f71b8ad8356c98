// What came with sm_90: mbarriers, bulk copies, tensor boxes, clusters.
// PTX: nvcc -arch=sm_90a -ptx hopper.cu
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

__device__ uint32_t shared(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t *b, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(n) : "memory");
}
__device__ void invalidate(uint64_t *b) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared(b)) : "memory");
}
__device__ uint64_t arrive(uint64_t *b) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared(b)) : "memory");
  return state;
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
__device__ bool testState(uint64_t *b, uint64_t state) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared(b)), "l"(state)
               : "memory");
  return done;
}
__device__ void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ uint32_t inBlock(const void *p, uint32_t rank) {
  uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared(p)), "r"(rank));
  return address;
}

// --- mbarriers ---

// A ring of two slots: warp 0 produces, warp 1 consumes.
extern "C" __global__ void ring(const int *in, int *out, int rounds) {
  __shared__ int slot[2][32];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i)
      init(&full[i], 32), init(&empty[i], 32);
  __syncthreads();
  int lane = threadIdx.x % 32;
  for (int i = 0; i < rounds; ++i) {
    int s = i % 2, phase = i / 2 % 2;
    if (threadIdx.x < 32) {
      waitParity(&empty[s], phase ^ 1);
      slot[s][lane] = in[i * 32 + lane];
      arrive(&full[s]);
    } else {
      waitParity(&full[s], phase);
      out[i * 32 + lane] = slot[s][31 - lane] + i;
      arrive(&empty[s]);
    }
  }
}

extern "C" __global__ void states(int *out) {
  __shared__ uint64_t b;
  if (threadIdx.x == 0)
    init(&b, 3);
  __syncthreads();
  if (threadIdx.x)
    return;
  uint64_t first = arrive(&b), pending;
  out[0] = testState(&b, first);
  uint64_t second = arrive(&b);
  asm volatile("{ .reg .b32 n; mbarrier.pending_count.b64 n, %1; cvt.u64.u32 %0, n; }" : "=l"(pending) : "l"(second));
  out[1] = int(pending);
  uint64_t dropped;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(dropped) : "r"(shared(&b)) : "memory");
  out[2] = testState(&b, first), out[3] = testState(&b, dropped);
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(first) : "r"(shared(&b)) : "memory");
  out[4] = testState(&b, first);
  first = arrive(&b); // two arrivals are enough now
  out[5] = testState(&b, first);
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(shared(&b)) : "memory");
  first = arrive(&b), arrive(&b);
  out[6] = testState(&b, first);
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(shared(&b)) : "memory");
  out[7] = testState(&b, first);
  invalidate(&b);
}

// --- bulk copies ---

extern "C" __global__ void copy_in(const float *in, float *out) {
  __shared__ alignas(16) float tile[256];
  __shared__ uint64_t b;
  if (threadIdx.x == 0) {
    init(&b, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(&b, 1024);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared(tile)),
                 "l"(in + blockIdx.x * 256), "r"(1024), "r"(shared(&b))
                 : "memory");
  }
  __syncthreads();
  waitParity(&b, 0);
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void copy_out(float *out, const float *in) {
  __shared__ alignas(16) float tile[64];
  tile[threadIdx.x] = in[threadIdx.x] * 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;\ncp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read 0;" ::"l"(out),
                 "r"(shared(tile))
                 : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(in));
  }
}

extern "C" __global__ void copy_add(float *sums, int *least, unsigned *bits, const float *in) {
  __shared__ alignas(16) float f[32];
  __shared__ alignas(16) int i[32];
  f[threadIdx.x] = in[threadIdx.x], i[threadIdx.x] = int(in[threadIdx.x] * 8);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%3], 128;\n"
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%1], [%4], 128;\n"
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%2], [%4], 128;\n"
                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(sums),
                 "l"(least), "l"(bits), "r"(shared(f)), "r"(shared(i))
                 : "memory");
}

// --- clusters ---

extern "C" __global__ void places(int *out) {
  int v[8];
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
  asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[2]));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[3]));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[4]));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[5]));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(v[6]));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[7]));
  for (int i = 0; i < 8; ++i)
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 8 + i] = v[i];
}

// Every block adds up what all blocks of its cluster hold.
extern "C" __global__ void cluster_sum(const int *in, int *out) {
  __shared__ int own[64];
  cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  int sum = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r)
    sum += cluster.map_shared_rank(own, r)[(threadIdx.x + r) % 64];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const int *in, int *bins, int n) {
  __shared__ int part[32];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32)
    part[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(cluster.map_shared_rank(part, in[i] / 32 % 2) + in[i] % 32, 1);
  cluster.sync();
  if (threadIdx.x < 32)
    atomicAdd(bins + cluster.block_rank() * 32 + threadIdx.x, part[threadIdx.x]);
}

// The next block's values arrive by st.async, counted by the receiver's barrier.
extern "C" __global__ void pass_on(int *out) {
  __shared__ int box[32];
  __shared__ uint64_t b;
  unsigned rank, n, whose;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  if (threadIdx.x == 0)
    init(&b, 1), expect(&b, 128);
  clusterSync();
  unsigned to = (rank + 1) % n, address = inBlock(&box[threadIdx.x], to), barrier = inBlock(&b, to);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(address),
               "r"(rank * 100 + threadIdx.x), "r"(barrier)
               : "memory");
  waitParity(&b, 0);
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(whose) : "r"(address));
  out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x] + whose * 10000;
  clusterSync();
}

// All blocks arrive at the first one's barrier.
extern "C" __global__ void arrive_far(int *out) {
  __shared__ uint64_t b;
  __shared__ int count;
  unsigned rank, n;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  if (threadIdx.x == 0)
    init(&b, 32 * n), count = 0;
  clusterSync();
  unsigned far = inBlock(&count, 0);
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(far), "r"(rank + 1) : "memory");
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(inBlock(&b, 0)) : "memory");
  if (rank == 0) {
    waitParity(&b, 0);
    if (threadIdx.x == 0)
      out[blockIdx.x / n] = count;
  }
  clusterSync();
}

// Everybody adds to every block's counters, counted by their barriers.
extern "C" __global__ void add_far(unsigned *out) {
  __shared__ unsigned sums[32];
  __shared__ uint64_t b;
  unsigned rank, n;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  sums[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    init(&b, 1), expect(&b, 128 * n);
  clusterSync();
  for (unsigned to = 0; to < n; ++to)
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
                     inBlock(&sums[threadIdx.x], to)),
                 "r"(rank * 10 + to + threadIdx.x), "r"(inBlock(&b, to))
                 : "memory");
  waitParity(&b, 0);
  out[blockIdx.x * 32 + threadIdx.x] = sums[threadIdx.x];
  clusterSync();
}

extern "C" __global__ void multicast(const int *in, int *out) {
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t b;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  tile[threadIdx.x] = -1;
  if (threadIdx.x == 0)
    init(&b, 1);
  clusterSync();
  if (threadIdx.x == 0) {
    expect(&b, rank == 2 ? 128 : 256);
    unsigned short whom = rank == 0 ? 0xf : 0xb;
    if (rank < 2) // each of two blocks brings half
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
                   "128, [%2], %3;" ::"r"(shared(tile + 32 * rank)),
                   "l"(in + 32 * rank), "r"(shared(&b)), "h"(whom)
                   : "memory");
  }
  waitParity(&b, 0);
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
  clusterSync();
}

// --- tensor boxes ---

struct alignas(64) Map {
  char bytes[128];
};

#define TENSOR_LOAD(rank, mode, list, extra, ...)                                                                      \
  asm volatile("cp.async.bulk.tensor." #rank "d.shared::cluster.global." mode                                          \
               "mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2]" extra ";" ::"r"(shared(box)),              \
               "l"(&map), "r"(shared(&b)), __VA_ARGS__                                                                 \
               : "memory")

#define TENSOR_KERNEL(name, ...)                                                                                       \
  extern "C" __global__ void name(const __grid_constant__ Map map, char *out, int bytes, int c0, int c1, int c2,       \
                                  int c3, int c4, short o0, short o1, short o2) {                                      \
    extern __shared__ __align__(1024) char box[];                                                                      \
    __shared__ uint64_t b;                                                                                             \
    if (threadIdx.x == 0) {                                                                                            \
      init(&b, 1);                                                                                                     \
      asm volatile("prefetch.tensormap [%0];" ::"l"(&map));                                                            \
      expect(&b, bytes);                                                                                               \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
    __syncthreads();                                                                                                   \
    waitParity(&b, 0);                                                                                                 \
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)                                                              \
      out[i] = box[i];                                                                                                 \
  }

TENSOR_KERNEL(load_1d, TENSOR_LOAD(1, "", "%3", "", "r"(c0)))
TENSOR_KERNEL(load_2d, TENSOR_LOAD(2, "", "%3, %4", "", "r"(c0), "r"(c1)))
TENSOR_KERNEL(load_3d, TENSOR_LOAD(3, "tile.", "%3, %4, %5", "", "r"(c0), "r"(c1), "r"(c2)))
TENSOR_KERNEL(load_4d, TENSOR_LOAD(4, "", "%3, %4, %5, %6", "", "r"(c0), "r"(c1), "r"(c2), "r"(c3)))
TENSOR_KERNEL(load_5d, TENSOR_LOAD(5, "", "%3, %4, %5, %6, %7", "", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)))
TENSOR_KERNEL(load_im2col_3d, TENSOR_LOAD(3, "im2col.", "%3, %4, %5", ", {%6}", "r"(c0), "r"(c1), "r"(c2), "h"(o0)))
TENSOR_KERNEL(load_im2col_4d, TENSOR_LOAD(4, "im2col.", "%3, %4, %5, %6", ", {%7, %8}", "r"(c0), "r"(c1), "r"(c2),
                                          "r"(c3), "h"(o0), "h"(o1)))
TENSOR_KERNEL(load_im2col_5d, TENSOR_LOAD(5, "im2col.", "%3, %4, %5, %6, %7", ", {%8, %9, %10}", "r"(c0), "r"(c1),
                                          "r"(c2), "r"(c3), "r"(c4), "h"(o0), "h"(o1), "h"(o2)))

#define TENSOR_STORE(name, what)                                                                                       \
  extern "C" __global__ void name(const __grid_constant__ Map map, const char *in, int bytes, int c0, int c1) {       \
    extern __shared__ __align__(1024) char box[];                                                                      \
    for (int i = threadIdx.x; i < bytes; i += blockDim.x)                                                              \
      box[i] = in[i];                                                                                                  \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                       \
    __syncthreads();                                                                                                   \
    if (threadIdx.x == 0)                                                                                              \
      asm volatile(what " [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&map),  \
                   "r"(c0), "r"(c1), "r"(shared(box))                                                                  \
                   : "memory");                                                                                        \
  }
TENSOR_STORE(store_2d, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group")
TENSOR_STORE(add_2d, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group")
TENSOR_STORE(max_2d, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group")

// One box for two blocks.
extern "C" __global__ void load_multicast(const __grid_constant__ Map map, char *out, int bytes, int c0, int c1) {
  extern __shared__ __align__(1024) char box[];
  __shared__ uint64_t b;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0)
    init(&b, 1), expect(&b, bytes);
  clusterSync();
  if (rank == 1 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1, {%2, %3}], [%4], %5;" ::"r"(shared(box)),
                 "l"(&map), "r"(c0), "r"(c1), "r"(shared(&b)), "h"((short)3)
                 : "memory");
  waitParity(&b, 0);
  for (int i = threadIdx.x; i < bytes; i += blockDim.x)
    out[rank * bytes + i] = box[i];
  clusterSync();
}

// Points a map at another tensor before its use.
extern "C" __global__ void replace_map(const __grid_constant__ Map map, Map *changed, const char *other, int size) {
  __shared__ Map own;
  for (int i = threadIdx.x; i < 128; i += 32)
    own.bytes[i] = map.bytes[i];
  __syncwarp();
  if (threadIdx.x == 0)
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;\n"
                 "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %2;" ::"r"(shared(&own)),
                 "l"(other), "r"(size)
                 : "memory");
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], "
               "128;" ::"l"(changed),
               "r"(shared(&own))
               : "memory");
}

// --- others ---

extern "C" __global__ void __launch_bounds__(128, 1) registers_and_election(int *out) {
  asm volatile("griddepcontrol.wait;");
  int chosen;
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(chosen));
  if (threadIdx.x / 32 == 0)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  out[threadIdx.x] = chosen;
  asm volatile("griddepcontrol.launch_dependents;");
}
