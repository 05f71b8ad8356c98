// Forks of the walk, and how they end.
#include "passes/OnnxToNn/Paths.h"

#include "passes/OnnxToNn/Handed.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

Path::Path(Block *block) : block(block) {}
Path::Path(Path &&) = default;
Path &Path::operator=(Path &&) = default;
Path::~Path() = default;

void Path::collectLive(SmallVectorImpl<Path *> &live) {
  if (fork) {
    fork->thenPath.collectLive(live);
    fork->elsePath.collectLive(live);
  } else if (!contradiction) {
    live.push_back(this);
  }
}

const std::pair<Location, std::string> *Path::deadEnd() const {
  if (!fork)
    return contradiction ? &*contradiction : nullptr;
  const auto *end = fork->thenPath.deadEnd();
  return end && fork->elsePath.deadEnd() ? end : nullptr;
}

std::unique_ptr<Fork> joule::translate::startFork(Translator &translator, Location loc, Value condition) {
  auto draft = translator.builder.create<scf::IfOp>(loc, TypeRange(), condition, true);
  // The ends of the branches come where the ways meet.
  for (Block *block : {draft.thenBlock(), draft.elseBlock()})
    block->clear();
  auto fork = std::make_unique<Fork>(Fork{loc, draft, Path(draft.thenBlock()), Path(draft.elseBlock())});
  return fork;
}

//===- Contradictions ------------------------------------------------------------------------------------------------

/// Takes all operations of a block out of the function; the walk may remember values in them.
static void discardContents(Translator &translator, Block *block) {
  auto holder = translator.builder.create<scf::ExecuteRegionOp>(block->getParentOp()->getLoc(), TypeRange());
  Block &inner = holder.getRegion().emplaceBlock();
  inner.getOperations().splice(inner.end(), block->getOperations());
  // It has been created outside of the block, or in it, last.
  holder->remove();
  translator.discard(holder);
}

void joule::translate::endInContradiction(Translator &translator, Path &path, Location loc, std::string message) {
  OpBuilder::InsertionGuard guard(translator.builder);
  translator.builder.setInsertionPoint(path.block->getParentOp());
  discardContents(translator, path.block);
  translator.builder.setInsertionPointToEnd(path.block);
  Value never = translator.builder.create<arith::ConstantOp>(loc, translator.builder.getBoolAttr(false));
  translator.builder.create<nn::AssertOp>(loc, never, translator.builder.getStringAttr(message));
  path.contradiction.emplace(loc, std::move(message));
}

FailureOr<Path> joule::translate::attempt(Translator &translator, Block *block,
                                          llvm::function_ref<FailureOr<Path>()> translate) {
  OpBuilder::InsertionGuard guard(translator.builder);
  translator.builder.setInsertionPointToEnd(block);
  std::vector<Diagnostic> errors;
  unsigned contradictionsBefore = translator.contradictions;
  {
    ScopedDiagnosticHandler handler(translator.builder.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      errors.push_back(std::move(diagnostic));
      return success();
    });
    FailureOr<Path> path = translate();
    if (succeeded(path))
      return path;
  }
  if (!errors.empty() && translator.contradictions - contradictionsBefore == errors.size()) {
    translator.contradictions = contradictionsBefore;
    Path path(block);
    endInContradiction(translator, path, errors.front().getLocation(), errors.front().str());
    return path;
  }
  for (Diagnostic &error : errors)
    translator.builder.getContext()->getDiagEngine().emit(std::move(error));
  return failure();
}

//===- Where ways meet -----------------------------------------------------------------------------------------------

bool joule::translate::sameKind(const Tensor &a, const Tensor &b) {
  bool numbers = a.dataType != Absent && a.dataType != String && a.element && !a.poisoned;
  return numbers && a.dataType == b.dataType && a.rank() == b.rank() && !b.poisoned;
}

bool joule::translate::mayMeet(Translator &translator, Tensor &a, Tensor &b) {
  if (!sameKind(a, b))
    return false;
  bool isList = a.rank() == 1 && (translator.hostElements(a) || translator.hostElements(b));
  return !isList || translator.math.same(a.sizes[0], b.sizes[0]);
}

/// A size is known where the fork stands.
static bool knownAt(Operation *fork, Index size) {
  auto value = dyn_cast<Value>(size);
  return !value || value.getParentRegion()->isAncestor(fork->getParentRegion());
}

