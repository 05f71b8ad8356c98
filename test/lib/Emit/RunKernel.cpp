#include "test/lib/Emit/RunKernel.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lib/Emit/EmitPtx.h"
#include "lib/Reference/Interpreter/Interpreter.h"
#include "passes/NnToTile/Passes.h"
#include "passes/Tile/Passes.h"
#include "test/lib/Emit/RunPtx.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace joule::test {
namespace {

/// A context that remembers its first error.
struct Session {
  MLIRContext context;
  std::string error;
  ScopedDiagnosticHandler handler;

  Session()
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (error.empty())
            error = "error: " + diagnostic.str();
        }) {
    context.loadDialect<nn::NnDialect, tile::TileDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
    prepareForEmission(context);
  }

  OwningOpRef<ModuleOp> parse(const std::string &function) {
    return parseSourceString<ModuleOp>("func.func @main" + function, &context);
  }
};

ElementType elementTypeOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return ElementType::Bool;
    case 8:
      return ElementType::Int8;
    case 16:
      return ElementType::Int16;
    case 32:
      return ElementType::Int32;
    case 64:
      return ElementType::Int64;
    case 4:
      return ElementType::Int4;
    case 2:
      return ElementType::Int2;
    }
  }
  return llvm::TypeSwitch<Type, ElementType>(type)
      .Case([](Float16Type) { return ElementType::Float16; })
      .Case([](BFloat16Type) { return ElementType::BFloat16; })
      .Case([](Float32Type) { return ElementType::Float32; })
      .Case([](Float64Type) { return ElementType::Float64; })
      .Case([](Float8E4M3FNType) { return ElementType::Float8E4M3FN; })
      .Case([](Float8E5M2Type) { return ElementType::Float8E5M2; })
      .Case([](Float8E4M3FNUZType) { return ElementType::Float8E4M3FNUZ; })
      .Case([](Float8E5M2FNUZType) { return ElementType::Float8E5M2FNUZ; })
      .Case([](nn::F4E2M1Type) { return ElementType::Float4E2M1; })
      .Case([](nn::F8E8M0Type) { return ElementType::Float8E8M0; })
      .Default([](Type) { return ElementType::Undefined; });
}

/// `main` as a kernel: its symbols become index arguments.
class KernelOfFunction {
public:
  KernelOfFunction(func::FuncOp function, const std::vector<Buffer> &inputs)
      : function(function), inputs(inputs) {}

  /// The values of the kernel's index arguments.
  std::vector<int64_t> sizes;

  tile::KernelOp make(const std::string &schedule) {
    OpBuilder builder(function);
    Location loc = function.getLoc();
    auto kernel =
        builder.create<tile::KernelOp>(loc, "kernel", builder.getStrArrayAttr({}), tile::ScheduleAttr(),
                                       DenseI64ArrayAttr(), DenseI64ArrayAttr());
    if (!schedule.empty())
      kernel.setScheduleAttr(cast<tile::ScheduleAttr>(parseAttribute(schedule, builder.getContext())));
    unsigned numTensors = function.getNumArguments();
    SmallVector<Attribute> dims = llvm::map_to_vector(
        llvm::seq(numTensors), [&](unsigned i) -> Attribute { return function.getArgAttr(i, "nn.dims"); });
    kernel.getBody().takeBody(function.getBody());
    Block &body = kernel.getBody().front();
    llvm::StringMap<unsigned> numbers;
    for (auto symbol : llvm::make_early_inc_range(body.getOps<nn::SymbolOp>())) {
      numbers[symbol.getName()] = body.getNumArguments();
      symbol.replaceAllUsesWith(Value(body.addArgument(builder.getIndexType(), loc)));
      sizes.push_back(0);
      symbol.erase();
    }
    SmallVector<int64_t> inputSizes;
    for (unsigned tensor = 0; tensor < numTensors; ++tensor) {
      auto type = cast<RankedTensorType>(body.getArgument(tensor).getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        if (!type.isDynamicDim(dim))
          continue;
        unsigned number = numbers.lookup(cast<StringAttr>(cast<ArrayAttr>(dims[tensor])[dim]).getValue());
        inputSizes.push_back(number);
        sizes[number - numTensors] = inputs[tensor].shape[dim];
      }
    }
    if (!inputSizes.empty())
      kernel.setInputSizesAttr(builder.getDenseI64ArrayAttr(inputSizes));
    Operation *end = body.getTerminator();
    builder.setInsertionPoint(end);
    builder.create<nn::YieldOp>(loc, end->getOperands());
    end->erase();
    function.erase();
    return kernel;
  }

private:
  func::FuncOp function;
  const std::vector<Buffer> &inputs;
};

