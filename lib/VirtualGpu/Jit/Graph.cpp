// Names, places, blocks and lives.
#include "lib/VirtualGpu/Jit/Graph.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace joule::vgpu::jit {

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

AccessForm accessFormOf(const std::string &name) {
  AccessForm form;
  if (startsWith(name, "atom.")) {
    form.element = form.registerBytes = unsigned(atoi(name.c_str() + 5));
    return form;
  }
  form.count = unsigned(name[3] - '0');
  form.isSigned = name[5] == 's';
  form.element = unsigned(atoi(name.c_str() + 6)) / 8;
  form.registerBytes = unsigned(name.back() - '0');
  return form;
}

namespace {

// Beyond, compiling takes longer or more memory than anybody waits for.
constexpr size_t mostOperations = 20'000, mostStates = 2'000'000;

const std::string *nameOfHandler(Handler fn) {
  static const auto names = [] {
    std::unordered_map<Handler, const std::string *> map;
    for (auto &[name, pair] : handlers())
      if (!startsWith(name, "masked."))
        map[pair.fn] = &name;
    return map;
  }();
  auto it = names.find(fn);
  return it == names.end() ? nullptr : it->second;
}

struct KindOf {
  const char *prefix;
  Kind kind;
};

// The first prefix that fits decides, so the longer ones stand first.
const KindOf kinds[] = {
    {"label", Kind::Label},
    {"bra.if", Kind::BranchIf},
    {"bra", Kind::Branch},
    {"exit", Kind::Exit},
    {"ret", Kind::Return},
    {"call", Kind::Call},
    {"sleep", Kind::Sleep},
    {"mbarrier.test", Kind::Poll},
    {"cluster.wait", Kind::Poll},
    {"trap", Kind::Trap},
    {"nop", Kind::Nop},
    {"bar.", Kind::Barrier},
    {"ldparam.", Kind::LoadParameter},
    {"ldframe.", Kind::Handler},
    {"stframe.", Kind::Handler},
    {"ldmatrix.", Kind::Handler},
    {"ld.", Kind::Load},
    {"st.", Kind::Store},
    {"special.", Kind::Special},
    {"localaddress", Kind::LocalAddress},
    {"slow.", Kind::Handler},
    {"slowcvt.", Kind::Handler},
    {"testp", Kind::Handler},
    {"lg2.", Kind::Handler},
    {"sin.", Kind::Handler},
    {"cos.", Kind::Handler},
    {"tanh.", Kind::Handler},
    {"ex2.f16", Kind::Handler},
    {"ex2.bf16", Kind::Handler},
    {"shfl.", Kind::Handler},
    {"vote.", Kind::Handler},
    {"match.", Kind::Handler},
    {"redux.", Kind::Handler},
    {"activemask", Kind::Handler},
    {"elect", Kind::Handler},
    {"warpsync", Kind::Nop},
    {"atom.2", Kind::Handler},
    {"atom.4", Kind::Handler},
    {"atom.8", Kind::Handler},
    {"cpasync", Kind::Handler},
    {"mma.", Kind::Handler},
    {"mov.b128", Kind::Handler},
    {"unpack.8.16", Kind::Handler},
    {"pack.8.16", Kind::Handler},
    {"video", Kind::Handler},
    {"isspace", Kind::Handler},
    {"add.cc.", Kind::Handler},
    {"addc.", Kind::Handler},
    {"sub.cc.", Kind::Handler},
    {"subc.", Kind::Handler},
    {"fma.f16", Kind::Handler},
    {"fma.bf16", Kind::Handler},
    {"dp4a.", Kind::Handler},
    {"sad.", Kind::Handler},
    {"mul.hi.u64", Kind::Handler},
    {"mul.hi.s64", Kind::Handler},
    {"bfe.", Kind::Handler},
    {"mad24.", Kind::Handler},
    {"slct.", Kind::Handler},
    {"cvt.", Kind::Pure},
    {"ext.", Kind::Pure},
    {"round.", Kind::Pure},
    {"setp.", Kind::Pure},
    {"selp.", Kind::Pure},
    {"mov.", Kind::Pure},
    {"pack.", Kind::Pure},
    {"unpack.", Kind::Pure},
    {"add.", Kind::Pure},
    {"sub.", Kind::Pure},
    {"mul.", Kind::Pure},
    {"mad.", Kind::Pure},
    {"div.", Kind::Pure},
    {"rem.", Kind::Pure},
    {"fma.", Kind::Pure},
    {"rcp.", Kind::Pure},
    {"sqrt.", Kind::Pure},
    {"rsqrt.", Kind::Pure},
    {"flush.", Kind::Pure},
    {"min.", Kind::Pure},
    {"max.", Kind::Pure},
    {"abs.", Kind::Pure},
    {"neg.", Kind::Pure},
    {"copysign.", Kind::Pure},
    {"sat.", Kind::Pure},
    {"relu.", Kind::Pure},
    {"ex2.", Kind::Pure},
    {"and.", Kind::Pure},
    {"or.", Kind::Pure},
    {"xor.", Kind::Pure},
    {"not.", Kind::Pure},
    {"cnot.", Kind::Pure},
    {"shl.", Kind::Pure},
    {"shr.", Kind::Pure},
    {"popc.", Kind::Pure},
    {"clz.", Kind::Pure},
    {"brev.", Kind::Pure},
    {"lop3.", Kind::Pure},
    {"shf.", Kind::Pure},
};

Kind kindOf(const std::string &name) {
  for (const KindOf &k : kinds)
    if (startsWith(name, k.prefix))
      return k.kind;
  return Kind::Unknown;
}

bool endsBlock(Kind kind) {
  return kind == Kind::Branch || kind == Kind::BranchIf || kind == Kind::Exit || kind == Kind::Return ||
         kind == Kind::Call || kind == Kind::Sleep || kind == Kind::Poll || kind == Kind::Trap ||
         kind == Kind::Barrier;
}

void add(std::vector<uint32_t> &list, int32_t slot) {
  if (slot >= 0 && std::find(list.begin(), list.end(), uint32_t(slot)) == list.end())
    list.push_back(uint32_t(slot));
}

} // namespace

