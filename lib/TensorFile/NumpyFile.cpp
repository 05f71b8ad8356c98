// .npy: a magic, a version, a Python dictionary as text, the bytes. .npz: a ZIP file of them.
#include "lib/Artifact/ZipReader.h"
#include "lib/Artifact/ZipWriter.h"
#include "lib/TensorFile/ReadWhole.h"
#include "lib/TensorFile/TensorFile.h"

#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

namespace joule {

namespace {

struct DtypeName {
  const char *text; // without the byte order
  ElementType type;
};

/// The first name of a type is the one that is written.
constexpr DtypeName dtypes[] = {
    {"f4", ElementType::Float32},       {"f8", ElementType::Float64},     {"f2", ElementType::Float16},
    {"i1", ElementType::Int8},          {"i2", ElementType::Int16},       {"i4", ElementType::Int32},
    {"i8", ElementType::Int64},         {"u1", ElementType::UInt8},       {"u2", ElementType::UInt16},
    {"u4", ElementType::UInt32},        {"u8", ElementType::UInt64},      {"b1", ElementType::Bool},
    {"c8", ElementType::Complex64},     {"c16", ElementType::Complex128}, {"V2", ElementType::BFloat16},
    {"bfloat16", ElementType::BFloat16}};

struct NpyHeader {
  ElementType type = ElementType::Undefined;
  bool isFortran = false;
  std::vector<int64_t> shape;
};

/// Reads the header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  /// Nothing where the text is no such dictionary or a part of it is unknown; `problem` says which.
  std::optional<NpyHeader> parse() {
    NpyHeader header;
    if (!take('{'))
      return fail("its header is no dictionary");
    while (!take('}')) {
      std::optional<std::string> key = string();
      if (!key || !take(':') || !field(*key, header))
        return fail("its header is malformed");
      take(',');
    }
    if (!seenShape || header.type == ElementType::Undefined)
      return fail("its header lacks the shape or a type that Joule knows");
    return header;
  }

  std::string problem;

private:
  std::nullopt_t fail(const char *what) {
    if (problem.empty())
      problem = what;
    return std::nullopt;
  }

  void skipSpace() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
  }

  bool take(char c) {
    skipSpace();
    if (text.empty() || text.front() != c)
      return false;
    text.remove_prefix(1);
    return true;
  }

  bool takeWord(std::string_view word) {
    skipSpace();
    if (text.substr(0, word.size()) != word)
      return false;
    text.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> string() {
    skipSpace();
    char quote = text.empty() ? 0 : text.front();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = text.find(quote, 1);
    if (end == text.npos)
      return std::nullopt;
    std::string value(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return value;
  }

  std::optional<int64_t> number() {
    skipSpace();
    size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > 18)
      return std::nullopt;
    int64_t value = std::stoll(std::string(text.substr(0, digits)));
    text.remove_prefix(digits);
    return value;
  }

  bool field(const std::string &key, NpyHeader &header) {
    if (key == "descr")
      return type(header);
    if (key == "shape")
      return shape(header);
    if (key != "fortran_order")
      return false;
    header.isFortran = takeWord("True");
    return header.isFortran || takeWord("False");
  }

  bool type(NpyHeader &header) {
    std::optional<std::string> descr = string();
    if (!descr)
      return false;
    std::string name = *descr;
    if (!name.empty() && (name[0] == '<' || name[0] == '|' || name[0] == '='))
      name.erase(0, 1);
    for (const DtypeName &dtype : dtypes)
      if (name == dtype.text)
        header.type = dtype.type;
    if (header.type == ElementType::Undefined)
      problem = fmt::format("Joule reads no elements of NumPy's type \"{}\"", *descr);
    return header.type != ElementType::Undefined;
  }

  bool shape(NpyHeader &header) {
    seenShape = take('(');
    while (seenShape && !take(')')) {
      std::optional<int64_t> size = number();
      if (!size)
        return false;
      header.shape.push_back(*size);
      take(',');
    }
    return seenShape;
  }

  std::string_view text;
  bool seenShape = false;
};

} // namespace

static Error invalid(const std::string &path, const std::string &what) {
  return {ErrorCode::TensorFileInvalid, fmt::format("cannot read a tensor from \"{}\": {}", path, what), ""};
}