/// What the host computes, by folding: the values of a block whose arguments are `values`.
class HostValues {
public:
  HostValues(Block &block, ArrayRef<int64_t> values) {
    Builder builder(block.getParentOp()->getContext());
    for (auto [argument, value] : llvm::zip(block.getArguments(), values))
      known[argument] = builder.getIndexAttr(value);
    for (Operation &op : block.without_terminator())
      fold(&op);
  }

  int64_t of(Value value) { return cast<IntegerAttr>(known.lookup(value)).getInt(); }

private:
  llvm::DenseMap<Value, Attribute> known;

  void fold(Operation *op) {
    SmallVector<Attribute> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return known.lookup(operand); });
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.empty())
      return;
    auto attribute = dyn_cast<Attribute>(results.front());
    known[op->getResult(0)] = attribute ? attribute : known.lookup(cast<Value>(results.front()));
  }
};

/// The sizes of every result, found on the host like the grid.
std::vector<reference::Shape> resultShapes(tile::KernelOp kernel, ArrayRef<int64_t> sizes) {
  Block &body = kernel.getBody().front();
  SmallVector<int64_t> arguments;
  unsigned next = 0;
  for (Value argument : body.getArguments())
    arguments.push_back(argument.getType().isIndex() ? sizes[next++] : 0);
  HostValues values(body, arguments);
  std::vector<reference::Shape> shapes;
  for (Value result : body.getTerminator()->getOperands()) {
    reference::Shape shape;
    FailureOr<SmallVector<OpFoldResult>> mixed = nn::sizesOf(result);
    for (OpFoldResult size : *mixed)
      shape.push_back(isa<Attribute>(size) ? cast<IntegerAttr>(cast<Attribute>(size)).getInt()
                                           : values.of(cast<Value>(size)));
    shapes.push_back(shape);
  }
  return shapes;
}

std::vector<uint8_t> bytesOf(const Buffer &buffer) {
  return std::vector<uint8_t>(buffer.bytes.data(), buffer.bytes.data() + buffer.bytes.size());
}

/// The launch of a written kernel on `inputs`; results start as bytes that no kernel is expected to leave.
PtxRun launchOf(tile::KernelOp kernel, const KernelCode &code, ArrayRef<int64_t> sizes,
                const std::vector<Buffer> &inputs, const std::vector<Buffer> &results) {
  PtxRun run;
  run.ptx = code.ptx;
  run.kernel = code.shape.name;
  run.block = code.shape.block;
  run.dynamicShared = code.shape.dynamicSharedBytes;
  auto grid = cast<tile::GridOp>(kernel.getGrid().front().getTerminator());
  HostValues values(kernel.getGrid().front(), sizes);
  run.grid = {values.of(grid.getX()), values.of(grid.getY()), values.of(grid.getZ())};
  for (const Buffer &input : inputs)
    run.buffers.push_back(bytesOf(input));
  for (const Buffer &result : results)
    run.buffers.push_back(std::vector<uint8_t>(result.bytes.size(), 0xcd));
  run.sizes.assign(sizes.begin(), sizes.end());
  int nextBuffer = 0, nextSize = 0;
  for (Value argument : kernel.getBody().getArguments())
    run.parameters.push_back(argument.getType().isIndex() ? ~nextSize++ : nextBuffer++);
  return run;
}

} // namespace

