// The rules of lane patterns, and where lanes that part meet again.
#include "lib/VirtualGpu/Jit/Shapes.h"

#include <algorithm>

namespace joule::vgpu::jit {
namespace {

using S = ptx::SpecialRegister;

constexpr unsigned mostPredicated = 96; // operations between a branch and its join

/// May the operation not run for some lanes while others wait at the join?
bool needsAllLanes(const Operation &o) {
  switch (o.kind) {
  case Kind::Barrier:
  case Kind::Call:
  case Kind::Sleep:
  case Kind::Poll:
  case Kind::Exit:
  case Kind::Return:
  case Kind::Trap:
    return true;
  default:
    break;
  }
  for (const char *together :
       {"shfl.", "vote.", "match.", "redux.", "activemask", "elect", "mma.", "ldmatrix.", "warpsync", "wmma.",
        "tile.", "exact.", "stmatrix", "movmatrix"})
    if (startsWith(*o.name, together))
      return true;
  return false;
}

uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

unsigned trailingZeros(uint64_t value) { return value ? unsigned(__builtin_ctzll(value)) : 63; }

int64_t largest(const Pattern &p) { return *std::max_element(p.begin(), p.end()); }
int64_t smallest(const Pattern &p) { return *std::min_element(p.begin(), p.end()); }

Shape varying() {
  Shape s;
  s.kind = Shape::Varying;
  return s;
}
Shape uniform(unsigned align = 0, uint64_t high = unknownBound) {
  Shape s;
  s.kind = Shape::Uniform;
  s.align = uint8_t(align);
  s.high = high;
  return s;
}
Shape constant(uint64_t value) {
  Shape s = uniform(trailingZeros(value), value);
  s.known = true;
  s.value = value;
  return s;
}

uint64_t productBound(uint64_t a, uint64_t b, unsigned bits) {
  unsigned __int128 p = (unsigned __int128)a * b;
  return a == unknownBound || b == unknownBound || p > maskOf(bits) || p == unknownBound ? unknownBound
                                                                                         : uint64_t(p);
}
uint64_t sumBound(uint64_t a, uint64_t b, unsigned bits) {
  unsigned __int128 s = (unsigned __int128)a + b;
  return a == unknownBound || b == unknownBound || s > maskOf(bits) || s == unknownBound ? unknownBound
                                                                                         : uint64_t(s);
}

/// Do all lanes differ from the first in bits below its lowest?
bool disjoint(const Shape &s) {
  return smallest(*s.pattern) >= 0 && (s.align >= 62 || largest(*s.pattern) < (int64_t(1) << s.align));
}

unsigned bitsIn(const std::string &name) { // the last number in "add.b32"
  size_t dot = name.rfind('.');
  return unsigned(atoi(name.c_str() + dot + 2));
}

} // namespace

Shapes::Shapes(const Graph &graph, const uint32_t shape[3]) : graph(graph) {
  std::copy(shape, shape + 3, block);
  // Lanes that part make more values differ, which may make lanes part at further branches.
  std::vector<bool> parts(graph.blocks.size(), false);
  for (bool grown = true; grown;) {
    grown = false;
    findJoins(parts);
    run();
    for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
      const Operation &last = graph.operations[graph.blocks[b].last - 1];
      if (last.kind == Kind::BranchIf && !parts[b] && !atEnd[b].empty() &&
          of(atEnd[b], uint32_t(last.a)).kind == Shape::Varying)
        parts[b] = grown = true;
    }
  }
}

bool Shapes::predicateIsUniform(uint32_t b) const {
  const Operation &last = graph.operations[graph.blocks[b].last - 1];
  return atEnd[b].empty() || of(atEnd[b], uint32_t(last.a)).kind == Shape::Uniform;
}

/// Where the walk goes on: lanes that part run the blocks between in order.
std::vector<uint32_t> Shapes::next(uint32_t b) const {
  int32_t first = joins[b] >= 0 ? int32_t(b) : parted[b];
  if (first < 0)
    return graph.blocks[b].next;
  return {b + 1 < ends[uint32_t(first)] ? b + 1 : uint32_t(joins[uint32_t(first)])};
}

Shape Shapes::withPattern(Shape s, const Pattern &p) const {
  Pattern normal = p;
  for (int64_t &x : normal)
    x -= p[0];
  bool flat = std::all_of(normal.begin(), normal.end(), [](int64_t x) { return x == 0; });
  s.kind = flat ? Shape::Uniform : Shape::Strided;
  s.pattern = flat ? nullptr : &patterns.emplace(normal, 0).first->first;
  return s;
}

