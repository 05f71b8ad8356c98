// The CUDA driver as one table of functions, filled at run time from the real driver or from the virtual GPU.
#pragma once

#include "joule/Error.h"
#include "lib/VirtualGpu/DriverApi.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <memory>
#include <string>

namespace joule {

/// Every function of JOULE_DRIVER_FUNCTIONS under the driver's own name. Tests fill a table of their own.
struct Driver {
#define JOULE_DECLARE(name, parameters) CUresult(*name) parameters = nullptr;
  JOULE_DRIVER_FUNCTIONS(JOULE_DECLARE)
#undef JOULE_DECLARE

  /// Whether this is Joule's virtual GPU: nothing it reports is measured.
  bool isVirtual = false;

  /// The virtual GPU's own functions, by the names of VirtualGpuApi.h; null on every other driver.
  JouleVgpuGetProcAddress virtualFunction = nullptr;

  /// Only of a virtual GPU in check mode: what it found so far, and to whom its next launches belong.
  JouleVgpuCountFindings countFindings = nullptr;
  JouleVgpuFinding finding = nullptr;
  JouleVgpuNameNodes nameNodes = nullptr;
  /// An error that tells what check mode has found beyond the first `known` findings; none without check mode.
  Result<void> findingsBeyond(size_t known) const;

  /// Opens libcuda.so.1.
  static Result<std::shared_ptr<const Driver>> openCuda();

  /// Opens libjoule-vgpu.so beside this library or program, or where the dynamic linker finds it. It becomes
  /// the GPU `which`, such as "a100", for the rest of the process; empty: its own choice.
  static Result<std::shared_ptr<const Driver>> openVirtual(const std::string &which);

  /// Turns a failed call into an Error; `what` completes "cannot …".
  Error failure(CUresult code, const std::string &what) const;
};

} // namespace joule
