// The compiler behind the public API: a model file goes in, an artifact comes out.
#include "joule/Compiler.h"
#include "joule/Version.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Compiler/Diagnostics.h"
#include "lib/Compiler/OnnxTypes.h"
#include "lib/Compiler/ReadProgram.h"
#include "lib/Compiler/Targets.h"
#include "lib/Compiler/WritePlan.h"
#include "lib/Emit/Assemble.h"
#include "lib/Emit/EmitPtx.h"
#include "lib/File/AtomicFile.h"
#include "lib/File/PendingPath.h"
#include "passes/OnnxToNn/OnnxToNn.h"
#include "passes/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <sys/stat.h>

using namespace mlir;
using namespace joule;

namespace {

/// A kernel as it goes into the artifact.
struct FinishedKernel {
  KernelCode code;
  std::optional<AssembledKernel> machine;
};

/// The levels that a module is dumped at, in their order.
enum class Level { Onnx, Nn, Kernels, Plan };
constexpr StringLiteral levelNames[] = {"onnx", "nn", "kernels", "plan"};

std::optional<Level> levelOf(StringRef name) {
  for (auto [number, known] : llvm::enumerate(levelNames))
    if (name == known)
      return static_cast<Level>(number);
  return std::nullopt;
}

// What a dumped module says of itself.
constexpr StringLiteral levelAttribute = "joule.level", targetAttribute = "joule.target";

double processorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Compilation {
public:
  Compilation(const std::string &model, const CompileOptions &options)
      : model(model), options(options), diagnostics(context) {
    context.loadDialect<onnx::OnnxDialect, nn::NnDialect, tile::TileDialect, plan::PlanDialect, arith::ArithDialect,
                        math::MathDialect, scf::SCFDialect, func::FuncDialect, tensor::TensorDialect>();
    prepareForEmission(context);
  }

  Result<CompileSummary> run(const std::string &artifact) {
    double start = processorSeconds();
    if (!options.stopAfter.empty() && !levelOf(options.stopAfter))
      return Error{ErrorCode::LevelUnknown, "no level is called \"" + options.stopAfter + "\"; there are " + allLevels(), ""};
    if (Result<void> loaded = begin(); !loaded)
      return loaded.error();
    if (Result<void> lowered = lowerShared(); !lowered)
      return lowered.error();
    if (Result<void> written = options.stopAfter.empty() ? writeArtifact(artifact) : writeModule(artifact); !written)
      return written.error();
    summary.cpuSeconds = processorSeconds() - start;
    return summary;
  }

  Result<std::vector<UnsupportedNode>> check() {
    if (Result<void> loaded = load(); !loaded)
      return loaded.error();
    std::vector<UnsupportedNode> nodes;
    for (onnx::NodeOp node : collectUnsupported(*module)) {
      SmallVector<StringAttr> names = nn::nodeNames(node.getLoc());
      std::string domain = node.getDomain().empty() ? "" : " of domain " + node.getDomain().str();
      nodes.push_back({names.empty() ? node.getOpType().str() : names.front().str(),
                       "operator " + node.getOpType().str() + domain + " (version " +
                           std::to_string(node.getSinceVersion()) + ") is not supported"});
    }
    if (startsAtNn)
      return nodes;
    // What a node's own translation finds: attributes, types and sizes.
    PassManager pm(&context);
    buildToNn(pm);
    if (succeeded(pm.run(*module)))
      return nodes;
    for (const Error &error : diagnostics.errors())
      if (llvm::none_of(nodes, [&](const UnsupportedNode &known) { return known.node == error.node; }))
        nodes.push_back({error.node, error.message});
    return nodes;
  }

private:
  Result<void> load() {
    Program program = readProgram(context, model, options.alsoOutputs);
    module = std::move(program.module);
    startsAtNn = program.isNn;
    if (!module)
      return diagnostics.error(ErrorCode::ImportFailed);
    module->walk([&](onnx::NodeOp) { ++summary.nodes; });
    return startsAtNn ? Result<void>() : dump(*module, "1-onnx", Level::Onnx);
  }

  /// Takes up a model, a module that was dumped, or one that a person has written at the nn level, which says no level.
  Result<void> begin() {
    if (!StringRef(model).ends_with(".mlir"))
      return load();
    module = parseSourceFile<ModuleOp>(model, &context);
    if (!module)
      return diagnostics.error(ErrorCode::ImportFailed);
    auto name = (*module)->getAttrOfType<StringAttr>(levelAttribute);
    return name ? resume(name) : load();
  }

  /// Goes on from the module, which was dumped, and the constants beside it.
  Result<void> resume(StringRef name) {
    std::optional<Level> found = levelOf(name);
    if (!found)
      return Error{ErrorCode::ImportFailed,
                   "\"" + model + "\": " + levelAttribute.str() + " is \"" + name.str() + "\" and not one of " + allLevels(), ""};
    level = *found;
    if (auto target = (*module)->getAttrOfType<StringAttr>(targetAttribute))
      planTarget = target.str();
    if (level == Level::Plan && planTarget.empty())
      return Error{ErrorCode::ImportFailed, "\"" + model + "\": a plan must say its target, as " + targetAttribute.str(), ""};
    (*module)->removeAttr(levelAttribute);
    (*module)->removeAttr(targetAttribute);
    for (unsigned number = 0;; ++number) {
      auto file = llvm::MemoryBuffer::getFile(blobPath(llvm::sys::path::parent_path(model), number), /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
      if (!file)
        return {};
      std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*file);
      weights.add(reference::Bytes(owner, owner->getBufferStart(), owner->getBufferSize()));
    }
  }

  static std::string allLevels() { return llvm::join(ArrayRef(levelNames), ", "); }

  /// As far as the targets have their way in common, or as the caller wants.
  Result<void> lowerShared() {
    Level last = options.stopAfter.empty() ? Level::Plan : *levelOf(options.stopAfter);
    if (last < level)
      return Error{ErrorCode::LevelUnknown,
                   "the module is at level " + std::string(levelNames[int(level)]) + ", behind " + options.stopAfter, ""};
    auto toNn = [&](OpPassManager &pm) {
      if (!startsAtNn)
        buildToNn(pm);
      buildImproveNn(pm, weights);
    };
    if (level < Level::Nn && last >= Level::Nn)
      if (Result<void> lowered = lower(toNn, Level::Nn, "2-nn"); !lowered)
        return lowered;
    report(0.1);
    if (level < Level::Kernels && last >= Level::Kernels)
      if (Result<void> lowered = lower(buildToKernels, Level::Kernels, "3-kernels"); !lowered)
        return lowered;
    report(0.2);
    return {};
  }

  Result<void> lower(llvm::function_ref<void(OpPassManager &)> build, Level to, const Twine &file) {
    PassManager pm(&context);
    build(pm);
    if (failed(pm.run(*module)))
      return diagnostics.error(ErrorCode::CompileFailed);
    level = to;
    return dump(*module, file, level, planTarget);
  }

  void report(double done) {
    if (options.progress)
      options.progress(done);
  }

  Result<void> writeArtifact(const std::string &artifact) {
    Result<ArtifactWriter> writer = ArtifactWriter::begin(artifact);
    if (!writer)
      return writer.error();
    writer->setModelName(llvm::sys::path::filename(model).str());
    if (level == Level::Plan)
      return finishArtifact(*writer, {planTarget});
    return finishArtifact(*writer, distinctTargets());
  }

  /// Without the targets whose architecture an earlier one has: all of them run its code.
  std::vector<std::string> distinctTargets() const {
    std::vector<std::string> distinct;
    llvm::StringSet<> architectures;
    for (const std::string &name : options.targets)
      if (architectures.insert(architectureOf(name).value_or(name)).second)
        distinct.push_back(name);
    return distinct;
  }

  Result<void> finishArtifact(ArtifactWriter &writer, const std::vector<std::string> &targets) {
    for (auto [number, name] : llvm::enumerate(targets)) {
      firstOfTarget = 0.2 + 0.8 * double(number) / double(targets.size());
      shareOfTarget = 0.8 / double(targets.size());
      if (Result<void> written = writeTarget(name, writer); !written)
        return written;
    }
    if (Result<void> added = writer.addEntry("provenance.json", provenance()); !added)
      return added;
    return writer.finish();
  }

  /// Writes the module at its level, and what folding made beside it.
  Result<void> writeModule(const std::string &file) {
    if (options.stopAfter == levelNames[int(Level::Plan)] && level < Level::Plan) {
      Result<std::string> architecture = needTarget(options.targets.front());
      if (!architecture)
        return architecture.error();
      planTarget = *architecture;
      if (Result<void> lowered = lower(buildToPlan, Level::Plan, "4-plan-" + planTarget); !lowered)
        return lowered;
    }
    if (Result<void> written = writeWholeFile(file, textOf(*module, level, planTarget)); !written)
      return written;
    return writeBlobs(llvm::sys::path::parent_path(file));
  }

  static std::string blobPath(StringRef folder, unsigned number) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, "weight-" + std::to_string(number) + ".bin");
    return path.str().str();
  }

  /// Writes what folding made, from the blob of this number on.
  Result<void> writeBlobs(StringRef folder, unsigned first = 0) {
    std::vector<reference::Bytes> blobs = weights.added();
    for (unsigned number = first; number < blobs.size(); ++number) {
      StringRef bytes(reinterpret_cast<const char *>(blobs[number].data()), blobs[number].size());
      if (Result<void> written = writeWholeFile(blobPath(folder, number), bytes); !written)
        return written;
    }
    return {};
  }

  /// The module with what resume() must know of it.
  std::string textOf(ModuleOp module, Level level, StringRef target) {
    Builder builder(&context);
    module->setAttr(levelAttribute, builder.getStringAttr(levelNames[int(level)]));
    if (level == Level::Plan)
      module->setAttr(targetAttribute, builder.getStringAttr(target));
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, OpPrintingFlags().enableDebugInfo());
    module->removeAttr(levelAttribute);
    module->removeAttr(targetAttribute);
    return text + "\n";
  }

  Result<std::string> needTarget(const std::string &name) {
    if (std::optional<std::string> architecture = architectureOf(name))
      return *architecture;
    return Error{ErrorCode::TargetUnknown, "no target is called \"" + name + "\"; known are " + knownTargets(), ""};
  }

  /// Writes `text` into the dump folder, if there is one.
  Result<void> dumpText(StringRef text, const Twine &name) {
    if (options.dumpFolder.empty())
      return {};
    SmallString<128> path(options.dumpFolder);
    std::error_code failure = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, name);
    if (failure)
      return Error{ErrorCode::FileUnwritable,
                   "cannot make the folder \"" + options.dumpFolder + "\": " + failure.message(), ""};
    return writeWholeFile(path.str().str(), text);
  }

  Result<void> dump(ModuleOp module, const Twine &file, Level level, StringRef target = "") {
    if (options.dumpFolder.empty())
      return {};
    if (Result<void> dumped = dumpText(textOf(module, level, target), file + ".mlir"); !dumped)
      return dumped;
    // What earlier dumps of this compilation have written stands there.
    unsigned first = std::exchange(dumpedBlobs, weights.added().size());
    return writeBlobs(options.dumpFolder, first);
  }

  Result<void> writeTarget(const std::string &name, ArtifactWriter &writer) {
    Result<std::string> architecture = needTarget(name);
    if (!architecture)
      return architecture.error();
    if (level == Level::Plan)
      return writeParts(*module, *architecture, writer);
    OwningOpRef<ModuleOp> target = module->clone();
    PassManager pm(&context);
    buildToPlan(pm);
    if (failed(pm.run(*target)))
      return diagnostics.error(ErrorCode::CompileFailed);
    if (Result<void> dumped = dump(*target, "4-plan-" + *architecture, Level::Plan, *architecture); !dumped)
      return dumped;
    return writeParts(*target, *architecture, writer);
  }

  Result<void> writeParts(ModuleOp target, const std::string &architecture, ArtifactWriter &writer) {
    std::optional<Error> failure;
    auto store = [&](Attribute value, ShapedType type) -> FailureOr<std::string> {
      Result<std::string> entry = storeWeight(value, type, writer);
      if (entry)
        return *entry;
      failure = entry.error();
      return mlir::failure();
    };
    SmallVector<std::string> names;
    FailureOr<plan::Plan> plan = writePlan(target.lookupSymbol<func::FuncOp>("main"), store, names);
    if (failure)
      return *failure;
    if (failed(plan))
      return diagnostics.error(ErrorCode::CompileFailed);
    if (Result<void> written = writeKernels(target, architecture, names, *plan, writer); !written)
      return written;
    plan->set_target(architecture);
    return writer.addEntry(planEntry(architecture), serialize(*plan));
  }

  /// What the artifact was made from, and how; the same input gives the same text.
  std::string provenance() {
    llvm::json::Array targets;
    for (const std::string &name : options.targets)
      targets.push_back(name);
    return llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{
                                        {"compiler", "joule " JOULE_VERSION},
                                        {"model", llvm::json::fixUTF8(llvm::sys::path::filename(model))},
                                        {"nodes", int64_t(summary.nodes)},
                                        {"targets", std::move(targets)}}));
  }

  /// The same plan gives the same bytes.
  static std::string serialize(const plan::Plan &plan) {
    std::string bytes;
    ::google::protobuf::io::StringOutputStream sink(&bytes);
    ::google::protobuf::io::CodedOutputStream stream(&sink);
    stream.SetSerializationDeterministic(true);
    plan.SerializeToCodedStream(&stream);
    stream.Trim();
    return bytes;
  }

  Result<std::string> storeWeight(Attribute value, ShapedType type, ArtifactWriter &writer) {
    if (auto weight = dyn_cast<nn::WeightAttr>(value)) {
      if (!weight.getBlob().starts_with("@"))
        return writer.addWeightFromFile(weight.getBlob().str(), weight.getOffset(), weight.getLength());
      reference::Result<reference::Bytes> bytes =
          weights.find(weight.getBlob(), weight.getOffset(), weight.getLength());
      if (!bytes)
        return Error{ErrorCode::CompileFailed, "internal: " + bytes.error(), ""};
      return writer.addWeight({reinterpret_cast<const char *>(bytes->data()), bytes->size()});
    }
    if (auto elements = dyn_cast<DenseElementsAttr>(value))
      return writer.addWeight(storedBytes(elements));
    return Error{ErrorCode::CompileFailed, "internal: a constant holds neither elements nor a weight", ""};
  }

  Result<void> writeKernels(ModuleOp target, const std::string &architecture, ArrayRef<std::string> names,
                            plan::Plan &plan, ArtifactWriter &writer) {
    std::vector<FinishedKernel> finished(names.size());
    if (Result<void> done = finishAll(target, architecture, names, finished); !done)
      return done;
    std::string folder = "targets/" + architecture + "/";
    llvm::json::Array report;
    for (auto [name, kernel] : llvm::zip(names, finished)) {
      auto op = target.lookupSymbol<tile::KernelOp>(name);
      plan::Kernel *row = plan.add_kernels();
      row->set_name(name);
      row->set_ptx(folder + "kernels/" + name + ".ptx");
      if (Result<void> added = writer.addEntry(row->ptx(), kernel.code.ptx); !added)
        return added;
      if (kernel.machine) {
        row->set_cubin(folder + "cubin/" + name + ".cubin");
        if (Result<void> added = writer.addEntry(row->cubin(), kernel.machine->cubin); !added)
          return added;
      }
      if (Result<void> dumped = dumpText(kernel.code.ptx, architecture + "-" + name + ".ptx"); !dumped)
        return dumped;
      report.push_back(describe(op, kernel));
    }
    summarize(target, architecture, finished);
    std::string text = llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object{{"target", architecture},
                                                                                     {"kernels", std::move(report)}}));
    return writer.addEntry(folder + "report.json", text);
  }

  /// What is known of a kernel before it has run.
  static llvm::json::Object describe(tile::KernelOp op, const FinishedKernel &kernel) {
    llvm::json::Array nodes;
    for (StringRef node : op.getNodes().getAsValueRange<StringAttr>())
      nodes.push_back(llvm::json::fixUTF8(node));
    std::string schedule;
    llvm::raw_string_ostream(schedule) << op.getScheduleAttr();
    llvm::json::Object row{{"name", op.getSymName()},
                           {"nodes", std::move(nodes)},
                           {"schedule", schedule},
                           {"ptx_lines", llvm::count(kernel.code.ptx, '\n')}};
    if (kernel.machine) {
      row["registers"] = kernel.machine->registers;
      row["spill_store_bytes"] = kernel.machine->spillStoreBytes;
      row["spill_load_bytes"] = kernel.machine->spillLoadBytes;
      row["stack_bytes"] = kernel.machine->stackBytes;
      row["shared_bytes"] = kernel.machine->sharedBytes;
    }
    return row;
  }

  void summarize(ModuleOp target, const std::string &architecture, ArrayRef<FinishedKernel> finished) {
    if (level != Level::Plan && architecture != *architectureOf(options.targets.front()))
      return;
    summary.kernels = finished.size();
    for (const FinishedKernel &kernel : finished)
      summary.ptxLines += llvm::count(kernel.code.ptx, '\n');
    summary.assembled = !finished.empty() && finished.front().machine.has_value();
    target.walk([&](plan::LaunchOp) { ++summary.launches; });
  }

  /// Passes and translation share the MLIR context and run here; the optimiser and the back end need only LLVM and run
  /// on a pool.
  Result<void> finishAll(ModuleOp target, const std::string &architecture, ArrayRef<std::string> names,
                         std::vector<FinishedKernel> &finished) {
    std::optional<std::string> ptxas = options.assemble ? findPtxas() : std::nullopt;
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
    std::mutex guard;
    std::optional<Error> failure;
    size_t done = 0;
    for (auto [position, name] : llvm::enumerate(names)) {
      FailureOr<TranslatedKernel> translated = translateKernel(target.lookupSymbol<tile::KernelOp>(name));
      if (failed(translated)) {
        pool.wait();
        return diagnostics.error(ErrorCode::CompileFailed);
      }
      auto shared = std::make_shared<TranslatedKernel>(std::move(*translated));
      pool.async([&, position = position, shared] {
        llvm::Expected<FinishedKernel> kernel = finish(std::move(*shared), architecture, ptxas);
        std::lock_guard<std::mutex> lock(guard);
        if (kernel)
          finished[position] = std::move(*kernel);
        else
          failure = errorOf(kernel.takeError());
        report(firstOfTarget + shareOfTarget * double(++done) / double(names.size()));
      });
    }
    pool.wait();
    if (failure)
      return *failure;
    return {};
  }

  /// A kernel fails because the system has no room for it, which its error's code says, or through a fault of Joule's.
  static Error errorOf(llvm::Error error) {
    Error result{ErrorCode::CompileFailed, "", ""};
    llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
      bool isSystem = info.convertToErrorCode() != llvm::inconvertibleErrorCode();
      if (isSystem)
        result.code = ErrorCode::FileUnwritable;
      result.message = (isSystem ? "" : "internal: ") + info.message();
    });
    return result;
  }

  static llvm::Expected<FinishedKernel> finish(TranslatedKernel kernel, const std::string &architecture,
                                               const std::optional<std::string> &ptxas) {
    llvm::Expected<KernelCode> code = generatePtx(std::move(kernel), architecture);
    if (!code)
      return code.takeError();
    FinishedKernel finished{std::move(*code), std::nullopt};
    if (!ptxas)
      return finished;
    llvm::Expected<AssembledKernel> machine = assemble(*ptxas, finished.code.ptx, architecture);
    if (!machine)
      return machine.takeError();
    finished.machine = std::move(*machine);
    return finished;
  }

  MLIRContext context;
  std::string model;
  const CompileOptions &options;
  DiagnosticCollector diagnostics;
  reference::WeightStore weights;
  OwningOpRef<ModuleOp> module;
  bool startsAtNn = false;   // as a person has written it
  Level level = Level::Onnx; // of the module
  unsigned dumpedBlobs = 0;  // in the dump folder
  std::string planTarget;    // of a plan that compilation goes on from
  double firstOfTarget = 0, shareOfTarget = 0; // of all work, of the target in progress
  CompileSummary summary;
};

} // namespace

