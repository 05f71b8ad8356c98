// `joule run`: runs a model once, or on data sets whose outputs are known.
#include "lib/TensorFile/DataSet.h"
#include "lib/TensorFile/TensorFile.h"
#include "tools/joule/Command.h"
#include "tools/joule/Comparison.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/Interrupt.h"
#include "tools/joule/OutputFile.h"
#include "tools/joule/Program.h"
#include "tools/joule/Summary.h"

#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;
using Tensors = std::map<std::string, Tensor>;

namespace {
struct Options {
  ProgramOptions program;
  InputOptions inputs;
  std::string output;
  std::string expect;
  Tolerance tolerance;
  bool json = false;
};
} // namespace

/// What the counters say of the runs since `before`; the arena is the session's largest.
static Counters since(const Counters &before, Counters now) {
  now.runs -= before.runs;
  now.launches -= before.launches;
  now.compiles -= before.compiles;
  now.deviceAllocations -= before.deviceAllocations;
  now.bytesCopied -= before.bytesCopied;
  return now;
}

static Json describe(const Loaded &loaded, const Options &options) {
  const DeviceProperties &device = loaded.device.properties();
  return {{"program", options.program.path},
          {"device", {{"name", device.name}, {"virtual", device.isVirtual}}},
          {"target", loaded.session.target()}};
}

//===-- One run
//---------------------------------------------------------------------------------------------===//

static ExitCode runOnce(Loaded &loaded, const Options &options) {
  Result<Tensors> inputs = makeInputs(loaded.session.inputs(), options.inputs);
  if (!inputs)
    return fail(inputs.error(), options.json);
  Result<Tensors> outputs = [&] {
    Progress progress("running " + options.program.path, fractionOf(loaded, *inputs, 1));
    return loaded.session.run(viewsOf(*inputs));
  }();
  if (!outputs)
    return fail(outputs.error(), options.json);
  if (!options.output.empty())
    if (Result<void> written = writeNpz(options.output, *outputs); !written)
      return fail(written.error(), options.json);
  Json list = Json::array();
  for (const TensorSpec &spec : loaded.session.outputs()) {
    const Tensor &tensor = outputs->at(spec.name);
    list.push_back(describe(spec.name, tensor));
    if (!options.json)
      fmt::print("{}: {} {} {}\n", spec.name, nameOf(tensor.type), toString(tensor.shape), summarize(tensor));
  }
  if (options.json) {
    Json json = describe(loaded, options);
    json["outputs"] = list;
    json["counters"] = describe(loaded.session.counters());
    print(json);
  }
  return Succeeded;
}

//===-- Data sets
//-------------------------------------------------------------------------------------------===//

/// The set's inputs under the names of the model's, which stand in the same order.
static Result<Tensors> nameInputs(DataSet &set, const std::vector<TensorSpec> &specs) {
  if (set.inputs.size() != specs.size())
    return Error{ErrorCode::InputMissing,
                 fmt::format("\"{}\" has {} inputs and the model takes {}", set.folder, set.inputs.size(),
                             specs.size()),
                 ""};
  Tensors tensors;
  for (size_t i = 0; i < specs.size(); ++i)
    tensors[specs[i].name] = std::move(set.inputs[i]);
  return tensors;
}

/// Runs one data set; {"folder", "passed", "outputs", "counters"}.
static Result<Json> runDataSet(Loaded &loaded, const std::string &folder, const Options &options) {
  Result<DataSet> set = readDataSet(folder);
  if (!set)
    return set.error();
  Result<Tensors> inputs = nameInputs(*set, loaded.session.inputs());
  if (!inputs)
    return inputs.error();
  Counters before = loaded.session.counters();
  Result<Tensors> outputs = loaded.session.run(viewsOf(*inputs));
  if (!outputs)
    return outputs.error();
  const std::vector<TensorSpec> &specs = loaded.session.outputs();
  if (set->outputs.size() > specs.size())
    return Error{ErrorCode::OutputUnusable,
                 fmt::format("\"{}\" has {} outputs and the model gives {}", folder, set->outputs.size(),
                             specs.size()),
                 ""};
  if (!options.json)
    fmt::print("{}:\n", folder);
  Json json = {{"folder", folder}, {"passed", true}, {"outputs", Json::array()}};
  for (size_t i = 0; i < set->outputs.size(); ++i) {
    const std::string &name = specs[i].name;
    json["outputs"].push_back(compareOutput(name, outputs->at(name), set->outputs[i], options.tolerance));
    if (!options.json)
      printComparison(json["outputs"].back());
    json["passed"] = json["passed"].get<bool>() && json["outputs"].back()["passed"].get<bool>();
  }
  json["counters"] = describe(since(before, loaded.session.counters()));
  return json;
}

static ExitCode runExpected(Loaded &loaded, const Options &options) {
  Result<std::vector<std::string>> folders = findDataSets(options.expect);
  if (!folders)
    return fail(folders.error(), options.json);
  Json sets = Json::array();
  size_t passed = 0;
  for (const std::string &folder : *folders) {
    Result<Json> set = runDataSet(loaded, folder, options);
    if (!set)
      return fail(set.error(), options.json);
    passed += set->at("passed").get<bool>();
    sets.push_back(std::move(*set));
  }
  if (options.json) {
    Json json = describe(loaded, options);
    json["dataSets"] = sets;
    json["counters"] = describe(loaded.session.counters());
    print(json);
  } else {
    fmt::print("{} of {} data sets passed\n", passed, folders->size());
  }
  return passed == folders->size() ? Succeeded : Failed;
}

//===-- The command
//-----------------------------------------------------------------------------------------===//

static ExitCode run(const Options &options) {
  refuseToReplace("--output", options.output, options.program.path);
  parseDims(options.inputs.dims); // what is malformed is said before anything is compiled
  if (!options.program.alsoOutputs.empty() && isArtifact(options.program.path))
    throw CLI::ValidationError("--dump-tensor", "an artifact gives its outputs alone; give the model");
  Result<Loaded> loaded = load(options.program);
  if (!loaded)
    return fail(loaded.error(), options.json);
  InterruptOnSignal interrupt(loaded->session);
  return options.expect.empty() ? runOnce(*loaded, options) : runExpected(*loaded, options);
}

Command addRun(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app =
      addSubcommand(parent, "run", "Run a model or an artifact, and compare its outputs where asked",
                    "joule run model.onnx --input x=x.npy --output out.npz\n"
                    "         joule run model.onnx --expect test_data_set_0");
  addProgram(*app, "PROGRAM", options->program);
  addCheckMemory(*app, options->program);
  addInputs(*app, options->inputs);
  addRandom(*app, options->inputs);
  auto *output = app->add_option("--output", options->output, "A .npz file for the outputs");
  app->add_option("--dump-tensor", options->program.alsoOutputs,
                  "A value of the model's main graph, by its ONNX name, that is given like an output; may be repeated");
  auto *expect = app->add_option("--expect", options->expect,
                                 "A folder of input_N.pb and output_N.pb, or of several such folders "
                                 "test_data_set_N; exits with 1 where an output differs");
  expect->excludes(output);
  for (const char *other : {"--input", "--random", "--dim"})
    expect->excludes(app->get_option(other));
  app->add_option("--rtol", options->tolerance.relative, "Relative tolerance")
      ->needs(expect)
      ->capture_default_str();
  app->add_option("--atol", options->tolerance.absolute, "Absolute tolerance")
      ->needs(expect)
      ->capture_default_str();
  addJson(*app, options->json);
  return {app, [options] { return run(*options); }};
}

} // namespace joule::cli
