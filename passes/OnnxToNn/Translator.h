// onnx → nn in one forward walk.
//
// How to add an operator
// ----------------------
// Write a function `LogicalResult translateFoo(Node &node)` in the file of its family and a row for it in that file's
// table (`{"", "Foo", 13, 1, 2, translateFoo}`: domain, operator, first version, fewest and most inputs). A row holds
// from its version up to the next row of the operator. A new family's file adds its table to `allRows` in Table.cpp.
//
// A translation reads its node through `Node`:
//   - `node.input(i)` is what is known of an input (`Tensor`: element type, sizes, perhaps its elements);
//     `node.has(i)` says whether an optional one is there; `node.value(i)` is its nn value, made when first asked for;
//   - `node.integer("axis", 0)`, `node.integers("perm")`, `node.real(…)`, `node.string(…)` are attributes with defaults;
//   - `node.axis(…)`, `node.axes(…)` check and normalise; `node.constantIntegers(i)` wants the elements of an input that
//     must be known now, `node.indices(i)` those of one that a run may bring (as `index` values);
//   - `node.listInput("axes", 1)` is an attribute of older versions that became an input;
//   - `node.math` calculates sizes, `node.builder` makes operations, `node.loc` is the node's location.
// and answers with
//   - `return node.yield(value, sizes, dataType)` for one result, `node.yield({tensor, …})` for several;
//   - `return node.error() << "weight has 3 input channels but the input has 4"`; the operator's name comes first by
//     itself. Check before building: no user's model may reach a verifier's failure.
//   - `return node.unsupported() << "has …, which is not supported"` where the model is right and the translation cannot.
//
// What is a tensor's home
// -----------------------
// Shape arithmetic never becomes a kernel. A small integer tensor's `elements` are `index` values or constants; the
// functions of HostFold.cpp calculate on them before a row's translation is asked. A value is built for such a tensor
// only when `node.value(i)` asks for it. Constants stay `constant` attributes until then, too. What constants alone
// decide is computed by the reference when somebody asks for its elements (`hostElements`).
#pragma once

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "passes/OnnxToNn/IndexMath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <deque>

namespace joule::translate {

using mlir::Attribute;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;

/// A size or other integer of the host: a constant, or an `index` value.
using Index = OpFoldResult;
using Sizes = SmallVector<OpFoldResult>;

/// TensorProto.DataType, as far as translations name it.
enum DataType : int {
  Absent = 0, Float = 1, UInt8 = 2, Int8 = 3, UInt16 = 4, Int16 = 5, Int32 = 6, Int64 = 7, String = 8, Bool = 9,
  Float16 = 10, Double = 11, UInt32 = 12, UInt64 = 13, Complex64 = 14, Complex128 = 15, BFloat16 = 16,
  Float8E4M3FN = 17, Float8E4M3FNUZ = 18, Float8E5M2 = 19, Float8E5M2FNUZ = 20, UInt4 = 21, Int4 = 22,
  Float4E2M1 = 23, Float8E8M0 = 24, UInt2 = 25, Int2 = 26,
};

/// What is known of one ONNX value.
struct Tensor {
  int dataType = Absent;
  Type element; // as nn spells it: integers are signless
  Sizes sizes;
  /// Its elements where they are constant: elements with signless integers, or `#nn.weight`.
  Attribute constant;
  /// Its elements where they are few integers (or floats with integral values) that the host knows or calculates:
  /// row-major; bools are 0 and 1.
  std::optional<SmallVector<Index>> elements;
  /// The nn value, once it has been asked for.
  Value value;
  /// Constants alone decide it, though it stands as operations so far.
  bool followsFromConstants = false;
  /// Its translation failed: nothing that reads it is translated, or complained of.
  bool poisoned = false;

  int64_t rank() const { return sizes.size(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element); }
  bool isInteger() const { return element.isSignlessInteger() && dataType != Bool; }
  bool isBool() const { return dataType == Bool; }
  bool isUnsigned() const;
  bool isConstant() const { return constant != nullptr; }
  /// The size along `dim` where it is constant.
  std::optional<int64_t> knownSize(int64_t dim) const { return mlir::getConstantIntValue(sizes[dim]); }
  RankedTensorType type() const;
};

class Translator;
struct Fork;

/// One onnx.node while it is translated.
class Node {
public:
  Node(Translator &translator, onnx::NodeOp op);

  Translator &translator;
  onnx::NodeOp op;
  Location loc;
  IndexMath &math;
  mlir::ImplicitLocOpBuilder builder;

  /// The model contradicts itself at the node; the text begins with the operator's name. In a branch that a run decides
  /// this is an error of the runs that take it.
  mlir::InFlightDiagnostic error();
  /// The node asks for something that translations cannot do.
  mlir::InFlightDiagnostic unsupported();

