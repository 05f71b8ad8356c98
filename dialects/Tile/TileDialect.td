// The tile level: which thread holds what, when?
#ifndef JOULE_TILE_DIALECT_TD
#define JOULE_TILE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::joule::tile";
  let summary = "One kernel, spread over threads and memory";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

//===- Attributes ----------------------------------------------------------------------------------------------------

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "Every free choice of a kernel";
  let description = [{
    `threads` is the block's size; `block` says what a block does, `thread` what a thread does at once:

    ```
    family          block                            thread
    "map"                                            elements
    "contract"      rows, columns, depth             rows, columns (in registers)
    "dot"           lines, threads that share one    elements of a run, runs
    "row"           rows, threads that share one     elements of a run
    ```

    or `family` is the mnemonic of the op that the kernel stands for. `index_bits` is the width of index arithmetic: 32,
    where the host guards that it suffices, or 64. Written by `choose-default-schedule` or the tuner, obeyed by
    `nn-to-tile`.

    Example:
    `#tile.schedule<family = "contract", threads = 256, block = [64, 64, 16], thread = [4, 4], index_bits = 32>`
  }];
  let parameters = (ins StringRefParameter<"family">:$family, "int64_t":$threads,
                   OptionalArrayRefParameter<"int64_t">:$block, OptionalArrayRefParameter<"int64_t">:$thread,
                   DefaultValuedParameter<"int64_t", "32">:$index_bits);
  let hasCustomAssemblyFormat = 1;
}

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Where the elements of a tile lie: a linear map over bits";
  let description = [{
    A tile has a power of two of elements along each dimension, so coordinates and addresses are rows of bits. The
    layout gives each bit of each coordinate an address, its *base*; an element's address is the XOR of the bases of
    the bits that are set in its coordinates. `bits` says how many bits each dimension has, `bases` lists the bases
    dimension by dimension, the lowest bit first.

    Row-major order of 4 rows of 8 columns is `bits = [2, 3], bases = [8, 16, 1, 2, 4]`:

    ```
    row 2 = 0b10   -> 16                       column 5 = 0b101 -> 4 ^ 1
    (2, 5)         -> 16 ^ 4 ^ 1 = 21          which is 2 * 8 + 5
    ```

    A *swizzle* gives a row bit a base with a column bit in it. With `bases = [8 ^ 4, 16, 1, 2, 4]` the halves of
    every odd row change places:

    ```
    row 0:  0  1  2  3  4  5  6  7        row 0:  0  1  2  3  4  5  6  7
    row 1:  8  9 10 11 12 13 14 15   ->   row 1: 12 13 14 15  8  9 10 11
    ```

    Shared memory serves 32 addresses at once if they fall into different banks (address modulo 32). Threads that
    store down a column of a 32-column tile all hit one bank; once the row's bits are in the column's place of the
    address they do not. Both the plain and the swizzled form, and every mixture, are this one map, so that composing
    and inverting need no cases.

    Constraints:
    - (C1) as many bases as bits in all.
    - (C2) different coordinates have different addresses, and all addresses below the tile's size occur.

    Example:
    `#tile.layout<bits = [2, 3], bases = [12, 16, 1, 2, 4]>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$bits, ArrayRefParameter<"int64_t">:$bases);
  let assemblyFormat = "`<` `bits` `=` `[` $bits `]` `,` `bases` `=` `[` $bases `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Row-major order of a tile of `shape`, all powers of two.
    static LayoutAttr rowMajor(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape);

    /// This layout after bits `first … first + count` of dimension `dim` have also flipped the address bits from
    /// `target` on.
    LayoutAttr swizzle(unsigned dim, unsigned first, unsigned count, unsigned target);

    /// The bases of dimension `dim`.
    ::llvm::ArrayRef<int64_t> basesOf(unsigned dim) const;

    int64_t apply(::llvm::ArrayRef<int64_t> coordinates) const;

    /// The coordinates of the element at `address`.
    ::llvm::SmallVector<int64_t> invert(int64_t address) const;

    /// Whether elements `0 … count` of an aligned run along the last dimension lie one after the other, aligned too.
    bool keepsRuns(int64_t count) const;
  }];
}

//===- Types ---------------------------------------------------------------------------------------------------------

class Tile_Type<string name, string mnemonicName> : TypeDef<Tile_Dialect, name> { let mnemonic = mnemonicName; }

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "A tensor's elements in global memory, row-major; or elements in memory that a block's threads share";
  let description = [{
    Elements are stored as ONNX stores them; a boolean (`i1`) takes a byte; 4- and 2-bit types are packed, the first element
    in the low bits.

    Example: `!tile.buffer<f32>`, `!tile.buffer<f16, shared>`
  }];
  let parameters = (ins "::mlir::Type":$element, DefaultValuedParameter<"bool", "false">:$shared);
  let builders = [TypeBuilder<(ins "::mlir::Type":$element), [{ return $_get($_ctxt, element, false); }]>];
  let hasCustomAssemblyFormat = 1;
}

