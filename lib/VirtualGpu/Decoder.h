// The decoder's inside: what the files that decode one kind of instruction each share.
#pragma once

#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/Scalar.h"

#include <cstring>

namespace joule::vgpu {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

/// In no space: an access traps.
constexpr uint64_t noAddress = 6ull << 56;

/// Why an instruction cannot be decoded; it becomes the trap's message.
struct Unsupported {
  std::string why;
};

inline unsigned widthOf(Type type) { return registerWidth(type); }

inline Type bitsType(unsigned width) {
  return width == 0   ? Type::Pred
         : width <= 2 ? Type::B16
         : width == 4 ? Type::B32
         : width == 8 ? Type::B64
                      : Type::B128;
}

/// "b32" for any 32-bit integer: what does not depend on the sign.
inline std::string bitsName(Type type) { return ptx::nameOf(bitsType(ptx::sizeOf(type))); }

/// "u32" or "s32".
inline std::string signName(Type type) {
  return std::string(ptx::isSigned(type) ? "s" : "u") + std::to_string(ptx::sizeOf(type) * 8);
}

inline bool isHalf(Type t) {
  return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 || t == Type::BF16x2;
}
inline bool isReal(Type t) { return t == Type::F32 || t == Type::F64; }
inline bool isPacked(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }
inline bool isBrain(Type t) { return t == Type::BF16 || t == Type::BF16x2; }

inline scalar::Rounding roundingOf(const Opcode &o) {
  for (const std::string &mod : o.mods) {
    if (mod == "rz" || mod == "rzi")
      return scalar::Rounding::Zero;
    if (mod == "rm" || mod == "rmi")
      return scalar::Rounding::Down;
    if (mod == "rp" || mod == "rpi")
      return scalar::Rounding::Up;
    if (mod == "rna")
      return scalar::Rounding::Away;
  }
  return scalar::Rounding::Nearest;
}

// No compiler asks for more; beyond, offsets of 32 bits might wrap around.
constexpr uint32_t mostFrameBytes = 1 << 30, mostLocalBytes = 1 << 24, mostParameterBytes = 1 << 16;

bool findMatrixElement(Type type, MatrixElement &element);

class Decoder {
public:
  using Method = void (Decoder::*)();
  static const std::unordered_map<std::string, Method> &methods();
  Decoder(const ptx::Function &f, SymbolSource &symbols, Program &p) : f(f), symbols(symbols), p(p) {}
  void run();

private:
  // --- the frame ---
  uint32_t reserve(uint64_t bytes);
  /// Local variables, and the parameters of calls, which lie in the frame.
  void placeVariables();
  uint32_t frameStride(uint32_t i) const;
  bool isKernelParameter(uint32_t i) const;
  void placeKernelParameters();
  uint32_t temporary(unsigned width);
  uint32_t constant(unsigned width, uint64_t bits);

  // --- emitting ---
  Op &emit(const std::string &name);
  void emit(const std::string &name, uint32_t d, uint32_t a, uint32_t b = noRegister,
            uint32_t c = noRegister);
  const uint32_t *keepList(std::vector<uint32_t> list);
  void decodeOne();
  void startTemporaries();
  void emitTrap(FaultKind kind, const std::string &why);
  /// One ordinary operation gets a guard before it; anything else is jumped around.
  void guardFrom(size_t start);

  // --- labels and blocks ---
  void findLabels();
  void placeLabel(uint32_t i);
  void branchTo(std::string_view name, const std::string &kind, uint32_t predicate, bool negated);
  void finish();

  // --- operands ---
  unsigned count() const;
  const Operand &operand(unsigned i) const;
  const Operand &element(const Operand &list, unsigned i) const;
  bool isVector(const Operand &o) const;
  std::string_view nameOf(const Operand &o) const;
  unsigned widthOfRegister(const Operand &o) const;
  uint32_t result(const Operand &o, unsigned width);
  uint32_t use(const Operand &o, unsigned width, Type type = Type::None);
  uint32_t useRegister(const Operand &o, unsigned width);
  static double floatOf(const Operand &o);
  static double doubleOf(const Operand &o);
  static uint64_t realBits(Type type, double x);
  uint32_t useSpecial(const Operand &o, unsigned width);
  void emitSpecial(const Operand &o, uint32_t d, unsigned width);
  uint32_t useVariable(const Operand &o, unsigned width);
  uint64_t variableAddress(const Operand &o);
  uint64_t addressOfName(const Operand &o);
  uint32_t predicate(const Operand &o);

