// Arrays, texture and surface objects, and a module's references through the driver's functions.
#include "test/lib/VirtualGpu/DriverFunctions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using joule::vgpu::findFunction;
using joule::vgpu::test::cu;
using joule::vgpu::test::lastError;

namespace {

#define OK(call) ASSERT_EQ(cu().call, CUDA_SUCCESS) << lastError()
#define REFUSED(code, call) EXPECT_EQ(cu().call, code) << lastError()

/// look(texture, out, width): thread x of block y stores the texel (x, y) of 4 floats. ref: the same of the module's
/// own texture. copy(surface, width): adds 1 to every float of a surface.
const char *const text = R"(.version 7.0
.target sm_70
.address_size 64
.global .texref picture;
.global .surfref target;
.visible .entry look(.param .u64 texture, .param .u64 out, .param .u32 width)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [width];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
  cvt.rn.f32.u32 %f1, %r2; cvt.rn.f32.u32 %f2, %r3; add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mad.lo.u32 %r4, %r3, %r1, %r2; mul.wide.u32 %rd3, %r4, 16; add.u64 %rd2, %rd2, %rd3;
  st.global.v4.f32 [%rd2], {%f3, %f4, %f5, %f6};
  ret;
}
.visible .entry line(.param .u64 texture, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [texture]; ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  tex.1d.v4.f32.s32 {%f3, %f4, %f5, %f6}, [%rd1, {%r2}];
  mul.wide.u32 %rd3, %r2, 16; add.u64 %rd2, %rd2, %rd3;
  st.global.v4.f32 [%rd2], {%f3, %f4, %f5, %f6};
  ret;
}
.visible .entry ref(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, %r2;
  tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [picture, {%f1}];
  mul.wide.u32 %rd3, %r2, 16; add.u64 %rd2, %rd2, %rd3;
  st.global.v4.f32 [%rd2], {%f3, %f4, %f5, %f6};
  ret;
}
.visible .entry raise(.param .u64 surface)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [surface];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; shl.b32 %r4, %r2, 2;
  suld.b.2d.b32.trap {%r5}, [%rd1, {%r4, %r3}];
  mov.b32 %f1, %r5; add.f32 %f1, %f1, 0f3F800000; mov.b32 %r5, %f1;
  sust.b.2d.b32.trap [%rd1, {%r4, %r3}], {%r5};
  ret;
}
.visible .entry put()
{
  .reg .b32 %r<4>;
  mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2;
  sust.b.1d.b32.zero [target, {%r3}], {%r2};
  ret;
}
)";

class ImageDriverTest : public testing::Test {
protected:
  void SetUp() override {
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, text));
    for (auto [function, name] : {std::pair(&look, "look"), {&line, "line"}, {&ref, "ref"}, {&raise, "raise"}, {&put, "put"}})
      OK(cuModuleGetFunction(function, module, name));
    OK(cuMemAlloc_v2(&out, 4096));
  }
  void TearDown() override { EXPECT_EQ(cu().cuCtxDestroy_v2(context), CUDA_SUCCESS) << lastError(); }

  template <class... Arguments>
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads, Arguments... arguments) {
    void *parameters[] = {&arguments..., nullptr};
    CUresult code = cu().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
    return code ? code : cu().cuCtxSynchronize();
  }
  std::vector<float> result(size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cu().cuMemcpyDtoH_v2(values.data(), out, count * 4), CUDA_SUCCESS) << lastError();
    return values;
  }
  CUarray makeArray(size_t width, size_t height, int format, unsigned channels, unsigned flags = 0, size_t depth = 0) {
    CUDA_ARRAY3D_DESCRIPTOR d = {width, height, depth, format, channels, flags};
    CUarray array = nullptr;
    EXPECT_EQ(cu().cuArray3DCreate_v2(&array, &d), CUDA_SUCCESS) << lastError();
    return array;
  }
  CUtexObject makeTexture(const CUDA_RESOURCE_DESC &resource, unsigned flags = 0) {
    CUDA_TEXTURE_DESC texture = {};
    texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    texture.flags = flags;
    CUtexObject object = 0;
    EXPECT_EQ(cu().cuTexObjectCreate(&object, &resource, &texture, nullptr), CUDA_SUCCESS) << lastError();
    return object;
  }
  static CUDA_RESOURCE_DESC of(CUarray array) {
    CUDA_RESOURCE_DESC resource = {};
    resource.type = CU_RESOURCE_TYPE_ARRAY;
    resource.array = array;
    return resource;
  }
  static CUcopySide2D side(void *host, size_t pitch) { return {0, 0, CU_MEMORYTYPE_HOST, host, 0, nullptr, pitch}; }
  static CUcopySide2D side(CUarray array, size_t x = 0, size_t y = 0) {
    return {x, y, CU_MEMORYTYPE_ARRAY, nullptr, 0, array, 0};
  }
  static std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.f);
    return values;
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction look, line, ref, raise, put;
  CUdeviceptr out = 0;
};

