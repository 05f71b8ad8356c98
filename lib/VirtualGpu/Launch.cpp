// Blocks go to workers as they become free; a worker whose block only waits for others takes a further one.
#include "lib/VirtualGpu/BlockRunner.h"
#include "lib/VirtualGpu/CountingProgram.h"
#include "lib/VirtualGpu/WorkerPool.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace joule::vgpu {
namespace {

/// Blocks that may be under way on one worker at once: grid-wide barriers need all of them.
constexpr size_t mostResident = 4096, usuallyResident = 64;
/// How often each block of a cluster is tried in vain before a further cluster starts beside it.
constexpr size_t turnsOfCluster = 16;

class Worker {
public:
  explicit Worker(LaunchState &launch) : launch(launch) {
    state.ranges.resize(launch.request.image->numRangeSlots() + 1, Range{0, 0});
    if (launch.request.count)
      state.blockCounts.resize(launch.request.image->numBlocks());
  }

  void run() {
    size_t limit = launch.request.cooperative ? mostResident : usuallyResident;
    bool more = true;
    size_t turn = 0, waited = 0;
    while (!launch.stop && (more || !active.empty())) {
      if (active.empty() && !(more = startCluster()))
        break;
      turn %= active.size();
      BlockRunner::Outcome outcome = active[turn]->run();
      if (outcome == BlockRunner::Outcome::Failed)
        return;
      waited = outcome == BlockRunner::Outcome::Done ? 0 : waited + 1;
      if (launch.checker && waited > active.size() && allAreStuck())
        return;
      if (outcome == BlockRunner::Outcome::Done)
        finish(turn);
      else if (more && active.size() < limit && othersAreStuck(waited))
        turn = (more = startCluster()) ? active.size() - launch.blocksPerCluster : turn + 1;
      else
        ++turn;
    }
  }

  void addUse(uint64_t &compiledRuns, uint64_t &interpretedRuns, uint64_t &rotations) const {
    compiledRuns += state.compiledRuns;
    interpretedRuns += state.interpretedRuns;
    rotations += state.rotations;
  }

  /// One cluster alone, from its begin to its end; notes the sectors that it touches.
  void runAlone(uint64_t index, std::unordered_set<uint64_t> &sectors) {
    state.sectors = &sectors;
    begin(index);
    constexpr size_t mostTurns = 8; // some millions of rounds of a loop
    for (size_t turn = 0; !launch.stop && !active.empty(); ++turn) {
      if (turn == mostTurns * launch.blocksPerCluster)
        return launch.fail(FaultKind::Deadlock, "kernel '" + launch.request.image->entry().function->name +
                                                    "': a block alone does not come to an end");
      size_t which = turn % active.size();
      if (active[which]->run() == BlockRunner::Outcome::Done)
        finish(which);
    }
  }

  void collect(Counters &total, uint64_t times = 1) const {
    if (!launch.request.count)
      return;
    Counters own;
    own.memory = state.memory;
    launch.request.image->eachProgram([&](const Program &program) { collectProgram(program, own); });
    total.add(own, times);
  }

private:
  /// Blocks of a cluster wait for each other first of all.
  bool othersAreStuck(size_t waited) const {
    return launch.blocksPerCluster == 1 || waited > turnsOfCluster * active.size();
  }

  /// In check mode: nothing has changed for long, and all blocks poll for something.
  bool allAreStuck() {
    constexpr size_t manyTurns =
        32; // of each block: a machine that does much else may give few in a long time
    auto now = std::chrono::steady_clock::now();
    if (launch.checker->changes != changesSeen || lastChange == std::chrono::steady_clock::time_point())
      changesSeen = launch.checker->changes, lastChange = now, turnsSince = 0;
    if (++turnsSince < manyTurns * active.size() || now - lastChange < std::chrono::seconds(4))
      return false;
    for (auto &block : active)
      if (!block->checker()->takePolls())
        return lastChange = now, turnsSince = 0, false;
    for (auto &block : active)
      block->reportDeadlock();
    launch.fail(FaultKind::Deadlock, launch.checker->findings.list().back().message);
    return true;
  }

  bool startCluster() {
    if (next == end) {
      uint64_t clusters = launch.numBlocks / launch.blocksPerCluster;
      next = std::min(clusters, launch.nextCluster.fetch_add(launch.clustersAtOnce));
      end = std::min(clusters, next + launch.clustersAtOnce);
      if (next == end)
        return false;
    }
    if (launch.expired()) {
      launch.fail(FaultKind::Timeout, "kernel '" + launch.request.image->entry().function->name +
                                          "' was stopped at its time limit");
      return false;
    }
    launch.engine.consider();
    begin(next++);
    return true;
  }

