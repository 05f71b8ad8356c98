// What each access and each synchronisation means for the shadow of memory and for the clocks.
#include "lib/VirtualGpu/Check/BlockChecker.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace joule::vgpu {

/// Blocks and launches take stamps from one counter, so that no record of one is taken for another's.
static uint32_t newStamp() {
  static std::atomic<uint32_t> next{1};
  return next++;
}

LaunchChecker::LaunchChecker(GlobalShadow &shadow, Findings &findings)
    : shadow(shadow), findings(findings), stamp(newStamp()) {}

BlockChecker::BlockChecker(LaunchChecker &launch, const PlaceSource &places, unsigned warps,
                           const uint8_t *shared, uint64_t sharedBytes)
    : launch(launch), places(places), sharedLow(uint64_t(shared)), sharedWords(sharedBytes / 4 + 1),
      sharedWritten(sharedBytes), inFlight(sharedBytes), localWritten(warps), clocks(warps), openGroup(warps),
      openReads(warps) {}

void BlockChecker::start(uint32_t index) {
  block = index;
  stamp = newStamp();
  std::fill(sharedWritten.begin(), sharedWritten.end(), uint8_t(0));
  std::fill(inFlight.begin(), inFlight.end(), uint8_t(0));
  for (auto &bytes : localWritten)
    std::fill(bytes.begin(), bytes.end(), uint8_t(0));
  for (WarpClock &clock : clocks)
    clock = {};
  for (auto *all : {&openGroup, &openReads})
    for (auto &groups : *all)
      groups.fill(0);
  flights.clear(), readings.clear(), barriersProxied.clear(), openedProxied.clear();
  engineClock = 0;
  barriers.clear(), opened.clear(), barriersFenced.clear(), openedFenced.clear();
  copies.clear();
  changedBefore.assign(clocks.size(), 0);
}

ShadowedAllocation *BlockChecker::allocationOf(uint64_t host) {
  if (!last || host < last->low || host >= last->high)
    last = launch.shadow.find(host);
  return last;
}

void BlockChecker::report(FindingKind kind, const Warp *w, const Op *op, unsigned lane, uint64_t address,
                          const std::string &what) {
  Finding f;
  f.kind = kind;
  f.kernel = launch.kernel;
  f.nodes = launch.nodes;
  f.line = places.lineOf(w, op);
  std::copy_n(places.block(), 3, f.block);
  for (unsigned i = 0; i < 3; ++i)
    f.thread[i] = w->tid[i][lane];
  f.address = address;
  f.message = "kernel '" + launch.kernel + "', line " + std::to_string(f.line) + ": " + what + ", by " +
              placeOf(f.block, f.thread) + ", in '" + places.textOf(f.line) + "'";
  launch.findings.add(std::move(f));
}

static std::string triple(const uint32_t *v) {
  return "(" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + ")";
}

std::string placeOf(const uint32_t *block, const uint32_t *thread) {
  return "block " + triple(block) + ", thread " + triple(thread);
}

