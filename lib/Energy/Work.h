// What a kernel does, counted: the structure that a schedule, PTX or the virtual GPU fill alike.
#pragma once

#include "joule/Tensor.h"
#include "lib/Energy/Units.h"

#include <array>

namespace joule {

/// What does arithmetic: plain cores (float32 and all else that is no matrix unit's), or the matrix units by
/// the type of their operands.
enum class Engine { Cores, MatrixTf32, MatrixFp16, MatrixFp8, MatrixInt8 };
constexpr int engineCount = 5;
const char *nameOf(Engine engine);

/// The engine of a plan's Cost.matrix_type; Undefined: the cores.
Engine engineOf(ElementType matrixType);

/// Instructions as one thread executes them. `Any` are all of them: what fetching and issuing costs.
enum class InstructionClass { Fp32, Fp64, Integer, Special, Any };
constexpr int instructionClassCount = 5;

/// Where bytes move.
enum class MemoryLevel { Dram, L2, L1, Shared };
constexpr int memoryLevelCount = 4;

/// Work of one kernel or of a whole run.
struct WorkCounts {
  Flops flops[engineCount]; ///< by Engine
  Bytes dramBytes;          ///< read and written
  double launches = 0;
  Bytes l2Bytes, l1Bytes, sharedBytes;
  double instructions[instructionClassCount] = {}; ///< by InstructionClass, summed over threads
  double blocks = 0;      ///< of the grid, of a sum those of its first part; 0: not known
  double activeShare = 1; ///< of the multiprocessors that work, 0 to 1; of a sum, that of its first part
  double occupancy = 0;   ///< resident warps as a share of the most that fit, 0 to 1
  double toggle = 1;      ///< how much operands change: 1 random values, 0.8 few values, 0.6 zeros

  Flops &flopsOf(Engine engine) { return flops[static_cast<int>(engine)]; }
  double &instructionsOf(InstructionClass which) { return instructions[static_cast<int>(which)]; }
  Bytes &bytesOf(MemoryLevel level);
  Bytes bytesOf(MemoryLevel level) const { return const_cast<WorkCounts *>(this)->bytesOf(level); }
  /// Of all engines.
  Flops totalFlops() const;
  WorkCounts &operator+=(const WorkCounts &other);
};

} // namespace joule
