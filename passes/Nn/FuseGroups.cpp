// Groups ops into future kernels.
//
// Each op of a block has a role. Heavy ops are roots; pointwise ops behind them join as epilogue, diamonds too. What
// remains is visited from the last op to the first, so that an op's readers are placed before the op itself: an op whose
// readers all sit in one group joins it, else it becomes a root. Free ops belong to nobody; every group clones the ones it reads.
#include "passes/Nn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace joule {
#define GEN_PASS_DEF_FUSEGROUPS
#include "passes/Nn/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

enum class Role {
  Host,  ///< index arithmetic, symbols, control flow, what the host answers: never in a group by itself
  Free,  ///< costs nothing inside a kernel: cloned into each group that reads it
  Cheap, ///< computed per element: joins the one group that reads it
  Heavy, ///< a root that takes an epilogue
  Own,   ///< a kernel of its own that reads and writes memory
};

/// Constants up to this many elements are written into the kernels that read them.
constexpr int64_t maxInlineElements = 64;

/// More ops than this in a kernel save no memory traffic worth their registers and compile time.
constexpr size_t maxGroupOps = 64;

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

bool isInlineConstant(nn::ConstantOp op) {
  return isa<DenseElementsAttr>(op.getValue()) && cast<ShapedType>(op.getType()).getNumElements() <= maxInlineElements;
}

/// Equal constants of many ONNX nodes are one op, so its location says nothing of who reads it.
bool isConstant(Operation *op) {
  if (auto broadcast = dyn_cast<nn::BroadcastOp>(op))
    return broadcast.getInput().getDefiningOp<nn::ConstantOp>();
  return isa<nn::ConstantOp>(op);
}

/// Scalar arithmetic that feeds `tensor.from_elements` may stand in a kernel as long as it starts from indices.
bool isScalarCast(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ConstantOp, arith::SIToFPOp, arith::ExtSIOp,
             arith::TruncIOp>(op) &&
         op->getNumResults() == 1 && !isTensor(op->getResult(0)) && !op->getResult(0).getType().isIndex();
}

/// Ties a value that control flow hands on to its sizes: no group may read past it, since only it knows them.
bool tiesSizes(Operation *op) {
  auto reshape = dyn_cast<nn::ReshapeOp>(op);
  if (!reshape || cast<ShapedType>(reshape.getInput().getType()).hasStaticShape())
    return false;
  Value input = reshape.getInput();
  Operation *owner = isa<BlockArgument>(input) ? input.getParentBlock()->getParentOp() : input.getDefiningOp();
  return isa<scf::SCFDialect>(owner->getDialect());
}

Role roleOf(Operation *op) {
  if (tiesSizes(op))
    return Role::Host;
  if (auto constant = dyn_cast<nn::ConstantOp>(op))
    return isInlineConstant(constant) ? Role::Free : Role::Host;
  if (isa<nn::BroadcastOp, nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::IotaOp, nn::CastOp, nn::BitcastOp,
          tensor::FromElementsOp, tensor::CastOp>(op))
    return Role::Free;
  if (isa<nn::ReduceOp, nn::ArgReduceOp, nn::CumulateOp, nn::SoftmaxOp, nn::NormalizeOp, nn::ContractOp, nn::ConvOp,
          nn::PoolOp, nn::PoolArgMaxOp, nn::ResizeOp>(op))
    return Role::Heavy;
  if (isa<nn::KernelDefinition>(op))
    return Role::Own;
  if (isa<nn::ElementDefinition>(op))
    return Role::Cheap;
  if (nn::isPointwise(op) && op->getNumResults() == 1 && isTensor(op->getResult(0)))
    return Role::Cheap;
  if (isScalarCast(op) || (op->hasTrait<OpTrait::ConstantLike>() && !isTensor(op->getResult(0))))
    return op->getResult(0).getType().isIndex() ? Role::Host : Role::Free;
  return Role::Host;
}

/// A heavy op that reads each operand element many times: only free ops may stand before it.
bool readsOften(Operation *op) {
  return isa<nn::ContractOp, nn::ConvOp, nn::PoolOp, nn::PoolArgMaxOp, nn::ResizeOp, nn::CumulateOp>(op);
}

