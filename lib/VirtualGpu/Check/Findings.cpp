// Collecting and printing findings.
#include "lib/VirtualGpu/Check/Findings.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace joule::vgpu {

const char *nameOf(FindingKind kind) {
  static const char *const names[] = {
      "out-of-bounds", "misaligned", "use-after-free",     "uninitialised-read",
      "race",          "async-copy", "barrier-divergence", "barrier-mismatch",
      "member-mask",   "deadlock",   "async-barrier",      "proxy-fence",
      "fault"};
  return names[unsigned(kind)];
}

bool Findings::add(Finding finding) {
  std::lock_guard lock(mutex);
  for (Finding &known : found)
    if (known.kind == finding.kind && known.line == finding.line && known.kernel == finding.kernel) {
      known.count += finding.count;
      return false;
    }
  found.push_back(std::move(finding));
  return true;
}

std::vector<Finding> Findings::list() const {
  std::lock_guard lock(mutex);
  return found;
}

std::string describe(const Finding &f) {
  std::string text = std::string(nameOf(f.kind)) + ": " + f.message;
  if (!f.nodes.empty())
    text += ", of the nodes " + f.nodes;
  if (f.count > 1)
    text += " (" + std::to_string(f.count) + " times)";
  return text;
}

static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    char code[8];
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      snprintf(code, sizeof code, "\\u%04x", unsigned(c)), out += code;
    else
      out += c;
  }
  return out + "\"";
}

static std::string triple(const uint32_t *v) {
  return "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + "]";
}

std::string toJson(const Finding &f) {
  char address[32];
  snprintf(address, sizeof address, "\"0x%llx\"", static_cast<unsigned long long>(f.address));
  std::string text = "{\"kind\":" + quoted(nameOf(f.kind)) + ",\"kernel\":" + quoted(f.kernel) +
                     ",\"line\":" + std::to_string(f.line) + ",\"block\":" + triple(f.block) +
                     ",\"thread\":" + triple(f.thread) + ",\"address\":" + address +
                     ",\"count\":" + std::to_string(f.count) + ",\"message\":" + quoted(f.message);
  if (!f.nodes.empty())
    text += ",\"nodes\":" + quoted(f.nodes);
  return text + "}";
}

bool appendToReport(const std::string &path, const std::vector<Finding> &findings) {
  std::string lines;
  for (const Finding &f : findings)
    lines += toJson(f) + "\n";
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0)
    return false;
  bool ok = write(file, lines.data(), lines.size()) == ssize_t(lines.size());
  return close(file) == 0 && ok;
}

} // namespace joule::vgpu
