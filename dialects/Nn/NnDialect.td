// The nn level: what is computed? The dialect, its attributes and its interfaces; NnOps.td has the ops.
#ifndef JOULE_NN_DIALECT_TD
#define JOULE_NN_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::joule::nn";
  let summary = "Tensor operations by value";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

//===- Types ---------------------------------------------------------------------------------------------------------

class Nn_SmallFloat<string name, string mnemonicName> : TypeDef<Nn_Dialect, name> {
  let mnemonic = mnemonicName;
}
def Nn_F4E2M1Type : Nn_SmallFloat<"F4E2M1", "f4e2m1"> {
  let summary = "A 4-bit float: 1 sign, 2 exponent, 1 fraction bit; two per byte, the first in the low half";
}
def Nn_F8E8M0Type : Nn_SmallFloat<"F8E8M0", "f8e8m0"> {
  let summary = "A power of two, 2^(byte - 127); 255 is NaN";
}

//===- Attributes ----------------------------------------------------------------------------------------------------

def Nn_WeightAttr : AttrDef<Nn_Dialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "A tensor's bytes, left where they are: in a file or a blob of the compiler";
  let description = [{
    The row-major elements of a tensor at `offset` in `blob`, `length` bytes. A blob is a file's path, or the name
    `"@N"` of a blob that folding made.

    Example: `#nn.weight<"model.onnx", 4711, 4096>`
  }];
  let parameters = (ins StringRefParameter<"path or @N">:$blob, "uint64_t":$offset, "uint64_t":$length);
  let assemblyFormat = "`<` $blob `,` $offset `,` $length `>`";
}

def Nn_PrecisionAttr : AttrDef<Nn_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "How values are combined: the type multiplied in, and the type summed in";
  let description = [{
    Example: `#nn.precision<compute = f16, accumulate = f32>`
  }];
  let parameters = (ins "::mlir::Type":$compute, "::mlir::Type":$accumulate);
  let assemblyFormat = "`<` `compute` `=` $compute `,` `accumulate` `=` $accumulate `>`";
}

class Nn_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::joule::nn";
  let genSpecializedAttr = 0;
}
class Nn_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Nn_Dialect, info, mnemonic>;

def Nn_CombinerEnum : Nn_Enum<"Combiner", "how a reduction combines two values", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"UnsignedMax", 4, "umax">, I32EnumAttrCase<"UnsignedMin", 5, "umin">]>;
def Nn_CombinerAttr : Nn_EnumAttr<Nn_CombinerEnum, "combiner">;

def Nn_PadModeEnum : Nn_Enum<"PadMode", "what stands outside a padded tensor", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Edge", 1, "edge">,
    I32EnumAttrCase<"Reflect", 2, "reflect">, I32EnumAttrCase<"Wrap", 3, "wrap">]>;
def Nn_PadModeAttr : Nn_EnumAttr<Nn_PadModeEnum, "pad_mode">;

def Nn_SampleModeEnum : Nn_Enum<"SampleMode", "how a value between grid points is found", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Cubic", 2, "cubic">]>;
def Nn_SampleModeAttr : Nn_EnumAttr<Nn_SampleModeEnum, "sample_mode">;

def Nn_CoordinateModeEnum : Nn_Enum<"CoordinateMode", "how a resized tensor's coordinates map to the input's", [
    I32EnumAttrCase<"HalfPixel", 0, "half_pixel">, I32EnumAttrCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
    I32EnumAttrCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">, I32EnumAttrCase<"AlignCorners", 3, "align_corners">,
    I32EnumAttrCase<"Asymmetric", 4, "asymmetric">, I32EnumAttrCase<"TfCropAndResize", 5, "tf_crop_and_resize">,
    I32EnumAttrCase<"TfHalfPixelForNn", 6, "tf_half_pixel_for_nn">]>;
def Nn_CoordinateModeAttr : Nn_EnumAttr<Nn_CoordinateModeEnum, "coordinate_mode">;

def Nn_NearestModeEnum : Nn_Enum<"NearestMode", "which neighbour is nearest", [
    I32EnumAttrCase<"RoundPreferFloor", 0, "round_prefer_floor">,
    I32EnumAttrCase<"RoundPreferCeil", 1, "round_prefer_ceil">, I32EnumAttrCase<"Floor", 2, "floor">,
    I32EnumAttrCase<"Ceil", 3, "ceil">]>;
def Nn_NearestModeAttr : Nn_EnumAttr<Nn_NearestModeEnum, "nearest_mode">;

def Nn_UpdateEnum : Nn_Enum<"Update", "how a scatter joins an update with what is there", [
    I32EnumAttrCase<"Replace", 0, "replace">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Multiply", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">,
    I32EnumAttrCase<"UnsignedMax", 5, "umax">, I32EnumAttrCase<"UnsignedMin", 6, "umin">]>;
def Nn_UpdateAttr : Nn_EnumAttr<Nn_UpdateEnum, "update">;

def Nn_PowerRoundingEnum : Nn_Enum<"PowerRounding", "how a number becomes a power of two", [
    I32EnumAttrCase<"Up", 0, "up">, I32EnumAttrCase<"Down", 1, "down">, I32EnumAttrCase<"Nearest", 2, "nearest">]>;
def Nn_PowerRoundingAttr : Nn_EnumAttr<Nn_PowerRoundingEnum, "power_rounding">;

//===- Interfaces ----------------------------------------------------------------------------------------------------

def Nn_ElementDefinition : OpInterface<"ElementDefinition"> {
  let cppNamespace = "::joule::nn";
  let description = [{
    An op each of whose result elements can be written down on its own. From it come the generic kernel of the op and
    its inlining into the loads and stores of any other kernel.
  }];
  let methods = [
    InterfaceMethod<[{
        Emits scalar code for the element of result `result` at `indices` (`index` values, one per dimension, in
        range) and returns it; its type is the result's element type. Operands are reached through `source` only.
      }],
      "::mlir::Value", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::joule::nn::ElementSource &":$source,
           "unsigned":$result, "::mlir::ValueRange":$indices)>
  ];
}

def Nn_KernelDefinition : OpInterface<"KernelDefinition"> {
  let cppNamespace = "::joule::nn";
  let description = [{
    An op whose result elements depend on each other, so that it needs a kernel of its own (scatter, sort, recurrent
    cells). passes/NnToTile has one emitter per such op.
  }];
}

def Nn_GroupInterface : OpInterface<"GroupInterface"> {
  let cppNamespace = "::joule::nn";
  let description = [{
    An op that stands for several, with any number of tensor results.
  }];
  let methods = [
    InterfaceMethod<"The dynamic sizes of the results, in order over all of them.", "::mlir::OperandRange", "getSizes">
  ];
}

#endif
