// LLVM around the emitter: optimise, generate machine code, link it into the process. Machine code is kept
// for later processes.
#include "lib/VirtualGpu/Jit/CodeCache.h"
#include "lib/VirtualGpu/Jit/Emitter.h"
#include "lib/VirtualGpu/Settings.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <cstring>
#include <map>
#include <mutex>

namespace joule::vgpu::jit {
namespace {

using namespace llvm;

struct Compiled : CompiledProgram {
  orc::ExecutionSession *session = nullptr;
  orc::JITDylib *library = nullptr;
  ~Compiled() override {
    if (library)
      consumeError(session->removeJITDylib(*library));
  }
};

/// Where they lie.
std::vector<Range> variablesOf(const LoadedModule &module) {
  std::vector<Range> places;
  auto add = [&](const ptx::Variable &v) {
    uint64_t address, bytes;
    if (module.global(v.name, address, bytes))
      places.push_back({address, address + bytes});
  };
  for (const ptx::Variable &v : module.source().variables)
    add(v);
  for (auto &f : module.source().functions)
    for (const ptx::Variable &v : f->variables)
      add(v);
  return places;
}

void fillTable(uint8_t *at, const CodeImage &image, const CompiledProgram &compiled, const Program &program) {
  CodeTable table = {program.ops.data(), jouleVgpuRunSite};
  memcpy(at, &table, sizeof table);
  at += sizeof table;
  for (const SiteImage &from : image.sites) {
    Site site;
    memset(static_cast<void *>(&site), 0, sizeof site);
    site.pair[0] = program.ops[from.op];
    site.pair[1].fn = site.pair[1].masked = stop;
    site.pattern = from.pattern < 0 ? nullptr : compiled.patterns[size_t(from.pattern)].data();
    site.fillsAddress = from.fillsAddress;
    site.span = from.span, site.more = from.more;
    memcpy(at, &site, sizeof site);
    at += sizeof site;
  }
}

// Measured: a third less time to compile than the default, for code that is as fast.
constexpr CodeGenOptLevel codeGenLevel = CodeGenOptLevel::Less;

/// LLVM has them called in its own order only.
struct OpenPassConfig : TargetPassConfig {
  using TargetPassConfig::addCoreISelPasses;
};

class OrcCompiler {
public:
  /// Null if LLVM cannot make code for this machine.
  static OrcCompiler *create(Target target) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    auto compiler = std::make_unique<OrcCompiler>();
    compiler->target = target;
    orc::JITTargetMachineBuilder builder{Triple(sys::getProcessTriple())};
    builder.setCPU(target.avx512 ? std::string(sys::getHostCPUName()) : "x86-64-v3");
    builder.getFeatures().AddFeature("fast-gather");
    if (target.avx512)
      for (auto &[feature, on] : sys::getHostCPUFeatures())
        builder.getFeatures().AddFeature(feature, on);
    builder.setCodeGenOptLevel(codeGenLevel);
    builder.setRelocationModel(Reloc::PIC_);
    builder.getOptions().AllowFPOpFusion = FPOpFusion::Strict;
    auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
    if (!made) {
      consumeError(made.takeError());
      return nullptr;
    }
    compiler->machine = builder.getCPU() + " " + builder.getFeatures().getString();
    compiler->builder = builder;
    compiler->jit = std::move(*made);
    return compiler.release();
  }

  std::unique_ptr<CompiledProgram> compile(const CompileRequest &request, const CodeCache &cache,
                                           std::string &why) {
    Graph graph(request.image->entry(), variablesOf(request.image->module()));
    if (!graph.problem.empty()) {
      why = graph.problem;
      return nullptr;
    }
    CodeImage image;
    if (!generate(request, graph, image, why))
      return nullptr;
    if (std::string key = keyOf(graph, request); !key.empty())
      cache.store(key, image.written());
    return link(image, request.image->entry(), why);
  }

  std::unique_ptr<CompiledProgram> load(const CompileRequest &request, const CodeCache &cache) {
    Graph graph(request.image->entry(), variablesOf(request.image->module()));
    std::string key = graph.problem.empty() ? keyOf(graph, request) : "", text, ignored;
    CodeImage image;
    if (key.empty() || !cache.load(key, text) || !image.read(text, request.image->entry()))
      return nullptr;
    return link(image, request.image->entry(), ignored);
  }

private:
  /// Empty where code cannot be kept.
  std::string keyOf(const Graph &graph, const CompileRequest &request) const {
    static const std::string build = CodeCache::identityOfBuild();
    return build.empty() ? "" : CodeCache::keyOf(build + '\n' + machine + '\n' + fingerprint(graph, request));
  }

  bool generate(const CompileRequest &request, const Graph &graph, CodeImage &image, std::string &why) {
    LLVMContext context;
    auto machine = builder->createTargetMachine();
    if (!machine) {
      why = toString(machine.takeError());
      return false;
    }
    Module module("kernel", context);
    module.setDataLayout((*machine)->createDataLayout());
    module.setTargetTriple((*machine)->getTargetTriple().str());
    Shapes shapes(graph, request.block);
    Emitter(graph, shapes, request, target, module, image).run();
    static const int dump = settingsFromEnvironment().jitDump;
    if (dump == 1)
      module.print(errs(), nullptr);
    std::string broken;
    raw_string_ostream text(broken);
    if (verifyModule(module, &text)) {
      why = "internal: " + broken;
      return false;
    }
    optimise(module, **machine);
    if (dump == 2)
      module.print(errs(), nullptr);
    image.object = machineCodeOf(module, static_cast<LLVMTargetMachine &>(**machine));
    return true;
  }

