// Chooses the handlers for the machine at hand and makes them findable by name.
#include "lib/VirtualGpu/AccessTurns.h"
#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/ImageAccess.h"
#include "lib/VirtualGpu/Settings.h"

namespace joule::vgpu {
namespace {

struct Tables {
  const char *isa;
  AccessTurns turns;
  HandlerTable tables[12];
};

#define JOULE_TABLES_OF(isa)                                                                                 \
  Tables {                                                                                                   \
#isa, isa::accessTurns(), {                                                                                                  \
      isa::arithmeticHandlers(), isa::memoryHandlers(), isa::matrixHandlers(), isa::controlHandlers(),       \
          isa::exactHandlers(), isa::tileHandlers(), handlersOfWarps(), handlersOfAsync(),                   \
          handlersOfChecks(), handlersOfVideo(), handlersOfDevice(), handlersOfImages()                                          \
    }                                                                                                        \
  }

Tables chooseTables() {
  const std::string limit = settingsFromEnvironment().instructionSet;
  __builtin_cpu_init();
  bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && limit != "baseline";
  bool hasAvx512 = hasAvx2 && limit != "avx2" && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl");
  return hasAvx512 ? JOULE_TABLES_OF(avx512) : hasAvx2 ? JOULE_TABLES_OF(avx2) : JOULE_TABLES_OF(baseline);
}

const Tables &chosen() {
  static const Tables tables = chooseTables();
  return tables;
}

} // namespace

AccessTurns accessTurns() { return chosen().turns; }

namespace {

void addTable(const HandlerTable &from, std::unordered_map<std::string, Handler> &all) {
  for (size_t i = 0; i < from.count; ++i)
    all.emplace(from.entries[i].name, from.entries[i].fn);
}

void addPairs(const HandlerTable &from, const std::unordered_map<std::string, Handler> &all,
              std::unordered_map<std::string, HandlerPair> &pairs) {
  for (size_t i = 0; i < from.count; ++i) {
    const HandlerEntry &entry = from.entries[i];
    std::string result = entry.result;
    bool stops = result == "stop";
    auto own = all.find("masked." + (result == "own" ? std::string(entry.name) : result));
    Handler masked = stops ? entry.fn : own->second;
    bool whole =
        stops || result == "own" || result.substr(0, 3) == "bra" || result == "label" || result == "guard";
    pairs[entry.name] = {entry.fn, masked, whole};
  }
}

std::unordered_map<std::string, HandlerPair> makeMap() {
  std::unordered_map<std::string, Handler> all;
  std::unordered_map<std::string, HandlerPair> pairs;
  for (const HandlerTable &table : chosen().tables)
    addTable(table, all);
  for (const HandlerTable &table : chosen().tables)
    addPairs(table, all, pairs);
  return pairs;
}

} // namespace

const char *instructionSet() { return chosen().isa; }

const std::unordered_map<std::string, HandlerPair> &handlers() {
  static const auto map = makeMap();
  return map;
}

} // namespace joule::vgpu
