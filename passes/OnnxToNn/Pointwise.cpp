// Operators that treat each element on its own.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace joule::translate;

namespace {

//===- One operand ---------------------------------------------------------------------------------------------------

/// Answers with `emit(maths, x)`, which has the input's type.
template <typename Emit> LogicalResult unary(Node &node, Emit emit) {
  Tensor &x = node.input(0);
  Maths maths(node, x.sizes, x.dataType);
  return node.yield(emit(maths, node.value(0)), x.sizes, x.dataType);
}

template <typename Emit> LogicalResult floatUnary(Node &node, Emit emit) {
  return failed(node.wantFloat(0)) ? failure() : unary(node, emit);
}

template <typename Emit> LogicalResult numberUnary(Node &node, Emit emit) {
  return failed(node.wantNumber(0)) ? failure() : unary(node, emit);
}

template <typename Op> LogicalResult mathUnary(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) -> Value { return m.builder.create<Op>(x); });
}

LogicalResult translateAbs(Node &node) {
  return numberUnary(node, [&](Maths &m, Value x) -> Value {
    if (node.input(0).isFloat())
      return m.absf(x);
    return m.isUnsigned ? x : m.builder.create<math::AbsIOp>(x);
  });
}

LogicalResult translateNeg(Node &node) {
  return numberUnary(node, [&](Maths &m, Value x) -> Value {
    return node.input(0).isFloat() ? m.negate(x) : m.sub(m.constant(0), x);
  });
}

LogicalResult translateSign(Node &node) {
  return numberUnary(node, [&](Maths &m, Value x) -> Value {
    if (m.isUnsigned)
      return m.min(x, m.constant(1));
    if (node.input(0).isInteger())
      return m.max(m.min(x, m.constant(1)), m.constant(-1));
    // Zeros and NaN are their own sign.
    Value zero = m.constant(0), negative = m.select(m.less(x, zero), m.constant(-1), x);
    return m.select(m.greater(x, zero), m.constant(1), negative);
  });
}

LogicalResult translateReciprocal(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.div(m.constant(1), x); });
}

LogicalResult translateRelu(Node &node) {
  return numberUnary(node, [](Maths &m, Value x) { return m.max(x, m.constant(0)); });
}

LogicalResult translateSigmoid(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.sigmoid(x); });
}

LogicalResult translateSoftplus(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.softplus(x); });
}

LogicalResult translateSoftsign(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.div(x, m.add(m.constant(1), m.absf(x))); });
}

LogicalResult translateLeakyRelu(Node &node) {
  return floatUnary(node, [&](Maths &m, Value x) {
    return m.select(m.less(x, m.constant(0)), m.mul(x, m.constant(node.real("alpha", 0.01f))), x);
  });
}

LogicalResult translateThresholdedRelu(Node &node) {
  return floatUnary(node, [&](Maths &m, Value x) {
    return m.select(m.greater(x, m.constant(node.real("alpha", 1))), x, m.constant(0));
  });
}

/// alpha * (exp(x) - 1), as near to zero as x is.
Value scaledExpm1(Maths &m, Value x, double alpha) {
  return m.mul(m.constant(alpha), m.builder.create<math::ExpM1Op>(x));
}

LogicalResult translateElu(Node &node) {
  return floatUnary(node, [&](Maths &m, Value x) {
    return m.select(m.less(x, m.constant(0)), scaledExpm1(m, x, node.real("alpha", 1)), x);
  });
}

LogicalResult translateSelu(Node &node) {
  double alpha = node.real("alpha", 1.67326319217681884765625), gamma = node.real("gamma", 1.05070102214813232421875);
  return floatUnary(node, [&](Maths &m, Value x) {
    Value inner = m.select(m.greater(x, m.constant(0)), x, scaledExpm1(m, x, alpha));
    return m.mul(m.constant(gamma), inner);
  });
}

LogicalResult translateCelu(Node &node) {
  double alpha = node.real("alpha", 1);
  if (alpha == 0)
    return node.error() << "has an alpha of 0";
  return floatUnary(node, [&](Maths &m, Value x) {
    Value zero = m.constant(0);
    return m.add(m.max(x, zero), m.min(zero, scaledExpm1(m, m.div(x, m.constant(alpha)), alpha)));
  });
}