TEST_F(ImageDriverTest, AnArrayIsFilledLookedAtAndRead) {
  CUarray array = makeArray(5, 3, CU_AD_FORMAT_FLOAT, 4);
  std::vector<float> in = numbers(60), back(60);
  CUDA_MEMCPY2D fill = {side(in.data(), 80), side(array), 80, 3};
  OK(cuMemcpy2D_v2(&fill));
  CUtexObject texture = makeTexture(of(array));
  ASSERT_EQ(launch(look, 3, 5, texture, out, 5u), CUDA_SUCCESS) << lastError();
  EXPECT_EQ(result(60), in);
  // A part of it goes back: two texels of the last row.
  CUDA_MEMCPY2D part = {side(array, 16, 2), side(back.data(), 32), 32, 1};
  OK(cuMemcpy2D_v2(&part));
  EXPECT_EQ(back[0], in[44]);
  EXPECT_EQ(back[7], in[51]);
  CUDA_ARRAY3D_DESCRIPTOR d;
  OK(cuArray3DGetDescriptor_v2(&d, array));
  EXPECT_EQ(d.width, 5u);
  EXPECT_EQ(d.numChannels, 4u);
  OK(cuTexObjectDestroy(texture));
  OK(cuArrayDestroy(array));
}

TEST_F(ImageDriverTest, LinesGoBetweenHostDeviceAndArrays) {
  CUarray a = makeArray(16, 0, CU_AD_FORMAT_FLOAT, 4), b = makeArray(16, 0, CU_AD_FORMAT_FLOAT, 4);
  std::vector<float> in = numbers(64), back(64);
  CUstream stream;
  OK(cuStreamCreate(&stream, 0));
  OK(cuMemcpyHtoA_v2(a, 0, in.data(), 256));
  OK(cuMemcpyAtoA_v2(b, 16, a, 0, 128));
  OK(cuMemcpyAtoD_v2(out, b, 16, 128));
  OK(cuMemcpyDtoA_v2(b, 144, out, 64));
  OK(cuMemcpyAtoHAsync_v2(back.data(), b, 16, 192, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < 48; ++i)
    EXPECT_EQ(back[size_t(i)], in[size_t(i % 32)]) << i;
  OK(cuMemcpyHtoAAsync_v2(a, 0, back.data(), 64, stream));
  OK(cuStreamSynchronize(stream));
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoA_v2(a, 16, in.data(), 256)); // beyond the end
  EXPECT_NE(lastError().find("leaves the array"), std::string::npos);
  OK(cuArrayDestroy(a));
  REFUSED(CUDA_ERROR_INVALID_HANDLE, cuMemcpyHtoA_v2(a, 0, in.data(), 16));
  REFUSED(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(a));
}

TEST_F(ImageDriverTest, BoxesOfVolumesAndLayers) {
  for (unsigned flags : {0u, unsigned(CUDA_ARRAY3D_LAYERED)}) {
    CUarray array = makeArray(4, 3, CU_AD_FORMAT_FLOAT, 1, flags, 2);
    std::vector<float> in = numbers(24), back(24);
    CUDA_MEMCPY3D copy = {};
    copy.from.memoryType = CU_MEMORYTYPE_HOST, copy.from.host = in.data(), copy.from.pitch = 16, copy.from.height = 3;
    copy.to.memoryType = CU_MEMORYTYPE_ARRAY, copy.to.array = array;
    copy.widthInBytes = 16, copy.height = 3, copy.depth = 2;
    OK(cuMemcpy3D_v2(&copy));
    CUDA_MEMCPY3D away = {};
    away.from = copy.to, away.from.z = 1, away.from.y = 1;
    away.to.memoryType = CU_MEMORYTYPE_HOST, away.to.host = back.data(), away.to.pitch = 16;
    away.widthInBytes = 16, away.height = 2, away.depth = 1;
    OK(cuMemcpy3D_v2(&away));
    EXPECT_EQ(back[0], in[16]);
    EXPECT_EQ(back[7], in[23]);
    away.depth = 2;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&away));
  }
}

