// From PTX to machine code, where NVIDIA's assembler is installed.
#pragma once

#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace joule {

/// What the assembler made of a kernel, and what it says of it.
struct AssembledKernel {
  std::string cubin;
  int64_t registers = 0;        ///< per thread
  int64_t spillStoreBytes = 0;  ///< per thread
  int64_t spillLoadBytes = 0;   ///< per thread
  int64_t stackBytes = 0;       ///< per thread
  int64_t sharedBytes = 0;      ///< per block, declared in the code
};

/// The path of `ptxas`: on PATH, or where the toolkit is usually installed. None where it is not.
std::optional<std::string> findPtxas();

/// Assembles the one kernel in `ptx` for `target` by running `ptxas`. Safe to call for many kernels at once.
llvm::Expected<AssembledKernel> assemble(const std::string &ptxas, llvm::StringRef ptx, llvm::StringRef target);

} // namespace joule
