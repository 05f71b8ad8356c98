// How every subcommand is added and how it prints.
#include "tools/joule/Command.h"

#include <cstdio>
#include <fmt/format.h>

namespace joule::cli {

CLI::App *addSubcommand(CLI::App &parent, const std::string &name, const std::string &does,
                        const std::string &example) {
  CLI::App *app = parent.add_subcommand(name, does);
  app->footer("example: " + example);
  return app;
}

void addJson(CLI::App &app, bool &json) { app.add_flag("--json", json, "Print JSON, for machines"); }

/// Names in a model may be any bytes: those that would steer a terminal print as \\x1b and the like.
static std::string printable(const std::string &text) {
  std::string result;
  for (char c : text)
    result += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? fmt::format("\\x{:02x}", static_cast<int>(c))
                                                             : std::string(1, c);
  return result;
}

ExitCode fail(const Error &error, bool json) {
  fmt::print(stderr, "joule: error {}: {}\n", toString(error.code), printable(error.message));
  if (!error.node.empty())
    fmt::print(stderr, "  at node: {}\n", printable(error.node));
  if (json)
    print({{"error", {{"code", toString(error.code)}, {"message", error.message}, {"node", error.node}}}});
  return Failed;
}

void print(const nlohmann::ordered_json &value) {
  // Names in a model may be any bytes; what is no UTF-8 prints as the replacement character.
  auto text = value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  fmt::print("{}\n", text);
}

} // namespace joule::cli