//===- Ops -----------------------------------------------------------------------------------------------------------

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [Symbol, IsolatedFromAbove]> {
  let summary = "Define one kernel";
  let description = [{
    Born by outlining with an nn body: its arguments are the group's inputs, tensors and then `index` values, and it
    ends in `nn.yield` of the results. `input_sizes` says where the sizes of its tensor arguments are: for each dynamic dimension of each
    tensor argument, in order, the number of the body argument that holds it.

    `nn-to-tile` turns the body into threads' work: tensor arguments become `!tile.buffer`s, one buffer per result is
    appended, and the body ends in `tile.return`. It sets `block` (threads per block, three numbers) and fills `grid`,
    a region for the host with one `index` argument per `index` argument of the body (in order) that ends in
    `tile.grid` with the number of blocks.

    On the device the kernel's parameters are, in order of the body's arguments: a pointer per buffer, an i64 per index.

    Constraints:
    - (C1) without a grid: one `input_sizes` entry per dynamic dimension of a tensor argument, each the number of an
      `index` argument.
    - (C2) `block` is three positive numbers.
    - (C3) with a grid: it takes one `index` per `index` argument of the body and ends in `tile.grid`.

    Example:
    ```mlir
    tile.kernel @copy nodes = ["n"] block = [256, 1, 1] body {
    ^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>):
      %i = gpu.global_id x
      %v = tile.load %x[%i] : !tile.buffer<f32>
      tile.store %v, %y[%i] : !tile.buffer<f32>
      tile.return
    } grid {
    ^bb0(%n: index):
      %c1 = arith.constant 1 : index
      %b = arith.ceildivui %n, %c1 : index
      tile.grid %b, %c1, %c1
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DefaultValuedAttr<StrArrayAttr, "{}">:$nodes,
                   OptionalAttr<Tile_ScheduleAttr>:$schedule, OptionalAttr<DenseI64ArrayAttr>:$block,
                   OptionalAttr<DenseI64ArrayAttr>:$input_sizes);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$grid);
  let assemblyFormat = [{
    $sym_name `nodes` `=` $nodes (`schedule` `=` $schedule^)? (`block` `=` $block^)? (`input_sizes` `=` $input_sizes^)?
    attr-dict-with-keyword `body` $body (`grid` $grid^)?
  }];
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, Pure]> {
  let summary = "End a kernel";
  let description = [{
    Example:
    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_GridOp : Tile_Op<"grid", [Terminator, Pure]> {
  let summary = "Say how many blocks a launch has";
  let description = [{
    Blocks along x, y and z; where one is zero there is no launch.

    Example:
    ```mlir
    tile.grid %x, %y, %z
    ```
  }];
  let arguments = (ins Index:$x, Index:$y, Index:$z);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict";
}

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Take shared memory for a block";
  let description = [{
    `count` elements that all threads of the block see, with any content. Each op has memory of its own, for as long as
    the block runs; it stands outside of loops. It starts on a boundary of 128 bytes.

    Example:
    ```mlir
    %tile = tile.alloc 1024 : !tile.buffer<f32, shared>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$count);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = "$count attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>, TypesMatchWith<"the buffer's element type", "buffer", "result",
                                   "::llvm::cast<::joule::tile::BufferType>($_self).getElement()">]> {
  let summary = "Load an element of a buffer";
  let description = [{
    The element at row-major position `index`.

    Example:
    ```mlir
    %v = tile.load %x[%i] : !tile.buffer<f32>
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Index:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer)";
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>, TypesMatchWith<"the buffer's element type", "buffer", "value",
                                     "::llvm::cast<::joule::tile::BufferType>($_self).getElement()">]> {
  let summary = "Store an element of a buffer";
  let description = [{
    Sets the element at row-major position `index`. Elements narrower than a byte are stored by one thread per byte.

    Example:
    ```mlir
    tile.store %v, %x[%i] : !tile.buffer<f32>
    ```
  }];
  let arguments = (ins AnyType:$value, Tile_BufferType:$buffer, Index:$index);
  let assemblyFormat = "$value `,` $buffer `[` $index `]` attr-dict `:` type($buffer)";
}

def Tile_LoadTileOp : Tile_Op<"load_tile", [MemoryEffects<[MemRead]>]> {
  let summary = "Load a run of elements of a tile in shared memory";
  let description = [{
    The elements that `layout` places at `indices` and, for further results, those that follow along the last dimension.
    Several elements are one access, which starts at a multiple of their number.

    Constraints:
    - (C1) one index per dimension of the layout; the buffer is shared, of elements of at least a byte; results have
      its element type.
    - (C2) several: their number is a power of two, and the layout keeps such runs together.

    Example:
    ```mlir
    %v:2 = tile.load_tile %s[%k, %m] layout = <bits = [2, 3], bases = [12, 16, 1, 2, 4]>
        : !tile.buffer<f32, shared> -> f32, f32
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Variadic<Index>:$indices, Tile_LayoutAttr:$layout);
  let results = (outs Variadic<AnyType>:$elements);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `layout` `=` $layout attr-dict `:` type($buffer) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def Tile_StoreTileOp : Tile_Op<"store_tile", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "Store a run of elements of a tile in shared memory";
  let description = [{
    As `tile.load_tile`, the other way.

    Constraints:
    - (C1) as C1 of `tile.load_tile`, of values.
    - (C2) as C2 of `tile.load_tile`.

    Example:
    ```mlir
    tile.store_tile %a, %b to %s[%k, %m] layout = <bits = [2, 3], bases = [12, 16, 1, 2, 4]>
        : !tile.buffer<f32, shared>, f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, Tile_BufferType:$buffer, Variadic<Index>:$indices,
                   Tile_LayoutAttr:$layout);
  let assemblyFormat = [{
    $values `to` $buffer `[` $indices `]` `layout` `=` $layout attr-dict `:` type($buffer) `,` type($values)
  }];
  let hasVerifier = 1;
}

#endif
