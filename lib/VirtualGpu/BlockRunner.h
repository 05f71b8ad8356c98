// One block of a grid on its way: its warps, each a set of lane groups that run the lowest operation first.
#pragma once

#include "lib/VirtualGpu/Check/BlockChecker.h"
#include "lib/VirtualGpu/Launch.h"
#include <unordered_set>

namespace joule::vgpu {

/// What the workers of a launch share.
struct LaunchState {
  const LaunchRequest &request;
  const Program *entry; // what blocks run
  std::atomic<uint64_t> nextCluster{0};
  uint64_t clustersAtOnce = 1; // that a worker takes from the others
  std::atomic<bool> stop{false};
  std::mutex mutex;
  LaunchResult result;
  uint64_t numBlocks = 0;
  uint32_t blocksPerCluster = 1;
  uint32_t threadsPerBlock = 0, warpsPerBlock = 0;
  ChosenEngine engine;
  LaunchChecker *checker = nullptr;   // only in check mode
  std::unique_ptr<CacheModel> caches; // only where they are modelled
  uint64_t workspace = 0;             // of a cooperative grid: where its blocks meet

  explicit LaunchState(const LaunchRequest &request)
      : request(request), entry(&request.image->entry()),
        // Only the interpreter checks, and notes accesses.
        engine(*request.image, request.block, request.count,
               request.check || request.caches ? EngineChoice::Interpreter : request.engine) {}
  /// The first fault wins.
  void fail(FaultKind kind, const std::string &message);
  bool expired() const;
};

/// What the blocks of one worker share.
struct WorkerState {
  std::vector<Range> ranges;
  std::vector<BlockCount> blockCounts;
  MemoryCount memory = {};
  std::unordered_set<uint64_t> *sectors =
      nullptr; // of global memory that were touched, where they are wanted
  uint64_t compiledRuns = 0, interpretedRuns = 0, rotations = 0;
};

/// The registers of one function's activation. Lanes that call together share it.
struct Frame {
  const Program *program = nullptr;
  Frame *caller = nullptr;
  const Op *returnTo = nullptr;
  const CallSite *site = nullptr;
  uint32_t depth = 0, lanes = 0;
  uint64_t localBase = 0, localTop = 0;
  uint8_t *registers = nullptr;

  explicit Frame(const Program &program);
  ~Frame();
  Frame(const Frame &) = delete;
};

/// Lanes that are at the same place.
struct Group {
  uint32_t mask;
  const Op *pc;
  Frame *frame;
  enum State : uint8_t { Ready, AtBarrier, AtSync } state = Ready;
  uint32_t barrierId = 0, barrierCount = 0;
  uint64_t lastRun = 0;
};

struct WarpState {
  Warp w;
  std::vector<Group> groups;
  std::unique_ptr<Frame> root;
  uint8_t *local = nullptr;
  Frame *running = nullptr;
  bool rotate = false;     // the next turn goes to the group that waited longest
  bool inShape = false;    // compiled code stopped it, and nothing has touched its registers since
  uint32_t expansions = 0; // what it left out of the frame; see CompiledProgram
  uint64_t turns = 0;
  uint32_t clusterTickets[warpSize] = {}; // the phase of the cluster's barrier that a lane waits to end

  ~WarpState();
};

class BlockRunner;

/// Blocks that share their memory and a barrier; one worker runs them all.
struct Cluster {
  std::vector<BlockRunner *> blocks; // by rank
  std::vector<std::unique_ptr<BlockRunner>> done;
  uint32_t liveThreads = 0, arrived = 0;
  uint32_t phase = 0;   // how often all have met
  ClusterKnowledge met; // in check mode

  void begin(uint32_t threads) {
    blocks.clear();
    liveThreads = threads;
    arrived = phase = 0;
    met = {};
  }
  /// Threads arrive, or exit: have all that are left arrived?
  void meet() {
    if (arrived && arrived >= liveThreads)
      arrived = 0, ++phase;
  }
};

class BlockRunner : public PlaceSource {
public:
  BlockRunner(LaunchState &launch, WorkerState &worker);
  ~BlockRunner();

  /// The block of this rank in the cluster of this index.
  void start(uint64_t clusterIndex, uint32_t rank, Cluster &cluster);
  Cluster &ownCluster() { return *cluster; }
  enum class Outcome { Done, Waiting, Failed };
  /// Runs until the block is done, or all its warps have spent their turns without an end in sight.
  Outcome run();

