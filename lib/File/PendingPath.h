// Files and folders that are there only until their work is done.
#pragma once

#include <string>

namespace joule {

/// Remembers a path that its owner is going to remove, so that a program which a signal ends can do so in its place.
/// Safe from several threads. Where very many are pending at once, the last ones are not remembered.
class PendingPath {
public:
  explicit PendingPath(const std::string &path);
  PendingPath(PendingPath &&other) noexcept;
  PendingPath &operator=(PendingPath &&) = delete;
  ~PendingPath();

private:
  int slot; // -1: not remembered
};

/// `prefix` and letters that make a name which nobody has, so that it can be pending before there is anything of that
/// name: a signal may come in between.
std::string randomName(const std::string &prefix);

/// Removes every file that is pending, then every folder that is then empty. A signal handler may call it.
void removePendingPaths();

} // namespace joule
