// Ways through a program on which one ONNX value is tensors of different ranks.
//
// An `If` that a run decides may give a matrix on one side and a vector on the other. No tensor's type says both, so what
// follows is translated once for each way, inside its branch, node by node, until every value that is still needed has
// the same type and rank on all ways. There the ways meet, and the walk goes on outside:
//
//     y = If(c) {Squeeze(x)} {x}                   if c { t = squeeze x; t' = relu t; a = sum t' }
//     z = Relu(y)                          →       else { t = x;         t' = relu t; b = sum t' }
//     s = ReduceSum(z)                             s = c ? a : b
//
// A node that contradicts itself on one way (a Squeeze of an axis that is not 1, say) is no error of the model: exporters
// leave such branches in, knowing that no run takes them. The way ends there with an nn.assert that fails, and meets
// everything.
#pragma once

#include "passes/OnnxToNn/Translator.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace joule::translate {

struct Fork;

/// A way: operations are appended to `block`, until it forks into two.
struct Path {
  explicit Path(mlir::Block *block);
  Path(Path &&);
  Path &operator=(Path &&);
  ~Path();

  mlir::Block *block = nullptr;
  /// What the block that was translated returns here.
  SmallVector<Tensor *> results;
  /// What the values are here that are not the same on all ways.
  llvm::DenseMap<Value, Tensor *> tensors;
  std::unique_ptr<Fork> fork;
  /// Where and why it ends the run, if it does.
  std::optional<std::pair<Location, std::string>> contradiction;

  /// The ways that do not fork, in order; those that end the run are left out.
  void collectLive(llvm::SmallVectorImpl<Path *> &live);
  /// Why no way goes on; none where one does.
  const std::pair<Location, std::string> *deadEnd() const;
};

struct Fork {
  Location loc;
  /// Has no results: their types are known only where the ways meet.
  mlir::scf::IfOp draft;
  Path thenPath, elsePath;
};

/// Starts a fork where the builder stands.
std::unique_ptr<Fork> startFork(Translator &translator, Location loc, Value condition);

/// What translates as a way does into `block`: a failure by contradictions alone ends the way, others are reported.
FailureOr<Path> attempt(Translator &translator, mlir::Block *block, llvm::function_ref<FailureOr<Path>()> translate);

/// Ends a way with a failing assertion in place of all that it has.
void endInContradiction(Translator &translator, Path &path, Location loc, std::string message);

/// The two may be one tensor behind an `If`.
bool sameKind(const Tensor &a, const Tensor &b);

/// They may, and nothing is lost by it: of lists whose lengths differ the host would no longer know the elements.
bool mayMeet(Translator &translator, Tensor &a, Tensor &b);

using TensorsOf = llvm::function_ref<SmallVector<Tensor *>(Path &)>;

/// Ends the forks of `path`; what `tensorsOf` its ways becomes one list. The tensors must be of the same kinds.
SmallVector<Tensor *> meet(Translator &translator, Path &path, TensorsOf tensorsOf);

/// Answers a node with the results of `path`: as one list where its ways may meet, else what follows the node goes on on
/// each of them.
LogicalResult yieldPath(Node &node, Path path);

} // namespace joule::translate
