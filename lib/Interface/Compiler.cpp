// The part of the C interface that compiles.
#include "joule/Compiler.h"
#include "lib/Interface/Guard.h"

using namespace joule;

static std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

joule_error *joule_compile(const char *model, const char *artifact, const joule_compile_options *options) {
  return c::guarded([&]() -> Result<void> {
    if (Result<void> given = c::needAll({"model", "artifact"}, model, artifact); !given)
      return given;
    if (Result<void> sized = c::needSize(options, "joule_compile_options"); !sized)
      return sized;
    CompileOptions chosen;
    if (options && options->targets)
      chosen.targets = split(options->targets);
    if (options) {
      chosen.threads = options->threads;
      chosen.assemble = !options->skip_assembly;
    }
    Result<CompileSummary> done = compile(model, artifact, chosen);
    return done ? Result<void>() : done.error();
  });
}
