// The part of the CUDA driver's interface that Joule uses, with the true signatures and values, so that one
// table of function pointers is filled from the virtual driver or from the real one. Owes nothing to CUDA's
// own headers; names that cuda.h makes into macros carry their _v2 here.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

typedef enum CUresult_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef enum CUdevice_attribute_enum {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
  CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
  CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
  CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
  CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
  CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
  CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
  CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
  CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
  CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
} CUdevice_attribute;

typedef enum CUfunction_attribute_enum {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9
} CUfunction_attribute;

typedef enum CUjit_option_enum {
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7
} CUjit_option;

typedef enum CUstream_flags_enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 } CUstream_flags;

typedef enum CUfunc_cache_enum { CU_FUNC_CACHE_PREFER_NONE = 0 } CUfunc_cache;

typedef enum CUlaunchAttributeID_enum {
  CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
  CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4
} CUlaunchAttributeID;

typedef union CUlaunchAttributeValue_union {
  char pad[64];
  struct {
    unsigned int x, y, z;
  } clusterDim;
  int cooperative;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
  unsigned int gridDimX, gridDimY, gridDimZ;
  unsigned int blockDimX, blockDimY, blockDimZ;
  unsigned int sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned int numAttrs;
} CUlaunchConfig;

typedef enum CUdriverProcAddressQueryResult_enum {
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1
} CUdriverProcAddressQueryResult;

typedef struct CUtensorMap_st {
  alignas(64) uint64_t opaque[16];
} CUtensorMap;

} // extern "C"

/// Entries that the runtime has no use for.
#define JOULE_TENSOR_MAP_FUNCTIONS(X)                                                                        \
  X(cuTensorMapEncodeTiled,                                                                                  \
    (CUtensorMap * map, unsigned int type, unsigned int rank, void *address, const uint64_t *sizes,          \
     const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides, unsigned int interleave,  \
     unsigned int swizzle, unsigned int promotion, unsigned int fill))                                       \
  X(cuTensorMapEncodeIm2col,                                                                                 \
    (CUtensorMap * map, unsigned int type, unsigned int rank, void *address, const uint64_t *sizes,          \
     const uint64_t *strides, const int *lowerCorner, const int *upperCorner, unsigned int channels,         \
     unsigned int pixels, const uint32_t *elementStrides, unsigned int interleave, unsigned int swizzle,     \
     unsigned int promotion, unsigned int fill))                                                             \
  X(cuTensorMapReplaceAddress, (CUtensorMap * map, void *address))

/// Every function of the table: its exported name, and its parameters. One list feeds the virtual driver, the
/// forwarding library and the runtime's table.
#define JOULE_DRIVER_FUNCTIONS(X)                                                                            \
  X(cuInit, (unsigned int flags))                                                                            \
  X(cuDriverGetVersion, (int *version))                                                                      \
  X(cuDeviceGet, (CUdevice * device, int ordinal))                                                           \
  X(cuDeviceGetCount, (int *count))                                                                          \
  X(cuDeviceGetName, (char *name, int length, CUdevice device))                                              \
  X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                                  \
  X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))                       \
  X(cuDeviceGetPCIBusId, (char *text, int length, CUdevice device))                                          \
  X(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device))                                    \
  X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                        \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                         \
  X(cuDevicePrimaryCtxReset_v2, (CUdevice device))                                                           \
  X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active))                         \
  X(cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device))                              \
  X(cuCtxDestroy_v2, (CUcontext context))                                                                    \
  X(cuCtxSetCurrent, (CUcontext context))                                                                    \
  X(cuCtxGetCurrent, (CUcontext * context))                                                                  \
  X(cuCtxPushCurrent_v2, (CUcontext context))                                                                \
  X(cuCtxPopCurrent_v2, (CUcontext * context))                                                               \
  X(cuCtxGetDevice, (CUdevice * device))                                                                     \
  X(cuCtxSynchronize, (void))                                                                                \
  X(cuModuleLoadData, (CUmodule * module, const void *image))                                                \
  X(cuModuleLoadDataEx,                                                                                      \
    (CUmodule * module, const void *image, unsigned int numOptions, CUjit_option *options, void **values))   \
  X(cuModuleUnload, (CUmodule module))                                                                       \
  X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                         \
  X(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t * bytes, CUmodule module, const char *name))        \
  X(cuFuncGetParamInfo, (CUfunction function, size_t parameter, size_t * offset, size_t * size))             \
  X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))                   \
  X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))                    \
  X(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config))                                        \
  X(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                                                    \
  X(cuMemFree_v2, (CUdeviceptr address))                                                                     \
  X(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream))                                 \
  X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                                  \
  X(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned int flags))                            \
  X(cuMemHostAlloc, (void **host, size_t bytes, unsigned int flags))                                         \
  X(cuMemAllocHost_v2, (void **host, size_t bytes))                                                          \
  X(cuMemFreeHost, (void *host))                                                                             \
  X(cuMemHostRegister_v2, (void *host, size_t bytes, unsigned int flags))                                    \
  X(cuMemHostUnregister, (void *host))                                                                       \
  X(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *host, unsigned int flags))                   \
  X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                        \
  X(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t * bytes, CUdeviceptr address))                      \
  X(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                                              \
  X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                        \
  X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                                       \
  X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                                             \
  X(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes))                                       \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                 \
  X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                       \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                 \
  X(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t count))                                      \
  X(cuMemsetD16_v2, (CUdeviceptr to, unsigned short value, size_t count))                                    \
  X(cuMemsetD32_v2, (CUdeviceptr to, unsigned int value, size_t count))                                      \
  X(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                   \
  X(cuMemsetD16Async, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))                 \
  X(cuMemsetD32Async, (CUdeviceptr to, unsigned int value, size_t count, CUstream stream))                   \
  X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                                 \
  X(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority))                       \
  X(cuStreamDestroy_v2, (CUstream stream))                                                                   \
  X(cuStreamSynchronize, (CUstream stream))                                                                  \
  X(cuStreamQuery, (CUstream stream))                                                                        \
  X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                                 \
  X(cuEventCreate, (CUevent * event, unsigned int flags))                                                    \
  X(cuEventRecord, (CUevent event, CUstream stream))                                                         \
  X(cuEventQuery, (CUevent event))                                                                           \
  X(cuEventSynchronize, (CUevent event))                                                                     \
  X(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))                                   \
  X(cuEventDestroy_v2, (CUevent event))                                                                      \
  X(cuLaunchKernel, (CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,        \
                     unsigned int blockX, unsigned int blockY, unsigned int blockZ,                          \
                     unsigned int sharedBytes, CUstream stream, void **parameters, void **extra))            \
  X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra))  \
  X(cuLaunchCooperativeKernel,                                                                               \
    (CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,   \
     unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream,                    \
     void **parameters))                                                                                     \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                             \
    (int *blocks, CUfunction function, int blockSize, size_t dynamicShared))                                 \
  X(cuGetErrorName, (CUresult error, const char **text))                                                     \
  X(cuGetErrorString, (CUresult error, const char **text))                                                   \
  X(cuGetProcAddress_v2, (const char *symbol, void **function, int version, uint64_t flags,                  \
                          CUdriverProcAddressQueryResult *status))
