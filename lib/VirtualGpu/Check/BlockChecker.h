// Watches one block: every access of memory and every synchronisation passes here in check mode.
#pragma once

#include "lib/VirtualGpu/Check/Clocks.h"
#include "lib/VirtualGpu/Check/Findings.h"
#include "lib/VirtualGpu/Check/Shadow.h"
#include "lib/VirtualGpu/Program.h"

#include <array>
#include <unordered_map>
#include <utility>

namespace joule::vgpu {

enum CheckFlags : uint8_t {
  checkAtomic = 1,  // volatile, relaxed or stronger, or a read-modify-write
  checkDevice = 2,  // its scope: the device or the system, not the block alone
  checkAcquire = 4, // what others released there is known from here on
  checkRelease = 8,
  checkTogether = 16, // all lanes take part in each lane's access, as in ldmatrix
  checkUpdates = 32,  // reads and writes
  checkHears = 64,    // relaxed: known after a fence
  checkPartial = 128  // of a word that is read to change a part of it
};

/// An access as a check operation describes it.
struct CheckedAccess {
  uint64_t given; // the address in the program
  uint64_t host;
  unsigned bytes, lane;
  bool shared, local;
};

/// What the blocks of a launch share while they are checked.
struct LaunchChecker {
  LaunchChecker(GlobalShadow &shadow, Findings &findings);

  GlobalShadow &shadow;
  Findings &findings;
  const uint32_t stamp;
  std::unordered_map<uint64_t, SyncVariable> variables; // by the host's address
  std::string kernel, nodes;
  uint64_t changes = 0; // stores that changed something: while there are none, waiting is in vain
};

/// "block (0, 0, 0), thread (5, 0, 0)".
std::string placeOf(const uint32_t *block, const uint32_t *thread);

/// The names of places, which only the block's runner knows.
class PlaceSource {
public:
  virtual ~PlaceSource() = default;
  virtual uint32_t lineOf(const Warp *w, const Op *op) const = 0;
  virtual std::string textOf(uint32_t line) const = 0;
  virtual const uint32_t *block() const = 0;
};

class BlockChecker {
public:
  BlockChecker(LaunchChecker &launch, const PlaceSource &places, unsigned warps, const uint8_t *shared,
               uint64_t sharedBytes);

  void start(uint32_t block);

  // --- memory; called before the access happens ---
  void read(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags);
  /// One lane more reads what the one before it read.
  void readAgain(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags);
  /// Looks for conflicts; noteWrite then makes it known, once all lanes have been looked at. False if it is
  /// out of place.
  bool write(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags, const uint8_t *value);
  void noteWrite(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags);
  /// Two lanes of one instruction store different values.
  void conflictOfLanes(Warp *w, const Op *op, const CheckedAccess &a, unsigned other);

  // --- cp.async ---
  void startCopy(Warp *w, const Op *op, const CheckedAccess &to, uint64_t from, unsigned bytesRead);
  void commitCopies(Warp *w);
  /// Does the copies that all but the newest `pending` groups of each lane hold.
  void waitForCopies(Warp *w, uint32_t pending, bool uncommittedToo);

  // --- mbarriers and the copy engine ---
  void initBarrier(Warp *w, const Op *op, const CheckedAccess &a);
  /// `arrivals`: 0 of a test.
  void touchBarrier(Warp *w, const Op *op, const CheckedAccess &a, unsigned arrivals);
  /// The copy has been done, but nobody may know it before a test of its barrier: until then the bytes are
  /// hidden.
  void hideCopied(Warp *w, const Op *op, uint64_t to, uint64_t bytes, uint64_t barrier);
  /// What has been copied for this barrier can be seen from here on.
  void showCopied(uint64_t barrier);
  /// Written from another block, or in some other way that has no order with this block's accesses.
  void markShared(uint64_t host, uint64_t bytes);
  void checkProxy(Warp *w, const Op *op, const CheckedAccess &a);
  void proxyFence(Warp *w);
  void startReading(Warp *w, const Op *op, const CheckedAccess &a);
  void commitReads(Warp *w);
  void waitForReads(Warp *w, uint32_t pending);

