// The driver as other people's programs use it: through names and versions, with streams that run beside the
// caller.
#include "lib/VirtualGpu/Driver/CudaApi.h"
#include "lib/VirtualGpu/Driver/Entries.h"
#include "lib/VirtualGpu/Driver/FatBinary.h"
#include "lib/VirtualGpu/Driver/RefusedFunctions.h"
#include "lib/VirtualGpu/NvmlApi.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"
#include "test/lib/VirtualGpu/DriverFunctions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <zstd.h>

using joule::vgpu::findFunction;
using joule::vgpu::test::cu;
using joule::vgpu::test::lastError;

namespace {

#define OK(call) ASSERT_EQ(cu().call, CUDA_SUCCESS) << lastError()

/// add(p, value): one thread adds to a word. bad(p): stores at p.
const char *const text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 value)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

/// A door that a host function waits at.
struct Door {
  std::mutex mutex;
  std::condition_variable changed;
  bool isOpen = false;

  static void waitAt(void *self) {
    Door &door = *static_cast<Door *>(self);
    std::unique_lock lock(door.mutex);
    door.changed.wait(lock, [&] { return door.isOpen; });
  }
  void open() {
    std::lock_guard lock(mutex);
    isOpen = true;
    changed.notify_all();
  }
};

class ForeignDriverTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    reinterpret_cast<JouleVgpuRunAsynchronously>(findFunction("jouleVgpuRunAsynchronously"))(1);
    auto setOptions = reinterpret_cast<JouleVgpuSetOptions>(findFunction("jouleVgpuSetOptions"));
    JouleVgpuOptions options = {sizeof options, 2, "a100+l4", 0, 0};
    setOptions(&options);
  }
  void SetUp() override {
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuMemAlloc_v2(&word, 4));
    OK(cuMemsetD32_v2(word, 0, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  void TearDown() override { EXPECT_EQ(cu().cuCtxDestroy_v2(context), CUDA_SUCCESS) << lastError(); }

  CUresult launchAdd(uint32_t value, CUstream on) {
    void *parameters[] = {&word, &value};
    return cu().cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, on, parameters, nullptr);
  }
  uint32_t value() {
    uint32_t seen = ~0u;
    EXPECT_EQ(cu().cuMemcpyDtoH_v2(&seen, word, 4), CUDA_SUCCESS) << lastError();
    return seen;
  }
  CUDA_KERNEL_NODE_PARAMS_v1 addNode(uint32_t *amount) {
    nodeParameters[0] = &word, nodeParameters[1] = amount;
    return {add, 1, 1, 1, 1, 1, 1, 0, nodeParameters, nullptr};
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUdeviceptr word = 0;
  CUstream stream = nullptr;
  void *nodeParameters[2];
};

TEST_F(ForeignDriverTest, AFunctionIsFoundByNameAndVersion) {
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  auto get = [&](const char *name, int version, uint64_t flags) {
    EXPECT_EQ(cu().cuGetProcAddress_v2(name, &function, version, flags, &status), CUDA_SUCCESS) << name;
    return function;
  };
  EXPECT_EQ(get("cuMemAlloc", 12000, 0), findFunction("cuMemAlloc_v2"));
  EXPECT_EQ(get("cuGraphInstantiate", 12000, 0), findFunction("cuGraphInstantiateWithFlags"));
  EXPECT_EQ(get("cuGraphInstantiate", 11000, 0), findFunction("cuGraphInstantiate_v2"));
  EXPECT_EQ(get("cuCtxCreate", 11000, 0), findFunction("cuCtxCreate_v2"));
  EXPECT_EQ(get("cuGetProcAddress", 11030, 0), findFunction("cuGetProcAddress"));
  EXPECT_EQ(get("cuLaunchKernel", 12000, 2), findFunction("cuLaunchKernel_ptsz"));
  EXPECT_EQ(cu().cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
}

TEST_F(ForeignDriverTest, WhatIsNotThereIsRefusedByName) {
  // Programs look up all that CUDA has when they begin, and may call some of it to see whether it works.
  char handle[64];
  auto open = reinterpret_cast<CUresult (*)(void *, CUdeviceptr)>(findFunction("cuIpcGetMemHandle"));
  ASSERT_TRUE(open);
  EXPECT_EQ(open(handle, word), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(lastError().find("cuIpcGetMemHandle: nothing is shared"), std::string::npos) << lastError();
#define JOULE_REFUSED(name, why) #name,
  for (const char *name : {JOULE_REFUSED_FUNCTIONS(JOULE_REFUSED)}) {
    void *function = findFunction(name);
    ASSERT_TRUE(function) << name;
    EXPECT_EQ(reinterpret_cast<CUresult (*)()>(function)(), CUDA_ERROR_NOT_SUPPORTED) << name;
  }
#undef JOULE_REFUSED
}

TEST_F(ForeignDriverTest, EveryVersionOfCudaGetsItsOwnForms) {
  auto get = [&](const char *name, int version) {
    void *function = nullptr;
    CUdriverProcAddressQueryResult status;
    EXPECT_EQ(cu().cuGetProcAddress_v2(name, &function, version, 0, &status), CUDA_SUCCESS) << name;
    return function;
  };
  EXPECT_EQ(get("cuStreamGetCtx", 12040), findFunction("cuStreamGetCtx"));
  EXPECT_EQ(get("cuStreamGetCtx", 13000), findFunction("cuStreamGetCtx_v2"));
  EXPECT_EQ(get("cuMemcpyBatchAsync", 12080), findFunction("cuMemcpyBatchAsync"));
  EXPECT_EQ(get("cuMemcpyBatchAsync", 13000), findFunction("cuMemcpyBatchAsync_v2"));
  EXPECT_EQ(get("cuIpcOpenMemHandle", 12000), findFunction("cuIpcOpenMemHandle_v2"));

  int status = -1;
  uint64_t id = 0;
  CUcontext owner = nullptr;
  CUgreenCtx part = reinterpret_cast<CUgreenCtx>(this);
  OK(cuStreamGetCtx_v2(stream, &owner, &part));
  EXPECT_EQ(owner, context);
  EXPECT_EQ(part, nullptr);
  OK(cuStreamBeginCapture(stream));
  OK(cuStreamGetCaptureInfo(stream, &status, &id));
  EXPECT_EQ(status, 1);
  EXPECT_NE(id, 0u);
  CUgraph graph;
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphDestroy(graph));

  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool pool, other;
  OK(cuMemGetDefaultMemPool(&pool, &here, 1));
  OK(cuDeviceGetDefaultMemPool(&other, 0));
  EXPECT_EQ(pool, other);
  OK(cuMemSetMemPool(&here, 1, pool));
  OK(cuMemGetMemPool(&other, &here, 1));
  EXPECT_EQ(pool, other);
  EXPECT_EQ(cu().cuMemGetMemPool(&pool, &host, 1), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(ForeignDriverTest, ABatchCopiesAllOrNothing) {
  uint32_t values[4] = {3, 4, 5, 6}, seen[2] = {};
  CUdeviceptr room;
  OK(cuMemAlloc_v2(&room, 8));
  OK(cuMemsetD32_v2(room, 7, 2));
  CUdeviceptr to[] = {room, room + 4}, from[] = {uint64_t(values), uint64_t(values + 3)};
  size_t bytes[] = {4, 4}, first[] = {0, 0}, failed = 9;
  CUmemcpyAttributes attributes[2] = {};
  attributes[0].sourceOrder = 2; // read before the call returns
  OK(cuMemcpyBatchAsync_v2(to, from, bytes, 2, attributes, first, 1, stream));
  values[0] = values[3] = 0;
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH_v2(seen, room, 8));
  EXPECT_EQ(seen[0], 3u);
  EXPECT_EQ(seen[1], 6u);

  bytes[1] = 8; // beyond the end
  EXPECT_EQ(cu().cuMemcpyBatchAsync(to, from, bytes, 2, attributes, first, 1, &failed, stream),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(cu().cuMemcpyBatchAsync(to, from, bytes, 2, attributes, first, 2, &failed, stream),
            CUDA_ERROR_INVALID_VALUE); // both begin at the first copy
  EXPECT_EQ(failed, SIZE_MAX);
  EXPECT_EQ(cu().cuMemcpyBatchAsync(to, from, bytes, 1, attributes, first, 1, &failed, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  OK(cuMemcpyDtoH_v2(seen, room, 8));
  EXPECT_EQ(seen[0], 3u);

  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  bytes[1] = 4;
  OK(cuMemPrefetchBatchAsync(to, bytes, 2, &here, first, 1, 0, stream));
  bytes[1] = 8;
  EXPECT_EQ(cu().cuMemPrefetchBatchAsync(to, bytes, 2, &here, first, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ForeignDriverTest, AStreamRunsInOrderBesideTheCaller) {
  Door door;
  OK(cuLaunchHostFunc(stream, Door::waitAt, &door));
  ASSERT_EQ(launchAdd(5, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  CUevent event;
  OK(cuEventCreate(&event, 0));
  OK(cuEventRecord(event, stream));
  EXPECT_EQ(cu().cuEventQuery(event), CUDA_ERROR_NOT_READY);
  CUstream other;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuStreamWaitEvent(other, event, 0));
  ASSERT_EQ(launchAdd(7, other), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamQuery(other), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(value(), 0u); // the legacy stream does not wait for streams that do not block
  door.open();
  OK(cuStreamSynchronize(other));
  EXPECT_EQ(value(), 12u);
  OK(cuEventDestroy_v2(event));
}

TEST_F(ForeignDriverTest, TheLegacyStreamWaitsForBlockingStreams) {
  CUstream blocking;
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  Door door;
  OK(cuLaunchHostFunc(blocking, Door::waitAt, &door));
  ASSERT_EQ(launchAdd(3, blocking), CUDA_SUCCESS);
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    door.open();
  });
  EXPECT_EQ(value(), 3u);
  opens.join();
}

TEST_F(ForeignDriverTest, EventsTellTheTimeBetweenThem) {
  CUevent start, end;
  OK(cuEventCreate(&start, 0));
  OK(cuEventCreate(&end, 0));
  OK(cuEventRecord(start, stream));
  OK(cuLaunchHostFunc(
      stream, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }, nullptr));
  OK(cuEventRecord(end, stream));
  OK(cuEventSynchronize(end));
  float milliseconds = 0;
  OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 5);
}

TEST_F(ForeignDriverTest, AWordHoldsAStreamUntilItIsWritten) {
  OK(cuStreamWaitValue32_v2(stream, word, 9, /*equal*/ 1));
  ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  CUstream other;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cuStreamWriteValue32_v2(other, word, 9, 0));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 10u);
}

TEST_F(ForeignDriverTest, PageableMemoryMayBeUsedAgainAtOnce) {
  Door door;
  OK(cuLaunchHostFunc(stream, Door::waitAt, &door));
  uint32_t source = 77;
  OK(cuMemcpyHtoDAsync_v2(word, &source, 4, stream));
  source = 0;
  door.open();
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 77u);
}

TEST_F(ForeignDriverTest, AFailedKernelPoisonsItsContextAlone) {
  CUdeviceptr good = word;
  word = 64;
  ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(std::string(lastError()).find("kernel 'add'"), std::string::npos) << lastError();
  EXPECT_EQ(cu().cuMemFree_v2(good), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext other;
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuCtxSynchronize());
  OK(cuCtxDestroy_v2(other));
}

TEST_F(ForeignDriverTest, ACaptureEndsWithItsStreamAndItsContext) {
  CUstream captured;
  OK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture_v2(captured, 0));
  OK(cuStreamDestroy_v2(captured));
  OK(cuCtxSynchronize()); // refused while streams are captured
  CUcontext other;
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture_v2(captured, 0));
  OK(cuCtxDestroy_v2(other));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxSynchronize());
}

