// PTX text to its typed form. The scanner works on the text in place and takes opcodes apart once per
// spelling, so that machine-written files of hundreds of thousands of lines load in well under a second.
#include "lib/VirtualGpu/Ptx.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace joule::vgpu::ptx {
namespace {

// What no kernel needs, and what a text of one line could ask for.
constexpr uint64_t mostVariableBytes = 1 << 30;
constexpr uint32_t mostAlignment = 1 << 16;
constexpr uint32_t mostRegisters = 1 << 20;
constexpr unsigned mostNesting = 64;

bool isIdentifierStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isIdentifierPart(char c) { return isIdentifierStart(c) || isDigit(c); }

const std::unordered_map<std::string_view, Type> &typeNames() {
  static const auto *map = [] {
    auto *m = new std::unordered_map<std::string_view, Type>;
    for (unsigned t = 1; t <= unsigned(Type::E5M2x2); ++t)
      m->emplace(nameOf(Type(t)), Type(t));
    return m;
  }();
  return *map;
}

const std::unordered_map<std::string_view, SpecialRegister> &specialNames() {
  using S = SpecialRegister;
  static const auto *map =
      new std::unordered_map<std::string_view, S>{{"%tid.x", S::TidX},
                                                  {"%tid.y", S::TidY},
                                                  {"%tid.z", S::TidZ},
                                                  {"%ntid.x", S::NtidX},
                                                  {"%ntid.y", S::NtidY},
                                                  {"%ntid.z", S::NtidZ},
                                                  {"%ctaid.x", S::CtaidX},
                                                  {"%ctaid.y", S::CtaidY},
                                                  {"%ctaid.z", S::CtaidZ},
                                                  {"%nctaid.x", S::NctaidX},
                                                  {"%nctaid.y", S::NctaidY},
                                                  {"%nctaid.z", S::NctaidZ},
                                                  {"%laneid", S::LaneId},
                                                  {"%warpid", S::WarpId},
                                                  {"%nwarpid", S::NWarpId},
                                                  {"%smid", S::SmId},
                                                  {"%nsmid", S::NSmId},
                                                  {"%gridid", S::GridId},
                                                  {"%clock", S::Clock},
                                                  {"%clock_hi", S::ClockHi},
                                                  {"%clock64", S::Clock64},
                                                  {"%globaltimer", S::GlobalTimer},
                                                  {"%globaltimer_lo", S::GlobalTimerLo},
                                                  {"%lanemask_eq", S::LaneMaskEq},
                                                  {"%lanemask_le", S::LaneMaskLe},
                                                  {"%lanemask_lt", S::LaneMaskLt},
                                                  {"%lanemask_ge", S::LaneMaskGe},
                                                  {"%lanemask_gt", S::LaneMaskGt},
                                                  {"%dynamic_smem_size", S::DynamicSharedSize},
                                                  {"%total_smem_size", S::TotalSharedSize},
                                                  {"%clusterid.x", S::ClusterIdX},
                                                  {"%clusterid.y", S::ClusterIdY},
                                                  {"%clusterid.z", S::ClusterIdZ},
                                                  {"%nclusterid.x", S::NClusterIdX},
                                                  {"%nclusterid.y", S::NClusterIdY},
                                                  {"%nclusterid.z", S::NClusterIdZ},
                                                  {"%cluster_ctaid.x", S::ClusterCtaIdX},
                                                  {"%cluster_ctaid.y", S::ClusterCtaIdY},
                                                  {"%cluster_ctaid.z", S::ClusterCtaIdZ},
                                                  {"%cluster_nctaid.x", S::ClusterNCtaIdX},
                                                  {"%cluster_nctaid.y", S::ClusterNCtaIdY},
                                                  {"%cluster_nctaid.z", S::ClusterNCtaIdZ},
                                                  {"%cluster_ctarank", S::ClusterCtaRank},
                                                  {"%cluster_nctarank", S::ClusterNCtaRank},
                                                  {"%is_explicit_cluster", S::IsExplicitCluster},
                                                  {"%aggr_smem_size", S::TotalSharedSize},
                                                  {"%envreg1", S::EnvReg1},
                                                  {"%envreg2", S::EnvReg2},
                                                  {"WARP_SZ", S::WarpSize}};
  return *map;
}

Space spaceNamed(std::string_view name, bool &found) {
  found = true;
  name = name.substr(0, name.find("::"));
  if (name == "global")
    return Space::Global;
  if (name == "shared")
    return Space::Shared;
  if (name == "local")
    return Space::Local;
  if (name == "const")
    return Space::Const;
  if (name == "param")
    return Space::Param;
  found = false;
  return Space::Generic;
}

std::unique_ptr<Opcode> takeApart(std::string_view text) {
  auto opcode = std::make_unique<Opcode>();
  opcode->text = text;
  size_t dot = text.find('.');
  opcode->base = text.substr(0, dot);
  bool spaceSeen = false;
  while (dot != std::string_view::npos) {
    size_t next = text.find('.', dot + 1);
    std::string_view mod = text.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    dot = next;
    opcode->mods.emplace_back(mod);
    auto type = typeNames().find(mod);
    if (type != typeNames().end())
      opcode->types.push_back(type->second);
    bool isSpace;
    Space space = spaceNamed(mod, isSpace);
    if (isSpace && !spaceSeen) {
      opcode->space = space;
      spaceSeen = true;
    }
    if (mod == "v2" || mod == "v4" || mod == "v8")
      opcode->vector = mod[1] - '0';
    if (mod == "ftz")
      opcode->ftz = true;
    if (mod == "sat" || mod == "satfinite")
      opcode->sat = true;
  }
  return opcode;
}

class Parser {
public:
  explicit Parser(Module &module) : module(module) {
    at = module.source.data();
    end = at + module.source.size();
    lineStart = at;
  }

