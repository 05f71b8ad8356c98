// Conversions between f32 and floats of 8 bits and fewer.
#include "dialects/Nn/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule::nn;

namespace {

/// A sign, then `exponentBits`, then `fractionBits`. "Magnitudes" are the bits without the sign.
struct Format {
  unsigned width;
  unsigned fractionBits;
  int bias;
  /// The greatest magnitude that is a finite number.
  unsigned greatest;
  /// The magnitudes of infinity and NaN, -1 where there is none.
  int infinity;
  int nan;
  /// The one NaN stands where minus zero would.
  bool nanIsMinusZero;
};

std::optional<Format> formatOf(Type type) {
  return llvm::TypeSwitch<Type, std::optional<Format>>(type)
      .Case([](Float8E4M3FNType) { return Format{8, 3, 7, 0x7e, -1, 0x7f, false}; })
      .Case([](Float8E5M2Type) { return Format{8, 2, 15, 0x7b, 0x7c, 0x7e, false}; })
      .Case([](Float8E4M3FNUZType) { return Format{8, 3, 8, 0x7f, -1, 0x80, true}; })
      .Case([](Float8E5M2FNUZType) { return Format{8, 2, 16, 0x7f, -1, 0x80, true}; })
      .Case([](F4E2M1Type) { return Format{4, 1, 1, 0x7, -1, -1, false}; })
      .Default([](Type) { return std::nullopt; });
}

struct Bits {
  ElementBuilder &code;
  Type i32 = code.builder.getI32Type();
  Type f32 = code.builder.getF32Type();

  Value number(uint32_t value) { return code.integer(i32, APInt(32, value)); }
  Value asFloat(Value bits) { return code.make<arith::BitcastOp>(f32, bits); }
  Value asBits(Value value) { return code.make<arith::BitcastOp>(i32, value); }
  Value left(Value value, unsigned by) { return code.make<arith::ShLIOp>(value, number(by)); }
  Value right(Value value, unsigned by) { return code.make<arith::ShRUIOp>(value, number(by)); }
  Value test(arith::CmpIPredicate predicate, Value a, uint32_t b) {
    return code.make<arith::CmpIOp>(predicate, a, number(b));
  }
};

/// The bits of `value`, extended to i32.
Value loadBits(ElementBuilder &code, Value value) {
  IntegerType type = bitsTypeOf(value.getType());
  Value bits = isa<FloatType>(value.getType())
                   ? code.make<arith::BitcastOp>(type, value)
                   : code.builder.create<UnrealizedConversionCastOp>(code.loc, type, value).getResult(0);
  return code.make<arith::ExtUIOp>(code.builder.getI32Type(), bits);
}

Value storeBits(ElementBuilder &code, Value bits, Type type) {
  Value narrow = code.make<arith::TruncIOp>(bitsTypeOf(type), bits);
  if (isa<FloatType>(type))
    return code.make<arith::BitcastOp>(type, narrow);
  return code.builder.create<UnrealizedConversionCastOp>(code.loc, type, narrow).getResult(0);
}

const uint32_t quietNan = 0x7fc00000;

/// 2^(bits - 127): f32's own exponent, but for the two ends.
Value decodeExponent(ElementBuilder &code, Value value) {
  Bits bits{code};
  Value exponent = loadBits(code, value);
  Value wide = bits.left(exponent, 23);
  wide = code.select(bits.test(arith::CmpIPredicate::eq, exponent, 0), bits.number(0x00400000), wide);
  wide = code.select(bits.test(arith::CmpIPredicate::eq, exponent, 255), bits.number(quietNan), wide);
  return bits.asFloat(wide);
}

/// How an f32's magnitude becomes a power of two.
struct PowerRule {
  /// Added to the bits before the fraction is dropped.
  uint32_t added;
  /// The least magnitudes that become 2^-126 and 2^-127, both below f32's normal numbers; 2^-127 is 0x00400000 there.
  uint32_t first, least;

  static PowerRule of(PowerRounding rounding) {
    switch (rounding) {
    case PowerRounding::Up:
      return {0x007fffff, 0x00400001, 0x00200001};
    case PowerRounding::Down:
      return {0, 0x00800000, 0x00400000};
    case PowerRounding::Nearest:
      return {0x00400000, 0x00600000, 0x00300000};
    }
    llvm_unreachable("all roundings are listed");
  }
};

/// `value` as a power of two, rounded as `rule` says; NaN for negative numbers, and for zero and what is out of range
/// unless it saturates, which gives the least or greatest power.
Value encodeExponent(ElementBuilder &code, Value value, Type type, const CastRule &rule) {
  using P = arith::CmpIPredicate;
  Bits bits{code};
  PowerRule round = PowerRule::of(rule.rounding);
  Value all = bits.asBits(value), magnitude = code.make<arith::AndIOp>(all, bits.number(0x7fffffff));
  Value power = bits.right(code.add(magnitude, bits.number(round.added)), 23);
  Value tiny = code.select(bits.test(P::uge, magnitude, round.first), bits.number(1), bits.number(0));
  power = code.select(bits.test(P::ult, magnitude, 0x00800000), tiny, power);
  power = code.select(bits.test(P::ult, magnitude, round.least), bits.number(rule.saturate ? 0 : 255), power);
  power = code.select(bits.test(P::uge, power, 255), bits.number(rule.saturate ? 254 : 255), power);
  Value isNan = bits.test(P::ugt, magnitude, 0x7f800000), isNegative = bits.test(P::ugt, all, 0x80000000);
  return storeBits(code, code.select(code.either(isNan, isNegative), bits.number(255), power), type);
}

} // namespace

