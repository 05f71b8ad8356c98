// Compiled code as bytes and back, and what it depends on.
#include "lib/VirtualGpu/Jit/CodeImage.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace joule::vgpu::jit {
namespace {

class Writer {
public:
  template <class T> void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  template <class List, class F> void list(const List &items, F each) {
    number(uint64_t(items.size()));
    for (const auto &item : items)
      each(item);
  }
  template <class T> void numbers(const std::vector<T> &items) {
    list(items, [&](T item) { number(item); });
  }
  void bytes(const std::string &s) {
    number(uint64_t(s.size()));
    text += s;
  }
  std::string text;
};

class Reader {
public:
  explicit Reader(const std::string &text) : text(text) {}

  template <class T> void number(T &value) {
    value = T();
    if (text.size() - at < sizeof value) {
      fine = false;
      return;
    }
    memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
  }
  /// An item takes at least a byte, so that a forged count cannot ask for more than the text has.
  template <class List, class F> void list(List &items, F each) {
    uint64_t count;
    number(count);
    fine = fine && count <= text.size() - at;
    items.resize(fine ? count : 0);
    for (auto &item : items)
      if (fine)
        each(item);
  }
  template <class T> void numbers(std::vector<T> &items) {
    list(items, [&](T &item) { number(item); });
  }
  void bytes(std::string &s) {
    uint64_t count;
    number(count);
    fine = fine && count <= text.size() - at;
    s.assign(text, at, fine ? count : 0);
    at += s.size();
  }
  bool done() const { return fine && at == text.size(); }

private:
  const std::string &text;
  size_t at = 0;
  bool fine = true;
};

/// The fields in order, for reading and for writing.
template <class Stream, class Check> void fields(Stream &stream, Check &c) {
  stream.number(c.offset), stream.number(c.pattern), stream.number(c.width), stream.number(c.align);
  stream.number(c.known), stream.number(c.value), stream.number(c.most);
}
template <class Stream, class Entry> void expansionFields(Stream &stream, Entry &e) {
  stream.number(e.offset), stream.number(e.width), stream.number(e.pattern);
}
template <class Stream, class TheSite> void siteFields(Stream &stream, TheSite &s) {
  stream.number(s.op), stream.number(s.pattern), stream.number(s.fillsAddress);
  stream.number(s.span), stream.number(s.more);
}

bool fits(const CodeImage &image, const Program &program) {
  auto isPattern = [&](int32_t index) { return index >= -1 && index < int32_t(image.patterns.size()); };
  if (image.entryOf.size() != program.ops.size())
    return false;
  for (int32_t entry : image.entryOf)
    if (entry < -1 || entry >= int32_t(image.checks.size()))
      return false;
  auto isPlace = [&](const auto &place) {
    return isPattern(place.pattern) && place.width <= 16 &&
           uint64_t(place.offset) + std::max(4u, warpSize * place.width) <= program.frameBytes;
  };
  for (const auto &checks : image.checks)
    if (!std::all_of(checks.begin(), checks.end(), isPlace))
      return false;
  for (const auto &expansions : image.expansions)
    if (!std::all_of(expansions.begin(), expansions.end(), isPlace))
      return false;
  return std::all_of(image.sites.begin(), image.sites.end(),
                     [&](const SiteImage &s) { return s.op < program.ops.size() && isPattern(s.pattern); });
}

} // namespace

std::string CodeImage::written() const {
  Writer w;
  w.numbers(entryOf);
  w.list(checks, [&](const auto &list) { w.list(list, [&](const EntryCheck &c) { fields(w, c); }); });
  w.list(expansions,
         [&](const auto &list) { w.list(list, [&](const Expansion &e) { expansionFields(w, e); }); });
  w.list(patterns, [&](const LanePattern &pattern) {
    for (int64_t x : pattern)
      w.number(x);
  });
  w.list(sites, [&](const SiteImage &s) { siteFields(w, s); });
  w.bytes(object);
  return w.text;
}

bool CodeImage::read(const std::string &text, const Program &program) {
  Reader r(text);
  r.numbers(entryOf);
  r.list(checks, [&](auto &list) { r.list(list, [&](EntryCheck &c) { fields(r, c); }); });
  r.list(expansions, [&](auto &list) { r.list(list, [&](Expansion &e) { expansionFields(r, e); }); });
  r.list(patterns, [&](LanePattern &pattern) {
    for (int64_t &x : pattern)
      r.number(x);
  });
  r.list(sites, [&](SiteImage &s) { siteFields(r, s); });
  r.bytes(object);
  return r.done() && fits(*this, program);
}

std::string fingerprint(const Graph &graph, const CompileRequest &request) {
  Writer w;
  for (uint32_t extent : request.block)
    w.number(extent);
  w.number(request.count);
  w.number(graph.program->frameBytes);
  w.list(graph.slots, [&](const Slot &s) {
    w.number(s.offset), w.number(s.width), w.number(s.isConstant), w.number(s.constant);
    w.number(s.isAddress);
  });
  w.list(graph.operations, [&](const Operation &o) {
    const Op &op = *o.op;
    w.bytes(*o.name);
    w.number(uint8_t(o.kind)), w.number(o.guard), w.number(o.guardNegated), w.number(o.at);
    for (int32_t slot : {o.a, o.b, o.c, o.d, o.e})
      w.number(slot);
    w.numbers(o.list), w.numbers(o.uses), w.numbers(o.defs);
    for (uint32_t offset : {op.a, op.b, op.c, op.d, op.e})
      w.number(offset);
    w.number(op.imm), w.number(op.slot), w.number(op.n), w.number(op.flags), w.number(op.space);
  });
  w.list(graph.blocks, [&](const Block &b) {
    w.number(b.first), w.number(b.last);
    w.numbers(b.next);
  });
  return w.text;
}

} // namespace joule::vgpu::jit
