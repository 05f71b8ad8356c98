// Atomics of all kinds.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

extern "C" __global__ void atomic_kinds(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(&i[0], -t);
  atomicMax(&i[1], t);
  atomicAnd(&u[0], ~(1u << (t & 31)));
  atomicOr(&u[1], 1u << (t & 15));
  atomicXor(&u[2], t);
  atomicInc(&u[3], 99);
  atomicDec(&u[4], 49);
  atomicExch(&u[5], 7u);
  atomicAdd(&l[0], 1ull << 33);
  atomicMax(&l[1], (unsigned long long)t << 20);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

extern "C" __global__ void cas_multiply(float *p) { // times two, through compare-and-swap
  unsigned *word = (unsigned *)p;
  unsigned old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) * 2.f));
  } while (old != seen);
}

extern "C" __global__ void stack_push(int *count, int *items) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 3 == 0) items[atomicAdd(count, 1)] = t;
}