/// Worth computing once rather than once per repetition.
bool isCostly(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? !isa<math::AbsFOp, math::AbsIOp, math::FmaOp>(op)
                                                              : isa<arith::DivFOp, nn::ConcatOp>(op);
}

bool repeatsElements(Operation *op) {
  auto broadcast = dyn_cast<nn::BroadcastOp>(op);
  return broadcast && cast<ShapedType>(broadcast.getInput().getType()).getRank() > 0;
}

struct Group {
  SmallVector<Operation *> ops; ///< in program order once built; free ops are not listed
  Operation *last = nullptr;    ///< makes the group's results
};

/// Who reads a value, seen through free ops.
struct Readers {
  llvm::SmallSetVector<int, 4> groups;
  bool memory = false;   ///< something reads it from memory: a host op, an own kernel, another block
  bool repeated = false; ///< read through a broadcast
};

class Fuser {
public:
  explicit Fuser(Block &block) : block(block) {}

  void run() {
    for (Operation &op : block)
      if (roleOf(&op) == Role::Heavy)
        startHeavyGroup(&op);
    for (Operation &op : llvm::reverse(block))
      place(&op);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto found = groupEndingAt.find(&op); found != groupEndingAt.end())
        outline(groups[found->second]);
    eraseDead();
  }

private:
  int newGroup(Operation *op) {
    groups.push_back({{op}, op});
    groupOf[op] = groups.size() - 1;
    groupEndingAt[op] = groups.size() - 1;
    return groups.size() - 1;
  }

  void join(int group, Operation *op) {
    groups[group].ops.push_back(op);
    groupOf[op] = group;
  }

  /// Whether `op` can stand in the epilogue of a group of this block.
  bool fitsEpilogue(Operation *op) {
    if (op->getBlock() != &block || groupOf.count(op) || op->getNumResults() != 1)
      return false;
    return isa<nn::CastOp>(op) || (nn::isPointwise(op) && isTensor(op->getResult(0)));
  }

  /// The fewest ops behind `op`, in program order, that can be its epilogue and of which only the last one's result is
  /// read elsewhere: a single reader, or a diamond such as x · sigmoid(x). Nothing where there is none of `room` ops.
  SmallVector<Operation *> epilogueBehind(Operation *op, size_t room) {
    llvm::SmallSetVector<Operation *, 8> inside;
    inside.insert(op);
    while (inside.size() <= room) {
      Operation *next = nullptr;
      for (Operation *member : inside)
        for (Operation *reader : member->getUsers()) {
          if (inside.contains(reader))
            continue;
          if (!fitsEpilogue(reader))
            return {};
          if (!next || reader->isBeforeInBlock(next))
            next = reader;
        }
      if (!next)
        return {};
      inside.insert(next);
      bool closed = llvm::all_of(inside, [&](Operation *member) {
        return member == next || llvm::all_of(member->getUsers(), [&](Operation *user) { return inside.contains(user); });
      });
      if (closed)
        return SmallVector<Operation *>(std::next(inside.begin()), inside.end());
    }
    return {};
  }

  void startHeavyGroup(Operation *root) {
    int group = newGroup(root);
    groupEndingAt.erase(root);
    Operation *last = root;
    while (true) {
      SmallVector<Operation *> epilogue = epilogueBehind(last, maxGroupOps - groups[group].ops.size());
      if (epilogue.empty())
        break;
      for (Operation *op : epilogue)
        join(group, op);
      last = epilogue.back();
    }
    groups[group].last = last;
    groupEndingAt[last] = group;
  }

  void addReader(Operation *reader, Value value, Readers &readers) {
    if (reader->getBlock() != &block) {
      // A free op that reads it in a nested block is cloned there; the value itself must be in memory.
      readers.memory = true;
      return;
    }
    if (auto found = groupOf.find(reader); found != groupOf.end()) {
      bool often = roleOf(reader) == Role::Heavy && readsOften(reader);
      if (often || roleOf(reader) == Role::Own)
        readers.memory = true;
      else
        readers.groups.insert(found->second);
      return;
    }
    if (roleOf(reader) != Role::Free) {
      readers.memory = true;
      return;
    }
    const Readers &through = readersOf[reader];
    readers.groups.insert(through.groups.begin(), through.groups.end());
    readers.memory |= through.memory;
    readers.repeated |= through.repeated || repeatsElements(reader);
  }

  Readers collectReaders(Operation *op) {
    Readers readers;
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        addReader(user, result, readers);
    return readers;
  }

  /// True where a free op must itself be in memory, so that it becomes a group: something other than a group reads it.
  bool needsMemory(Operation *op) {
    return llvm::any_of(op->getResult(0).getUsers(), [&](Operation *user) {
      if (user->getBlock() != &block)
        return roleOf(user) != Role::Free;
      if (groupOf.count(user))
        return roleOf(user) == Role::Own;
      return aliases.contains(user) || roleOf(user) != Role::Free;
    });
  }

  void place(Operation *op) {
    if (groupOf.count(op))
      return;
    switch (roleOf(op)) {
    case Role::Host:
    case Role::Heavy:
      return;
    case Role::Own:
      newGroup(op);
      return;
    case Role::Free: {
      readersOf[op] = collectReaders(op);
      // A reshape in memory is the same memory; it stays outside as an alias.
      if (!isTensor(op->getResult(0)) || isa<nn::ConstantOp, tensor::FromElementsOp>(op) || !needsMemory(op))
        return;
      if (isa<nn::ReshapeOp>(op)) {
        readersOf[op].memory = true;
        aliases.insert(op);
        return;
      }
      int group = newGroup(op);
      readersOf[op] = {};
      readersOf[op].groups.insert(group);
      return;
    }
    case Role::Cheap: {
      Readers readers = collectReaders(op);
      bool joins = readers.groups.size() == 1 && !readers.memory && !(readers.repeated && isCostly(op)) &&
                   groups[readers.groups[0]].ops.size() < maxGroupOps;
      if (joins)
        join(readers.groups[0], op);
      else if (!readers.groups.empty() || readers.memory)
        newGroup(op);
      return;
    }
    }
  }

  //===- Building ------------------------------------------------------------------------------------------------------

  /// Collects in program order what the body of `group` holds: its ops and the free ops they read.
  void collectBody(Operation *op, int group, llvm::SetVector<Operation *> &body) {
    if (body.contains(op))
      return;
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition)
        continue;
      auto found = groupOf.find(definition);
      bool inside = found != groupOf.end() ? found->second == group : roleOf(definition) == Role::Free;
      if (inside)
        collectBody(definition, group, body);
    }
    body.insert(op);
  }

  void outline(Group &group) {
    llvm::SetVector<Operation *> body;
    collectBody(group.last, groupOf[group.last], body);
    SmallVector<Value> captured = capturedBy(body);
    SmallVector<int64_t> inputSizes = captureSizes(captured);

    OpBuilder builder(group.last);
    SmallVector<Location> locations;
    for (Operation *op : body)
      if (!isConstant(op) || op == group.last)
        locations.push_back(op->getLoc());
    Location loc = FusedLoc::get(builder.getContext(), locations);
    SmallVector<Value> sizes = dynamicSizes(group.last);
    auto fused = builder.create<nn::FusedOp>(loc, group.last->getResultTypes(), asArguments(builder, captured), sizes,
                                             builder.getDenseI64ArrayAttr(inputSizes));
    Block &inner = fused.getBody().emplaceBlock();
    IRMapping mapping;
    builder.setInsertionPointToStart(&inner);
    for (auto [value, given] : llvm::zip(captured, fused.getInputs())) {
      Value argument = inner.addArgument(given.getType(), value.getLoc());
      bool isCast = given != value;
      mapping.map(value, isCast ? builder.create<arith::IndexCastOp>(loc, value.getType(), argument) : argument);
    }
    for (Operation *op : body)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value result : group.last->getResults())
      yielded.push_back(mapping.lookup(result));
    builder.create<nn::YieldOp>(loc, yielded);
    group.last->replaceAllUsesWith(fused.getOutputs());
  }

  /// A kernel's scalar arguments are indices; other integers of the host are cast outside and back inside.
  SmallVector<Value> asArguments(OpBuilder &builder, ArrayRef<Value> captured) {
    SmallVector<Value> arguments;
    for (Value value : captured) {
      Type index = builder.getIndexType();
      if (isa<IntegerType>(value.getType()))
        value = value.getType().isInteger(1) ? builder.create<arith::IndexCastUIOp>(value.getLoc(), index, value).getResult()
                                             : builder.create<arith::IndexCastOp>(value.getLoc(), index, value).getResult();
      arguments.push_back(value);
    }
    return arguments;
  }

  /// Tensors first, then indices: the order of a kernel's arguments.
  SmallVector<Value> capturedBy(const llvm::SetVector<Operation *> &body) {
    llvm::SetVector<Value> tensors, indices;
    for (Operation *op : body)
      for (Value operand : op->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if (definition && body.contains(definition))
          continue;
        (isTensor(operand) ? tensors : indices).insert(operand);
      }
    SmallVector<Value> captured(tensors.begin(), tensors.end());
    captured.append(indices.begin(), indices.end());
    return captured;
  }

  /// Adds the dynamic sizes of the captured tensors to `captured`; returns their places, as `input_sizes` wants them.
  SmallVector<int64_t> captureSizes(SmallVector<Value> &captured) {
    SmallVector<int64_t> places;
    SmallVector<Value> tensors(llvm::make_filter_range(captured, isTensor));
    for (Value tensor : tensors) {
      auto type = cast<RankedTensorType>(tensor.getType());
      if (type.hasStaticShape())
        continue;
      FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(tensor);
      assert(succeeded(sizes) && "verify-nn has checked that every tensor's sizes are known");
      for (auto [size, known] : llvm::zip(*sizes, type.getShape())) {
        if (!ShapedType::isDynamic(known))
          continue;
        Value value = cast<Value>(size);
        auto *place = llvm::find(captured, value);
        places.push_back(place - captured.begin());
        if (place == captured.end())
          captured.push_back(value);
      }
    }
    return places;
  }

  SmallVector<Value> dynamicSizes(Operation *op) {
    SmallVector<Value> values;
    for (Value result : op->getResults()) {
      FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(result);
      assert(succeeded(sizes) && "verify-nn has checked that every tensor's sizes are known");
      for (auto [size, known] : llvm::zip(*sizes, cast<ShapedType>(result.getType()).getShape()))
        if (ShapedType::isDynamic(known))
          values.push_back(cast<Value>(size));
    }
    return values;
  }

  /// What the groups have cloned has no readers any more.
  void eraseDead() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
  }

  Block &block;
  std::vector<Group> groups;
  DenseMap<Operation *, int> groupOf, groupEndingAt;
  DenseMap<Operation *, Readers> readersOf;
  llvm::SmallPtrSet<Operation *, 8> aliases; ///< reshapes that stay outside: other names of what they read
};

/// What upstream folding has made of tensors, as nn says it.
void respellConstants(func::FuncOp function) {
  function.walk([](arith::ConstantOp constant) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !isa<RankedTensorType>(constant.getType()))
      return;
    OpBuilder builder(constant);
    constant.replaceAllUsesWith(
        builder.create<nn::ConstantOp>(constant.getLoc(), constant.getType(), elements).getResult());
    constant.erase();
  });
}

struct FuseGroups : joule::impl::FuseGroupsBase<FuseGroups> {
  void runOnOperation() override {
    // The pass may be run alone, and asks all the time what the contract promises.
    if (failed(verifyNn(getOperation())))
      return signalPassFailure();
    respellConstants(getOperation());
    SmallVector<Block *> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<nn::FusedOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    // Inner blocks first: what they read from outside must be known to come from memory.
    for (Block *block : llvm::reverse(blocks))
      Fuser(*block).run();
  }
};

} // namespace
