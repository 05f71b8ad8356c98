// From a program's graph to LLVM IR: one function that runs a full warp. Registers are SSA values, scalars
// where the lanes' shape allows it; the frame is written only where someone else will look at it.
#pragma once

#include "lib/VirtualGpu/Jit/CodeImage.h"
#include "lib/VirtualGpu/Jit/Shapes.h"
#include "lib/VirtualGpu/Jit/Site.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace joule::vgpu::jit {

struct Target {
  bool avx512 = false;
};

/// A type of as many lanes as the value has.
inline llvm::Type *shapedLike(llvm::Value *like, llvm::Type *element) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

class Emitter {
public:
  Emitter(const Graph &graph, const Shapes &shapes, const CompileRequest &request, Target target,
          llvm::Module &module, CodeImage &image);

  /// Emits `kernel(frame, warp, entry)` and its `table`; the rest goes into the image.
  void run();

private:
  using V = llvm::Value *;

  // --- values ---
  llvm::Type *scalarType(unsigned width);
  llvm::Type *vectorType(unsigned width);
  V splat(V scalar);
  V materialised(V scalar, const Shape &shape, unsigned width);
  Shape shapeOf(uint32_t slot) const { return shapes.of(state, slot); }
  V current(uint32_t slot);
  V scalarOf(uint32_t slot);
  V vectorOf(uint32_t slot);
  /// Scalar or vector, as asked.
  V valueOf(int32_t slot, bool scalar) {
    return scalar ? scalarOf(uint32_t(slot)) : vectorOf(uint32_t(slot));
  }
  V patternVector(const int64_t *offsets, unsigned lanes, llvm::Type *elementType);
  V maskBits(V mask);
  V asFloat(V value);
  V asInteger(V value);
  V intType(V like, unsigned bits, uint64_t value);

  // --- pieces: the lanes that fit a register of the machine ---
  using Pieces = std::vector<V>; // a value, piece by piece
  /// A vector operation that nobody has needed yet, or a value in pieces.
  struct Waiting {
    const Operation *o = nullptr;
    struct {
      V value = nullptr;
      Shape shape;
      unsigned width = 0;
      int32_t waits = -1;
    } in[3];
    Pieces pieces;
  };
  unsigned lanesOfPiece() const { return target.avx512 ? 16 : 8; }
  unsigned numPieces() const { return warpSize / lanesOfPiece(); }
  bool mayWait(const Operation &o, int32_t slot) const {
    return o.guard < 0 && !mask && !graph.slots[uint32_t(slot)].inFrame;
  }
  void wait(const Operation &o);
  std::vector<std::vector<uint32_t>> groupsOfWaiting() const;
  void workOut();
  void forgetWaiting();
  void settle(const SlotSet &slots);
  V pieceOf(V value, const Shape &shape, unsigned width, unsigned piece);
  Pieces piecesOf(uint32_t slot);
  V joined(const Pieces &pieces);
  void definePieces(const Operation &o, uint32_t slot, Pieces pieces);

  // --- the frame and the warp ---
  V framePointer(uint32_t offset);
  V warpField(size_t offset, llvm::Type *type, bool fixed = false);
  V warpPointer(size_t offset);
  V loadSlot(uint32_t slot, bool scalar);
  void storeSlot(uint32_t slot, V vector);
  void storePieces(uint32_t slot);
  Pieces loadPieces(uint32_t slot);
  void spill(uint32_t slot);
  void define(const Operation &o, int32_t slot, V value);
  V operationPointer(uint32_t at);
  llvm::Constant *inTable(uint64_t offset);
  V fromTable(uint64_t offset, llvm::Type *type);
  void placeTable();

  // --- control ---
  struct Edge {
    llvm::BasicBlock *from;
    uint32_t to;
    std::vector<V> values;
    State state;
  };
  void emitBlock(uint32_t block);
  void startBlock(uint32_t block);
  /// A way to the end of a block under a mask.
  struct Way {
    llvm::BasicBlock *end;
    V mask;
    std::vector<V> values, pending;
    State state;
  };
  void emitOperations(uint32_t block);
  void emitMasked(uint32_t block);
  void sendLanes(uint32_t block);
  void joinWays(uint32_t block, std::vector<Way> &ways, llvm::BasicBlock *past);
  void terminate(uint32_t block);
  void branchIf(uint32_t block, const Operation &o);
  void jump(uint32_t block, uint32_t to, uint32_t from);
  void leave(Status status, uint32_t at, const SlotSet &alive, const std::vector<uint32_t> &also = {});
  void addEdge(uint32_t to);
  void fillPhis();
  void chooseEntries();
  void emitEntries();
  EntryCheck checkOf(uint32_t slot, const Shape &shape);
  int32_t patternIndex(const Pattern *pattern);
  void emitPoll(const Operation &o);
  void countBlock(const Operation &label);
  llvm::BasicBlock *newBlock(const char *name);