LogicalResult translateGelu(Node &node) {
  StringRef approximate = node.string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.error() << "has the approximation '" << approximate << "', which ONNX does not define";
  return floatUnary(node, [&](Maths &m, Value x) {
    Value inner;
    if (approximate == "tanh") {
      Value cube = m.mul(m.mul(x, x), x);
      inner = m.tanh(m.mul(m.constant(std::sqrt(2 / M_PI)), m.add(x, m.mul(m.constant(0.044715), cube))));
    } else {
      inner = m.erf(m.mul(x, m.constant(std::sqrt(0.5))));
    }
    return m.mul(m.mul(m.constant(0.5), x), m.add(m.constant(1), inner));
  });
}

Value hardSigmoid(Maths &m, Value x, double alpha, double beta) {
  Value line = m.add(m.mul(m.constant(alpha), x), m.constant(beta));
  return m.max(m.constant(0), m.min(m.constant(1), line));
}

LogicalResult translateHardSigmoid(Node &node) {
  return floatUnary(node, [&](Maths &m, Value x) {
    return hardSigmoid(m, x, node.real("alpha", 0.2f), node.real("beta", 0.5));
  });
}

LogicalResult translateHardSwish(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.mul(x, hardSigmoid(m, x, 1.0 / 6, 0.5)); });
}

LogicalResult translateMish(Node &node) {
  return floatUnary(node, [](Maths &m, Value x) { return m.mul(x, m.tanh(m.softplus(x))); });
}

LogicalResult translateSwish(Node &node) {
  return floatUnary(node, [&](Maths &m, Value x) {
    return m.mul(x, m.sigmoid(m.mul(m.constant(node.real("alpha", 1)), x)));
  });
}

LogicalResult translateShrink(Node &node) {
  double bias = node.real("bias", 0), lambda = node.real("lambd", 0.5);
  if (failed(node.wantNumber(0)))
    return failure();
  // Integers are compared with a fraction, too.
  Tensor &input = node.input(0);
  int computed = input.isFloat() ? input.dataType : int(Double);
  Maths m(node, input.sizes, computed);
  Value x = node.convert(node.value(0), input.dataType, computed);
  Value above = m.select(m.greater(x, m.constant(lambda)), m.sub(x, m.constant(bias)), m.constant(0));
  Value result = m.select(m.less(x, m.constant(-lambda)), m.add(x, m.constant(bias)), above);
  return node.yield(node.convert(result, computed, input.dataType), input.sizes, input.dataType);
}

LogicalResult translateNot(Node &node) {
  if (failed(node.wantBool(0)))
    return failure();
  return unary(node, [](Maths &m, Value x) -> Value { return m.builder.create<arith::XOrIOp>(x, m.constant(1)); });
}

LogicalResult translateBitwiseNot(Node &node) {
  if (!node.input(0).isInteger())
    return node.error() << "wants integers but the input is " << joule::dataTypeName(node.input(0).dataType);
  return unary(node, [](Maths &m, Value x) -> Value { return m.builder.create<arith::XOrIOp>(x, m.constant(-1)); });
}

LogicalResult translateIsNaN(Node &node) {
  if (failed(node.wantFloat(0)))
    return failure();
  Value x = node.value(0);
  Value result = node.builder.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  return node.yield(result, node.input(0).sizes, Bool);
}

LogicalResult translateIsInf(Node &node) {
  if (failed(node.wantFloat(0)))
    return failure();
  Tensor &x = node.input(0);
  Value value = node.value(0);
  Maths m(node, x.sizes, x.dataType);
  bool positive = node.flag("detect_positive", true), negative = node.flag("detect_negative", true);
  auto infinity = [&](double sign) { return m.equal(value, m.constant(sign * INFINITY)); };
  if (!positive && !negative)
    return node.yield(node.splat(0.0, node.builder.getI1Type(), x.sizes), x.sizes, Bool);
  Value result = infinity(positive ? 1 : -1);
  if (positive && negative)
    result = node.builder.create<arith::OrIOp>(result, infinity(-1));
  return node.yield(result, x.sizes, Bool);
}

