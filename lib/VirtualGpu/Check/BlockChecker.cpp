// What each access and each synchronisation means for the shadow of memory and for the clocks.
#include "lib/VirtualGpu/Check/BlockChecker.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace joule::vgpu {

static uint32_t newStamp() {
  static std::atomic<uint32_t> next{1};
  return next++;
}

LaunchChecker::LaunchChecker(GlobalShadow &shadow, Findings &findings)
    : shadow(shadow), findings(findings), stamp(newStamp()) {}

BlockChecker::BlockChecker(LaunchChecker &launch, const PlaceSource &places, unsigned warps,
                           const uint8_t *shared, uint64_t sharedBytes)
    : launch(launch), places(places), shared(uint64_t(shared), uint64_t(shared) + sharedBytes, false),
      locals(warps), inFlight(sharedBytes), clocks(warps), openGroup(warps), polls(warps), sums(warps),
      writtenSums(warps) {
  for (auto &groups : openEngine)
    groups.resize(warps);
}

void BlockChecker::start(uint32_t index) {
  block = index;
  ended = polled = false;
  shared.forget();
  for (auto &range : locals)
    if (range)
      range->forget();
  std::fill(inFlight.begin(), inFlight.end(), uint8_t(0));
  for (WarpClock &clock : clocks) {
    clock = {};
    clock.own = clock.known.row(block, engineWarp() + 1);
  }
  for (auto *all : {&openGroup, &openEngine[Copying], &openEngine[Multiplying], &polls})
    for (auto &groups : *all)
      groups.fill(0);
  for (auto *all : {&barriers, &opened, &barriersFenced, &openedFenced, &barriersProxied, &openedProxied})
    all->clear();
  copies.clear(), flights.clear(), pending.clear(), phases.clear(), visits.clear();
  for (auto &registers : sums)
    registers.clear();
  for (auto &registers : writtenSums)
    registers.clear();
  undefined.clear();
  engineClock = 0, reading = 0;
  changedBefore.assign(clocks.size(), 0);
}

/// The memory of a block ends with its last thread: what others do there must come before.
void BlockChecker::end() {
  ended = true;
  for (const Visit &v : visits) {
    bool known = false;
    for (const WarpClock &clock : clocks)
      known |= clock.known.covers(blockOf(v.step.now), warpOf(v.step.now), clockOf(v.step.now));
    if (!known)
      v.visitor->reportVisit(v);
  }
  visits.clear();
}

void BlockChecker::noteVisit(const Step &step, const CheckedAccess &a) {
  Visit now = {this, a.owner->block, step, a.lane(), a.given};
  if (a.owner->ended)
    return reportVisit(now);
  for (Visit &v : a.owner->visits)
    if (v.visitor == this && v.step.w == step.w) {
      v = now;
      return;
    }
  a.owner->visits.push_back(now);
}

void BlockChecker::reportVisit(const Visit &v) {
  report(FindingKind::Race, v.step.w, v.step.op, v.lane, v.given,
         "touches shared memory of block " + std::to_string(v.visited) +
             ", which may have ended: nothing makes it wait");
}

ShadowedRange *BlockChecker::allocationOf(uint64_t host) {
  if (releasesSeen != launch.releases) {
    std::fill(std::begin(last), std::end(last), nullptr);
    releasesSeen = launch.releases;
  }
  for (ShadowedAllocation *a : last)
    if (a && host >= a->low && host < a->high)
      return a;
  ShadowedAllocation *found = launch.shadow.find(host);
  if (found) {
    found->cells.belongTo(launch.stamp);
    last[nextLast++ % std::size(last)] = found;
  }
  return found;
}

ShadowedRange *BlockChecker::localRange(const Warp *w) {
  std::unique_ptr<ShadowedRange> &range = locals[w->index];
  if (!range)
    range = std::make_unique<ShadowedRange>(uint64_t(w->local),
                                            uint64_t(w->local) + w->localStride * warpSize, false);
  return range.get();
}

void BlockChecker::report(FindingKind kind, const Warp *w, const Op *op, unsigned lane, uint64_t address,
                          const std::string &what) {
  report(kind, w, places.lineOf(w, op), lane, address, what);
}

