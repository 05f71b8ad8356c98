// The scheduler of one block.
//
// Among the groups of a warp the one in the deepest call runs first, then the one at the lowest operation:
// compilers lay code out so that lanes meet again that way. A group that branches backward too often while
// others wait gives its turn away, so that a lane that spins on a lock lets the lock's owner go on.
#include "lib/VirtualGpu/BlockRunner.h"
#include "lib/VirtualGpu/ImageAccess.h"
#include "lib/VirtualGpu/Special.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace joule::vgpu {
namespace {

constexpr uint32_t deepestCall = 1024;
constexpr int32_t budgetOfWarp = 8192, budgetOfGroup = 256;
// Rounds in which all warps only yield, before another block gets a turn. Blocks of a cooperative grid are
// expected to wait for each other.
constexpr unsigned patience = 64, patienceOfCooperative = 1, patienceOfChecked = 4;

uint8_t *allocateAligned(uint64_t bytes, uint64_t alignment = 64) {
  void *p = aligned_alloc(alignment, (bytes + 2 * alignment - 1) & ~(alignment - 1));
  if (!p)
    throw std::bad_alloc();
  return static_cast<uint8_t *>(p);
}

void fillConstants(const Program &program, uint8_t *registers) {
  for (const Constant &c : program.constants) {
    uint8_t *to = registers + c.offset;
    uint32_t bits = uint32_t(c.bits);
    if (c.width == 0)
      memcpy(to, &bits, 4);
    for (unsigned i = 0; i < warpSize && c.width; ++i)
      for (unsigned k = 0; k < c.width; k += 8) {
        uint64_t piece = k == 0 ? c.bits : 0;
        memcpy(to + i * c.width + k, &piece, std::min<unsigned>(8, c.width));
      }
  }
}

} // namespace

Frame::Frame(const Program &program) : program(&program), registers(allocateAligned(program.frameBytes)) {
  memset(registers, 0, program.frameBytes);
  fillConstants(program, registers);
}
Frame::~Frame() { free(registers); }

WarpState::~WarpState() { free(local); }

void LaunchState::fail(FaultKind kind, const std::string &message) {
  std::lock_guard lock(mutex);
  if (result.fault == FaultKind::None) {
    result.fault = kind;
    result.message = message;
  }
  stop = true;
}

bool LaunchState::expired() const {
  for (const std::atomic<bool> *interrupt : {request.interrupt, request.threadInterrupt})
    if (interrupt && interrupt->load(std::memory_order_relaxed))
      return true;
  return request.deadline != std::chrono::steady_clock::time_point::max() &&
         std::chrono::steady_clock::now() > request.deadline;
}

BlockRunner::BlockRunner(LaunchState &launch, WorkerState &worker)
    : launch(launch), worker(worker), image(*launch.request.image) {
  const LaunchRequest &request = launch.request;
  sharedBytes = uint64_t(image.belowDynamicShared()) + request.dynamicShared;
  shared = allocateAligned(sharedBytes, 1024);
  for (uint32_t i = 0; i < launch.warpsPerBlock; ++i) {
    auto warp = std::make_unique<WarpState>();
    Warp &w = warp->w;
    memset(&w, 0, sizeof w);
    warp->root = std::make_unique<Frame>(*launch.entry);
    w.index = i;
    w.runner = this;
    w.shared = shared;
    w.sharedSize = sharedBytes;
    w.params = request.parameters.data();
    w.paramSize = request.parameters.size();
    w.blockIndex = blockIndex;
    w.grid = request.grid;
    w.ranges = worker.ranges.data();
    w.blockCounts = request.count ? worker.blockCounts.data() : nullptr;
    w.memory = request.count ? &worker.memory : nullptr;
    w.localStride = image.localBytes();
    if (w.localStride)
      w.local = warp->local = allocateAligned(w.localStride * warpSize);
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      uint32_t thread = i * warpSize + lane;
      w.tid[0][lane] = thread % request.block[0];
      w.tid[1][lane] = thread / request.block[0] % request.block[1];
      w.tid[2][lane] = thread / request.block[0] / request.block[1];
      if (thread < launch.threadsPerBlock)
        w.initial |= 1u << lane;
    }
    warps.push_back(std::move(warp));
  }
  if (launch.checker)
    blockChecker =
        std::make_unique<BlockChecker>(*launch.checker, *this, launch.warpsPerBlock, shared, sharedBytes);
}

BlockRunner::~BlockRunner() { free(shared); }

