// try-models [--run] FILE...: compiles each model, or opens each artifact, and says how it ended, one line a file:
//   FILE: ok             or           FILE: JL0501: message [node]
// With --run, what is good so far also runs once on zeros on the virtual GPU, for one second at most.
// One process for all, so that hundreds of damaged files are tried in seconds; it must survive each of them.
#include "joule/Artifact.h"
#include "joule/Compiler.h"
#include "joule/Device.h"
#include "joule/Session.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace joule;

constexpr int64_t mostBytes = 1 << 26;

/// On one line, whatever the names in it hold.
static std::string oneLine(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return text;
}

static bool isArtifact(const std::string &path) {
  char magic[2] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return magic[0] == 'P' && magic[1] == 'K';
}

/// Zeros for every input; symbols are 2. Nothing where that would be too many.
static std::optional<std::map<std::string, Tensor>> zeros(const std::vector<TensorSpec> &specs) {
  std::map<std::string, Tensor> tensors;
  for (const TensorSpec &spec : specs) {
    Tensor tensor{spec.type, {}, {}};
    for (const Dimension &dimension : spec.shape)
      tensor.shape.push_back(dimension.size < 0 ? 2 : dimension.size);
    int64_t bytes = bytesOf(tensor.type, tensor.shape);
    if (bytes < 0 || bytes > mostBytes)
      return std::nullopt;
    tensor.bytes.resize(static_cast<size_t>(bytes));
    tensors[spec.name] = std::move(tensor);
  }
  return tensors;
}

/// On a device of its own: a fault leaves a device useless.
static Result<void> runOnce(const Artifact &artifact) {
  Result<Device> device = Device::open("virtual");
  if (!device)
    return device.error();
  SessionOptions options;
  options.dynamicMemoryCap = mostBytes;
  Result<Session> session = Session::create(artifact, *device, options);
  if (!session)
    return session.error();
  std::optional<std::map<std::string, Tensor>> inputs = zeros(session->inputs());
  if (!inputs)
    return {};
  std::map<std::string, TensorView> views;
  for (const auto &[name, tensor] : *inputs)
    views[name] = tensor.view();
  session->setTimeLimit(1);
  auto outputs = session->run(views);
  return outputs ? Result<void>() : outputs.error();
}

static Result<void> tryModel(const std::string &path, const std::string &scratch, bool runs) {
  std::string file = path;
  if (!isArtifact(path)) {
    CompileOptions options;
    options.assemble = false;
    options.threads = 1;
    if (Result<CompileSummary> done = compile(path, scratch, options); !done)
      return done.error();
    file = scratch;
  }
  Result<Artifact> artifact = Artifact::open(file);
  if (!artifact)
    return artifact.error();
  return runs ? runOnce(*artifact) : Result<void>();
}

int main(int argc, char **argv) {
  bool runs = argc > 1 && std::string(argv[1]) == "--run";
  std::string scratch = std::string(argv[argc - 1]) + ".try.joule";
  for (int i = runs ? 2 : 1; i < argc; ++i) {
    // Printed before the work, so that a crash shows where it happened.
    std::printf("%s: ", argv[i]);
    std::fflush(stdout);
    Result<void> done = tryModel(argv[i], scratch, runs);
    if (done)
      std::puts("ok");
    else
      std::printf("%s: %s [%s]\n", toString(done.error().code).c_str(), oneLine(done.error().message).c_str(),
                  oneLine(done.error().node).c_str());
  }
  std::filesystem::remove(scratch);
  return 0;
}