  void begin(uint64_t index) {
    if (idleClusters.empty())
      idleClusters.push_back(clusters.emplace_back(std::make_unique<Cluster>()).get());
    Cluster &cluster = *idleClusters.back();
    idleClusters.pop_back();
    cluster.begin(launch.threadsPerBlock * launch.blocksPerCluster);
    for (uint32_t rank = 0; rank < launch.blocksPerCluster; ++rank) {
      if (idle.empty())
        idle.push_back(std::make_unique<BlockRunner>(launch, state));
      active.push_back(std::move(idle.back()));
      idle.pop_back();
      cluster.blocks.push_back(active.back().get());
      active.back()->start(index, rank, cluster);
    }
  }

  /// The shared memory of a block stays until its whole cluster is done.
  void finish(size_t turn) {
    if (BlockChecker *checker = active[turn]->checker())
      checker->end();
    Cluster &cluster = active[turn]->ownCluster();
    cluster.done.push_back(std::move(active[turn]));
    active.erase(active.begin() + ptrdiff_t(turn));
    if (cluster.done.size() < cluster.blocks.size())
      return;
    for (auto &block : cluster.done)
      idle.push_back(std::move(block));
    cluster.done.clear();
    idleClusters.push_back(&cluster);
  }

  void collectProgram(const Program &program, Counters &own) const {
    for (size_t b = 0; b < program.blocks.size(); ++b) {
      const BlockCount &count = state.blockCounts[program.firstBlock + b];
      for (unsigned c = 0; c < Counters::classes; ++c) {
        own.warpInstructions[c] += count.warps * program.blocks[b].instructions[c];
        own.threadInstructions[c] += count.lanes * program.blocks[b].instructions[c];
      }
      for (unsigned t = 0; t < matrixTypes; ++t)
        own.matrixFlops[t] += count.warps * program.blocks[b].matrixFlops[t];
    }
  }

  LaunchState &launch;
  WorkerState state;
  uint64_t changesSeen = 0;
  std::chrono::steady_clock::time_point lastChange;
  size_t turnsSince = 0;      // of blocks
  uint64_t next = 0, end = 0; // clusters that this worker has taken and not begun
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Cluster *> idleClusters;
  std::vector<std::unique_ptr<BlockRunner>> active, idle;
};

void runWorkers(LaunchState &state, unsigned count) {
  // Large grids are taken in parts: the counter that workers share costs as much as a small block.
  constexpr uint64_t most = 16, partsPerWorker = 64;
  uint64_t clusters = state.numBlocks / state.blocksPerCluster;
  state.clustersAtOnce = std::clamp<uint64_t>(clusters / (count * partsPerWorker), 1, most);
  std::vector<std::unique_ptr<Worker>> workers(count);
  runOnPool(count, [&](unsigned i) {
    try {
      workers[i] = std::make_unique<Worker>(state);
      workers[i]->run();
    } catch (const std::exception &error) { // no memory left for another block
      state.fail(FaultKind::OutOfResources, error.what());
    }
  });
  uint64_t compiledRuns = 0, interpretedRuns = 0;
  for (auto &worker : workers)
    if (worker) {
      worker->collect(state.result.counters);
      worker->addUse(compiledRuns, interpretedRuns, state.result.rotations);
    }
  addEngineUse(state.engine.code() != nullptr, compiledRuns, interpretedRuns);
}

/// An index along one axis of a grid, and how many it stands for.
struct Representative {
  uint64_t index, times;
};

/// The first, the last, and one from the middle of each of `count` - 2 equal parts between; all where there are no more.
std::vector<Representative> representatives(uint64_t size, uint64_t count) {
  std::vector<Representative> chosen;
  if (size <= count) {
    for (uint64_t i = 0; i < size; ++i)
      chosen.push_back({i, 1});
    return chosen;
  }
  uint64_t between = size - 2, parts = count - 2;
  chosen.push_back({0, 1});
  for (uint64_t part = 0; part < parts; ++part) {
    uint64_t begin = between * part / parts, end = between * (part + 1) / parts;
    chosen.push_back({1 + (begin + end) / 2, end - begin});
  }
  chosen.push_back({size - 1, 1});
  return chosen;
}

using Sizes = std::array<uint64_t, 3>;

/// How many clusters represent the grid along each axis: three or all, then more where most stand behind one, up to
/// `most` in all.
Sizes sampleCounts(const Sizes &grid, uint64_t most) {
  Sizes counts;
  for (size_t i = 0; i < 3; ++i)
    counts[i] = std::min<uint64_t>(grid[i], 3);
  for (;;) {
    size_t coarsest = 0;
    for (size_t i = 1; i < 3; ++i)
      if (grid[i] * counts[coarsest] > grid[coarsest] * counts[i])
        coarsest = i;
    uint64_t more = counts[0] * counts[1] * counts[2] / counts[coarsest] * (counts[coarsest] + 1);
    if (counts[coarsest] >= grid[coarsest] || more > most)
      return counts;
    ++counts[coarsest];
  }
}

/// The words of global memory through which the blocks of a cooperative grid synchronise.
class Workspace {
public:
  explicit Workspace(LaunchState &state) : memory(*state.request.memory) {
    if (!state.request.cooperative)
      return;
    address = state.workspace = memory.allocate(bytes);
    if (address)
      memset(reinterpret_cast<void *>(address), 0, bytes);
  }
  ~Workspace() {
    if (address)
      memory.release(address);
  }

private:
  static constexpr uint64_t bytes = 64;
  MemoryMap &memory;
  uint64_t address = 0;
};

} // namespace

