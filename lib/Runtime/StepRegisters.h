// Which registers one step of a plan touches: the single place that the checker and the lifetimes ask.
#pragma once

#include "lib/Artifact/plan.pb.h"

#include <vector>

namespace joule {

/// An operand of a step: null where the plan leaves it out.
using IndexOperand = const plan::Index *;

struct StepRegisters {
  std::vector<IndexOperand> operands;  ///< must be there
  std::vector<IndexOperand> optional;  ///< 0 where left out
  std::vector<uint32_t> indexResults;  ///< index registers set
  std::vector<uint32_t> bufferUses;    ///< buffer registers that must hold a buffer
  std::vector<uint32_t> bufferResults; ///< buffer registers made to hold a fresh buffer
  std::vector<uint32_t> bufferMoves;   ///< buffer registers made to hold another register's buffer
};

/// Of a structured step, what it does itself: an If reads its condition; a While's condition is read after
/// its `before`, so it is not listed.
StepRegisters registersOf(const plan::Step &step);

/// The blocks within an If or a While, in the order in which they stand.
std::vector<const plan::Block *> innerBlocks(const plan::Step &step);

} // namespace joule
