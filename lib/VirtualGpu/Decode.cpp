// One PTX instruction after the other becomes operations. The table at the end names a function per base
// opcode; what has no row, or asks for something its function does not know, becomes a trap that says so.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

void Decoder::run() {
  p.function = &f;
  temporaryBase = placeRegisters(f, registers);
  p.registers32 = temporaryBase / 128;
  for (size_t r = 0; r < registers.size(); ++r)
    if (registers[r] != noRegister)
      p.places.push_back({registers[r], uint8_t(widthOf(f.registers[r]))});
  placeVariables();
  findLabels();
  takeParameters();
  for (at = 0; at < f.instructions.size(); ++at)
    decodeOne();
  placeLabel(uint32_t(f.instructions.size()));
  emit("exit").instruction = uint32_t(f.instructions.size() - 1);
  finish();
}

// --- the frame ---

uint32_t Decoder::reserve(uint64_t bytes) {
  if (bytes > mostFrameBytes - temporaryBase)
    throw std::runtime_error("the frame of '" + f.name + "' is too large");
  uint32_t offset = temporaryBase;
  temporaryBase += uint32_t(bytes + 63) & ~63u;
  return offset;
}

void Decoder::placeVariables() {
  variablePlace.assign(f.variables.size(), 0);
  uint32_t local = 0;
  for (uint32_t i = 0; i < f.variables.size(); ++i) {
    const ptx::Variable &v = f.variables[i];
    if (v.space != Space::Local)
      continue;
    local = (local + v.align - 1) / v.align * v.align;
    if (v.size > mostLocalBytes - std::min(local, mostLocalBytes))
      throw std::runtime_error("the local memory of '" + f.name + "' is too large");
    variablePlace[i] = local;
    local += uint32_t(v.size);
  }
  p.localBytes = (local + 15) & ~15u;
  for (uint32_t i = 0; i < f.variables.size(); ++i)
    if (f.variables[i].space == Space::Param && !isKernelParameter(i))
      variablePlace[i] = reserve(uint64_t(frameStride(i)) * warpSize);
  placeKernelParameters();
  for (uint32_t i : f.params)
    if (!f.entry)
      p.parameters.push_back({variablePlace[i], frameStride(i)});
  for (uint32_t i : f.returns)
    p.results.push_back({variablePlace[i], frameStride(i)});
}

uint32_t Decoder::frameStride(uint32_t i) const { return uint32_t(f.variables[i].size + 7) & ~7u; }

bool Decoder::isKernelParameter(uint32_t i) const { return f.entry && i < f.params.size(); }

void Decoder::placeKernelParameters() {
  uint32_t offset = 0;
  for (uint32_t i : f.params) {
    if (!f.entry)
      break;
    const ptx::Variable &v = f.variables[i];
    offset = (offset + v.align - 1) / v.align * v.align;
    if (v.size > mostParameterBytes - std::min(offset, mostParameterBytes))
      throw std::runtime_error("the parameters of '" + f.name + "' are too large");
    variablePlace[i] = offset;
    p.kernelParameters.push_back(offset);
    p.kernelParameterSizes.push_back(uint32_t(v.size));
    offset += uint32_t(v.size);
  }
  p.kernelParameterBytes = offset;
}

uint32_t Decoder::temporary(unsigned width) {
  uint32_t bytes = width ? width * warpSize : 64;
  auto &pool = temporaries[width];
  size_t used = temporariesUsed[width]++;
  if (used == pool.size()) {
    pool.push_back(reserve(bytes));
    p.places.push_back({pool.back(), uint8_t(width)});
  }
  return pool[used];
}

uint32_t Decoder::constant(unsigned width, uint64_t bits) {
  if (width == 0)
    bits = bits ? allLanes : 0;
  if (width && width < 8)
    bits &= (1ull << (8 * width)) - 1;
  auto [it, isNew] = constants.emplace(std::make_pair(width, bits), 0);
  if (isNew) {
    it->second = reserve(width ? width * warpSize : 64);
    p.constants.push_back({it->second, uint8_t(width), bits});
    p.places.push_back({it->second, uint8_t(width)});
  }
  return it->second;
}