/// The lowest digit of a number that counts first along an axis of this size. Divisions are slow, and mostly
/// there is one axis.
static uint32_t takeDigit(uint64_t &number, uint32_t size) {
  uint64_t digit = number < size ? number : number % size;
  number = number < size ? 0 : number / size;
  return uint32_t(digit);
}

void BlockRunner::start(uint64_t index, uint32_t rankOfBlock, Cluster &itsCluster) {
  const uint32_t *grid = launch.request.grid, *size = launch.request.cluster;
  rank = rankOfBlock;
  cluster = &itsCluster;
  uint64_t inGrid = index, inCluster = rank;
  for (unsigned i = 0; i < 3; ++i) {
    clusterIndex[i] = takeDigit(inGrid, size[i] == 1 ? grid[i] : grid[i] / size[i]);
    placeInCluster[i] = takeDigit(inCluster, size[i]);
    blockIndex[i] = clusterIndex[i] * size[i] + placeInCluster[i];
  }
  linearIndex = blockIndex[0] + grid[0] * (blockIndex[1] + uint64_t(grid[1]) * blockIndex[2]);
  liveThreads = launch.threadsPerBlock;
  if (launch.caches)
    log = launch.caches->makeLog();
  compiled = launch.engine.code();
  isFresh = true;
  lastRange = {0, 0};
  memset(arrived, 0, sizeof arrived);
  if (sharedBytes)
    memset(shared, blockChecker ? 0xff : 0, sharedBytes);
  if (blockChecker)
    startChecking();
}

/// In check mode a block of the heap is an allocation of its own, whose end nobody may remember.
bool BlockRunner::releaseOnDevice(uint64_t address) {
  if (!deviceMemory().releaseOnDevice(address))
    return false;
  if (blockChecker) {
    std::fill(worker.ranges.begin(), worker.ranges.end(), Range{0, 0});
    ++launch.checker->releases;
  }
  return true;
}

void BlockRunner::startChecking() {
  blockChecker->start(uint32_t(linearIndex));
  if (uint32_t bytes = image.reservedShared()) { // the system has written it
    uint8_t *reserved = shared + image.belowDynamicShared() - bytes;
    memset(reserved, 0, bytes);
    blockChecker->markShared(uint64_t(reserved), bytes);
  }
}

/// Lets the scheduler have the warp, at its first operation.
void BlockRunner::enterSchedule(WarpState &warp) {
  warp.rotate = warp.inShape = false;
  warp.root->lanes = warp.w.initial;
  warp.groups.assign(1, {warp.w.initial, launch.entry->ops.data(), warp.root.get()});
}

BlockRunner::Outcome BlockRunner::run() {
  Outcome outcome = runTurn();
  if (log && outcome == Outcome::Done) {
    launch.caches->finish(linearIndex, std::move(*log));
    log.reset();
  }
  return outcome;
}

BlockRunner::Outcome BlockRunner::runTurn() {
  if (isFresh && !runFresh())
    return Outcome::Failed;
  if (liveThreads == 0)
    return Outcome::Done;
  bool othersWait = launch.request.cooperative || launch.blocksPerCluster > 1;
  unsigned most = othersWait ? patienceOfCooperative : blockChecker ? patienceOfChecked : patience;
  for (unsigned rounds = 0; rounds < most; ++rounds) {
    bool allDone = true;
    unsigned yielded = 0;
    for (size_t turn = 0; turn < warps.size(); ++turn) {
      WarpState &warp = warpAt(turn);
      if (warp.groups.empty())
        continue;
      WarpOutcome outcome = runWarp(warp);
      if (outcome == WarpOutcome::Failed)
        return Outcome::Failed;
      allDone &= outcome == WarpOutcome::Done;
      yielded += outcome == WarpOutcome::Yielded;
    }
    if (allDone)
      return Outcome::Done;
    bool anyReady = false;
    for (auto &warp : warps)
      for (Group &group : warp->groups)
        anyReady |= group.state == Group::Ready;
    if (!anyReady && !yielded) {
      WarpState *stuck = nullptr;
      for (auto &warp : warps)
        if (!warp->groups.empty() && !stuck)
          stuck = warp.get();
      if (blockChecker)
        reportDeadlock();
      stuck->running = stuck->groups[0].frame;
      stuck->w.mask = stuck->groups[0].mask;
      fault(&stuck->w, stuck->groups[0].pc, FaultKind::Deadlock, 0,
            unsigned(__builtin_ctz(stuck->groups[0].mask)));
      return Outcome::Failed;
    }
    if (launch.stop.load(std::memory_order_relaxed))
      return Outcome::Failed;
    if (!yielded)
      rounds = 0;
    if (yielded && launch.expired()) {
      launch.fail(FaultKind::Timeout,
                  "kernel '" + image.entry().function->name + "' was stopped at its time limit");
      return Outcome::Failed;
    }
  }
  return Outcome::Waiting;
}

