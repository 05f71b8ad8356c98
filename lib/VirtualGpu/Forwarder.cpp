// libcuda.so.1 for programs that know only that name: every function jumps to the virtual driver's. Kept
// apart from the engine, because a library of this name stands in the way of the real driver in every process
// that opens it.
#include "lib/VirtualGpu/Driver/CudaApi.h"
#include "lib/VirtualGpu/Driver/RefusedFunctions.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

extern "C" void *joule_vgpu_get_proc_address(const char *name);

#if defined(__x86_64__)
// One slot and one jump per function; the slots are filled before the program's own code runs.
#define JOULE_FORWARD(name)                                                                                  \
  extern "C" __attribute__((visibility("hidden"))) void *jouleSlot_##name;                                   \
  void *jouleSlot_##name = nullptr;                                                                          \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp *jouleSlot_" #name             \
      "(%rip)\n.size " #name ", .-" #name "\n");
#define JOULE_FORWARD_FUNCTION(name, parameters) JOULE_FORWARD(name)
#define JOULE_FORWARD_PER_THREAD(name, suffix) JOULE_FORWARD(name##suffix)
JOULE_DRIVER_FUNCTIONS(JOULE_FORWARD_FUNCTION)
JOULE_CUDA_FUNCTIONS(JOULE_FORWARD_FUNCTION)
JOULE_TENSOR_MAP_FUNCTIONS(JOULE_FORWARD_FUNCTION)
JOULE_PER_THREAD_FUNCTIONS(JOULE_FORWARD_PER_THREAD)
JOULE_REFUSED_FUNCTIONS(JOULE_FORWARD_FUNCTION)

#define JOULE_FILL(name) jouleSlot_##name = joule_vgpu_get_proc_address(#name);
#define JOULE_FILL_FUNCTION(name, parameters) JOULE_FILL(name)
#define JOULE_FILL_PER_THREAD(name, suffix) JOULE_FILL(name##suffix)
__attribute__((constructor)) static void fillSlots() {
  JOULE_DRIVER_FUNCTIONS(JOULE_FILL_FUNCTION)
  JOULE_CUDA_FUNCTIONS(JOULE_FILL_FUNCTION)
  JOULE_TENSOR_MAP_FUNCTIONS(JOULE_FILL_FUNCTION)
  JOULE_PER_THREAD_FUNCTIONS(JOULE_FILL_PER_THREAD)
  JOULE_REFUSED_FUNCTIONS(JOULE_FILL_FUNCTION)
  // Other people's programs expect a GPU that works beside them.
  reinterpret_cast<JouleVgpuRunAsynchronously>(joule_vgpu_get_proc_address("jouleVgpuRunAsynchronously"))(1);
}
#else
#error the forwarder is written for x86-64
#endif
