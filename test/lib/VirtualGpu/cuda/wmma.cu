// One warp multiplies 16x16 matrices through the wmma interface: half, double and byte.
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void wmma_f16(const __half *a, const __half *b, float *c) { // B by columns
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  load_matrix_sync(fa, a, 16);
  load_matrix_sync(fb, b, 16);
  fill_fragment(fc, 1.f);
  mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;
  store_matrix_sync(c, fc, 16, mem_row_major);
}

extern "C" __global__ void wmma_f64(const double *a, const double *b, double *c) { // 8x4 times 4x8
  fragment<matrix_a, 8, 8, 4, double, row_major> fa;
  fragment<matrix_b, 8, 8, 4, double, row_major> fb;
  fragment<accumulator, 8, 8, 4, double> fc;
  load_matrix_sync(fa, a, 4);
  load_matrix_sync(fb, b, 8);
  fill_fragment(fc, 0.0);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 8, mem_col_major);
}

extern "C" __global__ void wmma_s8(const signed char *a, const signed char *b, int *c) {
  __shared__ __align__(32) signed char sa[256];
  for (int i = threadIdx.x; i < 256; i += 32) sa[i] = a[i];
  __syncwarp();
  fragment<matrix_a, 16, 16, 16, signed char, row_major> fa;
  fragment<matrix_b, 16, 16, 16, signed char, row_major> fb;
  fragment<accumulator, 16, 16, 16, int> fc;
  load_matrix_sync(fa, sa, 16);
  load_matrix_sync(fb, b, 16);
  fill_fragment(fc, 0);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
}