// --- emitting ---

Op &Decoder::emit(const std::string &name) {
  auto it = handlers().find(name);
  if (it == handlers().end())
    throw Unsupported{"no form '" + name + "'"};
  Op op;
  memset(&op, 0, sizeof op);
  op.fn = it->second.fn;
  op.masked = it->second.masked;
  op.d = op.a = op.b = op.c = op.e = noRegister;
  op.instruction = uint32_t(at);
  wholeSeen |= it->second.whole;
  p.ops.push_back(op);
  return p.ops.back();
}

void Decoder::emit(const std::string &name, uint32_t d, uint32_t a, uint32_t b, uint32_t c) {
  Op &op = emit(name);
  op.d = d, op.a = a, op.b = b, op.c = c;
}

const uint32_t *Decoder::keepList(std::vector<uint32_t> list) {
  p.lists.push_back(std::move(list));
  return p.lists.back().data();
}

void Decoder::decodeOne() {
  placeLabel(uint32_t(at));
  const Instruction &i = f.instructions[at];
  instruction = &i;
  opcode = i.opcode;
  size_t start = p.ops.size();
  startTemporaries();
  wholeSeen = false;
  try {
    auto method = methods().find(opcode->base);
    if (method == methods().end())
      throw Unsupported{"unknown instruction"};
    (this->*method->second)();
  } catch (const Unsupported &problem) {
    p.ops.resize(start);
    startTemporaries();
    emitTrap(FaultKind::IllegalInstruction, problem.why);
  }
  if (symbols.options().check)
    addChecks(start);
  if (i.guard >= 0 && opcode->base != "bra")
    guardFrom(start);
}

void Decoder::startTemporaries() { temporariesUsed.clear(); }

void Decoder::emitTrap(FaultKind kind, const std::string &why) {
  Op &op = emit("trap");
  op.imm = int64_t(kind);
  op.e = uint32_t(p.problems.size());
  p.problems.push_back(why);
}

void Decoder::guardFrom(size_t start) {
  uint32_t predicate = registers[instruction->guard];
  if (p.ops.size() == start)
    return;
  std::vector<Op> body(p.ops.begin() + start, p.ops.end());
  p.ops.resize(start);
  bool around = wholeSeen;
  if (around) {
    Op &skip = emit("bra.if");
    skip.a = predicate;
    skip.n = !instruction->guardNegated;
    p.ops.insert(p.ops.end(), body.begin(), body.end());
    skips.push_back({start, uint32_t(p.ops.size())});
    emit("label").imm = -1;
    return;
  }
  for (const Op &op : body) {
    Op &guard = emit("guard");
    guard.a = predicate;
    guard.guard = instruction->guardNegated;
    p.ops.push_back(op);
  }
}

// --- labels and blocks ---

void Decoder::findLabels() {
  isLeader.assign(f.instructions.size() + 1, false);
  isLeader[0] = true;
  for (auto &label : f.labels)
    isLeader[label.second] = true;
  for (size_t i = 0; i < f.instructions.size(); ++i) {
    const std::string &base = f.instructions[i].opcode->base;
    if (base == "bra" || base == "brx" || base == "exit" || base == "ret")
      isLeader[i + 1] = true;
  }
  placeOf.assign(f.instructions.size() + 1, 0);
}

void Decoder::placeLabel(uint32_t i) {
  if (!isLeader[i])
    return;
  placeOf[i] = uint32_t(p.ops.size());
  size_t saved = at;
  at = std::min<size_t>(i, f.instructions.size() ? f.instructions.size() - 1 : 0);
  emit("label").imm = int64_t(p.blocks.size());
  at = saved;
  p.blocks.push_back({});
}

void Decoder::branchTo(std::string_view name, const std::string &kind, uint32_t predicate, bool negated) {
  auto label = f.labels.find(name);
  if (label == f.labels.end())
    throw Unsupported{"no label '" + std::string(name) + "'"};
  size_t place = p.ops.size();
  Op &op = emit(kind);
  op.a = predicate;
  op.n = negated;
  branches.push_back({place, label->second});
}

