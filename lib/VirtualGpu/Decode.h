// From a PTX function to operations that run: registers get places in the frame, constants and addresses are
// settled, and every instruction becomes one or a few operations.
#pragma once

#include "lib/VirtualGpu/ImageAccess.h"
#include "lib/VirtualGpu/Program.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/VideoRule.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace joule::vgpu {

/// The operands that a matrix instruction multiplies.
enum class MatrixType : uint8_t { Fp16, Tf32, Fp8, Int8, Fp64, Count };
constexpr unsigned matrixTypes = unsigned(MatrixType::Count);
const char *nameOf(MatrixType type);

/// What instructions are counted as.
enum class InstructionClass : uint8_t {
  Fp32Fma,
  Fp32Add,
  Fp32Mul,
  Fp32Other,
  Fp64,
  Fp16,
  Integer,
  Special,
  Conversion,
  Move,
  Control,
  LoadGlobal,
  StoreGlobal,
  LoadShared,
  StoreShared,
  LoadLocal,
  StoreLocal,
  LoadConst,
  Atomic,
  Barrier,
  Matrix,
  Other,
  Count
};
const char *nameOf(InstructionClass c);

struct Constant {
  uint32_t offset;
  uint8_t width; // bytes per lane; 0 for a predicate
  uint64_t bits;
};

/// A register, temporary or constant in the frame.
struct FramePlace {
  uint32_t offset;
  uint8_t width; // bytes per lane; 0 for a predicate
};

/// A piece of the frame through which a call passes one parameter: `bytes` per lane, lane after lane.
struct FrameParameter {
  uint32_t offset, bytes;
};

struct Program;

struct CallSite {
  const Program *callee = nullptr; // null: the address is in a register
  uint32_t target = noRegister;
  std::vector<FrameParameter> arguments, results;
};

struct BlockCost {
  uint32_t instructions[unsigned(InstructionClass::Count)] = {};
  uint64_t matrixFlops[matrixTypes] = {}; // of one warp, by MatrixType
};

struct Program {
  const ptx::Function *function = nullptr;
  std::vector<Op> ops;
  uint32_t frameBytes = 0;
  std::vector<Constant> constants;
  std::vector<FramePlace> places; // all that operations name by offset; constants too
  std::vector<FrameParameter> parameters, results; // of a device function
  std::vector<uint32_t> kernelParameters;          // byte offsets in the launch's block
  std::vector<uint32_t> kernelParameterSizes;
  uint32_t kernelParameterBytes = 0;
  uint32_t localBytes = 0;
  bool allocatesLocal = false; // alloca
  bool calls = false;
  uint32_t functionIndex = 0;
  uint32_t registers32 = 0;      // an estimate of the registers per thread: the frame's high-water mark
  std::vector<BlockCost> blocks; // this program's, from firstBlock
  uint32_t firstBlock = 0;
  std::deque<std::vector<uint32_t>> lists;
  std::deque<CallSite> callSites;
  std::deque<WmmaShape> wmmaShapes;
  std::deque<WmmaProduct> wmmaProducts;
  std::deque<BulkCopy> bulkCopies;
  std::deque<MatrixTile> tiles;
  std::deque<VideoRule> videoRules;
  std::deque<ImageAccess> imageAccesses;
  std::vector<std::string> problems; // instructions that trap when they run, and why
};

/// How a module is to run.
struct DecodeOptions {
  int exactArchitecture =
      0; // 80: floating matrix products as on sm_80, bit for bit; 0: in f32, in the order of k
  bool check = false; // operations that check are put around those that touch memory
};

/// What decoding needs to know of the module around the function.
class SymbolSource {
public:
  virtual ~SymbolSource() = default;
  virtual const DecodeOptions &options() const = 0;
  /// The generic address of a module variable; false if there is none of that name.
  virtual bool addressOf(std::string_view name, ptx::Space space, uint64_t &address) = 0;
  /// The space it was declared in.
  virtual bool spaceOf(std::string_view name, ptx::Space &space) = 0;
  /// The offset of a function's own static shared variable.
  virtual uint64_t sharedOffset(const ptx::Function &f, uint32_t variable) = 0;
  virtual Program *programOf(std::string_view name) = 0;
  virtual uint32_t functionIndexOf(std::string_view name) = 0;
  virtual uint16_t newRangeSlot() = 0;
  virtual uint32_t newBlocks(uint32_t count) = 0;
};

struct HandlerPair {
  Handler fn, masked;
  bool whole; // may not stand behind a guard: it needs the scheduler
};

/// The handlers for the machine this runs on, by name.
const std::unordered_map<std::string, HandlerPair> &handlers();
/// "avx512", "avx2" or "baseline": the best the machine has, or less where the settings ask for it.
const char *instructionSet();

/// Bytes per lane of a register of this type; 0 for a predicate.
unsigned registerWidth(ptx::Type type);

/// Gives every register that is used a place; `offsets` is noRegister for the others. Returns the bytes used.
uint32_t placeRegisters(const ptx::Function &f, std::vector<uint32_t> &offsets);

void decode(const ptx::Function &f, SymbolSource &symbols, Program &program);

InstructionClass classify(const ptx::Opcode &opcode);
/// What a matrix instruction multiplies, and how often a warp does so, twice: a product and a sum.
MatrixType matrixTypeOf(const ptx::Opcode &opcode);
uint64_t matrixFlopsOf(const ptx::Opcode &opcode);
/// Does this build know the instruction? For `joule-ptx parse`.
bool isKnown(const ptx::Opcode &opcode);
/// Is operand 0 written?
bool hasResult(const ptx::Opcode &opcode);

} // namespace joule::vgpu
