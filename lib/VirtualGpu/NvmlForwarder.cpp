// libnvidia-ml.so.1 for programs that measure joules: every function jumps to the virtual devices' sensors.
#include "lib/VirtualGpu/NvmlApi.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

extern "C" void *joule_vgpu_get_proc_address(const char *name);

#if defined(__x86_64__)
#define JOULE_FORWARD(name)                                                                                  \
  extern "C" __attribute__((visibility("hidden"))) void *jouleSlot_##name;                                   \
  void *jouleSlot_##name = nullptr;                                                                          \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp *jouleSlot_" #name             \
      "(%rip)\n.size " #name ", .-" #name "\n");
#define JOULE_FORWARD_FUNCTION(name, parameters) JOULE_FORWARD(name)
JOULE_NVML_FUNCTIONS(JOULE_FORWARD_FUNCTION)
JOULE_FORWARD(nvmlErrorString)

#define JOULE_FILL(name) jouleSlot_##name = joule_vgpu_get_proc_address(#name);
#define JOULE_FILL_FUNCTION(name, parameters) JOULE_FILL(name)
__attribute__((constructor)) static void fillSlots() {
  JOULE_NVML_FUNCTIONS(JOULE_FILL_FUNCTION)
  JOULE_FILL(nvmlErrorString)
}
#else
#error the forwarder is written for x86-64
#endif

/// Says that nothing of this library is measured.
extern "C" __attribute__((visibility("default"))) const char *joule_vgpu_identity() {
  return reinterpret_cast<JouleVgpuIdentity>(joule_vgpu_get_proc_address("jouleVgpuIdentity"))();
}
