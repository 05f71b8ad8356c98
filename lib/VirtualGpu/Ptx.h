// The typed form of a PTX module: what the text says, with every modifier explicit and every name resolved
// that can be resolved inside one function. Nothing here knows how an instruction runs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace joule::vgpu::ptx {

/// What of a block's shared memory is the system's: kernels that ask for its place
/// (`%reserved_smem_offset_1`, as cooperative groups of several warps do) name it so, as they would a
/// variable.
constexpr std::string_view reservedShared = "%reserved_smem";
constexpr uint32_t reservedSharedBytes = 1024;

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  U16x2,
  S16x2,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2, // packed and small forms that only conversions and video ops use
};

/// Bytes that a value of this type takes in memory; a predicate takes none.
unsigned sizeOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);
const char *nameOf(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

/// One spelling of an instruction, such as `ld.global.nc.v4.f32`. A module has few distinct ones, so the
/// modifiers are taken apart once per spelling and not once per line.
struct Opcode {
  std::string text;              // the whole spelling
  std::string base;              // "ld"
  std::vector<std::string> mods; // {"global", "nc", "v4", "f32"}
  std::vector<Type> types;       // {F32}: the modifiers that are types, in order
  Space space = Space::Generic;  // the first state space named
  uint8_t vector = 1;            // 4 for .v4
  bool ftz = false, sat = false;

  bool has(std::string_view mod) const;
  Type type(unsigned i = 0) const { return i < types.size() ? types[i] : Type::None; }
  Type lastType() const { return types.empty() ? Type::None : types.back(); }
};

enum class OperandKind : uint8_t {
  None,     // `_`
  Register, // index: the function's register; value: a PartSelector, or 0
  Integer,  // value
  Float32,  // value: the bits
  Float64,  // value: the bits
  Special,  // index: SpecialRegister
  Variable, // index: a variable of this function
  Name,     // index: into Function::names; a label, a function, a module variable, a list of targets
  Vector,   // index, value: first and count in Function::operands; in brackets, an object and coordinates, and
            // in offset how many stand before those
  Pair,     // `p|q`; index, value as for Vector
};

struct Operand {
  OperandKind kind = OperandKind::None;
  bool negated = false; // `!p`, `-r`
  bool address = false; // it stood in brackets; `offset` was added there
  uint32_t index = 0;
  int64_t value = 0;
  int64_t offset = 0;
};

/// Which bytes or halves of an operand a video instruction takes, the highest first: `.b3210`, `.h1`.
struct PartSelector {
  bool halves = false;
  uint8_t count = 0, parts[4] = {};

  int64_t pack() const {
    return int64_t(parts[0]) | parts[1] << 4 | parts[2] << 8 | parts[3] << 12 | count << 16 | halves << 20;
  }
  static PartSelector unpack(int64_t bits) {
    PartSelector s;
    for (unsigned i = 0; i < 4; ++i)
      s.parts[i] = uint8_t(bits >> (4 * i) & 15);
    s.count = uint8_t(bits >> 16 & 7);
    s.halves = bits >> 20 & 1;
    return s;
  }
};

enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedSize,
  TotalSharedSize,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaIdX,
  ClusterCtaIdY,
  ClusterCtaIdZ,
  ClusterNCtaIdX,
  ClusterNCtaIdY,
  ClusterNCtaIdZ,
  ClusterCtaRank,
  ClusterNCtaRank,
  IsExplicitCluster,
  WarpSize,
  EnvReg1, // with EnvReg2 the address of a cooperative grid's workspace, upper half first
  EnvReg2,
  Zero,
  Count
};

struct Instruction {
  const Opcode *opcode = nullptr;
  int32_t guard = -1; // register, or -1
  bool guardNegated = false;
  uint16_t numOperands = 0;
  uint32_t firstOperand = 0;
  uint32_t line = 0;
};

/// A symbol whose address goes into an initialiser at `at`.
struct Relocation {
  uint64_t at;
  std::string symbol;
  int64_t addend;
  int8_t byte = -1; // only this byte of the address; -1: all of it
};

/// What a module names without saying what is in it: the driver binds it.
enum class Opaque : uint8_t { None, Texture, Sampler, Surface };

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint32_t align = 1;
  uint64_t size = 0; // bytes; 0 for the extern array whose size the launch says
  bool external = false;
  std::vector<uint8_t> init; // empty: zeros
  std::vector<Relocation> relocations;
  Opaque opaque = Opaque::None;
  std::vector<std::pair<std::string, std::string>> settings; // of an opaque one: what its initialiser says
};

struct RegisterRange {
  std::string_view prefix;
  Type type;
  uint32_t first, count;
  bool numbered; // `%r<9>` against a plain `%tmp`
};

struct Function {
  std::string name;
  bool entry = false, defined = false;
  bool gridCountsClusters = false;       // .blocksareclusters
  std::vector<uint32_t> params, returns; // into variables
  /// Parameters that the text declares as registers travel in variables without names.
  struct InRegister {
    uint32_t variable, reg;
  };
  std::vector<InRegister> paramRegisters, returnRegisters;
  std::vector<Variable> variables;
  std::vector<Type> registers;
  std::vector<RegisterRange> ranges;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<std::string_view> names;
  std::deque<std::string> ownNames; // of labels inside of braces: the text may use one name in many
  std::unordered_map<std::string_view, uint32_t> labels;                       // to an instruction
  std::unordered_map<std::string_view, std::vector<std::string_view>> targets; // .branchtargets
  uint32_t maxThreads = 0;
  uint32_t requiredBlock[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  uint32_t line = 0;

  std::string registerName(uint32_t index) const;
  const Operand *operandsOf(const Instruction &i) const { return operands.data() + i.firstOperand; }
};

struct Module {
  std::string source;
  std::string target; // "sm_80"
  int versionMajor = 0, versionMinor = 0;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::pair<std::string, std::string>> aliases; // another name, and whose
  std::unordered_map<std::string, std::unique_ptr<Opcode>> opcodes;

  /// The text of one line, without the blanks around it.
  std::string lineText(uint32_t line) const;
};

struct ParseError : std::runtime_error {
  ParseError(uint32_t line, uint32_t column, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                           what),
        line(line), column(column) {}
  uint32_t line, column;
};

/// Throws ParseError where the text breaks PTX's grammar or names a register that is not declared.
std::unique_ptr<Module> parse(std::string source);

} // namespace joule::vgpu::ptx
