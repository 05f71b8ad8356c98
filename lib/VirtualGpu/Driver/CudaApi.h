// The rest of the CUDA driver's interface, beyond what Joule itself uses (DriverApi.h): the types and
// functions that other people's programs call. Written from the interface's documentation; owes nothing to
// CUDA's headers. Enumerations that are only handed on are plain ints, which is what they are to a caller.
#pragma once

#include "lib/VirtualGpu/DriverApi.h"

extern "C" {

typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUuserObject_st *CUuserObject;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef void (*CUhostFn)(void *data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);
typedef size_t (*CUoccupancyB2DSize)(int blockSize);

// Results that DriverApi.h does not need.
constexpr CUresult CUDA_ERROR_CONTEXT_ALREADY_IN_USE = CUresult(216);
constexpr CUresult CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = CUresult(217);
constexpr CUresult CUDA_ERROR_FILE_NOT_FOUND = CUresult(301);
constexpr CUresult CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = CUresult(704);
constexpr CUresult CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = CUresult(705);
constexpr CUresult CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = CUresult(708);
constexpr CUresult CUDA_ERROR_CONTEXT_IS_DESTROYED = CUresult(709);
constexpr CUresult CUDA_ERROR_TOO_MANY_PEERS = CUresult(711);
constexpr CUresult CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = CUresult(712);
constexpr CUresult CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = CUresult(713);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = CUresult(900);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = CUresult(901);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_MERGE = CUresult(902);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = CUresult(903);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_UNJOINED = CUresult(904);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_ISOLATION = CUresult(905);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = CUresult(906);
constexpr CUresult CUDA_ERROR_CAPTURED_EVENT = CUresult(907);
constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = CUresult(908);
constexpr CUresult CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = CUresult(910);

typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_ARRAY = 3, CU_MEMORYTYPE_UNIFIED = 4 };

/// One side of a copy of a box.
typedef struct CUcopySide2D_st {
  size_t xInBytes, y;
  int memoryType;
  void *host;
  CUdeviceptr device;
  void *array;
  size_t pitch;
} CUcopySide2D;
typedef struct CUDA_MEMCPY2D_st {
  CUcopySide2D from, to;
  size_t widthInBytes, height;
} CUDA_MEMCPY2D;

typedef struct CUcopySide3D_st {
  size_t xInBytes, y, z, lod;
  int memoryType;
  void *host;
  CUdeviceptr device;
  void *array;
  void *context; // of CUDA_MEMCPY3D_PEER; reserved in CUDA_MEMCPY3D
  size_t pitch, height;
} CUcopySide3D;
typedef struct CUDA_MEMCPY3D_st {
  CUcopySide3D from, to;
  size_t widthInBytes, height, depth;
} CUDA_MEMCPY3D;
typedef CUDA_MEMCPY3D CUDA_MEMCPY3D_PEER;

// Arrays, textures and surfaces.
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUtexref_st *CUtexref;
typedef struct CUsurfref_st *CUsurfref;
typedef unsigned long long CUtexObject, CUsurfObject;