void BlockChecker::report(FindingKind kind, const Warp *w, uint32_t line, unsigned lane, uint64_t address,
                          const std::string &what) {
  Finding f;
  f.kind = kind;
  f.kernel = launch.kernel;
  f.nodes = launch.nodes;
  f.line = line;
  std::copy_n(places.block(), 3, f.block);
  for (unsigned i = 0; i < 3; ++i)
    f.thread[i] = w->tid[i][lane];
  f.address = address;
  f.message = "kernel '" + launch.kernel + "', line " + std::to_string(f.line) + ": " + what + ", by " +
              placeOf(f.block, f.thread) + ", in '" + places.textOf(f.line) + "'";
  launch.findings.add(std::move(f));
}

void BlockChecker::report(FindingKind kind, const Step &step, const CheckedAccess &a,
                          const std::string &what) {
  report(kind, step.w, step.op, a.lane(), a.given, what);
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
static std::string describeAccess(const CheckedAccess &a) {
  bool inAllocation = a.space == CheckedAccess::Global && a.range;
  return std::to_string(a.bytes) + " bytes" +
         (a.space == CheckedAccess::Shared  ? " of shared memory"
          : a.space == CheckedAccess::Local ? " of local memory"
                                            : "") +
         " at " + hex(a.given) +
         (inAllocation ? " in " + static_cast<const ShadowedAllocation *>(a.range)->describe() : "");
}

// --- races ---

/// Does each of these lanes know what each other lane did?
bool BlockChecker::lanesAreOrdered(const WarpClock &clock, const Access &earlier, uint32_t lanes) const {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    for (uint32_t others = earlier.lanes & ~(1u << lane); others; others &= others - 1)
      if (!clock.lanes || (*clock.lanes)[lane][unsigned(__builtin_ctz(others))] < clockOf(earlier.time))
        return false;
  }
  return true;
}

bool BlockChecker::isOrdered(const Step &step, const Access &earlier, uint32_t lanes) const {
  if (!earlier.time)
    return true;
  const WarpClock &clock = clocks[step.w->index];
  if ((earlier.time ^ step.now) >> clockBits == 0)
    return clockOf(earlier.time) < clock.whole || lanesAreOrdered(clock, earlier, lanes);
  if (blockOf(earlier.time) == block)
    return clock.own[warpOf(earlier.time)] >= clockOf(earlier.time);
  return clock.known.covers(blockOf(earlier.time), warpOf(earlier.time), clockOf(earlier.time));
}

bool BlockChecker::conflicts(const Step &step, const Access &earlier, uint32_t lanes) const {
  if (isOrdered(step, earlier, lanes))
    return false;
  bool bothAtomic = earlier.isAtomic && step.flags & checkAtomic;
  return !bothAtomic || (blockOf(earlier.time) != block && !(earlier.ofDevice && step.flags & checkDevice));
}

void BlockChecker::reportRace(const Step &step, const CheckedAccess &a, const Access &earlier,
                              bool earlierWrote, bool writes) {
  unsigned warp = warpOf(earlier.time);
  std::string name = warp == engineWarp() ? "the copy engine" : "warp " + std::to_string(warp);
  std::string other =
      blockOf(earlier.time) != block        ? "block " + std::to_string(blockOf(earlier.time)) + ", " + name
      : warp != step.w->index               ? name
      : earlier.lanes & (earlier.lanes - 1) ? "another lane of the warp"
                                            : "lane " + std::to_string(__builtin_ctz(earlier.lanes));
  std::string what = std::string(writes ? "writes " : "reads ") + describeAccess(a) + " that " + other +
                     (earlierWrote ? " wrote" : " read") + " at line " + std::to_string(earlier.line) +
                     " with nothing to order the two";
  if (earlier.isAtomic && blockOf(earlier.time) != block && !earlier.ofDevice)
    what += " (the scope of an atomic operation is the block)";
  report(FindingKind::Race, step, a, what);
}

static Access accessOf(const Step &step, uint32_t lanes) {
  Access now = {};
  now.time = step.now;
  now.lanes = lanes;
  now.line = step.line;
  now.isAtomic = (step.flags & checkAtomic) != 0;
  now.ofDevice = (step.flags & checkDevice) != 0;
  return now;
}

