// `joule explain`: what an error code means and what to do about it.
#include "tools/joule/Command.h"

#include <fmt/format.h>

namespace joule::cli {

static nlohmann::ordered_json describe(const Explanation &row) {
  return {{"code", toString(row.code)}, {"name", row.name}, {"meaning", row.meaning}, {"cure", row.cure}};
}

static std::vector<Explanation> allCodes() {
  std::vector<Explanation> rows;
#define JOULE_ERROR(number, name, meaning, cure) rows.push_back(*explain(#number));
#include "joule/ErrorCodes.def"
#undef JOULE_ERROR
  return rows;
}

static ExitCode explainAll(bool json) {
  auto list = nlohmann::ordered_json::array();
  for (const Explanation &row : allCodes()) {
    if (json)
      list.push_back(describe(row));
    else
      fmt::print("{} {}: {}\n", toString(row.code), row.name, row.meaning);
  }
  if (json)
    print(list);
  return Succeeded;
}

static ExitCode explainOne(const std::string &code, bool json) {
  std::optional<Explanation> row = explain(code);
  if (!row)
    throw CLI::ValidationError("CODE",
                               fmt::format("\"{}\" is no error code; joule explain lists them all", code));
  if (json)
    print(describe(*row));
  else
    fmt::print("{} {}\n\nmeaning: {}\nwhat to do: {}\n", toString(row->code), row->name, row->meaning,
               row->cure);
  return Succeeded;
}

Command addExplain(CLI::App &parent) {
  struct Options {
    std::string code;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(parent, "explain", "Say what an error code means and what to do about it",
                                "joule explain JL0304");
  app->add_option("CODE", options->code, "The code; left out: all codes are listed");
  addJson(*app, options->json);
  return {app, [options] {
            return options->code.empty() ? explainAll(options->json)
                                         : explainOne(options->code, options->json);
          }};
}

} // namespace joule::cli