enum {
  CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
  CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
  CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
  CU_AD_FORMAT_SIGNED_INT8 = 0x08,
  CU_AD_FORMAT_SIGNED_INT16 = 0x09,
  CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
  CU_AD_FORMAT_HALF = 0x10,
  CU_AD_FORMAT_FLOAT = 0x20,
  CU_AD_FORMAT_UNORM_INT8X1 = 0xc0 // X1, X2, X4 of unsigned bytes, then of 16 bits, then the same signed
};
enum {
  CUDA_ARRAY3D_LAYERED = 1,
  CUDA_ARRAY3D_SURFACE_LDST = 2,
  CUDA_ARRAY3D_CUBEMAP = 4,
  CUDA_ARRAY3D_TEXTURE_GATHER = 8
};
enum { CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_BORDER };
enum { CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR };
enum {
  CU_TRSF_READ_AS_INTEGER = 1,
  CU_TRSF_NORMALIZED_COORDINATES = 2,
  CU_TRSF_SRGB = 0x10,
  CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
  CU_TRSF_SEAMLESS_CUBEMAP = 0x40
};
enum {
  CU_RESOURCE_TYPE_ARRAY,
  CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
  CU_RESOURCE_TYPE_LINEAR,
  CU_RESOURCE_TYPE_PITCH2D
};

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
  size_t width, height;
  int format;
  unsigned int numChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
  size_t width, height, depth;
  int format;
  unsigned int numChannels, flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct CUDA_ARRAY_MEMORY_REQUIREMENTS_st {
  size_t size, alignment;
  unsigned int reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;
typedef struct CUDA_RESOURCE_DESC_st {
  int type;
  union {
    CUarray array;
    CUmipmappedArray mipmapped;
    struct {
      CUdeviceptr address;
      int format;
      unsigned int numChannels;
      size_t bytes;
    } linear;
    struct {
      CUdeviceptr address;
      int format;
      unsigned int numChannels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned int flags;
} CUDA_RESOURCE_DESC;
typedef struct CUDA_TEXTURE_DESC_st {
  int addressMode[3];
  int filterMode;
  unsigned int flags, maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  float borderColor[4];
  int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st {
  int format;
  size_t width, height, depth;
  unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
  unsigned int reserved[16];
} CUDA_RESOURCE_VIEW_DESC;

typedef struct CUmemLocation_st {
  int type; // 1: a device; 2: the host
  int id;
} CUmemLocation;
enum { CU_MEM_LOCATION_TYPE_DEVICE = 1, CU_MEM_LOCATION_TYPE_HOST = 2 };
typedef struct CUmemcpyAttributes_st {
  int sourceOrder; // 1: as the stream; 2: the source is read during the call; 3: at any time
  CUmemLocation from, to; // hints
  unsigned int flags;
} CUmemcpyAttributes;
typedef struct CUmemAccessDesc_st {
  CUmemLocation location;
  int flags; // 0: none; 1: read; 3: read and write
} CUmemAccessDesc;
typedef struct CUmemAllocationProp_st {
  int type;
  int requestedHandleTypes; // 1: a POSIX file descriptor
  CUmemLocation location;
  void *win32HandleMetaData;
  unsigned char allocFlags[8];
} CUmemAllocationProp;
typedef struct CUmemPoolProps_st {
  int allocType, handleTypes;
  CUmemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} CUmemPoolProps;

typedef struct CUDA_KERNEL_NODE_PARAMS_v1_st {
  CUfunction func;
  unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
  CUDA_KERNEL_NODE_PARAMS_v1 first;
  CUkernel kern;
  CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS_st {
  CUdeviceptr dst;
  size_t pitch;
  unsigned int value, elementSize;
  size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct CUDA_HOST_NODE_PARAMS_st {
  CUhostFn fn;
  void *userData;
} CUDA_HOST_NODE_PARAMS;
typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_st {
  CUmemPoolProps poolProps;
  const CUmemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize;
  CUdeviceptr dptr;
} CUDA_MEM_ALLOC_NODE_PARAMS;

enum {
  CU_GRAPH_NODE_TYPE_KERNEL = 0,
  CU_GRAPH_NODE_TYPE_MEMCPY = 1,
  CU_GRAPH_NODE_TYPE_MEMSET = 2,
  CU_GRAPH_NODE_TYPE_HOST = 3,
  CU_GRAPH_NODE_TYPE_GRAPH = 4,
  CU_GRAPH_NODE_TYPE_EMPTY = 5,
  CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
  CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
  CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
  CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
  CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12
};
/// What cuGraphAddNode takes: a type, then the parameters of that type.
typedef struct CUgraphNodeParams_st {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    struct {
      int flags, reserved;
      CUcontext copyCtx;
      CUDA_MEMCPY3D copyParams;
    } memcpy;
    struct {
      CUDA_MEMSET_NODE_PARAMS first;
      CUcontext ctx;
    } memset;
    CUDA_HOST_NODE_PARAMS host;
    struct {
      CUgraph graph;
    } graph;
    struct {
      CUevent event;
    } event;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    struct {
      CUdeviceptr dptr;
    } free;
  };
  long long reserved2;
} CUgraphNodeParams;
typedef struct CUgraphEdgeData_st {
  unsigned char fromPort, toPort, type, reserved[5];
} CUgraphEdgeData;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
  unsigned long long flags;
  CUstream uploadStream;
  CUgraphNode errorNode;
  int result; // 0: done
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct CUgraphExecUpdateResultInfo_st {
  int result;
  CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

/// A wait for, or a write of, one word: an operation of cuStreamBatchMemOp.
typedef union CUstreamBatchMemOpParams_union {
  int operation; // 1: wait 32; 2: write 32; 3: flush; 4: wait 64; 5: write 64; 6: barrier
  struct {
    int operation;
    CUdeviceptr address;
    unsigned long long value;
    unsigned int flags;
    CUdeviceptr alias;
  } word;
  unsigned long long pad[6];
} CUstreamBatchMemOpParams;

} // extern "C"

/// What other programs call, by the names that the library exports.
#define JOULE_CUDA_FUNCTIONS(X)                                                                              \
  /* devices */                                                                                              \
  X(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                                       \
  X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                                    \
  X(cuDeviceTotalMem, (size_t * bytes, CUdevice device))                                                     \
  X(cuDeviceGetByPCIBusId, (CUdevice * device, const char *text))                                            \
  X(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))                                       \
  X(cuDeviceGetP2PAttribute, (int *value, int attribute, CUdevice from, CUdevice to))                        \
  X(cuDeviceGetExecAffinitySupport, (int *value, int type, CUdevice device))                                 \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device))                                       \
  X(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device))                                              \
  X(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool))                                                \
  X(cuDeviceGraphMemTrim, (CUdevice device))                                                                 \
  X(cuDeviceGetGraphMemAttribute, (CUdevice device, int attribute, void *value))                             \
  X(cuDeviceSetGraphMemAttribute, (CUdevice device, int attribute, void *value))                             \
  X(cuDevicePrimaryCtxRelease, (CUdevice device))                                                            \
  X(cuDevicePrimaryCtxReset, (CUdevice device))                                                              \
  X(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags))                                       \
  X(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags))                                    \
  /* contexts */                                                                                             \
  X(cuCtxCreate, (CUcontext * context, unsigned int flags, CUdevice device))                                 \
  X(cuCtxCreate_v3,                                                                                          \
    (CUcontext * context, void *affinity, int numAffinity, unsigned int flags, CUdevice device))             \
  X(cuCtxCreate_v4, (CUcontext * context, void *parameters, unsigned int flags, CUdevice device))            \
  X(cuCtxDestroy, (CUcontext context))                                                                       \
  X(cuCtxPushCurrent, (CUcontext context))                                                                   \
  X(cuCtxPopCurrent, (CUcontext * context))                                                                  \
  X(cuCtxGetFlags, (unsigned int *flags))                                                                    \
  X(cuCtxSetFlags, (unsigned int flags))                                                                     \
  X(cuCtxGetId, (CUcontext context, unsigned long long *id))                                                 \
  X(cuCtxGetDevice_v2, (CUdevice * device, CUcontext context))                                               \
  X(cuCtxSynchronize_v2, (CUcontext context))                                                                \
  X(cuCtxGetApiVersion, (CUcontext context, unsigned int *version))                                          \
  X(cuCtxSetLimit, (int limit, size_t value))                                                                \
  X(cuCtxGetLimit, (size_t * value, int limit))                                                              \
  X(cuCtxGetCacheConfig, (int *config))                                                                      \
  X(cuCtxSetCacheConfig, (int config))                                                                       \
  X(cuCtxGetSharedMemConfig, (int *config))                                                                  \
  X(cuCtxSetSharedMemConfig, (int config))                                                                   \
  X(cuCtxGetStreamPriorityRange, (int *least, int *greatest))                                                \
  X(cuCtxResetPersistingL2Cache, (void))                                                                     \
  X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned int flags))                                             \
  X(cuCtxDisablePeerAccess, (CUcontext peer))                                                                \
  X(cuCtxRecordEvent, (CUcontext context, CUevent event))                                                    \
  X(cuCtxWaitEvent, (CUcontext context, CUevent event))                                                      \
  /* modules, libraries, kernels, linking */                                                                 \
  X(cuModuleLoad, (CUmodule * module, const char *file))                                                     \
  X(cuModuleLoadFatBinary, (CUmodule * module, const void *image))                                           \
  X(cuModuleGetLoadingMode, (int *mode))                                                                     \
  X(cuModuleGetFunctionCount, (unsigned int *count, CUmodule module))                                        \
  X(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned int count, CUmodule module))               \
  X(cuFuncGetModule, (CUmodule * module, CUfunction function))                                               \
  X(cuFuncGetName, (const char **name, CUfunction function))                                                 \
  X(cuFuncSetSharedMemConfig, (CUfunction function, int config))                                             \
  X(cuFuncLoad, (CUfunction function))                                                                       \
  X(cuFuncIsLoaded, (int *state, CUfunction function))                                                       \
  X(cuLibraryLoadData,                                                                                       \
    (CUlibrary * library, const void *image, CUjit_option *options, void **values, unsigned int numOptions,  \
     int *libraryOptions, void **libraryValues, unsigned int numLibraryOptions))                             \
  X(cuLibraryLoadFromFile,                                                                                   \
    (CUlibrary * library, const char *file, CUjit_option *options, void **values, unsigned int numOptions,   \
     int *libraryOptions, void **libraryValues, unsigned int numLibraryOptions))                             \
  X(cuLibraryUnload, (CUlibrary library))                                                                    \
  X(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name))                            \
  X(cuLibraryGetKernelCount, (unsigned int *count, CUlibrary library))                                       \
  X(cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned int count, CUlibrary library))                  \
  X(cuLibraryGetUnifiedFunction, (void **function, CUlibrary library, const char *name))                     \
  X(cuLibraryGetModule, (CUmodule * module, CUlibrary library))                                              \
  X(cuLibraryGetGlobal, (CUdeviceptr * address, size_t * bytes, CUlibrary library, const char *name))        \
  X(cuLibraryGetManaged, (CUdeviceptr * address, size_t * bytes, CUlibrary library, const char *name))       \
  X(cuKernelGetFunction, (CUfunction * function, CUkernel kernel))                                           \
  X(cuKernelGetLibrary, (CUlibrary * library, CUkernel kernel))                                              \
  X(cuKernelGetName, (const char **name, CUkernel kernel))                                                   \
  X(cuKernelGetParamInfo, (CUkernel kernel, size_t parameter, size_t * offset, size_t * size))               \
  X(cuKernelGetAttribute, (int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device))    \
  X(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device))     \
  X(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice device))                         \
  X(cuLinkCreate, (unsigned int numOptions, CUjit_option *options, void **values, CUlinkState *state))       \
  X(cuLinkCreate_v2, (unsigned int numOptions, CUjit_option *options, void **values, CUlinkState *state))    \
  X(cuLinkAddData, (CUlinkState state, int type, void *data, size_t size, const char *name,                  \
                    unsigned int numOptions, CUjit_option *options, void **values))                          \
  X(cuLinkAddData_v2, (CUlinkState state, int type, void *data, size_t size, const char *name,               \
                       unsigned int numOptions, CUjit_option *options, void **values))                       \
  X(cuLinkAddFile, (CUlinkState state, int type, const char *file, unsigned int numOptions,                  \
                    CUjit_option *options, void **values))                                                   \
  X(cuLinkAddFile_v2, (CUlinkState state, int type, const char *file, unsigned int numOptions,               \
                       CUjit_option *options, void **values))                                                \
  X(cuLinkComplete, (CUlinkState state, void **image, size_t *size))                                         \
  X(cuLinkDestroy, (CUlinkState state))                                                                      \
  /* memory */                                                                                               \
  X(cuMemAllocPitch_v2,                                                                                      \
    (CUdeviceptr * address, size_t * pitch, size_t width, size_t height, unsigned int elementBytes))         \
  X(cuMemHostGetFlags, (unsigned int *flags, void *host))                                                    \
  X(cuPointerGetAttribute, (void *data, int attribute, CUdeviceptr address))                                 \
  X(cuPointerGetAttributes, (unsigned int count, int *attributes, void **data, CUdeviceptr address))         \
  X(cuPointerSetAttribute, (const void *value, int attribute, CUdeviceptr address))                          \
  X(cuMemAdvise, (CUdeviceptr address, size_t bytes, int advice, CUdevice device))                           \
  X(cuMemAdvise_v2, (CUdeviceptr address, size_t bytes, int advice, CUmemLocation location))                 \
  X(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream))               \
  X(cuMemPrefetchAsync_v2,                                                                                   \
    (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags, CUstream stream))        \
  X(cuMemPrefetchBatchAsync,                                                                                 \
    (CUdeviceptr * addresses, size_t *bytes, size_t count, CUmemLocation *locations, size_t *firstOf,        \
     size_t numLocations, unsigned long long flags, CUstream stream))                                        \
  X(cuMemcpyBatchAsync,                                                                                      \
    (CUdeviceptr * to, CUdeviceptr * from, size_t *bytes, size_t count, CUmemcpyAttributes *attributes,      \
     size_t *firstOf, size_t numAttributes, size_t *failed, CUstream stream))                                \
  X(cuMemcpyBatchAsync_v2,                                                                                   \
    (CUdeviceptr * to, CUdeviceptr * from, size_t *bytes, size_t count, CUmemcpyAttributes *attributes,      \
     size_t *firstOf, size_t numAttributes, CUstream stream))                                                \
  X(cuMemcpyPeer,                                                                                            \
    (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext, size_t bytes))            \
  X(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,        \
                        size_t bytes, CUstream stream))                                                      \
  X(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy))                                                              \
  X(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy))                                                     \
  X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))                                        \
  X(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy))                                                              \
  X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream))                                        \
  X(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *copy))                                                        \
  X(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream))                                  \
  X(cuMemsetD2D8_v2, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height))       \
  X(cuMemsetD2D16_v2, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height))     \
  X(cuMemsetD2D32_v2, (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height))       \
  X(cuMemsetD2D8Async,                                                                                       \
    (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream))       \
  X(cuMemsetD2D16Async,                                                                                      \
    (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream))      \
  X(cuMemsetD2D32Async,                                                                                      \
    (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream))        \
  X(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps *properties))                                \
  X(cuMemGetDefaultMemPool, (CUmemoryPool * pool, CUmemLocation * location, int type))                       \
  X(cuMemGetMemPool, (CUmemoryPool * pool, CUmemLocation * location, int type))                              \
  X(cuMemSetMemPool, (CUmemLocation * location, int type, CUmemoryPool pool))                                \
  X(cuMemPoolDestroy, (CUmemoryPool pool))                                                                   \
  X(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes))                                                      \
  X(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value))                                  \
  X(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void *value))                                  \
  X(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count))                    \
  X(cuMemPoolGetAccess, (int *flags, CUmemoryPool pool, CUmemLocation *location))                            \
  X(cuMemAllocFromPoolAsync, (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream))      \
  X(cuMemAddressReserve,                                                                                     \
    (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags))   \
  X(cuMemAddressFree, (CUdeviceptr address, size_t bytes))                                                   \
  X(cuMemCreate, (CUmemGenericAllocationHandle * handle, size_t bytes,                                       \
                  const CUmemAllocationProp *properties, unsigned long long flags))                          \
  X(cuMemRelease, (CUmemGenericAllocationHandle handle))                                                     \
  X(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,        \
               unsigned long long flags))                                                                    \
  X(cuMemUnmap, (CUdeviceptr address, size_t bytes))                                                         \
  X(cuMemSetAccess, (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count))        \
  X(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address))         \
  X(cuMemGetAllocationGranularity, (size_t * bytes, const CUmemAllocationProp *properties, int option))      \
  X(cuMemGetAllocationPropertiesFromHandle,                                                                  \
    (CUmemAllocationProp * properties, CUmemGenericAllocationHandle handle))                                 \
  X(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle, void *address))                     \
  X(cuMemExportToShareableHandle,                                                                            \
    (void *shared, CUmemGenericAllocationHandle handle, int type, unsigned long long flags))                 \
  X(cuMemImportFromShareableHandle, (CUmemGenericAllocationHandle * handle, void *shared, int type))         \
  /* arrays, textures and surfaces */                                                                         \
  X(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *descriptor))                             \
  X(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * descriptor, CUarray array))                             \
  X(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor))                         \
  X(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * descriptor, CUarray array))                         \
  X(cuArrayDestroy, (CUarray array))                                                                          \
  X(cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS * needs, CUarray array, CUdevice device))   \
  X(cuMipmappedArrayCreate,                                                                                   \
    (CUmipmappedArray * array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int numLevels))            \
  X(cuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray mipmapped, unsigned int level))              \
  X(cuMipmappedArrayGetMemoryRequirements,                                                                    \
    (CUDA_ARRAY_MEMORY_REQUIREMENTS * needs, CUmipmappedArray array, CUdevice device))                        \
  X(cuMipmappedArrayDestroy, (CUmipmappedArray array))                                                        \
  X(cuMemcpyHtoA_v2, (CUarray to, size_t toOffset, const void *from, size_t bytes))                           \
  X(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t fromOffset, size_t bytes))                               \
  X(cuMemcpyHtoAAsync_v2, (CUarray to, size_t toOffset, const void *from, size_t bytes, CUstream stream))     \
  X(cuMemcpyAtoHAsync_v2, (void *to, CUarray from, size_t fromOffset, size_t bytes, CUstream stream))         \
  X(cuMemcpyDtoA_v2, (CUarray to, size_t toOffset, CUdeviceptr from, size_t bytes))                           \
  X(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t fromOffset, size_t bytes))                         \
  X(cuMemcpyAtoA_v2, (CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes))            \
  X(cuTexObjectCreate, (CUtexObject * object, const CUDA_RESOURCE_DESC *resource,                             \
                        const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view))               \
  X(cuTexObjectDestroy, (CUtexObject object))                                                                 \
  X(cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * resource, CUtexObject object))                          \
  X(cuTexObjectGetTextureDesc, (CUDA_TEXTURE_DESC * texture, CUtexObject object))                             \
  X(cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC * view, CUtexObject object))                     \
  X(cuSurfObjectCreate, (CUsurfObject * object, const CUDA_RESOURCE_DESC *resource))                          \
  X(cuSurfObjectDestroy, (CUsurfObject object))                                                               \
  X(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * resource, CUsurfObject object))                        \
  X(cuModuleGetTexRef, (CUtexref * reference, CUmodule module, const char *name))                             \
  X(cuModuleGetSurfRef, (CUsurfref * reference, CUmodule module, const char *name))                           \
  X(cuTexRefCreate, (CUtexref * reference))                                                                   \
  X(cuTexRefDestroy, (CUtexref reference))                                                                    \
  X(cuTexRefSetArray, (CUtexref reference, CUarray array, unsigned int flags))                                \
  X(cuTexRefSetMipmappedArray, (CUtexref reference, CUmipmappedArray array, unsigned int flags))              \
  X(cuTexRefSetAddress_v2, (size_t * offset, CUtexref reference, CUdeviceptr address, size_t bytes))          \
  X(cuTexRefSetAddress2D_v3, (CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *descriptor,                    \
                              CUdeviceptr address, size_t pitch))                                             \
  X(cuTexRefSetFormat, (CUtexref reference, int format, int numChannels))                                     \
  X(cuTexRefSetAddressMode, (CUtexref reference, int axis, int mode))                                         \
  X(cuTexRefSetFilterMode, (CUtexref reference, int mode))                                                    \
  X(cuTexRefSetMipmapFilterMode, (CUtexref reference, int mode))                                              \
  X(cuTexRefSetMipmapLevelBias, (CUtexref reference, float bias))                                             \
  X(cuTexRefSetMipmapLevelClamp, (CUtexref reference, float least, float most))                               \
  X(cuTexRefSetMaxAnisotropy, (CUtexref reference, unsigned int most))                                        \
  X(cuTexRefSetBorderColor, (CUtexref reference, float *color))                                               \
  X(cuTexRefSetFlags, (CUtexref reference, unsigned int flags))                                               \
  X(cuTexRefGetAddress_v2, (CUdeviceptr * address, CUtexref reference))                                       \
  X(cuTexRefGetArray, (CUarray * array, CUtexref reference))                                                  \
  X(cuTexRefGetMipmappedArray, (CUmipmappedArray * array, CUtexref reference))                                \
  X(cuTexRefGetAddressMode, (int *mode, CUtexref reference, int axis))                                        \
  X(cuTexRefGetFilterMode, (int *mode, CUtexref reference))                                                   \
  X(cuTexRefGetFormat, (int *format, int *numChannels, CUtexref reference))                                   \
  X(cuTexRefGetMipmapFilterMode, (int *mode, CUtexref reference))                                             \
  X(cuTexRefGetMipmapLevelBias, (float *bias, CUtexref reference))                                            \
  X(cuTexRefGetMipmapLevelClamp, (float *least, float *most, CUtexref reference))                             \
  X(cuTexRefGetMaxAnisotropy, (int *most, CUtexref reference))                                                \
  X(cuTexRefGetBorderColor, (float *color, CUtexref reference))                                               \
  X(cuTexRefGetFlags, (unsigned int *flags, CUtexref reference))                                              \
  X(cuSurfRefSetArray, (CUsurfref reference, CUarray array, unsigned int flags))                              \
  X(cuSurfRefGetArray, (CUarray * array, CUsurfref reference))                                                \
  X(cuDeviceGetTexture1DLinearMaxWidth,                                                                       \
    (size_t * width, int format, unsigned int numChannels, CUdevice device))                                  \
  /* streams and events */                                                                                   \
  X(cuStreamGetPriority, (CUstream stream, int *priority))                                                   \
  X(cuStreamGetFlags, (CUstream stream, unsigned int *flags))                                                \
  X(cuStreamGetId, (CUstream stream, unsigned long long *id))                                                \
  X(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                                  \
  X(cuStreamGetCtx_v2, (CUstream stream, CUcontext * context, CUgreenCtx * part))                            \
  X(cuStreamGetDevice, (CUstream stream, CUdevice * device))                                                 \
  X(cuStreamDestroy, (CUstream stream))                                                                      \
  X(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags))       \
  X(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data))                                      \
  X(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags))        \
  X(cuStreamWaitValue32, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))         \
  X(cuStreamWaitValue64, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))         \
  X(cuStreamWriteValue32, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))        \
  X(cuStreamWriteValue64, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))        \
  X(cuStreamBatchMemOp, (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,          \
                         unsigned int flags))                                                                \
  X(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))      \
  X(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))      \
  X(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags))     \
  X(cuStreamWriteValue64_v2, (CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags))     \
  X(cuStreamBatchMemOp_v2,                                                                                   \
    (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations, unsigned int flags))         \
  X(cuStreamBeginCapture, (CUstream stream))                                                                 \
  X(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                                    \
  X(cuStreamBeginCaptureToGraph, (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,           \
                                  const CUgraphEdgeData *edges, size_t count, int mode))                     \
  X(cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                  \
  X(cuStreamIsCapturing, (CUstream stream, int *status))                                                     \
  X(cuStreamGetCaptureInfo, (CUstream stream, int *status, uint64_t *id))                                    \
  X(cuStreamGetCaptureInfo_v2, (CUstream stream, int *status, uint64_t *id, CUgraph *graph,                  \
                                const CUgraphNode **dependencies, size_t *count))                            \
  X(cuStreamGetCaptureInfo_v3,                                                                               \
    (CUstream stream, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,           \
     const CUgraphEdgeData **edges, size_t *count))                                                          \
  X(cuStreamUpdateCaptureDependencies,                                                                       \
    (CUstream stream, CUgraphNode * dependencies, size_t count, unsigned int flags))                         \
  X(cuStreamUpdateCaptureDependencies_v2, (CUstream stream, CUgraphNode * dependencies,                      \
                                           const CUgraphEdgeData *edges, size_t count, unsigned int flags))  \
  X(cuThreadExchangeStreamCaptureMode, (int *mode))                                                          \
  X(cuStreamCopyAttributes, (CUstream to, CUstream from))                                                    \
  X(cuStreamGetAttribute, (CUstream stream, int attribute, void *value))                                     \
  X(cuStreamSetAttribute, (CUstream stream, int attribute, const void *value))                               \
  X(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags))                            \
  X(cuEventElapsedTime_v2, (float *milliseconds, CUevent start, CUevent end))                                \
  X(cuEventDestroy, (CUevent event))                                                                         \
  /* graphs */                                                                                               \
  X(cuGraphCreate, (CUgraph * graph, unsigned int flags))                                                    \
  X(cuGraphDestroy, (CUgraph graph))                                                                         \
  X(cuGraphClone, (CUgraph * clone, CUgraph original))                                                       \
  X(cuGraphAddNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,       \
                     CUgraphNodeParams *parameters))                                                         \
  X(cuGraphAddNode_v2, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,                  \
                        const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *parameters))          \
  X(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams * parameters))                                \
  X(cuGraphAddKernelNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, \
                           const CUDA_KERNEL_NODE_PARAMS_v1 *parameters))                                    \
  X(cuGraphAddKernelNode_v2, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,            \
                              size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters))                      \
  X(cuGraphKernelNodeGetParams, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 * parameters))                 \
  X(cuGraphKernelNodeGetParams_v2, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS * parameters))                 \
  X(cuGraphKernelNodeSetParams, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters))            \
  X(cuGraphKernelNodeSetParams_v2, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters))            \
  X(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from))                                     \
  X(cuGraphKernelNodeGetAttribute, (CUgraphNode node, int attribute, CUlaunchAttributeValue *value))         \
  X(cuGraphKernelNodeSetAttribute, (CUgraphNode node, int attribute, const CUlaunchAttributeValue *value))   \
  X(cuGraphAddMemcpyNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, \
                           const CUDA_MEMCPY3D *copy, CUcontext context))                                    \
  X(cuGraphMemcpyNodeGetParams, (CUgraphNode node, CUDA_MEMCPY3D * copy))                                    \
  X(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *copy))                               \
  X(cuGraphAddMemsetNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, \
                           const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context))                    \
  X(cuGraphMemsetNodeGetParams, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS * parameters))                    \
  X(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters))               \
  X(cuGraphAddHostNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count,   \
                         const CUDA_HOST_NODE_PARAMS *parameters))                                           \
  X(cuGraphHostNodeGetParams, (CUgraphNode node, CUDA_HOST_NODE_PARAMS * parameters))                        \
  X(cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters))                   \
  X(cuGraphAddChildGraphNode,                                                                                \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUgraph child))       \
  X(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph * graph))                                      \
  X(cuGraphAddEmptyNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count)) \
  X(cuGraphAddEventRecordNode,                                                                               \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event))       \
  X(cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent * event))                                     \
  X(cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event))                                       \
  X(cuGraphAddEventWaitNode,                                                                                 \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUevent event))       \
  X(cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent * event))                                       \
  X(cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event))                                         \
  X(cuGraphAddMemAllocNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies,             \
                             size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *parameters))                          \
  X(cuGraphMemAllocNodeGetParams, (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS * parameters))               \
  X(cuGraphAddMemFreeNode,                                                                                   \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *dependencies, size_t count, CUdeviceptr address)) \
  X(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr * address))                                  \
  X(cuGraphNodeFindInClone, (CUgraphNode * node, CUgraphNode original, CUgraph clone))                       \
  X(cuGraphNodeGetType, (CUgraphNode node, int *type))                                                       \
  X(cuGraphGetNodes, (CUgraph graph, CUgraphNode * nodes, size_t * count))                                   \
  X(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode * nodes, size_t * count))                               \
  X(cuGraphGetEdges, (CUgraph graph, CUgraphNode * from, CUgraphNode * to, size_t * count))                  \
  X(cuGraphGetEdges_v2,                                                                                      \
    (CUgraph graph, CUgraphNode * from, CUgraphNode * to, CUgraphEdgeData * edges, size_t * count))          \
  X(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode * dependencies, size_t * count))              \
  X(cuGraphNodeGetDependencies_v2,                                                                           \
    (CUgraphNode node, CUgraphNode * dependencies, CUgraphEdgeData * edges, size_t * count))                 \
  X(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode * dependents, size_t * count))              \
  X(cuGraphNodeGetDependentNodes_v2,                                                                         \
    (CUgraphNode node, CUgraphNode * dependents, CUgraphEdgeData * edges, size_t * count))                   \
  X(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count))   \
  X(cuGraphAddDependencies_v2, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,               \
                                const CUgraphEdgeData *edges, size_t count))                                 \
  X(cuGraphRemoveDependencies,                                                                               \
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count))                           \
  X(cuGraphRemoveDependencies_v2, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,            \
                                   const CUgraphEdgeData *edges, size_t count))                              \
  X(cuGraphDestroyNode, (CUgraphNode node))                                                                  \
  X(cuGraphInstantiate,                                                                                      \
    (CUgraphExec * executable, CUgraph graph, CUgraphNode * errorNode, char *log, size_t logSize))           \
  X(cuGraphInstantiate_v2,                                                                                   \
    (CUgraphExec * executable, CUgraph graph, CUgraphNode * errorNode, char *log, size_t logSize))           \
  X(cuGraphInstantiateWithFlags, (CUgraphExec * executable, CUgraph graph, unsigned long long flags))        \
  X(cuGraphInstantiateWithParams,                                                                            \
    (CUgraphExec * executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS * parameters))                   \
  X(cuGraphExecGetFlags, (CUgraphExec executable, uint64_t * flags))                                         \
  X(cuGraphExecNodeSetParams, (CUgraphExec executable, CUgraphNode node, CUgraphNodeParams * parameters))    \
  X(cuGraphExecKernelNodeSetParams,                                                                          \
    (CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters))                \
  X(cuGraphExecKernelNodeSetParams_v2,                                                                       \
    (CUgraphExec executable, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters))                   \
  X(cuGraphExecMemcpyNodeSetParams,                                                                          \
    (CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D *copy, CUcontext context))                \
  X(cuGraphExecMemsetNodeSetParams, (CUgraphExec executable, CUgraphNode node,                               \
                                     const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context))          \
  X(cuGraphExecHostNodeSetParams,                                                                            \
    (CUgraphExec executable, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters))                     \
  X(cuGraphExecChildGraphNodeSetParams, (CUgraphExec executable, CUgraphNode node, CUgraph child))           \
  X(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec executable, CUgraphNode node, CUevent event))           \
  X(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec executable, CUgraphNode node, CUevent event))             \
  X(cuGraphNodeSetEnabled, (CUgraphExec executable, CUgraphNode node, unsigned int enabled))                 \
  X(cuGraphNodeGetEnabled, (CUgraphExec executable, CUgraphNode node, unsigned int *enabled))                \
  X(cuGraphUpload, (CUgraphExec executable, CUstream stream))                                                \
  X(cuGraphLaunch, (CUgraphExec executable, CUstream stream))                                                \
  X(cuGraphExecDestroy, (CUgraphExec executable))                                                            \
  X(cuGraphExecUpdate, (CUgraphExec executable, CUgraph graph, CUgraphNode * errorNode, int *result))        \
  X(cuGraphExecUpdate_v2, (CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo * result))     \
  X(cuGraphDebugDotPrint, (CUgraph graph, const char *file, unsigned int flags))                             \
  X(cuUserObjectCreate,                                                                                      \
    (CUuserObject * object, void *data, CUhostFn destroy, unsigned int references, unsigned int flags))      \
  X(cuUserObjectRetain, (CUuserObject object, unsigned int count))                                           \
  X(cuUserObjectRelease, (CUuserObject object, unsigned int count))                                          \
  X(cuGraphRetainUserObject, (CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags))   \
  X(cuGraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int count))                      \
  /* occupancy, profiler, entry points */                                                                    \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                                                    \
    (int *blocks, CUfunction function, int blockSize, size_t dynamicShared, unsigned int flags))             \
  X(cuOccupancyMaxPotentialBlockSize, (int *gridSize, int *blockSize, CUfunction function,                   \
                                       CUoccupancyB2DSize sharedOf, size_t dynamicShared, int limit))        \
  X(cuOccupancyMaxPotentialBlockSizeWithFlags,                                                               \
    (int *gridSize, int *blockSize, CUfunction function, CUoccupancyB2DSize sharedOf, size_t dynamicShared,  \
     int limit, unsigned int flags))                                                                         \
  X(cuOccupancyAvailableDynamicSMemPerBlock,                                                                 \
    (size_t * bytes, CUfunction function, int numBlocks, int blockSize))                                     \
  X(cuOccupancyMaxPotentialClusterSize, (int *size, CUfunction function, const CUlaunchConfig *config))      \
  X(cuOccupancyMaxActiveClusters, (int *clusters, CUfunction function, const CUlaunchConfig *config))        \
  X(cuProfilerStart, (void))                                                                                 \
  X(cuProfilerStop, (void))                                                                                  \
  X(cuGetExportTable, (const void **table, const CUuuid *id))                                                \
  X(cuGetProcAddress, (const char *symbol, void **function, int version, uint64_t flags))

