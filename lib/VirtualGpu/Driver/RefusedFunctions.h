// Functions of the CUDA driver that the virtual one has by name alone: programs look all of them up when they
// begin, and few ever call them.
#pragma once

/// X(name, why): a call gives CUDA_ERROR_NOT_SUPPORTED, whatever its parameters.
#define JOULE_REFUSED_FUNCTIONS(X)                                                                           \
  JOULE_REFUSED_SHARING(X, "nothing is shared between processes but memory by file descriptor")              \
  JOULE_REFUSED_EXTERNAL(X, "there is no memory and no semaphore of other interfaces")                       \
  JOULE_REFUSED_GRAPHICS(X, "there is no graphics")                                                          \
  JOULE_REFUSED_PARTS(X, "a context has all multiprocessors")                                                \
  JOULE_REFUSED_PROCESSES(X, "there are no checkpoints, core dumps and logs")                                \
  JOULE_REFUSED_MULTICAST(X, "one address is one device's")                                                  \
  JOULE_REFUSED_SPARSE(X, "arrays have no planes and are not sparse")                                        \
  JOULE_REFUSED_NODES(X, "there are no such nodes")                                                          \
  JOULE_REFUSED_OLD_LAUNCHES(X, "launches of CUDA 3 and of several devices at once are gone")                \
  JOULE_REFUSED_REST(X, "the virtual device has nothing of the kind")

#define JOULE_REFUSED_SHARING(X, why)                                                                        \
  X(cuIpcGetEventHandle, why)                                                                                \
  X(cuIpcOpenEventHandle, why)                                                                               \
  X(cuIpcGetMemHandle, why)                                                                                  \
  X(cuIpcOpenMemHandle, why)                                                                                 \
  X(cuIpcOpenMemHandle_v2, why)                                                                              \
  X(cuIpcCloseMemHandle, why)                                                                                \
  X(cuMemPoolExportToShareableHandle, why)                                                                   \
  X(cuMemPoolImportFromShareableHandle, why)                                                                 \
  X(cuMemPoolExportPointer, why)                                                                             \
  X(cuMemPoolImportPointer, why)                                                                             \
  X(cuMemGetHandleForAddressRange, why)

#define JOULE_REFUSED_EXTERNAL(X, why)                                                                       \
  X(cuImportExternalMemory, why)                                                                             \
  X(cuExternalMemoryGetMappedBuffer, why)                                                                    \
  X(cuExternalMemoryGetMappedMipmappedArray, why)                                                            \
  X(cuDestroyExternalMemory, why)                                                                            \
  X(cuImportExternalSemaphore, why)                                                                          \
  X(cuSignalExternalSemaphoresAsync, why)                                                                    \
  X(cuWaitExternalSemaphoresAsync, why)                                                                      \
  X(cuDestroyExternalSemaphore, why)                                                                         \
  X(cuDeviceGetNvSciSyncAttributes, why)

#define JOULE_REFUSED_GRAPHICS(X, why)                                                                       \
  X(cuGraphicsUnregisterResource, why)                                                                       \
  X(cuGraphicsSubResourceGetMappedArray, why)                                                                \
  X(cuGraphicsResourceGetMappedMipmappedArray, why)                                                          \
  X(cuGraphicsResourceGetMappedPointer, why)                                                                 \
  X(cuGraphicsResourceGetMappedPointer_v2, why)                                                              \
  X(cuGraphicsResourceSetMapFlags, why)                                                                      \
  X(cuGraphicsResourceSetMapFlags_v2, why)                                                                   \
  X(cuGraphicsMapResources, why)                                                                             \
  X(cuGraphicsUnmapResources, why)                                                                           \
  X(cuDeviceGetLuid, why)

#define JOULE_REFUSED_PARTS(X, why)                                                                          \
  X(cuGreenCtxCreate, why)                                                                                   \
  X(cuGreenCtxDestroy, why)                                                                                  \
  X(cuGreenCtxGetDevResource, why)                                                                           \
  X(cuGreenCtxGetId, why)                                                                                    \
  X(cuGreenCtxRecordEvent, why)                                                                              \
  X(cuGreenCtxWaitEvent, why)                                                                                \
  X(cuGreenCtxStreamCreate, why)                                                                             \
  X(cuStreamGetGreenCtx, why)                                                                                \
  X(cuCtxFromGreenCtx, why)                                                                                  \
  X(cuCtxGetDevResource, why)                                                                                \
  X(cuDeviceGetDevResource, why)                                                                             \
  X(cuDevSmResourceSplitByCount, why)                                                                        \
  X(cuDevResourceGenerateDesc, why)                                                                          \
  X(cuCtxGetExecAffinity, why)