/// Begins all warps. Full ones run once in compiled code; most kernels are over then, and their warps never
/// meet the scheduler.
bool BlockRunner::runFresh() {
  isFresh = false;
  bool exited = false;
  for (auto &warp : warps) {
    Warp &w = warp->w;
    w.live = w.initial;
    w.budget = budgetOfWarp;
    warp->root->localTop = launch.entry->localBytes;
    if (!compiled || w.initial != allLanes) {
      enterSchedule(*warp);
      continue;
    }
    w.mask = allLanes;
    w.localBase = 0;
    w.localTop = &warp->root->localTop;
    warp->running = warp->root.get();
    Status status = runCompiled(*warp, warp->root->registers, 0);
    if (status == Status::Exited) {
      w.live = 0;
      liveThreads -= warpSize;
      cluster->liveThreads -= warpSize;
      exited = true;
      continue;
    }
    bool inShape = warp->inShape;
    enterSchedule(*warp);
    warp->inShape = inShape;
    if (status == Status::Fault) {
      return false;
    } else if (status == Status::Yield || status == Status::Interpret) {
      warp->groups[0].pc = w.pc;
      if (status == Status::Yield)
        w.budget = budgetOfWarp;
    } else if (!handle(status, *warp, 0)) {
      return false;
    }
  }
  if (exited) {
    cluster->meet();
    releaseBarriers();
  }
  return true;
}

BlockRunner::WarpOutcome BlockRunner::runWarp(WarpState &warp) {
  for (;;) {
    int index = pickGroup(warp);
    if (index < 0)
      return whyNoneReady(warp);
    Status status = runGroup(warp, warp.groups[index]);
    if (status == Status::Fault)
      return WarpOutcome::Failed;
    if (status == Status::Yield) {
      warp.groups[index].pc = warp.w.pc;
      warp.rotate = warp.groups.size() > 1;
      worker.rotations += warp.rotate;
      warp.w.budget = warp.rotate ? budgetOfGroup : budgetOfWarp;
      return WarpOutcome::Yielded;
    }
    if (!handle(status, warp, index))
      return WarpOutcome::Failed;
    if (warp.groups.empty())
      return WarpOutcome::Done;
  }
}

Status BlockRunner::runGroup(WarpState &warp, Group &group) {
  Warp &w = warp.w;
  w.mask = group.mask;
  warp.running = group.frame;
  w.localBase = group.frame->localBase;
  w.localTop = &group.frame->localTop;
  group.lastRun = ++warp.turns;
  uint8_t *registers = group.frame->registers;
  if (group.mask == w.live)
    return runWhole(warp, group);
  if (w.budget > budgetOfGroup)
    w.budget = budgetOfGroup;
  const Op *joinAt = reinterpret_cast<const Op *>(~uintptr_t(0));
  for (const Group &other : warp.groups)
    if (&other != &group && other.frame == group.frame && other.state == Group::Ready && other.pc < joinAt)
      joinAt = other.pc;
  w.joinAt = joinAt;
  w.freeLabels = warp.rotate ? 64 : 0;
  warp.rotate = false;
  expand(warp);
  return group.pc->masked(group.pc, registers, &w);
}

/// No living lane is elsewhere: compiled code runs where all 32 are there, and gives back what it leaves.
Status BlockRunner::runWhole(WarpState &warp, Group &group) {
  bool root = group.frame == warp.root.get();
  int32_t entry = compiled && root && group.mask == allLanes
                      ? compiled->entryOf[size_t(group.pc - image.entry().ops.data())]
                      : -1;
  if (entry >= 0 && (warp.inShape || compiled->fits(uint32_t(entry), group.frame->registers))) {
    Status status = runCompiled(warp, group.frame->registers, uint32_t(entry));
    if (status != Status::Interpret)
      return status;
    group.pc = warp.w.pc;
  }
  expand(warp);
  ++worker.interpretedRuns;
  return group.pc->fn(group.pc, group.frame->registers, &warp.w);
}

Status BlockRunner::runCompiled(WarpState &warp, uint8_t *registers, uint32_t entry) {
  ++worker.compiledRuns;
  uint32_t result = compiled->code(registers, &warp.w, entry);
  Status status = Status(result & ((1u << expansionShift) - 1));
  warp.expansions = result >> expansionShift;
  warp.inShape = status == Status::Barrier || status == Status::Yield;
  if (!warp.inShape)
    expand(warp);
  return status;
}

