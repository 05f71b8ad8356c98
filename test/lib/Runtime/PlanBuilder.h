// Short names for building plans by hand.
#pragma once

#include "lib/Artifact/plan.pb.h"

#include <initializer_list>
#include <string>

namespace joule::test {

inline plan::Index constant(int64_t value) {
  plan::Index index;
  index.set_constant(value);
  return index;
}

inline plan::Index reg(uint32_t number) {
  plan::Index index;
  index.set_index(number);
  return index;
}

inline plan::Argument bufferArgument(uint32_t buffer) {
  plan::Argument argument;
  argument.set_buffer(buffer);
  return argument;
}

inline plan::Argument i32(plan::Index value) {
  plan::Argument argument;
  argument.set_kind(plan::Argument::I32);
  *argument.mutable_value() = value;
  return argument;
}

inline plan::Argument i64(plan::Index value) {
  plan::Argument argument;
  argument.set_kind(plan::Argument::I64);
  *argument.mutable_value() = value;
  return argument;
}

/// A plan for sm_80 with room for registers.
inline plan::Plan emptyPlan(uint32_t indices = 32, uint32_t buffers = 32) {
  plan::Plan plan;
  plan.set_version(1);
  plan.set_target("sm_80");
  plan.set_index_registers(indices);
  plan.set_buffer_registers(buffers);
  return plan;
}

inline void addSymbol(plan::Plan &plan, const std::string &name, uint32_t index, int64_t min = 0,
                      int64_t max = 0) {
  plan::Symbol *symbol = plan.add_symbols();
  symbol->set_name(name);
  symbol->set_index(index);
  symbol->set_min(min);
  symbol->set_max(max);
}

inline void setTensor(plan::Tensor *tensor, const std::string &name, uint32_t buffer,
                      std::initializer_list<plan::Index> dims, uint32_t type) {
  tensor->set_name(name);
  tensor->set_buffer(buffer);
  tensor->set_type(type);
  for (const plan::Index &size : dims)
    *tensor->add_dims() = size;
}

/// float32 unless `type` says otherwise.
inline void addInput(plan::Plan &plan, const std::string &name, uint32_t buffer,
                     std::initializer_list<plan::Index> dims, uint32_t type = 1) {
  setTensor(plan.add_inputs(), name, buffer, dims, type);
}

inline void addOutput(plan::Plan &plan, const std::string &name, uint32_t buffer,
                      std::initializer_list<plan::Index> dims, uint32_t type = 1) {
  setTensor(plan.add_outputs(), name, buffer, dims, type);
}

inline uint32_t addKernel(plan::Plan &plan, const std::string &name) {
  plan::Kernel *kernel = plan.add_kernels();
  kernel->set_name(name);
  kernel->set_ptx("targets/sm_80/kernels/all.ptx");
  return static_cast<uint32_t>(plan.kernels_size() - 1);
}

inline void addEval(plan::Block *block, plan::Eval::Op op, uint32_t result, plan::Index lhs,
                    plan::Index rhs) {
  plan::Eval *eval = block->add_steps()->mutable_eval();
  eval->set_op(op);
  eval->set_result(result);
  *eval->mutable_lhs() = lhs;
  *eval->mutable_rhs() = rhs;
}

inline void addAlloc(plan::Block *block, uint32_t buffer, plan::Index bytes, bool counted = false) {
  plan::Alloc *alloc = block->add_steps()->mutable_alloc();
  alloc->set_buffer(buffer);
  *alloc->mutable_bytes() = bytes;
  alloc->set_counted(counted);
}

/// A launch of one warp per block; it computes the ONNX node "node_of_kernel_" and its kernel's number.
inline plan::Launch *addLaunch(plan::Block *block, uint32_t kernel, plan::Index gridX,
                               std::initializer_list<plan::Argument> arguments,
                               std::initializer_list<uint32_t> reads,
                               std::initializer_list<uint32_t> writes) {
  plan::Launch *launch = block->add_steps()->mutable_launch();
  launch->set_kernel(kernel);
  launch->add_nodes("node_of_kernel_" + std::to_string(kernel));
  for (const plan::Index &size : {gridX, constant(1), constant(1)})
    *launch->add_grid() = size;
  for (uint32_t size : {32, 1, 1})
    launch->add_block(size);
  for (const plan::Argument &argument : arguments)
    *launch->add_arguments() = argument;
  for (uint32_t buffer : reads)
    launch->add_reads(buffer);
  for (uint32_t buffer : writes)
    launch->add_writes(buffer);
  return launch;
}

inline void addCopy(plan::Block *block, uint32_t destination, uint32_t source, plan::Index bytes) {
  plan::Copy *copy = block->add_steps()->mutable_copy();
  copy->set_destination(destination);
  copy->set_source(source);
  *copy->mutable_bytes() = bytes;
}

inline void addMoveBuffer(plan::Block *block, uint32_t result, uint32_t source) {
  plan::MoveBuffer *move = block->add_steps()->mutable_move_buffer();
  move->set_result(result);
  move->set_source(source);
}

inline void addMoveIndex(plan::Block *block, uint32_t result, plan::Index source) {
  plan::MoveIndex *move = block->add_steps()->mutable_move_index();
  move->set_result(result);
  *move->mutable_source() = source;
}

inline void addReadScalar(plan::Block *block, uint32_t result, uint32_t buffer, uint32_t type,
                          int64_t offset = 0) {
  plan::ReadScalar *read = block->add_steps()->mutable_read_scalar();
  read->set_result(result);
  read->set_buffer(buffer);
  read->set_type(type);
  *read->mutable_offset() = constant(offset);
}

} // namespace joule::test
