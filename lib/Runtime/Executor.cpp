// One function per kind of step.
#include "lib/Runtime/Executor.h"

#include "lib/Runtime/StepRegisters.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace joule {

// Kernels read vectors of this many bytes; a caller's device memory that begins elsewhere is copied first.
constexpr uint64_t inputAlignment = 16;
// Blocks along each axis that every driver accepts.
constexpr unsigned greatestGrid[] = {0x7fffffff, 0xffff, 0xffff};

Executor::Executor(const Program &program, const LoadedModel &model, const HostKernels &hostKernels,
                   RunContext &context, RunControl control)
    : program(program), plan(program.plan()), model(model), hostKernels(hostKernels), context(context),
      driver(*context.driver), control(std::move(control)),
      stream(this->control.stream ? this->control.stream : context.stream), indices(plan.index_registers()),
      faults(plan.index_registers()), buffers(plan.buffer_registers()),
      findingsBefore(driver.countFindings ? driver.countFindings() : 0) {}

Result<void> Executor::run(const Binding &binding, const MemoryPlan &memory) {
  if (Result<void> bound = bind(binding, memory); !bound)
    return bound;
  return block(program.body());
}

Result<void> Executor::bind(const Binding &binding, const MemoryPlan &memory) {
  this->memory = &memory;
  for (int i = 0; i < plan.symbols_size(); ++i)
    indices[plan.symbols(i).index()] = binding.symbols[static_cast<size_t>(i)];
  if (memory.arenaBytes > 0) {
    Result<CUdeviceptr> reserved = context.reserveArena(memory.arenaBytes);
    if (!reserved)
      return reserved.error();
    arena = *reserved;
  }
  for (int i = 0; i < plan.weights_size(); ++i)
    buffers[plan.weights(i).buffer()] = {model.weight(i), plan.weights(i).bytes(), true, nullptr};
  for (int i = 0; i < plan.inputs_size(); ++i)
    if (Result<void> bound = bindInput(i, *binding.inputs[static_cast<size_t>(i)], memory); !bound)
      return bound;
  return {};
}

Result<void> Executor::bindInput(int input, const TensorView &view, const MemoryPlan &memory) {
  auto bytes = static_cast<uint64_t>(bytesOf(view.type, view.shape));
  Buffer &buffer = buffers[plan.inputs(input).buffer()];
  auto given = reinterpret_cast<CUdeviceptr>(view.data);
  if (view.memory == Memory::Device && given % inputAlignment == 0) {
    buffer = {given, bytes, true, nullptr};
    return {};
  }
  size_t slot = program.inputSlot(input);
  buffer = {arena + memory.offsets[slot].value_or(0), bytes, true, nullptr};
  if (bytes == 0)
    return {};
  if (view.memory == Memory::Device)
    return require(driver.cuMemcpyDtoDAsync_v2(buffer.address, given, bytes, stream),
                   "copy an input");
  return toDevice(buffer.address, view.data, bytes);
}

Result<void> Executor::block(const ProgramBlock &steps) {
  for (const ProgramStep &step : steps) {
    if (Result<void> done = this->step(step); !done)
      return atNode(done.error(), steps, step);
    for (uint32_t buffer : step.releases)
      buffers[buffer].owner.reset();
  }
  return {};
}

// Sizes and buffers are made for the launch that follows.
Error Executor::atNode(Error error, const ProgramBlock &steps, const ProgramStep &failed) const {
  if (!error.node.empty() || (error.code != ErrorCode::SizeOverflow && error.code != ErrorCode::DivisionByZero))
    return error;
  for (const ProgramStep *step = &failed; step != steps.data() + steps.size(); ++step)
    if (step->step->has_launch()) {
      error.node = fmt::format("{}", fmt::join(step->step->launch().nodes(), ", "));
      break;
    }
  return error;
}