//===- Several operands ----------------------------------------------------------------------------------------------

/// Two operands, brought to one shape.
struct Operands {
  Sizes sizes;
  Value a, b;
};

/// The sizes of the second operand, aligned as versions before 7 do: from dimension `axis` of the first on.
FailureOr<Sizes> alignedSizes(Node &node) {
  Tensor &a = node.input(0), &b = node.input(1);
  Sizes sizes = b.sizes;
  if (node.version() >= 7 || !node.flag("broadcast") || !node.hasAttribute("axis"))
    return sizes;
  FailureOr<int64_t> axis = node.axis("axis", 0, a.rank());
  if (failed(axis))
    return failure();
  if (*axis + b.rank() > a.rank())
    return node.error() << "aligns a tensor of rank " << b.rank() << " at axis " << *axis << " of one of rank "
                        << a.rank();
  sizes.append(a.rank() - *axis - b.rank(), node.math.constant(1));
  return sizes;
}

FailureOr<Operands> broadcastOperands(Node &node) {
  FailureOr<Sizes> aligned = alignedSizes(node);
  if (failed(aligned))
    return failure();
  Tensor &a = node.input(0), second = node.input(1);
  Value b = node.reshape(node.value(1), second.sizes, *aligned);
  second.sizes = *aligned;
  FailureOr<Sizes> sizes = node.broadcastSizes({&a, &second});
  if (failed(sizes))
    return failure();
  return Operands{*sizes, node.broadcast(node.value(0), a.sizes, *sizes), node.broadcast(b, second.sizes, *sizes)};
}

template <typename Emit> LogicalResult binary(Node &node, Emit emit) {
  if (failed(node.wantSameElement(0, 1)))
    return failure();
  FailureOr<Operands> operands = broadcastOperands(node);
  if (failed(operands))
    return failure();
  int dataType = node.input(0).dataType;
  Maths maths(node, operands->sizes, dataType);
  return node.yield(emit(maths, operands->a, operands->b), operands->sizes, dataType);
}

template <Value (Maths::*emit)(Value, Value)> LogicalResult arithmetic(Node &node) {
  if (failed(node.wantNumber(0)))
    return failure();
  return binary(node, [](Maths &m, Value a, Value b) { return (m.*emit)(a, b); });
}

/// Comparisons give bools. Bools can be compared for equality.
template <Value (Maths::*emit)(Value, Value)> LogicalResult comparison(Node &node) {
  if (failed(node.wantSameElement(0, 1)) || (!node.input(0).isBool() && failed(node.wantNumber(0))))
    return failure();
  FailureOr<Operands> operands = broadcastOperands(node);
  if (failed(operands))
    return failure();
  Maths maths(node, operands->sizes, node.input(0).dataType);
  return node.yield((maths.*emit)(operands->a, operands->b), operands->sizes, Bool);
}

template <typename Op> LogicalResult logical(Node &node) {
  if (failed(node.wantBool(0)))
    return failure();
  return binary(node, [](Maths &m, Value a, Value b) -> Value { return m.builder.create<Op>(a, b); });
}

template <typename Op> LogicalResult bitwise(Node &node) {
  if (!node.input(0).isInteger())
    return node.error() << "wants integers but the input is " << joule::dataTypeName(node.input(0).dataType);
  return binary(node, [](Maths &m, Value a, Value b) -> Value { return m.builder.create<Op>(a, b); });
}

