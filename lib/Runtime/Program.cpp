// Numbers the steps, then finds the last use of every buffer register.
#include "lib/Runtime/Program.h"

#include "joule/Tensor.h"
#include "lib/Runtime/IndexMath.h"
#include "lib/Runtime/StepRegisters.h"

#include <algorithm>
#include <map>

namespace joule {

// Larger buffers are asked of the driver one by one, which refuses them: their sum might not fit 64 bits.
constexpr int64_t mostPlannedBytes = int64_t(1) << 40;

namespace {

// A buffer register's span, and whether a MoveBuffer reads it.
struct Span {
  std::optional<uint64_t> first;
  uint64_t last = 0;
  bool moved = false;
};

struct Loop {
  uint64_t first, last;
};

class Builder {
public:
  explicit Builder(const plan::Plan &plan) : plan(plan), spans(plan.buffer_registers()) {}

  ProgramBlock block(const plan::Block &source) {
    ProgramBlock steps;
    for (const plan::Step &step : source.steps())
      steps.push_back(this->step(step));
    return steps;
  }

  ProgramStep step(const plan::Step &source) {
    ProgramStep step{&source, {}, {}, {}, {}};
    uint64_t here = ++position;
    note(registersOf(source), here);
    if (source.has_move_buffer())
      spans[source.move_buffer().source()].moved = true;
    if (source.has_alloc() && !source.alloc().counted())
      allocs.push_back({&source.alloc(), here});
    if (source.has_if_()) {
      step.first = block(source.if_().then());
      step.second = block(source.if_().otherwise());
      ++position;
    } else if (source.has_while_()) {
      step.first = block(source.while_().before());
      step.second = block(source.while_().body());
      loops.push_back({here, ++position});
    }
    return step;
  }

  void note(const StepRegisters &registers, uint64_t here) {
    for (const auto *buffers : {&registers.bufferUses, &registers.bufferResults, &registers.bufferMoves})
      for (uint32_t buffer : *buffers)
        touch(buffer, here);
  }

  void touch(uint32_t buffer, uint64_t here) {
    Span &span = spans[buffer];
    if (!span.first)
      span.first = here;
    span.last = std::max(span.last, here);
    touches.push_back({buffer, here});
  }

  // Inner loops first, as they were finished first: an outer loop then sees the inner one's extension.
  void extendOverLoops() {
    for (const Loop &loop : loops)
      for (auto [buffer, here] : touches)
        if (here > loop.first && here <= loop.last && *spans[buffer].first < loop.first)
          spans[buffer].last = std::max(spans[buffer].last, loop.last);
  }

  void placeReleases(ProgramBlock &steps, uint64_t &at, const std::vector<std::vector<uint32_t>> &ending) {
    for (ProgramStep &step : steps) {
      step.releases = ending[++at];
      if (step.step->has_if_() || step.step->has_while_()) {
        placeReleases(step.first, at, ending);
        placeReleases(step.second, at, ending);
        // The step's own number ends before its blocks run; what dies there dies when they are done.
        const std::vector<uint32_t> &after = ending[++at];
        step.releases.insert(step.releases.end(), after.begin(), after.end());
      }
    }
  }

  const plan::Plan &plan;
  std::vector<Span> spans;
  std::vector<Loop> loops;
  std::vector<std::pair<uint32_t, uint64_t>> touches;
  std::vector<std::pair<const plan::Alloc *, uint64_t>> allocs;
  uint64_t position = 0;
};

// Counts the setters of each index register, and gathers the Evals and moves.
struct Setters {
  std::vector<int> counts;
  std::vector<const plan::Step *> evaluations;

