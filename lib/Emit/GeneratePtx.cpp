// From LLVM IR to PTX text.
#include "lib/Emit/EmitPtx.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace joule;

// The back end is initialised by these alone: the other targets of a shared LLVM are none of our business.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

struct Target {
  llvm::StringLiteral name;
  /// What the code generator is told; it knows nothing newer than sm_90a, whose plain form newer GPUs run
  /// too.
  llvm::StringLiteral processor;
  llvm::StringLiteral version;
};

const Target targets[] = {
    {"sm_75", "sm_75", "+ptx78"},   {"sm_80", "sm_80", "+ptx78"},  {"sm_86", "sm_86", "+ptx78"},
    {"sm_87", "sm_87", "+ptx78"},   {"sm_89", "sm_89", "+ptx78"},  {"sm_90", "sm_90", "+ptx80"},
    {"sm_90a", "sm_90a", "+ptx80"}, {"sm_100", "sm_90", "+ptx80"}, {"sm_103", "sm_90", "+ptx80"},
    {"sm_110", "sm_90", "+ptx80"},  {"sm_120", "sm_90", "+ptx80"}, {"sm_121", "sm_90", "+ptx80"},
};

const Target *findTarget(llvm::StringRef name) {
  const auto *found = llvm::find_if(targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? nullptr : found;
}

llvm::Error error(const llvm::Twine &message) { return llvm::createStringError(message); }

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Target &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  const char *triple = "nvptx64-nvidia-cuda";
  std::string message;
  const llvm::Target *backEnd = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backEnd)
    return error("this LLVM cannot write PTX: " + message);
  return std::unique_ptr<llvm::TargetMachine>(
      backEnd->createTargetMachine(triple, target.processor, target.version, llvm::TargetOptions(),
                                   std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  // VectorCombine takes the wide loads of shared memory apart, and not all of them are put together again.
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, llvm::Any) { return pass != "VectorCombinePass"; });
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

llvm::Expected<std::string> print(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return error("internal: the code generator does not write assembly");
  passes.run(module);
  return text.str().str();
}

} // namespace

bool joule::isKnownTarget(llvm::StringRef target) { return findTarget(target); }

llvm::Expected<KernelCode> joule::generatePtx(TranslatedKernel kernel, llvm::StringRef targetName) {
  const Target *target = findTarget(targetName);
  if (!target)
    return error("no code can be generated for target '" + targetName + "'");
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = createMachine(*target);
  if (!machine)
    return machine.takeError();
  llvm::Module &module = *kernel.module;
  module.setTargetTriple((*machine)->getTargetTriple().str());
  module.setDataLayout((*machine)->createDataLayout());
  optimise(module, **machine);
  llvm::Expected<std::string> ptx = print(module, **machine);
  if (!ptx)
    return ptx.takeError();
  return KernelCode{kernel.shape, std::move(*ptx)};
}

mlir::FailureOr<KernelCode> joule::emitPtx(tile::KernelOp kernel, llvm::StringRef target) {
  mlir::FailureOr<TranslatedKernel> translated = translateKernel(kernel);
  if (failed(translated))
    return mlir::failure();
  llvm::Expected<KernelCode> code = generatePtx(std::move(*translated), target);
  if (!code)
    return kernel.emitOpError() << llvm::toString(code.takeError());
  return std::move(*code);
}