#define JOULE_REFUSED_PROCESSES(X, why)                                                                      \
  X(cuCheckpointProcessCheckpoint, why)                                                                      \
  X(cuCheckpointProcessGetRestoreThreadId, why)                                                              \
  X(cuCheckpointProcessGetState, why)                                                                        \
  X(cuCheckpointProcessLock, why)                                                                            \
  X(cuCheckpointProcessRestore, why)                                                                         \
  X(cuCheckpointProcessUnlock, why)                                                                          \
  X(cuCoredumpGetAttribute, why)                                                                             \
  X(cuCoredumpGetAttributeGlobal, why)                                                                       \
  X(cuCoredumpSetAttribute, why)                                                                             \
  X(cuCoredumpSetAttributeGlobal, why)                                                                       \
  X(cuLogsRegisterCallback, why)                                                                             \
  X(cuLogsUnregisterCallback, why)                                                                           \
  X(cuLogsCurrent, why)                                                                                      \
  X(cuLogsDumpToFile, why)                                                                                   \
  X(cuLogsDumpToMemory, why)                                                                                 \
  X(cuDeviceRegisterAsyncNotification, why)                                                                  \
  X(cuDeviceUnregisterAsyncNotification, why)

#define JOULE_REFUSED_MULTICAST(X, why)                                                                      \
  X(cuMulticastCreate, why)                                                                                  \
  X(cuMulticastAddDevice, why)                                                                               \
  X(cuMulticastBindMem, why)                                                                                 \
  X(cuMulticastBindAddr, why)                                                                                \
  X(cuMulticastUnbind, why)                                                                                  \
  X(cuMulticastGetGranularity, why)

#define JOULE_REFUSED_SPARSE(X, why)                                                                         \
  X(cuArrayGetPlane, why)                                                                                    \
  X(cuArrayGetSparseProperties, why)                                                                         \
  X(cuMipmappedArrayGetSparseProperties, why)                                                                \
  X(cuMemMapArrayAsync, why)

#define JOULE_REFUSED_NODES(X, why)                                                                          \
  X(cuGraphAddExternalSemaphoresSignalNode, why)                                                             \
  X(cuGraphExternalSemaphoresSignalNodeGetParams, why)                                                       \
  X(cuGraphExternalSemaphoresSignalNodeSetParams, why)                                                       \
  X(cuGraphExecExternalSemaphoresSignalNodeSetParams, why)                                                   \
  X(cuGraphAddExternalSemaphoresWaitNode, why)                                                               \
  X(cuGraphExternalSemaphoresWaitNodeGetParams, why)                                                         \
  X(cuGraphExternalSemaphoresWaitNodeSetParams, why)                                                         \
  X(cuGraphExecExternalSemaphoresWaitNodeSetParams, why)                                                     \
  X(cuGraphAddBatchMemOpNode, why)                                                                           \
  X(cuGraphBatchMemOpNodeGetParams, why)                                                                     \
  X(cuGraphBatchMemOpNodeSetParams, why)                                                                     \
  X(cuGraphExecBatchMemOpNodeSetParams, why)                                                                 \
  X(cuGraphConditionalHandleCreate, why)

#define JOULE_REFUSED_OLD_LAUNCHES(X, why)                                                                   \
  X(cuFuncSetBlockShape, why)                                                                                \
  X(cuFuncSetSharedSize, why)                                                                                \
  X(cuParamSetSize, why)                                                                                     \
  X(cuParamSeti, why)                                                                                        \
  X(cuParamSetf, why)                                                                                        \
  X(cuParamSetv, why)                                                                                        \
  X(cuParamSetTexRef, why)                                                                                   \
  X(cuLaunch, why)                                                                                           \
  X(cuLaunchGrid, why)                                                                                       \
  X(cuLaunchGridAsync, why)                                                                                  \
  X(cuLaunchCooperativeKernelMultiDevice, why)                                                               \
  X(cuCtxAttach, why)                                                                                        \
  X(cuCtxDetach, why)                                                                                        \
  X(cuDeviceGetProperties, why)

#define JOULE_REFUSED_REST(X, why)                                                                           \
  X(cuDeviceGetHostAtomicCapabilities, why)                                                                  \
  X(cuDeviceGetP2PAtomicCapabilities, why)                                                                   \
  X(cuFlushGPUDirectRDMAWrites, why)                                                                         \
  X(cuMemRangeGetAttribute, why)                                                                             \
  X(cuMemRangeGetAttributes, why)                                                                            \
  X(cuMemcpy3DBatchAsync, why)                                                                               \
  X(cuMemcpy3DBatchAsync_v2, why)                                                                            \
  X(cuMemDiscardBatchAsync, why)                                                                             \
  X(cuMemDiscardAndPrefetchBatchAsync, why)                                                                  \
  X(cuMemBatchDecompressAsync, why)                                                                          \
  X(cuTensorMapEncodeIm2colWide, why)