/// Before anybody but compiled code runs the warp: what that left out of the frame is filled in.
void BlockRunner::expand(WarpState &warp) {
  warp.inShape = false;
  if (warp.expansions)
    compiled->expand(warp.expansions, warp.root->registers);
  warp.expansions = 0;
}

void BlockRunner::mergeGroups(WarpState &warp) {
  auto &groups = warp.groups;
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t j = i + 1; j < groups.size();) {
      bool same = groups[i].pc == groups[j].pc && groups[i].frame == groups[j].frame &&
                  groups[i].state != Group::AtBarrier && groups[j].state != Group::AtBarrier;
      if (!same) {
        ++j;
        continue;
      }
      groups[i].mask |= groups[j].mask;
      groups[i].state = Group::Ready;
      groups.erase(groups.begin() + ptrdiff_t(j));
    }
}

int BlockRunner::pickGroup(WarpState &warp) {
  if (warp.groups.size() > 1)
    mergeGroups(warp);
  int best = -1;
  for (int i = 0; i < int(warp.groups.size()); ++i) {
    const Group &group = warp.groups[i];
    if (group.state != Group::Ready)
      continue;
    if (best < 0) {
      best = i;
      continue;
    }
    const Group &other = warp.groups[best];
    bool better = warp.rotate                                ? group.lastRun < other.lastRun
                  : group.frame->depth != other.frame->depth ? group.frame->depth > other.frame->depth
                                                             : group.pc < other.pc;
    if (better)
      best = i;
  }
  return best;
}

bool BlockRunner::handle(Status status, WarpState &warp, int index) {
  switch (status) {
  case Status::Diverged:
    diverge(warp, index);
    return true;
  case Status::Join:
    warp.groups[index].pc = warp.w.pc;
    return true;
  case Status::Barrier:
    return arrive(warp, index);
  case Status::Sync:
    warp.groups[index].pc = warp.w.pc;
    warp.groups[index].state = Group::AtSync;
    return true;
  case Status::Exited:
    exitLanes(warp, index);
    return true;
  case Status::Call:
    return callFunction(warp, index);
  case Status::Return:
    returnLanes(warp, index);
    return true;
  default:
    return false;
  }
}

void BlockRunner::diverge(WarpState &warp, int index) {
  Group &group = warp.groups[index];
  Group taken = group;
  taken.mask = warp.w.taken;
  taken.pc = warp.w.pc->target;
  group.mask &= ~taken.mask;
  group.pc = warp.w.pc + 1;
  if (taken.pc <= warp.w.pc)
    --warp.w.budget;
  if (warp.w.budget <= 0) { // a loop that sheds lanes at every turn is a loop too
    warp.rotate = true;
    ++worker.rotations;
    warp.w.budget = budgetOfGroup;
  }
  warp.groups.push_back(taken);
}

// --- barriers ---

bool BlockRunner::arrive(WarpState &warp, int index) {
  Group &group = warp.groups[index];
  uint32_t id = warp.w.barrierId;
  if (id >= numBarriers) {
    fault(&warp.w, warp.w.pc, FaultKind::IllegalInstruction, id, unsigned(__builtin_ctz(group.mask)));
    return false;
  }
  bool partialWarp = warp.w.initial != allLanes && group.mask == warp.w.initial;
  arrived[id] += warp.w.barrierCount && partialWarp ? warpSize : uint32_t(__builtin_popcount(group.mask));
  if (blockChecker)
    checkBarrier(warp, group);
  counted[id] = warp.w.barrierCount;
  group.pc = warp.w.pc;
  group.barrierId = id;
  group.barrierCount = warp.w.barrierCount;
  if (warp.w.pc->n == 1)
    ++group.pc; // only arrives
  else
    group.state = Group::AtBarrier;
  uint32_t wanted = warp.w.barrierCount ? warp.w.barrierCount : liveThreads;
  if (arrived[id] >= wanted)
    releaseBarrier(id);
  return true;
}

bool BlockRunner::releaseBarrier(uint32_t id) {
  finishReduction(id);
  arrived[id] = 0;
  if (blockChecker)
    blockChecker->barrierOpened(id);
  for (auto &warp : warps)
    for (Group &group : warp->groups)
      if (group.state == Group::AtBarrier && group.barrierId == id) {
        group.state = Group::Ready;
        ++group.pc;
        if (blockChecker)
          blockChecker->leave(&warp->w, id);
      }
  return true;
}

