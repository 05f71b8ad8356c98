// The words in which element definitions are written: index arithmetic, loops, guards, combinations.
#pragma once

#include "dialects/Nn/NnDialect.h"

#include "mlir/IR/Builders.h"

namespace joule::nn {

/// Writes scalar code at the insertion point of `builder`. Arithmetic on constants is folded.
class ElementBuilder {
public:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ElementSource &source;

  template <typename Op, typename... Arguments> mlir::Value make(Arguments &&...arguments) {
    return builder.createOrFold<Op>(loc, std::forward<Arguments>(arguments)...);
  }

  mlir::Value index(int64_t value);
  /// `value` in the float or integer type `type`.
  mlir::Value number(mlir::Type type, double value);
  mlir::Value integer(mlir::Type type, const llvm::APInt &value);

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, int64_t b) { return sub(a, index(b)); }
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, index(b)); }
  /// Quotient and remainder of indices that are not negative.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, mlir::Value b);
  /// The remainder in `[0, b)` of an `a` that may be negative.
  mlir::Value wrap(mlir::Value a, mlir::Value b);
  /// `a` brought into `[0, size)`.
  mlir::Value clampInto(mlir::Value a, mlir::Value size);
  /// Whether `0 <= a < size`, both signed.
  mlir::Value isInside(mlir::Value a, mlir::Value size);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value either(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  using Body =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange at, mlir::ValueRange state)>;
  /// Nested loops over `[0, counts[d])`, the last one innermost, that carry `state`.
  llvm::SmallVector<mlir::Value> loops(mlir::ArrayRef<mlir::Value> counts, mlir::ValueRange state, Body body);

  /// `inside()` where `condition` holds, `outside()` elsewhere. Neither runs where it is not asked for.
  llvm::SmallVector<mlir::Value> choose(mlir::Value condition, mlir::TypeRange types,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> inside,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> outside);

  /// The neutral element of `combiner` in `type`, and the combination of two values.
  mlir::Value neutral(Combiner combiner, mlir::Type type);
  mlir::Value combine(Combiner combiner, mlir::Value a, mlir::Value b);

  /// `value`, from a gather's indices, as an index into `size` elements: negative ones count from the end,
  /// those outside are clamped.
  mlir::Value gatherIndex(mlir::Value value, mlir::Value size);
};

/// How a conversion reads and writes integers, and whether it clamps where there is a choice.
struct CastRule {
  bool saturate = false;
  bool unsignedInput = false;
  bool unsignedResult = false;
  PowerRounding rounding = PowerRounding::Nearest; ///< to f8e8m0 only
};

/// `value` as `type` by the rules of `nn.cast`.
mlir::Value castNumber(ElementBuilder &code, mlir::Value value, mlir::Type type, CastRule rule = {});

/// Whether `x` takes the place of `best` as the greatest (or least, as `combiner` says) number. NaN comes before all
/// others.
mlir::Value isMoreExtreme(ElementBuilder &code, Combiner combiner, mlir::Value x, mlir::Value best);

/// The type in which a value of `type` takes part in arithmetic: f32 for narrower floats, else `type`.
mlir::Type computeTypeOf(mlir::Type type);

} // namespace joule::nn