  // --- operations ---
  void emitOperation(const Operation &o);
  void emitPure(const Operation &o);
  void guardExtension(const Operation &o, const Result &result);
  V compute(const std::string &name, const Operation &o, V a, V b, V c);
  V computeInteger(const std::string &name, const Operation &o, V a, V b, V c);
  V computeFloat(const std::string &name, V a, V b, V c);
  V computeHalf(const std::string &name, V a, V b);
  V convert(const std::string &name, V a, unsigned resultWidth);
  V comparison(const std::string &name, V a, V b);
  V computed(const Operation &o, V a, V second, V c);
  V predicate(const Operation &o, V a, V second, V other, bool negated);
  SlotSet aliveAt(const Operation &o) const;
  void emitShuffle(const Operation &o);
  V vote(const std::string &name, V p);
  V reduced(const std::string &name, V a);
  V flushed(V x);
  V toInteger(V x, unsigned bits, bool isSigned);
  V exp2(V x, bool ftz);
  V minMax(V a, V b, bool isMin, bool keepNan);
  V widenHalf(V bits, bool brain);
  V narrowHalf(V x, bool brain);
  V divided(V a, V b, bool isSigned, bool remainder);
  V logic3(V a, V b, V c, unsigned table);
  void emitSpecial(const Operation &o);
  void emitLoadParameter(const Operation &o);
  void emitHandler(const Operation &o);
  void checkStatus(V status);
  V loadFirstActive(uint32_t slot);
  void setGuard(const Operation &o);
  void spillAlways(uint32_t slot);
  V rareCall(const Operation &o, V first, V mask);
  llvm::Constant *siteOf(const Operation &o, const Pattern *pattern = nullptr, bool fillsAddress = false);
  V callHandler(const Operation &o);

  // --- memory ---
  struct Access {
    unsigned element, total, count, registerBytes; // bytes
    bool isSigned, shared;
    V first = nullptr;                               // the first lane's address in the space, 64 bits
    std::vector<V> lanes;                            // or all addresses
    V host = nullptr;                                // where the space begins
    V given = nullptr;                               // the address register's first lane
    std::map<std::pair<int64_t, int64_t>, V> loaded; // by place and elements, what lanes pick from
    Shape shape;
  };
  bool compilable(const Operation &o, Access &access);
  Access resolve(const Operation &o);
  void countMemory(const Operation &o, const Access &access);
  V inRange(const Operation &o, Access &access);
  void emitLoad(const Operation &o);
  void emitStore(const Operation &o);
  std::vector<Pieces> loadElements(Access &access);
  Pieces loadPiece(Access &access, unsigned piece);
  Pieces gatherPiece(const Access &access, unsigned piece);
  void storeElements(const Access &access, const std::vector<Pieces> &pieces);
  void storePiece(const Access &access, unsigned piece, const Pieces &elements);
  void storeMasked(const Access &access, unsigned piece, const Pieces &elements, V lanesThatStore);
  void transpose(V (&rows)[4]);
  V extended(V raw, const Access &access);
  V hostPointer(const Access &access, V offset);
  V placeAt(const Access &access, int64_t offset);
  V placeOf(const Access &access, unsigned lane);
  V currentMask();

  const Graph &graph;
  const Shapes &shapes;
  const CompileRequest &request;
  Target target;
  llvm::Module &module;
  CodeImage &image;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  llvm::Function *function = nullptr;
  llvm::GlobalVariable *table = nullptr;
  std::map<const Pattern *, int32_t> patternIndices;
  V frame = nullptr, warp = nullptr;
  V scratch = nullptr; // 16 bytes for stores that nobody wants
  std::vector<llvm::BasicBlock *> starts;
  std::vector<bool> isEntry;
  std::vector<std::vector<llvm::PHINode *>> phis; // per block and slot
  std::vector<Edge> edges;
  std::vector<V> values; // per slot, in the shape that `state` says; null: in the frame
  State state;
  std::vector<Waiting> waiting; // of the block at hand, and how many of them have been looked at
  size_t workedOut = 0;
  std::vector<int32_t> waits; // per slot, where its value waits, or -1
  uint32_t blockIndex = 0;
  V guardMask = nullptr; // of the operation at hand
  // Of a block under a mask.
  V mask = nullptr;
  std::vector<V> pending; // per block, the lanes that will run it
  Shape resultShape;      // of the operation at hand
};

} // namespace joule::vgpu::jit