static std::string hex(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// "4 bytes of shared memory at 0x10".
static std::string describeAccess(const CheckedAccess &a, const ShadowedAllocation *in) {
  std::string where = a.shared ? " of shared memory" : a.local ? " of local memory" : "";
  return std::to_string(a.bytes) + " bytes" + where + " at " + hex(a.given) +
         (in && !a.shared && !a.local ? " in " + in->describe() : "");
}

// --- races ---

bool BlockChecker::isOrdered(const Record &earlier, const Warp *w, unsigned lane, uint32_t now) const {
  if (earlier.stamp != now)
    return true;
  const WarpClock &clock = clocks[w->index];
  if (earlier.block == block && earlier.warp == w->index)
    return (earlier.lane == lane && lane != anyLane) || earlier.clock < clock.clock;
  return clock.known.covers(earlier.block, earlier.warp, earlier.clock);
}

bool BlockChecker::conflicts(const Record &earlier, const Warp *w, unsigned lane, unsigned bytes,
                             unsigned flags, uint32_t now) const {
  if (!(earlier.bytes & bytes) || isOrdered(earlier, w, lane, now))
    return false;
  bool bothAtomic = earlier.flags & flags & checkAtomic;
  return !bothAtomic || (earlier.block != block && !(earlier.flags & flags & checkDevice));
}

void BlockChecker::reportRace(Warp *w, const Op *op, const CheckedAccess &a, const Record &earlier,
                              bool earlierWrote, bool writes) {
  std::string other = earlier.block != block ? "block " + std::to_string(earlier.block) + ", warp " +
                                                   std::to_string(earlier.warp)
                      : earlier.warp != w->index ? "warp " + std::to_string(earlier.warp)
                      : earlier.lane == anyLane  ? "another lane of the warp"
                                                 : "lane " + std::to_string(earlier.lane);
  std::string what = std::string(writes ? "writes " : "reads ") +
                     describeAccess(a, a.shared || a.local ? nullptr : allocationOf(a.host)) + " that " +
                     other + (earlierWrote ? " wrote" : " read") + " at line " +
                     std::to_string(earlier.line) + " with nothing to order the two";
  if (earlier.flags & checkAtomic && earlier.block != block && !(earlier.flags & checkDevice))
    what += " (the scope of an atomic operation is the block)";
  report(FindingKind::Race, w, op, a.lane, a.given, what);
}

Record BlockChecker::recordOf(const Warp *w, const Op *op, unsigned lane, unsigned flags,
                              uint32_t now) const {
  Record r;
  r.stamp = now;
  r.block = block;
  r.clock = clocks[w->index].clock;
  r.line = places.lineOf(w, op);
  r.warp = uint8_t(w->index);
  r.lane = uint8_t(lane);
  r.flags = uint8_t(flags);
  return r;
}

/// The bytes of the word at `word` that [host, host + bytes) holds.
static unsigned bytesOf(uint64_t word, uint64_t host, unsigned bytes) {
  unsigned mask = 15;
  if (host > word)
    mask &= 15u << (host - word);
  if (host + bytes < word + 4)
    mask &= 15u >> (word + 4 - host - bytes);
  return mask;
}

void BlockChecker::noteRead(WordShadow &word, const Record &now) {
  for (Record &r : word.reads)
    if (r.stamp == now.stamp && r.block == now.block && r.warp == now.warp) {
      bool same = r.clock == now.clock;
      uint8_t lane = same && r.lane != now.lane ? anyLane : now.lane,
              bytes = same ? r.bytes | now.bytes : now.bytes;
      r = now;
      r.lane = lane, r.bytes = bytes;
      return;
    }
  word.reads[word.reads[0].stamp == now.stamp] = now;
}

WordShadow *BlockChecker::wordAt(const CheckedAccess &a, uint64_t host) {
  if (a.shared)
    return &sharedWord(host);
  ShadowedAllocation *in = allocationOf(a.host);
  return in ? &in->word(host) : nullptr;
}

template <class F> void BlockChecker::eachShadow(const CheckedAccess &a, F f) {
  for (uint64_t at = a.host & ~3ull; at < a.host + a.bytes; at += 4)
    if (WordShadow *word = wordAt(a, at))
      word->each(bytesOf(at, a.host, a.bytes), f);
}

void BlockChecker::read(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags) {
  if (a.shared && isFlying() && checkInFlight(w, op, a, false))
    return;
  if (!(flags & checkPartial))
    checkWritten(w, op, a);
  if (a.local)
    return;
  unsigned lane = flags & checkTogether ? anyLane : a.lane;
  Record now = recordOf(w, op, lane, flags, a.shared ? stamp : launch.stamp);
  eachShadow(a, [&](WordShadow &word, unsigned bytes) {
    now.bytes = uint8_t(bytes);
    if (conflicts(word.write, w, lane, bytes, flags, now.stamp))
      reportRace(w, op, a, word.write, true, false);
    noteRead(word, now);
  });
}

void BlockChecker::readAgain(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags) {
  uint32_t now = a.shared ? stamp : launch.stamp;
  eachShadow(a, [&](WordShadow &word, unsigned bytes) {
    if (conflicts(word.write, w, a.lane, bytes, flags, now))
      reportRace(w, op, a, word.write, true, false);
    for (Record &r : word.reads)
      if (r.stamp == now && r.block == block && r.warp == w->index)
        r.lane = anyLane;
  });
}

bool BlockChecker::write(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags,
                         const uint8_t *value) {
  if (a.shared && isFlying() && checkInFlight(w, op, a, true))
    return false;
  if (flags & checkUpdates)
    checkWritten(w, op, a);
  // Writing once more what is there already changes nothing, whoever comes first.
  if (value && memcmp(reinterpret_cast<const void *>(a.host), value, a.bytes) == 0 && isWritten(w, a))
    return true;
  launch.changes += value != nullptr;
  if (a.local)
    return true;
  unsigned lane = flags & checkTogether ? anyLane : a.lane;
  uint32_t now = a.shared ? stamp : launch.stamp;
  eachShadow(a, [&](WordShadow &word, unsigned bytes) {
    if (conflicts(word.write, w, lane, bytes, flags, now))
      reportRace(w, op, a, word.write, true, true);
    for (Record &r : word.reads)
      if (conflicts(r, w, lane, bytes, flags, now))
        reportRace(w, op, a, r, false, true);
  });
  return true;
}

void BlockChecker::noteWrite(Warp *w, const Op *op, const CheckedAccess &a, unsigned flags) {
  if (a.local) {
    memset(localBytes(w) + (a.host - uint64_t(w->local)), 1, a.bytes);
    return;
  }
  Record now =
      recordOf(w, op, flags & checkTogether ? anyLane : a.lane, flags, a.shared ? stamp : launch.stamp);
  eachShadow(a, [&](WordShadow &word, unsigned bytes) {
    const Record &old = word.write;
    bool sameTime =
        old.stamp == now.stamp && old.block == now.block && old.warp == now.warp && old.clock == now.clock;
    uint8_t lane = sameTime && old.lane != now.lane ? anyLane : now.lane;
    word.write = now;
    word.write.lane = lane;
    word.write.bytes = uint8_t(bytes);
    word.reads[0].stamp = word.reads[1].stamp = 0;
  });
  if (a.shared)
    memset(&sharedWritten[a.host - sharedLow], 1, a.bytes);
  else if (ShadowedAllocation *in = allocationOf(a.host))
    in->markWritten(a.host, a.bytes);
}

void BlockChecker::conflictOfLanes(Warp *w, const Op *op, const CheckedAccess &a, unsigned other) {
  report(FindingKind::Race, w, op, a.lane, a.given,
         "writes " + describeAccess(a, a.shared || a.local ? nullptr : allocationOf(a.host)) +
             ", where lane " + std::to_string(other) + " writes something else at the same time");
}

// --- bytes that nobody has written ---

uint8_t *BlockChecker::localBytes(const Warp *w) {
  auto &bytes = localWritten[w->index];
  if (bytes.empty())
    bytes.resize(w->localStride * warpSize);
  return bytes.data();
}

bool BlockChecker::isWritten(const Warp *w, const CheckedAccess &a) {
  if (!a.shared && !a.local) {
    ShadowedAllocation *in = allocationOf(a.host);
    return !in || in->isWritten(a.host, a.bytes);
  }
  const uint8_t *written =
      a.shared ? &sharedWritten[a.host - sharedLow] : localBytes(w) + (a.host - uint64_t(w->local));
  return std::find(written, written + a.bytes, 0) == written + a.bytes;
}

void BlockChecker::checkWritten(Warp *w, const Op *op, const CheckedAccess &a) {
  if (!isWritten(w, a))
    report(FindingKind::UninitialisedRead, w, op, a.lane, a.given,
           "reads " + describeAccess(a, a.shared || a.local ? nullptr : allocationOf(a.host)) +
               ", not all of which have been written");
}

// --- cp.async: a copy is done at the last moment that its wait allows ---

bool BlockChecker::checkInFlight(Warp *w, const Op *op, const CheckedAccess &a, bool writes) {
  auto found = [&](uint32_t line, const char *does) {
    report(FindingKind::AsyncCopy, w, op, a.lane, a.given,
           std::string(writes ? "writes " : "reads ") + describeAccess(a, nullptr) +
               " that the asynchronous copy of line " + std::to_string(line) + " may still " + does +
               ": no wait for it lies between");
    return true;
  };
  uint64_t end = a.host + a.bytes;
  for (const Reading &r : readings)
    if (writes && r.low < end && a.host < r.high)
      return found(r.line, "read");
  const uint8_t *flying = &inFlight[a.host - sharedLow];
  if (std::find(flying, flying + a.bytes, 1) == flying + a.bytes)
    return false;
  uint32_t line = 0;
  for (const Copy &c : copies)
    if (c.to < end && a.host < c.to + c.bytes)
      line = c.line;
  for (const Flight &f : flights)
    if (f.low < end && a.host < f.low + f.bytes)
      line = f.line;
  return found(line, "write");
}

void BlockChecker::startCopy(Warp *w, const Op *op, const CheckedAccess &to, uint64_t from,
                             unsigned bytesRead) {
  if (!write(w, op, to, 0, nullptr))
    return;
  noteWrite(w, op, to, 0);
  memset(reinterpret_cast<void *>(to.host), 0xff, to.bytes); // a NaN, should anybody read it
  memset(&inFlight[to.host - sharedLow], 1, to.bytes);
  copies.push_back({to.host, from, to.bytes, bytesRead, uint16_t(w->index), uint8_t(to.lane),
                    openGroup[w->index][to.lane], places.lineOf(w, op)});
}

void BlockChecker::commitCopies(Warp *w) {
  for (unsigned i = 0; i < warpSize; ++i)
    openGroup[w->index][i] += w->mask >> i & 1;
}

void BlockChecker::finishCopy(const Copy &c) {
  auto *to = reinterpret_cast<uint8_t *>(c.to);
  memcpy(to, reinterpret_cast<const void *>(c.from), c.bytesRead);
  memset(to + c.bytesRead, 0, c.bytes - c.bytesRead);
  memset(&inFlight[c.to - sharedLow], 0, c.bytes);
  CheckedAccess all = {0, c.to, c.bytes, c.lane, true, false};
  eachShadow(all,
             [&](WordShadow &word, unsigned) { word.write.clock = clocks[c.warp].clock; }); // written now
}

void BlockChecker::waitForCopies(Warp *w, uint32_t pending, bool uncommittedToo) {
  auto done = [&](const Copy &c) {
    if (c.warp != w->index || !(w->mask >> c.lane & 1))
      return false;
    uint32_t open = openGroup[w->index][c.lane];
    return uncommittedToo || c.group + pending < open;
  };
  for (const Copy &c : copies)
    if (done(c))
      finishCopy(c);
  copies.erase(std::remove_if(copies.begin(), copies.end(), done), copies.end());
}

// --- mbarriers and the copy engine ---

void BlockChecker::initBarrier(Warp *w, const Op *op, const CheckedAccess &a) {
  if (write(w, op, a, 0, nullptr))
    noteWrite(w, op, a, 0);
}

void BlockChecker::touchBarrier(Warp *w, const Op *op, const CheckedAccess &a, unsigned arrivals) {
  if (!isWritten(w, a))
    return report(FindingKind::AsyncBarrier, w, op, a.lane, a.given,
                  "uses an mbarrier that has not been initialised");
  read(w, op, a, checkAtomic);
  uint64_t word;
  memcpy(&word, reinterpret_cast<const void *>(a.host), sizeof word);
  uint64_t awaited = word & 0xfffff;
  if (arrivals > awaited)
    report(FindingKind::AsyncBarrier, w, op, a.lane, a.given,
           "arrives " + std::to_string(arrivals) + " times at an mbarrier whose phase awaits " +
               std::to_string(awaited) + " arrivals");
}

void BlockChecker::hideCopied(Warp *w, const Op *op, uint64_t to, uint64_t bytes, uint64_t barrier) {
  const auto *from = reinterpret_cast<const uint8_t *>(to);
  flights.push_back({to, bytes, barrier, places.lineOf(w, op), std::vector<uint8_t>(from, from + bytes)});
  memset(reinterpret_cast<void *>(to), 0xff, bytes);
  memset(&inFlight[to - sharedLow], 1, bytes);
}

void BlockChecker::showCopied(uint64_t barrier) {
  Record done;
  done.stamp = stamp, done.block = block, done.clock = engineClock + 1;
  done.warp = uint8_t(clocks.size()), done.lane = anyLane;
  bool any = false;
  for (const Flight &f : flights) {
    if (f.barrier != barrier)
      continue;
    any = true;
    memcpy(reinterpret_cast<void *>(f.low), f.data.data(), f.bytes);
    memset(&inFlight[f.low - sharedLow], 0, f.bytes);
    memset(&sharedWritten[f.low - sharedLow], 1, f.bytes);
    done.line = f.line;
    CheckedAccess all = {0, f.low, unsigned(f.bytes), 0, true, false};
    eachShadow(all, [&](WordShadow &word, unsigned bytesOfWord) {
      done.bytes = uint8_t(bytesOfWord);
      word.write = done;
      word.reads[0].stamp = word.reads[1].stamp = 0;
    });
  }
  if (!any)
    return;
  SyncVariable &v = launch.variables[barrier];
  if (v.block != block)
    v.released[0] = {}, v.block = block;
  v.released[0].learn(block, unsigned(clocks.size()), ++engineClock);
  auto isShown = [&](const Flight &f) { return f.barrier == barrier; };
  flights.erase(std::remove_if(flights.begin(), flights.end(), isShown), flights.end());
}

void BlockChecker::markShared(uint64_t host, uint64_t bytes) {
  memset(&sharedWritten[host - sharedLow], 1, bytes);
  CheckedAccess all = {0, host, unsigned(bytes), 0, true, false};
  eachShadow(all, [&](WordShadow &word, unsigned) { word.write.stamp = 0; });
}

void BlockChecker::checkProxy(Warp *w, const Op *op, const CheckedAccess &a) {
  const WarpClock &c = clocks[w->index];
  uint32_t line = 0;
  eachShadow(a, [&](WordShadow &word, unsigned) {
    const Record &r = word.write;
    bool byEngine = r.warp == clocks.size();
    if (r.stamp == stamp && !byEngine && !c.proxied.covers(r.block, r.warp, r.clock))
      line = r.line;
  });
  if (line)
    report(FindingKind::ProxyFence, w, op, a.lane, a.given,
           "lets the copy engine read " + describeAccess(a, nullptr) + " that line " + std::to_string(line) +
               " wrote, with no fence.proxy.async between");
}

void BlockChecker::proxyFence(Warp *w) {
  WarpClock &c = clocks[w->index];
  c.known.learn(block, w->index, c.clock);
  c.proxied.learn(c.known);
  ++c.clock;
}

void BlockChecker::startReading(Warp *w, const Op *op, const CheckedAccess &a) {
  readings.push_back({a.host, a.host + a.bytes, places.lineOf(w, op), openReads[w->index][a.lane],
                      uint16_t(w->index), uint8_t(a.lane)});
}

void BlockChecker::commitReads(Warp *w) {
  for (unsigned i = 0; i < warpSize; ++i)
    openReads[w->index][i] += w->mask >> i & 1;
}

void BlockChecker::waitForReads(Warp *w, uint32_t pending) {
  auto done = [&](const Reading &r) {
    return r.warp == w->index && w->mask >> r.lane & 1 && r.group + pending < openReads[w->index][r.lane];
  };
  readings.erase(std::remove_if(readings.begin(), readings.end(), done), readings.end());
}

// --- synchronisation ---

void BlockChecker::fence(Warp *w, bool device) {
  WarpClock &c = clocks[w->index];
  c.known.learn(c.heard);
  c.heard = {};
  c.known.learn(block, w->index, c.clock);
  c.fenced[0].learn(c.known);
  if (device)
    c.fenced[1].learn(c.known);
  ++c.clock;
}

void BlockChecker::warpMet(Warp *w) { ++clocks[w->index].clock; }

void BlockChecker::arrive(Warp *w, uint32_t barrier) {
  WarpClock &c = clocks[w->index];
  c.known.learn(block, w->index, c.clock);
  ++c.clock;
  barriers[barrier].learn(c.known);
  barriersFenced[barrier].learn(c.fenced[1]);
  barriersProxied[barrier].learn(c.proxied);
}

void BlockChecker::barrierOpened(uint32_t barrier) {
  opened[barrier] = std::move(barriers[barrier]);
  openedFenced[barrier] = std::move(barriersFenced[barrier]);
  openedProxied[barrier] = std::move(barriersProxied[barrier]);
  barriersProxied.erase(barrier);
  barriers.erase(barrier);
  barriersFenced.erase(barrier);
}

void BlockChecker::leave(Warp *w, uint32_t barrier) {
  WarpClock &c = clocks[w->index];
  c.known.learn(opened[barrier]);
  c.fenced[1].learn(openedFenced[barrier]);
  c.proxied.learn(openedProxied[barrier]);
}

void BlockChecker::synchronise(Warp *w, uint64_t host, unsigned flags, bool writes) {
  WarpClock &c = clocks[w->index];
  bool reads = flags & (checkAcquire | checkHears);
  notePoll();
  auto it = launch.variables.find(host);
  if (it != launch.variables.end() && reads) {
    Knowledge &to = flags & checkAcquire ? c.known : c.heard;
    to.learn(it->second.released[1]);
    if (it->second.block == block)
      to.learn(it->second.released[0]);
    c.proxied.learn(it->second.proxied);
  }
  bool releases = flags & checkRelease;
  if (!writes || (!releases && c.fenced[0].isEmpty() && c.fenced[1].isEmpty()))
    return;
  SyncVariable &v = launch.variables[host];
  if (v.block != block)
    v.released[0] = {}, v.block = block;
  if (releases) {
    c.known.learn(block, w->index, c.clock);
    v.released[flags & checkDevice ? 1 : 0].learn(c.known);
    ++c.clock;
  }
  v.proxied.learn(c.proxied);
  v.released[0].learn(c.fenced[0]);
  if (flags & checkDevice)
    v.released[1].learn(c.fenced[1]);
}

} // namespace joule::vgpu
