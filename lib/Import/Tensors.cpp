// TensorProto → a constant of the onnx level.
#include "lib/Import/Tensors.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "dialects/Onnx/ElementTypes.h"
#include "lib/Import/WireWalk.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using ::onnx::TensorProto;

namespace {

constexpr uint64_t maxInlineBytes = 1024;
// A sparse tensor is stored densely: what a file of a few bytes may ask for has an end.
constexpr int64_t maxSparseElements = int64_t(1) << 28;

/// The elements of a shape, unless a dimension is negative or the sizes, even those beside a zero, are too large for
/// bytes to be counted.
std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1, bound = 64;
  for (int64_t size : shape) {
    if (size < 0 || llvm::MulOverflow(bound, std::max<int64_t>(size, 1), bound))
      return std::nullopt;
    count *= size;
  }
  return count;
}

/// One attempt to read a tensor; its methods report what is wrong with it.
class Reader {
public:
  Reader(const TensorProto &tensor, const joule::ModelBytes &model, Location loc)
      : tensor(tensor), model(model), loc(loc) {}

  FailureOr<joule::TensorConstant> read(bool dense);

private:
  InFlightDiagnostic error() { return emitError(loc) << "tensor '" << tensor.name() << "' "; }

  LogicalResult readType();
  FailureOr<joule::TensorConstant> readStrings();
  FailureOr<joule::TensorConstant> fromSpan(StringRef file, StringRef bytes, uint64_t offset, uint64_t length,
                                            bool dense);
  FailureOr<joule::TensorConstant> fromExternal(bool dense);
  FailureOr<std::string> findExternal(StringRef location);
  FailureOr<joule::TensorConstant> fromTypedFields();
  template <typename T, typename Field> FailureOr<joule::TensorConstant> fromField(const Field &field);
  FailureOr<joule::TensorConstant> elements(StringRef bytes);
  LogicalResult checkLength(uint64_t length);

  const TensorProto &tensor;
  const joule::ModelBytes &model;
  Location loc;
  RankedTensorType type;
  int64_t count = 0;
  uint64_t wantedBytes = 0;
};

LogicalResult Reader::readType() {
  Type element = joule::elementTypeOf(loc.getContext(), tensor.data_type());
  if (!element)
    return error() << "has element type " << tensor.data_type() << ", which ONNX does not define";
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> elements = countElements(shape);
  unsigned bits = joule::storageBits(tensor.data_type());
  int64_t totalBits = 0;
  if (!elements || llvm::MulOverflow<int64_t>(*elements, bits, totalBits))
    return error() << "has a shape that no tensor can have";
  count = *elements;
  wantedBytes = totalBits / 8 + (totalBits % 8 != 0);
  type = RankedTensorType::get(shape, element);
  return success();
}

FailureOr<joule::TensorConstant> Reader::read(bool dense) {
  if (failed(readType()))
    return failure();
  if (tensor.has_segment())
    return error() << "is split into segments, which is not supported";
  if (tensor.data_type() == TensorProto::STRING)
    return readStrings();
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return fromExternal(dense);
  if (!tensor.has_raw_data())
    return fromTypedFields();
  joule::RawSpan span = joule::decodeRawSpan(tensor.raw_data());
  return fromSpan(model.file, model.bytes, span.offset, span.length, dense);
}

FailureOr<joule::TensorConstant> Reader::readStrings() {
  if (tensor.string_data_size() != count)
    return error() << "holds " << tensor.string_data_size() << " strings where its shape asks for " << count;
  SmallVector<StringRef> strings(tensor.string_data().begin(), tensor.string_data().end());
  return joule::TensorConstant{DenseStringElementsAttr::get(type, strings), type};
}

LogicalResult Reader::checkLength(uint64_t length) {
  if (length == wantedBytes)
    return success();
  return error() << "holds " << length << " bytes where its type " << type << " asks for " << wantedBytes;
}

FailureOr<joule::TensorConstant> Reader::fromSpan(StringRef file, StringRef bytes, uint64_t offset, uint64_t length,
                                                  bool dense) {
  if (failed(checkLength(length)))
    return failure();
  if (offset > bytes.size() || length > bytes.size() - offset)
    return error() << "lies outside of " << file;
  if (dense || length < maxInlineBytes)
    return elements(bytes.substr(offset, length));
  return joule::TensorConstant{joule::onnx::WeightAttr::get(loc.getContext(), file, offset, length), type};
}