Shape Shapes::of(const State &state, uint32_t slot) const {
  const Slot &s = graph.slots[slot];
  return s.isConstant ? constant(s.constant) : state[slot];
}

// --- where lanes meet again ---

/// The end of the blocks behind the branch that run forward only and all lead to the join, which nothing
/// enters from elsewhere, and in which nothing waits; 0 if there are none.
uint32_t Shapes::endOfParting(uint32_t branch, uint32_t join) const {
  uint32_t end = branch + 1;
  unsigned size = 0;
  auto reach = [&](uint32_t from) {
    for (uint32_t to : graph.blocks[from].next) {
      if (to == join)
        continue;
      if (to <= from)
        return false;
      end = std::max(end, to + 1);
    }
    return !graph.blocks[from].next.empty();
  };
  if (!reach(branch))
    return 0;
  for (uint32_t b = branch + 1; b < end; ++b) {
    const Block &block = graph.blocks[b];
    size += block.last - block.first;
    if (b == join || size > mostPredicated || block.previous.empty() || !reach(b))
      return 0;
    for (uint32_t from : block.previous)
      if (from < branch || from >= b)
        return 0;
    for (uint32_t i = block.first; i < block.last; ++i)
      if (needsAllLanes(graph.operations[i]))
        return 0;
  }
  return end;
}

void Shapes::findJoins(const std::vector<bool> &parts) {
  uint32_t n = uint32_t(graph.blocks.size());
  joins.assign(n, -1);
  ends.assign(n, 0);
  parted.assign(n, -1);
  for (uint32_t b = 0; b < n; ++b) {
    const Block &block = graph.blocks[b];
    if (!parts[b] || block.next.size() < 2 || parted[b] >= 0)
      continue;
    // The join is where one side goes at once, or where the block behind the branch goes on to.
    std::vector<uint32_t> candidates = block.next;
    for (uint32_t k = b + 1; k < std::min(n, b + 12); ++k)
      candidates.insert(candidates.end(), graph.blocks[k].next.begin(), graph.blocks[k].next.end());
    for (uint32_t join : candidates) {
      uint32_t end = endOfParting(b, join);
      if (!end || end == b + 1)
        continue;
      joins[b] = int32_t(join);
      ends[b] = end;
      for (uint32_t k = b + 1; k < end; ++k)
        parted[k] = int32_t(b);
      break;
    }
  }
}

/// Lanes that are not in b run later blocks, or wait at the join.
bool Shapes::blends(uint32_t b, uint32_t slot) const {
  uint32_t from = uint32_t(parted[b]);
  bool isRead = graph.blocks[uint32_t(joins[from])].liveIn[slot];
  for (uint32_t k = b + 1; k < ends[from]; ++k)
    isRead = isRead || graph.blocks[k].liveIn[slot];
  return isRead;
}

// --- the flow of shapes ---

bool Shapes::merge(uint32_t to, const State &from) {
  State &state = states[to];
  bool isNew = state.empty(), changed = isNew;
  if (isNew)
    state.resize(graph.slots.size() + 1); // never empty: that means that nothing leads here
  for (size_t s = 0; s < graph.slots.size(); ++s) {
    if (!graph.blocks[to].liveIn[s] && parted[to] < 0)
      continue;
    const Shape &x = from[s];
    Shape &y = state[s];
    if (isNew) {
      y = x.kind == Shape::None ? varying() : x;
      continue;
    }
    Shape before = y;
    if (x.kind != y.kind || x.pattern != y.pattern)
      y = varying();
    else {
      y.align = std::min(x.align, y.align);
      y.known = x.known && y.known && x.value == y.value;
      if (x.high != y.high)
        y.high = unknownBound;
    }
    changed |=
        y.kind != before.kind || y.align != before.align || y.known != before.known || y.high != before.high;
  }
  return changed;
}

