// Any text as PTX: parsing, loading and decoding it ends.
#include "lib/VirtualGpu/Module.h"

using namespace joule::vgpu;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryMap memory(/*capacity=*/1 << 28);
  try {
    LoadedModule module(std::string(reinterpret_cast<const char *>(data), size), memory);
    for (const auto &function : module.source().functions)
      if (function->entry)
        module.kernel(function->name);
  } catch (const std::exception &) {
  }
  return 0;
}