Graph::Graph(const Program &p, std::vector<Range> where) : program(&p), variables(std::move(where)) {
  placeSlots();
  describe();
  if (!problem.empty())
    return;
  findBlocks();
  if (operations.size() > mostOperations || blocks.size() * slots.size() > mostStates) {
    problem = "too large: " + std::to_string(operations.size()) + " operations in " +
              std::to_string(blocks.size()) + " blocks";
    return;
  }
  flow();
}

void Graph::placeSlots() {
  std::map<uint32_t, Slot> places;
  for (const FramePlace &place : program->places)
    places[place.offset] = {place.offset, place.width};
  for (const Constant &c : program->constants) {
    Slot &slot = places[c.offset];
    slot = {c.offset, c.width};
    slot.isAddress = isAddress(c);
    slot.isConstant = !slot.isAddress;
    slot.constant = slot.isConstant ? c.bits : 0;
  }
  for (auto &[offset, slot] : places)
    slots.push_back(slot);
}

/// Other constants that look alike fare as addresses do: well enough.
bool Graph::isAddress(const Constant &c) const {
  return c.width == 8 && std::any_of(variables.begin(), variables.end(),
                                     [&](const Range &r) { return c.bits >= r.low && c.bits <= r.high; });
}

int32_t Graph::slotAt(uint32_t offset) const {
  if (offset == noRegister)
    return -1;
  auto it = std::lower_bound(slots.begin(), slots.end(), offset,
                             [](const Slot &slot, uint32_t o) { return slot.offset < o; });
  return it != slots.end() && it->offset == offset ? int32_t(it - slots.begin()) : -1;
}

void Graph::describe() {
  static const Handler guardFn = handlers().at("guard").fn;
  const std::vector<Op> &ops = program->ops;
  hasLocalMemory = program->allocatesLocal;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    Operation o;
    o.at = i;
    if (ops[i].fn == guardFn) {
      o.guard = slotAt(ops[i].a);
      o.guardNegated = ops[i].guard;
      ++i;
    }
    o.op = &ops[i];
    o.name = nameOfHandler(o.op->fn);
    o.kind = o.name ? kindOf(*o.name) : Kind::Unknown;
    hasLocalMemory |= o.kind == Kind::LocalAddress;
    if (o.kind == Kind::Poll || (o.kind == Kind::Unknown && o.name)) {
      if (!describeCautiously(o))
        return;
      operations.push_back(std::move(o));
      continue;
    }
    if (o.kind == Kind::Unknown) {
      problem = "an operation without a name";
      return;
    }
    describeOne(o);
    if (!problem.empty())
      return;
    operations.push_back(std::move(o));
  }
}

