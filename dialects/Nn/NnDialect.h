// The nn level: what is computed?
#pragma once

#include "dialects/Nn/ElementSource.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialects/Nn/NnDialect.h.inc"
#include "dialects/Nn/NnEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Nn/NnTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Nn/NnAttributes.h.inc"

#include "dialects/Nn/NnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Nn/NnOps.h.inc"

namespace joule::nn {

/// The sizes of `tensor`: constants, or `index` values that its definition was given. A function argument's dynamic
/// sizes are the `nn.symbol` values that its `nn.dims` attribute names. Null where they cannot be found: the value is
/// a block argument of a region op that carries no sizes.
mlir::FailureOr<llvm::SmallVector<mlir::OpFoldResult>> sizesOf(mlir::Value tensor);

/// Checks `inputSizes` of a group or kernel whose body takes `arguments`: for each dynamic dimension of each tensor
/// argument, in order, the number of the argument of type `index` that holds it.
mlir::LogicalResult verifyInputSizes(mlir::Operation *op, mlir::TypeRange arguments,
                                     std::optional<llvm::ArrayRef<int64_t>> inputSizes);

/// The type in which floats of `type` are summed when nothing else is said: f32 for narrower ones, else `type`.
mlir::Type defaultAccumulateType(mlir::Type type);

/// The names of the ONNX nodes that `loc` stands for, each once.
llvm::SmallVector<mlir::StringAttr> nodeNames(mlir::Location loc);

/// True for element-wise ops of upstream dialects: they apply to scalars as to tensors.
inline bool isPointwise(mlir::Operation *op) { return mlir::OpTrait::hasElementwiseMappableTraits(op); }

} // namespace joule::nn