LogicalResult translateBitShift(Node &node) {
  StringRef direction = node.string("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error() << "has direction '" << direction << "' where it wants LEFT or RIGHT";
  return direction == "LEFT" ? bitwise<arith::ShLIOp>(node) : bitwise<arith::ShRUIOp>(node);
}

/// The remainder with the sign of the divisor, as Python's; with `fmod`, with that of the dividend, as C's.
LogicalResult translateMod(Node &node) {
  bool fmod = node.flag("fmod");
  if (failed(node.wantNumber(0)))
    return failure();
  if (node.input(0).isFloat() && !fmod)
    return node.error() << "on floats wants fmod = 1";
  return binary(node, [&](Maths &m, Value a, Value b) -> Value {
    Value rest = m.rem(a, b);
    if (fmod || m.isUnsigned)
      return rest;
    Value zero = m.constant(0);
    Value signsDiffer = m.builder.create<arith::CmpIOp>(arith::CmpIPredicate::ne, m.less(rest, zero), m.less(b, zero));
    Value notZero = m.builder.create<arith::CmpIOp>(arith::CmpIPredicate::ne, rest, zero);
    return m.select(m.builder.create<arith::AndIOp>(signsDiffer, notZero), m.add(rest, b), rest);
  });
}

/// The result has the base's type. An integer to a fractional power is calculated in f64.
LogicalResult translatePow(Node &node) {
  if (failed(node.wantNumber(0)) || failed(node.wantNumber(1)))
    return failure();
  FailureOr<Operands> operands = broadcastOperands(node);
  if (failed(operands))
    return failure();
  Tensor &base = node.input(0), &exponent = node.input(1);
  if (base.isInteger() && exponent.isInteger()) {
    Value power = node.convert(operands->b, exponent.dataType, base.dataType);
    return node.yield(node.builder.create<math::IPowIOp>(operands->a, power), operands->sizes, base.dataType);
  }
  int inside = base.isFloat() ? base.dataType : int(Double);
  Value a = node.convert(operands->a, base.dataType, inside), b = node.convert(operands->b, exponent.dataType, inside);
  Value power = node.builder.create<math::PowFOp>(a, b);
  return node.yield(node.convert(power, inside, base.dataType), operands->sizes, base.dataType);
}

/// PRelu broadcasts the slope to the input, never the other way.
LogicalResult translatePRelu(Node &node) {
  if (failed(node.wantNumber(0)) || failed(node.wantSameElement(0, 1)))
    return failure();
  Tensor &x = node.input(0), slope = node.input(1);
  // Before version 7 a slope per channel has rank 1.
  if (node.version() < 7 && slope.rank() == 1 && x.rank() > 2 && slope.knownSize(0) != 1)
    slope.sizes.append(x.rank() - 2, node.math.constant(1));
  Value slopes = node.reshape(node.value(1), node.input(1).sizes, slope.sizes);
  FailureOr<Sizes> sizes = node.broadcastSizes({&x, &slope});
  if (failed(sizes))
    return failure();
  Maths m(node, *sizes, x.dataType);
  Value value = node.broadcast(node.value(0), x.sizes, *sizes);
  Value scaled = m.mul(value, node.broadcast(slopes, slope.sizes, *sizes));
  return node.yield(m.select(m.less(value, m.constant(0)), scaled, value), *sizes, x.dataType);
}

/// Max, Min, Sum and Mean of any number of operands.
template <Value (Maths::*emit)(Value, Value)> LogicalResult variadic(Node &node) {
  SmallVector<Tensor *> tensors;
  for (int64_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error() << "lacks input " << i;
    if (failed(node.wantNumber(i)) || failed(node.wantSameElement(0, i)))
      return failure();
    tensors.push_back(&node.input(i));
  }
  FailureOr<Sizes> sizes = node.broadcastSizes(tensors);
  if (failed(sizes))
    return failure();
  int dataType = tensors.front()->dataType;
  Maths m(node, *sizes, dataType);
  Value result;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    Value operand = node.broadcast(node.value(i), tensor->sizes, *sizes);
    result = result ? (m.*emit)(result, operand) : operand;
  }
  if (node.op.getOpType() == "Mean")
    result = m.div(result, m.constant(tensors.size()));
  return node.yield(result, *sizes, dataType);
}

