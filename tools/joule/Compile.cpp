// `joule compile`: a model goes in, an artifact comes out.
#include "joule/Compiler.h"
#include "tools/joule/Command.h"
#include "tools/joule/Progress.h"

#include <atomic>
#include <fmt/format.h>

namespace joule::cli {

namespace {
struct Options {
  std::string model;
  std::string startFrom;
  std::string output;
  CompileOptions compile;
  bool json = false;
};
} // namespace

/// Compiles the model, or the module that compilation starts from.
static Result<CompileSummary> compileWatched(const Options &options) {
  const std::string &from = options.startFrom.empty() ? options.model : options.startFrom;
  CompileOptions compileOptions = options.compile;
  std::atomic<double> done{0};
  compileOptions.progress = [&](double fraction) { done = fraction; };
  Progress progress("compiling " + from, [&] { return done.load(); });
  return compile(from, options.output, compileOptions);
}

static ExitCode compileModel(const Options &options) {
  if (options.model.empty() == options.startFrom.empty())
    throw CLI::ValidationError("MODEL", "either a model or --start-from is needed");
  Result<CompileSummary> done = compileWatched(options);
  if (!done)
    return fail(done.error(), options.json);
  if (!options.compile.stopAfter.empty()) {
    if (options.json)
      print({{"module", options.output}, {"level", options.compile.stopAfter}});
    else
      fmt::print("{}: the module at level {}\n", options.output, options.compile.stopAfter);
    return Succeeded;
  }
  if (options.json)
    print({{"artifact", options.output},
           {"targets", options.compile.targets},
           {"nodes", done->nodes},
           {"kernels", done->kernels},
           {"launches", done->launches},
           {"ptxLines", done->ptxLines},
           {"assembled", done->assembled},
           {"cpuSeconds", done->cpuSeconds}});
  else
    fmt::print(
        "{}: {} nodes became {} launches of {} kernels ({} lines of PTX) in {:.2f} s of processor time\n",
        options.output, done->nodes, done->launches, done->kernels, done->ptxLines, done->cpuSeconds);
  return Succeeded;
}

static std::string endsInMlir(const std::string &file) {
  bool fits = file.size() > 5 && file.compare(file.size() - 5, 5, ".mlir") == 0;
  return fits ? "" : "a module's file ends in .mlir";
}

Command addCompile(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(parent, "compile", "Compile a model into an artifact; needs no GPU",
                                "joule compile model.onnx -o model.joule --target a100,h100\n"
                                "         joule compile model.onnx --stop-after nn -o model.mlir\n"
                                "         joule compile --start-from model.mlir -o model.joule");
  app->add_option("MODEL", options->model, "An ONNX file");
  app->add_option("-o,--output", options->output, "The artifact to write, or the module")->required();
  app->add_option("--target", options->compile.targets,
                  "GPUs (a100) or architectures (sm_80), with commas between")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--dump", options->compile.dumpFolder,
                  "A folder for the module after each level, and the PTX");
  app->add_option("--stop-after", options->compile.stopAfter,
                  "Write the module at a level as text: onnx, nn, kernels, plan (of the first target)")
      ->check(CLI::IsMember({"onnx", "nn", "kernels", "plan"}));
  app->add_option("--start-from", options->startFrom,
                  "Go on from a module that --dump or --stop-after wrote, perhaps edited since")
      ->check(CLI::ExistingFile)
      ->check(CLI::Validator(endsInMlir, "FILE.mlir"));
  app->add_option("--threads", options->compile.threads, "Threads that make kernels; 0: one per core")
      ->capture_default_str();
  addJson(*app, options->json);
  return {app, [options] { return compileModel(*options); }};
}

} // namespace joule::cli
