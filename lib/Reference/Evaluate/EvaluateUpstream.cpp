// The arith, math and tensor dialects by a table: most of their operations are one kernel.
#include "lib/Reference/Evaluate/EvaluateUpstream.h"

#include "lib/Reference/Kernels/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace joule::reference {

using Operands = ArrayRef<Buffer>;
using Results = Result<SmallVector<Buffer>>;

//===- How integers are read ---------------------------------------------------------------------------------

namespace {
enum class Sign { AsIs, Signed, Unsigned };
} // namespace

/// One-bit numbers, 0 and -1, as int8.
static Buffer widenBits(const Buffer &bits) { return unary(Unary::Negate, castTo(bits, ElementType::Int8)); }

static Buffer readAs(Sign sign, const Buffer &buffer) {
  if (sign == Sign::Signed && buffer.type == ElementType::Bool)
    return widenBits(buffer);
  return sign == Sign::AsIs ? buffer : buffer.withSign(sign == Sign::Unsigned);
}

static ElementType resultType(Operation *op, unsigned result = 0) {
  return elementTypeOf(getElementTypeOrSelf(op->getResult(result).getType()));
}

//===- The table ---------------------------------------------------------------------------------------------

namespace {
using Evaluator = std::function<Results(Operation *, Operands)>;
} // namespace

static Evaluator oneOperand(Unary operation) {
  return [=](Operation *op, Operands operands) -> Results {
    return SmallVector<Buffer>{unary(operation, operands[0])};
  };
}

static Evaluator twoOperands(Binary operation, Sign sign = Sign::AsIs) {
  return [=](Operation *op, Operands operands) -> Results {
    Buffer result = binary(operation, readAs(sign, operands[0]), readAs(sign, operands[1]));
    ElementType type = resultType(op);
    return SmallVector<Buffer>{result.type == type || isFloat(type) ? result : wrap(result, type)};
  };
}

static Evaluator conversion(Sign from, bool toUnsigned = false) {
  return [=](Operation *op, Operands operands) -> Results {
    ElementType type = resultType(op), wanted = withSign(type, toUnsigned);
    Buffer input = readAs(from, operands[0]);
    Buffer result = isFloat(input.type) || isFloat(type) ? castTo(input, wanted) : wrap(input, wanted);
    return SmallVector<Buffer>{result.as(type)};
  };
}

static Results compareIntegers(Operation *op, Operands operands) {
  using Predicate = arith::CmpIPredicate;
  auto is = [&](Comparison comparison, Sign sign) -> Results {
    return SmallVector<Buffer>{compare(comparison, readAs(sign, operands[0]), readAs(sign, operands[1]))};
  };
  switch (cast<arith::CmpIOp>(op).getPredicate()) {
  case Predicate::eq:
    return is(Comparison::Equal, Sign::AsIs);
  case Predicate::ne:
    return is(Comparison::NotEqual, Sign::AsIs);
  case Predicate::slt:
    return is(Comparison::Less, Sign::Signed);
  case Predicate::sle:
    return is(Comparison::LessEqual, Sign::Signed);
  case Predicate::sgt:
    return is(Comparison::Greater, Sign::Signed);
  case Predicate::sge:
    return is(Comparison::GreaterEqual, Sign::Signed);
  case Predicate::ult:
    return is(Comparison::Less, Sign::Unsigned);
  case Predicate::ule:
    return is(Comparison::LessEqual, Sign::Unsigned);
  case Predicate::ugt:
    return is(Comparison::Greater, Sign::Unsigned);
  case Predicate::uge:
    return is(Comparison::GreaterEqual, Sign::Unsigned);
  }
  return Failure{"compares in an unknown way"};
}

