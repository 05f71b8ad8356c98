// Lines of PTX with the operations that they were decoded into.
#include "tools/joule-ptx/Disassembly.h"

#include <cstdio>

namespace joule::vgpu {
namespace {

/// The names of handlers, for the way back from an operation.
const std::map<Handler, std::string> &handlerNames() {
  static const std::map<Handler, std::string> names = [] {
    std::map<Handler, std::string> made;
    for (auto &[name, pair] : handlers())
      made[pair.fn] = name;
    return made;
  }();
  return names;
}

std::string operationText(const Program &program, const Op &op) {
  auto name = handlerNames().find(op.fn);
  std::string text = name == handlerNames().end() ? "?" : name->second;
  if (text == "trap" && op.imm == int64_t(FaultKind::IllegalInstruction))
    text += " (" + program.problems[op.e] + ")";
  return text;
}

void printFunction(const KernelImage &kernel, const Program &program) {
  const ptx::Function &f = *program.function;
  printf("%s %s: about %u registers, %u bytes of local memory, %zu basic blocks\n",
         f.entry ? "kernel" : "function", f.name.c_str(), program.registers32, program.localBytes,
         program.blocks.size());
  uint32_t line = ~0u;
  std::string operations;
  auto flush = [&] {
    if (line != ~0u)
      printf("%6u  %-60s ; %s\n", line, kernel.module().source().lineText(line).c_str(), operations.c_str());
    operations.clear();
  };
  for (const Op &op : program.ops) {
    std::string text = operationText(program, op);
    if (text == "label") {
      flush();
      line = ~0u;
      printf("block:\n");
      continue;
    }
    if (op.instruction >= f.instructions.size())
      continue;
    if (uint32_t own = f.instructions[op.instruction].line; own != line) {
      flush();
      line = own;
    }
    operations += (operations.empty() ? "" : ", ") + text;
  }
  flush();
}

} // namespace

void printDisassembly(KernelImage &kernel) {
  printf("%u bytes of shared memory\n", kernel.staticShared());
  kernel.eachProgram([&](const Program &program) { printFunction(kernel, program); });
}

} // namespace joule::vgpu
