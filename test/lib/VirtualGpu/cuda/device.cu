// What the device's library provides, calls, and small matrix fragments.
// PTX: nvcc -arch=sm_80 -ptx device.cu
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <mma.h>

extern "C" __global__ void say(const char *who, int n) {
  if (threadIdx.x < n)
    printf("%s %d: %5.2f|%-4u|%c|%llx|%%|%*d\n", who, threadIdx.x, threadIdx.x / 4.0, threadIdx.x * 3u, 'a' + threadIdx.x,
           0x123456789abcull + threadIdx.x, 4, -int(threadIdx.x));
}

extern "C" __global__ void insist(const int *in) { assert(in[threadIdx.x] < 100); }

// A list per thread, on the heap.
struct Node {
  int value;
  Node *next;
};
extern "C" __global__ void lists(int *out, int length) {
  Node *head = nullptr;
  for (int i = 0; i < length; ++i) {
    Node *node = (Node *)malloc(sizeof(Node));
    if (!node) {
      out[threadIdx.x] = -1;
      return;
    }
    node->value = i * int(threadIdx.x), node->next = head, head = node;
  }
  int sum = 0;
  while (head) {
    sum = sum * 3 + head->value;
    Node *next = head->next;
    free(head);
    head = next;
  }
  out[threadIdx.x] = sum;
}
extern "C" __global__ void too_much(int *out) { out[threadIdx.x] = malloc(size_t(1) << 30) == nullptr; }

// Recursion, and calls through pointers.
__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negative(int x) { return -x; }
__device__ int (*const table[3])(int) = {twice, square, negative};
extern "C" __global__ void calls(int *out) {
  int t = threadIdx.x;
  out[t] = ackermann(2, t % 4) + table[t % 3](t);
}

// Constants with addresses of others.
__constant__ int primes[4] = {2, 3, 5, 7};
__device__ float weights[3] = {0.5f, 1.5f, 2.5f};
struct Table {
  const int *numbers;
  float *scales;
  char name[6];
  short sizes[2];
};
__device__ Table described = {primes + 1, weights + 1, "joule", {3, 2}};
extern "C" __global__ void initialised(float *out) {
  out[0] = described.numbers[0] + described.numbers[2], out[1] = described.scales[1], out[2] = described.name[4];
  out[3] = described.sizes[0] * 10 + described.sizes[1];
}

// The smallest fragments.
using namespace nvcuda;
extern "C" __global__ void quarter_bytes(const void *a, const void *b, int *c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::load_matrix_sync(fa, (const unsigned *)a, 32);
  wmma::load_matrix_sync(fb, (const unsigned *)b, 32);
  wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
extern "C" __global__ void bits(const void *a, const void *b, int *c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::load_matrix_sync(fa, (const unsigned *)a, 128);
  wmma::load_matrix_sync(fb, (const unsigned *)b, 128);
  wmma::fill_fragment(fc, 1);
  wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpXOR);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
  wmma::fill_fragment(fc, 0);
  wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpAND);
  wmma::store_matrix_sync(c + 64, fc, 8, wmma::mem_col_major);
}
extern "C" __global__ void saturated(const signed char *a, const signed char *b, int *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc, true);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// Barriers of some of the warps, and what they reduce.
extern "C" __global__ void named_barriers(int *out) {
  __shared__ int box[2][64];
  int warp = threadIdx.x / 32, pair = warp / 2, lane = threadIdx.x % 64;
  box[pair][lane] = threadIdx.x;
  asm volatile("barrier.sync %0, 64;" ::"r"(pair + 1) : "memory");
  int other = box[pair][63 - lane], count = __syncthreads_count(threadIdx.x % 3 == 0);
  int any = __syncthreads_or(threadIdx.x == 77), all = __syncthreads_and(threadIdx.x < 200);
  if (warp == 0) { // produces for warp 3
    out[256 + lane] = 5 * lane;
    __threadfence_block();
    asm volatile("barrier.arrive 5, 64;" ::: "memory");
  } else if (warp == 3) {
    asm volatile("barrier.sync 5, 64;" ::: "memory");
    out[320 + lane - 32] = ((volatile int *)out)[256 + lane - 32] + 1;
  }
  out[threadIdx.x] = other * 1000 + count, out[128 + threadIdx.x] = any * 2 + all;
}

// Time goes on; a thread may sleep.
extern "C" __global__ void clocks(int *out) {
  long long start = clock64();
  unsigned low = clock();
  __nanosleep(1000);
  unsigned long long timer;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
  out[threadIdx.x] = clock64() > start && timer > 0 && low != clock();
}
