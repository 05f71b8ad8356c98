// Sums of counts.
#include "lib/Energy/Work.h"

namespace joule {

const char *nameOf(Engine engine) {
  static const char *const names[engineCount] = {"core", "tf32", "fp16", "fp8", "int8"};
  return names[static_cast<int>(engine)];
}

Engine engineOf(ElementType matrixType) {
  switch (matrixType) {
  case ElementType::Float32:
    return Engine::MatrixTf32;
  case ElementType::Float16:
  case ElementType::BFloat16:
    return Engine::MatrixFp16;
  case ElementType::Float8E4M3FN:
  case ElementType::Float8E4M3FNUZ:
  case ElementType::Float8E5M2:
  case ElementType::Float8E5M2FNUZ:
    return Engine::MatrixFp8;
  case ElementType::Int8:
  case ElementType::UInt8:
    return Engine::MatrixInt8;
  default:
    return Engine::Cores;
  }
}

Bytes &WorkCounts::bytesOf(MemoryLevel level) {
  Bytes *const levels[memoryLevelCount] = {&dramBytes, &l2Bytes, &l1Bytes, &sharedBytes};
  return *levels[static_cast<int>(level)];
}

Flops WorkCounts::totalFlops() const {
  Flops sum;
  for (Flops some : flops)
    sum += some;
  return sum;
}

WorkCounts &WorkCounts::operator+=(const WorkCounts &other) {
  for (int i = 0; i < engineCount; ++i)
    flops[i] += other.flops[i];
  for (int i = 0; i < instructionClassCount; ++i)
    instructions[i] += other.instructions[i];
  for (int i = 0; i < memoryLevelCount; ++i)
    bytesOf(static_cast<MemoryLevel>(i)) += other.bytesOf(static_cast<MemoryLevel>(i));
  launches += other.launches;
  return *this;
}

} // namespace joule
