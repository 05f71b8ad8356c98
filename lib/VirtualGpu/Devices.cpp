// Public facts of four devices.
#include "lib/VirtualGpu/Devices.h"

namespace joule::vgpu {
namespace {

constexpr uint64_t gib = 1ull << 30;
constexpr int kib = 1024, mib = 1 << 20;

const DeviceFacts devices[] = {
    {"a100", "Joule virtual A100", 8, 0, 108, 1410000, 1215000, 5120, 40 * gib, 40 * mib, 164 * kib,
     163 * kib, 2048, 32},
    {"h100", "Joule virtual H100", 9, 0, 132, 1980000, 2619000, 5120, 80 * gib, 50 * mib, 228 * kib,
     227 * kib, 2048, 32},
    {"t4", "Joule virtual T4", 7, 5, 40, 1590000, 5001000, 256, 16 * gib, 4 * mib, 64 * kib, 64 * kib, 1024,
     16},
    {"l4", "Joule virtual L4", 8, 9, 58, 2040000, 6251000, 192, 24 * gib, 48 * mib, 100 * kib, 99 * kib, 1536,
     24},
};

} // namespace

const DeviceFacts *findDevice(const std::string &key) {
  for (const DeviceFacts &device : devices)
    if (key == device.key)
      return &device;
  return nullptr;
}

} // namespace joule::vgpu