Result<void> Executor::step(const ProgramStep &step) {
  const plan::Step &source = *step.step;
  if (Result<void> usable = checkOperands(source); !usable)
    return usable;
  switch (source.kind_case()) {
  case plan::Step::kEval:
    return eval(source.eval());
  case plan::Step::kAlloc:
    return alloc(source.alloc(), step.slot);
  case plan::Step::kLaunch:
    return launch(source.launch());
  case plan::Step::kCopy:
    return copy(source.copy());
  case plan::Step::kFill:
    return fill(source.fill());
  case plan::Step::kReadScalar:
    return readScalar(source.read_scalar());
  case plan::Step::kWriteScalars:
    return writeScalars(source.write_scalars());
  case plan::Step::kHostCall:
    return hostCall(source.host_call());
  case plan::Step::kCheck:
    if (value(source.check().condition()) == 0)
      return Error{ErrorCode::CheckFailed, source.check().message(), source.check().node()};
    return {};
  case plan::Step::kMoveIndex:
    set(source.move_index().result(), evaluated(source.move_index().source()));
    return {};
  case plan::Step::kMoveBuffer:
    buffers[source.move_buffer().result()] = buffers[source.move_buffer().source()];
    return {};
  case plan::Step::kIf:
    return block(value(source.if_().condition()) != 0 ? step.first : step.second);
  case plan::Step::kWhile:
    return loop(step);
  case plan::Step::KIND_NOT_SET:
    break;
  }
  return Error{ErrorCode::PlanInvalid, "the plan has a step of no kind", ""};
}

Result<void> Executor::loop(const ProgramStep &step) {
  while (true) {
    if (Result<void> within = checkLimits(); !within)
      return within;
    if (Result<void> done = block(step.first); !done)
      return done;
    Evaluated condition = evaluated(step.step->while_().condition());
    if (condition.fault != Fault::None)
      return errorOf(condition.fault);
    if (condition.value == 0)
      return {};
    if (Result<void> done = block(step.second); !done)
      return done;
  }
}

Result<void> Executor::checkLimits() const {
  if (control.interrupted && *control.interrupted)
    return Error{ErrorCode::Interrupted, "the run was interrupted", ""};
  if (control.deadline && std::chrono::steady_clock::now() > *control.deadline)
    return Error{ErrorCode::TimeLimit, "the run went over its time limit", ""};
  return {};
}

Evaluated Executor::evaluated(const plan::Index &index) const {
  Fault fault = index.kind_case() == plan::Index::kIndex ? faults[index.index()] : Fault::None;
  return {value(index), fault};
}

void Executor::set(uint32_t index, Evaluated result) {
  indices[index] = result.value;
  faulty += (result.fault != Fault::None) - (faults[index] != Fault::None);
  faults[index] = result.fault;
}

Result<void> Executor::checkOperands(const plan::Step &step) const {
  if (faulty == 0 || step.has_eval() || step.has_move_index())
    return {};
  auto check = [this](const plan::Index &operand, Fault least) -> Result<void> {
    Fault fault = evaluated(operand).fault;
    return fault < least ? Result<void>() : errorOf(fault);
  };
  // What a kernel or memory takes as data may have wrapped around; a size may not.
  if (step.has_launch()) {
    for (const plan::Index &size : step.launch().grid())
      if (Result<void> sound = check(size, Fault::Overflow); !sound)
        return sound;
    for (const plan::Argument &argument : step.launch().arguments())
      if (Result<void> sound = check(argument.value(), Fault::Division); !sound)
        return sound;
    return check(step.launch().shared_bytes(), Fault::Overflow);
  }
  StepRegisters registers = registersOf(step);
  for (const auto *operands : {&registers.operands, &registers.optional})
    for (const plan::Index *operand : *operands)
      if (operand)
        if (Result<void> sound = check(*operand, step.has_write_scalars() ? Fault::Division : Fault::Overflow); !sound)
          return sound;
  return {};
}

int64_t Executor::value(const plan::Index &index) const {
  return index.kind_case() == plan::Index::kIndex ? indices[index.index()] : index.constant();
}

