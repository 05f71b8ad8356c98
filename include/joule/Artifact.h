/// A compiled model on disk.
#pragma once

#include "joule/Error.h"
#include "joule/Export.h"
#include "joule/Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace joule {

/// An open model.joule. Cheap to copy: copies share one mapping of the file, which may be replaced or removed
/// meanwhile. Safe to use from several threads.
///
///   joule::Result<joule::Artifact> artifact = joule::Artifact::open("model.joule");
///   for (const joule::TensorSpec &input : artifact->inputs())
///     std::cout << input.name << ": " << joule::nameOf(input.type) << " " << joule::toString(input.shape) << "\n";
///   // image: float32 [batch, 3, 224, 224]
class JOULE_API Artifact {
public:
  /// Opens and checks the file's structure, its manifest and its plans; the weights are mapped, not read.
  /// Errors: FileUnreadable, ArtifactDamaged, ArtifactTooNew, EntryMissing.
  static Result<Artifact> open(const std::string &path);

  /// The targets it was compiled for, e.g. "sm_80", in the compiler's order.
  const std::vector<std::string> &targets() const;

  /// The name of the model; may be empty.
  const std::string &modelName() const;

  /// What the model takes and gives, in the model's order. All targets agree.
  const std::vector<TensorSpec> &inputs() const;
  const std::vector<TensorSpec> &outputs() const;

  /// Names of all entries, sorted.
  std::vector<std::string> entries() const;

  /// The bytes of an entry, after its checksum is compared. Errors: EntryMissing, ArtifactDamaged.
  Result<std::string> read(const std::string &entry) const;

  /// Reads every byte and compares checksums and the weights' names with their contents. Error:
  /// ArtifactDamaged.
  Result<void> verify() const;

  class JOULE_HIDDEN Impl; ///< Joule's own side
  const std::shared_ptr<const Impl> &impl() const { return shared; }

private:
  explicit Artifact(std::shared_ptr<const Impl> shared) : shared(std::move(shared)) {}
  std::shared_ptr<const Impl> shared;
};

} // namespace joule
