// The plan level: what does the host do, in what order?
#ifndef JOULE_PLAN_DIALECT_TD
#define JOULE_PLAN_DIALECT_TD

include "dialects/Nn/NnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::joule::plan";
  let summary = "The host program of a compiled model";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"];
  let useDefaultTypePrinterParser = 1;
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A piece of device memory";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_CallOp : Plan_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, AttrSizedOperandSegments, Pure,
                                 Nn_GroupInterface]> {
  let summary = "Run a kernel on tensors by value";
  let description = [{
    Stands for an outlined group until buffers exist: `inputs` are the kernel's tensor and index arguments,
    `sizes` the results' dynamic sizes, in order over all results, and `flops` the arithmetic operations of the call.

    Example:
    ```mlir
    %y = plan.call @relu(%x, %n) sizes(%n) flops(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, Variadic<Index>:$sizes,
                   Index:$flops);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`sizes` `(` $sizes^ `)`)? `flops` `(` $flops `)` attr-dict `:` functional-type($inputs, $outputs)
  }];
}

def Plan_WeightOp : Plan_Op<"weight", [Pure]> {
  let summary = "Name the buffer of a constant";
  let description = [{
    The device's copy of a constant: elements, or an `#nn.weight`. `tensor` is the type it had.

    Example:
    ```mlir
    %w = plan.weight dense<1.0> : tensor<4xf32> type = tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$value, TypeAttr:$tensor);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$value `type` `=` $tensor attr-dict";
}

def Plan_AllocOp : Plan_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Take a piece of device memory";
  let description = [{
    `bytes` bytes, at least 256-byte aligned, alive until the last use of the buffer.

    Example:
    ```mlir
    %b = plan.alloc %bytes
    ```
  }];
  let arguments = (ins Index:$bytes);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$bytes attr-dict";
}

def Plan_LaunchOp : Plan_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Launch a kernel";
  let description = [{
    `arguments` are the kernel's parameters in order: buffers and index values; the last `results` buffers among them
    are written. `flops`, `bytes_read` and `bytes_written` are the launch's expected work.

    Example:
    ```mlir
    plan.launch @relu grid(%g, %c1, %c1) (%x, %n, %y) results = 1 cost(%f, %r, %w)
        : !plan.buffer, index, !plan.buffer
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$grid_x, Index:$grid_y, Index:$grid_z,
                   Variadic<AnyTypeOf<[Plan_BufferType, Index]>>:$arguments, Index:$flops, Index:$bytes_read,
                   Index:$bytes_written, I64Attr:$results);
  let assemblyFormat = [{
    $kernel `grid` `(` $grid_x `,` $grid_y `,` $grid_z `)` `(` $arguments `)` `results` `=` $results
    `cost` `(` $flops `,` $bytes_read `,` $bytes_written `)` attr-dict `:` type($arguments)
  }];
}

def Plan_ReadScalarOp : Plan_Op<"read_scalar"> {
  let summary = "Wait for the device and read one integer";
  let description = [{
    The integer or boolean of type `element` at `offset` bytes.

    Example:
    ```mlir
    %n = plan.read_scalar %b[%c0] element = i64
    ```
  }];
  let arguments = (ins Plan_BufferType:$buffer, Index:$offset, TypeAttr:$element);
  let results = (outs Index:$result);
  let assemblyFormat = "$buffer `[` $offset `]` `element` `=` $element attr-dict";
}

def Plan_WriteScalarsOp : Plan_Op<"write_scalars"> {
  let summary = "Write host integers to the device";
  let description = [{
    Sets the first elements, of type `element`, of a buffer.

    Example:
    ```mlir
    plan.write_scalars %b, %n, %m element = i64
    ```
  }];
  let arguments = (ins Plan_BufferType:$buffer, Variadic<Index>:$values, TypeAttr:$element);
  let assemblyFormat = "$buffer (`,` $values^)? `element` `=` $element attr-dict";
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "Copy device memory";
  let description = [{
    Copies the first `bytes` bytes.

    Example:
    ```mlir
    plan.copy %from to %to bytes %n
    ```
  }];
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$destination, Index:$bytes);
  let assemblyFormat = "$source `to` $destination `bytes` $bytes attr-dict";
}

def Plan_HostCallOp : Plan_Op<"host_call", [AttrSizedOperandSegments]> {
  let summary = "Run an operation on the host whose result sizes follow from data";
  let description = [{
    The host runs the reference kernel `callee` on the tensors in `inputs`, whose types and dynamic sizes are given.
    Results are a buffer each, then an index per dynamic size.

    Example:
    ```mlir
    %b, %n = plan.host_call "nonzero" (%x) types = [tensor<8x4xf32>] -> [tensor<2x?xi64>] : !plan.buffer, index
    ```
  }];
  let arguments = (ins StrAttr:$callee, Variadic<Plan_BufferType>:$inputs, Variadic<Index>:$sizes,
                   TypeArrayAttr:$input_types, TypeArrayAttr:$result_types,
                   DefaultValuedAttr<DictionaryAttr, "{}">:$settings);
  let results = (outs Variadic<AnyTypeOf<[Plan_BufferType, Index]>>:$outputs);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`sizes` `(` $sizes^ `)`)? `types` `=` $input_types `->` $result_types
    (`settings` `=` $settings^)? attr-dict `:` type($outputs)
  }];
}

def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "End the run with an error unless a condition holds";
  let description = [{
    Example:
    ```mlir
    plan.check %same, "inputs a and b differ in size along axis 1"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def Plan_OutputOp : Plan_Op<"output"> {
  let summary = "Name a buffer as an output of the model";
  let description = [{
    `tensor` is its type; its dynamic sizes are `sizes`; `onnx_type` its ONNX element type.

    Example:
    ```mlir
    plan.output "y" %b type = tensor<?xf32> onnx_type = 1 sizes(%n)
    ```
  }];
  let arguments = (ins StrAttr:$name, Plan_BufferType:$buffer, TypeAttr:$tensor, I64Attr:$onnx_type,
                   Variadic<Index>:$sizes);
  let assemblyFormat = [{
    $name $buffer `type` `=` $tensor `onnx_type` `=` $onnx_type (`sizes` `(` $sizes^ `)`)? attr-dict
  }];
}

#endif