  // --- shapes that many instructions share ---
  Type type() const;
  std::string firstModifier() const;
  unsigned width() const;
  const char *ftz() const;
  void twoOperands(const std::string &name);
  void threeOperands(const std::string &name, unsigned shiftWidth = 0);
  void fourOperands(const std::string &name);
  scalar::Rule rule(uint8_t operation) const;
  void slow(const scalar::Rule &r, uint32_t d, unsigned w, uint32_t a, uint32_t b = noRegister,
            uint32_t c = noRegister);
  void slowFromOperands(uint8_t operation);
  /// .sat on a floating-point result.
  void saturate();
  bool roundsOddly() const;

  // --- arithmetic ---
  void addOrSub(const char *base, uint8_t rounded, uint8_t saturated);
  void add();
  void sub();
  /// add.f32.f16: the second type is that of the narrow operand.
  bool mixedPrecision() const;
  void mixedAdd(const char *base);
  uint32_t carryRegister();
  void carry(const char *base);
  void addWithCarry();
  void subWithCarry();
  void mul();
  void mulWide();
  void mad();
  void madWithCarryIn();
  void madWithCarry(const char *addition);
  void mad24();
  void mul24();
  void fma();
  void mixedFma();
  void relu();
  void div();
  void rem();
  void rcp();
  void sqrt();
  void root(const char *base, uint8_t rounded);
  void approximate();
  void absolute();
  void negate();
  void flushResult();
  void minOrMax();
  void reluInteger();
  void minOrMaxWithSign();
  void signedExtreme(Type t, uint32_t d, uint32_t a, uint32_t b);
  void logic();
  void logicalNot();
  void conditionalNot();
  void shiftLeft();
  void shiftRight();
  void sumOfDifferences();
  void countBits();
  void reverse();
  void findBit();
  void extractField();
  void insertField();
  void permute();
  void logicTable();
  void logicTableWithPredicate();
  void funnelShift();
  void dotBytes();
  void dotPairs();
  void bitMask();
  void sizeExtend();
  void findNthSet();
  void copySign();
  void testFloat();

  // --- comparing and choosing ---
  static std::string comparison(const Opcode &o);
  /// Emits the comparison of two registers of the instruction's last type into `d` (and its complement into
  /// `e`).
  void compareInto(Type t, uint32_t d, uint32_t e, uint32_t a, uint32_t b, unsigned combine, uint32_t c);
  uint32_t widenHalf(uint32_t a, Type t);
  uint32_t halfOf(uint32_t a, unsigned which);
  unsigned combination() const;
  void setPredicate();
  void setValue();
  void setHalves(Type to, Type t, uint32_t d, uint32_t a, uint32_t b, unsigned combine, uint32_t c);
  void selectByPredicate();
  static std::string bitsNameOfWidth(unsigned w);
  void selectBySign();

  // --- moving and converting ---
  void move();
  void unpack(const Operand &to, const Operand &from);
  void unpackPart(uint32_t d, unsigned part, uint32_t a, unsigned whole, unsigned i);
  void pack(const Operand &to, const Operand &from);
  /// The register as a value of `t`, where it may be wider than the type.
  uint32_t fitted(const Operand &o, Type t);
  void convert();
  bool plainRounding() const;
  bool isIntegral() const;
  static bool isInteger(Type t);
  bool convertQuickly(Type to, Type from, uint32_t d, uint32_t a, unsigned have);
  std::string integralName() const;
  bool convertToInteger(Type to, Type from, uint32_t d, uint32_t a);
  /// Extends by the source's sign to the target's width, then by the target's own type to the register's.
  bool convertIntegers(Type to, Type from, uint32_t d, uint32_t a, unsigned have);
  void convertSlowly(Type to, Type from, uint32_t d, uint32_t a, unsigned have);
  /// cvt.f16x2.f32 d, a, b: a goes into the upper half.
  void convertToPair(Type to, Type from);
  void convertHalf(Type part, Type from, uint32_t d, uint32_t a);
  void joinParts(bool bytes, uint32_t high, uint32_t low);
  /// Between packed bytes and packed halves.
  void convertPacked(Type to, Type from);
  void packIntegers();