void Shapes::run() {
  states.assign(graph.blocks.size(), {});
  atEnd.assign(graph.blocks.size(), {});
  if (graph.blocks.empty())
    return;
  State first(graph.slots.size() + 1);
  for (size_t s = 0; s < graph.slots.size(); ++s)
    if (graph.slots[s].isAddress)
      first[s] = uniform();
  merge(0, first);
  std::vector<bool> waiting(graph.blocks.size(), false);
  waiting[0] = true;
  for (bool any = true; any;) {
    any = false;
    for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
      if (!waiting[b])
        continue;
      waiting[b] = false, any = true;
      State state = states[b];
      for (uint32_t i = graph.blocks[b].first; i < graph.blocks[b].last; ++i)
        apply(graph.operations[i], state, parted[b] >= 0);
      if (parted[b] >= 0)
        for (uint32_t i = graph.blocks[b].first; i < graph.blocks[b].last; ++i)
          for (uint32_t d : graph.operations[i].defs)
            if (blends(b, d))
              state[d] = varying();
      for (uint32_t to : next(b))
        if (merge(to, state))
          waiting[to] = true;
      atEnd[b] = std::move(state);
    }
  }
}

Result Shapes::apply(const Operation &o, State &state, bool masked) const {
  Result result;
  result.d = varying();
  if (o.defs.empty())
    return result;
  switch (o.kind) {
  case Kind::Special:
    result.d = special(unsigned(o.op->imm));
    break;
  case Kind::LocalAddress:
    result.d = uniform(4);
    break;
  case Kind::LoadParameter:
    result.d = uniform();
    break;
  case Kind::Load:
    if (of(state, uint32_t(o.a)).kind == Shape::Uniform && o.op->space != inLocal &&
        !(o.op->space == inGeneric && graph.hasLocalMemory))
      result.d = uniform();
    break;
  case Kind::Pure:
    result.d = pure(o, state, result);
    if (masked && result.extends >= 0)
      result = {varying(), -1, false};
    break;
  default:
    break;
  }
  bool second = o.e >= 0;
  Shape d = result.d;
  if (o.guard >= 0) { // lanes without the predicate keep what they had
    bool same = of(state, uint32_t(o.guard)).kind == Shape::Uniform && d.kind == Shape::Uniform &&
                o.defs.size() == 1 && state[o.defs[0]].kind == Shape::Uniform;
    d = same ? uniform() : varying();
  }
  for (uint32_t slot : o.defs)
    state[slot] = d;
  if (second && o.kind != Kind::Pure)
    state[uint32_t(o.e)] = varying();
  return result;
}

Shape Shapes::pure(const Operation &o, const State &state, Result &result) const {
  if (startsWith(*o.name, "vote.") || startsWith(*o.name, "redux."))
    return uniform();
  Shape in[3];
  bool allUniform = true;
  int32_t slots[3] = {o.a, o.b, o.c};
  for (int i = 0; i < 3; ++i)
    if (slots[i] >= 0) {
      in[i] = of(state, uint32_t(slots[i]));
      if (in[i].kind == Shape::None)
        in[i] = varying();
      if (in[i].kind == Shape::Varying)
        return varying();
      allUniform &= in[i].kind == Shape::Uniform;
    }
  Shape s = strided(*o.name, o, in[0], in[1], in[2], result);
  if (s.kind == Shape::Uniform && s.high == 0)
    s = constant(0);
  if (allUniform && s.kind != Shape::Uniform && !startsWith(*o.name, "shfl."))
    s = uniform();
  if (allUniform)
    result.extends = -1;
  return s;
}

Shape Shapes::scaled(const Shape &s, uint64_t factor, unsigned bits) const {
  Shape d = uniform(std::min(63u, s.align + trailingZeros(factor)), productBound(s.high, factor, bits));
  if (s.known)
    d.known = true, d.value = s.value * factor & maskOf(bits);
  if (s.kind == Shape::Uniform)
    return d;
  Pattern p = *s.pattern;
  int64_t times = bits >= 64 ? int64_t(factor) : int64_t(factor << (64 - bits)) >> (64 - bits);
  for (int64_t &x : p)
    x *= times;
  return withPattern(d, p);
}

Shape Shapes::added(const Shape &a, const Shape &b, unsigned bits, int sign) const {
  Shape d = uniform(std::min(a.align, b.align), sign > 0 ? sumBound(a.high, b.high, bits) : unknownBound);
  if (a.known && b.known)
    d.known = true, d.value = (sign > 0 ? a.value + b.value : a.value - b.value) & maskOf(bits);
  Pattern p = {};
  for (unsigned i = 0; i < warpSize; ++i)
    p[i] = (a.pattern ? (*a.pattern)[i] : 0) + sign * (b.pattern ? (*b.pattern)[i] : 0);
  return withPattern(d, p);
}

