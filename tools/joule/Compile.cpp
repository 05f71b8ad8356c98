// `joule compile`: a model goes in, an artifact comes out.
#include "joule/Compiler.h"
#include "tools/joule/Command.h"

#include <fmt/format.h>

namespace joule::cli {

namespace {
struct Options {
  std::string model;
  std::string output;
  CompileOptions compile;
  bool json = false;
};
} // namespace

static ExitCode compileModel(const Options &options) {
  Result<CompileSummary> done = compile(options.model, options.output, options.compile);
  if (!done)
    return fail(done.error(), options.json);
  if (options.json)
    print({{"artifact", options.output},
           {"targets", options.compile.targets},
           {"nodes", done->nodes},
           {"kernels", done->kernels},
           {"launches", done->launches},
           {"ptxLines", done->ptxLines},
           {"cpuSeconds", done->cpuSeconds}});
  else
    fmt::print(
        "{}: {} nodes became {} launches of {} kernels ({} lines of PTX) in {:.2f} s of processor time\n",
        options.output, done->nodes, done->launches, done->kernels, done->ptxLines, done->cpuSeconds);
  return Succeeded;
}

Command addCompile(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(parent, "compile", "Compile a model into an artifact; needs no GPU",
                                "joule compile model.onnx -o model.joule --target a100,h100");
  app->add_option("MODEL", options->model, "An ONNX file")->required();
  app->add_option("-o,--output", options->output, "The artifact to write")->required();
  app->add_option("--target", options->compile.targets,
                  "GPUs (a100) or architectures (sm_80), with commas between")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--dump", options->compile.dumpFolder,
                  "A folder for the module after each level, and the PTX");
  app->add_option("--threads", options->compile.threads, "Threads that make kernels; 0: one per core")
      ->capture_default_str();
  addJson(*app, options->json);
  return {app, [options] { return compileModel(*options); }};
}

} // namespace joule::cli
