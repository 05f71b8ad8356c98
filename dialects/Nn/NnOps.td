// The ops of the nn level.
//
// Every op follows three rules. Axes are non-negative. A result's dynamic dimensions take their sizes, in order, from
// the `sizes` operands (no op guesses a size). Element types are signless: where signedness matters the op says it.
#ifndef JOULE_NN_OPS_TD
#define JOULE_NN_OPS_TD

include "dialects/Nn/NnDialect.td"

class Nn_Op<string mnemonic, list<Trait> traits = []> : Op<Nn_Dialect, mnemonic, traits>;

// An op defined element by element.
class Nn_ElementOp<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Nn_ElementDefinition>], traits)>;

// An op that needs a kernel of its own.
class Nn_KernelOp<string mnemonic, list<Trait> traits = []>
    : Nn_Op<mnemonic, !listconcat([Pure, Nn_KernelDefinition], traits)>;

defvar Sizes = Variadic<Index>;

//===- Values from outside -------------------------------------------------------------------------------------------

// Not Pure: the sizes of the function's arguments are found through it even where nothing else reads it.
def Nn_SymbolOp : Nn_Op<"symbol"> {
  let summary = "Name a size that only a run knows";
  let description = [{
    The size that the run binds to `name`. Stands at a function's entry, once per name. Equal names are equal sizes.

    Example:
    ```mlir
    %batch = nn.symbol "batch"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Index:$result);
  let assemblyFormat = "$name attr-dict";
}

def Nn_ConstantOp : Nn_Op<"constant", [Pure]> {
  let summary = "Hold a constant tensor";
  let description = [{
    A tensor known at compile time: small ones as elements, others as `#nn.weight`. Elements of `!nn.f4e2m1` and
    `!nn.f8e8m0` are written as integers of their width.

    Constraints:
    - (C1) `value` is elements of the result's shape and element width, or a weight.
    - (C2) a weight has as many bytes as the result takes: a byte per `i1`, narrower elements packed.

    Example:
    ```mlir
    %w = nn.constant #nn.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Nn_AssertOp : Nn_Op<"assert"> {
  let summary = "End the run with an error unless a condition holds";
  let description = [{
    The host checks `condition`; where it is false the run ends with `message` and the op's location.

    Example:
    ```mlir
    nn.assert %same, "inputs a and b differ in size along axis 1"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

//===- Layout --------------------------------------------------------------------------------------------------------

def Nn_BroadcastOp : Nn_ElementOp<"broadcast"> {
  let summary = "Repeat a tensor along dimensions";
  let description = [{
    `out[i0, …] = input[j0, …]` where dimension `d` of the input runs along dimension `dimensions[d]` of the result:
    `jd = i(dimensions[d])`, or 0 where the input has size 1 there. A dynamic input size that is neither 1 nor the
    result's is an error of the run, which the host checks.

    Constraints:
    - (C1) `dimensions` has one entry per input dimension, strictly ascending, below the result's rank.
    - (C2) a static input size is 1 or equals the static result size.
    - (C3) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %b = nn.broadcast %bias dimensions = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sizes:$sizes, DenseI64ArrayAttr:$dimensions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? `dimensions` `=` $dimensions attr-dict
    `:` `(` type($input) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_ReshapeOp : Nn_ElementOp<"reshape"> {
  let summary = "Give the same elements in row-major order another shape";
  let description = [{
    The element at row-major position `p` of the result is that at position `p` of the input.

    Constraints:
    - (C1) static shapes hold the same number of elements.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %r = nn.reshape %x : (tensor<8x64xf32>) -> tensor<512xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sizes:$sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_TransposeOp : Nn_ElementOp<"transpose"> {
  let summary = "Permute dimensions";
  let description = [{
    Dimension `d` of the result is dimension `permutation[d]` of the input.

    Constraints:
    - (C1) `permutation` is a permutation of the input's dimensions.
    - (C2) the result's sizes are the input's, permuted.

    Example:
    ```mlir
    %t = nn.transpose %x permutation = [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `permutation` `=` $permutation attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_SliceOp : Nn_ElementOp<"slice", [AttrSizedOperandSegments]> {
  let summary = "Take a regular part of a tensor";
  let description = [{
    `out[i0, …] = input[offset0 + i0 * stride0, …]`. A stride may be negative. Offsets that are not known at compile
    time stand as `kDynamic` in `static_offsets` and come, in order, from `offsets`.

    Constraints:
    - (C1) one static offset and one stride per dimension; no stride is 0.
    - (C2) one `offsets` operand per dynamic offset, one `sizes` operand per dynamic result dimension.
    - (C3) where all is static, every element that is read lies inside the input.

    Example:
    ```mlir
    %s = nn.slice %x offsets = [2, 0] strides = [1, 2] : (tensor<8x64xf32>) -> tensor<4x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Variadic<Index>:$offsets, Sizes:$sizes,
                   DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? `offsets` `=` custom<DynamicIndexList>($offsets, $static_offsets)
    `strides` `=` $strides attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_PadOp : Nn_ElementOp<"pad", [AttrSizedOperandSegments]> {
  let summary = "Surround a tensor with further elements";
  let description = [{
    `out[i] = input[i - low]` where that lies inside the input; elsewhere `value` (mode `constant`), the nearest
    element (`edge`), the mirror image without the border (`reflect`), or the element reached by wrapping round
    (`wrap`). A negative `low` crops. Dynamic entries of `low` are `kDynamic` and come from `lows`.

    Constraints:
    - (C1) `value` is of rank 0 and of the input's element type.
    - (C2) one `low` per dimension; one `lows` operand per dynamic one; one `sizes` operand per dynamic result size.

    Example:
    ```mlir
    %p = nn.pad %x, %zero low = [0, 1] mode = constant
        : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x66xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$value, Variadic<Index>:$lows, Sizes:$sizes,
                   DenseI64ArrayAttr:$low, Nn_PadModeAttr:$mode);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $value (`sizes` `(` $sizes^ `)`)? `low` `=` custom<DynamicIndexList>($lows, $low) `mode` `=` $mode attr-dict
    `:` `(` type($input) `,` type($value) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_ConcatOp : Nn_ElementOp<"concat", [AttrSizedOperandSegments]> {
  let summary = "Join tensors along an axis";
  let description = [{
    Along `axis` the result holds the inputs one after the other.

    Constraints:
    - (C1) at least one input; all have the result's rank and element type; `axis` is below that rank.
    - (C2) static sizes agree off the axis and add up along it.
    - (C3) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %c = nn.concat %a, %b axis = 1 : (tensor<8x3xf32>, tensor<8x5xf32>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Sizes:$sizes, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $inputs (`sizes` `(` $sizes^ `)`)? `axis` `=` $axis attr-dict `:` `(` type($inputs) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_IotaOp : Nn_ElementOp<"iota"> {
  let summary = "Count along a dimension";
  let description = [{
    `out[i0, …] = i(dimension)`, converted to the element type.

    Constraints:
    - (C1) `dimension` is below the rank.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %i = nn.iota dimension = 0 : tensor<8xi64>
    ```
  }];
  let arguments = (ins Sizes:$sizes, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "(`sizes` `(` $sizes^ `)`)? `dimension` `=` $dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===- Gathers -------------------------------------------------------------------------------------------------------

def Nn_GatherOp : Nn_ElementOp<"gather"> {
  let summary = "Take slices along an axis";
  let description = [{
    `out[a…, b…, c…] = input[a…, indices[b…], c…]`, `a…` the dimensions before `axis`, `c…` those after it. A negative
    index counts from the end; an index outside the axis is clamped into it. An axis without elements has none to take:
    then `indices` must be empty, too.

    Constraints:
    - (C1) `axis` is below the input's rank; `indices` are integers; the ranks fit.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %g = nn.gather %table, %ids axis = 0 : (tensor<100x16xf32>, tensor<8xi64>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, Sizes:$sizes, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices (`sizes` `(` $sizes^ `)`)? `axis` `=` $axis attr-dict
    `:` `(` type($input) `,` type($indices) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_GatherElementsOp : Nn_ElementOp<"gather_elements"> {
  let summary = "Take single elements along an axis";
  let description = [{
    `out[i…] = input[i…]` with `i(axis)` replaced by `indices[i…]`. Negative and outside indices as in `nn.gather`.

    Constraints:
    - (C1) input, indices and result have one rank, above `axis`; `indices` are integers; the result has their shape.

    Example:
    ```mlir
    %g = nn.gather_elements %x, %i axis = 1 : (tensor<8x16xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices `axis` `=` $axis attr-dict `:` `(` type($input) `,` type($indices) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_GatherNdOp : Nn_ElementOp<"gather_nd"> {
  let summary = "Take slices at index tuples";
  let description = [{
    The last dimension of `indices` holds tuples of length `t`. With `b = batch_dims`,
    `out[a…, c…, d…] = input[a…, indices[a…, c…, 0..t], d…]`, `a…` the first `b` dimensions. Negative and outside
    indices as in `nn.gather`.

    Constraints:
    - (C1) the tuple length is static; `batch_dims + t` is at most the input's rank; the ranks fit; `indices` are
      integers.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %g = nn.gather_nd %x, %i batch_dims = 0 : (tensor<8x16xf32>, tensor<3x2xi64>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, Sizes:$sizes, I64Attr:$batch_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $indices (`sizes` `(` $sizes^ `)`)? `batch_dims` `=` $batch_dims attr-dict
    `:` `(` type($input) `,` type($indices) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

//===- Reductions ----------------------------------------------------------------------------------------------------

def Nn_ReduceOp : Nn_ElementOp<"reduce"> {
  let summary = "Combine the elements along axes";
  let description = [{
    `out[i…]` is the combination of all `input[…]` whose coordinates off `axes` are `i…`; the axes are dropped. An
    empty combination is the neutral element: 0, 1, or the type's lowest or highest value (minus or plus infinity).
    `max` and `min` propagate NaN. On `i1`, `max` is "or" and `min` is "and" in their unsigned forms. Floats are
    combined in the accumulate type of `precision` (absent: f32 for narrower types, else the element type).

    Constraints:
    - (C1) `axes` are strictly ascending and below the input's rank.
    - (C2) the result has the input's element type and its sizes without the axes.

    Example:
    ```mlir
    %s = nn.reduce sum %x axes = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Nn_CombinerAttr:$combiner, AnyRankedTensor:$input, DenseI64ArrayAttr:$axes,
                   OptionalAttr<Nn_PrecisionAttr>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $combiner $input `axes` `=` $axes attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_ArgReduceOp : Nn_ElementOp<"arg_reduce"> {
  let summary = "Find where the extreme element along an axis stands";
  let description = [{
    The coordinate along `axis` of the extreme element (`combiner` is a max or a min); of equal ones the first, or
    the last where `select_last`. NaN counts as the extreme. The axis is dropped.

    Constraints:
    - (C1) `axis` is below the input's rank; the combiner is no sum or product.
    - (C2) the result is an integer tensor with the input's sizes without the axis.

    Example:
    ```mlir
    %i = nn.arg_reduce max %x axis = 1 : (tensor<8x64xf32>) -> tensor<8xi64>
    ```
  }];
  let arguments = (ins Nn_CombinerAttr:$combiner, AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$select_last);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $combiner $input `axis` `=` $axis (`last` $select_last^)? attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_CumulateOp : Nn_ElementOp<"cumulate"> {
  let summary = "Combine each element with all before it along an axis";
  let description = [{
    `out[…, i, …]` combines `input[…, 0..i, …]`; without element `i` itself where `exclusive`; from the end where
    `reverse`.

    Constraints:
    - (C1) `axis` is below the rank; the result has the input's type.

    Example:
    ```mlir
    %c = nn.cumulate sum %x axis = 0 : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Nn_CombinerAttr:$combiner, AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$exclusive,
                   UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $combiner $input `axis` `=` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict
    `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_SoftmaxOp : Nn_ElementOp<"softmax"> {
  let summary = "Normalise exponentials along an axis";
  let description = [{
    `out = exp(x - m) / sum(exp(x - m))` along `axis`, `m` the maximum there; its logarithm where `log`. Narrow floats
    are computed in f32.

    Constraints:
    - (C1) floats; `axis` is below the rank; the result has the input's type.

    Example:
    ```mlir
    %s = nn.softmax %x axis = 1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$log);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `axis` `=` $axis (`log` $log^)? attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_NormalizeOp : Nn_ElementOp<"normalize"> {
  let summary = "Bring the elements along axes to mean zero and variance one";
  let description = [{
    `out = (x - mean) / sqrt(variance + epsilon)`, mean and (biased) variance over `axes`. Where `rms`, nothing is
    subtracted and the variance is the mean of squares. Narrow floats are computed in f32.

    Constraints:
    - (C1) floats; `axes` are strictly ascending and below the rank; the result has the input's type.

    Example:
    ```mlir
    %n = nn.normalize %x axes = [1] epsilon = 1.0e-5 : (tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$axes, F64Attr:$epsilon, UnitAttr:$rms);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `axes` `=` $axes `epsilon` `=` $epsilon (`rms` $rms^)? attr-dict
    `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

//===- Contractions --------------------------------------------------------------------------------------------------

def Nn_ContractOp : Nn_ElementOp<"contract"> {
  let summary = "Multiply two tensors and sum over what the result lacks";
  let description = [{
    Each dimension of each tensor carries a label, a small number. `out[o…]` is the sum, over every label that stands
    in an input but not in `out`, of `lhs[l…] * rhs[r…]`. Matrix product: `lhs = [0, 2], rhs = [2, 1], out = [0, 1]`.
    Floats and integers are multiplied in the compute type of `precision` and summed in its accumulate type (absent:
    f32 for narrower floats, else the result's element type). The result's element type may be wider than the
    operands', as in i8 times i8 to i32; operands are then converted first (`unsigned_lhs`, `unsigned_rhs` say how).

    Constraints:
    - (C1) one label per dimension, 0 to 63; no label stands twice in one tensor; every label of `out` stands in an
      input.
    - (C2) dimensions of one label have one size.
    - (C3) `lhs` and `rhs` have one element type (integers of one width may differ in signedness, which no type says).

    Example:
    ```mlir
    %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
        : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, DenseI64ArrayAttr:$lhs_labels,
                   DenseI64ArrayAttr:$rhs_labels, DenseI64ArrayAttr:$out_labels, UnitAttr:$unsigned_lhs,
                   UnitAttr:$unsigned_rhs, OptionalAttr<Nn_PrecisionAttr>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `lhs` `=` $lhs_labels `rhs` `=` $rhs_labels `out` `=` $out_labels attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_ConvOp : Nn_ElementOp<"conv"> {
  let summary = "Correlate a tensor with filters";
  let description = [{
    Input `[N, C, spatial…]`, filter `[K, C / groups, window…]`, result `[N, K, spatial…]`.
    `out[n, k, o…] = sum over c, w… of input[n, g * C/groups + c, (o * stride + w * dilation - low) / input_dilation]
    * filter[k, c, w…]`, `g` the group of `k`; terms whose input position is outside, or between the elements that
    `input_dilation` spreads apart, are zero. With `input_dilation` this is the transposed convolution too.
    Precision as in `nn.contract`.

    Constraints:
    - (C1) input, filter and result have one rank of at least 3; one stride, dilation, input dilation and low padding
      per spatial dimension; strides and dilations are positive.
    - (C2) `C` is `groups` times the filter's second size, and `groups` divides `K`.
    - (C3) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %y = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$filter, Sizes:$sizes, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$input_dilations,
                   I64Attr:$groups, UnitAttr:$unsigned_input, UnitAttr:$unsigned_filter,
                   OptionalAttr<Nn_PrecisionAttr>:$precision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter (`sizes` `(` $sizes^ `)`)? `strides` `=` $strides `low` `=` $low `dilations` `=` $dilations
    `input_dilations` `=` $input_dilations `groups` `=` $groups attr-dict
    `:` `(` type($input) `,` type($filter) `)` `->` type($result)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

//===- Windows -------------------------------------------------------------------------------------------------------

def Nn_PoolOp : Nn_ElementOp<"pool"> {
  let summary = "Combine the elements of a sliding window";
  let description = [{
    Input `[N, C, spatial…]`. `out[n, c, o…]` combines `input[n, c, o * stride + w * dilation - low]` over the window
    positions `w…` that lie inside the input. Combined as in `nn.reduce`.

    Constraints:
    - (C1) one window size, stride, dilation and low padding per spatial dimension, positive but for the padding; the
      result has the input's rank and element type.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %y = nn.pool max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
        : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Nn_CombinerAttr:$combiner, AnyRankedTensor:$input, Sizes:$sizes, DenseI64ArrayAttr:$window,
                   DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $combiner $input (`sizes` `(` $sizes^ `)`)? `window` `=` $window `strides` `=` $strides `low` `=` $low
    `dilations` `=` $dilations attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_PoolArgMaxOp : Nn_ElementOp<"pool_arg_max"> {
  let summary = "Find where the greatest element of a sliding window stands";
  let description = [{
    As `nn.pool max`, but the result is the position of that element in the whole input, counted row-major (or with
    the first spatial dimension fastest where `column_major`); of equal ones the first. NaN counts as the greatest.
    `unsigned_input` says how integers are read.

    Constraints:
    - (C1) as C1 of `nn.pool`, but the result is an integer tensor.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %i = nn.pool_arg_max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
        : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sizes:$sizes, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                   DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$dilations, UnitAttr:$column_major,
                   UnitAttr:$unsigned_input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? `window` `=` $window `strides` `=` $strides `low` `=` $low
    `dilations` `=` $dilations (`column_major` $column_major^)? attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_ResizeOp : Nn_ElementOp<"resize", [AttrSizedOperandSegments]> {
  let summary = "Sample a tensor at other coordinates along axes";
  let description = [{
    ONNX Resize along every dimension: output coordinate `o` maps to an input coordinate by `coordinate` and the
    dimension's scale, and the value there is found by `sample`. `scales` is an f32 tensor with one scale per
    dimension (output size over input size, as the model states it); `roi` holds the region of `tf_crop_and_resize`
    (starts, then ends; absent otherwise), outside of which the value is `extrapolation`. `antialias` widens the filter
    by 1/scale when shrinking; `exclude_outside` gives no weight to samples outside the input. A scale that is the f32
    nearest to output size over input size stands for that ratio itself. Integers, read as `unsigned_input` says, are
    rounded to the nearest, of two to the even one, and clamped.

    Constraints:
    - (C1) `scales` has one f32 per dimension; the result has the input's rank and element type.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %y = nn.resize linear %x, %scales coordinate = half_pixel nearest = floor
        : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins Nn_SampleModeAttr:$sample, AnyRankedTensor:$input, AnyRankedTensor:$scales,
                   Optional<AnyRankedTensor>:$roi, Sizes:$sizes, Nn_CoordinateModeAttr:$coordinate,
                   Nn_NearestModeAttr:$nearest, DefaultValuedAttr<F32Attr, "-0.75f">:$cubic_a,
                   DefaultValuedAttr<F32Attr, "0.0f">:$extrapolation, UnitAttr:$exclude_outside, UnitAttr:$antialias,
                   UnitAttr:$unsigned_input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $sample $input `,` $scales (`roi` $roi^)? (`sizes` `(` $sizes^ `)`)? `coordinate` `=` $coordinate
    `nearest` `=` $nearest attr-dict `:` `(` type($input) `,` type($scales) (`,` type($roi)^)? `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

//===- Pointwise operations that upstream lacks ----------------------------------------------------------------------

def Nn_CastOp : Nn_ElementOp<"cast"> {
  let summary = "Convert elements to another type";
  let description = [{
    Numeric conversion with ONNX Cast's meaning: to bool is `x != 0`; float to integer truncates toward zero and is
    clamped to the target's range (NaN gives 0); integer to narrower integer wraps, or clamps where `saturate`; to a
    float rounds to nearest even; to an 8-bit or smaller float clamps to its largest value where `saturate`, else
    overflows to infinity or NaN; to f8e8m0 rounds to a power of two as `rounding` says, a half upward where `nearest`,
    and what is out of range becomes the least or greatest power where `saturate`, else NaN. f16, bf16, f32 and f64
    overflow to infinity; f4e2m1 always clamps, and has no NaN but zero. `unsigned_input`/`unsigned_result` say how
    integers are read; `i1` is 0 or 1.

    Constraints:
    - (C1) input and result have one shape.

    Example:
    ```mlir
    %i = nn.cast %x saturate unsigned_result : (tensor<8xf32>) -> tensor<8xi8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, UnitAttr:$saturate, UnitAttr:$unsigned_input,
                   UnitAttr:$unsigned_result,
                   DefaultValuedAttr<Nn_PowerRoundingAttr, "PowerRounding::Nearest">:$rounding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`saturate` $saturate^)? (`unsigned_input` $unsigned_input^)? (`unsigned_result` $unsigned_result^)?
    (`rounding` `=` $rounding^)? attr-dict `:` `(` type($input) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Nn_BitcastOp : Nn_ElementOp<"bitcast"> {
  let summary = "Read elements' bits as another type of the same width";
  let description = [{
    Constraints:
    - (C1) input and result have one shape and one element width.

    Example:
    ```mlir
    %b = nn.bitcast %x : (tensor<8xf32>) -> tensor<8xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` `(` type($input) `)` `->` type($result)";
  let hasVerifier = 1;
}

//===- Operations with kernels of their own --------------------------------------------------------------------------

def Nn_ScatterElementsOp : Nn_KernelOp<"scatter_elements"> {
  let summary = "Write single elements along an axis";
  let description = [{
    A copy of `input` in which, for each position `i…` of `indices` in row-major order, the element at `i…` with
    `i(axis)` replaced by `indices[i…]` is joined with `updates[i…]` by `update`. Negative indices count from the end.
    An update whose index is still outside the axis is dropped.

    Constraints:
    - (C1) all have one rank, above `axis`; `indices` are integers; `updates` has their shape; the result has the
      input's type.

    Example:
    ```mlir
    %s = nn.scatter_elements add %x, %i, %u axis = 0
        : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Nn_UpdateAttr:$update, AnyRankedTensor:$input, AnyRankedTensor:$indices,
                   AnyRankedTensor:$updates, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $update $input `,` $indices `,` $updates `axis` `=` $axis attr-dict
    `:` `(` type($input) `,` type($indices) `,` type($updates) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_ScatterNdOp : Nn_KernelOp<"scatter_nd"> {
  let summary = "Write slices at index tuples";
  let description = [{
    A copy of `input` in which, for each tuple along the last dimension of `indices` in row-major order, the slice it
    names is joined with that of `updates` by `update`. Negative and outside indices as in `nn.scatter_elements`.

    Constraints:
    - (C1) the tuple length is static and at most the input's rank; the ranks fit; `indices` are integers; the result
      has the input's type.

    Example:
    ```mlir
    %s = nn.scatter_nd replace %x, %i, %u
        : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Nn_UpdateAttr:$update, AnyRankedTensor:$input, AnyRankedTensor:$indices,
                   AnyRankedTensor:$updates);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $update $input `,` $indices `,` $updates attr-dict
    `:` `(` type($input) `,` type($indices) `,` type($updates) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Nn_TopKOp : Nn_KernelOp<"top_k"> {
  let summary = "Find the greatest or least elements along an axis, in order";
  let description = [{
    The first `k` (the result's size along `axis`) elements of the axis sorted descending (ascending where
    `smallest`), and their coordinates; equal ones by ascending coordinate. NaN counts as the greatest.

    Constraints:
    - (C1) `axis` is below the rank; both results have one shape, the input's but for the axis; `values` has the input's
      element type; `indices` are i64.
    - (C2) one `sizes` operand per dynamic result dimension.

    Example:
    ```mlir
    %v, %i = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sizes:$sizes, I64Attr:$axis, UnitAttr:$smallest,
                   UnitAttr:$unsigned_input);
  let results = (outs AnyRankedTensor:$values, AnyRankedTensor:$indices);
  let assemblyFormat = [{
    $input (`sizes` `(` $sizes^ `)`)? `axis` `=` $axis (`smallest` $smallest^)? (`unsigned` $unsigned_input^)?
    attr-dict `:` `(` type($input) `)` `->` `(` type($values) `,` type($indices) `)`
  }];
  let hasVerifier = 1;
}

def Nn_TriangularizeOp : Nn_KernelOp<"triangularize"> {
  let summary = "Bring square matrices to upper triangular form, keeping their determinants";
  let description = [{
    Gaussian elimination of each matrix `a` of the last two dimensions, `n` by `n`. For `k = 0 … n - 1`:
    - `p` is the row, `k` or below, whose `|a[p, k]|` is greatest: NaN before all others, of equal ones the first;
    - where `p > k`, rows `k` and `p` change places, and row `p` is then negated;
    - for `i > k` and `j > k`, `a[i, j]` becomes `a[i, j] - q * a[k, j]`, `q = a[i, k] / a[k, k]`, or 0 where `a[k, k]` is 0;
    - for `i > k`, `a[i, k]` becomes 0.

    The product of the diagonal is the determinant: 1 where `n` is 0, NaN where a NaN takes part. Where magnitudes in a
    column are nearly equal, rounding decides between them, and so about single elements, but not about that product.

    Constraints:
    - (C1) the rank is at least 2; the last two sizes are equal.
    - (C2) elements are f32 or f64.
    - (C3) the result has the input's type.

    Example:
    ```mlir
    %u = nn.triangularize %x : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` `(` type($input) `)` `->` type($result)";
  let hasVerifier = 1;
}

// The three recurrent cells share operands: gates `[T, B, G * H]` hold each step's input part, `x W^T + biases`, in
// ONNX's gate order; `recurrence` is `[G * H, H]`; `lengths` (`[B]`, integers) ends each sequence early; `reverse`
// walks time from each sequence's end. `h_sequence` is `[T, B, H]` with zeros past a sequence's end; `h_last` `[B, H]`.
// Activations are named as in ONNX; `alphas` and `betas` go, in order, to those that take one, and where they run out
// ONNX's defaults hold. A sequence of length 0 keeps its initial state.
class Nn_RecurrentOp<string mnemonic, list<Trait> traits = []> : Nn_KernelOp<mnemonic, traits>;

def Nn_LstmOp : Nn_RecurrentOp<"lstm", [AttrSizedOperandSegments]> {
  let summary = "Run one direction of a long short-term memory";
  let description = [{
    Per step, with gates i, o, f, c: `i = f0(gi + h Ri^T + pi * c)`, `f = f0(gf + h Rf^T + pf * c)` (or `1 - i` where
    `input_forget`), `c' = f * c + i * f1(gc + h Rc^T)`, `o = f0(go + h Ro^T + po * c')`, `h' = o * f2(c')`. Gate
    pre-activations are clipped to `±clip` where it is positive. `alphas` and `betas` have a number for each activation,
    whether or not it takes one; past their end, ONNX's defaults hold.

    Constraints:
    - (C1) gates `[T, B, 4H]`, recurrence `[4H, H]`, static, initial states `[B, H]`, peepholes `[3H]`; one element
      type; lengths are integers.

    Example:
    ```mlir
    %y, %h, %c = nn.lstm %gates, %r init %h0, %c0 activations = ["Sigmoid", "Tanh", "Tanh"]
        : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
        -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gates, AnyRankedTensor:$recurrence, AnyRankedTensor:$h_initial,
                   AnyRankedTensor:$c_initial, Optional<AnyRankedTensor>:$peepholes,
                   Optional<AnyRankedTensor>:$lengths, StrArrayAttr:$activations,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$alphas,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$betas, DefaultValuedAttr<F32Attr, "0.0f">:$clip,
                   UnitAttr:$input_forget, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$h_sequence, AnyRankedTensor:$h_last, AnyRankedTensor:$c_last);
  let assemblyFormat = [{
    $gates `,` $recurrence `init` $h_initial `,` $c_initial (`peepholes` $peepholes^)? (`lengths` $lengths^)?
    `activations` `=` $activations (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_GruOp : Nn_RecurrentOp<"gru"> {
  let summary = "Run one direction of a gated recurrent unit";
  let description = [{
    Per step, with gates z, r, h: `z = f0(gz + h Rz^T)`, `r = f0(gr + h Rr^T)`, `n = f1(gh + (r * h) Rh^T + bh)`, or
    `f1(gh + r * (h Rh^T + bh))` where `linear_before_reset`; `h' = (1 - z) * n + z * h`. `gates` hold the input part
    with all biases but `bh`, the recurrent bias of the last gate.

    Constraints:
    - (C1) gates `[T, B, 3H]`, recurrence `[3H, H]`, static, initial state `[B, H]`, `recurrent_bias` `[H]`; one
      element type; lengths are integers.

    Example:
    ```mlir
    %y, %h = nn.gru %gates, %r, %b init %h0 activations = ["Sigmoid", "Tanh"]
        : (tensor<5x1x12xf32>, tensor<12x4xf32>, tensor<4xf32>, tensor<1x4xf32>)
        -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gates, AnyRankedTensor:$recurrence, AnyRankedTensor:$recurrent_bias,
                   AnyRankedTensor:$h_initial, Optional<AnyRankedTensor>:$lengths, StrArrayAttr:$activations,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$alphas,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$betas, DefaultValuedAttr<F32Attr, "0.0f">:$clip,
                   UnitAttr:$linear_before_reset, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$h_sequence, AnyRankedTensor:$h_last);
  let assemblyFormat = [{
    $gates `,` $recurrence `,` $recurrent_bias `init` $h_initial (`lengths` $lengths^)?
    `activations` `=` $activations (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Nn_RnnOp : Nn_RecurrentOp<"rnn"> {
  let summary = "Run one direction of a simple recurrent layer";
  let description = [{
    Per step `h' = f0(g + h R^T)`.

    Constraints:
    - (C1) gates `[T, B, H]`, recurrence `[H, H]`, static, initial state `[B, H]`; one element type; lengths are
      integers.

    Example:
    ```mlir
    %y, %h = nn.rnn %gates, %r init %h0 activations = ["Tanh"]
        : (tensor<5x1x4xf32>, tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$gates, AnyRankedTensor:$recurrence, AnyRankedTensor:$h_initial,
                   Optional<AnyRankedTensor>:$lengths, StrArrayAttr:$activations,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$alphas,
                   DefaultValuedAttr<DenseF32ArrayAttr, "{}">:$betas, DefaultValuedAttr<F32Attr, "0.0f">:$clip,
                   UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$h_sequence, AnyRankedTensor:$h_last);
  let assemblyFormat = [{
    $gates `,` $recurrence `init` $h_initial (`lengths` $lengths^)?
    `activations` `=` $activations (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===- Operations whose result sizes follow from data ----------------------------------------------------------------

def Nn_NonZeroOp : Nn_Op<"nonzero", [Pure]> {
  let summary = "List the coordinates of the elements that are not zero";
  let description = [{
    `out[:, j]` are the coordinates of the `j`-th such element in row-major order; `count` is how many there are.
    Answered on the host, since a size follows from data.

    Constraints:
    - (C1) the result is `tensor<rank x ? x i64>`.

    Example:
    ```mlir
    %i, %n = nn.nonzero %x : (tensor<8x4xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$indices, Index:$count);
  let assemblyFormat = "$input attr-dict `:` `(` type($input) `)` `->` type($indices)";
  let hasVerifier = 1;
}

def Nn_UniqueOp : Nn_Op<"unique", [Pure]> {
  let summary = "Find the distinct slices along the first dimension";
  let description = [{
    `first` holds the coordinate of each distinct slice's first occurrence: ascending by the slices' elements, compared
    one after the other, where `sorted`, else in the order of occurrence. `inverse` says for every slice which of them
    it equals, `count` is how many there are. NaN is greater than all else and equals itself; integers are read as
    `unsigned_input` says. The slices themselves are `nn.gather input, first`. Answered on the host.

    Constraints:
    - (C1) the input has a rank of at least 1; `first` is `tensor<? x i64>`, `inverse` `tensor<n x i64>`, `n` the
      input's first size.

    Example:
    ```mlir
    %f, %i, %n = nn.unique %x sorted : (tensor<8x4xf32>) -> (tensor<?xi64>, tensor<8xi64>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, UnitAttr:$sorted, UnitAttr:$unsigned_input);
  let results = (outs AnyRankedTensor:$first, AnyRankedTensor:$inverse, Index:$count);
  let assemblyFormat = [{
    $input (`sorted` $sorted^)? (`unsigned` $unsigned_input^)? attr-dict
    `:` `(` type($input) `)` `->` `(` type($first) `,` type($inverse) `)`
  }];
  let hasVerifier = 1;
}

def Nn_NonMaxSuppressionOp : Nn_Op<"non_max_suppression", [Pure]> {
  let summary = "Choose boxes of high score that overlap little";
  let description = [{
    For each batch and class: from the best score down, of equal ones by ascending number, a box is chosen unless its
    intersection over union with one already chosen is greater than `iou_threshold`, until `max_boxes` are. Boxes whose
    score is not greater than `score_threshold`, or NaN, are no candidates. A row of the result is batch, class, box; rows
    ascend by batch and class. A box is two opposite corners, or its centre, width and height where `center_point`.
    Answered on the host.

    Constraints:
    - (C1) boxes `[B, N, 4]`, scores `[B, C, N]`, both floats; `max_boxes` is a tensor of one i64, the thresholds of
      one float; the result is `tensor<? x 3 x i64>`.

    Example:
    ```mlir
    %b, %n = nn.non_max_suppression %boxes, %scores max %m iou %i
        : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$boxes, AnyRankedTensor:$scores, AnyRankedTensor:$max_boxes,
                   AnyRankedTensor:$iou_threshold, Optional<AnyRankedTensor>:$score_threshold, UnitAttr:$center_point);
  let results = (outs AnyRankedTensor:$selected, Index:$count);
  let assemblyFormat = [{
    $boxes `,` $scores `max` $max_boxes `iou` $iou_threshold (`score` $score_threshold^)?
    (`center_point` $center_point^)? attr-dict `:` `(` type($boxes) `,` type($scores) `,` type($max_boxes) `,` type($iou_threshold)
    (`,` type($score_threshold)^)? `)` `->` type($selected)
  }];
  let hasVerifier = 1;
}

//===- Groups --------------------------------------------------------------------------------------------------------

def Nn_FusedOp : Nn_Op<"fused", [IsolatedFromAbove, SingleBlockImplicitTerminator<"::joule::nn::YieldOp">,
                                 AttrSizedOperandSegments, Nn_GroupInterface]> {
  let summary = "Group ops that become one kernel";
  let description = [{
    The body's arguments are the operands: tensors, then index values (sizes and offsets). Its location lists the ONNX
    nodes it holds. A result's dynamic sizes are, in order over all results, `sizes`. `input_sizes` says where the
    sizes of the body's tensor arguments are: for each dynamic dimension of each, in order, the number of the body
    argument that holds it.

    Constraints:
    - (C1) the body's arguments have the operands' types.
    - (C2) the body yields the results' types.
    - (C3) one `sizes` operand per dynamic result dimension.
    - (C4) one `input_sizes` entry per dynamic dimension of a tensor argument, each the number of an `index` argument.

    Example:
    ```mlir
    %y = nn.fused (%x, %b : tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<8x64xf32>) {
    ^bb0(%0: tensor<8x64xf32>, %1: tensor<8x64xf32>):
      %2 = arith.addf %0, %1 : tensor<8x64xf32>
      nn.yield %2 : tensor<8x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Sizes:$sizes, OptionalAttr<DenseI64ArrayAttr>:$input_sizes);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` (`sizes` `(` $sizes^ `)`)? (`input_sizes` `=` $input_sizes^)? `->` `(` type($outputs) `)`
    attr-dict-with-keyword
    $body
  }];
  let hasVerifier = 1;
}

def Nn_YieldOp : Nn_Op<"yield", [Terminator, Pure]> {
  let summary = "End a group with its results";
  let description = [{
    Example:
    ```mlir
    nn.yield %y : tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$outputs);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

#endif
