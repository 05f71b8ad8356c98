// libcuda.so.1 for programs that know only that name: every function jumps to the virtual driver's. Kept
// apart from the engine, because a library of this name stands in the way of the real driver in every process
// that opens it.
#include "lib/VirtualGpu/DriverApi.h"

extern "C" void *joule_vgpu_get_proc_address(const char *name);

#if defined(__x86_64__)
// One slot and one jump per function; the slots are filled before the program's own code runs.
#define JOULE_FORWARD(name, parameters)                                                                      \
  extern "C" __attribute__((visibility("hidden"))) void *jouleSlot_##name;                                   \
  void *jouleSlot_##name = nullptr;                                                                          \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp *jouleSlot_" #name             \
      "(%rip)\n.size " #name ", .-" #name "\n");
JOULE_DRIVER_FUNCTIONS(JOULE_FORWARD)
JOULE_TENSOR_MAP_FUNCTIONS(JOULE_FORWARD)

#define JOULE_FILL(name, parameters) jouleSlot_##name = joule_vgpu_get_proc_address(#name);
__attribute__((constructor)) static void fillSlots() {
  JOULE_DRIVER_FUNCTIONS(JOULE_FILL)
  JOULE_TENSOR_MAP_FUNCTIONS(JOULE_FILL)
}
#else
#error the forwarder is written for x86-64
#endif