KernelRun runKernel(const std::string &text, const std::vector<Buffer> &inputs, const std::string &schedule,
                    bool count) {
  Session session;
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module)
    return {session.error, {}};
  KernelOfFunction maker(module->lookupSymbol<func::FuncOp>("main"), inputs);
  tile::KernelOp kernel = maker.make(schedule);
  std::vector<reference::Shape> shapes = resultShapes(kernel, maker.sizes);
  KernelRun result;
  for (auto [type, shape] : llvm::zip(kernel.getBody().front().getTerminator()->getOperandTypes(), shapes))
    result.results.emplace_back(elementTypeOf(getElementTypeOrSelf(type)), shape);

  PassManager passes(&session.context);
  passes.addPass(createChooseDefaultSchedule());
  passes.addPass(createNnToTile());
  if (failed(passes.run(*module)))
    return {session.error, {}};
  FailureOr<KernelCode> code = emitPtx(kernel, "sm_80");
  if (failed(code))
    return {session.error, {}};
  PtxRun run = launchOf(kernel, *code, maker.sizes, inputs, result.results);
  run.count = count;
  result.error = test::run(run);
  result.counts = run.counts;
  result.sampled = run.sampled;
  llvm::raw_string_ostream(result.schedule) << kernel.getScheduleAttr();
  for (auto [number, buffer] : llvm::enumerate(result.results))
    llvm::copy(run.buffers[inputs.size() + number], buffer.bytes.mutableData());
  return result;
}

KernelRun runReference(const std::string &text, const std::vector<Buffer> &inputs) {
  Session session;
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module)
    return {session.error, {}};
  reference::WeightStore weights;
  auto results = reference::interpret(module->lookupSymbol<func::FuncOp>("main"), inputs, weights);
  if (failed(results))
    return {session.error, {}};
  return {"", std::vector<Buffer>(results->begin(), results->end())};
}

namespace {

Buffer randomBuffer(ElementType type, const reference::Shape &shape, std::mt19937 &random) {
  std::vector<double> floats;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < reference::countOf(shape); ++i) {
    int64_t number = random() % 64;
    floats.push_back((number - 32) / 8.0);
    integers.push_back(type == ElementType::Bool ? number % 2 : number % 8 - 4);
  }
  return reference::isFloat(type) ? reference::makeFloats(type, shape, floats)
                                  : reference::makeIntegers(type, shape, integers);
}

} // namespace

std::vector<Buffer> makeInputs(const std::string &text,
                               const std::vector<std::pair<std::string, int64_t>> &symbols) {
  Session session;
  OwningOpRef<ModuleOp> module = session.parse(text);
  if (!module)
    return {};
  auto function = module->lookupSymbol<func::FuncOp>("main");
  std::mt19937 random(5);
  std::vector<Buffer> inputs;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, "nn.dims");
    reference::Shape shape = tensor.getShape().vec();
    for (auto [dim, size] : llvm::enumerate(shape))
      for (auto &[name, value] : symbols)
        if (ShapedType::isDynamic(size) && cast<StringAttr>(dims[dim]).getValue() == name)
          size = value;
    inputs.push_back(randomBuffer(elementTypeOf(tensor.getElementType()), shape, random));
  }
  return inputs;
}

namespace {

bool agree(double a, double b, double relative, double absolute) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  double difference = std::fabs(a - b);
  return a == b || difference <= absolute || difference <= relative * std::max(std::fabs(a), std::fabs(b));
}

std::string firstDifference(const Buffer &got, const Buffer &wanted, double relative, double absolute) {
  if (got.shape != wanted.shape)
    return "the results have different shapes";
  for (int64_t at = 0; at < wanted.count(); ++at) {
    bool isFloat = reference::isFloat(wanted.type);
    double a = isFloat ? got.number(at) : static_cast<double>(got.integer(at));
    double b = isFloat ? wanted.number(at) : static_cast<double>(wanted.integer(at));
    if (isFloat ? !agree(a, b, relative, absolute) : got.integer(at) != wanted.integer(at))
      return llvm::formatv("element {0} is {1} on the GPU, {2} by the reference", at, a, b).str();
  }
  return "";
}

} // namespace

std::string compare(const std::string &function, const std::vector<Buffer> &inputs, double relative,
                    double absolute, const std::string &schedule) {
  KernelRun wanted = runReference(function, inputs), got = runKernel(function, inputs, schedule);
  if (!wanted.error.empty() || !got.error.empty())
    return "reference: " + wanted.error + " GPU: " + got.error;
  if (got.results.size() != wanted.results.size())
    return "GPU: compilation fails without a message";
  for (size_t number = 0; number < wanted.results.size(); ++number) {
    std::string difference = firstDifference(got.results[number], wanted.results[number], relative, absolute);
    if (!difference.empty())
      return llvm::formatv("result {0}: {1}", number, difference).str();
  }
  return "";
}

} // namespace joule::test
