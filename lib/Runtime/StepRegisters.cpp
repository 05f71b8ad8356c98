// One case per kind of step.
#include "lib/Runtime/StepRegisters.h"

namespace joule {

namespace {
struct Collect {
  StepRegisters out;

  void operand(bool given, const plan::Index &index) { out.operands.push_back(given ? &index : nullptr); }
  void optional(bool given, const plan::Index &index) { out.optional.push_back(given ? &index : nullptr); }

  void visit(const plan::Eval &eval) {
    operand(eval.has_lhs(), eval.lhs());
    operand(eval.has_rhs(), eval.rhs());
    if (eval.op() == plan::Eval::SELECT)
      operand(eval.has_condition(), eval.condition());
    out.indexResults.push_back(eval.result());
  }

  void visit(const plan::Alloc &alloc) {
    operand(alloc.has_bytes(), alloc.bytes());
    out.bufferResults.push_back(alloc.buffer());
  }

  void visit(const plan::Launch &launch) {
    for (const plan::Index &size : launch.grid())
      operand(true, size);
    optional(launch.has_shared_bytes(), launch.shared_bytes());
    for (const plan::Argument &argument : launch.arguments()) {
      if (argument.kind() == plan::Argument::BUFFER)
        out.bufferUses.push_back(argument.buffer());
      else
        operand(argument.has_value(), argument.value());
    }
    for (const auto *buffers : {&launch.reads(), &launch.writes()})
      out.bufferUses.insert(out.bufferUses.end(), buffers->begin(), buffers->end());
    optional(launch.cost().has_flops(), launch.cost().flops());
    optional(launch.cost().has_bytes_read(), launch.cost().bytes_read());
    optional(launch.cost().has_bytes_written(), launch.cost().bytes_written());
  }

  void visit(const plan::Copy &copy) {
    operand(copy.has_bytes(), copy.bytes());
    optional(copy.has_destination_offset(), copy.destination_offset());
    optional(copy.has_source_offset(), copy.source_offset());
    out.bufferUses = {copy.destination(), copy.source()};
  }

  void visit(const plan::Fill &fill) {
    operand(fill.has_bytes(), fill.bytes());
    out.bufferUses = {fill.buffer()};
  }

  void visit(const plan::ReadScalar &read) {
    optional(read.has_offset(), read.offset());
    out.bufferUses = {read.buffer()};
    out.indexResults = {read.result()};
  }

  void visit(const plan::WriteScalars &write) {
    for (const plan::Index &value : write.values())
      operand(true, value);
    out.bufferUses = {write.buffer()};
  }

  void visit(const plan::HostCall &call) {
    for (const plan::HostTensor &input : call.inputs()) {
      out.bufferUses.push_back(input.buffer());
      for (const plan::Index &size : input.dims())
        operand(true, size);
    }
    for (const plan::HostTensor &result : call.results()) {
      out.bufferResults.push_back(result.buffer());
      for (const plan::Index &size : result.dims())
        if (size.kind_case() == plan::Index::kIndex)
          out.indexResults.push_back(size.index());
    }
  }

  void visit(const plan::MoveBuffer &move) {
    out.bufferUses = {move.source()};
    out.bufferMoves = {move.result()};
  }

  void visit(const plan::MoveIndex &move) {
    operand(move.has_source(), move.source());
    out.indexResults = {move.result()};
  }
};
} // namespace

StepRegisters registersOf(const plan::Step &step) {
  Collect collect;
  switch (step.kind_case()) {
  case plan::Step::kEval:
    collect.visit(step.eval());
    break;
  case plan::Step::kAlloc:
    collect.visit(step.alloc());
    break;
  case plan::Step::kLaunch:
    collect.visit(step.launch());
    break;
  case plan::Step::kCopy:
    collect.visit(step.copy());
    break;
  case plan::Step::kFill:
    collect.visit(step.fill());
    break;
  case plan::Step::kReadScalar:
    collect.visit(step.read_scalar());
    break;
  case plan::Step::kWriteScalars:
    collect.visit(step.write_scalars());
    break;
  case plan::Step::kHostCall:
    collect.visit(step.host_call());
    break;
  case plan::Step::kMoveIndex:
    collect.visit(step.move_index());
    break;
  case plan::Step::kMoveBuffer:
    collect.visit(step.move_buffer());
    break;
  case plan::Step::kCheck:
    collect.operand(step.check().has_condition(), step.check().condition());
    break;
  case plan::Step::kIf:
    collect.operand(step.if_().has_condition(), step.if_().condition());
    break;
  case plan::Step::kWhile:
  case plan::Step::KIND_NOT_SET:
    break;
  }
  return collect.out;
}

std::vector<const plan::Block *> innerBlocks(const plan::Step &step) {
  if (step.has_if_())
    return {&step.if_().then(), &step.if_().otherwise()};
  if (step.has_while_())
    return {&step.while_().before(), &step.while_().body()};
  return {};
}

} // namespace joule
