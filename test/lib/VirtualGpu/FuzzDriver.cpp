// Any sequence of calls with any handles, sizes and null pointers: the driver refuses what is wrong and lives
// on.
//
// The input is a program: a byte chooses the function, the next bytes its arguments from what earlier calls
// gave out, from null, and from numbers that are nobody's. Pointers that a caller must vouch for (where
// results go, what the host owns) are always good.
#include "lib/VirtualGpu/Driver/CudaApi.h"
#include "lib/VirtualGpu/Driver/Entries.h"

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using joule::vgpu::findFunction;

namespace {

class Input {
public:
  Input(const uint8_t *data, size_t size) : data(data), size(size) {}
  bool isEmpty() const { return at >= size; }
  uint8_t byte() { return at < size ? data[at++] : 0; }
  uint64_t number() {
    static const uint64_t odd[] = {0,    1,     2,        3,          4,     31,        256,
                                   4096, 65536, 1u << 21, 1ull << 40, ~0ull, ~0ull >> 1};
    uint8_t choice = byte();
    return choice < std::size(odd) ? odd[choice] : choice;
  }

private:
  const uint8_t *data;
  size_t size, at = 0;
};

const char *const text =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 word;\n.visible .entry k(.param "
    ".u64 p) {\n  ret;\n}\n";

/// What calls gave out, and places for results and structures.
struct World {
  std::vector<uint64_t> handles;
  alignas(64) uint64_t place[64] = {}, second[64] = {};
  void *parameters[8] = {place, second, place, second, place, second, place, second};

  uint64_t handle(Input &input) {
    uint8_t choice = input.byte();
    if (choice < 4 || handles.empty())
      return choice; // null and the default streams
    return handles[choice % handles.size()] + (choice > 250 ? 8 : 0);
  }
  void learn() {
    for (uint64_t value : {place[0], second[0]})
      if (value > 4096 && handles.size() < 64)
        handles.push_back(value);
  }
};

/// What is behind a handle is not declared here.
template <class T, class = void> constexpr bool isDeclared = false;
template <class T> constexpr bool isDeclared<T, std::void_t<decltype(sizeof(T))>> = true;

/// An argument of any type. Structures are filled with what the input says; texts are one of three.
template <class T> T argument(World &world, Input &input) {
  if constexpr (std::is_same_v<T, const char *>) {
    static const char *const texts[] = {"k", "word", "/nonexistent/file", nullptr};
    return texts[input.byte() % 4];
  } else if constexpr (std::is_same_v<T, char *>) {
    return reinterpret_cast<char *>(world.second);
  } else if constexpr (std::is_same_v<T, void **>) {
    return input.byte() % 4 ? world.parameters : nullptr;
  } else if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
    return nullptr; // a callback is the caller's
  } else if constexpr (std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>>) {
    using Pointee = std::remove_const_t<std::remove_pointer_t<T>>;
    if constexpr (!isDeclared<Pointee>)
      return reinterpret_cast<T>(world.handle(input));
    else
      return reinterpret_cast<T>(input.byte() % 8 ? (input.byte() % 2 ? world.place : world.second)
                                                  : nullptr);
  } else if constexpr (std::is_pointer_v<T>) {
    return T(input.byte() % 4 ? world.second : nullptr);
  } else if constexpr (std::is_same_v<T, CUdeviceptr>) {
    return world.handle(input);
  } else if constexpr (std::is_class_v<T>) {
    T value;
    memset(&value, int(input.byte() % 3), sizeof value);
    return value;
  } else {
    return T(input.number());
  }
}

template <class... A> void call(CUresult (*function)(A...), World &world, Input &input) {
  // In order, so that a program means the same in every build.
  std::tuple<A...> arguments{argument<A>(world, input)...};
  std::apply(function, arguments);
  world.learn();
}

// Left out: what takes structures that hold pointers of the caller's, or arrays as long as a number says; and
// what waits for somebody who never comes. Their checks have tests of their own.
#define JOULE_CALLS(X)                                                                                       \
  X(cuDeviceGet)                                                                                             \
  X(cuDeviceGetAttribute) X(cuDeviceCanAccessPeer) X(cuDeviceGetByPCIBusId) X(cuDevicePrimaryCtxRetain)      \
      X(cuDevicePrimaryCtxRelease_v2) X(cuCtxCreate_v2) X(cuCtxDestroy_v2) X(cuCtxSetCurrent) X(             \
          cuCtxPushCurrent_v2) X(cuCtxPopCurrent_v2) X(cuCtxGetDevice) X(cuCtxSetLimit) X(cuCtxGetLimit)     \
          X(cuCtxEnablePeerAccess) X(cuCtxDisablePeerAccess) X(cuCtxSynchronize) X(cuModuleUnload) X(        \
              cuModuleGetFunction) X(cuModuleGetGlobal_v2) X(cuModuleGetFunctionCount) X(cuFuncGetParamInfo) \
              X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLibraryUnload) X(cuLibraryGetKernel) X(        \
                  cuLibraryGetModule) X(cuLibraryGetGlobal) X(cuKernelGetFunction) X(cuKernelGetName)        \
                  X(cuKernelGetAttribute) X(cuMemAlloc_v2) X(cuMemFree_v2) X(cuMemAllocManaged) X(           \
                      cuMemAllocPitch_v2) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostUnregister)          \
                      X(cuMemHostGetFlags) X(cuMemGetAddressRange_v2) X(cuPointerGetAttribute) X(            \
                          cuMemcpyDtoD_v2) X(cuMemcpyDtoDAsync_v2) X(cuMemsetD8_v2) X(cuMemsetD16_v2)        \
                          X(cuMemsetD32Async) X(cuMemsetD2D8_v2) X(cuMemsetD2D32Async) X(cuMemAllocAsync) X( \
                              cuMemFreeAsync) X(cuMemPoolDestroy) X(cuMemPoolTrimTo)                         \
                              X(cuMemAllocFromPoolAsync) X(cuDeviceGetDefaultMemPool) X(cuMemAddressReserve) \
                                  X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(          \
                                      cuMemUnmap) X(cuMemGetAccess) X(cuStreamCreate) X(cuStreamDestroy_v2)  \
                                      X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) X(        \
                                          cuStreamGetPriority) X(cuStreamGetId) X(cuStreamWriteValue32_v2)   \
                                          X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) X(                \
                                              cuStreamIsCapturing) X(cuEventCreate) X(cuEventDestroy_v2)     \
                                              X(cuEventRecord) X(cuEventQuery) X(cuEventElapsedTime) X(      \
                                                  cuGraphCreate) X(cuGraphDestroy) X(cuGraphClone)           \
                                                  X(cuGraphDestroyNode) X(cuGraphNodeGetType) X(             \
                                                      cuGraphNodeFindInClone) X(cuGraphInstantiateWithFlags) \
                                                      X(cuGraphExecDestroy) X(cuGraphLaunch)                 \
                                                          X(cuGraphExecEventRecordNodeSetEvent) X(           \
                                                              cuGraphNodeSetEnabled)                         \
                                                              X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
                                                                  X(cuOccupancyAvailableDynamicSMemPerBlock) \
                                                                      X(cuLaunchKernel)                      \
                                                                          X(cuGetProcAddress_v2)