TEST_F(ForeignDriverTest, WhatAContextHoldsEndsWithIt) {
  CUcontext other;
  CUmodule its, ofLibrary;
  CUfunction function;
  CUlibrary library;
  CUkernel kernel;
  OK(cuCtxCreate_v2(&other, 0, 0));
  OK(cuModuleLoadData(&its, text));
  OK(cuModuleGetFunction(&function, its, "add"));
  OK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryGetModule(&ofLibrary, library));
  OK(cuCtxDestroy_v2(other));
  int registers = 0;
  EXPECT_EQ(cu().cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().cuModuleUnload(its), CUDA_ERROR_INVALID_HANDLE);
  OK(cuCtxSetCurrent(context));
  OK(cuLibraryGetKernel(&kernel, library, "add")); // in this context it is loaded afresh
  OK(cuKernelGetFunction(&function, kernel));
  OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  OK(cuLibraryUnload(library));
}

TEST_F(ForeignDriverTest, ALoadThatIsWidenedWithinSixteenBytesIsNoFault) {
  CUdeviceptr three;
  OK(cuMemAlloc_v2(&three, 12));
  word = three + 12; // what a vector of 16 bytes would reach
  EXPECT_EQ(launchAdd(0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuMemsetD8_v2(three, 0, 13), CUDA_ERROR_INVALID_VALUE); // the host knows the size
  word = three + 16;
  EXPECT_EQ(launchAdd(0, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// --- graphs ---

TEST_F(ForeignDriverTest, AGraphOfNodesRunsAgainAndIsUpdated) {
  CUgraph graph;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNode clear, first, second;
  CUDA_MEMSET_NODE_PARAMS zero = {word, 0, 0, 4, 1, 1};
  OK(cuGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero, context));
  uint32_t two = 2, three = 3;
  CUDA_KERNEL_NODE_PARAMS_v1 addTwo = addNode(&two);
  OK(cuGraphAddKernelNode(&first, graph, &clear, 1, &addTwo));
  CUDA_KERNEL_NODE_PARAMS_v1 addThree = addNode(&three);
  OK(cuGraphAddKernelNode(&second, graph, &first, 1, &addThree));
  two = 100; // the node has its own copy
  CUgraphExec executable;
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 2; ++i)
    OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 5u);

  uint32_t ten = 10;
  CUDA_KERNEL_NODE_PARAMS_v1 addTen = addNode(&ten);
  OK(cuGraphExecKernelNodeSetParams(executable, second, &addTen));
  OK(cuGraphNodeSetEnabled(executable, first, 0));
  OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 10u);

  size_t count = 0;
  OK(cuGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cu().cuGraphAddDependencies(graph, &second, &clear, 1), CUDA_SUCCESS);
  CUgraphExec cyclic;
  EXPECT_EQ(cu().cuGraphInstantiateWithFlags(&cyclic, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(lastError(), "the graph has a cycle");
  OK(cuGraphExecDestroy(executable));
  OK(cuGraphDestroy(graph));
}

TEST_F(ForeignDriverTest, ACloneIsAGraphOfItsOwn) {
  CUgraph graph, clone;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNode node, twin;
  uint32_t one = 1, four = 4;
  CUDA_KERNEL_NODE_PARAMS_v1 addOne = addNode(&one);
  OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &addOne));
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&twin, node, clone));
  CUDA_KERNEL_NODE_PARAMS_v1 addFour = addNode(&four);
  OK(cuGraphKernelNodeSetParams(twin, &addFour));
  CUgraphExec executable;
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  OK(cuGraphLaunch(executable, stream));
  CUgraphExecUpdateResultInfo info;
  OK(cuGraphExecUpdate_v2(executable, clone, &info));
  OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 5u);
  CUgraphNode empty;
  OK(cuGraphAddEmptyNode(&empty, clone, nullptr, 0));
  EXPECT_EQ(cu().cuGraphExecUpdate_v2(executable, clone, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, 2);
}

