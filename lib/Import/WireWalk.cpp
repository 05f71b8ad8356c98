// A walk over a serialised ONNX model that leaves its big tensors where they are.
#include "lib/Import/WireWalk.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace llvm;

namespace {

/// The messages on the way from a model to a tensor; all others are copied as they are.
enum class Message { Model, Graph, Node, Attribute, SparseTensor, Function, Tensor, Other };

/// The kind of the message in field `field` of a `parent`.
Message childOf(Message parent, uint64_t field) {
  switch (parent) {
  case Message::Model:
    return field == 7 ? Message::Graph : field == 25 ? Message::Function : Message::Other;
  case Message::Graph:
    return field == 1    ? Message::Node
           : field == 5  ? Message::Tensor
           : field == 15 ? Message::SparseTensor
                         : Message::Other;
  case Message::Node:
    return field == 5 ? Message::Attribute : Message::Other;
  case Message::Attribute:
    return field == 5 || field == 10    ? Message::Tensor
           : field == 6 || field == 11  ? Message::Graph
           : field == 22 || field == 23 ? Message::SparseTensor
                                        : Message::Other;
  case Message::SparseTensor:
    return field == 1 || field == 2 ? Message::Tensor : Message::Other;
  case Message::Function:
    return field == 7 ? Message::Node : field == 11 ? Message::Attribute : Message::Other;
  case Message::Tensor:
  case Message::Other:
    break;
  }
  return Message::Other;
}

constexpr uint64_t modelTrainingInfo = 20, tensorRawData = 9;
constexpr size_t paddedVarint = 5;

class Walk {
public:
  Walk(StringRef bytes, std::string &copy) : bytes(bytes), copy(copy) {}

  bool message(Message kind, uint64_t end, int graphDepth);
  std::string error;

private:
  bool field(Message kind, uint64_t end, int graphDepth);
  bool lengthDelimited(Message kind, uint64_t number, uint64_t tagStart, uint64_t end, int graphDepth);
  void copyRawSpan(uint64_t tagStart, uint64_t tagEnd, joule::RawSpan span);
  bool copyChild(Message kind, uint64_t tagStart, uint64_t tagEnd, uint64_t length, int graphDepth);
  bool varint(uint64_t end, uint64_t &value);

  bool fail(const Twine &what) {
    error = what.str();
    return false;
  }
  bool damaged() { return fail("the file is damaged or cut short near byte " + Twine(at)); }
  void copyRange(uint64_t from, uint64_t to) { copy.append(bytes.data() + from, to - from); }

  StringRef bytes;
  std::string &copy;
  uint64_t at = 0;
};

bool Walk::varint(uint64_t end, uint64_t &value) {
  value = 0;
  for (int shift = 0; shift < 64 && at < end; shift += 7) {
    uint8_t byte = bytes[at++];
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return true;
  }
  return damaged();
}

bool Walk::message(Message kind, uint64_t end, int graphDepth) {
  if (graphDepth > joule::maxSubgraphDepth)
    return fail("subgraphs nest deeper than " + Twine(joule::maxSubgraphDepth));
  while (at < end)
    if (!field(kind, end, graphDepth))
      return false;
  return true;
}

bool Walk::field(Message kind, uint64_t end, int graphDepth) {
  uint64_t tagStart = at, tag, ignored;
  if (!varint(end, tag))
    return false;
  switch (tag & 7) {
  case 0:
    if (!varint(end, ignored))
      return false;
    break;
  case 1:
  case 5: {
    uint64_t width = (tag & 7) == 1 ? 8 : 4;
    if (end - at < width)
      return damaged();
    at += width;
    break;
  }
  case 2:
    return lengthDelimited(kind, tag >> 3, tagStart, end, graphDepth);
  default:
    return damaged();
  }
  copyRange(tagStart, at);
  return true;
}

bool Walk::lengthDelimited(Message kind, uint64_t number, uint64_t tagStart, uint64_t end, int graphDepth) {
  uint64_t tagEnd = at, length;
  if (!varint(end, length))
    return false;
  if (length > end - at)
    return damaged();
  if (kind == Message::Model && number == modelTrainingInfo) {
    at += length;
    return true;
  }
  if (kind == Message::Tensor && number == tensorRawData) {
    copyRawSpan(tagStart, tagEnd, {at, length});
    at += length;
    return true;
  }
  Message child = childOf(kind, number);
  if (child != Message::Other)
    return copyChild(child, tagStart, tagEnd, length, graphDepth);
  at += length;
  copyRange(tagStart, at);
  return true;
}

void Walk::copyRawSpan(uint64_t tagStart, uint64_t tagEnd, joule::RawSpan span) {
  copyRange(tagStart, tagEnd);
  copy.push_back(sizeof span);
  copy.append(reinterpret_cast<const char *>(&span), sizeof span);
}

/// The copy's length is known only afterwards: room is left for it, in a varint that is padded to its full width.
bool Walk::copyChild(Message kind, uint64_t tagStart, uint64_t tagEnd, uint64_t length, int graphDepth) {
  copyRange(tagStart, tagEnd);
  size_t lengthAt = copy.size();
  copy.append(paddedVarint, '\0');
  if (!message(kind, at + length, graphDepth + (kind == Message::Graph)))
    return false;
  uint64_t copied = copy.size() - lengthAt - paddedVarint;
  for (size_t byte = 0; byte < paddedVarint; ++byte)
    copy[lengthAt + byte] = char(((copied >> (7 * byte)) & 0x7f) | (byte + 1 < paddedVarint ? 0x80 : 0));
  return true;
}

} // namespace

std::string joule::copyWithoutRawData(StringRef model, std::string &copy) {
  Walk walk(model, copy);
  if (!walk.message(Message::Model, model.size(), 0))
    return walk.error;
  if (copy.size() > uint64_t(INT32_MAX))
    return "the file holds more than 2 GB besides its tensors' raw data";
  return "";
}

joule::RawSpan joule::decodeRawSpan(const std::string &rawData) {
  RawSpan span = {0, 0};
  if (rawData.size() == sizeof span)
    std::memcpy(&span, rawData.data(), sizeof span);
  return span;
}