/// bar.red: every lane that waits receives what all lanes said.
void BlockRunner::finishReduction(uint32_t id) {
  uint32_t ones = 0, zeros = 0, kind = 0;
  auto eachWaiting = [&](auto visit) {
    for (auto &warp : warps)
      for (Group &group : warp->groups)
        if (group.state == Group::AtBarrier && group.barrierId == id && group.pc->n >= 2)
          visit(group);
  };
  eachWaiting([&](Group &group) {
    uint32_t p;
    memcpy(&p, group.frame->registers + group.pc->c, 4);
    ones += uint32_t(__builtin_popcount(p & group.mask));
    zeros += uint32_t(__builtin_popcount(~p & group.mask));
    kind = group.pc->n;
  });
  eachWaiting([&](Group &group) {
    uint8_t *to = group.frame->registers + group.pc->d;
    if (kind == 2) {
      for (unsigned i = 0; i < warpSize; ++i)
        if (group.mask >> i & 1)
          memcpy(to + 4 * i, &ones, 4);
      return;
    }
    uint32_t bits;
    memcpy(&bits, to, 4);
    bool yes = kind == 3 ? zeros == 0 : ones != 0;
    bits = yes ? bits | group.mask : bits & ~group.mask;
    memcpy(to, &bits, 4);
  });
}

/// After lanes have exited, those that wait may be all that is left.
void BlockRunner::releaseBarriers() {
  for (uint32_t id = 0; id < numBarriers; ++id) {
    if (!arrived[id])
      continue;
    if (!counted[id] && arrived[id] >= liveThreads)
      releaseBarrier(id);
  }
}

// --- the end of lanes, calls and returns ---

void BlockRunner::exitLanes(WarpState &warp, int index) {
  Group group = warp.groups[index];
  warp.groups.erase(warp.groups.begin() + index);
  warp.w.live &= ~group.mask;
  liveThreads -= uint32_t(__builtin_popcount(group.mask));
  cluster->liveThreads -= uint32_t(__builtin_popcount(group.mask));
  cluster->meet();
  for (Frame *frame = group.frame; frame;) {
    Frame *caller = frame->caller;
    frame->lanes &= ~group.mask;
    if (!frame->lanes && caller)
      dropFrame(frame);
    frame = caller;
  }
  for (Group &other : warp.groups)
    if (other.state == Group::AtSync)
      other.state = Group::Ready;
  releaseBarriers();
}

bool BlockRunner::callFunction(WarpState &warp, int index) {
  Group group = warp.groups[index];
  const Op *op = warp.w.pc;
  const auto &site = *static_cast<const CallSite *>(op->data);
  if (group.frame->depth >= deepestCall) {
    fault(&warp.w, op, FaultKind::StackOverflow, 0, unsigned(__builtin_ctz(group.mask)));
    return false;
  }
  group.pc = op;
  warp.groups.erase(warp.groups.begin() + index);
  if (site.callee)
    return enter(warp, group, site, *site.callee), true;
  // Lanes may call different functions through their pointers.
  for (uint32_t rest = group.mask; rest;) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint64_t target;
    memcpy(&target, group.frame->registers + site.target + 8 * lane, 8);
    Group part = group;
    part.mask = 0;
    for (unsigned i = lane; i < warpSize; ++i) {
      uint64_t other;
      memcpy(&other, group.frame->registers + site.target + 8 * i, 8);
      if (rest >> i & 1 && other == target)
        part.mask |= 1u << i;
    }
    const Program *callee = image.programByIndex(target - codeWindow);
    if (!callee || callee->parameters.size() != site.arguments.size()) {
      fault(&warp.w, op, FaultKind::IllegalAddress, target, lane);
      return false;
    }
    enter(warp, part, site, *callee);
    rest &= ~part.mask;
  }
  return true;
}

/// Lanes that call from one place one after another are in one frame, so that they can meet in what they
/// called.
static Frame *frameOfOthers(const WarpState &warp, const Group &group, const CallSite &site,
                            const Program &callee) {
  for (const Group &other : warp.groups)
    for (Frame *f = other.frame; f; f = f->caller)
      if (f->caller == group.frame && f->site == &site && f->program == &callee && !(f->lanes & group.mask))
        return f;
  return nullptr;
}

/// What lanes have in one frame goes to another, of the same lanes.
static void copyLanes(uint8_t *to, FrameParameter target, const uint8_t *from, FrameParameter source,
                      uint32_t mask) {
  uint32_t bytes = std::min(target.bytes, source.bytes);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    memcpy(to + target.offset + lane * target.bytes, from + source.offset + lane * source.bytes, bytes);
  }
}

