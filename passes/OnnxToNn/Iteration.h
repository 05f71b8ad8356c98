// Iterations on tensors, under Loop and Scan.
#pragma once

#include "passes/OnnxToNn/Handed.h"

#include <deque>

namespace joule::translate {

/// Builds an scf.while that carries tensors from one iteration to the next and collects others. Which of their sizes vary
/// is found by trying: the body is translated with the sizes of the first iteration, and again while that proves wrong.
class Iteration {
public:
  /// What an iteration gives: whether another follows, the carried tensors, then those that are collected.
  struct Step {
    Index goOn;
    SmallVector<Tensor *> tensors;
  };
  /// Translates the body where the builders stand.
  using Body = std::function<FailureOr<Step>(Value iteration, Value alive, llvm::ArrayRef<Tensor> carried)>;

  explicit Iteration(Node &node) : node(node), translator(node.translator), builder(translator.builder) {}

  /// At most so many iterations; none if `start` is 0.
  Index limit, start;
  SmallVector<Tensor *> initial;
  /// For each collected tensor: later ones stand before earlier ones.
  SmallVector<bool> prepends;
  /// The types that the model states for an element of each.
  SmallVector<Type> statedTypes;
  Body body;

  /// The carried tensors after the last iteration, then all collected ones along a new first dimension.
  FailureOr<SmallVector<Tensor>> run();

private:
  FailureOr<bool> attempt();
  FailureOr<bool> iterate(mlir::Block *after, Handed &handed);
  FailureOr<bool> compare(llvm::ArrayRef<Tensor *> outputs);
  Handed plan();
  Tensor emptyScan(const Tensor &scan);
  void collect(const Tensor &scan, Type statedType);
  Value fit(const Tensor &all, const Tensor &one);
  Tensor append(const Tensor &all, Tensor &one, bool prepend);
  SmallVector<Value> state(Value iteration, Value goOn, llvm::ArrayRef<Tensor *> tensors, Handed &handed);
  void finish(mlir::ValueRange values, Handed &handed);

  Node &node;
  Translator &translator;
  mlir::OpBuilder &builder;
  mlir::Region *outside = nullptr;
  SmallVector<llvm::SmallBitVector> varying;
  SmallVector<Tensor> scans; ///< one element of each collected tensor, once the body has been seen
  SmallVector<llvm::SmallBitVector> hiddenSizes; ///< of those, the sizes that only an iteration knows
  SmallVector<Tensor> results;
  bool endsAtLimit = false; ///< no iteration says that it is the last
};

} // namespace joule::translate