  void gather(const plan::Block &block) {
    for (const plan::Step &step : block.steps()) {
      for (uint32_t index : registersOf(step).indexResults)
        ++counts[index];
      if (step.has_eval() || step.has_move_index())
        evaluations.push_back(&step);
      if (step.has_if_()) {
        gather(step.if_().then());
        gather(step.if_().otherwise());
      } else if (step.has_while_()) {
        gather(step.while_().before());
        gather(step.while_().body());
      }
    }
  }
};

uint32_t resultOf(const plan::Step &step) {
  return step.has_eval() ? step.eval().result() : step.move_index().result();
}

void assignSlots(ProgramBlock &steps, const std::map<const plan::Alloc *, size_t> &slots) {
  for (ProgramStep &step : steps) {
    if (step.step->has_alloc())
      if (auto found = slots.find(&step.step->alloc()); found != slots.end())
        step.slot = found->second;
    assignSlots(step.first, slots);
    assignSlots(step.second, slots);
  }
}

} // namespace

Program::Program(const plan::Plan &plan) : source(plan) {
  Builder builder(plan);
  for (const plan::Tensor &input : plan.inputs())
    builder.touch(input.buffer(), 0);
  steps = builder.block(plan.body());
  uint64_t end = builder.position + 1;
  for (const plan::Tensor &output : plan.outputs())
    builder.touch(output.buffer(), end);
  builder.extendOverLoops();

  std::vector<Span> &spans = builder.spans;
  for (int i = 0; i < plan.inputs_size(); ++i) {
    const Span &span = spans[plan.inputs(i).buffer()];
    // Whoever moved an input may read it until the end.
    allSlots.push_back({i, nullptr, 0, span.moved ? end : span.last});
  }
  for (auto [alloc, first] : builder.allocs)
    if (const Span &span = spans[alloc->buffer()]; !span.moved)
      allSlots.push_back({-1, alloc, first, span.last});
  std::map<const plan::Alloc *, size_t> slotOf;
  for (size_t i = 0; i < allSlots.size(); ++i)
    slotOf[allSlots[i].alloc] = i;
  slotOf.erase(nullptr);
  assignSlots(steps, slotOf);

  std::vector<std::vector<uint32_t>> ending(end + 1);
  for (uint32_t buffer = 0; buffer < spans.size(); ++buffer)
    if (spans[buffer].first)
      ending[spans[buffer].last].push_back(buffer);
  uint64_t at = 0;
  builder.placeReleases(steps, at, ending);

  Setters setters;
  setters.counts.resize(plan.index_registers());
  setters.gather(plan.body());
  for (const plan::Step *step : setters.evaluations)
    if (setters.counts[resultOf(*step)] == 1)
      knowable.push_back(step);
}

std::optional<int64_t> valueOf(const plan::Index &index,
                               const std::vector<std::optional<int64_t>> &registers) {
  if (index.kind_case() == plan::Index::kIndex)
    return registers[index.index()];
  return index.constant();
}

static std::optional<int64_t> valueOf(const plan::Eval &eval,
                                      const std::vector<std::optional<int64_t>> &registers) {
  std::optional<int64_t> lhs = valueOf(eval.lhs(), registers);
  std::optional<int64_t> rhs = valueOf(eval.rhs(), registers);
  std::optional<int64_t> condition = valueOf(eval.condition(), registers);
  if (eval.op() == plan::Eval::SELECT && condition)
    return *condition ? lhs : rhs;
  if (!lhs || !rhs || !condition)
    return std::nullopt;
  // A fault may stand in a branch that no run takes.
  Evaluated result = evaluate(eval.op(), {*lhs}, {*rhs}, {*condition});
  return result.fault == Fault::None ? std::optional(result.value) : std::nullopt;
}

std::vector<std::optional<int64_t>> Program::knownIndices(const std::vector<int64_t> &symbols) const {
  std::vector<std::optional<int64_t>> registers(source.index_registers());
  for (int i = 0; i < source.symbols_size(); ++i)
    registers[source.symbols(i).index()] = symbols[static_cast<size_t>(i)];
  for (const plan::Step *step : knowable)
    registers[resultOf(*step)] =
        step->has_eval() ? valueOf(step->eval(), registers) : valueOf(step->move_index().source(), registers);
  return registers;
}

static std::optional<int64_t> inputBytes(const plan::Tensor &input,
                                         const std::vector<std::optional<int64_t>> &registers) {
  std::vector<int64_t> shape;
  for (const plan::Index &size : input.dims())
    shape.push_back(valueOf(size, registers).value_or(-1));
  int64_t bytes = bytesOf(static_cast<ElementType>(input.type()), shape);
  return bytes < 0 ? std::nullopt : std::optional(bytes);
}

MemoryPlan Program::planMemory(const std::vector<int64_t> &symbols) const {
  std::vector<std::optional<int64_t>> registers = knownIndices(symbols);
  MemoryPlan memory;
  memory.offsets.resize(allSlots.size());
  memory.bytes.resize(allSlots.size());
  std::vector<Lifetime> lifetimes;
  std::vector<size_t> planned;
  for (size_t i = 0; i < allSlots.size(); ++i) {
    const Slot &slot = allSlots[i];
    std::optional<int64_t> bytes = slot.alloc ? valueOf(slot.alloc->bytes(), registers)
                                              : inputBytes(source.inputs(slot.input), registers);
    if (!bytes || *bytes < 0 || *bytes > mostPlannedBytes)
      continue;
    memory.bytes[i] = static_cast<uint64_t>(*bytes);
    lifetimes.push_back({memory.bytes[i], slot.first, slot.last});
    planned.push_back(i);
  }
  ArenaPlan arena = planArena(lifetimes);
  for (size_t i = 0; i < planned.size(); ++i)
    memory.offsets[planned[i]] = arena.offsets[i];
  memory.arenaBytes = arena.bytes;
  return memory;
}

} // namespace joule
