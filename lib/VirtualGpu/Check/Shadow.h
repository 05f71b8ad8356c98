// What check mode remembers of memory: which bytes have been written, and who touched a word last.
#pragma once

#include "lib/VirtualGpu/Check/Clocks.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>

namespace joule::vgpu {

/// A touch of a word, or of one byte of it.
struct Access {
  Time time;
  uint32_t lanes;
  uint32_t line : 29;    // of PTX
  uint32_t wrote : 1;    // of those kept as reads: a write that atomic ones have followed
  uint32_t isAtomic : 1; // and its scope:
  uint32_t ofDevice : 1;
};

/// The last write, and reads since: two of different warps are enough to show a third that it conflicts.
struct Cell {
  Access write, reads[2];
};

/// The cells of a range of words. Pages of other launches (of shared memory: of other blocks) have another
/// stamp, and are cleared when they are touched.
class CellTable {
public:
  explicit CellTable(uint64_t words) : pages(words / wordsPerPage + 1) {}

  /// Visits the cells of [offset, offset + bytes).
  template <class F> void each(uint64_t offset, uint64_t bytes, F f);
  /// The cell of a word, or null where its bytes have cells of their own.
  Cell *whole(uint64_t offset) {
    uint64_t index = offset >> 2, word = index % wordsPerPage;
    Page *page = &pages[index / wordsPerPage];
    if (page->stamp != stamp)
      page = &fresh(*page);
    return page->split[word] ? nullptr : &page->words[word];
  }
  void forget() { ++stamp; }
  /// What other launches touched is forgotten.
  void belongTo(uint32_t launch) { stamp = launch; }

private:
  static constexpr uint64_t wordsPerPage = 256;
  struct Page {
    uint32_t stamp = 0;
    std::unique_ptr<Cell[]> words, bytes;
    std::bitset<wordsPerPage> split; // words whose bytes have been touched apart
  };
  Page &fresh(Page &page);
  Cell *bytesOf(Page &page, uint64_t word);

  uint32_t stamp = 1;
  std::vector<Page> pages;
};

inline CellTable::Page &CellTable::fresh(Page &page) {
  if (!page.words)
    page.words = std::make_unique<Cell[]>(wordsPerPage);
  else
    memset(static_cast<void *>(page.words.get()), 0, wordsPerPage * sizeof(Cell));
  page.split.reset();
  page.stamp = stamp;
  return page;
}

inline Cell *CellTable::bytesOf(Page &page, uint64_t word) {
  if (!page.bytes)
    page.bytes = std::make_unique<Cell[]>(wordsPerPage * 4);
  Cell *cells = &page.bytes[word * 4];
  if (!page.split[word]) {
    page.split[word] = true;
    for (unsigned i = 0; i < 4; ++i)
      cells[i] = page.words[word];
  }
  return cells;
}

template <class F> void CellTable::each(uint64_t offset, uint64_t bytes, F f) {
  for (uint64_t end = offset + bytes; offset < end;) {
    uint64_t index = offset >> 2, word = index % wordsPerPage, next = std::min(end, (index + 1) << 2);
    Page *page = &pages[index / wordsPerPage];
    if (page->stamp != stamp)
      page = &fresh(*page);
    if (next - offset == 4 && !page->split[word]) {
      f(page->words[word]);
    } else {
      Cell *cells = bytesOf(*page, word);
      for (; offset < next; ++offset)
        f(cells[offset & 3]);
    }
    offset = next;
  }
}

/// Memory that is followed: an allocation, a block's shared memory, a warp's local memory.
class ShadowedRange {
public:
  ShadowedRange(uint64_t low, uint64_t high, bool written)
      : low(low), high(high), cells((high - low) / 4), state(written ? All : None) {}

  bool isWritten(uint64_t address, uint64_t bytes) const;
  void markWritten(uint64_t address, uint64_t bytes);
  /// What is written there is not worth more than what nobody has written.
  void markUnwritten(uint64_t address, uint64_t bytes);
  /// All is as if nobody had touched it.
  void forget();
  template <class F> void each(uint64_t address, uint64_t bytes, F f) { cells.each(address - low, bytes, f); }

  const uint64_t low, high;
  CellTable cells;

private:
  enum { None, Some, All } state;
  std::vector<uint8_t> written; // a byte for each byte, where some are
};

inline bool ShadowedRange::isWritten(uint64_t address, uint64_t bytes) const {
  if (state != Some)
    return state == All;
  const uint8_t *from = written.data() + (address - low), *end = from + bytes;
  for (; end - from >= 4; from += 4) {
    uint32_t four;
    memcpy(&four, from, 4);
    if (four != 0x01010101)
      return false;
  }
  while (from < end)
    if (!*from++)
      return false;
  return true;
}

/// One allocation of device memory.
struct ShadowedAllocation : ShadowedRange {
  ShadowedAllocation(uint64_t low, uint64_t high, uint64_t number, bool written)
      : ShadowedRange(low, high, written), number(number) {}
  std::string describe() const;

  const uint64_t number;
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