static void passArguments(Frame &frame, const Group &group) {
  const auto &arguments = frame.site->arguments;
  const auto &parameters = frame.program->parameters;
  for (size_t i = 0; i < arguments.size() && i < parameters.size(); ++i)
    copyLanes(frame.registers, parameters[i], group.frame->registers, arguments[i], group.mask);
}

void BlockRunner::enter(WarpState &warp, Group group, const CallSite &site, const Program &callee) {
  uint64_t localBase = (group.frame->localTop + 15) & ~15ull;
  Frame *frame = frameOfOthers(warp, group, site, callee);
  if (!frame || frame->localBase != localBase) {
    frame = takeFrame(callee);
    frame->caller = group.frame;
    frame->returnTo = group.pc + 1;
    frame->site = &site;
    frame->depth = group.frame->depth + 1;
    frame->lanes = 0;
    frame->localBase = localBase;
    frame->localTop = localBase + callee.localBytes;
  }
  frame->lanes |= group.mask;
  passArguments(*frame, group);
  warp.groups.push_back({group.mask, callee.ops.data(), frame});
}

void BlockRunner::returnLanes(WarpState &warp, int index) {
  Group &group = warp.groups[index];
  Frame *frame = group.frame;
  for (size_t i = 0; i < frame->site->results.size() && i < frame->program->results.size(); ++i)
    copyLanes(frame->caller->registers, frame->site->results[i], frame->registers, frame->program->results[i],
              group.mask);
  group.frame = frame->caller;
  group.pc = frame->returnTo;
  frame->lanes &= ~group.mask;
  if (!frame->lanes)
    dropFrame(frame);
}

Frame *BlockRunner::takeFrame(const Program &program) {
  auto &pool = freeFrames[&program];
  if (pool.empty())
    pool.push_back(std::make_unique<Frame>(program));
  usedFrames.push_back(std::move(pool.back()));
  pool.pop_back();
  return usedFrames.back().get();
}

void BlockRunner::dropFrame(Frame *frame) {
  for (size_t i = usedFrames.size(); i-- > 0;)
    if (usedFrames[i].get() == frame) {
      freeFrames[frame->program].push_back(std::move(usedFrames[i]));
      usedFrames.erase(usedFrames.begin() + ptrdiff_t(i));
      return;
    }
}

// --- clusters ---

uint64_t BlockRunner::sharedOf(uint32_t other, uint64_t offset, uint64_t bytes) const {
  if (other >= cluster->blocks.size())
    return 0;
  const BlockRunner &block = *cluster->blocks[other];
  bool inside = offset < block.sharedBytes && bytes <= block.sharedBytes - offset;
  return inside ? reinterpret_cast<uint64_t>(block.shared) + offset : 0;
}

void BlockRunner::arriveAtCluster(Warp *w) {
  for (uint32_t rest = w->mask; rest; rest &= rest - 1)
    warps[w->index]->clusterTickets[__builtin_ctz(rest)] = cluster->phase;
  cluster->arrived += uint32_t(__builtin_popcount(w->mask));
  cluster->meet();
}

bool BlockRunner::clusterHasMet(const Warp *w) const {
  for (uint32_t rest = w->mask; rest; rest &= rest - 1)
    if (warps[w->index]->clusterTickets[__builtin_ctz(rest)] == cluster->phase)
      return false;
  return true;
}

/// bar.warp.sync may be reached at several places; the other rendezvous may not.
bool BlockRunner::releaseWarpSync(WarpState &warp) {
  static const Handler warpSync = handlers().at("warpsync").fn;
  uint32_t waiting = 0, wanted = 0;
  for (Group &group : warp.groups)
    if (group.state == Group::AtSync && group.pc->fn == warpSync) {
      waiting |= group.mask;
      for (unsigned i = 0; i < warpSize; ++i) {
        uint32_t members;
        memcpy(&members, group.frame->registers + group.pc->b + 4 * i, 4);
        if (group.mask >> i & 1)
          wanted |= members & warp.w.live;
      }
    }
  if (!waiting || (wanted & ~waiting))
    return false;
  for (Group &group : warp.groups)
    if (group.state == Group::AtSync && group.pc->fn == warpSync)
      group.state = Group::Ready, ++group.pc;
  return true;
}

BlockRunner::WarpOutcome BlockRunner::whyNoneReady(WarpState &warp) {
  if (warp.groups.empty())
    return WarpOutcome::Done;
  if (releaseWarpSync(warp))
    return WarpOutcome::Yielded;
  return WarpOutcome::Blocked;
}

// --- what handlers ask for ---

std::string BlockRunner::place(const Warp *w, unsigned lane) const {
  char text[160];
  snprintf(text, sizeof text, "block (%u, %u, %u), thread (%u, %u, %u)", blockIndex[0], blockIndex[1],
           blockIndex[2], w->tid[0][lane], w->tid[1][lane], w->tid[2][lane]);
  return text;
}