  // Inputs.
  int64_t numInputs() { return op.getInputs().size(); }
  int64_t numResults() { return op.getOutputs().size(); }
  bool has(int64_t input);
  Tensor &input(int64_t input);
  Value value(int64_t input);
  /// The result is asked for.
  bool wants(int64_t result);
  int64_t version() { return op.getSinceVersion(); }

  // Attributes, with what stands for an absent one.
  bool hasAttribute(llvm::StringRef name) { return bool(op.getNodeAttributes().get(name)); }
  int64_t integer(llvm::StringRef name, int64_t fallback);
  /// An attribute that is 0 or 1; any other is an error once the translation has ended.
  bool flag(llvm::StringRef name, bool fallback = false);
  double real(llvm::StringRef name, double fallback);
  llvm::StringRef string(llvm::StringRef name, llvm::StringRef fallback);
  SmallVector<int64_t> integers(llvm::StringRef name, llvm::ArrayRef<int64_t> fallback = {});
  SmallVector<double> reals(llvm::StringRef name);

  // Operands' values.
  /// The elements of an input that must be known when compiling.
  FailureOr<SmallVector<int64_t>> constantIntegers(int64_t input);
  /// The elements of an integer input as index values; a run may bring them.
  FailureOr<SmallVector<Index>> indices(int64_t input);
  /// The list that older versions hold in attribute `name` and newer ones in `input`; none where it is absent.
  FailureOr<std::optional<SmallVector<int64_t>>> listInput(llvm::StringRef name, int64_t input);

  // Checks, which report what is wrong.
  FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// Attribute `name` as an axis of a tensor of `rank`.
  FailureOr<int64_t> axis(llvm::StringRef name, int64_t fallback, int64_t rank);
  /// `axes` normalised, in ascending order, without repetition.
  FailureOr<SmallVector<int64_t>> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);
  LogicalResult wantFloat(int64_t input);
  LogicalResult wantNumber(int64_t input); // float or integer
  LogicalResult wantBool(int64_t input);
  LogicalResult wantRank(int64_t input, int64_t least, int64_t most = -1);
  LogicalResult wantSameElement(int64_t a, int64_t b);
  /// Every flag that was read was 0 or 1.
  LogicalResult wantFlags();

  // Building.
  RankedTensorType type(llvm::ArrayRef<Index> sizes, Type element);
  /// The sizes that are no constants, as operands.
  SmallVector<Value> dynamic(llvm::ArrayRef<Index> sizes);
  /// The sizes that inputs have when they are broadcast together.
  FailureOr<Sizes> broadcastSizes(llvm::ArrayRef<Tensor *> tensors);
  /// `value` of sizes `from` repeated to `to`, dimensions aligned at the end.
  Value broadcast(Value value, llvm::ArrayRef<Index> from, llvm::ArrayRef<Index> to);
  /// The value of `input` repeated to `to`, dimensions aligned at the end; an error where it does not fit.
  FailureOr<Value> broadcastInput(int64_t input, llvm::ArrayRef<Index> to);
  /// `value` whose dimension `d` runs along dimension `dims[d]` of `to`.
  Value broadcastInDim(Value value, llvm::ArrayRef<Index> from, llvm::ArrayRef<Index> to,
                       llvm::ArrayRef<int64_t> dims);
  /// A tensor of `sizes` full of `number`.
  Value splat(double number, Type element, llvm::ArrayRef<Index> sizes);
  Value splat(llvm::APInt number, Type element, llvm::ArrayRef<Index> sizes);
  /// A tensor of rank 0.
  Value scalar(double number, Type element);
  Value reshape(Value value, llvm::ArrayRef<Index> from, llvm::ArrayRef<Index> to);
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation);
  /// `sizes` elements from `offsets` on, `strides` apart. All that is read must lie inside.
  Value slice(Value value, llvm::ArrayRef<Index> offsets, llvm::ArrayRef<Index> sizes,
              llvm::ArrayRef<int64_t> strides);
  /// `value` with `low` elements before and `high` after it along each dimension; they are `fill`, of rank 0.
  Value pad(Value value, Value fill, llvm::ArrayRef<Index> from, llvm::ArrayRef<Index> low,
            llvm::ArrayRef<Index> high, nn::PadMode mode = nn::PadMode::Constant);
  /// A tensor of `sizes` that counts along `dim`.
  Value iota(int64_t dim, llvm::ArrayRef<Index> sizes, Type element);
  /// An `index` value as a tensor of rank 0.
  Value indexScalar(Index number, int dataType);
  Value reduce(nn::Combiner combiner, Value value, llvm::ArrayRef<int64_t> axes);
  /// `value` converted as ONNX Cast does.
  Value convert(Value value, int fromType, int toType, bool saturate = false);
  /// Ends the run with `message` unless `condition` is not 0; an error now where it is known to be 0.
  LogicalResult require(Index condition, const llvm::Twine &message);
  /// As `require` for `a` equal to `b`; where both are known the error says them.
  LogicalResult requireEqual(Index a, Index b, const llvm::Twine &what);
  /// A check at run time, unless both are known before, that a dimension can be repeated to another size.
  void requireFit(Index size, Index wanted);

  // Results.
  LogicalResult yield(Value value, Sizes sizes, int dataType);
  LogicalResult yield(llvm::ArrayRef<Tensor> results);
  Tensor tensor(Value value, Sizes sizes, int dataType);
  /// A tensor that the host calculates.
  Tensor hostTensor(SmallVector<Index> elements, llvm::ArrayRef<int64_t> shape, int dataType);

