// Findings of the whole process, and the host's writes.
#include "lib/VirtualGpu/Driver/Checking.h"
#include "lib/VirtualGpu/Driver/State.h"

#include <cstdio>
#include <deque>

namespace joule::vgpu {

void noteWritten(uint64_t to, uint64_t bytes) {
  if (driver().settings.check)
    for (auto &device : driver().devices)
      device->memory.hostWrote(to, bytes);
}

void noteCopied(uint64_t to, uint64_t from, uint64_t bytes) {
  if (driver().settings.check)
    for (auto &device : driver().devices)
      device->memory.hostCopied(to, from, bytes);
}

namespace {

struct Kept {
  std::mutex mutex;
  Findings findings;
  std::deque<std::string> texts;
};

Kept &kept() {
  static auto *instance = new Kept; // programs ask from destructors
  return *instance;
}

} // namespace

void noteFindings(const std::vector<Finding> &findings) {
  Kept &all = kept();
  std::lock_guard lock(all.mutex);
  std::vector<Finding> fresh;
  for (const Finding &finding : findings)
    if (all.findings.add(finding)) {
      fresh.push_back(finding);
      all.texts.push_back(describe(finding));
    }
  const std::string &report = driver().settings.report;
  if (fresh.empty() || (!report.empty() && appendToReport(report, fresh)))
    return;
  if (!report.empty())
    fprintf(stderr, "virtual GPU: cannot write '%s'\n", report.c_str());
  for (const Finding &finding : fresh)
    fprintf(stderr, "virtual GPU found: %s\n", describe(finding).c_str());
}

std::string &nodesOfLaunches() {
  thread_local std::string nodes;
  return nodes;
}

size_t countFindings() {
  std::lock_guard lock(kept().mutex);
  return kept().texts.size();
}

const char *textOfFinding(size_t index) {
  std::lock_guard lock(kept().mutex);
  return index < kept().texts.size() ? kept().texts[index].c_str() : nullptr;
}

} // namespace joule::vgpu
