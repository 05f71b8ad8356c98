// The onnx level: what does the file say?
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Onnx/OnnxDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Onnx/OnnxTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Onnx/OnnxAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/Onnx/OnnxOps.h.inc"