/// Plans what comes out of both branches: sizes that they agree on and that are known outside stay, others vary. A
/// branch that ends the run (null) agrees with all.
static void plan(Translator &translator, Operation *fork, const Tensor *a, const Tensor *b, Handed &handed) {
  const Tensor &one = a ? *a : *b, &other = b ? *b : *a;
  llvm::SmallBitVector varying(one.rank());
  for (int64_t dim = 0; dim < one.rank(); ++dim)
    varying[dim] = !knownAt(fork, one.sizes[dim]) || !translator.math.same(one.sizes[dim], other.sizes[dim]);
  handed.add(one.dataType, one.sizes, varying);
}

static SmallVector<Tensor *> join(Translator &translator, Fork &fork, TensorsOf tensorsOf) {
  auto arm = [&](Path &path) { return path.deadEnd() ? SmallVector<Tensor *>() : meet(translator, path, tensorsOf); };
  bool thenDead = fork.thenPath.deadEnd(), elseDead = fork.elsePath.deadEnd();
  SmallVector<Tensor *> thens = arm(fork.thenPath), elses = arm(fork.elsePath);
  Handed handed(translator, fork.loc);
  for (size_t number = 0; number < std::max(thens.size(), elses.size()); ++number)
    plan(translator, fork.draft, thenDead ? nullptr : thens[number], elseDead ? nullptr : elses[number], handed);
  OpBuilder &builder = translator.builder;
  auto end = [&](Block *block, bool dead, ArrayRef<Tensor *> tensors) {
    builder.setInsertionPointToEnd(block);
    builder.create<scf::YieldOp>(fork.loc, dead ? handed.placeholders() : handed.values(tensors));
  };
  end(fork.draft.elseBlock(), elseDead, elses);
  end(fork.draft.thenBlock(), thenDead, thens);
  builder.setInsertionPoint(fork.draft);
  auto branch = builder.create<scf::IfOp>(fork.loc, handed.types(), fork.draft.getCondition(), true);
  branch.getThenRegion().takeBody(fork.draft.getThenRegion());
  branch.getElseRegion().takeBody(fork.draft.getElseRegion());
  fork.draft->erase();
  builder.setInsertionPointAfter(branch);
  SmallVector<Tensor *> joined;
  for (Tensor &tensor : handed.tensors(branch.getResults()))
    joined.push_back(translator.keep(std::move(tensor)));
  return joined;
}

/// Gives the branches of a fork that nobody leaves their ends.
static void closeDead(Translator &translator, Path &path) {
  if (!path.fork)
    return;
  for (Path *arm : {&path.fork->thenPath, &path.fork->elsePath}) {
    closeDead(translator, *arm);
    translator.builder.setInsertionPointToEnd(arm->block);
    translator.builder.create<scf::YieldOp>(path.fork->loc);
  }
}

SmallVector<Tensor *> joule::translate::meet(Translator &translator, Path &path, TensorsOf tensorsOf) {
  if (!path.fork)
    return tensorsOf(path);
  for (Path *arm : {&path.fork->thenPath, &path.fork->elsePath})
    if (arm->deadEnd())
      closeDead(translator, *arm);
  SmallVector<Tensor *> joined = join(translator, *path.fork, tensorsOf);
  path.fork.reset();
  return joined;
}

static bool resultsMayMeet(Translator &translator, ArrayRef<Path *> ways) {
  for (Path *way : ways.drop_front())
    for (auto [a, b] : llvm::zip(ways.front()->results, way->results))
      if (!mayMeet(translator, *a, *b))
        return false;
  return true;
}

LogicalResult joule::translate::yieldPath(Node &node, Path path) {
  Translator &translator = node.translator;
  if (const auto *end = path.deadEnd())
    return translator.contradiction(end->first) << end->second;
  SmallVector<Path *> live;
  path.collectLive(live);
  for (Path *way : live)
    if (int64_t(way->results.size()) != node.numResults())
      return node.error() << "has a branch with " << way->results.size() << " results where " << node.numResults()
                          << " are asked for";
  if (path.fork && resultsMayMeet(translator, live))
    path.results = meet(translator, path, [](Path &way) { return way.results; });
  if (path.fork) {
    translator.pendingFork = std::move(path.fork);
    return success();
  }
  SmallVector<Tensor> copies;
  for (Tensor *tensor : path.results)
    copies.push_back(*tensor);
  return node.yield(copies);
}
