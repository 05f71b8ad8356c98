// The onnx level: what does the file say? One generic op stands for every ONNX node.
#ifndef JOULE_ONNX_DIALECT_TD
#define JOULE_ONNX_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::joule::onnx";
  let summary = "An ONNX graph as its file states it";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Onnx_Type<string name, string mnemonicName> : TypeDef<Onnx_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Onnx_AbsentType : Onnx_Type<"Absent", "absent"> {
  let summary = "The type of an optional input that a node leaves out";
}

def Onnx_StringType : Onnx_Type<"String", "string"> {
  let summary = "The element type of a tensor of strings";
}

def Onnx_SequenceType : Onnx_Type<"Sequence", "sequence"> {
  let summary = "A sequence of values of one type";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Onnx_OptionalType : Onnx_Type<"Optional", "optional"> {
  let summary = "A value that may be absent at run time";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Onnx_WeightAttr : AttrDef<Onnx_Dialect, "Weight"> {
  let mnemonic = "weight";
  let summary = "A tensor's bytes, left where they are: in a file";
  let description = [{
    The little-endian elements of a tensor, row-major, packed as ONNX packs them, at `offset` in `file`; `length`
    bytes. The offset may be unaligned.

    Example: `#onnx.weight<"model.onnx", 4711, 4096>`
  }];
  let parameters = (ins StringRefParameter<"path of the file">:$file, "uint64_t":$offset, "uint64_t":$length);
  let assemblyFormat = "`<` $file `,` $offset `,` $length `>`";
}

class Onnx_Op<string mnemonic, list<Trait> traits = []> : Op<Onnx_Dialect, mnemonic, traits>;

def Onnx_NodeOp : Onnx_Op<"node"> {
  let summary = "Hold one ONNX node";
  let description = [{
    The node's operator, domain and the version of that operator which the model's opset selects (`since_version`),
    with its attributes under their ONNX names. Tensor attributes are elements attributes or `#onnx.weight`. A
    subgraph is a region, named by the entry of `graphs` at the same position; it ends in `onnx.return`, and its block
    arguments are the subgraph's inputs. An input that the node leaves out is a value of type `!onnx.absent`.

    Constraints:
    - (C1) `graphs` has one name per subgraph.

    Example:
    ```mlir
    %y = onnx.node "Gemm" version 13 (%x, %w, %b) {alpha = 0.5 : f32}
        : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op_type, DefaultValuedStrAttr<StrAttr, "">:$domain, I64Attr:$since_version,
                   DefaultValuedAttr<DictionaryAttr, "{}">:$node_attributes,
                   DefaultValuedAttr<StrArrayAttr, "{}">:$graphs, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$subgraphs);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Onnx_ConstantOp : Onnx_Op<"constant", [Pure]> {
  let summary = "Hold an initialiser";
  let description = [{
    An initialiser of the graph: small ones as elements, others as `#onnx.weight`, never copied.

    Example:
    ```mlir
    %w = onnx.constant #onnx.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
}

def Onnx_AbsentOp : Onnx_Op<"absent", [Pure]> {
  let summary = "Stand for an optional input that is left out";
  let description = [{
    Example:
    ```mlir
    %none = onnx.absent
    ```
  }];
  let results = (outs Onnx_AbsentType:$result);
  let assemblyFormat = "attr-dict";
}

def Onnx_ReturnOp : Onnx_Op<"return", [Terminator, Pure]> {
  let summary = "End a graph with its outputs";
  let description = [{
    Example:
    ```mlir
    onnx.return %y : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
}

#endif
