// Decoding of the video instructions.
#include "lib/VirtualGpu/Decoder.h"
#include "lib/VirtualGpu/VideoRule.h"

namespace joule::vgpu {
namespace {

using ptx::PartSelector;

VideoOperation operationOf(const std::string &base) {
  static const std::pair<const char *, VideoOperation> names[] = {
      {"vadd", VideoOperation::Add},         {"vsub", VideoOperation::Sub},
      {"vabsdiff", VideoOperation::AbsDiff}, {"vmin", VideoOperation::Min},
      {"vmax", VideoOperation::Max},         {"vavrg", VideoOperation::Average},
      {"vshl", VideoOperation::ShiftLeft},   {"vshr", VideoOperation::ShiftRight},
      {"vset", VideoOperation::Set},         {"vmad", VideoOperation::MultiplyAdd}};
  for (auto [name, operation] : names)
    if (base == name)
      return operation;
  throw Unsupported{"unknown instruction"};
}

VideoCompare compareOf(const Opcode &opcode) {
  static const std::pair<const char *, VideoCompare> names[] = {
      {"eq", VideoCompare::Eq}, {"ne", VideoCompare::Ne}, {"lt", VideoCompare::Lt},
      {"le", VideoCompare::Le}, {"gt", VideoCompare::Gt}, {"ge", VideoCompare::Ge}};
  for (auto [name, compare] : names)
    if (opcode.has(name))
      return compare;
  throw Unsupported{"this comparison"};
}

/// `.b2` or `.h1` of one operand.
VideoPart partOf(const Operand &o) {
  PartSelector s = PartSelector::unpack(o.kind == OperandKind::Register ? o.value : 0);
  if (s.count == 0)
    return {0, 32};
  uint8_t width = s.halves ? 16 : 8;
  if (s.count != 1 || s.parts[0] >= 32 / width)
    throw Unsupported{"these parts of an operand"};
  return {uint8_t(s.parts[0] * width), width};
}

/// `.h10` or `.b3210`: from which parts of both operands the results are computed, the lowest first.
void partsOf(const Operand &o, unsigned width, unsigned first, VideoPart *parts) {
  PartSelector s = PartSelector::unpack(o.kind == OperandKind::Register ? o.value : 0);
  unsigned count = 32 / width;
  if (s.count != 0 && (s.count != count || s.halves != (width == 16)))
    throw Unsupported{"these parts of an operand"};
  for (unsigned i = 0; i < count; ++i) {
    unsigned part = s.count ? s.parts[count - 1 - i] : first + i;
    if (part >= 2 * count)
      throw Unsupported{"these parts of an operand"};
    parts[i] = {uint8_t(part * width), uint8_t(width)};
  }
}

/// `.h0`, `.b210`: which results are computed.
uint8_t maskOf(const Operand &o, unsigned width) {
  PartSelector s = PartSelector::unpack(o.kind == OperandKind::Register ? o.value : 0);
  uint8_t mask = 0;
  for (unsigned i = 0; i < s.count; ++i)
    mask = uint8_t(mask | 1u << s.parts[i]);
  return s.count ? mask : uint8_t((1u << (32 / width)) - 1);
}

/// The operand without its parts, and without its sign.
Operand bare(Operand o) {
  if (o.kind == OperandKind::Register)
    o.value = 0;
  o.negated = false;
  return o;
}

VideoSecond secondOf(const Opcode &opcode) {
  const std::string &last = opcode.mods.empty() ? opcode.base : opcode.mods.back();
  return last == "add"   ? VideoSecond::Add
         : last == "min" ? VideoSecond::Min
         : last == "max" ? VideoSecond::Max
                         : VideoSecond::None;
}

} // namespace

void Decoder::emitVideo(const VideoRule &rule) {
  uint32_t a = use(bare(operand(1)), 4), b = use(bare(operand(2)), 4),
           c = count() > 3 ? use(bare(operand(3)), 4) : constant(4, 0);
  p.videoRules.push_back(rule);
  uint32_t d = result(bare(operand(0)), 4);
  emit("video", d, a, b, c);
  p.ops.back().data = &p.videoRules.back();
}

void Decoder::video() {
  std::string base = opcode->base;
  char last = base.back();
  VideoRule rule;
  rule.packed = last == '2' || last == '4';
  if (rule.packed)
    base.pop_back();
  rule.operation = operationOf(base);
  bool isSet = rule.operation == VideoOperation::Set;
  if (opcode->types.size() < (isSet ? 2u : 3u))
    throw Unsupported{"types of this number"};
  if (isSet)
    rule.compare = compareOf(*opcode);
  rule.aSigned = ptx::isSigned(opcode->type(isSet ? 0 : 1));
  rule.bSigned = ptx::isSigned(opcode->type(isSet ? 1 : 2));
  rule.resultSigned = !isSet && ptx::isSigned(opcode->type(0));
  rule.saturates = opcode->sat;
  rule.wraps = opcode->has("wrap");
  rule.second = secondOf(*opcode);
  rule.packed ? packedVideo(rule, last == '2' ? 16 : 8) : scalarVideo(rule);
  emitVideo(rule);
}

void Decoder::packedVideo(VideoRule &rule, unsigned width) {
  rule.result.width = uint8_t(width);
  partsOf(operand(1), width, 0, rule.a);
  partsOf(operand(2), width, 32 / width, rule.b);
  rule.mask = maskOf(operand(0), width);
}

void Decoder::scalarVideo(VideoRule &rule) {
  rule.a[0] = partOf(operand(1));
  rule.b[0] = partOf(operand(2));
  rule.result = partOf(operand(0));
  if (rule.second == VideoSecond::None && rule.result.width != 32)
    rule.second = VideoSecond::Merge;
  if (rule.operation != VideoOperation::MultiplyAdd)
    return;
  rule.negatesProduct = operand(1).negated != operand(2).negated;
  rule.negatesC = operand(3).negated;
  rule.plusOne = opcode->has("po");
  rule.shift = opcode->has("shr7") ? 7 : opcode->has("shr15") ? 15 : 0;
}

} // namespace joule::vgpu
