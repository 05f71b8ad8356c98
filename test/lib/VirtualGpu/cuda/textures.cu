// Textures and surfaces: every thread looks up one point.
#include <cuda_fp16.h>

#define POINT int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; const float *p = points + 4 * i

extern "C" __global__ void sample1d(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex1D<float4>(t, p[0]);
}
extern "C" __global__ void sample2d(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex2D<float4>(t, p[0], p[1]);
}
extern "C" __global__ void sample3d(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex3D<float4>(t, p[0], p[1], p[2]);
}
extern "C" __global__ void sample1d_layered(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex1DLayered<float4>(t, p[0], int(p[3]));
}
extern "C" __global__ void sample2d_layered(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex2DLayered<float4>(t, p[0], p[1], int(p[3]));
}
extern "C" __global__ void sample_cube(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = texCubemap<float4>(t, p[0], p[1], p[2]);
}
extern "C" __global__ void sample_cube_layered(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = texCubemapLayered<float4>(t, p[0], p[1], p[2], int(p[3]));
}
extern "C" __global__ void sample2d_level(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex2DLod<float4>(t, p[0], p[1], p[3]);
}
extern "C" __global__ void sample2d_gradient(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT; out[i] = tex2DGrad<float4>(t, p[0], p[1], make_float2(p[2], 0), make_float2(0, p[3]));
}
extern "C" __global__ void gather(cudaTextureObject_t t, const float *points, float4 *out, int n) {
  POINT;
  out[4 * i] = tex2Dgather<float4>(t, p[0], p[1], 0);
  out[4 * i + 1] = tex2Dgather<float4>(t, p[0], p[1], 1);
  out[4 * i + 2] = tex2Dgather<float4>(t, p[0], p[1], 2);
  out[4 * i + 3] = tex2Dgather<float4>(t, p[0], p[1], 3);
}
extern "C" __global__ void fetch(cudaTextureObject_t t, int4 *out, int n) { // also before the begin and behind the end
  int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int4>(t, i - 4);
}
extern "C" __global__ void fetch_unsigned(cudaTextureObject_t t, uint4 *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<uint4>(t, i);
}
extern "C" __global__ void fetch_float(cudaTextureObject_t t, float4 *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float4>(t, i);
}
extern "C" __global__ void resident(cudaTextureObject_t t, float *out) { // some lanes only
  bool is = false;
  float v = threadIdx.x % 3 == 1 ? tex2D<float>(t, 1.5f, 0.5f, &is) : -1.f;
  out[threadIdx.x] = is ? v : -2.f;
}

// Surfaces: the first coordinate counts bytes.
template <class T, cudaSurfaceBoundaryMode M> __device__ void turn(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int dx) {
  int x = threadIdx.x, y = threadIdx.y;
  T v;
  surf2Dread(&v, in, (x + dx) * int(sizeof(T)), y, M);
  surf2Dwrite(v, out, y * int(sizeof(T)), x, M);
}
#define TURN(name, T)                                                                                                  \
  extern "C" __global__ void turn_##name(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int dx) {                    \
    turn<T, cudaBoundaryModeTrap>(in, out, dx);                                                                        \
  }                                                                                                                    \
  extern "C" __global__ void turn_clamp_##name(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int dx) {              \
    turn<T, cudaBoundaryModeClamp>(in, out, dx);                                                                       \
  }                                                                                                                    \
  extern "C" __global__ void turn_zero_##name(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int dx) {               \
    turn<T, cudaBoundaryModeZero>(in, out, dx);                                                                        \
  }
TURN(u8, unsigned char)
TURN(s16, short)
TURN(f32, float)
TURN(u64, uint2)
TURN(u8x4, uchar4)
TURN(f32x4, float4)

extern "C" __global__ void fill_volume(cudaSurfaceObject_t line, cudaSurfaceObject_t volume, cudaSurfaceObject_t layers,
                                       cudaSurfaceObject_t cube) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, v = 100 * z + 10 * y + x;
  if (y == 0 && z == 0) surf1Dwrite(v, line, x * 4);
  surf3Dwrite(v, volume, x * 4, y, z);
  surf2DLayeredwrite(v, layers, x * 4, y, z);
  surfCubemapwrite(v, cube, x * 4, y, z);
}