const std::vector<uint32_t> *Graph::findList(const uint32_t *data) const {
  for (const auto &list : program->lists)
    if (list.data() == data)
      return &list;
  return nullptr;
}

/// Whatever of the operation may be a register; false if it cannot be told.
bool Graph::placesOf(const Operation &o, std::vector<uint32_t> &offsets) const {
  const Op &op = *o.op;
  offsets = {op.a, op.b, op.c, op.d, op.e};
  auto add = [&](std::initializer_list<uint32_t> more) { offsets.insert(offsets.end(), more); };
  auto addList = [&](const uint32_t *data) {
    const std::vector<uint32_t> *list = data ? findList(data) : nullptr;
    if (list)
      offsets.insert(offsets.end(), list->begin(), list->end());
    return list || !data;
  };
  const std::string name = startsWith(*o.name, "exact.") ? o.name->substr(6) : *o.name;
  auto is = [&](const char *prefix) { return startsWith(name, prefix); };
  if (is("wmma.load.") || is("wmma.store."))
    return addList(static_cast<const WmmaShape *>(op.data)->list);
  if (is("wmma.")) {
    const auto &product = *static_cast<const WmmaProduct *>(op.data);
    return addList(product.d) && addList(product.a) && addList(product.b) && addList(product.c);
  }
  if (is("tile.")) {
    const auto &tile = *static_cast<const MatrixTile *>(op.data);
    add({tile.descriptorA, tile.descriptorB, tile.keepsC, tile.metadata});
    return addList(tile.inA) && addList(tile.inB) && addList(tile.inC) && addList(tile.inD);
  }
  if (is("copy.") || is("store.async") || is("tensormap.publish")) {
    const auto &copy = *static_cast<const BulkCopy *>(op.data);
    add({copy.to.place, copy.from.place, copy.barrier.place, copy.map.place});
    add({copy.bytes, copy.blocks, copy.byteMask});
    offsets.insert(offsets.end(), copy.coordinates, copy.coordinates + copy.rank);
    offsets.insert(offsets.end(), copy.offsets, copy.offsets + copy.numOffsets);
    return true;
  }
  if (is("device.")) // a call, whose arguments lie in memory of the frame
    return true;
  return addList(op.list);
}

/// An operation of which only the places are known: all are read and written.
bool Graph::describeCautiously(Operation &o) {
  if (o.kind == Kind::Unknown)
    o.kind = Kind::Handler;
  o.isCautious = true;
  std::vector<uint32_t> offsets;
  if (!placesOf(o, offsets)) {
    problem = "no compiled form of '" + *o.name + "'";
    return false;
  }
  auto touch = [&](uint32_t offset) {
    int32_t slot = slotAt(offset);
    if (slot < 0)
      return;
    add(o.uses, slot);
    if (!slots[uint32_t(slot)].isConstant && !slots[uint32_t(slot)].isAddress)
      add(o.defs, slot);
  };
  for (uint32_t offset : offsets)
    touch(offset);
  return true;
}

void Graph::describeOne(Operation &o) {
  const Op &op = *o.op;
  const std::string &name = *o.name;
  switch (o.kind) {
  case Kind::Label:
  case Kind::Branch:
  case Kind::Exit:
  case Kind::Return:
  case Kind::Sleep:
  case Kind::Trap:
  case Kind::Nop:
    return;
  case Kind::Call: // arguments lie in memory of the frame
    if (auto *site = static_cast<const CallSite *>(op.data); !site->callee)
      add(o.uses, slotAt(site->target));
    return;
  case Kind::BranchIf:
    o.a = slotAt(op.a);
    add(o.uses, o.a);
    return;
  case Kind::Special:
  case Kind::LocalAddress:
  case Kind::LoadParameter:
    o.d = slotAt(op.d);
    add(o.defs, o.d);
    return;
  default:
    break;
  }
  bool frameAccess = startsWith(name, "ldframe.") || startsWith(name, "stframe.");
  bool stores = o.kind == Kind::Store || startsWith(name, "stframe.");
  o.d = slotAt(op.d);
  if (!frameAccess)
    o.a = slotAt(op.a), o.b = slotAt(op.b), o.c = slotAt(op.c);
  if (name != "cpasync")
    o.e = slotAt(op.e);
  for (int32_t slot : {o.a, o.b, o.c})
    add(o.uses, slot);
  // A vector's registers, or fragments: results first where they are written.
  bool hasList =
      ((o.kind == Kind::Load || o.kind == Kind::Store || startsWith(name, "ldmatrix.")) && op.n > 1) ||
      startsWith(name, "mma.") || startsWith(name, "shfl.");
  if (hasList) {
    const std::vector<uint32_t> *found = findList(op.list);
    if (!found) {
      problem = "a list of registers that is not the decoder's";
      return;
    }
    size_t written = startsWith(name, "mma.")
                         ? (name.size() > 4 && name.substr(name.size() - 4) == ".f16" ? 2 : 4)
                     : stores || startsWith(name, "shfl.") ? 0
                                                           : found->size();
    for (size_t i = 0; i < found->size(); ++i) {
      int32_t slot = slotAt((*found)[i]);
      if (slot < 0)
        continue;
      o.list.push_back(uint32_t(slot));
      add(i < written ? o.defs : o.uses, slot);
    }
  }
  if (o.d >= 0 && !hasList)
    add(stores ? o.uses : o.defs, o.d);
  if (o.d >= 0 && startsWith(name, "shfl."))
    add(o.defs, o.d);
  if (o.e >= 0) {
    add(o.defs, o.e);
    if (startsWith(name, "add") || startsWith(name, "sub")) // a carry
      add(o.uses, o.e);
  }
  if (worksInRegisters(o))
    o.kind = Kind::Pure;
}