private:
  /// A flag that is neither 0 nor 1, or empty.
  llvm::StringRef strangeFlag;
};

/// What a row's translation wants to know of the input that lists axes.
enum class Axes {
  Known,    ///< their values, or it has no such input
  Any,      ///< their values, in no particular order; if only a run brings them, each choice is translated
  OfResult, ///< likewise, where they count the result's dimensions
  Ordered,  ///< likewise, where another input goes along with them
};

/// How an operator is translated, from a version on.
struct Row {
  const char *domain, *name;
  int64_t since;
  int64_t leastInputs, mostInputs; // -1: any number
  LogicalResult (*translate)(Node &);
  Axes axes = Axes::Known;
  int64_t axesInput = 1;
};

/// The row of an operator; null where it is not supported.
const Row *findRow(llvm::StringRef domain, llvm::StringRef name, int64_t version);

/// Calculates a node on small integer tensors without building operations on tensors. False where the node, or what is
/// known of its inputs, is not of that kind.
bool foldOnHost(Node &node);

/// The walk: what is known of every value so far, and where operations are made.
class Translator {
public:
  Translator(mlir::func::FuncOp source, mlir::func::FuncOp target);
  ~Translator();

  LogicalResult translateFunction();
  /// Translates the nodes of `block` where the builder stands; `arguments` are what its block arguments are. Gives what
  /// the block returns.
  FailureOr<SmallVector<Tensor *>> translateBlock(Location loc, mlir::Block &block, llvm::ArrayRef<Tensor> arguments);
  /// Translates one operation of a block where the builder stands.
  LogicalResult translateOperation(mlir::Operation &op);

  Tensor &lookup(Value onnxValue) { return *known.find(onnxValue)->second; }
  void define(Value onnxValue, Tensor tensor);
  void alias(Value onnxValue, Tensor &tensor) { known[onnxValue] = &tensor; }
  Tensor *keep(Tensor tensor);
  Value materialize(Location loc, Tensor &tensor);
  /// A constant at the function's entry; equal ones are one.
  Value constant(Attribute value, RankedTensorType type);
  /// The elements of a small integer tensor that the host knows, or can calculate; null where it cannot.
  SmallVector<Index> *hostElements(Tensor &tensor);
  /// As `hostElements`, but reads the elements from a tensor that the run brings where its shape is static.
  SmallVector<Index> *readElements(Location loc, Tensor &tensor);

  /// Takes an operation that has been removed from the function again. It lives as long as the walk, which may remember
  /// values in it; none of them is visible any more.
  void discard(mlir::Operation *op) { discarded.push_back(op); }

  /// Begins an error of a model that contradicts itself.
  mlir::InFlightDiagnostic contradiction(Location loc);

  mlir::OpBuilder builder;
  IndexMath math;
  /// How many errors were contradictions.
  unsigned contradictions = 0;
  /// The numbers of the iterations in which the builder stands, from the outermost on.
  SmallVector<Index> iterations;
  /// The node just translated gives tensors of different kinds on these ways; the walk takes it from here.
  std::unique_ptr<Fork> pendingFork;

private:
  LogicalResult addArgument(unsigned number, mlir::SmallVectorImpl<mlir::DictionaryAttr> &attributes);
  FailureOr<SmallVector<Tensor *>> translateOutputs();
  Tensor constantTensor(onnx::ConstantOp op);
  LogicalResult translateNode(onnx::NodeOp op);
  LogicalResult translateWithRow(Node &node, const Row &row);
  void evaluateConstant(Tensor &tensor);
  LogicalResult verifyOpsAfter(Node &node, mlir::Operation *last);
  Value symbol(llvm::StringRef name);
  Value fromElements(Location loc, const Tensor &tensor);
  bool isVisible(Value value);

  mlir::func::FuncOp source, target;
  std::deque<Tensor> pool;
  llvm::DenseMap<Value, Tensor *> known;
  llvm::DenseMap<std::pair<Attribute, Type>, Value> constants;
  llvm::StringMap<Value> symbols;
  mlir::Operation *lastEntryOp = nullptr;
  SmallVector<mlir::Operation *> discarded;
};

/// A constant of the onnx level as nn holds it: integers without a sign, weights of nn.
Attribute nnConstant(Attribute value);

/// What nn makes of an ONNX element type: integers lose their sign.
Type nnElementType(mlir::MLIRContext *context, int dataType);
bool isUnsignedType(int dataType);

} // namespace joule::translate