  /// Accesses of global memory, for those who want to know which: by lanes, and by the copy engine.
  void noteAccess(const Warp *w, const Op *op, const uint64_t *addresses, uint32_t mask, unsigned bytes);
  void noteCopy(bool stores, uint64_t address, uint64_t bytes);
  void fault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane);
  void fault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane, const std::string &what);
  bool findRange(const Op *op, uint64_t low, uint64_t high);
  uint64_t special(const Warp *w, unsigned which, unsigned lane) const;
  uint32_t rankInCluster() const { return rank; }
  /// The host's address of shared memory of the block of that rank; 0 if it leaves it.
  uint64_t sharedOf(uint32_t rank, uint64_t offset, uint64_t bytes) const;
  MemoryMap &deviceMemory() const { return *launch.request.memory; }
  bool releaseOnDevice(uint64_t address);
  void arriveAtCluster(Warp *w);
  bool clusterHasMet(const Warp *w) const;
  BlockChecker *checker() { return blockChecker.get(); }
  bool isAllocated(uint64_t low, uint64_t high);
  /// The block of the cluster that has this shared memory.
  BlockRunner *ownerOf(uint64_t host);
  /// A warp arrives at its cluster's barrier, or has waited there.
  void checkClusterBarrier(Warp *w, bool waited, bool relaxed);
  /// A finding for every place at which lanes wait.
  void reportDeadlock();

private:
  void startChecking();
  Outcome runTurn();
  enum class WarpOutcome { Done, Blocked, Yielded, Failed };
  WarpOutcome runWarp(WarpState &warp);
  Status runGroup(WarpState &warp, Group &group);
  bool runFresh();
  void enterSchedule(WarpState &warp);
  Status runCompiled(WarpState &warp, uint8_t *registers, uint32_t entry);
  void expand(WarpState &warp);
  Status runWhole(WarpState &warp, Group &group);
  void mergeGroups(WarpState &warp);
  int pickGroup(WarpState &warp);
  bool handle(Status status, WarpState &warp, int group);
  void diverge(WarpState &warp, int group);
  bool arrive(WarpState &warp, int group);
  void exitLanes(WarpState &warp, int group);
  bool callFunction(WarpState &warp, int group);
  void enter(WarpState &warp, Group group, const CallSite &site, const Program &callee);
  void returnLanes(WarpState &warp, int group);
  void releaseBarriers();
  bool releaseBarrier(uint32_t id);
  void finishReduction(uint32_t id);
  bool releaseWarpSync(WarpState &warp);
  WarpOutcome whyNoneReady(WarpState &warp);
  Frame *takeFrame(const Program &program);
  void dropFrame(Frame *frame);
  std::string place(const Warp *w, unsigned lane) const;
  uint32_t lineOf(const Warp *w, const Op *op) const override;
  std::string textOf(uint32_t line) const override { return image.module().source().lineText(line); }
  const uint32_t *block() const override { return blockIndex; }
  void reportFault(const Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane,
                   const std::string &what);
  void checkBarrier(const WarpState &warp, const Group &group);
  WarpState &warpAt(size_t turn);

  LaunchState &launch;
  WorkerState &worker;
  const KernelImage &image;
  const CompiledProgram *compiled = nullptr;
  bool isFresh = false; // no warp has run yet
  std::vector<std::unique_ptr<WarpState>> warps;
  std::map<const Program *, std::vector<std::unique_ptr<Frame>>> freeFrames;
  std::vector<std::unique_ptr<Frame>> usedFrames;
  uint8_t *shared = nullptr;
  uint64_t sharedBytes = 0;
  uint32_t blockIndex[3] = {};
  uint64_t linearIndex = 0;
  uint32_t liveThreads = 0;
  Cluster *cluster = nullptr;
  uint32_t rank = 0, placeInCluster[3] = {}, clusterIndex[3] = {};
  static constexpr unsigned numBarriers = 32;
  uint32_t arrived[numBarriers] = {}; // threads that only arrive, or wait
  uint32_t counted[numBarriers] = {}; // how many they wait for; 0: all
  std::unique_ptr<BlockChecker> blockChecker;
  std::optional<AccessLog> log;
  Range lastRange = {0, 0};
  uint64_t rangeAge = 0;       // LaunchChecker::releases when it was found
  std::vector<uint32_t> order; // of the warps
};

} // namespace joule::vgpu
