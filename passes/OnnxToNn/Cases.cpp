// Axes that only a run brings: one translation for each choice, of which the run takes one.
#include "passes/OnnxToNn/Cases.h"

#include "passes/OnnxToNn/Handed.h"
#include "passes/OnnxToNn/Paths.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

// Each choice is code of its own.
static constexpr size_t maxChoices = 24;

using Choice = SmallVector<int64_t>;

/// All lists of `count` axes below `rank` without repetition; in every order, or ascending where order says nothing.
static std::vector<Choice> listChoices(int64_t rank, int64_t count, bool ordered) {
  std::vector<Choice> choices = {{}};
  for (int64_t position = 0; position < count; ++position) {
    std::vector<Choice> longer;
    for (const Choice &choice : choices)
      for (int64_t axis = ordered || choice.empty() ? 0 : choice.back() + 1; axis < rank; ++axis)
        if (!llvm::is_contained(choice, axis)) {
          longer.push_back(choice);
          longer.back().push_back(axis);
        }
    choices = std::move(longer);
    if (choices.size() > maxChoices)
      break;
  }
  return choices;
}

static int64_t axesRank(Node &node, const Row &row, int64_t count) {
  return node.input(0).rank() + (row.axes == Axes::OfResult ? count : 0);
}

/// How many axes the input lists; none where only a run says that.
static std::optional<int64_t> countAxes(Tensor &list) {
  RankedTensorType type = list.type();
  if (!list.isInteger() || type.getRank() > 1 || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

bool joule::translate::hasAxesOfTheRun(Node &node, const Row &row) {
  if (row.axes == Axes::Known || !node.has(row.axesInput))
    return false;
  Tensor &list = node.input(row.axesInput);
  SmallVector<Index> *elements = node.translator.hostElements(list);
  if (elements && llvm::all_of(*elements, [](Index each) { return IndexMath::known(each).has_value(); }))
    return false;
  std::optional<int64_t> count = countAxes(list);
  if (!count || *count == 0)
    return false;
  int64_t rank = axesRank(node, row, *count);
  return *count <= rank && listChoices(rank, *count, row.axes == Axes::Ordered).size() <= maxChoices;
}

/// 1 where the run's axes are the choice.
static Index fits(Node &node, ArrayRef<Index> axes, const Choice &choice, bool ordered) {
  IndexMath &math = node.math;
  Index all = math.constant(1);
  for (auto [position, axis] : llvm::enumerate(choice)) {
    auto isAxis = [&, axis = axis](Index each) {
      return math.compare(node.loc, arith::CmpIPredicate::eq, each, math.constant(axis));
    };
    Index found = ordered ? isAxis(axes[position]) : math.constant(0);
    for (Index each : ordered ? ArrayRef<Index>() : axes)
      found = math.max(node.loc, found, isAxis(each));
    all = math.min(node.loc, all, found);
  }
  return all;
}

/// The node with the choice in place of what the run brings.
static FailureOr<Path> translateChoice(Node &node, const Row &row, const Choice &choice, Block *block) {
  Translator &translator = node.translator;
  Value axesValue = node.op.getInputs()[row.axesInput];
  Tensor &list = node.input(row.axesInput);
  SmallVector<Index> elements;
  for (int64_t axis : choice)
    elements.push_back(node.math.constant(axis));
  SmallVector<int64_t> shape(list.rank(), int64_t(choice.size()));
  translator.alias(axesValue, *translator.keep(node.hostTensor(elements, shape, list.dataType)));
  FailureOr<Path> path = attempt(translator, block, [&]() -> FailureOr<Path> {
    Node chosen(translator, node.op);
    if (failed(row.translate(chosen)) || failed(chosen.wantFlags()))
      return failure();
    Path translated(block);
    for (Value result : node.op.getOutputs())
      translated.results.push_back(&translator.lookup(result));
    return translated;
  });
  translator.alias(axesValue, list);
  return path;
}

LogicalResult joule::translate::translateEachChoice(Node &node, const Row &row) {
  Translator &translator = node.translator;
  FailureOr<SmallVector<Index>> axes = node.indices(row.axesInput);
  if (failed(axes))
    return failure();
  bool ordered = row.axes == Axes::Ordered;
  int64_t rank = axesRank(node, row, axes->size());
  for (Index &axis : *axes) {
    Index isNegative = node.math.compare(node.loc, arith::CmpIPredicate::slt, axis, node.math.constant(0));
    axis = node.math.select(node.loc, isNegative, node.math.add(node.loc, axis, node.math.constant(rank)), axis);
  }
  std::vector<Choice> choices = listChoices(rank, axes->size(), ordered);
  SmallVector<Value> conditions;
  for (const Choice &choice : choices)
    conditions.push_back(isTrue(translator, node.loc, fits(node, *axes, choice, ordered)));

  OpBuilder::InsertionGuard guard(translator.builder);
  Path path(translator.builder.getInsertionBlock());
  Path *way = &path;
  for (auto [choice, condition] : llvm::zip(choices, conditions)) {
    way->fork = startFork(translator, node.loc, condition);
    Path &chosen = way->fork->thenPath;
    FailureOr<Path> translated = translateChoice(node, row, choice, chosen.block);
    if (failed(translated))
      return failure();
    chosen = std::move(*translated);
    way = &way->fork->elsePath;
    translator.builder.setInsertionPointToEnd(way->block);
  }
  std::string name = node.op.getOpType().str();
  endInContradiction(translator, *way, node.loc, name + " has axes that repeat or are none of its tensor's");
  return yieldPath(node, std::move(path));
}