void Decoder::finish() {
  for (auto [place, label] : branches)
    p.ops[place].target = p.ops.data() + placeOf[label];
  for (auto [place, target] : skips)
    p.ops[place].target = p.ops.data() + target;
  p.frameBytes = (temporaryBase + 63) & ~63u;
  p.firstBlock = symbols.newBlocks(uint32_t(p.blocks.size()));
  int64_t block = 0;
  for (Op &op : p.ops)
    if (op.fn == handlers().at("label").fn)
      op.imm = op.imm < 0 ? -1 : int64_t(p.firstBlock) + block++;
  for (size_t i = 0, b = 0; i < f.instructions.size(); ++i) {
    if (i && isLeader[i])
      ++b;
    const ptx::Opcode &opcode = *f.instructions[i].opcode;
    ++p.blocks[b].instructions[unsigned(classify(opcode))];
    if (classify(opcode) == InstructionClass::Matrix)
      p.blocks[b].matrixFlops[unsigned(matrixTypeOf(opcode))] += matrixFlopsOf(opcode);
  }
}

// --- operands ---

unsigned Decoder::count() const { return instruction->numOperands; }

const Operand &Decoder::operand(unsigned i) const {
  if (i >= count())
    throw Unsupported{"too few operands"};
  return f.operandsOf(*instruction)[i];
}

const Operand &Decoder::element(const Operand &list, unsigned i) const {
  if ((list.kind != OperandKind::Vector && list.kind != OperandKind::Pair) || i >= list.value)
    throw Unsupported{"too few parts of an operand"};
  return f.operands[list.index + i];
}

bool Decoder::isVector(const Operand &o) const { return o.kind == OperandKind::Vector; }

std::string_view Decoder::nameOf(const Operand &o) const {
  if (o.kind != OperandKind::Name)
    throw Unsupported{"an operand that is no name"};
  return f.names[o.index];
}

unsigned Decoder::widthOfRegister(const Operand &o) const { return widthOf(f.registers[o.index]); }

uint32_t Decoder::result(const Operand &o, unsigned width) {
  if (o.kind == OperandKind::None)
    return temporary(width);
  if (o.kind != OperandKind::Register)
    throw Unsupported{"the result is not a register"};
  if (widthOfRegister(o) != width)
    throw Unsupported{"the result's register has another size"};
  if (o.value)
    throw Unsupported{"a part of a register"};
  return registers[o.index];
}

uint32_t Decoder::use(const Operand &o, unsigned width, Type type) {
  switch (o.kind) {
  case OperandKind::Register:
    return useRegister(o, width);
  case OperandKind::Integer:
    return constant(width, isReal(type) ? realBits(type, double(o.value)) : uint64_t(o.value));
  case OperandKind::Float32:
    return constant(width, type == Type::F64 ? realBits(type, floatOf(o)) : uint64_t(uint32_t(o.value)));
  case OperandKind::Float64:
    return constant(width,
                    type == Type::F64 || width == 8 ? uint64_t(o.value) : realBits(Type::F32, doubleOf(o)));
  case OperandKind::Special:
    return useSpecial(o, width);
  case OperandKind::Variable:
    return useVariable(o, width);
  case OperandKind::Name:
    return constant(width, addressOfName(o));
  default:
    throw Unsupported{"this kind of operand"};
  }
}

uint32_t Decoder::useRegister(const Operand &o, unsigned width) {
  if (widthOfRegister(o) != width)
    throw Unsupported{"a register has another size than the instruction"};
  if (o.value)
    throw Unsupported{"a part of a register"};
  if (!o.negated)
    return registers[o.index];
  uint32_t t = temporary(width);
  if (width == 0)
    emit("not.pred", t, registers[o.index]);
  else
    emit("neg." + std::string(ptx::nameOf(bitsType(width))), t, registers[o.index]);
  return t;
}

double Decoder::floatOf(const Operand &o) {
  float x;
  uint32_t bits = uint32_t(o.value);
  memcpy(&x, &bits, 4);
  return x;
}

