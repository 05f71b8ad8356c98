// The published rules of NVIDIA's matrix units, by architecture.
#include "lib/VirtualGpu/MatrixRule.h"

namespace joule::vgpu {
namespace {

bool isByte(MatrixElement e) { return e == MatrixElement::E4M3 || e == MatrixElement::E5M2; }

int16_t smallestExponentOf(MatrixElement e) {
  switch (e) {
  case MatrixElement::E4M3:
    return -6;
  case MatrixElement::F16:
  case MatrixElement::E5M2:
    return -14;
  default:
    return -126;
  }
}

/// Ampere and Ada sum half as many products at once as Hopper, Turing as many as Ampere, Volta four.
int16_t stepOf(int architecture, MatrixElement e) {
  int full = isByte(e) ? 32 : e == MatrixElement::TF32 ? 8 : 16;
  if (architecture < 75)
    return 4;
  return int16_t(architecture < 90 ? full / 2 : full);
}

} // namespace

MatrixRule matrixRule(int architecture, MatrixElement element, bool halfResult, MatrixUnit unit) {
  MatrixRule rule;
  bool hopper = architecture >= 90 && architecture < 100;
  if (isByte(element) && hopper && unit == MatrixUnit::Warp)
    element = MatrixElement::F16;
  bool narrow = isByte(element) && architecture < 100; // Ada's units and Hopper's for warpgroups
  rule.fraction = narrow ? 13 : architecture < 75 ? 23 : architecture < 90 ? 24 : 25;
  rule.step = stepOf(architecture, element);
  rule.resultFraction = halfResult ? 10 : narrow ? 13 : 23;
  rule.smallestExponent = smallestExponentOf(element);
  return rule;
}

} // namespace joule::vgpu
