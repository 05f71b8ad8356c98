// `joule`, the command line: one file per subcommand.
#include "tools/joule/Command.h"

#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <vector>

using namespace joule::cli;

static int parseAndRun(CLI::App &app, const std::vector<Command> &commands, int argc, char **argv) {
  try {
    app.parse(argc, argv);
    for (const Command &command : commands)
      if (command.app->parsed())
        return command.run();
    return WrongUsage;
  } catch (const CLI::ParseError &error) {
    // Asking for help comes here too, with the exit code 0.
    return app.exit(error) == 0 ? Succeeded : WrongUsage;
  }
}

int main(int argc, char **argv) {
  try {
    CLI::App app("Compiles ONNX models for NVIDIA GPUs, and runs them there or on a virtual GPU.", "joule");
    app.require_subcommand(1);
    app.footer("example: joule run model.onnx --random\nhelp on a command: joule COMMAND --help");
    app.failure_message([](const CLI::App *app, const CLI::Error &error) {
      return fmt::format("joule: {}\n{}\n", error.what(), "run with --help for more information");
    });
    std::vector<Command> commands = {addCheck(app),  addCompile(app), addRun(app),
                                     addBench(app),  addReport(app),  addVerify(app),
                                     addDoctor(app), addEnergy(app),  addExplain(app)};
    return parseAndRun(app, commands, argc, argv);
  } catch (const std::exception &error) {
    fmt::print(stderr, "joule: error: internal: {}\n", error.what());
    return Failed;
  }
}
