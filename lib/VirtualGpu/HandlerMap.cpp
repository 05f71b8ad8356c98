// Chooses the handlers for the machine at hand and makes them findable by name.
#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/Settings.h"

namespace joule::vgpu {
namespace {

HandlerTable chooseTable() {
  const std::string limit = settingsFromEnvironment().instructionSet;
  __builtin_cpu_init();
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && limit != "baseline";
  bool avx512 = avx2 && limit != "avx2" && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl");
  return avx512 ? handlersAvx512() : avx2 ? handlersAvx2() : handlersBaseline();
}

const HandlerTable &table() {
  static const HandlerTable chosen = chooseTable();
  return chosen;
}

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
  addTable(table(), all);
  addTable(handlersOfWarps(), all);
  addPairs(table(), all, pairs);
  addPairs(handlersOfWarps(), all, pairs);
  return pairs;
}

} // namespace

const char *instructionSet() { return table().isa; }

const std::unordered_map<std::string, HandlerPair> &handlers() {
  static const auto map = makeMap();
  return map;
}

} // namespace joule::vgpu