  /// LLVM's own order of passes, less those that cost time to compile and gain none to run.
  static std::string machineCodeOf(Module &module, LLVMTargetMachine &machine) {
    SmallVector<char, 0> object;
    raw_svector_ostream stream(object);
    legacy::PassManager order;
    order.add(new TargetLibraryInfoWrapperPass(machine.getTargetTriple()));
    auto *information = new MachineModuleInfoWrapperPass(&machine);
    TargetPassConfig *config = machine.createPassConfig(order);
    // Measured on a register-blocked product: its order needs eight times the spills of ours.
    config->disablePass(&MachineSchedulerID);
    config->setDisableVerify(true); // verified as it was made
    order.add(config);
    order.add(information);
    // Of the passes on IR only those that code generation cannot do without: the others, like loop strength
    // reduction, look for what our loops do not have.
    machine.setOptLevel(CodeGenOptLevel::None);
    config->addIRPasses();
    machine.setOptLevel(codeGenLevel);
    config->addISelPrepare();
    (config->*&OpenPassConfig::addCoreISelPasses)();
    config->addMachinePasses();
    config->setInitialized();
    machine.addAsmPrinter(order, stream, nullptr, CodeGenFileType::ObjectFile,
                          information->getMMI().getContext());
    order.add(createFreeMachineFunctionPass());
    order.run(module);
    return std::string(object.begin(), object.end());
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
    order.addPass(SimplifyCFGPass());
    for (Function &f : module)
      if (!f.isDeclaration())
        order.run(f, functions);
  }

  /// Into a library of its own, since all kernels have the same names.
  std::unique_ptr<CompiledProgram> link(CodeImage &image, const Program &program, std::string &why) {
    auto compiled = std::make_unique<Compiled>();
    compiled->entryOf = std::move(image.entryOf);
    compiled->checks = std::move(image.checks);
    compiled->expansions = std::move(image.expansions);
    compiled->patterns = std::move(image.patterns);
    compiled->session = &jit->getExecutionSession();
    compiled->library = &compiled->session->createBareJITDylib("kernel " + std::to_string(next.fetch_add(1)));
    if (auto process = jit->getProcessSymbolsJITDylib())
      compiled->library->addToLinkOrder(*process);
    auto failed = [&](Error error) {
      why = toString(std::move(error));
      return nullptr;
    };
    if (Error error =
            jit->addObjectFile(*compiled->library, MemoryBuffer::getMemBufferCopy(image.object, "kernel")))
      return failed(std::move(error));
    auto code = jit->lookup(*compiled->library, "kernel"), table = jit->lookup(*compiled->library, "table");
    if (!code || !table) {
      Error error = joinErrors(code.takeError(), table.takeError());
      return failed(std::move(error));
    }
    compiled->code = code->toPtr<CompiledProgram::Code>();
    fillTable(table->toPtr<uint8_t *>(), image, *compiled, program);
    return compiled;
  }

  Target target;
  std::string machine;
  std::optional<orc::JITTargetMachineBuilder> builder;
  std::unique_ptr<orc::LLJIT> jit;
  std::atomic<uint64_t> next{0};
};

/// Made when first asked for: LLVM costs a process that only interprets nothing.
class LazyCompiler : public KernelCompiler {
public:
  explicit LazyCompiler(const std::string &cacheFolder) : cacheFolder(cacheFolder) {}

  std::unique_ptr<CompiledProgram> compile(const CompileRequest &request, std::string &why) override {
    start();
    if (compiler)
      return compiler->compile(request, *cache, why);
    why = "this machine has no AVX2";
    return nullptr;
  }

  std::unique_ptr<CompiledProgram> load(const CompileRequest &request) override {
    if (cacheFolder.empty())
      return nullptr;
    start();
    return compiler ? compiler->load(request, *cache) : nullptr;
  }

private:
  void start() {
    static OrcCompiler *const made = std::string(instructionSet()) == "baseline"
                                         ? nullptr // kept to the end: code may run until then
                                         : OrcCompiler::create({std::string(instructionSet()) == "avx512"});
    std::call_once(once, [&] {
      compiler = made;
      cache = std::make_unique<CodeCache>(cacheFolder);
    });
  }

  const std::string cacheFolder;
  std::once_flag once;
  OrcCompiler *compiler = nullptr;
  std::unique_ptr<CodeCache> cache;
};

} // namespace
} // namespace joule::vgpu::jit

namespace joule::vgpu {

/// Linking this file in is what gives the engine its compiler.
void useJit(const std::string &cacheFolder) {
  // One for every folder asked for, and kept to the end: launches may still be using the last.
  static std::mutex mutex;
  static auto &compilers = *new std::map<std::string, std::unique_ptr<jit::LazyCompiler>>;
  std::lock_guard lock(mutex);
  auto &compiler = compilers[cacheFolder];
  if (!compiler)
    compiler = std::make_unique<jit::LazyCompiler>(cacheFolder);
  registerKernelCompiler(compiler.get());
}

} // namespace joule::vgpu
