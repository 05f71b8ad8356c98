// Names, hashes and the manifest.
#include "lib/Artifact/ArtifactWriter.h"

#include "lib/Artifact/ContentHash.h"
#include "lib/Artifact/Manifest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace joule {

constexpr size_t pieceBytes = 1 << 20;

static Result<void> copyFromFile(const std::string &file, uint64_t offset, uint64_t length,
                                 const ArtifactWriter::Sink &sink) {
  auto failure = [&](const char *what) {
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\": {}", file, what), ""};
  };
  int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return failure(std::strerror(errno));
  Result<void> result;
  std::vector<char> piece(std::min<uint64_t>(length, pieceBytes));
  while (length > 0 && result) {
    ssize_t read =
        pread(descriptor, piece.data(), std::min<uint64_t>(length, piece.size()), static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR)
      continue;
    if (read <= 0) {
      result = failure(read < 0 ? std::strerror(errno) : "it ends before the bytes that are wanted");
      break;
    }
    result = sink({piece.data(), static_cast<size_t>(read)});
    offset += static_cast<uint64_t>(read);
    length -= static_cast<uint64_t>(read);
  }
  close(descriptor);
  return result;
}

Result<ArtifactWriter> ArtifactWriter::begin(const std::string &path) {
  Result<ZipWriter> zip = ZipWriter::begin(path);
  if (!zip)
    return zip.error();
  return ArtifactWriter(std::move(*zip));
}

Result<void> ArtifactWriter::addEntry(const std::string &name, std::string_view bytes) {
  if (std::optional<std::string> target = targetOfPlan(name))
    targets.push_back(*target);
  return zip.addEntry(name, bytes);
}

Result<void> ArtifactWriter::addEntryFromFile(const std::string &name, const std::string &file,
                                              uint64_t offset, uint64_t length) {
  zip.beginEntry(name.size());
  Result<void> copied = copyFromFile(
      file, offset, length, [&](std::string_view piece) { return zip.write(piece.data(), piece.size()); });
  if (!copied)
    return copied;
  return zip.endEntry(name);
}

Result<std::string> ArtifactWriter::addWeight(std::string_view bytes) {
  return addWeightFrom([&](const Sink &sink) { return sink(bytes); });
}

Result<std::string> ArtifactWriter::addWeightFromFile(const std::string &file, uint64_t offset,
                                                      uint64_t length) {
  return addWeightFrom([&](const Sink &sink) { return copyFromFile(file, offset, length, sink); });
}

Result<std::string> ArtifactWriter::addWeightFrom(const std::function<Result<void>(const Sink &)> &produce) {
  ContentHash hash;
  zip.beginEntry(weightEntry(hash.text()).size());
  Result<void> written = produce([&](std::string_view piece) {
    hash.add(piece);
    return zip.write(piece.data(), piece.size());
  });
  if (!written)
    return written.error();
  std::string name = weightEntry(hash.text());
  Result<void> ended = weights.insert(name).second ? zip.endEntry(name) : zip.dropEntry();
  if (!ended)
    return ended.error();
  return name;
}

Result<void> ArtifactWriter::finish() {
  Manifest manifest;
  manifest.model = modelName;
  manifest.targets = targets;
  if (Result<void> added = zip.addEntry(manifestEntry, print(manifest)); !added)
    return added;
  return zip.finish();
}

} // namespace joule
