// Counts, log lines and joules of launches.
#include "lib/VirtualGpu/Driver/LaunchLog.h"

namespace joule::vgpu {

static std::atomic<bool> metered{false};

bool isMetered() { return metered; }
void startMetering() { metered = true; }

LaunchTimer::LaunchTimer(Device &device, const KernelWork &work) : device(device), work(work) {}
LaunchTimer::~LaunchTimer() = default;

void LaunchTimer::record(const Counters &counters) {
  (void)device;
  std::lock_guard lock(driver().mutex);
  driver().counters[work.function->name].add(counters);
}

} // namespace joule::vgpu