LogicalResult translateWhere(Node &node) {
  if (failed(node.wantBool(0)) || failed(node.wantSameElement(1, 2)))
    return failure();
  Tensor &condition = node.input(0), &x = node.input(1), &y = node.input(2);
  FailureOr<Sizes> sizes = node.broadcastSizes({&condition, &x, &y});
  if (failed(sizes))
    return failure();
  Value result = node.builder.create<arith::SelectOp>(node.broadcast(node.value(0), condition.sizes, *sizes),
                                                      node.broadcast(node.value(1), x.sizes, *sizes),
                                                      node.broadcast(node.value(2), y.sizes, *sizes));
  return node.yield(result, *sizes, x.dataType);
}

/// Bounds are attributes before version 11 and scalar inputs from then on. The upper one wins.
LogicalResult translateClip(Node &node) {
  if (failed(node.wantNumber(0)))
    return failure();
  Tensor &x = node.input(0);
  Maths m(node, x.sizes, x.dataType);
  Value result = node.value(0);
  auto bound = [&](int64_t input, StringRef name) -> FailureOr<Value> {
    if (node.hasAttribute(name))
      return m.constant(node.real(name, 0));
    if (!node.has(input))
      return Value();
    Tensor &tensor = node.input(input);
    if (failed(node.wantSameElement(0, input)) || failed(node.wantRank(input, 0, 1)))
      return failure();
    if (tensor.rank() == 1 && tensor.knownSize(0) != 1)
      return node.error() << "has a bound of type " << tensor.type() << " where it wants one number";
    Value scalar = node.reshape(node.value(input), tensor.sizes, {});
    return node.broadcast(scalar, {}, x.sizes);
  };
  FailureOr<Value> low = bound(1, "min"), high = bound(2, "max");
  if (failed(low) || failed(high))
    return failure();
  if (*low)
    result = m.max(result, *low);
  if (*high)
    result = m.min(result, *high);
  return node.yield(result, x.sizes, x.dataType);
}

//===- Casts ---------------------------------------------------------------------------------------------------------

bool isSmallFloat(int dataType) {
  return (dataType >= Float8E4M3FN && dataType <= Float8E5M2FNUZ) || dataType == Float4E2M1 || dataType == Float8E8M0;
}

/// `value`, of f32, rounded to a power of two: up, down or to the nearest. Signs are dropped, NaN and infinity stay NaN.
Value roundToPowerOfTwo(Node &node, Value value, ArrayRef<Index> sizes, StringRef mode) {
  Maths bits(node, sizes, Int32), floats(node, sizes, Float);
  RankedTensorType integers = node.type(sizes, bits.element);
  Value pattern = node.builder.create<joule::nn::BitcastOp>(integers, value);
  int64_t exponents = 0x7f800000, step = mode == "up" ? 0x7fffff : mode == "nearest" ? 0x400000 : 0;
  Value special = bits.equal(node.builder.create<arith::AndIOp>(pattern, bits.constant(exponents)), bits.constant(exponents));
  Value magnitude = node.builder.create<arith::AndIOp>(pattern, bits.constant(0x7fffffff));
  Value stepped = node.builder.create<arith::AndIOp>(bits.add(magnitude, bits.constant(step)), bits.constant(exponents));
  Value rounded = node.builder.create<joule::nn::BitcastOp>(node.type(sizes, floats.element), stepped);
  return floats.select(special, floats.constant(NAN), rounded);
}

LogicalResult castTo(Node &node, int dataType) {
  Tensor &x = node.input(0);
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (!element)
    return node.error() << "names element type " << dataType << ", which ONNX does not define";
  for (int each : {x.dataType, dataType})
    if (each == String || each == Complex64 || each == Complex128)
      return node.unsupported() << "between " << joule::dataTypeName(x.dataType) << " and " << joule::dataTypeName(dataType)
                          << " is not supported";
  bool saturate = isSmallFloat(dataType) && node.flag("saturate", true);
  Value value = node.value(0);
  int from = x.dataType;
  if (dataType == Float8E8M0 && x.isFloat()) {
    StringRef mode = node.string("round_mode", "up");
    if (mode != "up" && mode != "down" && mode != "nearest")
      return node.error() << "has round_mode '" << mode << "', which ONNX does not define";
    value = roundToPowerOfTwo(node, node.convert(value, from, Float), x.sizes, mode);
    from = Float;
  }
  // Where a float does not fit an integer below a byte, its low bits stay.
  if (x.isFloat() && element.isSignlessInteger() && joule::storageBits(dataType) < 8) {
    value = node.convert(value, from, Int32);
    from = Int32;
  }
  return node.yield(node.convert(value, from, dataType, saturate), x.sizes, dataType);
}

