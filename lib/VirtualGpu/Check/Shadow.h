// What check mode remembers of memory: which bytes have been written, and who touched a word last.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace joule::vgpu {

/// An access to some bytes of a word. Records of other launches (of shared memory: of other blocks) have
/// another stamp and count as none.
struct Record {
  uint32_t stamp = 0;
  uint32_t block = 0, clock = 0; // the warp's clock when it touched the word
  uint32_t line = 0;             // of PTX
  uint8_t warp = 0, lane = 0;    // `anyLane`: several, or the warp together
  uint8_t bytes = 0;             // of the word, one bit each
  uint8_t flags = 0;             // CheckFlags
};
constexpr uint8_t anyLane = 255;

/// The last write of a word, and reads since: two of different warps are enough to show a third that it
/// conflicts.
struct WordShadow {
  Record write, reads[2];
  std::unique_ptr<WordShadow[]> parts; // one for each byte, from when bytes of the word are touched apart

  /// Visits what is known of these bytes: the word's shadow, or those of its bytes. With the bytes that it is
  /// of.
  template <class F> void each(unsigned bytes, F f) {
    if (!parts && bytes != 15)
      split();
    if (!parts)
      return f(*this, bytes);
    for (unsigned i = 0; i < 4; ++i)
      if (bytes >> i & 1)
        f(parts[i], 1u << i);
  }

private:
  void split();
};

/// One allocation of device memory.
class ShadowedAllocation {
public:
  ShadowedAllocation(uint64_t low, uint64_t high, uint64_t number, bool written);

  WordShadow &word(uint64_t address);
  bool isWritten(uint64_t address, uint64_t bytes) const;
  void markWritten(uint64_t address, uint64_t bytes);
  std::string describe() const;

  const uint64_t low, high, number;

private:
  enum { None, Some, All } state;
  std::vector<uint8_t> written; // a byte for each byte, where some are
  std::vector<std::unique_ptr<WordShadow[]>> pages;
};

/// All of device memory. Launches in check mode come one after the other; the host may allocate meanwhile.
class GlobalShadow {
public:
  void allocated(uint64_t address, uint64_t bytes, bool written);
  void released(uint64_t address);
  /// The host wrote there.
  void hostWrote(uint64_t address, uint64_t bytes);
  void hostCopied(uint64_t to, uint64_t from, uint64_t bytes);
  /// Null if nothing is allocated there.
  ShadowedAllocation *find(uint64_t address);
  /// Where an address outside all allocations lies: behind one, in one that was freed.
  std::string describe(uint64_t address, bool &freed);

private:
  std::mutex mutex;
  std::map<uint64_t, std::unique_ptr<ShadowedAllocation>> live;
  struct Freed {
    uint64_t low, high, number;
  };
  std::deque<Freed> freed;
  uint64_t count = 0;
};

} // namespace joule::vgpu