inline void BlockChecker::readCell(const Step &step, const CheckedAccess &a, Cell &cell) {
  auto isOwnNow = [&](const Access &r) { return r.time == step.now && !r.wrote; };
  Access *own = isOwnNow(cell.reads[0]) ? &cell.reads[0] : isOwnNow(cell.reads[1]) ? &cell.reads[1] : nullptr;
  // What this warp has read at this time, and nobody has written since, has been looked at.
  bool seen = own && cell.write.time != step.now && own->isAtomic == (step.flags & checkAtomic) &&
              !clocks[step.w->index].lanes;
  if (!seen && conflicts(step, cell.write, a.lanes))
    reportRace(step, a, cell.write, true, false);
  for (const Access &r : cell.reads)
    if (!seen && r.wrote && conflicts(step, r, a.lanes))
      reportRace(step, a, r, true, false);
  if (own) {
    own->lanes |= a.lanes;
    own->isAtomic &= step.flags & checkAtomic;
    return;
  }
  auto isOwn = [&](const Access &r) { return r.time && (r.time ^ step.now) >> clockBits == 0; };
  bool first = !cell.reads[0].time || isOwn(cell.reads[0]);
  cell.reads[!first] = accessOf(step, a.lanes);
}

void BlockChecker::read(const Step &step, const CheckedAccess &a) {
  if (a.owner) {
    if (a.owner->isFlying() && a.owner->checkInFlight(step, a, false))
      return;
    if (a.owner != this)
      noteVisit(step, a);
  }
  if (!a.range)
    return;
  if (!(step.flags & checkPartial) && !a.range->isWritten(a.host, a.bytes))
    checkWritten(step, a);
  if (a.space != CheckedAccess::Local)
    a.range->each(a.host, a.bytes, [&](Cell &cell) { readCell(step, a, cell); });
}

void BlockChecker::readLanes(const Step &step, CheckedAccess a, const uint64_t *given, uint64_t span) {
  uint64_t toHost = a.host - a.given;
  // Then each word can be looked at for itself, and is done once it has been read at this time.
  bool simple = a.bytes % 4 == 0 && !step.flags && (!a.owner || (a.owner == this && !isFlying())) &&
                !clocks[step.w->index].lanes;
  constexpr uint64_t worthOneLook = 1024;
  bool written = span <= worthOneLook && a.range->isWritten(a.host, span);
  for (uint32_t rest = step.w->mask; rest;) {
    a.given = given[__builtin_ctz(rest)], a.host = a.given + toHost;
    uint32_t lanes = 0;
    do { // neighbours that read one place
      lanes |= rest & -rest;
      rest &= rest - 1;
    } while (rest && given[__builtin_ctz(rest)] == a.given);
    a.lanes = lanes;
    if (!simple) {
      read(step, a);
      continue;
    }
    if (!written)
      checkWritten(step, a);
    for (uint64_t offset = a.host - a.range->low, end = offset + a.bytes; offset < end; offset += 4) {
      Cell *cell = a.range->cells.whole(offset);
      if (!cell) {
        a.range->each(a.range->low + offset, 4, [&](Cell &byte) { readCell(step, a, byte); });
        continue;
      }
      Access &own = cell->reads[cell->reads[0].time != step.now];
      if (own.time == step.now && cell->write.time != step.now && !own.isAtomic && !own.wrote)
        own.lanes |= lanes;
      else
        readCell(step, a, *cell);
    }
  }
}

void BlockChecker::forget(uint64_t host, uint64_t bytes) {
  ShadowedRange *range = allocationOf(host);
  if (!range || host + bytes > range->high)
    return;
  range->markUnwritten(host, bytes);
  range->each(host, bytes, [](Cell &cell) { cell = {}; });
}

static uint64_t keyOf(const Warp *w, uint32_t place, unsigned lane) {
  return (uint64_t(w->index) << 32 | place) * warpSize + lane;
}

void BlockChecker::noteCopied(const Warp *w, uint32_t place, unsigned lane, uint32_t bytes) {
  if (bytes)
    undefined[keyOf(w, place, lane)] = bytes;
  else if (anyUndefined())
    undefined.erase(keyOf(w, place, lane));
}