static void setShape(LaunchState &state) {
  const LaunchRequest &request = state.request;
  state.numBlocks = uint64_t(request.grid[0]) * request.grid[1] * request.grid[2];
  state.threadsPerBlock = request.block[0] * request.block[1] * request.block[2];
  state.warpsPerBlock = (state.threadsPerBlock + warpSize - 1) / warpSize;
  state.blocksPerCluster = request.cluster[0] * request.cluster[1] * request.cluster[2];
}

using Sectors = std::unordered_set<uint64_t>;

/// Runs and counts a cluster for `times` of them, and adds to the sectors that are touched; what it took for one.
static uint64_t countAlone(LaunchState &state, uint64_t index, uint64_t times, Sectors &touched) {
  if (state.expired())
    state.fail(FaultKind::Timeout, "counting a sample was stopped at its time limit");
  if (state.stop)
    return 0;
  Worker worker(state);
  Sectors sectors;
  worker.runAlone(index, sectors);
  Counters own;
  worker.collect(own);
  state.result.counters.add(own, times);
  state.result.blockSectors += times * sectors.size();
  touched.merge(sectors);
  return own.totalWarpInstructions();
}

LaunchResult countSample(const LaunchRequest &request) {
  LaunchRequest counting = request;
  counting.count = true;
  counting.engine = EngineChoice::Interpreter; // compiled code does not note which sectors it touches
  std::unique_ptr<CountingProgram> reduced = reduceToCounts(request.image->entry());
  LaunchState state(counting);
  if (reduced)
    state.entry = &reduced->program;
  state.result.followsFromPtx = reduced && !reduced->needsData;
  setShape(state);
  Sizes grid;
  for (size_t i = 0; i < 3; ++i)
    grid[i] = request.grid[i] / request.cluster[i];
  Sectors touched;
  constexpr uint64_t affordable = 400'000, mostClusters = 100; // instructions of warps
  uint64_t first = std::max<uint64_t>(1, countAlone(state, 0, 0, touched));
  Sizes counts = sampleCounts(grid, std::min(mostClusters, affordable / first));
  for (const auto &[z, ofZ] : representatives(grid[2], counts[2]))
    for (const auto &[y, ofY] : representatives(grid[1], counts[1]))
      for (const auto &[x, ofX] : representatives(grid[0], counts[0]))
        countAlone(state, (z * grid[1] + y) * grid[0] + x, ofX * ofY * ofZ, touched);
  state.result.counters.launches = 1;
  state.result.touchedSectors = touched.size();
  return std::move(state.result);
}

LaunchResult launch(const LaunchRequest &request) {
  return request.check ? launchChecked(request) : runLaunch(request, nullptr);
}

LaunchResult runLaunch(const LaunchRequest &request, LaunchChecker *checker) {
  LaunchState state(request);
  state.checker = checker;
  setShape(state);
  if (request.caches)
    state.caches = std::make_unique<CacheModel>(*request.caches, state.numBlocks);
  Workspace workspace(state);
  if (state.workspace)
    request.memory->hostWrote(state.workspace, 64);
  runWorkers(state, unsigned(std::min<uint64_t>(std::max(1u, request.threads), state.numBlocks)));
  state.result.counters.launches = 1;
  if (state.caches)
    state.result.traffic = state.caches->result();
  return std::move(state.result);
}

} // namespace joule::vgpu