static Results compareFloats(Operation *op, Operands operands) {
  using Predicate = arith::CmpFPredicate;
  auto is = [&](Comparison comparison, bool unordered) -> Results {
    return SmallVector<Buffer>{compare(comparison, operands[0], operands[1], unordered)};
  };
  switch (cast<arith::CmpFOp>(op).getPredicate()) {
  case Predicate::OEQ:
    return is(Comparison::Equal, false);
  case Predicate::OGT:
    return is(Comparison::Greater, false);
  case Predicate::OGE:
    return is(Comparison::GreaterEqual, false);
  case Predicate::OLT:
    return is(Comparison::Less, false);
  case Predicate::OLE:
    return is(Comparison::LessEqual, false);
  case Predicate::ONE:
    return is(Comparison::NotEqual, false);
  case Predicate::UEQ:
    return is(Comparison::Equal, true);
  case Predicate::UGT:
    return is(Comparison::Greater, true);
  case Predicate::UGE:
    return is(Comparison::GreaterEqual, true);
  case Predicate::ULT:
    return is(Comparison::Less, true);
  case Predicate::ULE:
    return is(Comparison::LessEqual, true);
  case Predicate::UNE:
    return is(Comparison::NotEqual, true);
  case Predicate::ORD:
    return SmallVector<Buffer>{compareOrder(operands[0], operands[1], false)};
  case Predicate::UNO:
    return SmallVector<Buffer>{compareOrder(operands[0], operands[1], true)};
  case Predicate::AlwaysTrue:
    return SmallVector<Buffer>{binary(Binary::Or, compareOrder(operands[0], operands[1], false),
                                      compareOrder(operands[0], operands[1], true))};
  case Predicate::AlwaysFalse:
    return SmallVector<Buffer>{Buffer(ElementType::Bool, operands[0].shape)};
  }
  return Failure{"compares in an unknown way"};
}

static Results addExtended(Operation *, Operands operands) {
  Buffer sum = binary(Binary::Add, readAs(Sign::Unsigned, operands[0]), readAs(Sign::Unsigned, operands[1]));
  Buffer carry = compare(Comparison::Less, sum, readAs(Sign::Unsigned, operands[0]));
  return SmallVector<Buffer>{sum.as(operands[0].type), carry};
}

static Evaluator multiplyExtended(Sign sign) {
  return [=](Operation *, Operands operands) -> Results {
    Buffer high = binary(Binary::MultiplyHigh, readAs(sign, operands[0]), readAs(sign, operands[1]));
    return SmallVector<Buffer>{binary(Binary::Multiply, operands[0], operands[1]),
                               wrap(high, operands[0].type)};
  };
}

/// Any pointwise ternary or choice, by its kernel.
static Results chooseByCondition(Operation *, Operands operands) {
  return SmallVector<Buffer>{select(operands[0], operands[1], operands[2])};
}

static Results multiplyAdd(Operation *, Operands operands) {
  return SmallVector<Buffer>{fusedMultiplyAdd(operands[0], operands[1], operands[2])};
}

static Results floatToIntegerPower(Operation *, Operands operands) {
  return SmallVector<Buffer>{powerOfInteger(operands[0], operands[1])};
}

static Results sameBits(Operation *op, Operands operands) {
  return SmallVector<Buffer>{bitcast(operands[0], resultType(op))};
}

static Results constant(Operation *op, Operands) {
  Result<Buffer> value = bufferOf(cast<arith::ConstantOp>(op).getValue());
  if (!value)
    return Failure{value.error()};
  return SmallVector<Buffer>{*value};
}

//===- Tensors of scalars ------------------------------------------------------------------------------------

static Results fromElements(Operation *op, Operands operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Shape shape(type.getShape().begin(), type.getShape().end());
  std::vector<Buffer> parts;
  for (const Buffer &element : operands)
    parts.push_back(*reshape(element, {1}));
  if (parts.empty())
    return SmallVector<Buffer>{Buffer(resultType(op), shape)};
  return SmallVector<Buffer>{*reshape(*concat(parts, 0, {static_cast<int64_t>(parts.size())}), shape)};
}

static Results extractElement(Operation *, Operands operands) {
  Dims offsets;
  for (const Buffer &index : operands.drop_front())
    offsets.push_back(index.integer());
  size_t rank = offsets.size();
  Result<Buffer> element = slice(operands[0], offsets, Dims(rank, 1), Shape(rank, 1));
  if (!element)
    return Failure{element.error()};
  return SmallVector<Buffer>{*reshape(*element, {})};
}