  // --- memory ---
  static MemorySpace memorySpace(Space s);
  struct Address {
    uint32_t place;
    int64_t displacement;
    bool narrow;
    MemorySpace space;
  };
  Address address(const Operand &o, Space space);
  /// `ld.u32 [table]` without a space: the variable's own.
  MemorySpace spaceOfBase(const Operand &base);
  void setAddress(Op &op, const Address &a, bool stores);
  /// "u8.2": the type in memory and the register's width.
  std::string memoryName(Type t, unsigned registerBytes);
  bool isFrameParameter(const Operand &o) const;
  /// The registers of `{a, b}` or of one operand; all have one width.
  std::vector<uint32_t> dataRegisters(const Operand &data, unsigned &bytes, bool stores);
  void load();
  void setData(Op &op, const std::vector<uint32_t> &list);
  void loadWide(uint32_t d, const Operand &from);
  /// Where the `i`th of the elements at `o` lies in the parameter, which nothing checks once the kernel runs.
  int64_t offsetInside(const Operand &o, size_t i) const;
  void loadParameters(const std::vector<uint32_t> &list, const std::string &kind, const Operand &from);
  void store();
  void storeWide(uint32_t s, const Operand &to);
  void storeParameters(const std::vector<uint32_t> &list, const std::string &kind, const Operand &to);
  void convertAddress();
  void testSpace();

  // --- atomics ---
  uint8_t atomicKind();
  void atomic();
  void reduceAtomic();
  void atomicOp(bool returns);
  void atomicWide(bool returns);
  void createPolicy();
  void allocateLocal();
  void localStack();

  // --- asynchronous copies and matrices ---
  void copyAsync();
  std::vector<uint32_t> list32(const Operand &o, bool write);
  void loadMatrix();
  Op &emitProduct(const std::string &name, Type element, Type result);
  bool multiplyCommonly(const MatrixTile &tile);
  struct Shape {
    int m, n, k;
  };
  Shape wmmaShape() const;
  void wmma();
  std::vector<uint32_t> fragment(const Operand &o, bool write);
  void moveFragment(unsigned addressAt, unsigned registersAt, const std::string &which, bool stores);
  /// wmma.mma names the types of d and c alone where a and b are f16, and all four otherwise.
  void multiplyFragments();
  void multiplySmallFragments();
  bool isSmallFragment() const;

  // --- video instructions ---
  void video();
  void packedVideo(VideoRule &rule, unsigned width);
  void scalarVideo(VideoRule &rule);
  void emitVideo(const VideoRule &rule);

  // --- barriers in memory, the copy engine, clusters ---
  AsyncAddress asyncAddress(const Operand &o, Space space);
  Space spaceNamed(unsigned which) const;
  std::vector<Operand> operandsAfter(unsigned first) const;
  void memoryBarrier();
  void arriveAtBarrier(bool drop);
  void testBarrier();
  void copyBulk();
  void copyBytes(BulkCopy &copy);
  void copyTensor(BulkCopy &copy);
  const char *bulkReduction() const;
  void emitCopy(const std::string &name, const BulkCopy &copy);
  void asyncStore();
  void tensorMap();
  void mapAddress();
  void rankOfAddress();