Result<void> Executor::eval(const plan::Eval &eval) {
  set(eval.result(),
      evaluate(eval.op(), evaluated(eval.lhs()), evaluated(eval.rhs()), evaluated(eval.condition())));
  return {};
}

Result<void> Executor::alloc(const plan::Alloc &alloc, std::optional<size_t> slot) {
  int64_t bytes = value(alloc.bytes());
  if (bytes < 0)
    return Error{ErrorCode::OutOfBounds, fmt::format("the plan asks for a buffer of {} bytes", bytes), ""};
  if (!slot || !memory->offsets[*slot])
    return allocDynamic(alloc.buffer(), static_cast<uint64_t>(bytes));
  buffers[alloc.buffer()] = {arena + *memory->offsets[*slot], memory->bytes[*slot], false, nullptr};
  return {};
}

Result<void> Executor::allocDynamic(uint32_t buffer, uint64_t bytes) {
  // A loop's last turn may have left its block here, which this turn can use again.
  buffers[buffer].owner.reset();
  Result<std::shared_ptr<const BufferPool::Block>> block = context.pool.allocate(bytes);
  if (!block)
    return block.error();
  buffers[buffer] = {(*block)->address, bytes, false, *block};
  return {};
}

Result<CUdeviceptr> Executor::reach(uint32_t buffer, int64_t offset, int64_t bytes, bool writes) const {
  const Buffer &target = buffers[buffer];
  if (writes && target.readOnly)
    return Error{ErrorCode::OutOfBounds,
                 fmt::format("the plan writes buffer register {}, which holds an input or a weight", buffer),
                 ""};
  if (offset < 0 || bytes < 0 || static_cast<uint64_t>(offset) > target.bytes ||
      static_cast<uint64_t>(bytes) > target.bytes - static_cast<uint64_t>(offset))
    return Error{ErrorCode::OutOfBounds,
                 fmt::format("the plan reaches {} bytes at {} in buffer register {}, which has {}", bytes,
                             offset, buffer, target.bytes),
                 ""};
  return target.address + static_cast<uint64_t>(offset);
}

const plan::Kernel &Executor::kernelOf(const plan::Launch &launch) const {
  return plan.kernels(static_cast<int>(launch.kernel()));
}

Result<void> Executor::require(CUresult code, const char *what) const {
  if (code == CUDA_SUCCESS)
    return {};
  Error error = driver.failure(code, what);
  if (Result<void> within = checkLimits(); error.code == ErrorCode::TimeLimit && !within)
    return within;
  if (error.code == ErrorCode::DriverFailed && lastLaunch) {
    error.code = ErrorCode::KernelFailed;
    error.message += fmt::format("; the last kernel launched is {}", kernelOf(*lastLaunch).name());
    error.node = fmt::format("{}", fmt::join(lastLaunch->nodes(), ", "));
  }
  return error;
}

Result<void> Executor::toDevice(CUdeviceptr to, const void *from, uint64_t bytes) {
  bytesCopied += bytes;
  return require(driver.cuMemcpyHtoDAsync_v2(to, from, bytes, stream), "copy to the device");
}

Result<void> Executor::toHost(void *to, CUdeviceptr from, uint64_t bytes) {
  if (bytes == 0)
    return {};
  bytesCopied += bytes;
  return require(driver.cuMemcpyDtoHAsync_v2(to, from, bytes, stream), "copy from the device");
}