TEST_F(ImageDriverTest, PlainAndPitchedMemoryAreTextures) {
  CUdeviceptr memory;
  size_t pitch;
  OK(cuMemAllocPitch_v2(&memory, &pitch, 80, 3, 16));
  std::vector<float> in = numbers(60);
  for (int y = 0; y < 3; ++y)
    OK(cuMemcpyHtoD_v2(memory + size_t(y) * pitch, in.data() + 20 * y, 80));
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_PITCH2D;
  resource.pitched = {memory, CU_AD_FORMAT_FLOAT, 4, 5, 3, pitch};
  ASSERT_EQ(launch(look, 3, 5, makeTexture(resource), out, 5u), CUDA_SUCCESS) << lastError();
  EXPECT_EQ(result(60), in);
  CUDA_RESOURCE_DESC linear = {};
  linear.type = CU_RESOURCE_TYPE_LINEAR;
  linear.linear = {memory, CU_AD_FORMAT_FLOAT, 4, 80};
  CUtexObject texture = makeTexture(linear);
  ASSERT_EQ(launch(line, 1, 6, texture, out), CUDA_SUCCESS) << lastError();
  std::vector<float> got = result(24);
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 20), std::vector<float>(in.begin(), in.begin() + 20));
  EXPECT_EQ(got[20], 0); // behind the end
  CUDA_TEXTURE_DESC plain = {};
  CUtexObject none;
  linear.linear.address += 16;
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &linear, &plain, nullptr)); // not aligned
  linear.linear.address -= 16, linear.linear.bytes = 1 << 20;
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &linear, &plain, nullptr)); // beyond its allocation
  // Memory that goes takes its textures with it.
  OK(cuMemFree_v2(memory));
  EXPECT_EQ(launch(line, 1, 6, texture, out), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastError().find("no texture or surface"), std::string::npos) << lastError();
}

TEST_F(ImageDriverTest, ASurfaceIsReadAndWritten) {
  CUarray array = makeArray(4, 2, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  std::vector<float> in = numbers(8), back(8);
  CUDA_MEMCPY2D fill = {side(in.data(), 16), side(array), 16, 2};
  OK(cuMemcpy2D_v2(&fill));
  CUDA_RESOURCE_DESC resource = of(array), kept;
  CUsurfObject surface;
  OK(cuSurfObjectCreate(&surface, &resource));
  ASSERT_EQ(launch(raise, 2, 4, surface), CUDA_SUCCESS) << lastError();
  CUDA_MEMCPY2D away = {side(array), side(back.data(), 16), 16, 2};
  OK(cuMemcpy2D_v2(&away));
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(back[i], in[i] + 1);
  OK(cuSurfObjectGetResourceDesc(&kept, surface));
  EXPECT_EQ(kept.array, array);
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(surface)); // of another kind
  CUDA_RESOURCE_DESC plain = of(makeArray(4, 2, CU_AD_FORMAT_FLOAT, 1));
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &plain)); // not made for it
  EXPECT_EQ(launch(raise, 3, 4, surface), CUDA_ERROR_LAUNCH_FAILED);          // a third row
  EXPECT_NE(lastError().find("outside the surface"), std::string::npos) << lastError();
}