/// External data may stand in the model's folder and below, nowhere else: a model that one downloads must not read
/// its user's files. Links are followed before that is decided.
FailureOr<std::string> Reader::findExternal(StringRef location) {
  if (location.empty() || llvm::sys::path::is_absolute(location) || location.contains('\0'))
    return error() << "has its data at '" << location << "', which is no path relative to the model";
  SmallString<256> path(model.folder), realFolder, realPath;
  llvm::sys::path::append(path, location);
  StringRef folder = model.folder.empty() ? "." : model.folder;
  if (llvm::sys::fs::real_path(folder, realFolder) || llvm::sys::fs::real_path(path, realPath))
    return error() << "has its data in " << path << ", which cannot be opened";
  if (realFolder.back() != '/')
    realFolder += '/';
  if (!StringRef(realPath).starts_with(realFolder))
    return error() << "has its data at '" << location << "', outside of the model's folder";
  if (!llvm::sys::fs::is_regular_file(realPath))
    return error() << "has its data in " << path << ", which is no regular file";
  return std::string(path);
}

FailureOr<joule::TensorConstant> Reader::fromExternal(bool dense) {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> statedLength;
  for (const ::onnx::StringStringEntryProto &entry : tensor.external_data()) {
    uint64_t number = 0;
    bool isNumber = entry.key() == "offset" || entry.key() == "length";
    if (isNumber && StringRef(entry.value()).getAsInteger(10, number))
      return error() << "has an external " << entry.key() << " of '" << entry.value() << "', which is no number";
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = number;
    else if (entry.key() == "length")
      statedLength = number;
  }
  FailureOr<std::string> path = findExternal(location);
  if (failed(path))
    return failure();
  uint64_t fileSize = 0, length = statedLength.value_or(wantedBytes);
  if (llvm::sys::fs::file_size(*path, fileSize))
    return error() << "has its data in " << *path << ", which cannot be read";
  if (failed(checkLength(length)))
    return failure();
  if (offset > fileSize || length > fileSize - offset)
    return error() << "has its data at bytes " << offset << " to " << offset + length << " of " << *path
                   << ", which has " << fileSize;
  if (!dense && length >= maxInlineBytes)
    return joule::TensorConstant{joule::onnx::WeightAttr::get(loc.getContext(), *path, offset, length), type};
  auto file = llvm::MemoryBuffer::getFileSlice(*path, length, offset);
  if (!file)
    return error() << "has its data in " << *path << ", which cannot be read";
  return elements((*file)->getBuffer());
}

template <typename T, typename Field> FailureOr<joule::TensorConstant> Reader::fromField(const Field &field) {
  std::string bytes;
  bytes.reserve(field.size() * sizeof(T));
  for (auto value : field) {
    T narrow = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char *>(&narrow), sizeof narrow);
  }
  return elements(bytes);
}

FailureOr<joule::TensorConstant> Reader::fromTypedFields() {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return fromField<float>(tensor.float_data());
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return fromField<double>(tensor.double_data());
  case TensorProto::INT64:
    return fromField<int64_t>(tensor.int64_data());
  case TensorProto::UINT64:
    return fromField<uint64_t>(tensor.uint64_data());
  case TensorProto::UINT32:
    return fromField<uint32_t>(tensor.uint64_data());
  case TensorProto::INT32:
    return fromField<int32_t>(tensor.int32_data());
  default:
    break;
  }
  // Narrower types stand in int32_data, one value per entry; those below a byte, one packed byte per entry.
  return joule::storageBits(tensor.data_type()) == 16 ? fromField<uint16_t>(tensor.int32_data())
                                               : fromField<uint8_t>(tensor.int32_data());
}

/// Packed elements of `bits` each, least significant first, one per byte.
std::string unpack(StringRef packed, unsigned bits, int64_t count, bool isSigned) {
  std::string bytes(count, '\0');
  unsigned perByte = 8 / bits;
  for (int64_t i = 0; i < count; ++i) {
    uint8_t value = (uint8_t(packed[i / perByte]) >> (i % perByte * bits)) & ((1u << bits) - 1);
    if (isSigned && (value >> (bits - 1)))
      value |= uint8_t(0xff << bits);
    bytes[i] = char(value);
  }
  return bytes;
}

