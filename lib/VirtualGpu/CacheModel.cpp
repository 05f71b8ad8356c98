// Keeping accesses, and playing them back through LRU caches.
#include "lib/VirtualGpu/CacheModel.h"

#include <algorithm>
#include <iterator>

namespace joule::vgpu {

constexpr uint64_t lineBytes = 128, sectorBytes = 32;
constexpr size_t mostEntriesOfWave = size_t(1) << 26; // half a GB

// --- noting ---

void AccessLog::add(AccessKind kind, uint64_t line, unsigned sectors) {
  if (entries.size() >= most)
    isFull = true;
  else
    entries.push_back({line, sectors, uint64_t(kind)});
}

void AccessLog::add(AccessKind kind, const uint64_t *addresses, uint32_t mask, unsigned bytes) {
  struct Touched {
    uint64_t line;
    unsigned sectors;
  } touched[32];
  unsigned count = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (address / sectorBytes != (address + bytes - 1) / sectorBytes) { // a texel of an odd size, say
      addRange(kind, address, bytes);
      continue;
    }
    uint64_t line = address / lineBytes;
    unsigned sector = 1u << address / sectorBytes % 4, at = count;
    while (at > 0 && touched[at - 1].line != line) // neighbours mostly share a line
      --at;
    if (at > 0)
      touched[at - 1].sectors |= sector;
    else
      touched[count++] = {line, sector};
  }
  for (unsigned i = 0; i < count; ++i)
    add(kind, touched[i].line, touched[i].sectors);
}

void AccessLog::addRange(AccessKind kind, uint64_t address, uint64_t bytes) {
  if (!bytes)
    return;
  uint64_t first = address / sectorBytes, last = (address + bytes - 1) / sectorBytes;
  for (uint64_t line = first / 4; line <= last / 4; ++line) {
    unsigned sectors = 0;
    for (unsigned i = 0; i < 4; ++i)
      sectors |= unsigned(line * 4 + i >= first && line * 4 + i <= last) << i;
    add(kind, line, sectors);
  }
}

// --- a cache ---

LineCache::Line &LineCache::use(uint64_t address, Line &evicted) {
  evicted = {};
  if (auto it = places.find(address); it != places.end()) {
    order.splice(order.begin(), order, it->second);
    return order.front();
  }
  if (order.size() >= std::max<uint64_t>(capacity, 1)) {
    evicted = order.back();
    places.erase(evicted.address);
    order.pop_back();
  }
  order.push_front({address});
  places[address] = order.begin();
  return order.front();
}

// --- the model ---

CacheModel::CacheModel(const CacheSizes &sizes, uint64_t numBlocks)
    : sizes(sizes), numBlocks(numBlocks),
      waveBlocks(std::max<uint64_t>(1, uint64_t(sizes.multiprocessors) * sizes.blocksPerMultiprocessor)),
      l2(sizes.l2Bytes) {
  traffic.isModelled = true;
}

AccessLog CacheModel::makeLog() const {
  AccessLog log;
  log.most = mostEntriesOfWave / std::min(waveBlocks, std::max<uint64_t>(1, numBlocks));
  return log;
}

void CacheModel::finish(uint64_t block, AccessLog log) {
  std::lock_guard lock(mutex);
  traffic.isModelled &= !log.isFull;
  if (!traffic.isModelled)
    log.entries = {};
  logs[block] = std::move(log);
  ended += block < played + waveBlocks;
  while (played < numBlocks && ended == std::min(waveBlocks, numBlocks - played)) {
    playWave();
    ended = uint64_t(std::distance(logs.begin(), logs.lower_bound(played + waveBlocks)));
  }
}

/// The blocks of the wave take turns, so that those which run at once compete for L2 as they would.
void CacheModel::playWave() {
  uint64_t end = std::min(played + waveBlocks, numBlocks);
  bool more = true;
  for (size_t turn = 0; more; ++turn) {
    more = false;
    for (auto it = logs.begin(); it != logs.end() && it->first < end; ++it)
      if (turn < it->second.entries.size()) {
        play(it->first, it->second.entries[turn]);
        more = true;
      }
  }
  logs.erase(logs.begin(), logs.lower_bound(end));
  played = end;
}

void CacheModel::play(uint64_t block, const AccessLog::Entry &entry) {
  unsigned sectors = entry.sectors;
  switch (AccessKind(entry.kind)) {
  case AccessKind::Load: {
    std::unique_ptr<LineCache> &own = l1[block % sizes.multiprocessors];
    if (!own)
      own = std::make_unique<LineCache>(sizes.l1Bytes);
    LineCache::Line evicted, &line = own->use(entry.line, evicted);
    unsigned missing = sectors & ~line.present;
    line.present |= uint8_t(sectors);
    traffic.l1Loads += unsigned(__builtin_popcount(sectors));
    traffic.l1Hits += unsigned(__builtin_popcount(sectors & ~missing));
    return readL2(entry.line, missing);
  }
  case AccessKind::LoadPastL1:
    return readL2(entry.line, sectors);
  case AccessKind::Store:
    return writeL2(entry.line, sectors, false);
  case AccessKind::Atomic:
    return writeL2(entry.line, sectors, true);
  }
}

LineCache::Line &CacheModel::useL2(uint64_t address) {
  LineCache::Line evicted, &line = l2.use(address, evicted);
  traffic.dramWrites += unsigned(__builtin_popcount(evicted.dirty));
  return line;
}

void CacheModel::readL2(uint64_t address, unsigned sectors) {
  if (!sectors)
    return;
  LineCache::Line &line = useL2(address);
  unsigned missing = sectors & ~line.present;
  line.present |= uint8_t(sectors);
  traffic.l2Reads += unsigned(__builtin_popcount(sectors));
  traffic.l2ReadHits += unsigned(__builtin_popcount(sectors & ~missing));
  traffic.dramReads += unsigned(__builtin_popcount(missing));
}

/// What is written whole need not be read first; an update reads what is not there.
void CacheModel::writeL2(uint64_t address, unsigned sectors, bool reads) {
  LineCache::Line &line = useL2(address);
  if (reads)
    traffic.dramReads += unsigned(__builtin_popcount(sectors & ~line.present));
  line.present |= uint8_t(sectors);
  line.dirty |= uint8_t(sectors);
  traffic.l2Writes += unsigned(__builtin_popcount(sectors));
}

MemoryTraffic CacheModel::result() {
  std::lock_guard lock(mutex);
  MemoryTraffic total = traffic;
  total.isModelled &= played == numBlocks; // a launch that failed ends early
  for (const LineCache::Line &line : l2.lines())
    total.dramWrites += unsigned(__builtin_popcount(line.dirty));
  return total;
}

} // namespace joule::vgpu