Result<CompileSummary> joule::compile(const std::string &model, const std::string &artifact,
                                      const CompileOptions &options) {
  if (llvm::sys::fs::equivalent(model, artifact))
    return Error{ErrorCode::FileUnwritable, "\"" + artifact + "\" is what is compiled, and would be lost", ""};
  return Compilation(model, options).run(artifact);
}

Result<Artifact> joule::compileInMemory(const std::string &model, const CompileOptions &options) {
  SmallString<128> temporary;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, temporary);
  llvm::sys::path::append(temporary, "joule-");
  std::string folder = randomName(temporary.str().str());
  PendingPath pendingFolder(folder);
  // A folder that only this user can read; neither it nor the file keeps its name, and the mapping needs none.
  if (mkdir(folder.c_str(), 0700) != 0)
    return Error{ErrorCode::FileUnwritable, "cannot make a folder for temporary files: " + llvm::sys::StrError(), ""};
  std::string path = folder + "/model.joule";
  PendingPath pendingFile(path);
  Result<CompileSummary> done = compile(model, path, options);
  Result<Artifact> artifact = done ? Artifact::open(path) : Result<Artifact>(done.error());
  llvm::sys::fs::remove_directories(folder);
  return artifact;
}

Result<std::vector<UnsupportedNode>> joule::check(const std::string &model) {
  return Compilation(model, {}).check();
}
