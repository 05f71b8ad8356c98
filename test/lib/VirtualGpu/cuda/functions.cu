// Calls, recursion, tables, local arrays, structures.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float cube(float x) { return x * x * x; }
__device__ __noinline__ float half(float x) { return x * 0.5f; }
typedef float (*Function)(float);
__device__ Function table[3] = {square, cube, half};

extern "C" __global__ void function_pointers(const float *in, float *out) {
  out[threadIdx.x] = table[threadIdx.x % 3](in[threadIdx.x]);
}

extern "C" __global__ void jump_table(const int *in, int *out) {
  int v = in[threadIdx.x], r;
  switch (v) {
  case 0: r = v * 3 + 1; break;
  case 1: r = v ^ 0x55; break;
  case 2: r = v << 7; break;
  case 3: r = 1000 - v; break;
  case 4: r = __clz(v); break;
  case 5: r = __popc(v) + 40; break;
  case 6: r = v / 5 + threadIdx.x; break;
  case 7: r = __brev(v); break;
  default: r = -1;
  }
  out[threadIdx.x] = r;
}

extern "C" __global__ void local_array(const int *in, int *out, int n) { // insertion sort in local memory
  int a[16];
  for (int i = 0; i < n; ++i) a[i] = in[threadIdx.x * n + i];
  for (int i = 1; i < n; ++i) {
    int v = a[i], j = i;
    for (; j > 0 && a[j - 1] > v; --j) a[j] = a[j - 1];
    a[j] = v;
  }
  for (int i = 0; i < n; ++i) out[threadIdx.x * n + i] = a[i];
}

struct Matrix {
  int rows, columns;
  double scale;
  float values[12];
};
extern "C" __global__ void struct_parameter(Matrix m, double *out) {
  int i = threadIdx.x;
  if (i < m.rows * m.columns) out[i] = m.values[i] * m.scale + m.columns;
}

__device__ __noinline__ Matrix doubled(Matrix m) {
  m.scale *= 2;
  for (int i = 0; i < 12; ++i) m.values[i] += i;
  return m;
}
extern "C" __global__ void struct_result(Matrix m, double *out) {
  Matrix d = doubled(m);
  out[threadIdx.x] = d.values[threadIdx.x] * d.scale;
}

extern "C" __global__ void collatz(const unsigned *in, unsigned *out) { // lanes loop differently often
  unsigned n = in[threadIdx.x], steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  out[threadIdx.x] = steps;
}

extern "C" __global__ void early_exit(const int *in, int *out) {
  __shared__ int s[64];
  if (in[threadIdx.x] < 0) return;
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + 1;
}

__constant__ int lookup[64];
extern "C" __global__ void constant_table(const int *in, int *out) { out[threadIdx.x] = lookup[in[threadIdx.x] & 63]; }

extern "C" __global__ void bytes(const unsigned char *in, signed char *out, short *wide) {
  int v = in[threadIdx.x];
  out[threadIdx.x] = (signed char)(v * 3);
  wide[threadIdx.x] = (short)((signed char)v * 100);
}

extern "C" __global__ void wide_division(const long long *in, long long *out) {
  long long v = in[threadIdx.x];
  out[3 * threadIdx.x] = v / 1000003;
  out[3 * threadIdx.x + 1] = v % 1000003;
  out[3 * threadIdx.x + 2] = __mul64hi(v, v);
}

extern "C" __global__ void generic_pointer(int *out, int which) { // one load, any space
  __shared__ int s[32];
  int local[4] = {(int)threadIdx.x, 2, 3, 4};
  s[threadIdx.x] = 100 + threadIdx.x;
  __syncthreads();
  volatile int *p = which == 0 ? &s[31 - threadIdx.x] : which == 1 ? &local[threadIdx.x & 3] : &out[threadIdx.x];
  out[threadIdx.x] = *p + 1;
}