uint32_t BlockChecker::undefinedBytes(const Warp *w, uint32_t place, unsigned lane) const {
  auto it = undefined.find(keyOf(w, place, lane));
  return it == undefined.end() ? 0 : it->second;
}

bool BlockChecker::write(const Step &step, const CheckedAccess &a, const uint8_t *value) {
  if (a.owner) {
    if (a.owner->isFlying() && a.owner->checkInFlight(step, a, true))
      return false;
    if (a.owner != this)
      noteVisit(step, a);
  }
  if (!a.range)
    return true;
  if (step.flags & checkUpdates)
    checkWritten(step, a);
  // Writing once more what is there already changes nothing, whoever comes first.
  if (value && memcmp(reinterpret_cast<const void *>(a.host), value, a.bytes) == 0 &&
      a.range->isWritten(a.host, a.bytes))
    return true;
  launch.changes += value != nullptr;
  if (a.space == CheckedAccess::Local)
    return true;
  a.range->each(a.host, a.bytes, [&](const Cell &cell) {
    if (conflicts(step, cell.write, a.lanes))
      reportRace(step, a, cell.write, true, true);
    for (const Access &r : cell.reads)
      if (conflicts(step, r, a.lanes))
        reportRace(step, a, r, r.wrote, true);
  });
  return true;
}

/// An atomic operation orders nothing, so what came before it and was none still conflicts with those after
/// it.
static void keepPlain(Cell &cell) {
  for (Access &r : cell.reads)
    if (r.isAtomic)
      r.time = 0;
  if (!cell.write.time || cell.write.isAtomic)
    return;
  Access &free = cell.reads[cell.reads[0].time != 0];
  free = cell.write;
  free.wrote = true;
}

void BlockChecker::noteWrite(const Step &step, const CheckedAccess &a) {
  if (!a.range)
    return;
  a.range->markWritten(a.host, a.bytes);
  if (a.space == CheckedAccess::Local)
    return;
  Access now = accessOf(step, a.lanes);
  a.range->each(a.host, a.bytes, [&](Cell &cell) {
    uint32_t lanes = cell.write.time == now.time ? cell.write.lanes | now.lanes : now.lanes;
    if (now.isAtomic)
      keepPlain(cell);
    else
      cell.reads[0].time = cell.reads[1].time = 0;
    cell.write = now;
    cell.write.lanes = lanes;
  });
}

void BlockChecker::conflictOfLanes(const Step &step, const CheckedAccess &a, unsigned other) {
  report(FindingKind::Race, step, a,
         "writes " + describeAccess(a) + ", where lane " + std::to_string(other) +
             " writes something else at the same time");
}

void BlockChecker::checkWritten(const Step &step, const CheckedAccess &a) {
  if (!a.range->isWritten(a.host, a.bytes))
    report(FindingKind::UninitialisedRead, step, a,
           "reads " + describeAccess(a) + ", not all of which have been written");
}

// --- cp.async: a copy is done at the last moment that its wait allows ---

bool BlockChecker::checkInFlight(const Step &step, const CheckedAccess &a, bool writes) {
  uint64_t end = a.host + a.bytes;
  uint32_t line = 0;
  auto found = [&](const char *does) {
    std::string what = std::string(writes ? "writes " : "reads ") + describeAccess(a) +
                       " that the asynchronous operation of line " + std::to_string(line) + " may still " +
                       does + ": no wait for it lies between";
    report(FindingKind::AsyncCopy, step, a, what);
    return true;
  };
  for (const Pending &p : pending)
    if (writes && p.reads && p.low < end && a.host < p.high)
      return line = p.line, found("read");
  const uint8_t *flying = &inFlight[a.host - shared.low];
  if (std::find(flying, flying + a.bytes, 1) == flying + a.bytes)
    return false;
  for (const Copy &c : copies)
    if (c.to < end && a.host < c.to + c.bytes)
      line = c.line;
  for (const Flight &f : flights)
    if (f.low < end && a.host < f.low + f.bytes)
      line = f.line;
  return found("write");
}