bool joule::nn::isSmallFloat(Type type) { return formatOf(type) || isa<F8E8M0Type>(type); }

IntegerType joule::nn::bitsTypeOf(Type smallFloat) {
  std::optional<Format> format = formatOf(smallFloat);
  return IntegerType::get(smallFloat.getContext(), format ? format->width : 8);
}

Value joule::nn::decodeSmallFloat(ElementBuilder &code, Value value) {
  std::optional<Format> format = formatOf(value.getType());
  if (!format)
    return decodeExponent(code, value);
  Bits bits{code};
  unsigned signBit = 1u << (format->width - 1);
  Value all = loadBits(code, value);
  Value magnitude = code.make<arith::AndIOp>(all, bits.number(signBit - 1));
  // With its fraction moved to f32's place the magnitude is the number times a power of two, subnormals
  // included.
  Value scaled = bits.asFloat(bits.left(magnitude, 23 - format->fractionBits));
  scaled = code.make<arith::MulFOp>(scaled, code.number(bits.f32, std::ldexp(1.0, 127 - format->bias)));
  Value wide = bits.asBits(scaled);
  if (format->infinity >= 0)
    wide = code.select(bits.test(arith::CmpIPredicate::eq, magnitude, format->infinity),
                       bits.number(0x7f800000), wide);
  if (format->nan >= 0 && !format->nanIsMinusZero) {
    uint32_t firstNan = format->infinity >= 0 ? format->infinity + 1 : format->nan;
    wide =
        code.select(bits.test(arith::CmpIPredicate::uge, magnitude, firstNan), bits.number(quietNan), wide);
  }
  Value sign = bits.left(code.make<arith::AndIOp>(all, bits.number(signBit)), 32 - format->width);
  wide = code.make<arith::OrIOp>(wide, sign);
  if (format->nanIsMinusZero)
    wide = code.select(bits.test(arith::CmpIPredicate::eq, all, signBit), bits.number(quietNan), wide);
  return bits.asFloat(wide);
}

Value joule::nn::encodeSmallFloat(ElementBuilder &code, Value value, Type type,
                                  const CastRule &rule) {
  std::optional<Format> format = formatOf(type);
  if (!format)
    return encodeExponent(code, value, type, rule);
  Bits bits{code};
  unsigned dropped = 23 - format->fractionBits;
  Value all = bits.asBits(value);
  Value magnitude = code.make<arith::AndIOp>(all, bits.number(0x7fffffff));

  // Normal numbers: round away the low bits, then move the exponent to its new bias.
  Value lastKept = code.make<arith::AndIOp>(bits.right(magnitude, dropped), bits.number(1));
  Value rounded = code.add(code.add(magnitude, bits.number((1u << (dropped - 1)) - 1)), lastKept);
  Value normal =
      code.sub(bits.right(rounded, dropped), bits.number((127 - format->bias) << format->fractionBits));

  // Subnormals: adding a number whose last digit is theirs lets the adder round.
  double unit = std::ldexp(1.0, 23 + 1 - format->bias - static_cast<int>(format->fractionBits));
  Value sum = code.make<arith::AddFOp>(bits.asFloat(magnitude), code.number(bits.f32, unit));
  Value subnormal = code.sub(bits.asBits(sum), bits.asBits(code.number(bits.f32, unit)));
  uint32_t leastNormal = static_cast<uint32_t>(127 + 1 - format->bias) << 23;
  Value isSubnormal = bits.test(arith::CmpIPredicate::ult, magnitude, leastNormal);
  Value result = code.select(isSubnormal, subnormal, normal);

  Value isNan = bits.test(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
  // Of the greatest exponents `normal` is too great whatever its type, so one comparison finds all overflows.
  Value isOver = bits.test(arith::CmpIPredicate::sgt, result, format->greatest);
  int overflow = rule.saturate || format->nan < 0 ? format->greatest
                                             : (format->infinity >= 0 ? format->infinity : format->nan);
  result = code.select(isOver, bits.number(overflow), result);
  // A format without NaN has zero in its place.
  result = code.select(isNan, bits.number(std::max(format->nan, 0)), result);

  Value sign =
      code.make<arith::AndIOp>(bits.right(all, 32 - format->width), bits.number(1u << (format->width - 1)));
  if (format->nanIsMinusZero) // There is no minus zero to give, and NaN has its sign set.
    sign = code.select(bits.test(arith::CmpIPredicate::eq, result, 0), bits.number(0), sign);
  return storeBits(code, code.make<arith::OrIOp>(result, sign), type);
}