  // --- synchronisation ---
  void fence(Warp *w, bool device);
  void warpMet(Warp *w);
  void arrive(Warp *w, uint32_t barrier);
  void leave(Warp *w, uint32_t barrier); // after the barrier opened
  void barrierOpened(uint32_t barrier);
  /// An atomic access; `writes` if others may learn from it.
  void synchronise(Warp *w, uint64_t host, unsigned flags, bool writes);

  /// Has it looked for news in memory since the last question?
  bool takePolls() { return std::exchange(polled, false); }
  void notePoll() { polled = true; }

  /// A number that changes with what atomic operations may change: taken before and after.
  std::vector<uint64_t> changedBefore;

  void report(FindingKind kind, const Warp *w, const Op *op, unsigned lane, uint64_t address,
              const std::string &what);
  LaunchChecker &launchChecker() { return launch; }

private:
  struct Copy {
    uint64_t to, from;
    unsigned bytes, bytesRead;
    uint16_t warp;
    uint8_t lane;
    uint32_t group, line;
  };
  /// Bytes of shared memory that an asynchronous operation writes (hidden until its barrier is tested) or
  /// reads.
  struct Flight {
    uint64_t low, bytes, barrier;
    uint32_t line;
    std::vector<uint8_t> data;
  };
  struct Reading {
    uint64_t low, high;
    uint32_t line, group;
    uint16_t warp;
    uint8_t lane;
  };
  bool isFlying() const { return !copies.empty() || !flights.empty() || !readings.empty(); }
  WordShadow &sharedWord(uint64_t host) { return sharedWords[(host - sharedLow) >> 2]; }
  template <class F> void eachShadow(const CheckedAccess &a, F f);
  WordShadow *wordAt(const CheckedAccess &a, uint64_t host);
  bool isOrdered(const Record &earlier, const Warp *w, unsigned lane, uint32_t stamp) const;
  bool conflicts(const Record &earlier, const Warp *w, unsigned lane, unsigned bytes, unsigned flags,
                 uint32_t stamp) const;
  void reportRace(Warp *w, const Op *op, const CheckedAccess &a, const Record &earlier, bool earlierWrote,
                  bool writes);
  bool isWritten(const Warp *w, const CheckedAccess &a);
  uint8_t *localBytes(const Warp *w);
  void checkWritten(Warp *w, const Op *op, const CheckedAccess &a);
  bool checkInFlight(Warp *w, const Op *op, const CheckedAccess &a, bool writes);
  void noteRead(WordShadow &word, const Record &now);
  Record recordOf(const Warp *w, const Op *op, unsigned lane, unsigned flags, uint32_t stamp) const;
  void finishCopy(const Copy &copy);
  ShadowedAllocation *allocationOf(uint64_t host);

  LaunchChecker &launch;
  const PlaceSource &places;
  uint64_t sharedLow;
  std::vector<WordShadow> sharedWords;
  std::vector<uint8_t> sharedWritten, inFlight;
  std::vector<std::vector<uint8_t>> localWritten;
  std::vector<WarpClock> clocks;
  std::map<uint32_t, Knowledge> barriers, opened;
  std::map<uint32_t, Knowledge> barriersFenced, openedFenced;
  std::vector<Copy> copies;
  std::vector<Flight> flights;
  std::vector<Reading> readings;
  std::vector<std::array<uint32_t, warpSize>> openGroup, openReads;
  std::map<uint32_t, Knowledge> barriersProxied, openedProxied;
  uint32_t engineClock = 0; // of the copy engine, which counts as one more warp
  uint32_t block = 0, stamp = 0;
  bool polled = false;
  ShadowedAllocation *last = nullptr;
};

} // namespace joule::vgpu
