// The table of host kernels.
#include "lib/Runtime/HostKernels.h"

namespace joule {

const HostKernels &standardHostKernels() {
  static const HostKernels kernels;
  return kernels;
}

} // namespace joule
