// Reads a model's file and hands its graph to the graph importer.
#include "lib/Import/Import.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "lib/Import/GraphImporter.h"
#include "lib/Import/WireWalk.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <google/protobuf/io/coded_stream.h>

using namespace mlir;

namespace {

constexpr int64_t newestIrVersion = 13, newestOpset = 27;
// A subgraph is three messages deep: attribute, graph, node. Types nest too.
constexpr int maxMessageDepth = 3 * joule::maxSubgraphDepth + 64;

LogicalResult parseModel(StringRef bytes, ::onnx::ModelProto &model, Location loc) {
  std::string small;
  std::string damage = joule::copyWithoutRawData(bytes, small);
  if (!damage.empty())
    return emitError(loc) << damage;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(small.data()), int(small.size()));
  stream.SetRecursionLimit(maxMessageDepth);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return emitError(loc) << "the file is no ONNX model, or it is damaged";
  return success();
}

LogicalResult checkModel(const ::onnx::ModelProto &model, Location loc) {
  if (!model.has_graph())
    return emitError(loc) << "the file is no ONNX model: it has no graph";
  if (model.ir_version() > newestIrVersion)
    return emitError(loc) << "the model has IR version " << model.ir_version() << ", newer than " << newestIrVersion;
  for (const ::onnx::OperatorSetIdProto &opset : model.opset_import())
    if ((opset.domain().empty() || opset.domain() == "ai.onnx") && opset.version() > newestOpset)
      return emitError(loc) << "the model asks for operator set " << opset.version() << ", newer than " << newestOpset;
  return success();
}

/// Adds outputs, without a type: the translation finds that.
void addOutputs(::onnx::GraphProto &graph, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (llvm::none_of(graph.output(), [&](const auto &output) { return output.name() == name; }))
      graph.add_output()->set_name(name);
}

} // namespace

OwningOpRef<ModuleOp> joule::importOnnx(MLIRContext &context, StringRef bytes, StringRef name, StringRef folder,
                                        ArrayRef<std::string> alsoOutputs) {
  context.loadDialect<func::FuncDialect, onnx::OnnxDialect, nn::NnDialect>();
  Location loc = FileLineColLoc::get(&context, name, 0, 0);
  ::onnx::ModelProto model;
  if (failed(parseModel(bytes, model, loc)) || failed(checkModel(model, loc)))
    return {};
  addOutputs(*model.mutable_graph(), alsoOutputs);
  return importModel(model, {bytes, name, folder}, loc);
}

OwningOpRef<ModuleOp> joule::importOnnx(MLIRContext &context, StringRef path, ArrayRef<std::string> alsoOutputs) {
  Location loc = FileLineColLoc::get(&context, path, 0, 0);
  if (llvm::sys::fs::is_directory(path))
    return emitError(loc) << "this is a folder, not a model", nullptr;
  // A device may have no end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return emitError(loc) << "this is no regular file", nullptr;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return emitError(loc) << "the file cannot be opened: " << file.getError().message(), nullptr;
  return importOnnx(context, (*file)->getBuffer(), path, llvm::sys::path::parent_path(path), alsoOutputs);
}
