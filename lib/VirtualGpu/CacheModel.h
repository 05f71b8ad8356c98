// What a launch's accesses of global memory would move between the caches, by a model of them.
//
// Blocks note their accesses in the order they make them. When all of a wave (as many blocks as the device holds at
// once) have ended, they are played back in turns, a line of 128 bytes of each block after the other, in the order of
// the blocks; so what comes out does not depend on which worker ran what when.
//
// A multiprocessor's L1 takes loads: missing sectors of 32 bytes come from L2. Stores write through and are not kept,
// atomics and loads that ask for it (.cg, .cv, .volatile, bulk copies) pass by. L2 keeps what it reads and what is
// written, and writes it to DRAM when it must make room, or at the launch's end. Both replace the line that was used
// longest ago, whatever its address, and both are empty when the launch begins.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace joule::vgpu {

struct CacheSizes {
  uint64_t l1Bytes = 0, l2Bytes = 0; // of a multiprocessor, besides shared memory; of the device
  unsigned multiprocessors = 1;
  unsigned blocksPerMultiprocessor = 1; // of this launch, at once
};

/// In sectors of 32 bytes.
struct MemoryTraffic {
  bool isModelled = false; // false also where a block made more accesses than can be kept
  uint64_t l1Loads = 0, l1Hits = 0;
  uint64_t l2Reads = 0, l2ReadHits = 0, l2Writes = 0;
  uint64_t dramReads = 0, dramWrites = 0;
};

enum class AccessKind : uint8_t { Load, LoadPastL1, Store, Atomic };

/// A block's accesses, line by line.
class AccessLog {
public:
  /// The lines that the lanes of one instruction touch, each once.
  void add(AccessKind kind, const uint64_t *addresses, uint32_t mask, unsigned bytes);
  void addRange(AccessKind kind, uint64_t address, uint64_t bytes);

  struct Entry {
    uint64_t line : 56; // the address / 128
    uint64_t sectors : 4, kind : 4;
  };
  std::vector<Entry> entries;
  size_t most = ~size_t(0);
  bool isFull = false;

private:
  void add(AccessKind kind, uint64_t line, unsigned sectors);
};

/// Lines of 128 bytes by the time of their last use.
class LineCache {
public:
  explicit LineCache(uint64_t bytes) : capacity(bytes / 128) {}

  struct Line {
    uint64_t address;
    uint8_t present = 0, dirty = 0; // a bit for each sector
  };
  /// The line, newly kept where it was not; `evicted` is what made room, if anything did.
  Line &use(uint64_t address, Line &evicted);
  const std::list<Line> &lines() const { return order; }

private:
  uint64_t capacity;
  std::list<Line> order; // the last one used first
  std::unordered_map<uint64_t, std::list<Line>::iterator> places;
};

class CacheModel {
public:
  CacheModel(const CacheSizes &sizes, uint64_t numBlocks);

  /// An empty log for a block.
  AccessLog makeLog() const;
  /// A block has ended, from any thread.
  void finish(uint64_t block, AccessLog log);
  /// All have.
  MemoryTraffic result();

private:
  void playWave();
  void play(uint64_t block, const AccessLog::Entry &entry);
  void readL2(uint64_t line, unsigned sectors);
  void writeL2(uint64_t line, unsigned sectors, bool reads);
  LineCache::Line &useL2(uint64_t line);

  const CacheSizes sizes;
  const uint64_t numBlocks, waveBlocks;
  std::mutex mutex;
  std::map<uint64_t, AccessLog> logs; // of blocks that have ended, from the wave that is next
  uint64_t played = 0, ended = 0;     // blocks; those of the next wave that have ended
  std::map<uint64_t, std::unique_ptr<LineCache>> l1; // by multiprocessor
  LineCache l2;
  MemoryTraffic traffic;
};

} // namespace joule::vgpu