/// Functions that have a second form, with this suffix, whose default stream is the calling thread's own.
#define JOULE_PER_THREAD_FUNCTIONS(X)                                                                        \
  X(cuMemcpy, _ptds)                                                                                         \
  X(cuMemcpyHtoD_v2, _ptds) X(cuMemcpyDtoH_v2, _ptds) X(cuMemcpyDtoD_v2, _ptds) X(cuMemcpyPeer, _ptds) X(    \
      cuMemcpy2D_v2, _ptds) X(cuMemcpy2DUnaligned_v2, _ptds) X(cuMemcpy3D_v2, _ptds)                         \
      X(cuMemcpy3DPeer, _ptds) X(cuMemsetD8_v2, _ptds) X(cuMemsetD16_v2, _ptds) X(cuMemsetD32_v2, _ptds) X(  \
          cuMemsetD2D8_v2, _ptds) X(cuMemsetD2D16_v2, _ptds) X(cuMemsetD2D32_v2, _ptds)                      \
          X(cuMemcpyAsync, _ptsz) X(cuMemcpyHtoDAsync_v2, _ptsz) X(cuMemcpyDtoHAsync_v2, _ptsz) X(           \
              cuMemcpyDtoDAsync_v2, _ptsz) X(cuMemcpyPeerAsync, _ptsz) X(cuMemcpy2DAsync_v2,                 \
                                                                         _ptsz) X(cuMemcpy3DAsync_v2, _ptsz) \
              X(cuMemcpy3DPeerAsync, _ptsz) X(cuMemsetD8Async, _ptsz) X(cuMemsetD16Async, _ptsz) X(          \
                  cuMemsetD32Async,                                                                          \
                  _ptsz) X(cuMemsetD2D8Async,                                                                \
                           _ptsz) X(cuMemsetD2D16Async, _ptsz)                                               \
                  X(cuMemsetD2D32Async, _ptsz) X(cuMemAllocAsync, _ptsz) X(cuMemFreeAsync, _ptsz) X(         \
                      cuMemAllocFromPoolAsync,                                                               \
                      _ptsz) X(cuMemPrefetchAsync,                                                           \
                               _ptsz) X(cuMemPrefetchAsync_v2, _ptsz)                                        \
                      X(cuMemcpyHtoA_v2, _ptds) X(cuMemcpyAtoH_v2, _ptds) X(cuMemcpyDtoA_v2, _ptds)             \
                      X(cuMemcpyAtoD_v2, _ptds) X(cuMemcpyAtoA_v2, _ptds) X(cuMemcpyHtoAAsync_v2, _ptsz)     \
                      X(cuMemcpyAtoHAsync_v2, _ptsz) X(cuStreamGetPriority, _ptsz) X(cuStreamGetFlags, _ptsz) X(cuStreamGetId, _ptsz)       \
                          X(cuStreamGetCtx, _ptsz) X(cuStreamGetDevice, _ptsz) X(cuStreamWaitEvent, _ptsz)   \
                              X(cuStreamAddCallback, _ptsz) X(cuStreamAttachMemAsync, _ptsz) X(              \
                                  cuStreamQuery,                                                             \
                                  _ptsz) X(cuStreamSynchronize,                                              \
                                           _ptsz) X(cuEventRecord, _ptsz)                                    \
                                  X(cuEventRecordWithFlags, _ptsz) X(cuLaunchKernel, _ptsz)                  \
                                      X(cuLaunchKernelEx, _ptsz) X(cuLaunchCooperativeKernel, _ptsz)         \
                                          X(cuLaunchHostFunc, _ptsz) X(cuStreamWaitValue32_v2, _ptsz) X(     \
                                              cuStreamWaitValue64_v2,                                        \
                                              _ptsz) X(cuStreamWriteValue32_v2,                              \
                                                       _ptsz) X(cuStreamWriteValue64_v2, _ptsz)              \
                                              X(cuStreamBatchMemOp_v2,                                       \
                                                _ptsz) X(cuStreamBeginCapture_v2, _ptsz)                     \
                                                  X(cuStreamEndCapture, _ptsz) X(cuStreamIsCapturing, _ptsz) \
                                                      X(cuStreamGetCaptureInfo_v2,                           \
                                                        _ptsz) X(cuStreamGetCaptureInfo_v3, _ptsz)           \
                                                          X(cuStreamUpdateCaptureDependencies,               \
                                                            _ptsz) X(cuStreamUpdateCaptureDependencies_v2,   \
                                                                     _ptsz) X(cuStreamCopyAttributes, _ptsz) \
                                                              X(cuStreamGetAttribute, _ptsz)                 \
                                                                  X(cuStreamSetAttribute, _ptsz)             \
                                                                      X(cuGraphInstantiateWithParams, _ptsz) \
                                                                          X(cuGraphUpload, _ptsz)            \
  X(cuGraphLaunch, _ptsz) X(cuStreamGetCtx_v2, _ptsz) X(cuStreamBeginCapture, _ptsz)                         \
  X(cuStreamGetCaptureInfo, _ptsz) X(cuStreamWaitValue32, _ptsz) X(cuStreamWaitValue64, _ptsz)               \
  X(cuStreamWriteValue32, _ptsz) X(cuStreamWriteValue64, _ptsz) X(cuStreamBatchMemOp, _ptsz)                 \
  X(cuMemcpyBatchAsync, _ptsz) X(cuMemcpyBatchAsync_v2, _ptsz)                                               \
  X(cuMemPrefetchBatchAsync, _ptsz)
