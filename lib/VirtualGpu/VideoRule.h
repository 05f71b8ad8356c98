// What one video instruction does.
#pragma once

#include <cstdint>

namespace joule::vgpu {

enum class VideoOperation : uint8_t {
  Add,
  Sub,
  AbsDiff,
  Min,
  Max,
  Average,
  ShiftLeft,
  ShiftRight,
  Set,
  MultiplyAdd
};
enum class VideoCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
/// What happens to the result and the third operand.
enum class VideoSecond : uint8_t { None, Add, Min, Max, Merge };

struct VideoPart {
  uint8_t shift = 0, width = 32; // bits
};

struct VideoRule {
  VideoOperation operation = VideoOperation::Add;
  VideoCompare compare = VideoCompare::Eq;
  VideoSecond second = VideoSecond::None;
  bool packed = false; // several results, of result.width bits each
  bool aSigned = false, bSigned = false, resultSigned = false, saturates = false, wraps = false;
  bool negatesProduct = false, negatesC = false, plusOne = false; // vmad
  uint8_t shift = 0;
  VideoPart a[4], b[4], result;
  uint8_t mask = 0xf; // which results of a packed instruction are computed
};

} // namespace joule::vgpu