TEST_F(ForeignDriverTest, TwoStreamsAreCapturedIntoOneGraph) {
  CUstream other;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUevent fork, join;
  OK(cuEventCreate(&fork, 2));
  OK(cuEventCreate(&join, 2));
  OK(cuStreamBeginCapture_v2(stream, 0));
  ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
  OK(cuEventRecord(fork, stream));
  OK(cuStreamWaitEvent(other, fork, 0));
  CUdeviceptr temporary;
  OK(cuMemAllocAsync(&temporary, 4096, other));
  OK(cuMemsetD32Async(temporary, 8, 1, other));
  OK(cuMemcpyDtoDAsync_v2(word, temporary, 4, other));
  OK(cuMemFreeAsync(temporary, other));
  OK(cuEventRecord(join, other));
  OK(cuStreamWaitEvent(stream, join, 0));
  ASSERT_EQ(launchAdd(2, stream), CUDA_SUCCESS);
  CUgraph graph;
  OK(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(value(), 0u); // nothing ran yet
  size_t count = 0;
  OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 6u);
  CUgraphExec executable;
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 2; ++i)
    OK(cuGraphLaunch(executable, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 10u);
}

TEST_F(ForeignDriverTest, ACaptureMustBeJoined) {
  CUstream other;
  OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUevent fork;
  OK(cuEventCreate(&fork, 2));
  OK(cuStreamBeginCapture_v2(stream, 2));
  OK(cuEventRecord(fork, stream));
  OK(cuStreamWaitEvent(other, fork, 0));
  ASSERT_EQ(launchAdd(1, other), CUDA_SUCCESS);
  CUgraph graph;
  EXPECT_EQ(cu().cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  int status = 7;
  OK(cuStreamIsCapturing(other, &status));
  EXPECT_EQ(status, 0);
}

TEST_F(ForeignDriverTest, WhoWaitsForACaptureEndsIt) {
  CUgraph graph = nullptr;
  EXPECT_EQ(cu().cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  OK(cuStreamBeginCapture_v2(stream, 0));
  EXPECT_EQ(cu().cuStreamBeginCapture_v2(stream, 0), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(launchAdd(1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu().cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  OK(cuStreamSynchronize(stream));
}

TEST_F(ForeignDriverTest, ACaptureDoesNotOutliveItsGraph) {
  CUgraph graph;
  OK(cuGraphCreate(&graph, 0));
  OK(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, 2));
  ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
  OK(cuGraphDestroy(graph));
  EXPECT_EQ(launchAdd(1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cu().cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(ForeignDriverTest, AGraphMayOutliveAModule) {
  uint32_t amount = 1;
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec executable;
  CUDA_KERNEL_NODE_PARAMS_v1 parameters = addNode(&amount);
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  OK(cuModuleUnload(module));
  EXPECT_EQ(cu().cuGraphKernelNodeGetParams(node, &parameters), CUDA_ERROR_INVALID_HANDLE);
  OK(cuGraphDebugDotPrint(graph, "/dev/null", 0));
  OK(cuGraphLaunch(executable, stream));
  EXPECT_EQ(cu().cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ForeignDriverTest, AKernelSaysWhatItWasCompiledFor) {
  CUmodule other;
  CUfunction square;
  int version = 0;
  OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
  EXPECT_EQ(version, 70);
  OK(cuFuncGetAttribute(&version, CU_FUNC_ATTRIBUTE_BINARY_VERSION, add));
  EXPECT_EQ(version, 80);
  OK(cuModuleLoadData(
      &other, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() .reqntid 8, 4 { ret; }"));
  OK(cuModuleGetFunction(&square, other, "k"));
  OK(cuLaunchKernel(square, 1, 1, 1, 8, 4, 1, 0, stream, nullptr, nullptr));
  EXPECT_EQ(cu().cuLaunchKernel(square, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

// --- memory ---

TEST_F(ForeignDriverTest, MappedChunksAreOneRange) {
  CUmemAllocationProp properties = {};
  properties.type = 1;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  size_t step = 0;
  OK(cuMemGetAllocationGranularity(&step, &properties, 0));
  CUdeviceptr address;
  OK(cuMemAddressReserve(&address, 2 * step, 0, 0, 0));
  CUmemGenericAllocationHandle chunks[2];
  for (int i = 0; i < 2; ++i) {
    OK(cuMemCreate(&chunks[i], step, &properties, 0));
    OK(cuMemMap(address + i * step, step, 0, chunks[i], 0));
    OK(cuMemRelease(chunks[i]));
  }
  EXPECT_EQ(cu().cuMemsetD8_v2(address, 1, 2 * step), CUDA_ERROR_INVALID_VALUE); // nobody may use it yet
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 3};
  OK(cuMemSetAccess(address, 2 * step, &access, 1));
  OK(cuMemsetD8_v2(address, 1, 2 * step));
  uint64_t across = 0;
  OK(cuMemcpyDtoH_v2(&across, address + step - 4, 8));
  EXPECT_EQ(across, 0x0101010101010101u);
  EXPECT_EQ(cu().cuMemAddressFree(address, 2 * step), CUDA_ERROR_INVALID_VALUE); // still mapped
  OK(cuMemUnmap(address, 2 * step));
  OK(cuMemAddressFree(address, 2 * step));
}

TEST_F(ForeignDriverTest, BoxesAreCopied) {
  CUdeviceptr image;
  size_t pitch = 0;
  OK(cuMemAllocPitch_v2(&image, &pitch, 12, 4, 4));
  std::vector<uint32_t> pixels(12);
  for (uint32_t i = 0; i < 12; ++i)
    pixels[i] = i;
  CUDA_MEMCPY2D up = {};
  up.from.memoryType = CU_MEMORYTYPE_HOST, up.from.host = pixels.data(), up.from.pitch = 12;
  up.to.memoryType = CU_MEMORYTYPE_DEVICE, up.to.device = image, up.to.pitch = pitch;
  up.widthInBytes = 12, up.height = 4;
  OK(cuMemcpy2D_v2(&up));
  CUDA_MEMCPY2D down = {};
  uint32_t corner[2] = {};
  down.from = up.to, down.from.xInBytes = 4, down.from.y = 2;
  down.to.memoryType = CU_MEMORYTYPE_HOST, down.to.host = corner, down.to.pitch = 4;
  down.widthInBytes = 4, down.height = 2;
  OK(cuMemcpy2D_v2(&down));
  EXPECT_EQ(corner[0], 7u);
  EXPECT_EQ(corner[1], 10u);
  OK(cuMemsetD2D32_v2(image, pitch, 7, 0, ~size_t(0))); // rows of nothing, however many
  up.to.y = 1;
  EXPECT_EQ(cu().cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE); // its last row lies outside
}

TEST_F(ForeignDriverTest, AnAddressSaysWhatItIs) {
  CUdeviceptr managed;
  OK(cuMemAllocManaged(&managed, 100, 1));
  unsigned type = 0, isManaged = 0;
  int ordinal = 9;
  OK(cuPointerGetAttribute(&type, 2, word));
  OK(cuPointerGetAttribute(&isManaged, 8, managed + 50));
  OK(cuPointerGetAttribute(&ordinal, 9, managed));
  EXPECT_EQ(type, unsigned(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(isManaged, 1u);
  EXPECT_EQ(ordinal, 0);
  *reinterpret_cast<uint32_t *>(managed) = 4; // the host's, too
  CUdeviceptr base;
  size_t bytes;
  OK(cuMemGetAddressRange_v2(&base, &bytes, managed + 99));
  EXPECT_EQ(base, managed);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(cu().cuPointerGetAttribute(&type, 2, 4096), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(managed));
}

TEST_F(ForeignDriverTest, ADeviceUsesAnothersMemoryOnlyAsItsPeer) {
  CUcontext other;
  OK(cuCtxCreate_v2(&other, 0, 1));
  int can = 0;
  OK(cuDeviceCanAccessPeer(&can, 1, 0));
  EXPECT_EQ(can, 1);
  CUmodule theirs;
  OK(cuModuleLoadData(&theirs, text));
  OK(cuModuleGetFunction(&add, theirs, "add"));
  OK(cuCtxEnablePeerAccess(context, 0));
  EXPECT_EQ(cu().cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  ASSERT_EQ(launchAdd(6, nullptr), CUDA_SUCCESS);
  OK(cuCtxSynchronize());
  EXPECT_EQ(value(), 6u);
  OK(cuCtxDisablePeerAccess(context));
  ASSERT_EQ(launchAdd(6, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(cuCtxDestroy_v2(other));
}

// --- images ---

std::string fatBinary(unsigned kind, unsigned architecture, uint64_t flags, const std::string &payload,
                      size_t plain) {
  struct {
    uint32_t magic = 0xBA55ED50;
    uint16_t version = 1, headerSize = 16;
    uint64_t size;
    uint16_t kind, entryVersion = 0x101;
    uint32_t entryHeaderSize = 64;
    uint64_t payloadSize;
    uint32_t compressedSize, reserved0 = 0;
    uint16_t minor = 0, major = 9;
    uint32_t architecture;
    uint64_t reserved1 = 0, flags, reserved2 = 0, plainSize;
  } header;
  header.payloadSize = (payload.size() + 7) / 8 * 8;
  header.size = 64 + header.payloadSize;
  header.kind = uint16_t(kind);
  header.compressedSize = flags ? uint32_t(payload.size()) : 0;
  header.architecture = architecture;
  header.flags = flags;
  header.plainSize = plain;
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes += payload;
  bytes.resize(sizeof header + header.payloadSize);
  return bytes;
}

std::string zstd(const std::string &plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  return packed;
}

/// One sequence of literals: a block of LZ4 that packs nothing.
std::string lz4Literals(const std::string &plain) {
  std::string block(1, char(0xF0));
  size_t rest = plain.size() - 15;
  for (; rest >= 255; rest -= 255)
    block += char(255);
  block += char(rest);
  return block + plain;
}

TEST_F(ForeignDriverTest, FatBinariesGiveTheirPtx) {
  std::string plain = text;
  for (const std::string &image :
       {fatBinary(1, 80, 0, plain, 0), fatBinary(1, 80, 0x8000, zstd(plain), plain.size()),
        fatBinary(1, 70, 0x2000, lz4Literals(plain), plain.size())}) {
    CUmodule loaded;
    OK(cuModuleLoadData(&loaded, image.data()));
    OK(cuModuleGetFunction(&add, loaded, "add"));
    ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
    OK(cuModuleUnload(loaded));
  }
  EXPECT_EQ(value(), 3u);
  struct {
    uint32_t magic = 0x466243B1, version = 1;
    const void *data;
    void *file = nullptr;
  } wrapper;
  std::string image = fatBinary(1, 80, 0, plain, 0);
  wrapper.data = image.data();
  CUmodule loaded;
  OK(cuModuleLoadFatBinary(&loaded, &wrapper));
}

TEST_F(ForeignDriverTest, MachineCodeAloneIsRefused) {
  CUmodule loaded;
  EXPECT_EQ(cu().cuModuleLoadData(&loaded, fatBinary(2, 80, 0, std::string(64, 'x'), 0).data()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cu().cuModuleLoadData(&loaded, fatBinary(1, 90, 0, text, 0).data()),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cu().cuModuleLoadData(&loaded, "\x7f"
                                           "ELF and so on"),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cu().cuModuleLoadData(&loaded, fatBinary(1, 80, 0x8000, "nonsense", 100).data()),
            CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(ForeignDriverTest, Lz4RepeatsWhatItCopied) {
  std::string to;
  // "ab", then ten bytes from two back.
  EXPECT_TRUE(joule::vgpu::decompressLz4(std::string("\x26"
                                                     "ab"
                                                     "\x02\x00",
                                                     5),
                                         12, to));
  EXPECT_EQ(to, "abababababab");
  EXPECT_FALSE(joule::vgpu::decompressLz4(std::string("\x26"
                                                      "ab"
                                                      "\x03\x00",
                                                      5),
                                          12, to));
  EXPECT_FALSE(joule::vgpu::decompressLz4(std::string("\x26"
                                                      "ab"
                                                      "\x02\x00",
                                                      5),
                                          11, to));
}

TEST_F(ForeignDriverTest, ALibrarysKernelIsLaunchedByItself) {
  CUlibrary library;
  OK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel;
  EXPECT_EQ(cu().cuLibraryGetKernel(&kernel, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  OK(cuLibraryGetKernel(&kernel, library, "add"));
  add = reinterpret_cast<CUfunction>(kernel);
  ASSERT_EQ(launchAdd(4, stream), CUDA_SUCCESS) << lastError();
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 4u);
  OK(cuLibraryUnload(library));
  EXPECT_EQ(launchAdd(4, stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ForeignDriverTest, LinkedTextsCallEachOther) {
  std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
  std::string caller = head + R"(.extern .func (.param .b32 r) nine();
.visible .entry store(.param .u64 p) {
  .reg .b32 %r1;
  .reg .b64 %rd1;
  .param .b32 back;
  ld.param.u64 %rd1, [p];
  call (back), nine, ();
  ld.param.b32 %r1, [back];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
  std::string callee = head + R"(.visible .func (.param .b32 r) nine() {
  .reg .b32 %a;
  mov.u32 %a, 9;
  st.param.b32 [r], %a;
  ret;
}
)";
  CUlinkState linker;
  OK(cuLinkCreate_v2(0, nullptr, nullptr, &linker));
  OK(cuLinkAddData_v2(linker, 1, caller.data(), caller.size(), "caller", 0, nullptr, nullptr));
  OK(cuLinkAddData_v2(linker, 1, callee.data(), callee.size(), "callee", 0, nullptr, nullptr));
  void *image;
  size_t size;
  OK(cuLinkComplete(linker, &image, &size));
  CUmodule linked;
  OK(cuModuleLoadData(&linked, image));
  OK(cuLinkDestroy(linker));
  CUfunction store;
  OK(cuModuleGetFunction(&store, linked, "store"));
  void *parameters[] = {&word};
  OK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(value(), 9u);
}

// --- the sensors ---

TEST_F(ForeignDriverTest, WorkCostsJoules) {
  auto init = reinterpret_cast<nvmlReturn_t (*)()>(findFunction("nvmlInit_v2"));
  auto handleOf = reinterpret_cast<nvmlReturn_t (*)(unsigned, nvmlDevice_t *)>(
      findFunction("nvmlDeviceGetHandleByIndex_v2"));
  auto energy = reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, unsigned long long *)>(
      findFunction("nvmlDeviceGetTotalEnergyConsumption"));
  auto power =
      reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, unsigned *)>(findFunction("nvmlDeviceGetPowerUsage"));
  auto shutdown = reinterpret_cast<nvmlReturn_t (*)()>(findFunction("nvmlShutdown"));
  nvmlDevice_t device;
  EXPECT_EQ(handleOf(0, &device), NVML_ERROR_UNINITIALIZED);
  ASSERT_EQ(init(), NVML_SUCCESS);
  ASSERT_EQ(handleOf(0, &device), NVML_SUCCESS);
  EXPECT_EQ(handleOf(2, &device), NVML_ERROR_INVALID_ARGUMENT);
  unsigned long long before = 0, after = 0;
  unsigned milliwatts = 0;
  // At rest it draws power, too; the sensor shows the last tenth of a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  ASSERT_EQ(power(device, &milliwatts), NVML_SUCCESS);
  ASSERT_EQ(energy(device, &before), NVML_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(energy(device, &after), NVML_SUCCESS);
  EXPECT_GE(double(after - before), milliwatts * 0.05 - 1);
  ASSERT_EQ(launchAdd(1, stream), CUDA_SUCCESS);
  OK(cuStreamSynchronize(stream));
  unsigned busy = 0;
  ASSERT_EQ(power(device, &busy), NVML_SUCCESS);
  EXPECT_NE(busy, milliwatts);
  EXPECT_EQ(power(nullptr, &milliwatts), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(shutdown(), NVML_SUCCESS);
  EXPECT_EQ(energy(device, &after), NVML_ERROR_UNINITIALIZED);
}

TEST_F(ForeignDriverTest, HandlesOfAnotherKindAreRefused) {
  CUmodule notOne = reinterpret_cast<CUmodule>(stream);
  EXPECT_EQ(cu().cuModuleUnload(notOne), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().cuStreamSynchronize(reinterpret_cast<CUstream>(module)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().cuEventDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().cuGraphLaunch(nullptr, stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cu().cuCtxSetCurrent(reinterpret_cast<CUcontext>(stream)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(launchAdd(1, reinterpret_cast<CUstream>(uintptr_t(12345))), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