namespace {

std::string describe(FaultKind kind, uint64_t address) {
  char hex[32];
  snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)address);
  switch (kind) {
  case FaultKind::IllegalAddress:
    return std::string("access to address ") + hex + ", which is not allocated";
  case FaultKind::Misaligned:
    return std::string("access to address ") + hex + ", which is not aligned";
  case FaultKind::IllegalInstruction:
    return "instruction that this device does not know";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::Assert:
    return "failed assertion";
  case FaultKind::BadTensorMap:
    return std::string("no tensor map that fits the instruction, but ") + hex;
  case FaultKind::StackOverflow:
    return "calls nested more than " + std::to_string(deepestCall) + " deep";
  case FaultKind::Deadlock:
    return "all threads wait for each other";
  default:
    return "fault";
  }
}

} // namespace

void BlockRunner::fault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane) {
  fault(w, op, kind, address, lane, describe(kind, address));
}

void BlockRunner::fault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane,
                        const std::string &what) {
  const WarpState &warp = *warps[w->index];
  const Program &program = *warp.running->program;
  uint32_t line = op->instruction < program.function->instructions.size()
                      ? program.function->instructions[op->instruction].line
                      : 0;
  std::string message =
      "kernel '" + image.entry().function->name + "', line " + std::to_string(line) + ": " + what;
  if (kind == FaultKind::IllegalInstruction && op->e < program.problems.size())
    message += " (" + program.problems[op->e] + ")";
  if (blockChecker)
    reportFault(w, op, kind, address, lane, what);
  message += ", by " + place(w, lane) + ", in '" + image.module().source().lineText(line) + "'";
  launch.fail(kind, message);
}

namespace {

AccessKind kindOf(const ptx::Opcode &o, bool stores) {
  if (o.base == "atom" || o.base == "red" || o.base == "sured")
    return AccessKind::Atomic;
  if (stores)
    return AccessKind::Store;
  for (const char *past : {"cg", "cv", "volatile", "relaxed", "acquire", "mmio"})
    if (o.has(past))
      return AccessKind::LoadPastL1;
  return AccessKind::Load;
}

} // namespace

void BlockRunner::noteAccess(const Warp *w, const Op *op, const uint64_t *addresses, uint32_t mask,
                             unsigned bytes) {
  for (uint32_t rest = worker.sectors ? mask : 0; rest; rest &= rest - 1)
    worker.sectors->insert(addresses[__builtin_ctz(rest)] >> 5);
  if (!log)
    return;
  const ptx::Function &f = *warps[w->index]->running->program->function;
  if (op->instruction >= f.instructions.size())
    return;
  const ptx::Opcode &opcode = *f.instructions[op->instruction].opcode;
  if (opcode.space != ptx::Space::Const) // constants have a cache of their own
    log->add(kindOf(opcode, op->flags & storesData), addresses, mask, bytes);
}

void BlockRunner::noteCopy(bool stores, uint64_t address, uint64_t bytes) {
  for (uint64_t sector = address >> 5; worker.sectors && bytes && sector <= (address + bytes - 1) >> 5;
       ++sector)
    worker.sectors->insert(sector);
  if (log)
    log->addRange(stores ? AccessKind::Store : AccessKind::LoadPastL1, address, bytes);
}

void noteCopy(const Warp *w, bool stores, uint64_t address, uint64_t bytes) {
  static_cast<BlockRunner *>(w->runner)->noteCopy(stores, address, bytes);
}

bool BlockRunner::findRange(const Op *op, uint64_t low, uint64_t high) {
  Range range = launch.request.memory->find(low, high);
  if (!range.high)
    return false;
  worker.ranges[op->slot] = range;
  return true;
}

Status raiseFault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane) {
  static_cast<BlockRunner *>(w->runner)->fault(w, op, kind, address, lane);
  return Status::Fault;
}

bool findRange(Warp *w, const Op *op, uint64_t low, uint64_t high) {
  return static_cast<BlockRunner *>(w->runner)->findRange(op, low, high);
}

uint64_t sharedOfCluster(const Warp *w, uint64_t address, uint64_t bytes) {
  const auto *runner = static_cast<const BlockRunner *>(w->runner);
  uint64_t rank = address >> clusterRankShift;
  return rank ? runner->sharedOf(uint32_t(rank) - 1, address & sharedOffsetMask, bytes) : 0;
}