  void run() {
    while (skipBlanks(), at < end)
      parseTopLevel();
  }

private:
  // --- scanning ---

  [[noreturn]] void fail(const std::string &what) const { failAt(at, what); }

  [[noreturn]] void failAt(const char *where, const std::string &what) const {
    const char *stop = where;
    while (stop < end && isIdentifierPart(*stop))
      ++stop;
    if (stop == where && stop < end)
      ++stop;
    std::string token = where < end ? "'" + std::string(where, stop) + "'" : "the end of the text";
    throw ParseError(line, uint32_t(where - lineStart) + 1, what + " at " + token);
  }

  void newLine() {
    ++line;
    lineStart = at + 1;
  }

  void skipBlanks() {
    while (at < end) {
      char c = *at;
      if (c == '\n')
        newLine(), ++at;
      else if (c == ' ' || c == '\t' || c == '\r' || c == '\0')
        ++at;
      else if (c == '/' && at + 1 < end && at[1] == '/')
        skipLine();
      else if (c == '/' && at + 1 < end && at[1] == '*')
        skipComment();
      else
        return;
    }
  }

  void skipLine() {
    const void *stop = memchr(at, '\n', end - at);
    at = stop ? static_cast<const char *>(stop) : end;
  }

  void skipComment() {
    for (at += 2; at < end && !(at[0] == '*' && at + 1 < end && at[1] == '/'); ++at)
      if (*at == '\n')
        newLine();
    at = std::min(end, at + 2);
  }

  bool peek(char c) {
    skipBlanks();
    return at < end && *at == c;
  }
  bool accept(char c) {
    if (!peek(c))
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "'");
  }

  /// A name in an operand: no dots, but for the special registers' `.x`.
  std::string_view identifier() {
    skipBlanks();
    const char *start = at;
    if (at >= end || !isIdentifierStart(*at))
      fail("expected a name");
    while (at < end && isIdentifierPart(*at))
      ++at;
    return {start, size_t(at - start)};
  }

  /// `.name`, or nothing, which stands somewhere too.
  std::string_view directive() {
    if (!peek('.'))
      return {at, 0};
    const char *start = ++at;
    while (at < end && (isIdentifierPart(*at) || (*at == ':' && at + 1 < end && at[1] == ':') ||
                        (*at == ':' && at[-1] == ':')))
      ++at;
    return {start, size_t(at - start)};
  }

  /// An opcode with all its modifiers.
  std::string_view opcodeText() {
    const char *start = at;
    while (at < end && (isIdentifierPart(*at) || *at == '.' ||
                        (*at == ':' && at + 1 < end && (at[1] == ':' || at[-1] == ':'))))
      ++at;
    if (start == at)
      fail("expected an instruction");
    return {start, size_t(at - start)};
  }

  int64_t integer() {
    skipBlanks();
    bool minus = accept('-');
    Operand value;
    if (!number(value) || value.kind != OperandKind::Integer)
      fail("expected an integer");
    return minus ? negated(value.value) : value.value;
  }

  /// The negative, where 2^63 stays what it is.
  static int64_t negated(int64_t value) { return int64_t(0 - uint64_t(value)); }
  static int64_t sum(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }

  uint64_t hexDigits(unsigned count) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; ++i, ++at) {
      char c = at < end ? *at : ' ';
      int digit = isDigit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
      if (digit < 0)
        fail("expected a hexadecimal digit");
      bits = bits << 4 | unsigned(digit);
    }
    return bits;
  }

  bool number(Operand &operand) {
    skipBlanks();
    if (at >= end || !isDigit(*at))
      return false;
    if (*at == '0' && at + 1 < end) {
      char kind = at[1];
      if (kind == 'f' || kind == 'F')
        return at += 2, bits(operand, OperandKind::Float32, hexDigits(8));
      if (kind == 'd' || kind == 'D')
        return at += 2, bits(operand, OperandKind::Float64, hexDigits(16));
    }
    if (isDecimalFloat())
      return decimalFloat(operand);
    return bits(operand, OperandKind::Integer, integerDigits());
  }

  static bool bits(Operand &operand, OperandKind kind, uint64_t value) {
    operand.kind = kind;
    operand.value = int64_t(value);
    return true;
  }

  bool isDecimalFloat() const {
    const char *p = at;
    if (p[0] == '0' && p + 1 < end && (p[1] | 32) == 'x')
      return false;
    while (p < end && isDigit(*p))
      ++p;
    return p < end && (*p == '.' || (*p | 32) == 'e');
  }

  bool decimalFloat(Operand &operand) {
    char *stop;
    double value = strtod(at, &stop);
    at = stop;
    uint64_t raw;
    memcpy(&raw, &value, 8);
    return bits(operand, OperandKind::Float64, raw);
  }

  uint64_t integerDigits() {
    unsigned base = 10;
    if (*at == '0' && at + 1 < end) {
      char kind = at[1] | 32;
      if (kind == 'x')
        base = 16, at += 2;
      else if (kind == 'b')
        base = 2, at += 2;
      else if (isDigit(at[1]))
        base = 8, ++at;
    }
    uint64_t value = 0;
    for (; at < end; ++at) {
      char c = *at;
      unsigned digit = isDigit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
      if (digit >= base)
        break;
      value = value * base + digit;
    }
    if (at < end && *at == 'U')
      ++at;
    return value;
  }

  // --- module scope ---

  void parseTopLevel() {
    bool external = false;
    for (;;) {
      std::string_view word = directive();
      if (word.empty())
        fail("expected a directive");
      if (word == "version")
        return parseVersion();
      if (word == "target")
        return parseTarget();
      if (word == "address_size")
        return (void)integer();
      if (word == "visible" || word == "weak" || word == "common")
        continue;
      if (word == "extern") {
        external = true;
        continue;
      }
      if (word == "entry" || word == "func")
        return parseFunction(word == "entry");
      if (word == "file" || word == "loc" || word == "pragma")
        return skipLine();
      if (word == "section")
        return skipSection();
      if (word == "alias")
        return parseAlias();
      bool isSpace;
      Space space = spaceNamed(word, isSpace);
      if (!isSpace)
        failAt(word.data(), "unknown directive");
      return parseVariables(space, external, module.variables);
    }
  }

  /// .alias other, function;
  void parseAlias() {
    std::string other(identifier());
    expect(',');
    module.aliases.emplace_back(std::move(other), std::string(identifier()));
    expect(';');
  }

  void parseVersion() {
    module.versionMajor = versionPart();
    expect('.');
    module.versionMinor = versionPart();
  }

  int versionPart() {
    skipBlanks();
    int value = 0;
    while (at < end && isDigit(*at))
      value = std::min(value * 10 + (*at++ - '0'), 9999);
    return value;
  }

  void parseTarget() {
    module.target = identifier();
    while (accept(','))
      identifier();
  }

  void skipTo(char c) {
    while (at < end && *at != c) {
      if (*at == '\n')
        newLine();
      ++at;
    }
    if (at < end)
      ++at;
  }

  void skipSection() {
    skipTo('{');
    for (int depth = 1; at < end && depth; ++at) {
      if (*at == '\n')
        newLine();
      depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    }
  }

  // --- variables ---

  /// The part of a declaration that all its names share.
  struct Declaration {
    Type type = Type::B8;
    uint32_t align = 0;
    unsigned vector = 1;
    Opaque opaque = Opaque::None;
  };

  Declaration parseDeclaration() {
    Declaration d;
    bool typed = false;
    while (peek('.')) {
      const char *start = at;
      std::string_view word = directive();
      if (word == "align")
        d.align = alignment();
      else if (word == "v2" || word == "v4")
        d.vector = word[1] - '0';
      else if (word == "ptr")
        parsePointerNote();
      else if (word == "attribute")
        skipTo(')');
      else if (auto it = typeNames().find(word); it != typeNames().end())
        d.type = it->second, typed = true;
      else if (d.opaque = opaqueNamed(word); d.opaque != Opaque::None)
        d.type = Type::B64, typed = true;
      else
        failAt(start, "unknown part of a declaration");
    }
    if (!typed)
      fail("expected a type");
    return d;
  }

  static Opaque opaqueNamed(std::string_view word) {
    return word == "texref"       ? Opaque::Texture
           : word == "samplerref" ? Opaque::Sampler
           : word == "surfref"    ? Opaque::Surface
                                  : Opaque::None;
  }

  uint32_t alignment() {
    uint64_t value = uint64_t(integer());
    if (value == 0 || (value & (value - 1)) || value > mostAlignment)
      fail("an alignment must be a power of two up to " + std::to_string(mostAlignment));
    return uint32_t(value);
  }

  void parsePointerNote() {
    while (peek('.')) {
      const char *before = at;
      std::string_view word = directive();
      bool isSpace;
      spaceNamed(word, isSpace);
      if (word == "align")
        integer();
      else if (!isSpace) {
        at = before;
        return;
      }
    }
  }

  Variable parseDeclarator(const Declaration &d, Space space, bool external) {
    Variable v;
    v.name = identifier();
    v.space = space;
    v.type = d.type;
    v.opaque = d.opaque;
    v.external = external;
    uint64_t element = uint64_t(sizeOf(d.type)) * d.vector, count = 1;
    v.align = d.align ? d.align : uint32_t(element ? element : 1);
    while (accept('[')) {
      uint64_t elements = peek(']') ? 0 : uint64_t(integer());
      expect(']');
      if (elements > mostVariableBytes || (count *= elements) * element > mostVariableBytes)
        fail("a variable of that size is not supported");
    }
    v.size = element * count;
    return v;
  }

  void parseVariables(Space space, bool external, std::vector<Variable> &into) {
    Declaration d = parseDeclaration();
    do {
      Variable v = parseDeclarator(d, space, external);
      if (accept('='))
        parseInitialiser(v);
      into.push_back(std::move(v));
    } while (accept(','));
    expect(';');
  }

  /// { filter_mode = linear, addr_mode_0 = wrap }
  void parseSettings(Variable &v) {
    expect('{');
    while (!accept('}')) {
      std::string name(identifier());
      expect('=');
      skipBlanks();
      bool isNumber = at < end && isDigit(*at);
      std::string value = isNumber ? std::to_string(integer()) : std::string(identifier());
      v.settings.emplace_back(std::move(name), std::move(value));
      accept(',');
    }
  }

  void parseInitialiser(Variable &v) {
    if (v.opaque != Opaque::None)
      return parseSettings(v);
    uint64_t position = 0;
    parseInitialValue(v, position);
    if (!v.size)
      v.size = position;
    v.init.resize(v.size);
  }

  void parseInitialValue(Variable &v, uint64_t &position) {
    Nesting nesting(*this);
    if (accept('{')) {
      while (!accept('}')) {
        parseInitialValue(v, position);
        accept(',');
      }
      return;
    }
    unsigned width = sizeOf(v.type);
    if (v.init.size() < position + width)
      v.init.resize(std::max<uint64_t>(position + width, v.size));
    uint64_t value = initialScalar(v, position);
    memcpy(v.init.data() + position, &value, std::min(width, 8u));
    position += width;
  }

  uint64_t initialScalar(Variable &v, uint64_t position) {
    skipBlanks();
    bool minus = accept('-');
    Operand value;
    if (number(value)) {
      if (accept('('))
        return addressByte(v, position, uint64_t(value.value));
      return scalarBits(v.type, value, minus);
    }
    return symbolValue(v, position);
  }

  /// 0xFF00(symbol): one byte of an address, chosen by a mask.
  uint64_t addressByte(Variable &v, uint64_t position, uint64_t mask) {
    int byte = mask ? __builtin_ctzll(mask) / 8 : 0;
    if (mask != 0xffull << (8 * byte) || sizeOf(v.type) != 1)
      fail("expected a mask of one byte, for a variable of bytes");
    symbolValue(v, position);
    v.relocations.back().byte = int8_t(byte);
    expect(')');
    return 0;
  }

  uint64_t symbolValue(Variable &v, uint64_t position) {
    std::string_view name = identifier();
    if (name == "generic") {
      expect('(');
      name = identifier();
      expect(')');
    }
    int64_t addend = accept('+') ? integer() : 0;
    v.relocations.push_back({position, std::string(name), addend});
    return 0;
  }

  static uint64_t scalarBits(Type type, const Operand &value, bool minus) {
    if (value.kind == OperandKind::Integer)
      return uint64_t(minus ? negated(value.value) : value.value);
    double d = 0;
    float f = 0;
    uint32_t word = uint32_t(value.value);
    if (value.kind == OperandKind::Float32)
      memcpy(&f, &word, 4), d = f;
    else
      memcpy(&d, &value.value, 8), f = float(d);
    uint64_t out = 0;
    if (type == Type::F64 || type == Type::B64)
      memcpy(&out, &d, 8);
    else
      memcpy(&out, &f, 4);
    return minus ? out ^ (sizeOf(type) == 8 ? 1ull << 63 : 1ull << 31) : out;
  }

  // --- functions ---

  void parseFunction(bool entry) {
    auto owned = std::make_unique<Function>();
    function = owned.get();
    function->entry = entry;
    function->line = line;
    visible.clear();
    activeRanges.clear();
    if (peek('('))
      parseParameters(function->returns);
    function->name = identifier();
    if (peek('('))
      parseParameters(function->params);
    parseFunctionNotes();
    if (accept('{'))
      parseBody();
    else
      accept(';');
    addFunction(std::move(owned));
  }

  /// A definition takes the place of the declaration that stood before it.
  void addFunction(std::unique_ptr<Function> added) {
    auto [it, isNew] = functionIndex.emplace(added->name, module.functions.size());
    if (isNew)
      module.functions.push_back(std::move(added));
    else if (added->defined)
      module.functions[it->second] = std::move(added);
  }

  void parseParameters(std::vector<uint32_t> &list) {
    expect('(');
    while (!accept(')')) {
      std::string_view word = directive();
      if (word == "param") {
        list.push_back(declare(parseDeclarator(parseDeclaration(), Space::Param, false)));
      } else if (word == "reg") {
        list.push_back(parseRegisterParameter(&list == &function->returns));
      } else {
        fail("expected a parameter");
      }
      accept(',');
    }
  }

  uint32_t parseRegisterParameter(bool returned) {
    Declaration d = parseDeclaration();
    std::string_view name = identifier();
    uint32_t reg = uint32_t(function->registers.size());
    addRange({name, d.type, reg, 1, false});
    Variable v;
    v.space = Space::Param;
    v.type = d.type;
    v.size = v.align = std::max(1u, sizeOf(d.type));
    uint32_t variable = declare(std::move(v));
    (returned ? function->returnRegisters : function->paramRegisters).push_back({variable, reg});
    return variable;
  }

  uint32_t declare(Variable v) {
    uint32_t index = uint32_t(function->variables.size());
    function->variables.push_back(std::move(v));
    visible.push_back(index);
    return index;
  }

  void parseFunctionNotes() {
    while (peek('.')) {
      std::string_view word = directive();
      if (word == "reqntid")
        parseThree(function->requiredBlock);
      else if (word == "maxntid") {
        uint32_t size[3] = {1, 1, 1};
        parseThree(size);
        function->maxThreads = size[0] * size[1] * size[2];
      } else if (word == "minnctapersm" || word == "maxnreg" || word == "maxnctapersm" ||
                 word == "maxclusterrank")
        integer();
      else if (word == "reqnctapercluster")
        parseThree(function->requiredCluster);
      else if (word == "blocksareclusters")
        function->gridCountsClusters = true;
      else if (word == "pragma")
        skipTo(';');
      else if (word == "attribute")
        skipTo(')');
      else if (word != "noreturn" && word != "explicitcluster" && word != "abi_preserve")
        failAt(word.data(), "unknown directive");
    }
  }

  void parseThree(uint32_t *size) {
    size[0] = uint32_t(integer());
    size[1] = accept(',') ? uint32_t(integer()) : 1;
    size[2] = accept(',') ? uint32_t(integer()) : 1;
  }

  struct Scope {
    size_t ranges, variables;
  };

  void parseBody() {
    function->defined = true;
    std::vector<Scope> scopes;
    scopeParents.assign(1, 0);
    scope = 0;
    scopeOfName.clear();
    scopedLabels.clear();
    for (;;) {
      skipBlanks();
      if (at >= end)
        fail("expected '}'");
      char c = *at;
      if (c == '{') {
        ++at;
        scopes.push_back({activeRanges.size(), visible.size()});
        scopeParents.push_back(scope);
        scope = uint32_t(scopeParents.size()) - 1;
      } else if (c == '}') {
        ++at;
        if (scopes.empty())
          return resolveLabels();
        scope = scopeParents[scope];
        activeRanges.resize(scopes.back().ranges);
        visible.resize(scopes.back().variables);
        scopes.pop_back();
      } else if (c == '.') {
        parseBodyDirective();
      } else if (c == ';') {
        ++at;
      } else {
        parseStatement();
      }
    }
  }

  void parseBodyDirective() {
    std::string_view word = directive();
    if (word == "reg")
      return parseRegisters();
    if (word == "loc" || word == "file")
      return skipLine();
    if (word == "pragma")
      return skipTo(';');
    bool isSpace;
    if (word == "extern")
      word = directive();
    Space space = spaceNamed(word, isSpace);
    if (!isSpace)
      failAt(word.data(), "unknown directive");
    std::vector<Variable> declared;
    parseVariables(space, false, declared);
    for (Variable &v : declared)
      declare(std::move(v));
  }

  void parseRegisters() {
    Declaration d = parseDeclaration();
    do {
      std::string_view prefix = identifier();
      RegisterRange range{prefix, d.type, uint32_t(function->registers.size()), 1, false};
      if (accept('<')) {
        range.count = uint32_t(integer());
        range.numbered = true;
        expect('>');
      }
      addRange(range);
    } while (accept(','));
    expect(';');
  }

  void addRange(const RegisterRange &range) {
    if (range.count > mostRegisters - function->registers.size())
      fail("more than " + std::to_string(mostRegisters) + " registers are not supported");
    activeRanges.push_back(uint32_t(function->ranges.size()));
    function->ranges.push_back(range);
    function->registers.resize(function->registers.size() + range.count, range.type);
  }

  int64_t findRegister(std::string_view name) const {
    size_t digits = name.size();
    while (digits > 1 && isDigit(name[digits - 1]))
      --digits;
    uint32_t number = 0;
    for (size_t i = digits; i < name.size(); ++i)
      number = number * 10 + uint32_t(name[i] - '0');
    std::string_view prefix = name.substr(0, digits);
    for (size_t i = activeRanges.size(); i-- > 0;) {
      const RegisterRange &range = function->ranges[activeRanges[i]];
      if (range.numbered ? digits < name.size() && range.prefix == prefix && number < range.count
                         : range.prefix == name)
        return range.first + (range.numbered ? number : 0);
      // A prefix may itself end in digits, as in `%f1_<4>`; such names are split differently.
      if (range.numbered && range.prefix.size() > digits && name.size() > range.prefix.size() &&
          name.substr(0, range.prefix.size()) == range.prefix) {
        uint32_t rest = 0;
        for (char c : name.substr(range.prefix.size()))
          rest = rest * 10 + uint32_t(c - '0');
        if (rest < range.count)
          return range.first + rest;
      }
    }
    return -1;
  }

  // --- statements ---

  void parseStatement() {
    Instruction instruction;
    instruction.line = line;
    if (*at == '@')
      parseGuard(instruction);
    skipBlanks();
    const char *start = at;
    std::string_view text = opcodeText();
    if (instruction.guard < 0 && peek(':')) {
      ++at;
      return parseLabel(text);
    }
    if (!((*start | 32) >= 'a' && (*start | 32) <= 'z'))
      failAt(start, "expected an instruction");
    instruction.opcode = intern(text);
    parseOperands(instruction);
    function->instructions.push_back(instruction);
  }

  void parseGuard(Instruction &instruction) {
    ++at;
    instruction.guardNegated = accept('!');
    skipBlanks();
    const char *start = at;
    int64_t index = findRegister(identifier());
    if (index < 0)
      failAt(start, "undeclared register");
    instruction.guard = int32_t(index);
  }

  void parseLabel(std::string_view name) {
    skipBlanks();
    std::string_view rest(at, size_t(end - at));
    auto startsWith = [&](std::string_view word) { return rest.substr(0, word.size()) == word; };
    if (startsWith(".branchtargets"))
      return directive(), parseTargets(function->targets[scopedName(name)]);
    if (startsWith(".callprototype") || startsWith(".calltargets"))
      return skipTo(';'); // the call itself says enough
    function->labels.emplace(scopedName(name), uint32_t(function->instructions.size()));
  }

  /// A name that is declared in braces is known in them alone.
  std::string_view scopedName(std::string_view name) {
    if (scope == 0)
      return name;
    auto [it, isNew] = scopedLabels.emplace(std::make_pair(scope, name), std::string_view());
    if (isNew) {
      function->ownNames.push_back(std::string(name) + "'" + std::to_string(scope));
      it->second = function->ownNames.back();
    }
    return it->second;
  }

  std::string_view findLabel(std::string_view name, uint32_t from) const {
    for (; from; from = scopeParents[from])
      if (auto it = scopedLabels.find({from, name}); it != scopedLabels.end())
        return it->second;
    return name;
  }

  void resolveLabels() {
    if (scopedLabels.empty())
      return;
    for (size_t i = 0; i < function->names.size(); ++i)
      function->names[i] = findLabel(function->names[i], scopeOfName[i]);
    for (auto &[key, renamed] : scopedLabels)
      if (auto list = function->targets.find(renamed); list != function->targets.end())
        for (std::string_view &target : list->second)
          target = findLabel(target, key.first);
  }

  void parseTargets(std::vector<std::string_view> &list) {
    do
      list.push_back(identifier());
    while (accept(','));
    expect(';');
  }

  const Opcode *intern(std::string_view text) {
    auto it = opcodeCache.find(text);
    if (it != opcodeCache.end())
      return it->second;
    auto &owned = module.opcodes[std::string(text)];
    owned = takeApart(text);
    opcodeCache.emplace(owned->text, owned.get());
    return owned.get();
  }

  void parseOperands(Instruction &instruction) {
    size_t base = scratch.size();
    skipBlanks();
    while (!accept(';')) {
      if (scratch.size() - base == 64)
        fail("too many operands");
      scratch.push_back(parseOperand());
      skipBlanks();
      if (at < end && *at == ',')
        ++at;
      else if (!peek(';'))
        fail("expected ',' or ';'");
      skipBlanks();
    }
    instruction.numOperands = uint16_t(scratch.size() - base);
    instruction.firstOperand = takeScratch(base);
  }

  /// What was put aside since `base` becomes the function's.
  uint32_t takeScratch(size_t base) {
    uint32_t first = append(scratch.data() + base, unsigned(scratch.size() - base));
    scratch.erase(scratch.begin() + ptrdiff_t(base), scratch.end());
    return first;
  }

  uint32_t append(const Operand *list, unsigned count) {
    uint32_t first = uint32_t(function->operands.size());
    function->operands.insert(function->operands.end(), list, list + count);
    return first;
  }

  Operand parseOperand() {
    Nesting nesting(*this);
    skipBlanks();
    if (at >= end)
      fail("expected an operand");
    switch (*at) {
    case '[':
      return parseAddress();
    case '{':
      return parseVector();
    case '(':
      return parseList('(', ')');
    case '!': {
      ++at;
      Operand operand = parseOperand();
      operand.negated = true;
      return operand;
    }
    default:
      return parsePairOrPlain();
    }
  }

  /// `{a, b}`, or with a predicate beside it, `{a, b}|p`.
  Operand parseVector() {
    Operand vector = parseList('{', '}');
    return peek('|') ? pairOf(vector) : vector;
  }

  Operand pairOf(const Operand &first) {
    expect('|');
    Operand both[2] = {first, parsePlain()};
    Operand pair;
    pair.kind = OperandKind::Pair;
    pair.index = append(both, 2);
    pair.value = 2;
    return pair;
  }

  Operand parsePairOrPlain() {
    Operand first = parsePlain();
    return peek('|') ? pairOf(first) : first;
  }

  Operand parseList(char open, char close) {
    expect(open);
    size_t base = scratch.size();
    while (!accept(close)) {
      if (scratch.size() - base == 128)
        fail("too many operands");
      scratch.push_back(parseOperand());
      accept(',');
    }
    if (open == '{' && scratch.size() == base)
      fail("expected an operand");
    Operand vector;
    vector.kind = OperandKind::Vector;
    vector.value = int64_t(scratch.size() - base);
    vector.index = takeScratch(base);
    return vector;
  }

  Operand parseAddress() {
    expect('[');
    Operand operand = parsePlain();
    operand.address = true;
    for (;;) {
      if (accept('+') || peek('-'))
        operand.offset = sum(operand.offset, integer());
      else
        break;
    }
    if (peek(','))
      operand = parseCoordinates(operand);
    expect(']');
    return operand;
  }

  /// `[map, {x, y}]`: a vector in brackets, of the object and its coordinates.
  Operand parseCoordinates(const Operand &object) {
    constexpr unsigned most = 16;
    Operand parts[most] = {object};
    unsigned count = 1, leading = 0;
    while (accept(',')) {
      Operand next = parseOperand();
      if (!leading && next.kind == OperandKind::Vector)
        leading = count;
      bool isVector = next.kind == OperandKind::Vector;
      if (count + (isVector ? uint64_t(next.value) : 1) > most)
        fail("too many coordinates");
      for (unsigned i = 0; isVector && i < next.value; ++i)
        parts[count++] = function->operands[next.index + i];
      if (!isVector)
        parts[count++] = next;
    }
    Operand all;
    all.kind = OperandKind::Vector;
    all.address = true;
    all.index = append(parts, count);
    all.value = count;
    all.offset = leading;
    return all;
  }

  Operand parsePlain() {
    skipBlanks();
    Operand operand;
    bool minus = accept('-');
    if (number(operand)) {
      if (minus)
        negate(operand);
      return operand;
    }
    const char *start = at;
    std::string_view name = identifier();
    if (name == "_")
      return operand;
    resolveName(name, start, operand);
    operand.negated = minus;
    return addOffset(operand);
  }

  /// `mov.u64 %rd1, table+16;`
  Operand addOffset(Operand operand) {
    if ((operand.kind == OperandKind::Name || operand.kind == OperandKind::Variable) && accept('+'))
      operand.offset = integer();
    return operand;
  }

  static void negate(Operand &operand) {
    if (operand.kind == OperandKind::Integer)
      operand.value = negated(operand.value);
    else
      operand.value ^= operand.kind == OperandKind::Float32 ? int64_t(1) << 31 : INT64_MIN;
  }

  void resolveName(std::string_view name, const char *start, Operand &operand) {
    int64_t index = findRegister(name);
    if (index >= 0) {
      operand.kind = OperandKind::Register;
      operand.index = uint32_t(index);
      operand.value = partSelector();
      return;
    }
    if (name.substr(0, reservedShared.size()) == reservedShared && name.size() > reservedShared.size())
      return resolveReserved(name, operand);
    if (name[0] == '%' || name == "WARP_SZ")
      return resolveSpecial(name, start, operand);
    for (size_t i = visible.size(); i-- > 0;)
      if (function->variables[visible[i]].name == name) {
        operand.kind = OperandKind::Variable;
        operand.index = visible[i];
        return;
      }
    nameSomething(name, operand);
  }

  void nameSomething(std::string_view name, Operand &operand) {
    operand.kind = OperandKind::Name;
    operand.index = uint32_t(function->names.size());
    function->names.push_back(name);
    scopeOfName.push_back(scope);
  }

  /// `%reserved_smem_offset_begin`, `_end`, `_cap` and `_0`, `_1`: the system's two halves of shared memory.
  void resolveReserved(std::string_view name, Operand &operand) {
    std::string_view what = name.substr(reservedShared.size());
    if (what == "_offset_cap") {
      operand.kind = OperandKind::Integer;
      operand.value = reservedSharedBytes;
      return;
    }
    nameSomething(reservedShared, operand);
    operand.offset = what == "_offset_end" ? reservedSharedBytes
                     : what == "_offset_1" ? reservedSharedBytes / 2
                                           : 0;
  }

  static bool isAlwaysZero(std::string_view name) {
    for (std::string_view prefix : {"%envreg", "%pm", "%current_graph_exec"})
      if (name.substr(0, prefix.size()) == prefix)
        return true;
    return false;
  }

  /// `%r1.h0`, `%r2.b3210`: parts of a video instruction's operand, as Operand::value.
  int64_t partSelector() {
    if (at + 2 >= end || *at != '.' || (at[1] != 'b' && at[1] != 'h') || !isDigit(at[2]))
      return 0;
    PartSelector selector;
    selector.halves = at[1] == 'h';
    for (at += 2; at < end && *at >= '0' && *at <= '7' && selector.count < 4; ++at)
      selector.parts[selector.count++] = uint8_t(*at - '0');
    return selector.pack();
  }

  void resolveSpecial(std::string_view name, const char *start, Operand &operand) {
    if (at + 1 < end && *at == '.') {
      at += 2;
      name = {start, size_t(at - start)};
    }
    auto it = specialNames().find(name);
    operand.kind = OperandKind::Special;
    if (it != specialNames().end())
      operand.index = uint32_t(it->second);
    else if (isAlwaysZero(name))
      operand.index = uint32_t(SpecialRegister::Zero);
    else
      failAt(start, "undeclared register");
  }

  /// Counts how deep braces and the like nest, which the text could otherwise drive to the end of the stack.
  struct Nesting {
    explicit Nesting(Parser &parser) : parser(parser) {
      if (++parser.depth > mostNesting)
        parser.fail("braces nest too deep");
    }
    Nesting(const Nesting &) = delete;
    ~Nesting() { --parser.depth; }
    Parser &parser;
  };

  Module &module;
  const char *at, *end, *lineStart;
  unsigned depth = 0;
  uint32_t line = 1;
  Function *function = nullptr;
  std::vector<Operand> scratch;       // of operands that are being read
  std::vector<uint32_t> visible;      // variables of the function that are in scope
  std::vector<uint32_t> activeRanges; // registers in scope
  uint32_t scope = 0;                 // the braces around, numbered as they open
  std::vector<uint32_t> scopeParents; // of each
  std::vector<uint32_t> scopeOfName;  // of the function's names
  std::map<std::pair<uint32_t, std::string_view>, std::string_view> scopedLabels;
  std::unordered_map<std::string_view, const Opcode *> opcodeCache;
  std::unordered_map<std::string, size_t> functionIndex;
};

} // namespace

std::unique_ptr<Module> parse(std::string source) {
  auto module = std::make_unique<Module>();
  module->source = std::move(source);
  Parser(*module).run();
  return module;
}

} // namespace joule::vgpu::ptx