void BlockChecker::startCopy(const Step &step, const CheckedAccess &to, uint64_t from, unsigned bytesRead) {
  if (!write(step, to, nullptr))
    return;
  noteWrite(step, to);
  memset(reinterpret_cast<void *>(to.host), 0xff, to.bytes); // a NaN, should anybody read it
  memset(&inFlight[to.host - shared.low], 1, to.bytes);
  unsigned warp = step.w->index;
  copies.push_back({to.host, from, to.bytes, bytesRead, uint16_t(warp), uint8_t(to.lane()),
                    openGroup[warp][to.lane()], step.line});
}

void BlockChecker::commitCopies(Warp *w) {
  for (unsigned i = 0; i < warpSize; ++i)
    openGroup[w->index][i] += w->mask >> i & 1;
}

void BlockChecker::finishCopy(const Copy &c) {
  auto *to = reinterpret_cast<uint8_t *>(c.to);
  if (c.bytesRead)
    memcpy(to, reinterpret_cast<const void *>(c.from), c.bytesRead);
  memset(to + c.bytesRead, 0, c.bytes - c.bytesRead);
  memset(&inFlight[c.to - shared.low], 0, c.bytes);
  Time now = timeOf(block, c.warp, clocks[c.warp].clock);
  shared.each(c.to, c.bytes, [&](Cell &cell) { cell.write.time = now; }); // written now
}

void BlockChecker::waitForCopies(Warp *w, uint32_t groups, bool uncommittedToo) {
  auto done = [&](const Copy &c) {
    if (c.warp != w->index || !(w->mask >> c.lane & 1))
      return false;
    return uncommittedToo || c.group + groups < openGroup[w->index][c.lane];
  };
  for (const Copy &c : copies)
    if (done(c))
      finishCopy(c);
  copies.erase(std::remove_if(copies.begin(), copies.end(), done), copies.end());
}

// --- mbarriers and the copy engine ---

static uint64_t parityAt(uint64_t barrier) {
  uint64_t word;
  memcpy(&word, reinterpret_cast<const void *>(barrier), sizeof word);
  return word >> 63;
}

void BlockChecker::initBarrier(const Step &step, const CheckedAccess &a, bool valid) {
  Phase &phase = phases[a.host];
  bool inUse = valid && phase.line;
  a.range->each(a.host, a.bytes, [&](const Cell &cell) { inUse &= cell.write.line == phase.line; });
  if (inUse)
    report(FindingKind::AsyncBarrier, step, a,
           "initialises an mbarrier that has been in use since line " + std::to_string(phase.line));
  phase = {0, phase.ended + 1, valid ? step.line : 0};
  if (write(step, a, nullptr))
    noteWrite(step, a);
}

uint32_t BlockChecker::phaseOf(uint64_t barrier) {
  Phase &phase = phases[barrier];
  if (uint64_t parity = parityAt(barrier); parity != phase.parity)
    phase.parity = parity, ++phase.ended;
  return phase.ended;
}

void BlockChecker::touchBarrier(const Step &step, const CheckedAccess &a, unsigned arrivals) {
  if (!a.range->isWritten(a.host, a.bytes))
    return report(FindingKind::AsyncBarrier, step, a, "uses an mbarrier that has not been initialised");
  Step touching = step;
  touching.flags = checkAtomic | checkDevice;
  read(touching, a);
  uint64_t word;
  memcpy(&word, reinterpret_cast<const void *>(a.host), sizeof word);
  uint64_t awaited = word & 0xfffff;
  if (arrivals > awaited)
    report(FindingKind::AsyncBarrier, step, a,
           "arrives " + std::to_string(arrivals) + " times at an mbarrier whose phase awaits " +
               std::to_string(awaited) + " arrivals");
}

void BlockChecker::hideCopied(uint64_t to, uint64_t bytes, uint64_t barrier, uint32_t phase, uint32_t line) {
  const auto *from = reinterpret_cast<const uint8_t *>(to);
  flights.push_back({to, bytes, barrier, phase, line, std::vector<uint8_t>(from, from + bytes)});
  memset(reinterpret_cast<void *>(to), 0xff, bytes);
  memset(&inFlight[to - shared.low], 1, bytes);
}

