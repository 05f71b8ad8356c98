// The shadow of device memory.
#include "lib/VirtualGpu/Check/Shadow.h"

#include <algorithm>

namespace joule::vgpu {

constexpr size_t mostFreed = 4096; // of freed allocations, for messages

void ShadowedRange::markWritten(uint64_t address, uint64_t bytes) {
  if (state == All)
    return;
  if (address <= low && address + bytes >= high) {
    state = All;
    return;
  }
  if (state == None)
    written.assign(high - low, 0);
  state = Some;
  memset(written.data() + (address - low), 1, bytes);
}

void ShadowedRange::markUnwritten(uint64_t address, uint64_t bytes) {
  if (state == None)
    return;
  if (state == All)
    written.assign(high - low, 1);
  state = Some;
  memset(written.data() + (address - low), 0, bytes);
}

void ShadowedRange::forget() {
  state = None;
  cells.forget();
}

static std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static std::string describeRange(uint64_t low, uint64_t high, uint64_t number) {
  return "allocation " + std::to_string(number) + " of " + std::to_string(high - low) + " bytes at " +
         hex(low);
}

std::string ShadowedAllocation::describe() const { return describeRange(low, high, number); }

void GlobalShadow::allocated(uint64_t address, uint64_t bytes, bool written) {
  std::lock_guard lock(mutex);
  live[address] = std::make_unique<ShadowedAllocation>(address, address + bytes, ++count, written);
  freed.erase(std::remove_if(freed.begin(), freed.end(),
                             [&](const Freed &f) { return f.low < address + bytes && address < f.high; }),
              freed.end());
}

void GlobalShadow::released(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = live.find(address);
  if (it == live.end())
    return;
  freed.push_front({it->second->low, it->second->high, it->second->number});
  if (freed.size() > mostFreed)
    freed.pop_back();
  live.erase(it);
}

void GlobalShadow::hostWrote(uint64_t address, uint64_t bytes) {
  ShadowedAllocation *a = find(address);
  if (a && bytes)
    a->markWritten(address, std::min(bytes, a->high - address));
}

void GlobalShadow::hostCopied(uint64_t to, uint64_t from, uint64_t bytes) {
  ShadowedAllocation *source = find(from), *target = find(to);
  if (!target || !bytes)
    return;
  if (!source)
    return hostWrote(to, bytes);
  bytes = std::min({bytes, source->high - from, target->high - to});
  if (source->isWritten(from, bytes))
    return target->markWritten(to, bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    if (source->isWritten(from + i, 1))
      target->markWritten(to + i, 1);
}

ShadowedAllocation *GlobalShadow::find(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = live.upper_bound(address);
  if (it == live.begin())
    return nullptr;
  ShadowedAllocation *a = std::prev(it)->second.get();
  return address < a->high ? a : nullptr;
}

std::string GlobalShadow::describe(uint64_t address, bool &wasFreed) {
  std::lock_guard lock(mutex);
  wasFreed = false;
  for (const Freed &f : freed)
    if (address >= f.low && address < f.high) {
      wasFreed = true;
      return "in " + describeRange(f.low, f.high, f.number) + ", which has been freed";
    }
  auto it = live.upper_bound(address);
  const ShadowedAllocation *below = it == live.begin() ? nullptr : std::prev(it)->second.get();
  const ShadowedAllocation *above = it == live.end() ? nullptr : it->second.get();
  if (below && address < below->high)
    return "across the end of " + below->describe();
  if (below && (!above || address - below->high < above->low - address))
    return std::to_string(address - below->high) + " bytes behind " + below->describe();
  return above ? std::to_string(above->low - address) + " bytes before " + above->describe()
               : "in no allocation";
}

} // namespace joule::vgpu