/// The result of an operation none of whose operands is just anything; Varying where no rule fits.
Shape Shapes::strided(const std::string &name, const Operation &o, const Shape &a, const Shape &b,
                      const Shape &c, Result &result) const {
  auto widened = [&](const Shape &s, int32_t slot, bool isSigned, unsigned from) {
    Shape d = s;
    uint64_t most = isSigned ? maskOf(from) >> 1 : maskOf(from);
    if (s.known && isSigned)
      d.value = uint64_t(int64_t(s.value << (64 - from)) >> (64 - from));
    if (s.high > most) {
      d.high = s.kind == Shape::Strided || isSigned ? unknownBound : most;
      if (s.kind == Shape::Strided)
        result.extends = slot, result.extendsSigned = isSigned;
    }
    return d;
  };
  if (startsWith(name, "shfl."))
    return varying();
  if (name == "mov.b16" || name == "mov.b32" || name == "mov.b64")
    return a;
  if (startsWith(name, "add.b") && name.find('x') == std::string::npos)
    return added(a, b, bitsIn(name), 1);
  if (startsWith(name, "sub.b") && name.find('x') == std::string::npos)
    return added(a, b, bitsIn(name), -1);
  if (startsWith(name, "neg.b") && name.size() == 7)
    return added(constant(0), a, bitsIn(name), -1);
  if (startsWith(name, "mul.b") && name.size() == 7 && (a.known || b.known))
    return b.known && b.kind == Shape::Uniform   ? scaled(a, b.value, bitsIn(name))
           : a.kind == Shape::Uniform && a.known ? scaled(b, a.value, bitsIn(name))
                                                 : varying();
  if (startsWith(name, "mul.b") && name.size() == 7)
    return a.kind == Shape::Uniform && b.kind == Shape::Uniform
               ? uniform(std::min(63, a.align + b.align), productBound(a.high, b.high, bitsIn(name)))
               : varying();
  if (startsWith(name, "mad.lo.b")) {
    unsigned bits = bitsIn(name);
    if (b.known && b.kind == Shape::Uniform)
      return added(scaled(a, b.value, bits), c, bits, 1);
    if (a.kind != Shape::Uniform || b.kind != Shape::Uniform)
      return varying();
    return added(uniform(std::min(63, a.align + b.align), productBound(a.high, b.high, bits)), c, bits, 1);
  }
  if (startsWith(name, "mul.wide.") || startsWith(name, "mad.wide.")) {
    unsigned from = bitsIn(name), bits = 2 * from;
    bool isSigned = name[9] == 's';
    if (b.kind != Shape::Uniform || (a.kind == Shape::Strided && !b.known))
      return varying();
    Shape wide = widened(a, o.a, isSigned, from), factor = widened(b, o.b, isSigned, from);
    Shape product =
        b.known ? scaled(wide, factor.value & maskOf(bits), bits)
                : uniform(std::min(63, a.align + b.align), productBound(wide.high, factor.high, bits));
    if (isSigned && b.known && int64_t(factor.value) < 0)
      product.high = unknownBound;
    return name[1] == 'u' ? product : added(product, c, bits, 1);
  }
  if (startsWith(name, "shl.b") && b.kind == Shape::Uniform && b.known)
    return b.value >= bitsIn(name) ? constant(0) : scaled(a, 1ull << b.value, bitsIn(name));
  if (startsWith(name, "shr.") && b.known && b.kind == Shape::Uniform && b.value < bitsIn(name)) {
    unsigned k = unsigned(b.value);
    Shape d = uniform(unsigned(std::max(0, int(a.align) - int(k))),
                      a.high == unknownBound ? unknownBound : a.high >> k);
    if (name[4] == 'u' && a.high == unknownBound)
      d.high = maskOf(bitsIn(name)) >> k;
    if (name[4] == 's' && a.high > maskOf(bitsIn(name)) >> 1)
      d.high = unknownBound;
    if (a.known && a.high <= maskOf(bitsIn(name)) >> 1)
      d.known = true, d.value = a.value >> k;
    if (a.kind == Shape::Uniform)
      return d;
    if (!disjoint(a))
      return varying();
    Pattern p = *a.pattern;
    for (int64_t &x : p)
      x >>= k;
    if (a.align < k) // the first lane's low bits are 0, so nothing carries
      d.align = 0;
    return withPattern(d, p);
  }
  if ((startsWith(name, "and.b") || startsWith(name, "or.b") || startsWith(name, "xor.b"))) {
    const Shape &x = a.kind == Shape::Strided ? a : b, &m = a.kind == Shape::Strided ? b : a;
    bool isAnd = name[0] == 'a';
    if (x.kind == Shape::Uniform) {
      Shape d = uniform(isAnd ? std::max(a.align, b.align) : std::min(a.align, b.align));
      if (isAnd)
        d.high = std::min(a.high, b.high);
      return d;
    }
    if (m.kind != Shape::Uniform)
      return varying();
    if (!isAnd && x.known && x.value == 0 && disjoint(x) && smallest(*x.pattern) >= 0 &&
        (m.align >= 62 || largest(*x.pattern) < (int64_t(1) << m.align)))
      return withPattern(uniform(m.align, sumBound(m.high, x.high, bitsIn(name))), *x.pattern);
    if (!m.known || !disjoint(x))
      return varying();
    Pattern p = *x.pattern;
    for (int64_t &v : p)
      v = isAnd            ? v & int64_t(m.value)
          : name[0] == 'o' ? v | int64_t(m.value & maskOf(x.align))
                           : v ^ int64_t(m.value & maskOf(x.align));
    Shape d = uniform(isAnd ? std::max(x.align, m.align) : std::min(x.align, m.align));
    if (isAnd)
      d.high = m.value;
    if (isAnd && (m.value & ~maskOf(x.align) & maskOf(bitsIn(name))) == 0)
      d.known = true, d.value = 0, d.align = 63;
    return withPattern(d, p);
  }
  if (startsWith(name, "cvt.b") && (name[8] == 'u' || name[8] == 's')) {
    unsigned to = unsigned(atoi(name.c_str() + 5)), from = unsigned(atoi(name.c_str() + 9));
    Shape d = to > from ? widened(a, o.a, name[8] == 's', from) : a;
    if (to > from) {
      d.value &= maskOf(to);
      return d;
    }
    if (d.high > maskOf(to))
      d.high = unknownBound;
    d.value &= maskOf(to);
    return d;
  }
  if (startsWith(name, "selp.") && o.c >= 0 && c.kind == Shape::Uniform && a.kind == b.kind &&
      a.pattern == b.pattern) {
    Shape d = a;
    d.known = false;
    d.align = std::min(a.align, b.align);
    d.high = std::max(a.high, b.high);
    return d;
  }
  return varying();
}