static Results sameTensor(Operation *, Operands operands) { return SmallVector<Buffer>{operands[0]}; }

static Results sizeAlong(Operation *, Operands operands) {
  int64_t dim = operands[1].integer();
  if (dim < 0 || dim >= static_cast<int64_t>(operands[0].shape.size()))
    return Failure{"asks for size " + std::to_string(dim) + " of shape " + toString(operands[0].shape)};
  return SmallVector<Buffer>{scalar(ElementType::Int64, operands[0].shape[dim])};
}

static Results splat(Operation *op, Operands operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Shape shape;
  Operands sizes = operands.drop_front();
  for (int64_t size : type.getShape()) {
    shape.push_back(ShapedType::isDynamic(size) ? sizes.front().integer() : size);
    if (ShapedType::isDynamic(size))
      sizes = sizes.drop_front();
  }
  return SmallVector<Buffer>{*broadcast(operands[0], {}, shape)};
}

static const llvm::StringMap<Evaluator> &table() {
  static const llvm::StringMap<Evaluator> rows = {
      {"arith.constant", constant},
      {"arith.addf", twoOperands(Binary::Add)},
      {"arith.subf", twoOperands(Binary::Subtract)},
      {"arith.mulf", twoOperands(Binary::Multiply)},
      {"arith.divf", twoOperands(Binary::Divide)},
      {"arith.remf", twoOperands(Binary::Remainder)},
      {"arith.maximumf", twoOperands(Binary::Maximum)},
      {"arith.minimumf", twoOperands(Binary::Minimum)},
      {"arith.maxnumf", twoOperands(Binary::MaxNumber)},
      {"arith.minnumf", twoOperands(Binary::MinNumber)},
      {"arith.negf", oneOperand(Unary::Negate)},
      {"arith.addi", twoOperands(Binary::Add)},
      {"arith.subi", twoOperands(Binary::Subtract)},
      {"arith.muli", twoOperands(Binary::Multiply)},
      {"arith.divsi", twoOperands(Binary::Divide, Sign::Signed)},
      {"arith.divui", twoOperands(Binary::Divide, Sign::Unsigned)},
      {"arith.remsi", twoOperands(Binary::Remainder, Sign::Signed)},
      {"arith.remui", twoOperands(Binary::Remainder, Sign::Unsigned)},
      {"arith.floordivsi", twoOperands(Binary::FloorDivide, Sign::Signed)},
      {"arith.ceildivsi", twoOperands(Binary::CeilDivide, Sign::Signed)},
      {"arith.ceildivui", twoOperands(Binary::CeilDivide, Sign::Unsigned)},
      {"arith.maxsi", twoOperands(Binary::Maximum, Sign::Signed)},
      {"arith.maxui", twoOperands(Binary::Maximum, Sign::Unsigned)},
      {"arith.minsi", twoOperands(Binary::Minimum, Sign::Signed)},
      {"arith.minui", twoOperands(Binary::Minimum, Sign::Unsigned)},
      {"arith.andi", twoOperands(Binary::And)},
      {"arith.ori", twoOperands(Binary::Or)},
      {"arith.xori", twoOperands(Binary::Xor)},
      {"arith.shli", twoOperands(Binary::ShiftLeft, Sign::Unsigned)},
      {"arith.shrsi", twoOperands(Binary::ShiftRight, Sign::Signed)},
      {"arith.shrui", twoOperands(Binary::ShiftRight, Sign::Unsigned)},
      {"arith.addui_extended", addExtended},
      {"arith.mulsi_extended", multiplyExtended(Sign::Signed)},
      {"arith.mului_extended", multiplyExtended(Sign::Unsigned)},
      {"arith.cmpi", compareIntegers},
      {"arith.cmpf", compareFloats},
      {"arith.select", chooseByCondition},
      {"arith.extf", conversion(Sign::AsIs)},
      {"arith.truncf", conversion(Sign::AsIs)},
      {"arith.extsi", conversion(Sign::Signed)},
      {"arith.extui", conversion(Sign::Unsigned, /*toUnsigned=*/true)},
      {"arith.trunci", conversion(Sign::Unsigned, /*toUnsigned=*/true)},
      {"arith.sitofp", conversion(Sign::Signed)},
      {"arith.uitofp", conversion(Sign::Unsigned)},
      {"arith.fptosi", conversion(Sign::AsIs)},
      {"arith.fptoui", conversion(Sign::AsIs, /*toUnsigned=*/true)},
      {"arith.index_cast", conversion(Sign::Signed)},
      {"arith.index_castui", conversion(Sign::Unsigned, /*toUnsigned=*/true)},
      {"arith.bitcast", sameBits},
      {"math.absf", oneOperand(Unary::Abs)},
      {"math.absi", oneOperand(Unary::Abs)},
      {"math.acos", oneOperand(Unary::Acos)},
      {"math.acosh", oneOperand(Unary::Acosh)},
      {"math.asin", oneOperand(Unary::Asin)},
      {"math.asinh", oneOperand(Unary::Asinh)},
      {"math.atan", oneOperand(Unary::Atan)},
      {"math.atan2", twoOperands(Binary::Atan2)},
      {"math.atanh", oneOperand(Unary::Atanh)},
      {"math.cbrt", oneOperand(Unary::Cbrt)},
      {"math.ceil", oneOperand(Unary::Ceil)},
      {"math.copysign", twoOperands(Binary::CopySign)},
      {"math.cos", oneOperand(Unary::Cos)},
      {"math.cosh", oneOperand(Unary::Cosh)},
      {"math.ctlz", oneOperand(Unary::CountLeadingZeros)},
      {"math.ctpop", oneOperand(Unary::CountOnes)},
      {"math.cttz", oneOperand(Unary::CountTrailingZeros)},
      {"math.erf", oneOperand(Unary::Erf)},
      {"math.exp", oneOperand(Unary::Exp)},
      {"math.exp2", oneOperand(Unary::Exp2)},
      {"math.expm1", oneOperand(Unary::Expm1)},
      {"math.floor", oneOperand(Unary::Floor)},
      {"math.fma", multiplyAdd},
      {"math.fpowi", floatToIntegerPower},
      {"math.ipowi", twoOperands(Binary::IntegerPower, Sign::Signed)},
      {"math.log", oneOperand(Unary::Log)},
      {"math.log10", oneOperand(Unary::Log10)},
      {"math.log1p", oneOperand(Unary::Log1p)},
      {"math.log2", oneOperand(Unary::Log2)},
      {"math.powf", twoOperands(Binary::Power)},
      {"math.round", oneOperand(Unary::Round)},
      {"math.roundeven", oneOperand(Unary::RoundEven)},
      {"math.rsqrt", oneOperand(Unary::Rsqrt)},
      {"math.sin", oneOperand(Unary::Sin)},
      {"math.sinh", oneOperand(Unary::Sinh)},
      {"math.sqrt", oneOperand(Unary::Sqrt)},
      {"math.tan", oneOperand(Unary::Tan)},
      {"math.tanh", oneOperand(Unary::Tanh)},
      {"math.trunc", oneOperand(Unary::Truncate)},
      {"tensor.cast", sameTensor},
      {"tensor.dim", sizeAlong},
      {"tensor.extract", extractElement},
      {"tensor.from_elements", fromElements},
      {"tensor.splat", splat},
  };
  return rows;
}

/// The operands of a pointwise operation have one shape, but that a select's condition may be a scalar.
static bool shapesAgree(Operation *op, Operands operands) {
  return llvm::all_of(llvm::enumerate(operands), [&](auto operand) {
    bool isScalar = !isa<ShapedType>(op->getOperand(operand.index()).getType());
    return isScalar || operand.value().shape == operands.back().shape;
  });
}

bool isUpstream(Operation *op) { return table().contains(op->getName().getStringRef()); }

Results evaluateUpstream(Operation *op, Operands operands) {
  if (OpTrait::hasElementwiseMappableTraits(op) && !shapesAgree(op, operands))
    return Failure{"combines tensors of shapes " + toString(operands.front().shape) + " and " +
                   toString(operands.back().shape)};
  return table().lookup(op->getName().getStringRef())(op, operands);
}

} // namespace joule::reference
