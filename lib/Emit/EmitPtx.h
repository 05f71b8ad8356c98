// From a kernel to PTX text.
#pragma once

#include "dialects/Tile/TileDialect.h"

#include "llvm/Support/Error.h"

#include <array>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace joule {

/// What a kernel's launch needs to know.
struct KernelShape {
  std::string name;
  std::array<int64_t, 3> block = {1, 1, 1};
  /// Shared memory that the kernel declares, and that the launch must add.
  int64_t staticSharedBytes = 0;
  int64_t dynamicSharedBytes = 0;
};

/// A kernel as LLVM IR, in a context of its own so that many can be finished at once.
struct TranslatedKernel {
  KernelShape shape;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;

  TranslatedKernel();
  TranslatedKernel(TranslatedKernel &&);
  ~TranslatedKernel();
};

/// A kernel as PTX text.
struct KernelCode {
  KernelShape shape;
  std::string ptx;
};

/// Loads what `translateKernel` needs into `context`. Call it once, before.
void prepareForEmission(mlir::MLIRContext &context);

/// Lowers a copy of `kernel`, which `nn-to-tile` has written, to LLVM IR. Errors are reported on `kernel`.
/// Kernels of one MLIR context are translated one after the other.
mlir::FailureOr<TranslatedKernel> translateKernel(tile::KernelOp kernel);

/// Optimises a kernel and writes its PTX for `target`, such as "sm_80". Safe to call for many kernels at
/// once.
llvm::Expected<KernelCode> generatePtx(TranslatedKernel kernel, llvm::StringRef target);

/// Both steps for one kernel.
mlir::FailureOr<KernelCode> emitPtx(tile::KernelOp kernel, llvm::StringRef target);

/// Whether PTX can be written for `target`.
bool isKnownTarget(llvm::StringRef target);

} // namespace joule