void BlockChecker::showCopied(uint64_t barrier) {
  if (flights.empty())
    return;
  uint32_t phase = phaseOf(barrier);
  auto isShown = [&](const Flight &f) { return f.barrier == barrier && f.phase < phase; };
  Access done = {};
  done.time = timeOf(block, engineWarp(), engineClock + 1);
  done.lanes = 1;
  bool any = false;
  for (const Flight &f : flights) {
    if (!isShown(f))
      continue;
    any = true;
    memcpy(reinterpret_cast<void *>(f.low), f.data.data(), f.bytes);
    memset(&inFlight[f.low - shared.low], 0, f.bytes);
    shared.markWritten(f.low, f.bytes);
    done.line = f.line;
    shared.each(f.low, f.bytes, [&](Cell &cell) {
      cell.write = done;
      cell.reads[0].time = cell.reads[1].time = 0;
    });
  }
  if (!any)
    return;
  SyncVariable &v = launch.variables[barrier];
  if (v.block != block)
    v.released[0] = {}, v.block = block;
  v.released[0].learn(block, engineWarp(), ++engineClock);
  flights.erase(std::remove_if(flights.begin(), flights.end(), isShown), flights.end());
}

void BlockChecker::markShared(uint64_t host, uint64_t bytes) {
  shared.markWritten(host, bytes);
  shared.each(host, bytes, [&](Cell &cell) { cell.write.time = 0; });
}

void BlockChecker::checkProxy(const Step &step, const CheckedAccess &a, const char *reader) {
  const WarpClock &c = clocks[step.w->index];
  uint32_t line = 0;
  a.range->each(a.host, a.bytes, [&](const Cell &cell) {
    Time t = cell.write.time;
    if (t && warpOf(t) != engineWarp() && !c.proxied.covers(blockOf(t), warpOf(t), clockOf(t)))
      line = cell.write.line;
  });
  if (line)
    report(FindingKind::ProxyFence, step, a,
           "lets " + std::string(reader) + " read " + describeAccess(a) + " that line " +
               std::to_string(line) + " wrote, with no fence.proxy.async between");
}

void BlockChecker::proxyFence(Warp *w) {
  WarpClock &c = clocks[w->index];
  c.known.learn(block, w->index, c.clock);
  c.proxied.learn(c.known);
  c.meet();
}

// --- what is under way in groups ---

void BlockChecker::startReading(const Step &step, const CheckedAccess &a, Engine engine) {
  uint32_t group = openEngine[engine][step.w->index][a.lane()];
  if (!pending.empty()) { // pieces that follow each other are one
    Pending &before = pending.back();
    if (before.reads && before.engine == engine && before.warp == step.w->index && before.lane == a.lane() &&
        before.group == group && before.line == step.line && a.host >= before.low && a.host <= before.high) {
      before.high = std::max(before.high, a.host + a.bytes);
      return;
    }
  }
  ++reading;
  pending.push_back({engine, true, a.host, a.host + a.bytes, 0, step.line, group, uint16_t(step.w->index),
                     uint8_t(a.lane())});
}

void BlockChecker::startStoring(const Step &step, const CheckedAccess &a) {
  Step byEngine = step;
  byEngine.now = timeOf(block, engineWarp(), ++engineClock);
  noteWrite(byEngine, a);
  pending.push_back({Copying, false, a.host, a.host + a.bytes, engineClock, step.line,
                     openEngine[Copying][step.w->index][a.lane()], uint16_t(step.w->index),
                     uint8_t(a.lane())});
}

void BlockChecker::commitGroup(Warp *w, Engine engine) {
  for (unsigned i = 0; i < warpSize; ++i)
    openEngine[engine][w->index][i] += w->mask >> i & 1;
}

void BlockChecker::waitForGroups(Warp *w, Engine engine, uint32_t groups, bool readsOnly) {
  auto isOver = [&](const Pending &p) {
    return p.engine == engine && p.warp == w->index && w->mask >> p.lane & 1 && (p.reads || !readsOnly) &&
           p.group + groups < openEngine[engine][w->index][p.lane];
  };
  for (const Pending &p : pending)
    if (isOver(p)) {
      reading -= p.reads;
      if (!p.reads)
        clocks[w->index].known.learn(block, engineWarp(), p.clock);
    }
  pending.erase(std::remove_if(pending.begin(), pending.end(), isOver), pending.end());
  if (engine != Multiplying || !w->mask)
    return;
  uint32_t open = openEngine[engine][w->index][unsigned(__builtin_ctz(w->mask))];
  auto &under = sums[w->index];
  for (auto it = under.begin(); it != under.end();)
    it = it->second.first + groups < open ? under.erase(it) : std::next(it);
}