FailureOr<joule::TensorConstant> Reader::elements(StringRef bytes) {
  if (failed(checkLength(bytes.size())))
    return failure();
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return joule::TensorConstant{DenseElementsAttr::get(type, values), type};
  }
  // Elements of the small types that MLIR lacks stand as integers of their bits.
  RankedTensorType storage = type;
  unsigned bits = joule::storageBits(tensor.data_type());
  if (isa<joule::nn::F4E2M1Type, joule::nn::F8E8M0Type>(type.getElementType()))
    storage = type.clone(IntegerType::get(loc.getContext(), bits));
  if (count == 0)
    return joule::TensorConstant{DenseElementsAttr::get(storage, ArrayRef<Attribute>()), type};
  if (bits < 8) {
    std::string unpacked = unpack(bytes, bits, count, storage.getElementType().isSignlessInteger());
    return joule::TensorConstant{DenseElementsAttr::getFromRawBuffer(storage, ArrayRef<char>(unpacked.data(), unpacked.size())), type};
  }
  ArrayRef<char> raw(bytes.data(), bytes.size());
  return joule::TensorConstant{DenseElementsAttr::getFromRawBuffer(storage, raw), type};
}

} // namespace

FailureOr<joule::TensorConstant> joule::readTensor(const TensorProto &tensor, const ModelBytes &model, Location loc,
                                                   bool dense) {
  return Reader(tensor, model, loc).read(dense);
}

FailureOr<joule::TensorConstant> joule::readLoneTensor(const TensorProto &tensor, Location loc) {
  // Its bytes are its own raw data, of which a span says so.
  TensorProto spanned = tensor;
  RawSpan span = {0, tensor.raw_data().size()};
  if (tensor.has_raw_data())
    spanned.set_raw_data(&span, sizeof span);
  return readTensor(spanned, {tensor.raw_data(), "", ""}, loc, /*dense=*/true);
}

FailureOr<joule::TensorConstant> joule::readSparseTensor(const ::onnx::SparseTensorProto &tensor,
                                                         const ModelBytes &model, Location loc) {
  auto error = [&] { return emitError(loc) << "sparse tensor '" << tensor.values().name() << "' "; };
  FailureOr<TensorConstant> values = readTensor(tensor.values(), model, loc, /*dense=*/true);
  FailureOr<TensorConstant> indices = readTensor(tensor.indices(), model, loc, /*dense=*/true);
  if (failed(values) || failed(indices))
    return failure();
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count > maxSparseElements)
    return error() << "has a shape of more than " << maxSparseElements << " elements";
  int64_t given = values->type.getNumElements(), rank = shape.size();
  auto coordinates = dyn_cast<DenseIntElementsAttr>(indices->value);
  auto elements = dyn_cast<DenseElementsAttr>(values->value);
  bool linear = indices->type.getRank() == 1;
  if (!coordinates || !indices->type.getElementType().isInteger(64) || !elements || values->type.getRank() != 1 ||
      indices->type.getNumElements() != given * (linear ? 1 : rank))
    return error() << "has " << given << " values but indices of type " << indices->type;

  auto type = RankedTensorType::get(shape, values->type.getElementType());
  Type storage = elements.getElementType();
  Builder builder(loc.getContext());
  Attribute zero = isa<ComplexType>(storage) ? Attribute() : builder.getZeroAttr(storage);
  if (!zero)
    return error() << "has elements of type " << storage << ", which is not supported";
  SmallVector<Attribute> dense(*count, zero);
  auto coordinate = coordinates.value_begin<int64_t>();
  for (Attribute value : elements.getValues<Attribute>()) {
    int64_t position = 0;
    for (int64_t dim = 0; dim < (linear ? 1 : rank); ++dim, ++coordinate) {
      int64_t size = linear ? *count : shape[dim];
      if (*coordinate < 0 || *coordinate >= size)
        return error() << "has index " << *coordinate << " along a dimension of " << size;
      position = position * size + *coordinate;
    }
    dense[position] = value;
  }
  return TensorConstant{DenseElementsAttr::get(type.clone(storage), dense), type};
}