Shape Shapes::special(unsigned which) const {
  S s = S(which);
  uint32_t x = block[0], y = block[1], xy = x * y;
  Pattern p;
  auto pattern = [&](auto f, bool fixed, unsigned align, uint64_t high) {
    for (unsigned i = 0; i < warpSize; ++i)
      p[i] = int64_t(f(i));
    Shape d = fixed ? constant(0) : uniform(align);
    d.high = high;
    return withPattern(d, p);
  };
  switch (s) {
  case S::TidX:
    if (x % warpSize == 0)
      return pattern([](unsigned i) { return i; }, false, 5, x - 1);
    return warpSize % x == 0 ? pattern([=](unsigned i) { return i % x; }, true, 63, x - 1) : varying();
  case S::TidY:
    if (x % warpSize == 0)
      return uniform(0, y - 1);
    if (warpSize % x || (y % (warpSize / x) && (warpSize / x) % y))
      return varying();
    return pattern([=](unsigned i) { return i / x % y; }, (warpSize / x) % y == 0,
                   trailingZeros(warpSize / x), y - 1);
  case S::TidZ:
    if (xy % warpSize == 0)
      return uniform(0, block[2] - 1);
    return warpSize % xy ? varying()
                         : pattern([=](unsigned i) { return i / xy; }, false, trailingZeros(warpSize / xy),
                                   block[2] - 1);
  case S::LaneId:
    return pattern([](unsigned i) { return i; }, true, 63, warpSize - 1);
  case S::NtidX:
  case S::NtidY:
  case S::NtidZ:
    return constant(block[unsigned(s) - unsigned(S::NtidX)]);
  case S::WarpSize:
    return constant(warpSize);
  case S::CtaidX:
  case S::CtaidY:
  case S::CtaidZ:
    return uniform(0, s == S::CtaidX ? 0x7ffffffe : 65534);
  case S::NctaidX:
  case S::NctaidY:
  case S::NctaidZ:
    return uniform(0, s == S::NctaidX ? 0x7fffffff : 65535);
  case S::WarpId:
    return uniform();
  case S::NWarpId:
    return constant((xy * block[2] + warpSize - 1) / warpSize);
  default:
    return varying();
  }
}

} // namespace joule::vgpu::jit
