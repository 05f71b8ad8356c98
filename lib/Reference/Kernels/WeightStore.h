/// Where the bytes of weights are: in files, or in blobs that folding made.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"

#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace joule::reference {

/// Finds the bytes of a `#nn.weight<blob, offset, length>` and keeps new ones. Files are mapped once and stay
/// mapped as long as bytes of them are in use. Nothing is ever removed, so a blob's name stays valid. Safe to
/// use from several threads.
class WeightStore {
public:
  /// Relative paths start from `folder`; where that is empty, from the working directory.
  explicit WeightStore(std::string folder = "") : folder(std::move(folder)) {}

  /// The bytes of a weight, not copied. Fails where the file cannot be read, the blob is unknown, or the
  /// range ends behind it.
  Result<Bytes> find(std::string_view blob, uint64_t offset, uint64_t length);

  /// Keeps `bytes` and gives the name they are found by: "@0", "@1", …
  std::string add(Bytes bytes);

  /// All that was added, in order.
  std::vector<Bytes> added();

private:
  Result<Bytes> wholeBlob(const std::string &blob);
  Result<Bytes> mapFile(const std::string &path);

  std::string folder;
  std::mutex mutex;
  std::map<std::string, Bytes> files;
  std::deque<Bytes> blobs;
};

} // namespace joule::reference
