// Like the official runner: types and shapes exactly, values within rtol 1e-3 and atol 1e-7.
#include "tools/joule-onnx-tests/RunTest.h"

#include "joule/Compiler.h"
#include "joule/Session.h"
#include "lib/Artifact/ArtifactReader.h"
#include "lib/Compiler/RunReference.h"
#include "lib/TensorFile/Compare.h"
#include "lib/TensorFile/DataSet.h"
#include "tools/joule-onnx-tests/ModelForms.h"
#include "tools/joule-onnx-tests/Origins.h"

#include <fmt/format.h>
#include <functional>

namespace joule::onnxtests {

namespace {

using Tensors = std::map<std::string, Tensor>;

/// Runs the model on named inputs.
using Executor = std::function<Result<Tensors>(const Tensors &inputs)>;

/// The model in the form that the mode asks for, and what to run it on.
struct Prepared {
  onnx::ModelProto model;
  std::string path;
  std::vector<DataSet> sets;
};

/// How an artifact is run; the session keeps what it needs.
struct Compiled {
  Session session;
  plan::Plan plan;
};

} // namespace

/// Reads the data sets; in constant mode their inputs become the model's. Only the first is run there.
static Result<Prepared> prepare(const TestCase &test, Mode mode, const std::string &scratch,
                                onnx::ModelProto model) {
  Prepared prepared{std::move(model), test.folder + "/model.onnx", {}};
  Result<std::vector<std::string>> folders = findDataSets(test.folder);
  if (!folders)
    return folders.error();
  if (mode == Mode::Constant)
    folders->resize(1);
  for (const std::string &folder : *folders) {
    Result<DataSet> set = readDataSet(folder);
    if (!set)
      return set.error();
    prepared.sets.push_back(std::move(*set));
  }
  if (mode == Mode::Static)
    return prepared;
  if (mode == Mode::Dynamic) {
    forgetSizes(prepared.model);
  } else {
    if (Result<void> fixed = fixInputs(prepared.model, folders->front()); !fixed)
      return fixed.error();
    prepared.sets.front().inputs.clear();
  }
  prepared.path = scratch + "model.onnx";
  if (Result<void> written = writeModel(prepared.model, prepared.path); !written)
    return written.error();
  return prepared;
}

static Result<Compiled> compileModel(const std::string &model, const Device &device,
                                     const std::string &scratch) {
  CompileOptions options;
  options.targets = {fmt::format("sm_{}{}", device.properties().major, device.properties().minor)};
  options.threads = 1;
  options.assemble = !device.properties().isVirtual; // which runs PTX
  std::string path = scratch + "model.joule";
  if (Result<CompileSummary> done = compile(model, path, options); !done)
    return done.error();
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact)
    return artifact.error();
  Result<Session> session = Session::create(*artifact, device);
  if (!session)
    return session.error();
  return Compiled{*session, artifact->impl()->plans.at(session->target())};
}

/// Inputs and outputs stand in the model's order. Gives what is wrong, or nothing.
static std::string runDataSet(const DataSet &set, const onnx::ModelProto &model, const Executor &execute) {
  std::vector<std::string> names = inputNames(model);
  const onnx::GraphProto &graph = model.graph();
  if (set.inputs.size() != names.size() || static_cast<int>(set.outputs.size()) != graph.output_size())
    return "the data set has other numbers of inputs or outputs than the model";
  Tensors inputs;
  for (size_t i = 0; i < names.size(); ++i)
    inputs[names[i]] = set.inputs[i];
  Result<Tensors> outputs = execute(inputs);
  if (!outputs)
    return outputs.error().toString();
  for (int i = 0; i < graph.output_size(); ++i) {
    auto found = outputs->find(graph.output(i).name());
    if (found == outputs->end())
      return fmt::format("the output \"{}\" is missing", graph.output(i).name());
    if (auto difference = explainDifference(found->second, set.outputs[static_cast<size_t>(i)], Tolerance()))
      return fmt::format("output {}: {}", i, *difference);
  }
  return "";
}

static std::string runDataSets(const Prepared &prepared, const Executor &execute) {
  for (const DataSet &set : prepared.sets)
    if (std::string problem = runDataSet(set, prepared.model, execute); !problem.empty())
      return problem;
  return "";
}

/// Expects the numbers that the reference draws, in the types and shapes of the data sets.
static std::string takeNumbers(Prepared &prepared, const Executor &onReference) {
  const onnx::GraphProto &graph = prepared.model.graph();
  for (DataSet &set : prepared.sets) {
    std::vector<std::string> names = inputNames(prepared.model);
    Tensors inputs;
    for (size_t i = 0; i < std::min(names.size(), set.inputs.size()); ++i)
      inputs[names[i]] = set.inputs[i];
    Result<Tensors> outputs = onReference(inputs);
    if (!outputs)
      return outputs.error().toString();
    for (size_t i = 0; i < std::min<size_t>(set.outputs.size(), static_cast<size_t>(graph.output_size())); ++i) {
      auto drawn = outputs->find(graph.output(static_cast<int>(i)).name());
      if (drawn == outputs->end() || drawn->second.type != set.outputs[i].type || drawn->second.shape != set.outputs[i].shape)
        return fmt::format("output {} is of another type or shape", i);
      set.outputs[i] = drawn->second;
    }
  }
  return "";
}

static std::map<std::string, TensorView> viewsOf(const Tensors &tensors) {
  std::map<std::string, TensorView> views;
  for (const auto &[name, tensor] : tensors)
    views[name] = tensor.view();
  return views;
}

Outcome runTest(const TestCase &test, Mode mode, const Device &device, const std::string &scratch) {
  Result<onnx::ModelProto> model = readModel(test.folder + "/model.onnx");
  if (!model)
    return {Status::Failed, Origin::None, model.error().toString()};
  if (std::string why = whyNotTensors(*model); !why.empty())
    return {Status::Skipped, Origin::None, why};
  Result<Prepared> prepared = prepare(test, mode, scratch, std::move(*model));
  if (!prepared)
    return {Status::Failed, Origin::None, prepared.error().toString()};

  Result<Compiled> compiled = compileModel(prepared->path, device, scratch);
  if (!compiled)
    return {Status::Failed, Origin::None, compiled.error().toString()};
  Origin origin = originOf(compiled->plan);
  Executor onReference = [&](const Tensors &inputs) { return runReference(prepared->path, inputs); };
  if (drawsNumbers(prepared->model))
    if (std::string problem = takeNumbers(*prepared, onReference); !problem.empty())
      return {Status::Failed, origin, problem};
  Executor onDevice = [&](const Tensors &inputs) { return compiled->session.run(viewsOf(inputs)); };
  if (std::string problem = runDataSets(*prepared, onDevice); !problem.empty())
    return {Status::Failed, origin, problem};
  if (std::string culprit = computedOnHost(compiled->plan, prepared->model); !culprit.empty())
    return {Status::Failed, origin, culprit};
  if (std::string problem = runDataSets(*prepared, onReference); !problem.empty())
    return {Status::Failed, origin, "the reference differs: " + problem};
  return {Status::Passed, origin, ""};
}

} // namespace joule::onnxtests
