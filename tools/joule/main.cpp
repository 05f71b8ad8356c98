// `joule`, the command line: one file per subcommand.
#include "joule/Version.h"
#include "lib/File/PendingPath.h"
#include "tools/joule/Command.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <system_error>
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

extern "C" void jouleEnded(int signal) {
  joule::removePendingPaths();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What is half done goes with the program; a file that grows too large is an error like a full disk.
static void handleSignals() {
  for (int signal : {SIGHUP, SIGINT, SIGTERM})
    if (std::signal(signal, jouleEnded) == SIG_IGN)
      std::signal(signal, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// The code, or Failed where what was printed did not arrive, as on a full disk.
static int flushed(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  joule::Error error{joule::ErrorCode::FileUnwritable,
                     std::string("cannot write to the standard output: ") + std::strerror(errno), ""};
  return fail(error, /*json=*/false);
}

int main(int argc, char **argv) {
  handleSignals();
  try {
    CLI::App app("Compiles ONNX models for NVIDIA GPUs, and runs them there or on a virtual GPU.", "joule");
    app.require_subcommand(1);
    app.set_version_flag("--version", "joule " JOULE_VERSION, "Print the version and exit");
    app.footer("example: joule run model.onnx --random\nhelp on a command: joule COMMAND --help");
    app.failure_message([](const CLI::App *app, const CLI::Error &error) {
      return fmt::format("joule: {}\n{}\n", error.what(), "run with --help for more information");
    });
    std::vector<Command> commands = {addCheck(app),  addCompile(app), addRun(app),
                                     addBench(app),  addReport(app),  addVerify(app),
                                     addDoctor(app), addEnergy(app),  addExplain(app)};
    return flushed(parseAndRun(app, commands, argc, argv));
  } catch (const std::bad_alloc &) {
    return fail({joule::ErrorCode::HostMemoryFull, "this machine has no memory left", ""}, /*json=*/false);
  } catch (const std::length_error &) {
    return fail({joule::ErrorCode::HostMemoryFull, "more memory is asked for than any machine has", ""}, /*json=*/false);
  } catch (const std::system_error &error) {
    // What fmt throws where it cannot print.
    return fail({joule::ErrorCode::FileUnwritable, error.what(), ""}, /*json=*/false);
  } catch (const std::exception &error) {
    fmt::print(stderr, "joule: error: internal: {}\n", error.what());
    return Failed;
  }
}
