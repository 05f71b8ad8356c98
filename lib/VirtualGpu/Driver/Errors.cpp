// The names and texts of results.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/State.h"

namespace joule::vgpu {
namespace {

struct ErrorText {
  CUresult code;
  const char *name, *text;
};

#define JOULE_TEXT(name, text)                                                                               \
  { name, #name, text }
const ErrorText errorTexts[] = {
    JOULE_TEXT(CUDA_SUCCESS, "no error"),
    JOULE_TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    JOULE_TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    JOULE_TEXT(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    JOULE_TEXT(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    JOULE_TEXT(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    JOULE_TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    JOULE_TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    JOULE_TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    JOULE_TEXT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    JOULE_TEXT(CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
               "exclusive-thread device already in use by a different thread"),
    JOULE_TEXT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices"),
    JOULE_TEXT(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    JOULE_TEXT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
               "the provided PTX was compiled with an unsupported toolchain"),
    JOULE_TEXT(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    JOULE_TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    JOULE_TEXT(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    JOULE_TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    JOULE_TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    JOULE_TEXT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    JOULE_TEXT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    JOULE_TEXT(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    JOULE_TEXT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled"),
    JOULE_TEXT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled"),
    JOULE_TEXT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process"),
    JOULE_TEXT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    JOULE_TEXT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    JOULE_TEXT(CUDA_ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted"),
    JOULE_TEXT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
               "part or all of the requested memory range is already mapped"),
    JOULE_TEXT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
               "pointer does not correspond to a registered memory region"),
    JOULE_TEXT(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error"),
    JOULE_TEXT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    JOULE_TEXT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    JOULE_TEXT(CUDA_ERROR_INVALID_ADDRESS_SPACE, "operation not supported on global/shared address space"),
    JOULE_TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    JOULE_TEXT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
    JOULE_TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
               "operation failed due to a previous error during capture"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_MERGE,
               "operation would result in a merge of separate capture sequences"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
               "dependency created on uncaptured work in another stream"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
               "operation would make the legacy stream depend on a capturing blocking stream"),
    JOULE_TEXT(CUDA_ERROR_CAPTURED_EVENT,
               "operation not permitted on an event last recorded in a capturing stream"),
    JOULE_TEXT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
               "attempt to terminate a thread-local capture sequence from another thread"),
    JOULE_TEXT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
               "the graph update was not performed because it included changes which violated constraints "
               "specific to instantiated graph update"),
    JOULE_TEXT(CUDA_ERROR_UNKNOWN, "unknown error"),
};

const ErrorText *findError(CUresult code) {
  for (const ErrorText &entry : errorTexts)
    if (entry.code == code)
      return &entry;
  return nullptr;
}

} // namespace

CUresult cuGetErrorName(CUresult error, const char **text) {
  want(text, "null pointer");
  const ErrorText *entry = findError(error);
  *text = entry ? entry->name : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  want(text, "null pointer");
  const ErrorText *entry = findError(error);
  *text = entry ? entry->text : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace joule::vgpu
