// Decoding of branches, calls, barriers and the instructions between the lanes of a warp.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- control ---

void Decoder::branch() {
  const Instruction &i = *instruction;
  if (i.guard < 0)
    return branchTo(nameOf(operand(0)), "bra", noRegister, false);
  branchTo(nameOf(operand(0)), "bra.if", registers[i.guard], i.guardNegated);
}

void Decoder::branchIndexed() {
  auto list = f.targets.find(nameOf(operand(1)));
  if (list == f.targets.end())
    throw Unsupported{"no list of targets"};
  uint32_t index = use(operand(0), 4);
  for (size_t i = 0; i < list->second.size(); ++i) {
    uint32_t here = temporary(0);
    Op &op = emit("setp.eq.u32");
    op.d = here, op.a = index, op.b = constant(4, i);
    branchTo(list->second[i], "bra.if", here, false);
  }
}

void Decoder::exitThread() { emit("exit"); }

void Decoder::returnFromFunction() {
  giveResults();
  emit(f.entry ? "exit" : "ret");
}

void Decoder::trap() { emitTrap(FaultKind::Trap, "trap"); }

void Decoder::sleep() { emit("sleep"); }

void Decoder::nothing() { emit("nop"); }

void Decoder::moveParameter(const char *how, FrameParameter place, uint32_t reg, unsigned width) {
  if (width < 2 || width > 8)
    throw Unsupported{"a parameter of this size"};
  Op &op = emit(how + std::string(".u") + std::to_string(8 * width) + "." + std::to_string(width));
  op.d = reg, op.a = place.offset, op.b = place.bytes;
}

/// The registers that the function's head declares.
void Decoder::takeParameters() {
  try {
    for (const auto &taken : f.paramRegisters)
      if (registers[taken.reg] != noRegister)
        moveParameter("ldframe", {variablePlace[taken.variable], frameStride(taken.variable)},
                      registers[taken.reg], widthOf(f.registers[taken.reg]));
  } catch (const Unsupported &problem) {
    emitTrap(FaultKind::IllegalInstruction, problem.why);
  }
}
void Decoder::giveResults() {
  for (const auto &given : f.returnRegisters)
    if (registers[given.reg] != noRegister)
      moveParameter("stframe", {variablePlace[given.variable], frameStride(given.variable)},
                    registers[given.reg], widthOf(f.registers[given.reg]));
}

/// A call's argument: a variable, or a value that is put into the frame.
FrameParameter Decoder::argument(const Operand &o) {
  if (o.kind == OperandKind::Variable)
    return frameParameter(o);
  unsigned width = o.kind == OperandKind::Register ? widthOfRegister(o) : 8;
  FrameParameter place = {reserve(8 * warpSize), 8};
  moveParameter("stframe", place, use(o, width), width);
  return place;
}

FrameParameter Decoder::frameParameter(const Operand &o) {
  if (!isFrameParameter(o))
    throw Unsupported{"a call's parameter in a register"};
  return {variablePlace[o.index], frameStride(o.index)};
}

void Decoder::call() {
  unsigned i = 0;
  CallSite site;
  std::vector<Operand> results;
  if (isVector(operand(0)))
    for (const Operand &o = operand(i++); results.size() < size_t(o.value);)
      results.push_back(element(o, unsigned(results.size())));
  for (const Operand &o : results)
    site.results.push_back(o.kind == OperandKind::Variable ? frameParameter(o)
                                                           : FrameParameter{reserve(8 * warpSize), 8});
  const Operand &target = operand(i++);
  if (i < count() && isVector(operand(i)))
    for (const Operand &o = operand(i++); site.arguments.size() < size_t(o.value);)
      site.arguments.push_back(argument(element(o, unsigned(site.arguments.size()))));
  std::vector<FrameParameter> places = site.results;
  if (target.kind == OperandKind::Register)
    site.target = use(target, 8);
  else if (target.kind != OperandKind::Name)
    throw Unsupported{"this kind of call"};
  else if (!(site.callee = symbols.programOf(nameOf(target))))
    return callBuiltin(nameOf(target), std::move(site));
  p.calls = true;
  p.callSites.push_back(std::move(site));
  emit("call").data = &p.callSites.back();
  for (size_t k = 0; k < results.size(); ++k)
    if (results[k].kind == OperandKind::Register)
      moveParameter("ldframe", places[k], result(results[k], widthOfRegister(results[k])),
                    widthOfRegister(results[k]));
}

