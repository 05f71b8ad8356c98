// A checked plan made ready to run: its steps numbered, the lifetimes of its buffers known.
#pragma once

#include "lib/Artifact/plan.pb.h"
#include "lib/Runtime/MemoryPlanner.h"

#include <optional>
#include <vector>

namespace joule {

struct ProgramStep;
using ProgramBlock = std::vector<ProgramStep>;

struct ProgramStep {
  const plan::Step *step;
  std::optional<size_t> slot;     ///< an Alloc's place among Program::slots, where it may live in the arena
  std::vector<uint32_t> releases; ///< buffer registers that nothing reads after this step
  ProgramBlock first, second;     ///< If: then, otherwise; While: before, body
};

/// A piece of memory that may live in the arena: an input copied from the host, or an Alloc that does not
/// escape.
struct Slot {
  int input = -1;                     ///< position among the plan's inputs; -1: an Alloc
  const plan::Alloc *alloc = nullptr; ///< null for an input
  uint64_t first = 0, last = 0;       ///< steps, as Lifetime counts them
};

/// Where everything lies, for one tuple of the symbols' values.
struct MemoryPlan {
  std::vector<std::optional<uint64_t>> offsets; ///< by slot; nullopt: the size is known only from data
  std::vector<uint64_t> bytes;                  ///< by slot, where the offset is known
  uint64_t arenaBytes = 0;
};

/// Lifetimes come from the text of the plan, not from a run. Steps are numbered in reading order, a loop's
/// end too. A register that is set before a loop and touched inside it stays alive until the loop's end,
/// since the next turn may read it again. An Alloc that a MoveBuffer reads escapes: it is counted instead of
/// planned.
class Program {
public:
  /// `plan` must pass checkPlan and outlive the program.
  explicit Program(const plan::Plan &plan);

  const plan::Plan &plan() const { return source; }
  const ProgramBlock &body() const { return steps; }
  const std::vector<Slot> &slots() const { return allSlots; }

  /// The slot of an input.
  size_t inputSlot(int input) const { return static_cast<size_t>(input); }

  /// Plans the arena. `symbols` holds the symbols' values in the plan's order.
  MemoryPlan planMemory(const std::vector<int64_t> &symbols) const;

  /// The index registers whose values follow from the symbols alone; nullopt for all others.
  std::vector<std::optional<int64_t>> knownIndices(const std::vector<int64_t> &symbols) const;

private:
  const plan::Plan &source;
  ProgramBlock steps;
  std::vector<Slot> allSlots;
  std::vector<const plan::Step *> knowable; // Evals and moves that are their register's only setter, in order
};

/// The value of an index: a constant, or a register that is known.
std::optional<int64_t> valueOf(const plan::Index &index,
                               const std::vector<std::optional<int64_t>> &registers);

} // namespace joule