LogicalResult translateCast(Node &node) {
  // Version 1 names the type.
  StringRef name = node.string("to", "");
  if (!name.empty()) {
    const int old[] = {Float, UInt8, Int8, UInt16, Int16, Int32, Int64, String, Bool, Float16, Double, UInt32, UInt64};
    const char *names[] = {"FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
    for (auto [type, each] : llvm::zip(old, names))
      if (name == each)
        return castTo(node, type);
  }
  return castTo(node, int(node.integer("to", 0)));
}

LogicalResult translateCastLike(Node &node) { return castTo(node, node.input(1).dataType); }

LogicalResult translateBitCast(Node &node) {
  Tensor &x = node.input(0);
  int to = int(node.integer("to", 0));
  Type element = nnElementType(node.builder.getContext(), to);
  if (!element || joule::storageBits(to) == 0 || joule::storageBits(to) != joule::storageBits(x.dataType) ||
      !element.isIntOrFloat() || !x.element.isIntOrFloat() || to == Bool)
    return node.unsupported() << "reads " << joule::dataTypeName(x.dataType) << " as " << joule::dataTypeName(to)
                        << ", which is not supported";
  Value value = node.value(0);
  // A bool is a byte of 0 or 1.
  int from = x.isBool() ? int(UInt8) : x.dataType;
  value = node.convert(value, x.dataType, from);
  if (element != getElementTypeOrSelf(value))
    value = node.builder.create<joule::nn::BitcastOp>(node.type(x.sizes, element), value);
  return node.yield(value, x.sizes, to);
}

/// 1 where it is above the threshold, else 0. Of integers, those above the threshold are those above its floor.
LogicalResult translateBinarizer(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantNumber(0)))
    return failure();
  double threshold = node.real("threshold", 0);
  Maths m(node, x.sizes, x.dataType);
  Value isAbove = m.greater(node.value(0), m.constant(x.isInteger() ? std::floor(threshold) : threshold));
  return node.yield(m.select(isAbove, m.constant(1), m.constant(0)), x.sizes, x.dataType);
}