double Decoder::doubleOf(const Operand &o) {
  double x;
  memcpy(&x, &o.value, 8);
  return x;
}

uint64_t Decoder::realBits(Type type, double x) {
  uint64_t bits = 0;
  float narrow = float(x);
  if (type == Type::F64)
    memcpy(&bits, &x, 8);
  else
    memcpy(&bits, &narrow, 4);
  return bits;
}

uint32_t Decoder::useSpecial(const Operand &o, unsigned width) {
  uint32_t t = temporary(width);
  emitSpecial(o, t, width);
  return t;
}

void Decoder::emitSpecial(const Operand &o, uint32_t d, unsigned width) {
  if (width != 4 && width != 8 && width != 2)
    throw Unsupported{"a special register of this size"};
  Op &op = emit("special." + std::to_string(width));
  op.d = d;
  op.imm = o.index;
}

uint32_t Decoder::useVariable(const Operand &o, unsigned width) {
  const ptx::Variable &v = f.variables[o.index];
  if (v.space == Space::Local) {
    if (width != 8)
      throw Unsupported{"a 32-bit address of local memory"};
    uint32_t t = temporary(8);
    Op &op = emit("localaddress");
    op.d = t;
    op.imm = int64_t(variablePlace[o.index] + uint64_t(o.offset));
    return t;
  }
  return constant(width, variableAddress(o));
}

uint64_t Decoder::variableAddress(const Operand &o) {
  const ptx::Variable &v = f.variables[o.index];
  if (v.space == Space::Param) {
    if (!isKernelParameter(o.index))
      return noAddress; // compilers take it and never use it; whoever does is told
    return variablePlace[o.index] + uint64_t(o.offset);
  }
  if (v.space == Space::Shared)
    return symbols.sharedOffset(f, o.index) + uint64_t(o.offset);
  uint64_t address;
  if (!symbols.addressOf(v.name, v.space, address))
    throw Unsupported{"the variable '" + v.name + "'"};
  return address + uint64_t(o.offset);
}

uint64_t Decoder::addressOfName(const Operand &o) {
  std::string_view name = nameOf(o);
  Space space;
  uint64_t address;
  if (symbols.spaceOf(name, space) && symbols.addressOf(name, space, address))
    return address + uint64_t(o.offset);
  if (symbols.programOf(name))
    return codeWindow + symbols.functionIndexOf(name);
  throw Unsupported{"undeclared name '" + std::string(name) + "'"};
}

uint32_t Decoder::predicate(const Operand &o) { return use(o, 0); }

// --- shapes that many instructions share ---

Type Decoder::type() const { return opcode->type(); }
std::string Decoder::firstModifier() const { return opcode->mods.empty() ? "" : opcode->mods[0]; }

unsigned Decoder::width() const { return widthOf(type()); }

const char *Decoder::ftz() const { return opcode->ftz ? ".ftz" : ""; }

void Decoder::twoOperands(const std::string &name) {
  uint32_t a = use(operand(1), width(), type());
  emit(name, result(operand(0), width()), a);
}

void Decoder::threeOperands(const std::string &name, unsigned shiftWidth) {
  uint32_t a = use(operand(1), width(), type()),
           b = use(operand(2), shiftWidth ? shiftWidth : width(), type());
  emit(name, result(operand(0), width()), a, b);
}

void Decoder::fourOperands(const std::string &name) {
  uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
           c = use(operand(3), width(), type());
  emit(name, result(operand(0), width()), a, b, c);
}

scalar::Rule Decoder::rule(uint8_t operation) const {
  scalar::Rule r;
  r.operation = operation;
  r.to = r.from = uint8_t(type());
  r.rounding = roundingOf(*opcode);
  r.ftz = opcode->ftz;
  r.saturate = opcode->sat;
  return r;
}

void Decoder::slow(const scalar::Rule &r, uint32_t d, unsigned w, uint32_t a, uint32_t b, uint32_t c) {
  Op &op = emit("slow." + std::to_string(w));
  op.d = d, op.a = a, op.b = b == noRegister ? a : b, op.c = c == noRegister ? a : c;
  op.imm = int64_t(scalar::pack(r));
}

