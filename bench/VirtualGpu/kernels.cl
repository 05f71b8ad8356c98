// Those of kernels.cu that OpenCL can say, as they stand there.
kernel void saxpy(int n, float a, global const float *x, global float *y) {
  int i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}

kernel void fmaloop(int n, float a, global float *y) {
  float r0 = get_local_id(0), r1 = r0 + 1, r2 = r0 + 2, r3 = r0 + 3;
  for (int i = 0; i < n; ++i) {
    r0 = r0 * a + 0.5f;
    r1 = r1 * a + 0.5f;
    r2 = r2 * a + 0.5f;
    r3 = r3 * a + 0.5f;
  }
  y[get_global_id(0)] = r0 + r1 + r2 + r3;
}

kernel void sgemm_tile(int n, global const float *a, global const float *b, global float *c) {
  local float as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx];
    bs[ty][tx] = b[(k + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i)
      sum += as[ty][i] * bs[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void sgemm_reg(int n, global const float *a, global const float *b, global float *c) {
  local float as[16][64] __attribute__((aligned(16))), bs[16][64] __attribute__((aligned(16)));
  int tx = get_local_id(0), ty = get_local_id(1), thread = ty * 16 + tx;
  int row = get_group_id(1) * 64, column = get_group_id(0) * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    float4 av = *(global const float4 *)&a[(row + thread / 4) * n + k + thread % 4 * 4];
    as[thread % 4 * 4 + 0][thread / 4] = av.x;
    as[thread % 4 * 4 + 1][thread / 4] = av.y;
    as[thread % 4 * 4 + 2][thread / 4] = av.z;
    as[thread % 4 * 4 + 3][thread / 4] = av.w;
    *(local float4 *)&bs[thread / 16][thread % 16 * 4] =
        *(global const float4 *)&b[(k + thread / 16) * n + column + thread % 16 * 4];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float4 x = *(local float4 *)&as[i][ty * 4], y = *(local float4 *)&bs[i][tx * 4];
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int p = 0; p < 4; ++p)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          sum[p][q] += xs[p] * ys[q];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int p = 0; p < 4; ++p)
    *(global float4 *)&c[(row + ty * 4 + p) * n + column + tx * 4] =
        (float4)(sum[p][0], sum[p][1], sum[p][2], sum[p][3]);
}