/// The type of each function, by name.
struct Types {
#define JOULE_TYPE(name, parameters) using name = CUresult(*) parameters;
  JOULE_DRIVER_FUNCTIONS(JOULE_TYPE)
  JOULE_CUDA_FUNCTIONS(JOULE_TYPE)
};

using Caller = void (*)(World &, Input &);
#define JOULE_CALLER(name)                                                                                   \
  [](World &world, Input &input) {                                                                           \
    static const auto function = reinterpret_cast<Types::name>(findFunction(#name));                         \
    call(function, world, input);                                                                            \
  },
const Caller callers[] = {JOULE_CALLS(JOULE_CALLER)};

template <class T> T get(const char *name) { return reinterpret_cast<T>(findFunction(name)); }

/// A context, a module, its kernel, memory, a graph with a node: to begin with.
void begin(World &world) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUlibrary library = nullptr;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  get<Types::cuInit>("cuInit")(0);
  get<Types::cuCtxCreate_v2>("cuCtxCreate_v2")(&context, 0, 0);
  get<Types::cuModuleLoadData>("cuModuleLoadData")(&module, text);
  get<Types::cuModuleGetFunction>("cuModuleGetFunction")(&kernel, module, "k");
  get<Types::cuLibraryLoadData>("cuLibraryLoadData")(&library, text, nullptr, nullptr, 0, nullptr, nullptr,
                                                     0);
  get<Types::cuMemAlloc_v2>("cuMemAlloc_v2")(&memory, 4096);
  get<Types::cuGraphCreate>("cuGraphCreate")(&graph, 0);
  get<Types::cuGraphAddEmptyNode>("cuGraphAddEmptyNode")(&node, graph, nullptr, 0);
  world.handles = {uint64_t(context), uint64_t(module), uint64_t(kernel), uint64_t(library), memory,
                   uint64_t(graph),   uint64_t(node)};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  World world;
  begin(world);
  Input input(data, size);
  for (int calls = 0; calls < 40 && !input.isEmpty(); ++calls)
    callers[input.byte() % std::size(callers)](world, input);
  // Contexts take their streams and memory with them.
  for (uint64_t handle : world.handles)
    get<Types::cuCtxDestroy_v2>("cuCtxDestroy_v2")(reinterpret_cast<CUcontext>(handle));
  for (CUcontext context = nullptr;
       get<Types::cuCtxPopCurrent_v2>("cuCtxPopCurrent_v2")(&context) == CUDA_SUCCESS;)
    continue;
  for (uint64_t handle : world.handles) {
    get<Types::cuGraphDestroy>("cuGraphDestroy")(reinterpret_cast<CUgraph>(handle));
    get<Types::cuGraphExecDestroy>("cuGraphExecDestroy")(reinterpret_cast<CUgraphExec>(handle));
    get<Types::cuModuleUnload>("cuModuleUnload")(reinterpret_cast<CUmodule>(handle));
    get<Types::cuLibraryUnload>("cuLibraryUnload")(reinterpret_cast<CUlibrary>(handle));
  }
  return 0;
}