const Row rows[] = {
    {"ai.onnx.ml", "Binarizer", 1, 1, 1, translateBinarizer},
    {"", "Abs", 1, 1, 1, translateAbs},
    {"", "Acos", 7, 1, 1, mathUnary<math::AcosOp>},
    {"", "Acosh", 9, 1, 1, mathUnary<math::AcoshOp>},
    {"", "Add", 1, 2, 2, arithmetic<&Maths::add>},
    {"", "And", 1, 2, 2, logical<arith::AndIOp>},
    {"", "Asin", 7, 1, 1, mathUnary<math::AsinOp>},
    {"", "Asinh", 9, 1, 1, mathUnary<math::AsinhOp>},
    {"", "Atan", 7, 1, 1, mathUnary<math::AtanOp>},
    {"", "Atanh", 9, 1, 1, mathUnary<math::AtanhOp>},
    {"", "BitCast", 1, 1, 1, translateBitCast},
    {"", "BitShift", 11, 2, 2, translateBitShift},
    {"", "BitwiseAnd", 18, 2, 2, bitwise<arith::AndIOp>},
    {"", "BitwiseNot", 18, 1, 1, translateBitwiseNot},
    {"", "BitwiseOr", 18, 2, 2, bitwise<arith::OrIOp>},
    {"", "BitwiseXor", 18, 2, 2, bitwise<arith::XOrIOp>},
    {"", "Cast", 1, 1, 1, translateCast},
    {"", "CastLike", 15, 2, 2, translateCastLike},
    {"", "Ceil", 1, 1, 1, mathUnary<math::CeilOp>},
    {"", "Celu", 12, 1, 1, translateCelu},
    {"", "Clip", 1, 1, 3, translateClip},
    {"", "Cos", 7, 1, 1, mathUnary<math::CosOp>},
    {"", "Cosh", 9, 1, 1, mathUnary<math::CoshOp>},
    {"", "Div", 1, 2, 2, arithmetic<&Maths::div>},
    {"", "Elu", 1, 1, 1, translateElu},
    {"", "Equal", 1, 2, 2, comparison<&Maths::equal>},
    {"", "Erf", 9, 1, 1, mathUnary<math::ErfOp>},
    {"", "Exp", 1, 1, 1, mathUnary<math::ExpOp>},
    {"", "Floor", 1, 1, 1, mathUnary<math::FloorOp>},
    {"", "Gelu", 20, 1, 1, translateGelu},
    {"", "Greater", 1, 2, 2, comparison<&Maths::greater>},
    {"", "GreaterOrEqual", 12, 2, 2, comparison<&Maths::greaterEqual>},
    {"", "HardSigmoid", 1, 1, 1, translateHardSigmoid},
    {"", "HardSwish", 14, 1, 1, translateHardSwish},
    {"", "IsInf", 10, 1, 1, translateIsInf},
    {"", "IsNaN", 9, 1, 1, translateIsNaN},
    {"", "LeakyRelu", 1, 1, 1, translateLeakyRelu},
    {"", "Less", 1, 2, 2, comparison<&Maths::less>},
    {"", "LessOrEqual", 12, 2, 2, comparison<&Maths::lessEqual>},
    {"", "Log", 1, 1, 1, mathUnary<math::LogOp>},
    {"", "Max", 1, 1, -1, variadic<&Maths::max>},
    {"", "Mean", 1, 1, -1, variadic<&Maths::add>},
    {"", "Min", 1, 1, -1, variadic<&Maths::min>},
    {"", "Mish", 18, 1, 1, translateMish},
    {"", "Mod", 10, 2, 2, translateMod},
    {"", "Mul", 1, 2, 2, arithmetic<&Maths::mul>},
    {"", "Neg", 1, 1, 1, translateNeg},
    {"", "Not", 1, 1, 1, translateNot},
    {"", "Or", 1, 2, 2, logical<arith::OrIOp>},
    {"", "PRelu", 1, 2, 2, translatePRelu},
    {"", "Pow", 1, 2, 2, translatePow},
    {"", "Reciprocal", 1, 1, 1, translateReciprocal},
    {"", "Relu", 1, 1, 1, translateRelu},
    {"", "Round", 11, 1, 1, mathUnary<math::RoundEvenOp>},
    {"", "Selu", 1, 1, 1, translateSelu},
    {"", "Shrink", 9, 1, 1, translateShrink},
    {"", "Sigmoid", 1, 1, 1, translateSigmoid},
    {"", "Sign", 9, 1, 1, translateSign},
    {"", "Sin", 7, 1, 1, mathUnary<math::SinOp>},
    {"", "Sinh", 9, 1, 1, mathUnary<math::SinhOp>},
    {"", "Softplus", 1, 1, 1, translateSoftplus},
    {"", "Softsign", 1, 1, 1, translateSoftsign},
    {"", "Sqrt", 1, 1, 1, mathUnary<math::SqrtOp>},
    {"", "Sub", 1, 2, 2, arithmetic<&Maths::sub>},
    {"", "Sum", 1, 1, -1, variadic<&Maths::add>},
    {"", "Swish", 24, 1, 1, translateSwish},
    {"", "Tan", 7, 1, 1, mathUnary<math::TanOp>},
    {"", "Tanh", 1, 1, 1, mathUnary<math::TanhOp>},
    {"", "ThresholdedRelu", 1, 1, 1, translateThresholdedRelu},
    {"", "Where", 9, 3, 3, translateWhere},
    {"", "Xor", 1, 2, 2, logical<arith::XOrIOp>},
};

} // namespace

ArrayRef<Row> joule::translate::pointwiseRows() { return rows; }