void Decoder::callBuiltin(std::string_view name, CallSite site) {
  for (const char *known : {"vprintf", "__assertfail", "malloc", "free"})
    if (name == known) {
      p.callSites.push_back(std::move(site));
      emit("device." + std::string(name)).data = &p.callSites.back();
      return;
    }
  throw Unsupported{"the function '" + std::string(name) + "' is not defined"};
}

// --- warps ---

void Decoder::shuffle() {
  const Operand &to = operand(0);
  bool pair = to.kind == OperandKind::Pair;
  std::string how = opcode->has("up")     ? "up"
                    : opcode->has("down") ? "down"
                    : opcode->has("bfly") ? "bfly"
                                          : "idx";
  uint32_t d = result(pair ? element(to, 0) : to, 4), e = pair ? result(element(to, 1), 0) : noRegister;
  uint32_t a = use(operand(1), 4, type()), b = use(operand(2), 4), c = use(operand(3), 4);
  uint32_t members = opcode->has("sync") ? use(operand(4), 4) : noRegister;
  Op &op = emit("shfl." + how);
  op.d = d, op.e = e, op.a = a, op.b = b, op.c = c;
  op.list = keepList({members});
}

void Decoder::vote() {
  std::string how = opcode->has("ballot") ? "ballot"
                    : opcode->has("all")  ? "all"
                    : opcode->has("any")  ? "any"
                                          : "uni";
  bool ballot = how == "ballot";
  uint32_t a = predicate(operand(1)), members = opcode->has("sync") ? use(operand(2), 4) : noRegister;
  uint32_t d = result(operand(0), ballot ? 4 : 0);
  emit("vote." + how, d, a, members);
}

void Decoder::match() {
  const Operand &to = operand(0);
  bool pair = to.kind == OperandKind::Pair;
  uint32_t a = use(operand(1), width()), members = use(operand(2), 4);
  uint32_t d = result(pair ? element(to, 0) : to, 4), e = pair ? result(element(to, 1), 0) : noRegister;
  Op &op = emit(std::string("match.") + (opcode->has("all") ? "all." : "any.") + std::to_string(width()));
  op.d = d, op.e = e, op.a = a, op.b = members;
}

void Decoder::reduceWarp() {
  if (width() != 4 || type() == Type::F32)
    throw Unsupported{"this type"};
  for (const char *how : {"add", "min", "max", "and", "or", "xor"})
    if (opcode->has(how)) {
      bool isSigned = type() == Type::S32 && (how[0] == 'm');
      uint32_t a = use(operand(1), 4), members = use(operand(2), 4);
      return emit(std::string("redux.") + how + (isSigned ? ".s32" : ""), result(operand(0), 4), a, members);
    }
  throw Unsupported{"this reduction"};
}

void Decoder::activeMask() { emit("activemask", result(operand(0), 4), noRegister); }

void Decoder::elect() {
  const Operand &to = operand(0);
  if (to.kind != OperandKind::Pair)
    throw Unsupported{"elect.sync without a predicate"};
  uint32_t d = result(element(to, 0), 4), members = use(operand(1), 4);
  Op &op = emit("elect");
  op.d = d, op.e = result(element(to, 1), 0), op.b = members;
}

void Decoder::barrier() {
  if (opcode->has("warp")) {
    uint32_t members = use(operand(0), 4);
    return emit("warpsync", noRegister, noRegister, members);
  }
  if (opcode->has("cluster"))
    return clusterBarrier();
  if (opcode->has("red"))
    return reducingBarrier();
  uint32_t id = use(operand(0), 4), threads = count() > 1 ? use(operand(1), 4) : noRegister;
  emit(opcode->has("arrive") ? "bar.arrive" : "bar.sync", noRegister, id, threads);
  p.ops.back().n = opcode->has("arrive") ? 1 : 0; // the scheduler tells the kinds apart by this
}

void Decoder::clusterBarrier() { emit(opcode->has("arrive") ? "cluster.arrive" : "cluster.wait"); }

void Decoder::reducingBarrier() {
  bool ones = opcode->has("popc");
  unsigned last = count() - 1;
  uint32_t id = use(operand(1), 4), threads = last > 2 ? use(operand(2), 4) : noRegister,
           value = predicate(operand(last));
  uint32_t d = result(operand(0), ones ? 4 : 0);
  emit(ones ? "bar.red.popc" : opcode->has("and") ? "bar.red.and" : "bar.red.or", d, id, threads, value);
  p.ops.back().n = ones ? 2 : opcode->has("and") ? 3 : 4;
}

} // namespace joule::vgpu