  // --- products of one warp ---
  std::vector<TileFormat> tileFormats() const;
  void tileShape(MatrixTile &tile) const;
  const uint32_t *tileRegisters(const Operand &o, TileFormat format, int elements, bool write);
  void tileNumerics(MatrixTile &tile, bool ofWarpgroup) const;
  void emitTile(const MatrixTile &tile);
  void multiplyMatrices();
  void multiplyOldMatrices(MatrixTile &tile);
  void multiplyWarpgroup();
  void warpgroupSigns(MatrixTile &tile, unsigned next, bool aInRegisters);
  int64_t constantOperand(unsigned i) const;
  void storeMatrix();
  void turnMatrix();
  static uint32_t rowBytes(TileFormat format, int elements);
  // --- check mode ---
  void addChecks(size_t start);
  Op checkOp(const char *name, const Op &of);
  void checkMemory(const std::string &name, const Op &op, std::vector<Op> &out);
  bool updatesPart();
  bool looksBeforeSwap() const;
  void checkAsync(const std::string &name, const Op &op, std::vector<Op> &out);
  void checkCopyGroups(const Op &plain, std::vector<Op> &out);
  void checkEngineGroups(const Op &plain, unsigned engine, std::vector<Op> &out);
  void findCopied();
  void checkElements(const Op &check, unsigned bytes, std::vector<Op> &out);
  bool onlyCopies() const;
  void findSums();
  std::vector<uint32_t> sumsOf(const Operand *operands, unsigned count) const;
  void checkWarpgroup(const Op &plain, bool product, std::vector<Op> &out);

  // --- textures and surfaces ---
  void sampleTexture();
  void gatherTexture();
  void loadSurface();
  void storeSurface();
  void reduceSurface();
  void queryImage();
  void imageGeometry(ImageAccess &access) const;
  void imageObject(ImageAccess &access, const Operand &o);
  uint32_t imageReference(const Operand &o);
  void imageResults(ImageAccess &access, const Operand &o, bool writes);
  void imageOffsets(ImageAccess &access, unsigned next);
  void imageVector(uint32_t *places, const Operand &o, unsigned count, Type type);
  void surfaceMode(ImageAccess &access) const;
  void emitImage(const ImageAccess &access, bool stores);

  // --- control ---
  void branch();
  void branchIndexed();
  void exitThread();
  void returnFromFunction();
  void trap();
  void sleep();
  void nothing();
  /// Between registers and the parameters of calls.
  void moveParameter(const char *how, FrameParameter place, uint32_t reg, unsigned width);
  void takeParameters();
  void giveResults();
  FrameParameter frameParameter(const Operand &o);
  FrameParameter argument(const Operand &o);
  void call();
  /// Functions that the device's own library provides.
  void callBuiltin(std::string_view name, CallSite site);

  // --- warps ---
  void shuffle();
  void vote();
  void match();
  void reduceWarp();
  void activeMask();
  void elect();
  void barrier();
  void clusterBarrier();
  void reducingBarrier();

  const ptx::Function &f;
  SymbolSource &symbols;
  Program &p;
  size_t at = 0;
  const Instruction *instruction = nullptr;
  const Opcode *opcode = nullptr;
  bool wholeSeen = false;
  std::vector<bool> isSum; // in check mode: registers that wgmma adds to
  bool hasSums = false;
  std::vector<bool> isCopied; // in check mode: registers that only carry what is loaded to where it is stored
  std::vector<bool> isRead;   // and those that more than loads name
  std::vector<uint32_t> registers, variablePlace;
  uint32_t temporaryBase = 0, carryPlace = noRegister;
  std::unordered_map<unsigned, std::vector<uint32_t>> temporaries;
  std::unordered_map<unsigned, size_t> temporariesUsed;
  struct PairHash {
    size_t operator()(const std::pair<unsigned, uint64_t> &p) const {
      return p.second * 0x9e3779b97f4a7c15ull + p.first;
    }
  };
  std::unordered_map<std::pair<unsigned, uint64_t>, uint32_t, PairHash> constants;
  std::vector<bool> isLeader;
  std::vector<uint32_t> placeOf;
  std::vector<std::pair<size_t, uint32_t>> branches, skips;
};

} // namespace joule::vgpu
