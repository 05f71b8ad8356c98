// Launches in check mode, and the parts of a block's runner that only they use.
#include "lib/VirtualGpu/BlockRunner.h"

#include <algorithm>
#include <random>

namespace joule::vgpu {

LaunchResult launchChecked(const LaunchRequest &request) {
  static std::mutex one; // the shadow is not for several launches at once
  std::lock_guard lock(one);
  Findings findings;
  LaunchChecker checker(*request.memory->shadow(), findings);
  checker.kernel = request.image->entry().function->name;
  checker.nodes = request.nodes;
  LaunchRequest checked = request;
  checked.threads = 1;
  checked.engine = EngineChoice::Interpreter;
  LaunchResult result = runLaunch(checked, &checker);
  result.findings = findings.list();
  return result;
}

WarpState &BlockRunner::warpAt(size_t turn) {
  unsigned schedule = launch.request.schedule;
  if (schedule == 0)
    return *warps[turn];
  if (schedule == 1)
    return *warps[warps.size() - 1 - turn];
  if (turn == 0 || order.size() != warps.size()) { // another order in every round
    order.resize(warps.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = uint32_t(i);
    std::minstd_rand random(schedule + uint32_t(++warps[0]->turns) + uint32_t(linearIndex));
    std::shuffle(order.begin(), order.end(), random);
  }
  return *warps[order[turn]];
}

uint32_t BlockRunner::lineOf(const Warp *w, const Op *op) const {
  const auto &instructions = warps[w->index]->running->program->function->instructions;
  return op->instruction < instructions.size() ? instructions[op->instruction].line : 0;
}

bool BlockRunner::isAllocated(uint64_t low, uint64_t high) {
  if (rangeAge != launch.checker->releases)
    lastRange = {0, 0}, rangeAge = launch.checker->releases;
  if (low >= lastRange.low && high <= lastRange.high)
    return true;
  Range range = launch.request.memory->find(low, high);
  if (range.high)
    lastRange = range;
  return range.high != 0;
}

BlockRunner *BlockRunner::ownerOf(uint64_t host) {
  for (BlockRunner *other : cluster->blocks)
    if (host >= uint64_t(other->shared) && host < uint64_t(other->shared) + other->sharedBytes)
      return other;
  return nullptr;
}

void BlockRunner::checkClusterBarrier(Warp *w, bool waited, bool relaxed) {
  if (!waited)
    return blockChecker->arriveAtCluster(w, cluster->met[cluster->phase & 1], cluster->arrived == 0, relaxed);
  uint32_t phase = warps[w->index]->clusterTickets[unsigned(__builtin_ctz(w->mask))];
  blockChecker->leaveCluster(w, cluster->met[phase & 1]);
}

/// The fault that ends a launch, as a finding.
void BlockRunner::reportFault(const Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane,
                              const std::string &what) {
  if (kind == FaultKind::Deadlock)
    return; // told of every place
  bool freed = false;
  std::string where = what;
  if (kind == FaultKind::IllegalAddress && address >> 56 == 0 && op->space != inShared &&
      op->space != inLocal)
    where += ": " + launch.checker->shadow.describe(address, freed);
  FindingKind found = kind == FaultKind::Misaligned       ? FindingKind::Misaligned
                      : kind != FaultKind::IllegalAddress ? FindingKind::Fault
                      : freed                             ? FindingKind::UseAfterFree
                                                          : FindingKind::OutOfBounds;
  blockChecker->report(found, w, op, lane, address, where);
}

void BlockRunner::reportDeadlock() {
  for (auto &warp : warps)
    for (Group &group : warp->groups) {
      warp->running = group.frame;
      unsigned lane = unsigned(__builtin_ctz(group.mask));
      std::string what = group.state == Group::AtBarrier
                             ? "waits at barrier " + std::to_string(group.barrierId)
                         : group.state == Group::AtSync ? "waits for other lanes of the warp"
                                                        : "waits for something to change in memory";
      uint32_t polled = group.state == Group::Ready ? blockChecker->lastPoll(&warp->w, lane) : 0;
      blockChecker->report(FindingKind::Deadlock, &warp->w, polled ? polled : lineOf(&warp->w, group.pc),
                           lane, 0, what + ", which never happens");
    }
}

void BlockRunner::checkBarrier(const WarpState &warp, const Group &group) {
  Warp w = warp.w;
  if (w.barrierCount % warpSize)
    blockChecker->report(FindingKind::BarrierMismatch, &warp.w, w.pc, unsigned(__builtin_ctz(group.mask)), 0,
                         "waits at barrier " + std::to_string(w.barrierId) + " for " +
                             std::to_string(w.barrierCount) + " threads, which are no whole warps");
  for (auto &other : warps)
    for (const Group &waiting : other->groups)
      if (waiting.state == Group::AtBarrier && waiting.barrierId == w.barrierId &&
          waiting.barrierCount != w.barrierCount) {
        blockChecker->report(FindingKind::BarrierMismatch, &warp.w, w.pc, unsigned(__builtin_ctz(group.mask)),
                             0,
                             "waits at barrier " + std::to_string(w.barrierId) + " for " +
                                 (w.barrierCount ? std::to_string(w.barrierCount) : "all") +
                                 " threads, where others wait for " +
                                 (waiting.barrierCount ? std::to_string(waiting.barrierCount) : "all"));
        break;
      }
  blockChecker->arrive(&warps[w.index]->w, w.barrierId);
}

} // namespace joule::vgpu
