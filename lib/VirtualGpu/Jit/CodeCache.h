// Compiled code in a folder, for later processes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace joule::vgpu::jit {

/// Files by key, each with a hash of what it holds. Several processes may use one folder. Whatever goes wrong
/// is as if the file were not there: a cache never makes a launch fail.
class CodeCache {
public:
  static constexpr uint64_t usualBytes = 256ull << 20;

  /// An empty folder: no cache. One that others than its owner may write to is not used.
  explicit CodeCache(std::string folder, uint64_t mostBytes = usualBytes)
      : folder(std::move(folder)), mostBytes(mostBytes) {}

  /// False if there is nothing. What is damaged is removed.
  bool load(const std::string &key, std::string &content) const;
  /// Where the folder then holds more than it may, the files that were not used for longest go.
  void store(const std::string &key, const std::string &content) const;

  /// A name for what `text` decides.
  static std::string keyOf(const std::string &text);
  /// What distinguishes this build of the library from others; empty if it cannot be told.
  static std::string identityOfBuild();

private:
  std::string pathOf(const std::string &key) const { return folder + "/" + key + ".code"; }
  bool isUsable() const;
  void trim() const;

  std::string folder;
  uint64_t mostBytes;
};

} // namespace joule::vgpu::jit
