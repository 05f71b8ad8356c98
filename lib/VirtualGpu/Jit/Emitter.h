// From a program's graph to LLVM IR: one function that runs a full warp. Registers are SSA values, scalars
// where the lanes' shape allows it; the frame is written only where someone else will look at it.
#pragma once

#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Jit/Shapes.h"
#include "lib/VirtualGpu/Jit/Site.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <deque>

namespace joule::vgpu::jit {

struct Target {
  bool avx512 = false;
};

class Emitter {
public:
  Emitter(const Graph &graph, const Shapes &shapes, const CompileRequest &request, Target target,
          llvm::Module &module, std::deque<Site> &sites);

  /// Emits `name(frame, warp, entry)`; `entryOf` tells the entry of each operation.
  void run(const std::string &name, std::vector<int32_t> &entryOf);

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
  V patternVector(const Pattern &p, llvm::Type *elementType);
  V maskBits(V mask);
  V asFloat(V value);
  V asInteger(V value);
  V intType(V like, unsigned bits, uint64_t value);

  // --- the frame and the warp ---
  V framePointer(uint32_t offset);
  V warpField(size_t offset, llvm::Type *type, bool fixed = false);
  V warpPointer(size_t offset);
  V loadSlot(uint32_t slot, bool scalar);
  void storeSlot(uint32_t slot, V vector);
  void spill(uint32_t slot);
  void define(const Operation &o, int32_t slot, V value);
  V operationPointer(uint32_t at);

  // --- control ---
  struct Edge {
    llvm::BasicBlock *from;
    uint32_t to;
    std::vector<V> values;
    State state;
  };
  void emitBlock(uint32_t block);
  void startBlock(uint32_t block);
  void finishMasked(uint32_t block);
  void terminate(uint32_t block);
  void branchIf(uint32_t block, const Operation &o);
  void jump(uint32_t block, uint32_t to, uint32_t from);
  void leave(Status status, uint32_t at, const SlotSet &alive, const std::vector<uint32_t> &also = {});
  void addEdge(uint32_t to);
  void fillPhis();
  void chooseEntries();
  void emitEntries();
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
  void emitSetp(const Operation &o, bool scalar);
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
  Site &siteOf(const Operation &o);

  // --- memory ---
  struct Access {
    unsigned element, total, count, registerBytes; // bytes
    bool isSigned, shared;
    V first = nullptr; // the first lane's address in the space, 64 bits
    V lanes = nullptr; // or all addresses
    V host = nullptr;  // where the space begins
    V given = nullptr; // the address register's first lane
    V whole = nullptr; // one wide load that lanes pick from
    Shape shape;
  };
  bool compilable(const Operation &o, Access &access);
  Access resolve(const Operation &o);
  void countMemory(const Operation &o, const Access &access);
  V inRange(const Operation &o, Access &access);
  void emitLoad(const Operation &o);
  void emitStore(const Operation &o);
  std::vector<V> loadElements(const Operation &o, Access &access);
  V loadStrided(Access &access, unsigned k);
  void storeElements(const Operation &o, Access &access);
  V extended(V raw, const Access &access);
  V hostPointer(const Access &access, V offset);
  V currentMask();

  const Graph &graph;
  const Shapes &shapes;
  const CompileRequest &request;
  Target target;
  llvm::Module &module;
  std::deque<Site> &sites;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  llvm::Function *function = nullptr;
  V frame = nullptr, warp = nullptr;
  std::vector<llvm::BasicBlock *> starts;
  std::vector<bool> isEntry;
  std::vector<std::vector<llvm::PHINode *>> phis; // per block and slot
  std::vector<Edge> edges;
  std::vector<V> values; // per slot, in the shape that `state` says; null: in the frame
  State state;
  uint32_t blockIndex = 0;
  V guardMask = nullptr; // of the operation at hand
  // Of a block under a mask.
  V mask = nullptr;
  std::vector<V> pending; // per block, the lanes that will run it
  std::vector<V> before;  // values at the block's start
  State stateBefore;
  std::vector<V> pendingBefore;
  Shape resultShape; // of the operation at hand
  llvm::BasicBlock *skipFrom = nullptr, *skipTo = nullptr;
};

} // namespace joule::vgpu::jit