Result<void> Executor::launch(const plan::Launch &launch) {
  const plan::Kernel &kernel = kernelOf(launch);
  auto refused = [&](const std::string &what) {
    return Error{ErrorCode::OutOfBounds, fmt::format("kernel {} {}", kernel.name(), what),
                 fmt::format("{}", fmt::join(launch.nodes(), ", "))};
  };
  unsigned grid[3];
  bool empty = false;
  for (int i = 0; i < 3; ++i) {
    int64_t size = value(launch.grid(i));
    if (size < 0 || size > greatestGrid[i])
      return refused(fmt::format("has a grid of {} blocks along axis {}", size, i));
    grid[i] = static_cast<unsigned>(size);
    empty |= size == 0;
  }
  for (uint32_t buffer : launch.writes())
    if (Result<CUdeviceptr> writable = reach(buffer, 0, 0, /*writes=*/true); !writable)
      return writable.error();
  if (empty)
    return {};
  if (Result<void> within = checkLimits(); !within)
    return within;

  auto count = static_cast<size_t>(launch.arguments_size());
  std::vector<int64_t> values(count);
  std::vector<void *> pointers(count);
  for (size_t i = 0; i < count; ++i) {
    const plan::Argument &argument = launch.arguments(static_cast<int>(i));
    pointers[i] = &values[i];
    if (argument.kind() == plan::Argument::BUFFER)
      values[i] = static_cast<int64_t>(buffers[argument.buffer()].address);
    else
      values[i] = value(argument.value());
    // Little-endian: the low half of the value is the 32-bit argument.
    if (argument.kind() == plan::Argument::I32 && values[i] != static_cast<int32_t>(values[i]))
      return refused(fmt::format("takes {} as its argument {}, which does not fit 32 bits", values[i], i));
  }
  int64_t sharedBytes = launch.has_shared_bytes() ? value(launch.shared_bytes()) : 0;
  if (sharedBytes < 0 || sharedBytes > INT32_MAX)
    return refused(fmt::format("asks for {} bytes of shared memory", sharedBytes));
  if (Result<void> submitted = submit(launch, grid, static_cast<unsigned>(sharedBytes), pointers.data());
      !submitted)
    return submitted;
  return control.afterLaunch ? dump(launch) : Result<void>();
}

Result<void> Executor::submit(const plan::Launch &launch, const unsigned (&grid)[3], unsigned sharedBytes,
                              void **arguments) {
  const LoadedKernel &kernel = model.kernel(launch.kernel());
  lastLaunch = &launch;
  if (static_cast<int>(sharedBytes) > kernel.sharedLimit) {
    CUresult code = driver.cuFuncSetAttribute(
        kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(sharedBytes));
    if (Result<void> raised = require(code, "raise a kernel's shared memory"); !raised)
      return raised;
    kernel.sharedLimit = static_cast<int>(sharedBytes);
  }
  if (driver.nameNodes)
    driver.nameNodes(fmt::format("{}", fmt::join(launch.nodes(), ", ")).c_str());
  if (control.launches)
    ++*control.launches;
  if (control.onLaunch)
    control.onLaunch(launch, workOf(launch, [this](const plan::Index &index) { return value(index); }));
  return require(driver.cuLaunchKernel(kernel.function, grid[0], grid[1], grid[2], launch.block(0),
                                       launch.block(1), launch.block(2), sharedBytes, stream,
                                       arguments, nullptr),
                 "launch a kernel");
}

Result<void> Executor::dump(const plan::Launch &launch) {
  LaunchDump dump;
  dump.kernel = kernelOf(launch).name();
  dump.nodes.assign(launch.nodes().begin(), launch.nodes().end());
  for (uint32_t buffer : launch.writes()) {
    dump.written.emplace_back(buffers[buffer].bytes);
    if (Result<void> read =
            toHost(dump.written.back().data(), buffers[buffer].address, buffers[buffer].bytes);
        !read)
      return read;
  }
  if (Result<void> done = finish(); !done)
    return done;
  control.afterLaunch(dump);
  return {};
}

Result<void> Executor::copy(const plan::Copy &copy) {
  int64_t bytes = value(copy.bytes());
  Result<CUdeviceptr> to =
      reach(copy.destination(), value(copy.destination_offset()), bytes, /*writes=*/true);
  if (!to)
    return to.error();
  Result<CUdeviceptr> from = reach(copy.source(), value(copy.source_offset()), bytes, /*writes=*/false);
  if (!from)
    return from.error();
  if (bytes == 0)
    return {};
  return require(driver.cuMemcpyDtoDAsync_v2(*to, *from, static_cast<size_t>(bytes), stream),
                 "copy on the device");
}

