// `joule verify`: a compiled model against the reference, which computes it plainly.
#include "lib/Compiler/RunReference.h"
#include "tools/joule/Command.h"
#include "tools/joule/Comparison.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/Interrupt.h"
#include "tools/joule/Program.h"

#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;
using Tensors = std::map<std::string, Tensor>;

namespace {
struct Options {
  ProgramOptions program;
  InputOptions inputs;
  Tolerance tolerance = {1e-3, 1e-4};
  bool json = false;
};
} // namespace

static ExitCode verify(const Options &options) {
  if (isArtifact(options.program.path))
    throw CLI::ValidationError("MODEL", "the reference needs the model, and this is an artifact");
  parseDims(options.inputs.dims); // what is malformed is said before anything is compiled
  Result<Loaded> loaded = load(options.program);
  if (!loaded)
    return fail(loaded.error(), options.json);
  Result<Tensors> inputs = makeInputs(loaded->session.inputs(), options.inputs);
  if (!inputs)
    return fail(inputs.error(), options.json);
  InterruptOnSignal interrupt(loaded->session);
  Result<Tensors> found = [&] {
    Progress progress("running " + options.program.path, fractionOf(*loaded, *inputs, 1));
    return loaded->session.run(viewsOf(*inputs));
  }();
  if (!found)
    return fail(found.error(), options.json);
  Result<Tensors> wanted = [&] {
    Progress progress("computing the reference of " + options.program.path, [] { return std::nullopt; });
    return runReference(options.program.path, *inputs);
  }();
  if (!wanted)
    return fail(wanted.error(), options.json);

  Json outputs = Json::array();
  bool passed = true;
  for (const TensorSpec &spec : loaded->session.outputs()) {
    outputs.push_back(
        compareOutput(spec.name, found->at(spec.name), wanted->at(spec.name), options.tolerance));
    passed = passed && outputs.back()["passed"].get<bool>();
    if (!options.json)
      printComparison(outputs.back());
  }
  if (options.json)
    print({{"program", options.program.path},
           {"device", {{"name", loaded->device.properties().name}, {"virtual", loaded->device.properties().isVirtual}}},
           {"target", loaded->session.target()},
           {"passed", passed},
           {"outputs", outputs}});
  return passed ? Succeeded : Failed;
}

Command addVerify(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  options->inputs.random = true;
  CLI::App *app =
      addSubcommand(parent, "verify",
                    "Compare the compiled model with the reference on the same inputs; what is not given is "
                    "made up; exits with 1 where an output differs",
                    "joule verify model.onnx --dim batch=2 --seed 7");
  addProgram(*app, "MODEL", options->program);
  addCheckMemory(*app, options->program);
  addInputs(*app, options->inputs);
  app->add_option("--rtol", options->tolerance.relative, "Relative tolerance")->capture_default_str();
  app->add_option("--atol", options->tolerance.absolute, "Absolute tolerance")->capture_default_str();
  addJson(*app, options->json);
  return {app, [options] { return verify(*options); }};
}

} // namespace joule::cli
