// Files of compiled code. They are run as they are, so only those are taken that nobody but this user, or
// root, could have written.
#include "lib/VirtualGpu/Jit/CodeCache.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace joule::vgpu::jit {
namespace {

namespace fs = std::filesystem;

const std::string magic = "joule-vgpu-code-1\n";
constexpr size_t hashBytes = 32;
constexpr off_t largestFile = 64 << 20;

std::string hashOf(llvm::StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  std::array<uint8_t, hashBytes> bits = hash.final();
  return std::string(bits.begin(), bits.end());
}

/// May nobody else write to it?
bool isOurs(const struct stat &file) {
  return (file.st_uid == geteuid() || file.st_uid == 0) && !(file.st_mode & (S_IWGRP | S_IWOTH));
}

class File {
public:
  File(const std::string &path, int flags) : descriptor(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  explicit operator bool() const { return descriptor >= 0; }

  /// Empty if it is not a file that this user alone may have written.
  std::string content() const {
    struct stat is;
    if (fstat(descriptor, &is) != 0 || !S_ISREG(is.st_mode) || !isOurs(is) || is.st_size > largestFile)
      return "";
    std::string text(size_t(is.st_size), '\0');
    size_t at = 0;
    for (ssize_t n; at < text.size() && (n = read(descriptor, &text[at], text.size() - at)) > 0;)
      at += size_t(n);
    text.resize(at);
    return text;
  }
  bool fill(const std::string &text) const {
    size_t at = 0;
    for (ssize_t n; at < text.size() && (n = write(descriptor, text.data() + at, text.size() - at)) > 0;)
      at += size_t(n);
    return at == text.size();
  }
  void touch() const { futimens(descriptor, nullptr); }

private:
  int descriptor;
};

} // namespace

bool CodeCache::isUsable() const {
  struct stat is;
  return !folder.empty() && stat(folder.c_str(), &is) == 0 && S_ISDIR(is.st_mode) && isOurs(is);
}

bool CodeCache::load(const std::string &key, std::string &content) const {
  if (!isUsable())
    return false;
  File file(pathOf(key), O_RDONLY | O_NONBLOCK);
  if (!file)
    return false;
  std::string text = file.content();
  size_t head = magic.size() + key.size() + hashBytes;
  bool whole = text.size() >= head && text.compare(0, magic.size(), magic) == 0 &&
               text.compare(magic.size(), key.size(), key) == 0 &&
               text.compare(head - hashBytes, hashBytes, hashOf(llvm::StringRef(text).substr(head))) == 0;
  if (!whole) {
    unlink(pathOf(key).c_str());
    return false;
  }
  file.touch();
  content = text.substr(head);
  return true;
}

void CodeCache::store(const std::string &key, const std::string &content) const {
  if (folder.empty() || content.size() > size_t(largestFile) / 2)
    return;
  std::error_code ignored;
  fs::create_directories(fs::path(folder).parent_path(), ignored);
  mkdir(folder.c_str(), 0700); // which a user may have removed meanwhile
  if (!isUsable())
    return;
  static std::atomic<unsigned> number{0};
  std::string name = folder + "/" + key + "." + std::to_string(getpid()) + "-" + std::to_string(++number) + ".part";
  bool written = false;
  if (File file(name, O_WRONLY | O_CREAT | O_EXCL); file)
    written = file.fill(magic + key + hashOf(content) + content);
  if (!written || rename(name.c_str(), pathOf(key).c_str()) != 0)
    unlink(name.c_str());
  trim();
}

void CodeCache::trim() const {
  struct Kept {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Kept> files;
  uint64_t total = 0;
  std::error_code ignored;
  const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored)) {
    Kept file{it->last_write_time(ignored), it->file_size(ignored), it->path()};
    if (ignored)
      continue; // gone already
    if (file.path.extension() == ".part" && file.used < longAgo)
      fs::remove(file.path, ignored); // of a process that ended in the midst of it
    if (file.path.extension() != ".code")
      continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= mostBytes)
    return;
  std::sort(files.begin(), files.end(), [](const Kept &a, const Kept &b) { return a.used < b.used; });
  for (const Kept &file : files) {
    if (total <= mostBytes)
      return;
    fs::remove(file.path, ignored);
    total -= file.bytes;
  }
}

std::string CodeCache::keyOf(const std::string &text) { return llvm::toHex(hashOf(text), /*LowerCase=*/true); }

std::string CodeCache::identityOfBuild() {
  Dl_info ignored;
  void *found = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&CodeCache::identityOfBuild), &ignored, &found, RTLD_DL_LINKMAP))
    return "";
  const std::string name = static_cast<link_map *>(found)->l_name, path = name.empty() ? "/proc/self/exe" : name;
  struct stat is;
  if (path[0] != '/' || stat(path.c_str(), &is) != 0) // relative to a folder that may have changed
    return "";
  return std::to_string(is.st_size) + "." + std::to_string(is.st_mtim.tv_sec) + "." +
         std::to_string(is.st_mtim.tv_nsec) + "." + std::to_string(is.st_ino);
}

} // namespace joule::vgpu::jit