/// The bytes of a tensor in Fortran's order (first index fastest) in C's order.
static std::vector<uint8_t> fromFortran(std::string_view bytes, const std::vector<int64_t> &shape,
                                        size_t width) {
  std::vector<uint8_t> result(bytes.size());
  size_t rank = shape.size();
  std::vector<int64_t> index(rank, 0);
  for (size_t to = 0; to < bytes.size(); to += width) {
    size_t from = 0;
    for (size_t dim = rank; dim-- > 0;)
      from = from * static_cast<size_t>(shape[dim]) + static_cast<size_t>(index[dim]);
    std::memcpy(&result[to], bytes.data() + from * width, width);
    for (size_t dim = rank; dim-- > 0 && ++index[dim] == shape[dim];)
      index[dim] = 0;
  }
  return result;
}

static Result<Tensor> parseNpy(std::string_view file, const std::string &path) {
  constexpr std::string_view magic("\x93NUMPY");
  if (file.size() < 12 || file.substr(0, magic.size()) != magic)
    return invalid(path, "it is no .npy file");
  auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(file[at])); };
  bool isLong = byte(6) > 1;
  size_t begin = isLong ? 12 : 10;
  size_t length = byte(8) | byte(9) << 8 | (isLong ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > file.size() - begin)
    return invalid(path, "it is truncated");
  HeaderParser parser(file.substr(begin, length));
  std::optional<NpyHeader> header = parser.parse();
  if (!header)
    return invalid(path, parser.problem);
  std::string_view bytes = file.substr(begin + length);
  int64_t wanted = bytesOf(header->type, header->shape);
  if (wanted < 0 || bytes.size() != static_cast<size_t>(wanted))
    return invalid(path, fmt::format("it holds {} bytes, and {} of {} need {}", bytes.size(),
                                     toString(header->shape), nameOf(header->type), wanted));
  Tensor tensor{header->type, header->shape, {}};
  if (header->isFortran)
    tensor.bytes = fromFortran(bytes, header->shape, bitsOf(header->type) / 8);
  else
    tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

Result<Tensor> readNpy(const std::string &path) {
  Result<std::string> bytes = readWhole(path);
  if (!bytes)
    return bytes.error();
  return parseNpy(*bytes, path);
}

Result<std::map<std::string, Tensor>> readNpz(const std::string &path) {
  Result<std::shared_ptr<const ZipReader>> zip = ZipReader::open(path);
  if (!zip && zip.error().code == ErrorCode::FileUnreadable)
    return zip.error();
  if (!zip)
    return invalid(path, "it is no .npz file, or a compressed one, which Joule does not read");
  std::map<std::string, Tensor> tensors;
  for (const auto &[entry, unchecked] : (*zip)->entries()) {
    Result<std::string_view> bytes = (*zip)->verifiedEntry(entry);
    if (!bytes)
      return invalid(path, fmt::format("the array \"{}\" is damaged", entry));
    Result<Tensor> tensor = parseNpy(*bytes, path + ":" + entry);
    if (!tensor)
      return tensor.error();
    constexpr std::string_view suffix = ".npy";
    bool hasSuffix = entry.size() > suffix.size() && entry.substr(entry.size() - suffix.size()) == suffix;
    tensors[hasSuffix ? entry.substr(0, entry.size() - suffix.size()) : entry] = std::move(*tensor);
  }
  return tensors;
}

/// The bytes of a .npy file; nothing where NumPy lacks the type.
static std::optional<std::string> printNpy(const Tensor &tensor) {
  const char *name = nullptr;
  for (const DtypeName &dtype : dtypes)
    if (dtype.type == tensor.type && !name)
      name = dtype.text;
  if (!name)
    return std::nullopt;
  std::string shape = fmt::format("{}", fmt::join(tensor.shape, ", "));
  if (tensor.shape.size() == 1)
    shape += ",";
  char order = bitsOf(tensor.type) == 8 ? '|' : '<';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, name, shape);
  // The bytes begin at a multiple of 64.
  constexpr size_t before = 10;
  header.resize((header.size() + 1 + before + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  return file;
}

Result<void> writeNpz(const std::string &path, const std::map<std::string, Tensor> &tensors) {
  Result<ZipWriter> zip = ZipWriter::begin(path);
  if (!zip)
    return zip.error();
  for (const auto &[name, tensor] : tensors) {
    std::optional<std::string> file = printNpy(tensor);
    if (!file)
      return Error{ErrorCode::TensorFileInvalid,
                   fmt::format("NumPy has no type for the {} of \"{}\"", nameOf(tensor.type), name), ""};
    if (Result<void> added = zip->addEntry(name + ".npy", *file); !added)
      return added;
  }
  return zip->finish();
}

} // namespace joule