/// Exchanges among all lanes whose pattern is known are permutations of a vector.
bool Graph::worksInRegisters(const Operation &o) const {
  auto isConstant = [&](int32_t slot, uint64_t value) {
    return slot >= 0 && slots[uint32_t(slot)].isConstant && slots[uint32_t(slot)].constant == value;
  };
  if (startsWith(*o.name, "shfl."))
    return o.guard < 0 && o.b >= 0 && slots[uint32_t(o.b)].isConstant && o.c >= 0 &&
           slots[uint32_t(o.c)].isConstant;
  if (startsWith(*o.name, "vote.") || startsWith(*o.name, "redux."))
    return o.guard < 0 && isConstant(o.b, allLanes);
  return false;
}

void Graph::findBlocks() {
  const Op *ops = program->ops.data();
  blockOfOp.assign(program->ops.size() + 1, -1);
  for (uint32_t i = 0; i < operations.size(); ++i) {
    bool leads = i == 0 || operations[i].kind == Kind::Label || operations[i].kind == Kind::Poll ||
                 endsBlock(operations[i - 1].kind);
    if (leads) {
      blockOfOp[operations[i].at] = int32_t(blocks.size());
      blocks.emplace_back();
      blocks.back().first = i;
    }
    blocks.back().last = i + 1;
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const Operation &last = operations[blocks[b].last - 1];
    auto connect = [&](int32_t to) {
      blocks[b].next.push_back(uint32_t(to));
      blocks[uint32_t(to)].previous.push_back(b);
    };
    bool ends = last.kind == Kind::Branch || last.kind == Kind::Exit || last.kind == Kind::Return ||
                last.kind == Kind::Trap;
    if (last.kind == Kind::Branch || last.kind == Kind::BranchIf)
      connect(blockOfOp[uint32_t(last.op->target - ops)]);
    if ((!ends || last.guard >= 0) && b + 1 < blocks.size())
      connect(int32_t(b + 1));
  }
}

void Graph::flow() {
  size_t n = slots.size();
  std::vector<SlotSet> uses(blocks.size(), SlotSet(n)), defs(blocks.size(), SlotSet(n));
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    blocks[b].liveIn.assign(n, false);
    blocks[b].liveOut.assign(n, false);
    for (uint32_t i = blocks[b].first; i < blocks[b].last; ++i) {
      const Operation &o = operations[i];
      auto use = [&](uint32_t slot) {
        if (!slots[slot].isConstant && !defs[b][slot])
          uses[b][slot] = true;
      };
      if (o.guard >= 0)
        use(uint32_t(o.guard));
      for (uint32_t slot : o.uses)
        use(slot);
      for (uint32_t slot : o.defs) {
        if (o.guard >= 0)
          use(slot);
        defs[b][slot] = true;
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;)
      for (size_t s = 0; s < n; ++s) {
        bool out = false;
        for (uint32_t next : blocks[b].next)
          out = out || blocks[next].liveIn[s];
        bool in = uses[b][s] || (out && !defs[b][s]);
        changed |= in != blocks[b].liveIn[s];
        blocks[b].liveOut[s] = out;
        blocks[b].liveIn[s] = in;
      }
  }
}

} // namespace joule::vgpu::jit