TEST_F(ImageDriverTest, UseAfterDestroyIsAFault) {
  CUarray array = makeArray(4, 4, CU_AD_FORMAT_FLOAT, 4);
  CUtexObject texture = makeTexture(of(array));
  OK(cuArrayDestroy(array));
  EXPECT_EQ(launch(look, 1, 4, texture, out, 4u), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ImageDriverTest, DescriptorsAreGivenBack) {
  CUDA_RESOURCE_DESC resource = of(makeArray(8, 8, CU_AD_FORMAT_UNSIGNED_INT8, 4)), keptResource;
  CUDA_TEXTURE_DESC texture = {}, keptTexture;
  CUDA_RESOURCE_VIEW_DESC view = {}, keptView;
  view.format = 0xd; // one unsigned word instead of four bytes
  view.width = view.height = 8;
  texture.flags = CU_TRSF_READ_AS_INTEGER;
  texture.maxAnisotropy = 3;
  CUtexObject object;
  OK(cuTexObjectCreate(&object, &resource, &texture, &view));
  OK(cuTexObjectGetResourceDesc(&keptResource, object));
  OK(cuTexObjectGetTextureDesc(&keptTexture, object));
  OK(cuTexObjectGetResourceViewDesc(&keptView, object));
  EXPECT_EQ(keptResource.array, resource.array);
  EXPECT_EQ(keptTexture.maxAnisotropy, 3u);
  EXPECT_EQ(keptView.width, 8u);
  OK(cuTexObjectDestroy(object));
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc(&keptTexture, object));
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, nullptr)); // integers
  view.format = 0xe;
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&object, &resource, &texture, &view)); // of another size
}

