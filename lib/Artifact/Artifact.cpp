// The public Artifact: opens, describes and verifies.
#include "lib/Artifact/ArtifactReader.h"

#include "lib/Artifact/ContentHash.h"

#include <fmt/format.h>

namespace joule {

constexpr uint32_t planVersion = 1;

std::vector<TensorSpec> specsOf(const plan::Plan &plan,
                                const google::protobuf::RepeatedPtrField<plan::Tensor> &tensors) {
  std::map<uint32_t, std::string> symbols;
  for (const plan::Symbol &symbol : plan.symbols())
    symbols[symbol.index()] = symbol.name();
  std::vector<TensorSpec> specs;
  for (const plan::Tensor &tensor : tensors) {
    TensorSpec spec{tensor.name(), static_cast<ElementType>(tensor.type()), {}};
    for (const plan::Index &index : tensor.dims()) {
      Dimension dimension;
      if (index.kind_case() == plan::Index::kIndex)
        dimension.symbol = symbols.count(index.index()) ? symbols[index.index()] : "";
      else
        dimension.size = index.constant();
      spec.shape.push_back(dimension);
    }
    specs.push_back(spec);
  }
  return specs;
}

static Result<plan::Plan> readPlan(const ZipReader &zip, const std::string &target) {
  Result<std::string_view> bytes = zip.verifiedEntry(planEntry(target));
  if (!bytes)
    return bytes.error();
  plan::Plan plan;
  // Protobuf would complain by itself, and to whom nobody knows.
  google::protobuf::LogSilencer silencer;
  if (bytes->size() > INT32_MAX || !plan.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())))
    return Error{ErrorCode::ArtifactDamaged,
                 fmt::format("\"{}\" is damaged: {} is not a plan", zip.path(), planEntry(target)), ""};
  if (plan.version() > planVersion)
    return Error{
        ErrorCode::ArtifactTooNew,
        fmt::format("plan version {} is newer than {}, which this Joule reads", plan.version(), planVersion),
        ""};
  return plan;
}

Result<Artifact> Artifact::open(const std::string &path) {
  Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(path);
  if (!zip)
    return zip.error();
  auto impl = std::make_shared<Impl>();
  impl->zip = *zip;
  Result<std::string_view> text = impl->zip->verifiedEntry(manifestEntry);
  if (!text)
    return text.error();
  Result<Manifest> manifest = parseManifest(*text);
  if (!manifest)
    return Error{manifest.error().code, fmt::format("\"{}\": {}", path, manifest.error().message), ""};
  impl->manifest = *manifest;
  for (const std::string &target : impl->manifest.targets) {
    Result<plan::Plan> plan = readPlan(*impl->zip, target);
    if (!plan)
      return plan.error();
    if (impl->plans.empty()) {
      impl->inputs = specsOf(*plan, plan->inputs());
      impl->outputs = specsOf(*plan, plan->outputs());
    }
    impl->plans.emplace(target, std::move(*plan));
  }
  return Artifact(std::move(impl));
}

const std::vector<std::string> &Artifact::targets() const { return shared->manifest.targets; }
const std::string &Artifact::modelName() const { return shared->manifest.model; }
const std::vector<TensorSpec> &Artifact::inputs() const { return shared->inputs; }
const std::vector<TensorSpec> &Artifact::outputs() const { return shared->outputs; }

std::vector<std::string> Artifact::entries() const {
  std::vector<std::string> names;
  for (const auto &[name, entry] : shared->zip->entries())
    names.push_back(name);
  return names;
}

Result<std::string> Artifact::read(const std::string &entry) const {
  Result<std::string_view> bytes = shared->zip->verifiedEntry(entry);
  if (!bytes)
    return bytes.error();
  return std::string(*bytes);
}

Result<void> Artifact::verify() const {
  for (const auto &[name, entry] : shared->zip->entries()) {
    if (Result<std::string_view> bytes = shared->zip->verifiedEntry(name); !bytes)
      return bytes.error();
    if (name.rfind(weightEntry(""), 0) != 0)
      continue;
    ContentHash hash;
    hash.add(entry.bytes);
    if (weightEntry(hash.text()) != name)
      return Error{
          ErrorCode::ArtifactDamaged,
          fmt::format("\"{}\" is damaged: \"{}\" is not named for its content", shared->zip->path(), name),
          ""};
  }
  return {};
}

} // namespace joule
