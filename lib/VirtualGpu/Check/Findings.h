// What check mode found wrong with a kernel.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace joule::vgpu {

enum class FindingKind : uint8_t {
  OutOfBounds,
  Misaligned,
  UseAfterFree,
  UninitialisedRead,
  Race,
  AsyncCopy,         // bytes of an asynchronous copy are touched before the wait that covers it
  BarrierDivergence, // a barrier that a whole warp must reach is reached by a part
  BarrierMismatch,   // threads wait at one barrier with different counts
  MemberMask,        // a lane is not in its own mask, or lanes that meet name different masks
  Deadlock,
  AsyncBarrier,
  ProxyFence,
  Fault // a trap, an assertion, an unknown instruction
};
const char *nameOf(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string kernel;
  uint32_t line = 0; // of PTX
  uint32_t block[3] = {}, thread[3] = {};
  uint64_t address = 0;
  std::string message;
  std::string nodes; // ONNX nodes, where the launch knows them
  uint64_t count = 1;
};

/// One finding for each kernel, line and kind; the first is kept, the others are counted.
class Findings {
public:
  /// True if it is the first of its kind and place.
  bool add(Finding finding);
  std::vector<Finding> list() const;

private:
  mutable std::mutex mutex;
  std::vector<Finding> found;
};

/// "race: kernel 'k', line 12: … (3 times)".
std::string describe(const Finding &finding);
/// One line of JSON, without the end of line.
std::string toJson(const Finding &finding);
/// Adds lines to a file that several processes may write to; false if that fails.
bool appendToReport(const std::string &path, const std::vector<Finding> &findings);

} // namespace joule::vgpu