TEST_F(ImageDriverTest, BadArraysAreRefused) {
  CUarray array;
  auto refused = [&](CUDA_ARRAY3D_DESCRIPTOR d) { return cu().cuArray3DCreate_v2(&array, &d); };
  EXPECT_EQ(refused({0, 1, 0, CU_AD_FORMAT_FLOAT, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused({4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused({4, 4, 0, 0x77, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused({4, 5, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused({1 << 20, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(refused({4, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0x40}), CUDA_ERROR_NOT_SUPPORTED);
  REFUSED(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(reinterpret_cast<CUarray>(&array)));
}

TEST_F(ImageDriverTest, LevelsAreArraysOfTheirOwn) {
  CUDA_ARRAY3D_DESCRIPTOR d = {8, 4, 0, CU_AD_FORMAT_FLOAT, 4, 0};
  CUmipmappedArray mipmapped;
  OK(cuMipmappedArrayCreate(&mipmapped, &d, 20)); // as many as there can be
  CUarray level;
  OK(cuMipmappedArrayGetLevel(&level, mipmapped, 3));
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuMipmappedArrayGetLevel(&level, mipmapped, 4));
  OK(cuMipmappedArrayGetLevel(&level, mipmapped, 1));
  OK(cuArray3DGetDescriptor_v2(&d, level));
  EXPECT_EQ(d.width, 4u);
  EXPECT_EQ(d.height, 2u);
  std::vector<float> in = numbers(32);
  CUDA_MEMCPY2D fill = {side(in.data(), 64), side(level), 64, 2};
  OK(cuMemcpy2D_v2(&fill));
  ASSERT_EQ(launch(look, 2, 4, makeTexture(of(level)), out, 4u), CUDA_SUCCESS) << lastError();
  EXPECT_EQ(result(32), in);
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuArrayDestroy(level));
  // A view of the second level alone.
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.mipmapped = mipmapped;
  CUDA_RESOURCE_VIEW_DESC view = {};
  view.width = 4, view.height = 2, view.firstMipmapLevel = view.lastMipmapLevel = 1;
  CUDA_TEXTURE_DESC texture = {};
  CUtexObject object;
  OK(cuTexObjectCreate(&object, &resource, &texture, &view));
  ASSERT_EQ(launch(look, 2, 4, object, out, 4u), CUDA_SUCCESS) << lastError();
  EXPECT_EQ(result(32), in);
  OK(cuMipmappedArrayDestroy(mipmapped));
  REFUSED(CUDA_ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2(&d, level));
}

TEST_F(ImageDriverTest, AModulesReferencesAreBound) {
  CUtexref picture, other;
  OK(cuModuleGetTexRef(&picture, module, "picture"));
  OK(cuModuleGetTexRef(&other, module, "picture"));
  EXPECT_EQ(picture, other);
  REFUSED(CUDA_ERROR_NOT_FOUND, cuModuleGetTexRef(&other, module, "target")); // a surface
  CUarray array = makeArray(4, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1), bound;
  const unsigned char in[4] = {0, 51, 102, 255};
  OK(cuMemcpyHtoA_v2(array, 0, in, 4));
  OK(cuTexRefSetArray(picture, array, 1));
  OK(cuTexRefSetFilterMode(picture, CU_TR_FILTER_MODE_LINEAR));
  OK(cuTexRefSetAddressMode(picture, 0, CU_TR_ADDRESS_MODE_CLAMP));
  ASSERT_EQ(launch(ref, 1, 5, out), CUDA_SUCCESS) << lastError();
  std::vector<float> got = result(20);
  EXPECT_EQ(got[0], 0);
  EXPECT_FLOAT_EQ(got[4], 0.1f); // between 0 and 51 of 255
  EXPECT_FLOAT_EQ(got[8], 0.3f);
  EXPECT_EQ(got[16], 1);
  OK(cuTexRefGetArray(&bound, picture));
  EXPECT_EQ(bound, array);
  int format, channels, mode;
  OK(cuTexRefGetFormat(&format, &channels, picture));
  EXPECT_EQ(format, CU_AD_FORMAT_UNSIGNED_INT8);
  OK(cuTexRefGetFilterMode(&mode, picture));
  EXPECT_EQ(mode, CU_TR_FILTER_MODE_LINEAR);
  REFUSED(CUDA_ERROR_INVALID_VALUE, cuTexRefSetAddressMode(picture, 0, 9));
  // Plain memory instead.
  std::vector<float> numbers4 = numbers(4);
  CUdeviceptr memory, address;
  size_t offset = 1;
  OK(cuMemAlloc_v2(&memory, 16));
  OK(cuMemcpyHtoD_v2(memory, numbers4.data(), 16));
  OK(cuTexRefSetFormat(picture, CU_AD_FORMAT_FLOAT, 1));
  OK(cuTexRefSetAddress_v2(&offset, picture, memory, 16));
  EXPECT_EQ(offset, 0u);
  OK(cuTexRefGetAddress_v2(&address, picture));
  EXPECT_EQ(address, memory);
  ASSERT_EQ(launch(ref, 1, 4, out), CUDA_SUCCESS) << lastError();
  EXPECT_EQ(result(16)[12], 4);
  // Surfaces; what lies outside is dropped.
  CUsurfref target;
  OK(cuModuleGetSurfRef(&target, module, "target"));
  CUarray lineArray = makeArray(4, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
  OK(cuSurfRefSetArray(target, lineArray, 0));
  ASSERT_EQ(launch(put, 1, 9), CUDA_SUCCESS) << lastError();
  int back[4];
  OK(cuMemcpyAtoH_v2(back, lineArray, 0, 16));
  EXPECT_EQ(back[3], 3);
  OK(cuModuleUnload(module));
  REFUSED(CUDA_ERROR_INVALID_HANDLE, cuTexRefGetFilterMode(&mode, picture));
}

TEST_F(ImageDriverTest, AGraphNoticesThatAnArrayIsGone) {
  CUarray array = makeArray(4, 0, CU_AD_FORMAT_FLOAT, 4);
  CUstream stream;
  CUgraph graph;
  CUgraphExec executable;
  std::vector<float> in = numbers(16);
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture_v2(stream, 0));
  OK(cuMemcpyHtoAAsync_v2(array, 0, in.data(), 64, stream));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuArrayDestroy(array));
  cu().cuGraphLaunch(executable, stream);
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ImageDriverTest, AFormerNameMeansTheNewestForm) {
  void *function;
  CUdriverProcAddressQueryResult status;
  for (auto [name, want] : {std::pair("cuTexRefSetAddress2D", "cuTexRefSetAddress2D_v3"), {"cuArrayCreate", "cuArrayCreate_v2"},
                            {"cuMemcpyHtoA", "cuMemcpyHtoA_v2"}, {"cuTexObjectCreate", "cuTexObjectCreate"}}) {
    OK(cuGetProcAddress_v2(name, &function, 12000, 0, &status));
    EXPECT_EQ(function, findFunction(want)) << name;
  }
}

} // namespace
