// `joule check`: everything in a model that cannot be compiled, at once.
#include "joule/Compiler.h"
#include "tools/joule/Command.h"

#include <fmt/format.h>

namespace joule::cli {

static ExitCode checkModel(const std::string &model, bool json) {
  Result<std::vector<UnsupportedNode>> found = check(model);
  if (!found)
    return fail(found.error(), json);
  auto list = nlohmann::ordered_json::array();
  for (const UnsupportedNode &row : *found) {
    if (json)
      list.push_back({{"node", row.node}, {"reason", row.reason}});
    else
      fmt::print("{}: {}\n", row.node, row.reason);
  }
  if (json)
    print({{"model", model}, {"unsupported", list}});
  else if (found->empty())
    fmt::print("{}: every node can be compiled\n", model);
  else
    fmt::print("{}: {} node{} cannot be compiled\n", model, found->size(), found->size() == 1 ? "" : "s");
  return found->empty() ? Succeeded : Failed;
}

Command addCheck(CLI::App &parent) {
  struct Options {
    std::string model;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(
      parent, "check", "List every node of a model that cannot be compiled, and why; exits with 1 if any",
      "joule check model.onnx");
  app->add_option("MODEL", options->model, "An ONNX file")->required();
  addJson(*app, options->json);
  return {app, [options] { return checkModel(options->model, options->json); }};
}

} // namespace joule::cli
