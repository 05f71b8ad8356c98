// What the user may set. The environment is read here and nowhere else.
#pragma once

#include <string>

namespace joule::vgpu {

struct Settings {
  unsigned threads = 1;
  std::string device = "a100"; // or several with a plus between them
  bool count = false;
  bool exact = false; // matrix products bit for bit
  std::string countFile; // a line for every launch
  bool check = false;
  unsigned schedule = 0; // of the warps in check mode, as LaunchRequest has it
  std::string report; // check mode adds its findings to this file; empty: to standard error
  double timeLimitSeconds = 0;
  std::string jit = "1";      // "0": interpret always; "force": compile before the first launch
  int jitDump = 0;            // print the compiler's IR on stderr: 1 as emitted, 2 as optimised
  std::string cache;          // folder of compiled code; empty: none is kept
  std::string instructionSet; // "avx2" or "baseline" to use less than the machine has
};

/// From JOULE_VGPU_THREADS, JOULE_VGPU_DEVICE, JOULE_VGPU_EXACT, JOULE_VGPU_COUNT, JOULE_VGPU_TIME_LIMIT, JOULE_VGPU_JIT,
/// JOULE_VGPU_JIT_DUMP, JOULE_VGPU_CACHE and JOULE_VGPU_ISA.
Settings settingsFromEnvironment();

/// Takes "a100,exact": a device's name and, behind commas, what to turn on. False if there is no such option.
bool setDevice(Settings &settings, const std::string &text);

} // namespace joule::vgpu
