/// From an ONNX model to an artifact.
#pragma once

#include "joule/Artifact.h"
#include "joule/Error.h"
#include "joule/Export.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace joule {

struct CompileOptions {
  /// GPUs ("a100") or architectures ("sm_80") to make code for; at least one.
  std::vector<std::string> targets = {"sm_80"};

  /// A folder that receives the module after each level, as 1-onnx.mlir and so on, and the kernels' PTX. Empty: none.
  /// What it receives can be edited and compiled in a model's place.
  std::string dumpFolder;

  /// "onnx", "nn", "kernels" or "plan" (of the first target): instead of an artifact, the module at that level is
  /// written, as text that can be edited and compiled in a model's place. Empty: none.
  std::string stopAfter;

  /// Values of the model's main graph that become outputs, too, behind its own; for looking inside.
  std::vector<std::string> alsoOutputs;

  /// Called with how much of the work is done, from 0 to 1; by several threads, but by one at a time. Null: never.
  std::function<void(double)> progress;

  /// Threads that make kernels; 0: one per core.
  unsigned threads = 0;

  /// Where NVIDIA's `ptxas` is installed, also assemble every kernel, put the machine code beside its PTX, and report
  /// what it takes of the GPU.
  bool assemble = true;
};

/// What a compilation did.
struct CompileSummary {
  unsigned nodes = 0;    ///< ONNX nodes in the model, subgraphs included
  unsigned kernels = 0;  ///< distinct kernels of the first target
  unsigned launches = 0; ///< launches in the first target's plan, loops counted once
  uint64_t ptxLines = 0; ///< lines of PTX of the first target
  bool assembled = false; ///< the kernels are there as machine code, too
  double cpuSeconds = 0; ///< processor time of this process
};

/// Compiles the model at `model` and writes the artifact to `artifact`, in place of a regular file or nothing. Nothing
/// is left behind on an error. `model` is an ONNX file, or, where its name ends in .mlir, a module that an earlier
/// compilation dumped: it goes on from the module's level. Errors: the 05xx and 06xx codes, FileUnreadable,
/// FileUnwritable.
///
///   joule::CompileOptions options;
///   options.targets = {"a100", "h100"};
///   auto summary = joule::compile("model.onnx", "model.joule", options);
///   if (!summary)
///     std::cerr << summary.error().toString() << "\n"; // conv_1: JL0601: … names the ONNX node
JOULE_API Result<CompileSummary> compile(const std::string &model, const std::string &artifact,
                                         const CompileOptions &options = {});

/// Compiles a model and opens the artifact, which has no name in the file system: for programs that compile what they
/// run. Errors: those of compile() and Artifact::open().
///
///   joule::Device device = *joule::Device::open("virtual");
///   auto artifact = joule::compileInMemory("model.onnx", {{device.properties().architecture()}});
///   auto session = joule::Session::create(*artifact, device);
JOULE_API Result<Artifact> compileInMemory(const std::string &model, const CompileOptions &options = {});

/// An ONNX node that cannot be compiled, and why.
struct UnsupportedNode {
  std::string node;   ///< its name, or operator and first output
  std::string reason; ///< one sentence
};

/// Lists every node of the model that cannot be compiled; empty where all can. Error: the model cannot be read.
JOULE_API Result<std::vector<UnsupportedNode>> check(const std::string &model);

} // namespace joule