Result<void> Executor::fill(const plan::Fill &fill) {
  int64_t bytes = value(fill.bytes());
  Result<CUdeviceptr> at = reach(fill.buffer(), 0, bytes, /*writes=*/true);
  if (!at)
    return at.error();
  if (bytes == 0)
    return {};
  auto byte = static_cast<unsigned char>(fill.value());
  return require(driver.cuMemsetD8Async(*at, byte, static_cast<size_t>(bytes), stream),
                 "fill on the device");
}

// Sign extension for signed types, zero extension for the others.
static int64_t widened(ElementType type, uint64_t bits) {
  switch (type) {
  case ElementType::Int8:
    return static_cast<int8_t>(bits);
  case ElementType::Int16:
    return static_cast<int16_t>(bits);
  case ElementType::Int32:
    return static_cast<int32_t>(bits);
  case ElementType::Bool:
    return bits != 0;
  default:
    return static_cast<int64_t>(bits);
  }
}

Result<void> Executor::readScalar(const plan::ReadScalar &read) {
  auto type = static_cast<ElementType>(read.type());
  int64_t bytes = bitsOf(type) / 8;
  Result<CUdeviceptr> at = reach(read.buffer(), value(read.offset()), bytes, /*writes=*/false);
  if (!at)
    return at.error();
  uint64_t bits = 0;
  if (Result<void> copied = toHost(&bits, *at, static_cast<uint64_t>(bytes)); !copied)
    return copied;
  if (Result<void> done = finish(); !done)
    return done;
  set(read.result(), {widened(type, bits), Fault::None});
  return {};
}

Result<void> Executor::writeScalars(const plan::WriteScalars &write) {
  auto type = static_cast<ElementType>(write.type());
  size_t bytes = bitsOf(type) / 8;
  std::vector<uint8_t> elements(bytes * static_cast<size_t>(write.values_size()));
  for (int i = 0; i < write.values_size(); ++i) {
    int64_t element = value(write.values(i));
    if (type == ElementType::Bool)
      element = element != 0;
    std::memcpy(elements.data() + bytes * static_cast<size_t>(i), &element, bytes);
  }
  Result<CUdeviceptr> at = reach(write.buffer(), 0, static_cast<int64_t>(elements.size()), /*writes=*/true);
  if (!at)
    return at.error();
  if (elements.empty())
    return {};
  staged.push_back(std::move(elements));
  return toDevice(*at, staged.back().data(), staged.back().size());
}

Result<void> Executor::hostCall(const plan::HostCall &call) {
  auto failed = [&](ErrorCode code, const std::string &what) { return Error{code, what, call.node()}; };
  auto kernel = hostKernels.find(call.name());
  if (kernel == hostKernels.end())
    return failed(ErrorCode::HostKernelMissing,
                  fmt::format("this Joule has no host kernel \"{}\"", call.name()));

  std::vector<Tensor> inputs;
  for (const plan::HostTensor &input : call.inputs()) {
    Tensor tensor{static_cast<ElementType>(input.type()), {}, {}};
    for (const plan::Index &size : input.dims())
      tensor.shape.push_back(value(size));
    int64_t bytes = bytesOf(tensor.type, tensor.shape);
    Result<CUdeviceptr> from = reach(input.buffer(), 0, bytes, /*writes=*/false);
    if (!from)
      return failed(from.error().code, from.error().message);
    tensor.bytes.resize(static_cast<size_t>(bytes));
    if (Result<void> copied = toHost(tensor.bytes.data(), *from, tensor.bytes.size()); !copied)
      return copied;
    inputs.push_back(std::move(tensor));
  }
  if (Result<void> done = finish(); !done)
    return done;

  std::vector<TensorView> views;
  for (const Tensor &input : inputs)
    views.push_back(input.view());
  Result<std::vector<Tensor>> results = kernel->second(views, call.attributes());
  if (!results)
    return failed(results.error().code, results.error().message);
  if (results->size() != static_cast<size_t>(call.results_size()))
    return failed(ErrorCode::HostKernelFailed,
                  fmt::format("host kernel \"{}\" gives {} results, the plan wants {}", call.name(),
                              results->size(), call.results_size()));
  for (int i = 0; i < call.results_size(); ++i)
    if (Result<void> accepted = acceptHostResult(call, call.results(i), (*results)[static_cast<size_t>(i)]);
        !accepted)
      return accepted;
  return {};
}

