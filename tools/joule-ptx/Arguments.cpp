// Parsing arguments, reading and writing .npy files.
#include "tools/joule-ptx/Arguments.h"
#include "lib/File/AtomicFile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace {

struct TypeRow {
  const char *name, *numpy;
  unsigned size;
};
const TypeRow types[] = {{"f32", "<f4", 4}, {"f64", "<f8", 8}, {"f16", "<f2", 2}, {"i8", "|i1", 1},
                         {"u8", "|u1", 1},  {"i16", "<i2", 2}, {"u16", "<u2", 2}, {"i32", "<i4", 4},
                         {"u32", "<u4", 4}, {"i64", "<i8", 8}, {"u64", "<u8", 8}};

const TypeRow *findType(const std::string &name) {
  for (const TypeRow &row : types)
    if (name == row.name)
      return &row;
  return nullptr;
}

std::vector<std::string> split(const std::string &text, char by, size_t most) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (parts.size() + 1 < most) {
    size_t to = text.find(by, from);
    if (to == std::string::npos)
      break;
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

template <class T> void put(std::vector<uint8_t> &bytes, T value) {
  bytes.resize(sizeof value);
  memcpy(bytes.data(), &value, sizeof value);
}

void parseScalar(Argument &argument, const std::string &value) {
  char *end = nullptr;
  if (argument.type == "f32")
    put(argument.bytes, strtof(value.c_str(), &end));
  else if (argument.type == "f64")
    put(argument.bytes, strtod(value.c_str(), &end));
  else {
    int64_t bits =
        value[0] == '-' ? strtoll(value.c_str(), &end, 0) : int64_t(strtoull(value.c_str(), &end, 0));
    argument.bytes.resize(elementSize(argument.type));
    memcpy(argument.bytes.data(), &bits, argument.bytes.size());
  }
  if (value.empty() || *end)
    throw UsageError("'" + value + "' is not a number");
}

std::vector<uint64_t> parseShape(const std::string &text) {
  std::vector<uint64_t> shape;
  for (const std::string &part : split(text, 'x', 64)) {
    char *end;
    shape.push_back(strtoull(part.c_str(), &end, 10));
    if (part.empty() || *end || !shape.back())
      throw UsageError("'" + text + "' is not a shape such as 4x8");
  }
  return shape;
}

/// The text between `key` and the next `stop` in an .npy header.
std::string headerField(const std::string &header, const std::string &key, char open, char stop) {
  size_t at = header.find(key);
  size_t from = at == std::string::npos ? at : header.find(open, at + key.size());
  size_t to = from == std::string::npos ? from : header.find(stop, from + 1);
  if (to == std::string::npos)
    throw UsageError("an .npy file without a proper header");
  return header.substr(from + 1, to - from - 1);
}

void readNpy(Argument &argument, const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UsageError("cannot read '" + path + "'");
  std::vector<char> all((std::istreambuf_iterator<char>(file)), {});
  if (all.size() < 10 || memcmp(all.data(), "\x93NUMPY", 6))
    throw UsageError("'" + path + "' is not an .npy file");
  size_t start = all[6] == 1 ? 10 : 12, length = uint8_t(all[8]) | size_t(uint8_t(all[9])) << 8;
  if (all.size() < start + length)
    throw UsageError("'" + path + "' is cut short");
  std::string header(all.data() + start, length), kind = headerField(header, "'descr':", '\'', '\'');
  for (const TypeRow &row : types)
    if (kind == row.numpy)
      argument.type = row.name;
  if (argument.type.empty())
    throw UsageError("'" + path + "' holds elements of type " + kind + ", which is not supported");
  for (const std::string &part : split(headerField(header, "'shape':", '(', ')'), ',', 64))
    if (uint64_t size = strtoull(part.c_str(), nullptr, 10))
      argument.shape.push_back(size);
  argument.bytes.assign(all.begin() + long(start + length), all.end());
}

float halfToFloat(uint16_t bits) {
  float magnitude;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023, word;
  if (exponent == 31)
    word = 0x7f800000u | mantissa << 13;
  else if (exponent)
    word = (exponent + 112) << 23 | mantissa << 13;
  else
    return (bits >> 15 ? -1.f : 1.f) * float(mantissa) / 16777216.f;
  memcpy(&magnitude, &word, 4);
  return bits >> 15 ? -magnitude : magnitude;
}

template <class T> T get(const uint8_t *bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

std::string formatFloat(double value, int digits) {
  char text[64];
  snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

} // namespace

unsigned elementSize(const std::string &type) {
  const TypeRow *row = findType(type);
  if (!row)
    throw UsageError("there is no type '" + type + "'");
  return row->size;
}

Argument parseArgument(const std::string &text) {
  Argument argument;
  std::vector<std::string> head = split(text, ':', 2);
  if (head.size() < 2)
    throw UsageError("'" + text + "' is not an argument such as f32:1.5, buf:in.npy or out:f32:4x8");
  if (head[0] == "buf") {
    argument.buffer = true;
    std::vector<std::string> rest = split(head[1], ':', 2);
    readNpy(argument, rest[0]);
    argument.output = rest.size() > 1;
    if (argument.output)
      argument.saveTo = rest[1];
    return argument;
  }
  if (head[0] == "out") {
    std::vector<std::string> rest = split(head[1], ':', 3);
    if (rest.size() < 2)
      throw UsageError("'" + text + "' lacks a shape");
    argument.type = rest[0];
    argument.buffer = argument.output = true;
    argument.shape = parseShape(rest[1]);
    uint64_t count = 1;
    for (uint64_t size : argument.shape)
      count *= size;
    argument.bytes.resize(count * elementSize(argument.type));
    if (rest.size() > 2)
      argument.saveTo = rest[2];
    return argument;
  }
  argument.type = head[0];
  elementSize(argument.type);
  parseScalar(argument, head[1]);
  return argument;
}

std::string formatElement(const std::string &type, const uint8_t *bytes) {
  if (type == "f32")
    return formatFloat(get<float>(bytes), 9);
  if (type == "f64")
    return formatFloat(get<double>(bytes), 17);
  if (type == "f16")
    return formatFloat(halfToFloat(get<uint16_t>(bytes)), 5);
  if (type == "i8")
    return std::to_string(get<int8_t>(bytes));
  if (type == "i16")
    return std::to_string(get<int16_t>(bytes));
  if (type == "i32")
    return std::to_string(get<int32_t>(bytes));
  if (type == "i64")
    return std::to_string(get<int64_t>(bytes));
  if (type == "u8")
    return std::to_string(get<uint8_t>(bytes));
  if (type == "u16")
    return std::to_string(get<uint16_t>(bytes));
  if (type == "u32")
    return std::to_string(get<uint32_t>(bytes));
  return std::to_string(get<uint64_t>(bytes));
}

void saveNpy(const Argument &argument) {
  std::string shape;
  for (uint64_t size : argument.shape)
    shape += std::to_string(size) + ", ";
  if (argument.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = std::string("{'descr': '") + findType(argument.type)->numpy +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  while ((header.size() + 11) % 64)
    header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += char(header.size() & 255);
  bytes += char(header.size() >> 8);
  bytes += header;
  bytes.append(argument.bytes.begin(), argument.bytes.end());
  if (joule::Result<void> written = joule::writeWholeFile(argument.saveTo, bytes); !written)
    throw std::runtime_error(written.error().message);
}