void Decoder::slowFromOperands(uint8_t operation) {
  uint32_t inputs[3] = {noRegister, noRegister, noRegister};
  for (unsigned i = 1; i < count() && i < 4; ++i)
    inputs[i - 1] = use(operand(i), width(), type());
  slow(rule(operation), result(operand(0), width()), width(), inputs[0], inputs[1], inputs[2]);
}

void Decoder::saturate() {
  if (!opcode->sat)
    return;
  uint32_t d = result(operand(0), width());
  emit(std::string("sat.") + ptx::nameOf(type()), d, d);
}

bool Decoder::roundsOddly() const {
  return roundingOf(*opcode) != scalar::Rounding::Nearest && isReal(type());
}

const std::unordered_map<std::string, Decoder::Method> &Decoder::methods() {
  using D = Decoder;
  static const std::unordered_map<std::string, Method> table = {{"add", &D::add},
                                                                {"sub", &D::sub},
                                                                {"addc", &D::addWithCarry},
                                                                {"subc", &D::subWithCarry},
                                                                {"mul", &D::mul},
                                                                {"mad", &D::mad},
                                                                {"madc", &D::madWithCarryIn},
                                                                {"fma", &D::fma},
                                                                {"mul24", &D::mul24},
                                                                {"mad24", &D::mad24},
                                                                {"div", &D::div},
                                                                {"rem", &D::rem},
                                                                {"rcp", &D::rcp},
                                                                {"sqrt", &D::sqrt},
                                                                {"rsqrt", &D::approximate},
                                                                {"ex2", &D::approximate},
                                                                {"lg2", &D::approximate},
                                                                {"sin", &D::approximate},
                                                                {"cos", &D::approximate},
                                                                {"tanh", &D::approximate},
                                                                {"abs", &D::absolute},
                                                                {"neg", &D::negate},
                                                                {"min", &D::minOrMax},
                                                                {"max", &D::minOrMax},
                                                                {"and", &D::logic},
                                                                {"or", &D::logic},
                                                                {"xor", &D::logic},
                                                                {"not", &D::logicalNot},
                                                                {"cnot", &D::conditionalNot},
                                                                {"shl", &D::shiftLeft},
                                                                {"shr", &D::shiftRight},
                                                                {"sad", &D::sumOfDifferences},
                                                                {"popc", &D::countBits},
                                                                {"clz", &D::countBits},
                                                                {"brev", &D::reverse},
                                                                {"bfind", &D::findBit},
                                                                {"bfe", &D::extractField},
                                                                {"bfi", &D::insertField},
                                                                {"prmt", &D::permute},
                                                                {"lop3", &D::logicTable},
                                                                {"shf", &D::funnelShift},
                                                                {"dp4a", &D::dotBytes},
                                                                {"dp2a", &D::dotPairs},
                                                                {"bmsk", &D::bitMask},
                                                                {"szext", &D::sizeExtend},
                                                                {"fns", &D::findNthSet},
                                                                {"vabsdiff4", &D::video},
                                                                {"vadd4", &D::video},
                                                                {"vsub4", &D::video},
                                                                {"vmin4", &D::video},
                                                                {"vmax4", &D::video},
                                                                {"vavrg4", &D::video},
                                                                {"vadd", &D::video},
                                                                {"vsub", &D::video},
                                                                {"vabsdiff", &D::video},
                                                                {"vmin", &D::video},
                                                                {"vmax", &D::video},
                                                                {"vshl", &D::video},
                                                                {"vshr", &D::video},
                                                                {"vset", &D::video},
                                                                {"vmad", &D::video},
                                                                {"vadd2", &D::video},
                                                                {"vsub2", &D::video},
                                                                {"vabsdiff2", &D::video},
                                                                {"vmin2", &D::video},
                                                                {"vmax2", &D::video},
                                                                {"vavrg2", &D::video},
                                                                {"vset2", &D::video},
                                                                {"vset4", &D::video},
                                                                {"createpolicy", &D::createPolicy},
                                                                {"alloca", &D::allocateLocal},
                                                                {"stacksave", &D::localStack},
                                                                {"stackrestore", &D::localStack},
                                                                {"copysign", &D::copySign},
                                                                {"testp", &D::testFloat},
                                                                {"setp", &D::setPredicate},
                                                                {"set", &D::setValue},
                                                                {"selp", &D::selectByPredicate},
                                                                {"slct", &D::selectBySign},
                                                                {"mov", &D::move},
                                                                {"cvt", &D::convert},
                                                                {"ld", &D::load},
                                                                {"ldu", &D::load},
                                                                {"st", &D::store},
                                                                {"cvta", &D::convertAddress},
                                                                {"isspacep", &D::testSpace},
                                                                {"atom", &D::atomic},
                                                                {"red", &D::reduceAtomic},
                                                                {"cp", &D::copyAsync},
                                                                {"mbarrier", &D::memoryBarrier},
                                                                {"tensormap", &D::tensorMap},
                                                                {"mapa", &D::mapAddress},
                                                                {"getctarank", &D::rankOfAddress},
                                                                {"ldmatrix", &D::loadMatrix},
                                                                {"mma", &D::multiplyMatrices},
                                                                {"wgmma", &D::multiplyWarpgroup},
                                                                {"stmatrix", &D::storeMatrix},
                                                                {"movmatrix", &D::turnMatrix},
                                                                {"wmma", &D::wmma},
                                                                {"tex", &D::sampleTexture},
                                                                {"tld4", &D::gatherTexture},
                                                                {"suld", &D::loadSurface},
                                                                {"sust", &D::storeSurface},
                                                                {"sured", &D::reduceSurface},
                                                                {"txq", &D::queryImage},
                                                                {"suq", &D::queryImage},
                                                                {"bra", &D::branch},
                                                                {"brx", &D::branchIndexed},
                                                                {"exit", &D::exitThread},
                                                                {"ret", &D::returnFromFunction},
                                                                {"trap", &D::trap},
                                                                {"brkpt", &D::nothing},
                                                                {"nanosleep", &D::sleep},
                                                                {"call", &D::call},
                                                                {"shfl", &D::shuffle},
                                                                {"vote", &D::vote},
                                                                {"match", &D::match},
                                                                {"redux", &D::reduceWarp},
                                                                {"activemask", &D::activeMask},
                                                                {"elect", &D::elect},
                                                                {"bar", &D::barrier},
                                                                {"barrier", &D::barrier},
                                                                {"membar", &D::nothing},
                                                                {"fence", &D::nothing},
                                                                {"prefetch", &D::nothing},
                                                                {"prefetchu", &D::nothing},
                                                                {"discard", &D::nothing},
                                                                {"applypriority", &D::nothing},
                                                                {"griddepcontrol", &D::nothing},
                                                                {"setmaxnreg", &D::nothing},
                                                                {"pmevent", &D::nothing}};
  return table;
}

bool isKnown(const ptx::Opcode &opcode) { return Decoder::methods().count(opcode.base) != 0; }

bool hasResult(const ptx::Opcode &opcode) {
  static const char *const without[] = {
      "st",         "red",       "bra",          "brx",       "call",          "bar",      "barrier",
      "membar",     "fence",     "prefetch",     "prefetchu", "exit",          "ret",      "trap",
      "brkpt",      "nanosleep", "cp",           "discard",   "applypriority", "stmatrix", "griddepcontrol",
      "setmaxnreg", "pmevent",   "stackrestore", "wgmma",     "sust",          "sured"};
  if (opcode.base == "bar" || opcode.base == "barrier")
    return opcode.has("red");
  if (opcode.base == "wmma")
    return !opcode.has("store");
  if (opcode.base == "mbarrier")
    return !opcode.has("init") && !opcode.has("inval");
  for (const char *base : without)
    if (opcode.base == base)
      return false;
  return true;
}

void decode(const ptx::Function &f, SymbolSource &symbols, Program &program) {
  Decoder(f, symbols, program).run();
}

} // namespace joule::vgpu
