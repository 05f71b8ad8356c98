/// What every nn operation computes, one plain function each. This is the ground truth: it favours clear over
/// fast.
///
/// The meaning of each operation is written in dialects/Nn/NnOps.td; here stands only what that leaves open.
/// A shape given to a function is that of its result. Functions that can meet sizes or indices that do not
/// fit give a Result; the others rely on what the verifier of the nn operations has checked.
///
/// Integers carry their signedness in the buffer's type. Floats: pointwise operations compute in f32 (f64 for
/// f64) and round after each operation; sums of products and reductions are kept in f64 in index order and
/// rounded once at the end, which is more exact than what any kernel does.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"
#include "lib/Reference/Kernels/SmallFloat.h"

#include <optional>

namespace joule::reference {

/// Axes, labels, offsets, strides: one number per dimension.
using Dims = std::vector<int64_t>;

// The enumerations of the nn dialect, with its numbers.
enum class Combiner { Sum, Product, Max, Min, UnsignedMax, UnsignedMin };
enum class PadMode { Constant, Edge, Reflect, Wrap };
enum class SampleMode { Nearest, Linear, Cubic };
enum class CoordinateMode {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfCropAndResize,
  TfHalfPixelForNn
};
enum class NearestMode { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };
enum class Update { Replace, Add, Multiply, Max, Min, UnsignedMax, UnsignedMin };

//===- Layout (Layout.cpp) -----------------------------------------------------------------------------------

Result<Buffer> broadcast(const Buffer &input, const Dims &dimensions, const Shape &shape);
Result<Buffer> reshape(const Buffer &input, const Shape &shape);
Buffer transpose(const Buffer &input, const Dims &permutation);
Result<Buffer> slice(const Buffer &input, const Dims &offsets, const Dims &strides, const Shape &shape);
Result<Buffer> pad(const Buffer &input, const Buffer &value, const Dims &low, PadMode mode,
                   const Shape &shape);
Result<Buffer> concat(const std::vector<Buffer> &inputs, int64_t axis, const Shape &shape);
Buffer iota(ElementType type, int64_t dimension, const Shape &shape);

//===- Gathers (Gather.cpp) ----------------------------------------------------------------------------------

Result<Buffer> gather(const Buffer &input, const Buffer &indices, int64_t axis);
Result<Buffer> gatherElements(const Buffer &input, const Buffer &indices, int64_t axis);
Result<Buffer> gatherNd(const Buffer &input, const Buffer &indices, int64_t batchDims);

//===- Reductions (Reduce.cpp) -------------------------------------------------------------------------------

/// How floats are combined: rounded to `compute` first, and the result to `accumulate`. Absent: not at all.
struct Precision {
  std::optional<ElementType> compute, accumulate;
  bool computeTf32 = false; ///< operands are rounded to tf32, which no buffer stores
};

Buffer reduce(Combiner combiner, const Buffer &input, const Dims &axes, const Precision &precision = {});
Result<Buffer> argReduce(Combiner combiner, const Buffer &input, int64_t axis, bool selectLast,
                         ElementType type);
Buffer cumulate(Combiner combiner, const Buffer &input, int64_t axis, bool exclusive, bool reverse);
Buffer softmax(const Buffer &input, int64_t axis, bool log);
Buffer normalize(const Buffer &input, const Dims &axes, double epsilon, bool rms);

//===- Contractions (Contract.cpp) ---------------------------------------------------------------------------

Result<Buffer> contract(const Buffer &lhs, const Buffer &rhs, const Dims &lhsLabels, const Dims &rhsLabels,
                        const Dims &outLabels, ElementType type, const Precision &precision = {});

/// Strides, dilations and paddings of a convolution or a window, one per spatial dimension.
struct Window {
  Dims sizes; ///< of the window itself; empty for convolutions, whose filter says it
  Dims strides, low, dilations;
  Dims inputDilations; ///< convolutions only
};

Result<Buffer> conv(const Buffer &input, const Buffer &filter, const Window &window, int64_t groups,
                    ElementType type, const Shape &shape, const Precision &precision = {});

//===- Windows (Window.cpp, Resize.cpp) ----------------------------------------------------------------------

Buffer pool(Combiner combiner, const Buffer &input, const Window &window, const Shape &shape);
Buffer poolArgMax(const Buffer &input, const Window &window, bool columnMajor, ElementType type,
                  const Shape &shape);

struct ResizeOptions {
  SampleMode sample = SampleMode::Nearest;
  CoordinateMode coordinate = CoordinateMode::HalfPixel;
  NearestMode nearest = NearestMode::RoundPreferFloor;
  double cubicA = -0.75;
  double extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// `scales` holds one f32 per dimension; `roi` starts, then ends, or is null. Signedness is that of the
/// input's type.
Result<Buffer> resize(const Buffer &input, const Buffer &scales, const Buffer *roi,
                      const ResizeOptions &options, const Shape &shape);

//===- Pointwise (Pointwise.cpp, Cast.cpp) -------------------------------------------------------------------

enum class Unary {
  Negate,
  Abs,
  Sqrt,
  Rsqrt,
  Cbrt,
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Ceil,
  Floor,
  Round,
  RoundEven,
  Truncate, // floats; Abs integers too
  CountLeadingZeros,
  CountTrailingZeros,
  CountOnes // integers
};

/// On integers, operations that signedness changes follow the buffers' types. What has no meaning (a quotient
/// by zero, a shift by the width or more) gives 0; the least integer divided by -1 wraps.
enum class Binary {
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder, // both; integer quotients truncate
  Maximum,
  Minimum, // both; of floats NaN wins
  MaxNumber,
  MinNumber,
  Power,
  Atan2,
  CopySign, // floats; of MaxNumber and MinNumber numbers win
  FloorDivide,
  CeilDivide,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  IntegerPower,
  MultiplyHigh // integers
};

enum class Comparison { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

Buffer unary(Unary operation, const Buffer &input);
Buffer binary(Binary operation, const Buffer &lhs, const Buffer &rhs);

/// `base` floats to the power of integers.
Buffer powerOfInteger(const Buffer &base, const Buffer &exponent);

/// Bools. A comparison with NaN is `unordered`.
Buffer compare(Comparison comparison, const Buffer &lhs, const Buffer &rhs, bool unordered = false);

/// Whether neither (or, where `unordered`, either) is NaN.
Buffer compareOrder(const Buffer &lhs, const Buffer &rhs, bool unordered);

Buffer fusedMultiplyAdd(const Buffer &a, const Buffer &b, const Buffer &c);

/// A condition of rank 0 chooses one of the tensors as a whole.
Buffer select(const Buffer &condition, const Buffer &whereTrue, const Buffer &whereFalse);

struct CastOptions {
  bool saturate = false;
  PowerRounding rounding = PowerRounding::Nearest; ///< to float8e8m0 only
};

Buffer castTo(const Buffer &input, ElementType type, const CastOptions &options = {});

/// Integers cut or extended to another integer type; unlike a cast, to a bool goes the lowest bit.
Buffer wrap(const Buffer &input, ElementType type);

/// The elements' bits as another type of that width; one-bit and bool are the same.
Buffer bitcast(const Buffer &input, ElementType type);

//===- Operations with kernels of their own ------------------------------------------------------------------

/// (Scatter.cpp) An index outside the axis is a failure.
Result<Buffer> scatterElements(Update update, const Buffer &input, const Buffer &indices,
                               const Buffer &updates, int64_t axis);
Result<Buffer> scatterNd(Update update, const Buffer &input, const Buffer &indices, const Buffer &updates);

struct TopK {
  Buffer values, indices;
};

/// (Sort.cpp) Signedness is that of the input's type.
Result<TopK> topK(const Buffer &input, int64_t axis, int64_t k, bool smallest);

/// (Triangularize.cpp) Matrices that are not square are a failure.
Result<Buffer> triangularize(const Buffer &input);

/// (Recurrent.cpp) What the three recurrent cells share.
struct RecurrentOptions {
  std::vector<std::string> activations; ///< ONNX names
  std::vector<float> alphas, betas;     ///< one for each activation; its default where the list ends before
  double clip = 0;                      ///< none where not positive
  bool reverse = false;
};

struct Recurrent {
  Buffer hSequence, hLast, cLast;
};

/// `peepholes` and `lengths` may be null.
Result<Recurrent> lstm(const Buffer &gates, const Buffer &recurrence, const Buffer &hInitial,
                       const Buffer &cInitial, const Buffer *peepholes, const Buffer *lengths,
                       const RecurrentOptions &options, bool inputForget);
Result<Recurrent> gru(const Buffer &gates, const Buffer &recurrence, const Buffer &recurrentBias,
                      const Buffer &hInitial, const Buffer *lengths, const RecurrentOptions &options,
                      bool linearBeforeReset);
Result<Recurrent> rnn(const Buffer &gates, const Buffer &recurrence, const Buffer &hInitial,
                      const Buffer *lengths, const RecurrentOptions &options);

//===- Operations whose result sizes follow from data --------------------------------------------------------

/// (Layout.cpp) The coordinates of what is not zero, `[rank, count]`, i64.
Buffer nonZero(const Buffer &input);

struct Unique {
  Buffer first, inverse;
};

/// (Unique.cpp) `input` has at least one dimension; signedness is that of its type.
Unique unique(const Buffer &input, bool sorted);

struct SuppressionOptions {
  int64_t mostPerClass = 0;
  double overlapThreshold = 0;
  std::optional<double> scoreThreshold; ///< none: every box is a candidate
  bool centerPoint = false;
};

/// (Suppress.cpp) `[count, 3]`, i64: batch, class and box of each that is chosen.
Result<Buffer> suppressOverlaps(const Buffer &boxes, const Buffer &scores, const SuppressionOptions &options);

} // namespace joule::reference
