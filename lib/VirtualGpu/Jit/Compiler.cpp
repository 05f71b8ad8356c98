// LLVM around the emitter: optimise, generate machine code, link it into the process.
#include "lib/VirtualGpu/Jit/Emitter.h"
#include "lib/VirtualGpu/Settings.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace joule::vgpu::jit {
namespace {

using namespace llvm;

/// Code, the sites it calls through, and the lane patterns that the sites point to.
struct Compiled : CompiledProgram {
  std::deque<Site> sites;
  std::unique_ptr<Graph> graph;
  std::unique_ptr<Shapes> shapes;
  orc::ResourceTrackerSP tracker;
  ~Compiled() override {
    if (tracker)
      consumeError(tracker->remove());
  }
};

class OrcCompiler : public KernelCompiler {
public:
  /// Null if LLVM cannot make code for this machine.
  static OrcCompiler *create(Target target) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser(); // rare calls are inline assembly
    auto compiler = std::make_unique<OrcCompiler>();
    compiler->target = target;
    orc::JITTargetMachineBuilder builder{Triple(sys::getProcessTriple())};
    builder.setCPU(target.avx512 ? std::string(sys::getHostCPUName()) : "x86-64-v3");
    if (target.avx512)
      for (auto &[feature, on] : sys::getHostCPUFeatures())
        builder.getFeatures().AddFeature(feature, on);
    // Measured: a third less time to compile than the default, for code that is as fast.
    builder.setCodeGenOptLevel(CodeGenOptLevel::Less);
    builder.setRelocationModel(Reloc::PIC_);
    builder.getOptions().AllowFPOpFusion = FPOpFusion::Strict;
    auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
    if (!made) {
      consumeError(made.takeError());
      return nullptr;
    }
    compiler->builder = builder;
    compiler->jit = std::move(*made);
    return compiler.release();
  }

  std::unique_ptr<CompiledProgram> compile(const CompileRequest &request, std::string &why) override {
    auto compiled = std::make_unique<Compiled>();
    compiled->graph = std::make_unique<Graph>(request.image->entry());
    if (!compiled->graph->problem.empty()) {
      why = compiled->graph->problem;
      return nullptr;
    }
    compiled->shapes = std::make_unique<Shapes>(*compiled->graph, request.block);
    std::string name = "kernel_" + std::to_string(next.fetch_add(1));
    std::unique_ptr<MemoryBuffer> object = generate(request, *compiled, name, why);
    if (!object || !link(std::move(object), *compiled, name, why))
      return nullptr;
    return compiled;
  }

private:
  std::unique_ptr<MemoryBuffer> generate(const CompileRequest &request, Compiled &compiled,
                                         const std::string &name, std::string &why) {
    LLVMContext context;
    auto machine = builder->createTargetMachine();
    if (!machine) {
      why = toString(machine.takeError());
      return nullptr;
    }
    Module module(name, context);
    module.setDataLayout((*machine)->createDataLayout());
    module.setTargetTriple((*machine)->getTargetTriple().str());
    Emitter(*compiled.graph, *compiled.shapes, request, target, module, compiled.sites)
        .run(name, compiled.entryOf);
    static const int dump = settingsFromEnvironment().jitDump;
    if (dump == 1)
      module.print(errs(), nullptr);
    std::string broken;
    raw_string_ostream text(broken);
    if (verifyModule(module, &text)) {
      why = "internal: " + broken;
      return nullptr;
    }
    optimise(module, **machine);
    if (dump == 2)
      module.print(errs(), nullptr);
    auto object = orc::SimpleCompiler(**machine)(module);
    if (!object) {
      why = toString(object.takeError());
      return nullptr;
    }
    return std::move(*object);
  }

  void optimise(Module &module, TargetMachine &machine) {
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    PassBuilder passes(&machine);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    FunctionPassManager order;
    order.addPass(EarlyCSEPass());
    order.addPass(InstCombinePass());
    order.addPass(SimplifyCFGPass());
    order.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    order.addPass(EarlyCSEPass());
    for (Function &f : module)
      if (!f.isDeclaration())
        order.run(f, functions);
  }

  bool link(std::unique_ptr<MemoryBuffer> object, Compiled &compiled, const std::string &name,
            std::string &why) {
    compiled.tracker = jit->getMainJITDylib().createResourceTracker();
    if (Error error = jit->addObjectFile(compiled.tracker, std::move(object))) {
      why = toString(std::move(error));
      return false;
    }
    auto address = jit->lookup(name);
    if (!address) {
      why = toString(address.takeError());
      return false;
    }
    compiled.code = address->toPtr<CompiledProgram::Code>();
    return true;
  }

  Target target;
  std::optional<orc::JITTargetMachineBuilder> builder;
  std::unique_ptr<orc::LLJIT> jit;
  std::atomic<uint64_t> next{0};
};

/// Made when first asked for: LLVM costs a process that only interprets nothing.
class LazyCompiler : public KernelCompiler {
public:
  std::unique_ptr<CompiledProgram> compile(const CompileRequest &request, std::string &why) override {
    std::call_once(once, [&] {
      if (std::string(instructionSet()) != "baseline")
        compiler = OrcCompiler::create({std::string(instructionSet()) == "avx512"});
    });
    if (compiler)
      return compiler->compile(request, why);
    why = "this machine has no AVX2";
    return nullptr;
  }

private:
  std::once_flag once;
  OrcCompiler *compiler = nullptr; // kept to the end: code may run until then
};

} // namespace
} // namespace joule::vgpu::jit

namespace joule::vgpu {

/// Linking this file in is what gives the engine its compiler.
void useJit() {
  static jit::LazyCompiler compiler;
  registerKernelCompiler(&compiler);
}

} // namespace joule::vgpu
