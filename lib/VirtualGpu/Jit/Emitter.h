// From a program's graph to LLVM IR: one function that runs a full warp. Registers whose lanes have something
// in common are scalars of LLVM, the others live in the frame. A run of operations on those is a loop over
// the pieces of a warp that fit the machine's registers: between two of them nothing goes through memory.
#pragma once

#include "lib/VirtualGpu/Jit/CodeImage.h"
#include "lib/VirtualGpu/Jit/Shapes.h"
#include "lib/VirtualGpu/Jit/Site.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>

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

  // --- values: scalars of LLVM, and vectors, which live in the frame ---
  llvm::Type *scalarType(unsigned width);
  llvm::Type *vectorType(unsigned width);
  llvm::Type *pieceType(unsigned width);
  V splat(V scalar);
  V materialised(V scalar, const Shape &shape, unsigned width);
  Shape shapeOf(uint32_t slot) const { return shapes.of(state, slot); }
  bool isScalar(uint32_t slot) const { return shapeOf(slot).scalar(); }
  V scalarOf(uint32_t slot);
  V vectorOf(uint32_t slot);
  V laneBits(uint32_t slot);
  V patternVector(const int64_t *offsets, unsigned lanes, llvm::Type *elementType);
  V maskBits(V mask);
  V recast(V value, llvm::Type *type);
  V asFloat(V value);
  V asInteger(V value);
  V intType(V like, unsigned bits, uint64_t value);

  // --- memory ---
  struct Access {
    unsigned element, total, count, registerBytes; // bytes
    bool isSigned, shared;
    V given = nullptr;        // the address register's first lane, 64 bits
    uintptr_t key = 0;        // equal where that is
    int64_t displacement = 0; // of the first lane from there
    V start = nullptr;        // where `given` points to on the host
    Shape shape;
  };

  // --- passes: a run of vector operations, worked out for as many lanes at a time as a register holds ---
  struct Operand {
    V value = nullptr; // a scalar, or
    Shape shape;
    int32_t step = -1; // a result of this one, or
    unsigned result = 0;
    int32_t slot = -1; // what the frame holds
  };
  /// A vector operation that nobody has needed yet.
  struct Step {
    const Operation *o = nullptr;
    Operand in[3], guard;
    std::vector<Operand> data; // of a store
    std::vector<uint32_t> defs;
    std::vector<Operand> before; // what they held, where there is a guard
    Access access;               // of a load or store
    bool isTested = false;       // it is in range
    std::vector<V> results;      // of the lanes at hand
  };
  /// Where the interpreter takes over if something that was supposed turns out wrong: nothing that is seen
  /// outside of registers has happened since.
  struct Start {
    uint32_t index = 0; // of the operation
    std::vector<V> values;
    State state;
    SlotSet stored, dirty;
  };
  struct Waits {
    int32_t step = -1;
    unsigned result = 0;
  };
  unsigned lanesOfPiece() const { return target.avx512 ? 16 : 8; }
  unsigned numPieces() const { return warpSize / lanesOfPiece(); }
  Operand operandOf(int32_t slot);
  void begin();
  Step &wait(const Operation &o, std::vector<uint32_t> defs);
  bool loadsWait() const;
  template <class Visit> static void eachOperand(const Step &step, Visit visit) {
    std::for_each(std::begin(step.in), std::end(step.in), visit);
    visit(step.guard);
    std::for_each(step.data.begin(), step.data.end(), visit);
    std::for_each(step.before.begin(), step.before.end(), visit);
  }
  std::vector<std::vector<uint32_t>> groupsOf(const SlotSet &alive) const;
  void runPass(const SlotSet &alive);
  void emitLoop(const std::vector<std::vector<uint32_t>> &groups, const SlotSet &alive);
  void testAccesses();
  void work(Step &step);
  void collect(uint32_t slot, V piece);
  void storeResults(uint32_t step, const SlotSet &alive);
  V pieceOf(const Operand &operand, unsigned width);
  V framePiece(uint32_t slot);
  V framePiecePlace(const Slot &s);
  void storeFramePiece(uint32_t slot, V value);
  V pieceOfMask(V bits);
  V rowOf(const int64_t *numbers, unsigned each, llvm::Type *element);
  SlotSet &aliveBefore(uint32_t index) { return alive[index - graph.blocks[blockIndex].first]; }

  // --- the frame and the warp ---
  V framePointer(uint32_t offset);
  V warpField(size_t offset, llvm::Type *type, bool fixed = false);
  V warpPointer(size_t offset);
  V loadSlot(uint32_t slot, bool scalar);
  void storeSlot(uint32_t slot, V vector);
  void storeBits(uint32_t slot, V bits);
  void storeScalar(uint32_t slot);
  void define(const Operation &o, int32_t slot, V value);
  V operationPointer(uint32_t at);
  llvm::Constant *inTable(uint64_t offset);
  V fromTable(uint64_t offset, llvm::Type *type);
  void placeTable();

  // --- control ---
  struct Edge {
    uint32_t to;
    std::vector<V> values;
  };
  void emitBlock(uint32_t block);
  void startBlock(uint32_t block);
  void loadScalars();
  void keepScalars(const SlotSet &alive);
  void keepScalar(uint32_t slot);
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
  llvm::BasicBlock *backBlock();
  void addEdge(uint32_t to);
  void chooseEntries();
  void emitEntries();
  EntryCheck checkOf(uint32_t slot, const Shape &shape);
  int32_t patternIndex(const Pattern *pattern);
  void emitPoll(const Operation &o);
  void countBlock(const Operation &label);
  llvm::BasicBlock *newBlock(const char *name);

  // --- operations ---
  void emitOperation(uint32_t index);
  void emitScalar(const Operation &o);
  void emitExchange(const Operation &o);
  void guardExtension(const Result &result);
  V compute(const std::string &name, const Operation &o, V a, V b, V c);
  V computeInteger(const std::string &name, const Operation &o, V a, V b, V c);
  V computeFloat(const std::string &name, V a, V b, V c);
  V computeHalf(const std::string &name, V a, V b);
  V convert(const std::string &name, V a, unsigned resultWidth);
  V comparison(const std::string &name, V a, V b);
  V computed(const Operation &o, V a, V second, V c);
  V predicate(const Operation &o, V a, V second, V other, bool negated);
  void findAlive();
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
  V runSite(llvm::Constant *site, V first, V mask);
  llvm::Constant *siteOf(const Operation &o, SiteImage site);
  llvm::Constant *siteOf(const Operation &o, const Access &access);
  V callHandler(const Operation &o);

  // --- accesses ---
  bool compilable(const Operation &o, Access &access);
  void countMemory(const Operation &o, const Access &access);
  /// Bytes [low, high) from an access's given address, which an access reaches, or several.
  struct Reach {
    const Operation *o;
    Access access;
    int64_t low, high, aligned; // and what is a multiple of the access's size
    bool isAligned = false;     // that is known
  };
  Reach reachOf(const Operation &o, const Access &access);
  Reach reachAhead(const Operation &o, const Access &access);
  static bool joins(Reach &all, const Reach &one);
  void test(const std::vector<Reach> &all);
  bool isTested(const Reach &one) const;
  V rangeFault(const Reach &reach);
  V alignmentFault(const Reach &reach);
  V inRange(const Operation &o, const Access &access);
  V lookUp(const std::vector<const Reach *> &all);
  void emitAccess(const Operation &o);
  void orHandler(const Operation &o, const Access &access, const std::function<void()> &inCode,
                 const std::function<void()> &handled = {});
  void emitLoad(const Operation &o, const Access &access);
  void emitUniformLoad(const Operation &o, const Access &access);
  void emitStore(const Operation &o, const Access &access);
  void emitUniformStore(const Operation &o, const Access &access);
  void loadPiece(Step &step);
  void storePiece(Step &step);
  V baseOf(const Access &access);
  V placeAt(const Access &access, V base, int64_t offset);
  V joined(std::vector<V> parts);
  void transpose(V (&rows)[4]);
  V extended(V raw, const Access &access);
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
  V scratch = nullptr; // addresses for lookUp
  llvm::BasicBlock *failed = nullptr;
  std::vector<llvm::BasicBlock *> starts;
  std::vector<bool> isEntry;
  std::vector<Edge> edges;
  std::vector<V> values; // per slot, of those that the state says are scalar
  SlotSet stored, dirty; // scalars of which the frame holds all lanes; not even the first
  State state, next;     // before and after the operation at hand
  std::vector<Step> steps;
  std::vector<Waits> waits; // per slot
  Start start;
  bool isBegun = false;             // there is one
  llvm::BasicBlock *back = nullptr; // goes there
  std::vector<Reach> tested;        // in the block, so far
  std::vector<SlotSet> alive;       // before each operation of the block, and at its end
  V lane = nullptr;                 // the first of the piece at hand
  llvm::BasicBlock *beforePass = nullptr;
  std::map<uint32_t, V> framePieces;
  std::map<V, V> splats;
  std::vector<std::pair<uint32_t, V>> collected; // predicates' bits
  SlotSet isRead;                                // slots of which some step wants what the frame held
  std::map<std::pair<std::vector<int64_t>, llvm::Type *>, llvm::GlobalVariable *> rows;
  uint32_t blockIndex = 0, opIndex = 0;
  V guardMask = nullptr; // of the operation at hand; masks have a bit for each lane
  // Of a block under a mask.
  V mask = nullptr;
  std::vector<V> pending; // per block, the lanes that will run it
  Shape resultShape;      // of the operation at hand
};

} // namespace joule::vgpu::jit
