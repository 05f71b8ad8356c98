// Writes model.joule: the layout of an artifact on top of ZipWriter.
#pragma once

#include "lib/Artifact/ZipWriter.h"

#include <functional>
#include <optional>

namespace joule {

/// Entries appear in the order of the calls; manifest.json is added by finish(). A writer that is destroyed
/// before finish() leaves nothing behind.
///
///   ArtifactWriter writer = …begin("model.joule");
///   std::string entry = …writer.addWeight(bytes);                  // "weights/<hash>", for
///   plan.Weight.entry writer.addEntry("targets/sm_80/kernels/relu.ptx", ptx);
///   writer.addEntry("targets/sm_80/plan.pb", plan.SerializeAsString());
///   writer.finish();
class ArtifactWriter {
public:
  /// Takes the next bytes of a weight.
  using Sink = std::function<Result<void>(std::string_view bytes)>;

  static Result<ArtifactWriter> begin(const std::string &path);

  /// A name that the manifest gives the model; empty by default.
  void setModelName(std::string name) { modelName = std::move(name); }

  Result<void> addEntry(const std::string &name, std::string_view bytes);

  /// Copies `length` bytes of `file` from `offset`, a piece at a time.
  Result<void> addEntryFromFile(const std::string &name, const std::string &file, uint64_t offset,
                                uint64_t length);

  /// Adds a weight under its content's hash, unless the same bytes are there already. Gives the entry's name.
  Result<std::string> addWeight(std::string_view bytes);
  Result<std::string> addWeightFromFile(const std::string &file, uint64_t offset, uint64_t length);

  /// The same for bytes that `produce` makes piece by piece, such as a weight packed for a kernel.
  Result<std::string> addWeightFrom(const std::function<Result<void>(const Sink &)> &produce);

  Result<void> finish();

private:
  explicit ArtifactWriter(ZipWriter zip) : zip(std::move(zip)) {}

  ZipWriter zip;
  std::string modelName;
  std::vector<std::string> targets;
  std::unordered_set<std::string> weights;
};

} // namespace joule
