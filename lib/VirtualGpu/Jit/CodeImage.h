// What compiling a kernel makes: machine code and what is known about it, free of the process's addresses, so
// that another process can go on with it.
#pragma once

#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Jit/Graph.h"

namespace joule::vgpu::jit {

/// A call of an operation's handler.
struct SiteImage {
  uint32_t op = 0;      // index in the program
  int32_t pattern = -1; // of the address register's lanes, where `fillsAddress`
  bool fillsAddress = false;
  uint32_t span = 0, more = 0; // see Site
};

struct CodeImage {
  std::vector<int32_t> entryOf;
  std::vector<std::vector<EntryCheck>> checks;
  std::vector<std::vector<Expansion>> expansions;
  std::vector<LanePattern> patterns;
  std::vector<SiteImage> sites;
  std::string object; // ELF with the symbols `kernel` and `table`

  std::string written() const;
  /// False if the text does not hold an image that fits the program.
  bool read(const std::string &text, const Program &program);
};

/// All of a kernel and a request that decides what its code looks like.
std::string fingerprint(const Graph &graph, const CompileRequest &request);

} // namespace joule::vgpu::jit
