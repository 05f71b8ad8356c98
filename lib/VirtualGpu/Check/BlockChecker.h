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
  checkCopies = 16,  // what is read is only stored again, what is stored has only been read
  checkUpdates = 32, // reads and writes
  checkHears = 64,   // relaxed: known after a fence
  checkPartial = 128 // of a word that is read to change a part of it
};

class BlockChecker;

/// Where a lane of an instruction, or several, go.
struct CheckedAccess {
  uint64_t given; // the address in the program
  uint64_t host;
  unsigned bytes;
  uint32_t lanes;
  enum Space : uint8_t { Global, Shared, Local } space;
  ShadowedRange *range;
  BlockChecker *owner; // whose shared memory it is

  unsigned lane() const { return unsigned(__builtin_ctz(lanes)); }
};

/// An instruction that a warp executes.
struct Step {
  Warp *w;
  const Op *op;
  unsigned flags; // CheckFlags
  uint32_t line;
  Time now;
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
  uint64_t releases = 0; // of memory, by threads
};

/// What the arrivals at a cluster's barrier pass on, in phases by turns.
using ClusterKnowledge = std::array<Knowledge, 2>;

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
  /// All threads have exited.
  void end();

  Step stepOf(Warp *w, const Op *op, unsigned flags) const {
    return {w, op, flags, places.lineOf(w, op), timeOf(block, w->index, clocks[w->index].clock)};
  }

  // --- memory; called before the access happens ---
  void read(const Step &step, const CheckedAccess &a);
  /// Plain reads by several lanes at once; `a` is of the lowest of these addresses, and all lie in `span`
  /// bytes of its range.
  void readLanes(const Step &step, CheckedAccess a, const uint64_t *given, uint64_t span);
  /// Looks for conflicts; noteWrite then makes it known, once all lanes have been looked at. False if it is
  /// out of place.
  bool write(const Step &step, const CheckedAccess &a, const uint8_t *value);
  void noteWrite(const Step &step, const CheckedAccess &a);
  /// Two lanes of one instruction store different values.
  void conflictOfLanes(const Step &step, const CheckedAccess &a, unsigned other);
  /// What the kernel has allocated: nobody has touched it.
  void forget(uint64_t host, uint64_t bytes);
  /// Bytes of a lane's register that nobody has written: structs are copied with what lies between their
  /// fields.
  void noteCopied(const Warp *w, uint32_t place, unsigned lane, uint32_t bytes);
  uint32_t undefinedBytes(const Warp *w, uint32_t place, unsigned lane) const;
  bool anyUndefined() const { return !undefined.empty(); }
  /// The memory that a lane's address lies in.
  ShadowedRange *allocationOf(uint64_t host);
  ShadowedRange *sharedRange() { return &shared; }
  ShadowedRange *localRange(const Warp *w);

  // --- cp.async ---
  void startCopy(const Step &step, const CheckedAccess &to, uint64_t from, unsigned bytesRead);
  void commitCopies(Warp *w);
  /// Does the copies that all but the newest `pending` groups of each lane hold.
  void waitForCopies(Warp *w, uint32_t pending, bool uncommittedToo);

  // --- mbarriers and the copy engine; of the block whose memory it is ---
  void initBarrier(const Step &step, const CheckedAccess &a, bool valid);
  /// `arrivals`: 0 of a test.
  void touchBarrier(const Step &step, const CheckedAccess &a, unsigned arrivals);
  /// How often the phase of an mbarrier has ended.
  uint32_t phaseOf(uint64_t barrier);
  /// How often it had when that was last asked.
  uint32_t phaseSeen(uint64_t barrier) { return phases[barrier].ended; }
  /// The copy has been done, but nobody may know it before a test of its barrier: until then the bytes are
  /// hidden. `phase`: when it came.
  void hideCopied(uint64_t to, uint64_t bytes, uint64_t barrier, uint32_t phase, uint32_t line);
  /// What has come for phases of this barrier that are over can be seen from here on.
  void showCopied(uint64_t barrier);
  /// Written in a way that has no order with this block's accesses.
  void markShared(uint64_t host, uint64_t bytes);
  void checkProxy(const Step &step, const CheckedAccess &a, const char *reader);
  void proxyFence(Warp *w);

  // --- what is under way in groups: bulk stores and matrix products ---
  enum Engine { Copying, Multiplying };
  void startReading(const Step &step, const CheckedAccess &a, Engine engine);
  /// The copy engine has written there.
  void startStoring(const Step &step, const CheckedAccess &a);
  void commitGroup(Warp *w, Engine engine);
  /// `readsOnly`: their sources are free, their destinations may not be there yet.
  void waitForGroups(Warp *w, Engine engine, uint32_t pending, bool readsOnly);
  /// Sums of products, which are in registers, are touched by a product or by another instruction.
  void startSums(const Step &step, const uint32_t *registers, size_t count);
  void touchSums(const Step &step, const uint32_t *registers, size_t count, bool writes);
  void fenceSums(Warp *w) { writtenSums[w->index].clear(); }

  // --- synchronisation ---
  void fence(Warp *w, bool device);
  /// Lanes come to where they wait for `members` (of each lane), or go on from there.
  void lanesArrive(Warp *w, bool apart = false);
  void lanesMet(Warp *w, const uint32_t *members);
  void arrive(Warp *w, uint32_t barrier);
  void leave(Warp *w, uint32_t barrier); // after the barrier opened
  void barrierOpened(uint32_t barrier);
  void arriveAtCluster(Warp *w, Knowledge &met, bool first, bool relaxed);
  void leaveCluster(Warp *w, const Knowledge &met);
  /// An atomic access; `writes` if others may learn from it.
  void synchronise(const Step &step, const CheckedAccess &a, unsigned flags, bool writes);

  /// Has it looked for news in memory since the last question?
  bool takePolls() { return std::exchange(polled, false); }
  void notePoll(const Step &step, unsigned lane) { polled = true, polls[step.w->index][lane] = step.line; }
  /// The line where the lane last did; 0 if it never has.
  uint32_t lastPoll(const Warp *w, unsigned lane) const { return polls[w->index][lane]; }

  /// A number that changes with what atomic operations may change: taken before and after.
  std::vector<uint64_t> changedBefore;

  void report(FindingKind kind, const Warp *w, const Op *op, unsigned lane, uint64_t address,
              const std::string &what);
  void report(FindingKind kind, const Warp *w, uint32_t line, unsigned lane, uint64_t address,
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
  /// Bytes of shared memory that the copy engine has written, until a test of their barrier shows them.
  struct Flight {
    uint64_t low, bytes, barrier;
    uint32_t phase, line;
    std::vector<uint8_t> data;
  };
  /// What an engine still reads from shared memory, or has written to device memory at its clock.
  struct Pending {
    Engine engine;
    bool reads;
    uint64_t low, high;
    uint32_t clock, line, group;
    uint16_t warp;
    uint8_t lane;
  };
  struct Phase {
    uint64_t parity;
    uint32_t ended, line; // of its initialisation; 0: none
  };
  /// An access of this block's shared memory by another block: none may come after its end.
  struct Visit {
    BlockChecker *visitor;
    uint32_t visited;
    Step step;
    unsigned lane;
    uint64_t given;
  };
  unsigned engineWarp() const { return unsigned(clocks.size()); }
  bool isFlying() const { return !copies.empty() || !flights.empty() || reading; }
  bool isOrdered(const Step &step, const Access &earlier, uint32_t lanes) const;
  bool lanesAreOrdered(const WarpClock &clock, const Access &earlier, uint32_t lanes) const;
  bool conflicts(const Step &step, const Access &earlier, uint32_t lanes) const;
  void readCell(const Step &step, const CheckedAccess &a, Cell &cell);
  void reportRace(const Step &step, const CheckedAccess &a, const Access &earlier, bool earlierWrote,
                  bool writes);
  void report(FindingKind kind, const Step &step, const CheckedAccess &a, const std::string &what);
  void checkWritten(const Step &step, const CheckedAccess &a);
  bool checkInFlight(const Step &step, const CheckedAccess &a, bool writes);
  void noteVisit(const Step &step, const CheckedAccess &a);
  void reportVisit(const Visit &v);
  void finishCopy(const Copy &copy);

  LaunchChecker &launch;
  const PlaceSource &places;
  ShadowedRange shared;
  std::vector<std::unique_ptr<ShadowedRange>> locals;
  std::vector<uint8_t> inFlight; // of shared memory
  std::vector<WarpClock> clocks;
  std::map<uint32_t, Knowledge> barriers, opened;
  std::map<uint32_t, Knowledge> barriersFenced, openedFenced;
  std::map<uint32_t, Knowledge> barriersProxied, openedProxied;
  std::vector<Copy> copies;
  std::vector<Flight> flights;
  std::vector<Pending> pending;
  size_t reading = 0; // of those pending
  std::vector<std::array<uint32_t, warpSize>> openGroup, openEngine[2];
  std::vector<std::array<uint32_t, warpSize>> polls; // lines
  std::unordered_map<uint64_t, Phase> phases;
  std::vector<Visit> visits;
  // Of each warp, by register: the group of a product under way and its line; lines that have written since
  // the last fence.
  std::vector<std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>>> sums;
  std::vector<std::unordered_map<uint32_t, uint32_t>> writtenSums;
  std::unordered_map<uint64_t, uint32_t> undefined; // bytes, by warp, register and lane
  uint32_t engineClock = 0;                         // of the copy engine, which counts as one more warp
  uint32_t block = 0;
  bool polled = false, ended = false;
  ShadowedAllocation *last[4] = {};
  unsigned nextLast = 0;
  uint64_t releasesSeen = 0;
};

} // namespace joule::vgpu