void BlockChecker::startSums(const Step &step, const uint32_t *registers, size_t count) {
  unsigned warp = step.w->index, lane = unsigned(__builtin_ctz(step.w->mask));
  uint32_t line = 0;
  for (size_t i = 0; i < count; ++i) {
    if (auto it = writtenSums[warp].find(registers[i]); it != writtenSums[warp].end())
      line = it->second;
    sums[warp][registers[i]] = {openEngine[Multiplying][warp][lane], step.line};
  }
  if (line)
    report(FindingKind::AsyncCopy, step.w, step.op, lane, 0,
           "adds to registers that line " + std::to_string(line) + " wrote, with no wgmma.fence between");
}

void BlockChecker::touchSums(const Step &step, const uint32_t *registers, size_t count, bool writes) {
  unsigned warp = step.w->index;
  for (size_t i = 0; i < count; ++i) {
    if (auto it = sums[warp].find(registers[i]); it != sums[warp].end())
      report(FindingKind::AsyncCopy, step.w, step.op, unsigned(__builtin_ctz(step.w->mask)), 0,
             "touches a register that the product of line " + std::to_string(it->second.second) +
                 " may still write: no wgmma.wait_group for it lies between");
    if (writes)
      writtenSums[warp][registers[i]] = step.line;
  }
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
  c.meet();
}

/// From here on their clock is another, so that what they do before they meet can be told from what they do
/// after.
void BlockChecker::lanesArrive(Warp *w, bool apart) {
  WarpClock &c = clocks[w->index];
  if (!apart && !c.lanes && w->mask == w->live)
    return;
  c.tellLanesApart();
  for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    (*c.lanes)[lane][lane] = c.clock;
  }
  ++c.clock;
}

void BlockChecker::lanesMet(Warp *w, const uint32_t *members) {
  WarpClock &c = clocks[w->index];
  bool all = w->mask == w->live;
  for (uint32_t rest = w->mask; rest && all; rest &= rest - 1)
    all = (members[__builtin_ctz(rest)] & w->live) == w->live;
  if (all) {
    c.meet();
    return;
  }
  if (!c.lanes)
    lanesArrive(w, true);
  LaneClocks before = *c.lanes;
  for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    for (uint32_t others = members[lane] & w->live; others; others &= others - 1)
      for (unsigned k = 0; k < warpSize; ++k)
        (*c.lanes)[lane][k] = std::max((*c.lanes)[lane][k], before[unsigned(__builtin_ctz(others))][k]);
  }
  ++c.clock;
}

void BlockChecker::arrive(Warp *w, uint32_t barrier) {
  WarpClock &c = clocks[w->index];
  c.known.learn(block, w->index, c.clock);
  c.meet();
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

void BlockChecker::arriveAtCluster(Warp *w, Knowledge &met, bool first, bool relaxed) {
  WarpClock &c = clocks[w->index];
  if (first)
    met = {};
  if (!relaxed)
    c.known.learn(block, w->index, c.clock);
  met.learn(relaxed ? c.fenced[1] : c.known);
  c.meet();
}

void BlockChecker::leaveCluster(Warp *w, const Knowledge &met) { clocks[w->index].known.learn(met); }

void BlockChecker::synchronise(const Step &step, const CheckedAccess &a, unsigned flags, bool writes) {
  Warp *w = step.w;
  uint64_t host = a.host;
  WarpClock &c = clocks[w->index];
  bool reads = flags & (checkAcquire | checkHears);
  notePoll(step, a.lane());
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
    c.meet();
  }
  v.proxied.learn(c.proxied);
  v.released[0].learn(c.fenced[0]);
  if (flags & checkDevice)
    v.released[1].learn(c.fenced[1]);
}

} // namespace joule::vgpu