uint32_t rankInCluster(const Warp *w) { return static_cast<const BlockRunner *>(w->runner)->rankInCluster(); }
void raiseImageFault(Warp *w, const Op *op, FaultKind kind, const std::string &what, unsigned lane) {
  static_cast<BlockRunner *>(w->runner)->fault(w, op, kind, 0, lane, what);
}
const ImageTable &imagesOf(const Warp *w) {
  return static_cast<const BlockRunner *>(w->runner)->deviceMemory().images();
}
uint64_t allocateOnDevice(Warp *w, uint64_t bytes) {
  auto *runner = static_cast<BlockRunner *>(w->runner);
  uint64_t address = runner->deviceMemory().allocateOnDevice(bytes);
  if (address && runner->checker())
    runner->checker()->forget(address, bytes);
  return address;
}
bool releaseOnDevice(Warp *w, uint64_t address) {
  return static_cast<BlockRunner *>(w->runner)->releaseOnDevice(address);
}
void arriveAtCluster(Warp *w) { static_cast<BlockRunner *>(w->runner)->arriveAtCluster(w); }
bool clusterHasMet(const Warp *w) { return static_cast<const BlockRunner *>(w->runner)->clusterHasMet(w); }

uint64_t specialValue(const Warp *w, unsigned which, unsigned lane) {
  return static_cast<const BlockRunner *>(w->runner)->special(w, which, lane);
}

namespace {

uint64_t nanoseconds() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

uint32_t laneMask(ptx::SpecialRegister which, unsigned lane) {
  uint32_t own = 1u << lane, below = own - 1;
  switch (which) {
  case ptx::SpecialRegister::LaneMaskEq:
    return own;
  case ptx::SpecialRegister::LaneMaskLe:
    return below | own;
  case ptx::SpecialRegister::LaneMaskLt:
    return below;
  case ptx::SpecialRegister::LaneMaskGe:
    return ~below;
  default:
    return ~(below | own);
  }
}

} // namespace

uint64_t BlockRunner::special(const Warp *w, unsigned which, unsigned lane) const {
  using S = ptx::SpecialRegister;
  const LaunchRequest &request = launch.request;
  S s = S(which);
  auto offsetFrom = [&](S first) { return unsigned(s) - unsigned(first); };
  if (s >= S::TidX && s <= S::TidZ)
    return w->tid[offsetFrom(S::TidX)][lane];
  if (s >= S::NtidX && s <= S::NtidZ)
    return request.block[offsetFrom(S::NtidX)];
  if (s >= S::CtaidX && s <= S::CtaidZ)
    return blockIndex[offsetFrom(S::CtaidX)];
  if (s >= S::NctaidX && s <= S::NctaidZ)
    return request.grid[offsetFrom(S::NctaidX)];
  if (s >= S::LaneMaskEq && s <= S::LaneMaskGt)
    return laneMask(s, lane);
  if (s >= S::ClusterIdX && s <= S::ClusterIdZ)
    return clusterIndex[offsetFrom(S::ClusterIdX)];
  if (s >= S::NClusterIdX && s <= S::NClusterIdZ) {
    unsigned i = offsetFrom(S::NClusterIdX);
    return request.grid[i] / request.cluster[i];
  }
  if (s >= S::ClusterCtaIdX && s <= S::ClusterCtaIdZ)
    return placeInCluster[offsetFrom(S::ClusterCtaIdX)];
  if (s >= S::ClusterNCtaIdX && s <= S::ClusterNCtaIdZ)
    return request.cluster[offsetFrom(S::ClusterNCtaIdX)];
  switch (s) {
  case S::LaneId:
    return lane;
  case S::WarpId:
    return w->index;
  case S::NWarpId:
    return launch.warpsPerBlock;
  case S::SmId:
    return linearIndex % request.multiprocessors;
  case S::NSmId:
    return request.multiprocessors;
  case S::DynamicSharedSize:
    return request.dynamicShared;
  case S::TotalSharedSize:
    return sharedBytes - image.reservedShared();
  case S::Clock:
  case S::Clock64:
  case S::GlobalTimer:
  case S::GlobalTimerLo:
    return nanoseconds();
  case S::ClockHi:
    return nanoseconds() >> 32;
  case S::ClusterCtaRank:
    return rank;
  case S::ClusterNCtaRank:
    return launch.blocksPerCluster;
  case S::IsExplicitCluster:
    return launch.blocksPerCluster > 1;
  case S::WarpSize:
    return warpSize;
  case S::EnvReg1:
    return launch.workspace >> 32;
  case S::EnvReg2:
    return uint32_t(launch.workspace);
  default:
    return 0;
  }
}

} // namespace joule::vgpu