Result<void> Executor::acceptHostResult(const plan::HostCall &call, const plan::HostTensor &wanted,
                                        const Tensor &result) {
  bool fits = static_cast<uint32_t>(result.type) == wanted.type() &&
              result.shape.size() == static_cast<size_t>(wanted.dims_size()) &&
              bytesOf(result.type, result.shape) == static_cast<int64_t>(result.bytes.size());
  for (int axis = 0; fits && axis < wanted.dims_size(); ++axis) {
    const plan::Index &size = wanted.dims(axis);
    int64_t given = result.shape[static_cast<size_t>(axis)];
    if (size.kind_case() == plan::Index::kIndex)
      set(size.index(), {given, Fault::None});
    else
      fits = size.constant() == given;
  }
  if (!fits)
    return Error{ErrorCode::HostKernelFailed,
                 fmt::format("host kernel \"{}\" gives {} {}, which is not what the plan wants", call.name(),
                             nameOf(result.type), toString(result.shape)),
                 call.node()};
  if (Result<void> allocated = allocDynamic(wanted.buffer(), result.bytes.size()); !allocated)
    return allocated;
  if (result.bytes.empty())
    return {};
  staged.push_back(result.bytes);
  return toDevice(buffers[wanted.buffer()].address, staged.back().data(), staged.back().size());
}

Result<std::vector<int64_t>> Executor::outputShape(int output) const {
  const plan::Tensor &wanted = plan.outputs(output);
  std::vector<int64_t> shape;
  for (const plan::Index &size : wanted.dims()) {
    if (Fault fault = evaluated(size).fault; fault != Fault::None)
      return errorOf(fault);
    shape.push_back(value(size));
  }
  int64_t bytes = bytesOf(static_cast<ElementType>(wanted.type()), shape);
  if (bytes < 0)
    return Error{ErrorCode::SizeOverflow,
                 fmt::format("output \"{}\" of shape {} has more bytes than can be counted", wanted.name(),
                             toString(shape)),
                 ""};
  if (Result<CUdeviceptr> inside = reach(wanted.buffer(), 0, bytes, /*writes=*/false); !inside)
    return Error{
        inside.error().code,
        fmt::format("output \"{}\" of shape {}: {}", wanted.name(), toString(shape), inside.error().message),
        ""};
  return shape;
}

Result<void> Executor::copyOutput(int output, const TensorBuffer &to) {
  const plan::Tensor &wanted = plan.outputs(output);
  Result<std::vector<int64_t>> shape = outputShape(output);
  if (!shape)
    return shape.error();
  auto bytes = static_cast<uint64_t>(bytesOf(static_cast<ElementType>(wanted.type()), *shape));
  if (bytes > to.bytes || (bytes > 0 && !to.data))
    return Error{ErrorCode::OutputUnusable,
                 fmt::format("output \"{}\" has shape {} and needs {} bytes, but {} are given", wanted.name(),
                             toString(*shape), bytes, to.data ? to.bytes : 0),
                 ""};
  if (bytes == 0)
    return {};
  CUdeviceptr from = buffers[wanted.buffer()].address;
  if (to.memory == Memory::Host)
    return toHost(to.data, from, bytes);
  auto address = reinterpret_cast<CUdeviceptr>(to.data);
  return require(driver.cuMemcpyDtoDAsync_v2(address, from, bytes, stream), "copy an output");
}

Result<void> Executor::finish() {
  Result<void> done = require(driver.cuStreamSynchronize(stream), "wait for the device");
  staged.clear();
  return done ? driver.findingsBeyond(findingsBefore) : done;
}

void Executor::releaseBuffers() { buffers.clear(); }

} // namespace joule
