// Threads that wait for launches. Starting threads anew costs more than most small kernels.
#pragma once

#include <functional>

namespace joule::vgpu {

/// Calls body(0) here and body(1) .. body(count - 1) on the pool's threads, as far as these wake up before
/// body(0) has returned: the bodies share one supply of work, so that whoever comes late has nothing left to
/// do. Returns when all that began have returned. Several threads may call it at once; they take turns at the
/// pool.
void runOnPool(unsigned count, const std::function<void(unsigned)> &body);

} // namespace joule::vgpu
