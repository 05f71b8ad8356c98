// Tensor files: what is written is read again, what is malformed is refused; comparing.
#include "lib/TensorFile/TensorFile.h"
#include "lib/TensorFile/Compare.h"
#include "lib/TensorFile/DataSet.h"
#include "lib/TensorFile/Elements.h"

#include "onnx/onnx-ml.pb.h"
#include "test/lib/TemporaryFolder.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>

using namespace joule;
using test::TemporaryFolder;

namespace {

Tensor floats(std::vector<int64_t> shape, std::vector<double> values) {
  return toTensor(reference::makeFloats(ElementType::Float32, shape, values));
}

/// The bytes of a version 1 .npy file.
std::string npy(const std::string &header, const std::string &bytes) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + bytes;
}

Result<Tensor> readText(const std::string &file) {
  TemporaryFolder folder;
  test::writeFile(folder / "x.npy", file);
  return readNpy(folder / "x.npy");
}

std::string bytesOfShorts(std::vector<int16_t> values) {
  return std::string(reinterpret_cast<const char *>(values.data()), 2 * values.size());
}

TEST(Numpy, ReadsWhatItWrites) {
  TemporaryFolder folder;
  std::map<std::string, Tensor> tensors;
  for (ElementType type :
       {ElementType::Float32, ElementType::Float64, ElementType::Float16, ElementType::BFloat16})
    tensors[nameOf(type)] = toTensor(reference::makeFloats(type, {2, 3}, {0, 1, -2, 0.5, 4, -8}));
  for (ElementType type : {ElementType::Int8, ElementType::UInt16, ElementType::Int32, ElementType::Int64,
                           ElementType::UInt64, ElementType::Bool})
    tensors[nameOf(type)] = toTensor(reference::makeIntegers(type, {3}, {0, 1, 1}));
  tensors["scalar"] = floats({}, {7});
  tensors["none"] = floats({0, 4}, {});
  ASSERT_TRUE(writeNpz(folder / "x.npz", tensors));
  auto read = readNpz(folder / "x.npz");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), tensors.size());
  for (const auto &[name, tensor] : tensors) {
    EXPECT_EQ(read->at(name).type, tensor.type) << name;
    EXPECT_EQ(read->at(name).shape, tensor.shape) << name;
    EXPECT_EQ(read->at(name).bytes, tensor.bytes) << name;
  }
}

TEST(Numpy, TurnsFortransOrder) {
  // NumPy stores [[1, 2, 3], [4, 5, 6]] by columns here.
  auto tensor = readText(
      npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", bytesOfShorts({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(elementsOf(*tensor), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Numpy, RefusesWhatIsMalformed) {
  const std::string good = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n",
                    two = bytesOfShorts({1, 2});
  ASSERT_TRUE(readText(npy(good, two)));
  for (const std::string &file :
       {std::string(), std::string("\x93NUMPY"), npy(good, two.substr(1)), npy(good, two + "x"), npy("", two),
        npy("{", two), npy("{'descr': '<i2'}", two), npy("{'descr': 7, 'shape': (2,)}", two),
        npy("{'descr': '<U4', 'shape': (2,)}", two), npy("{'descr': '>i2', 'shape': (2,)}", two),
        npy("{'descr': '<i2', 'shape': (99999999999999999999,)}", two),
        npy("{'descr': '<i2', 'shape': (2", two),
        npy("{'descr': '<i2', 'shape': (4294967296, 4294967296)}", two), npy(good, two).substr(0, 20)}) {
    auto tensor = readText(file);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error().code, ErrorCode::TensorFileInvalid);
  }
}

TEST(Numpy, NamesTheTypeThatItDoesNotRead) {
  auto tensor =
      readText(npy("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }\n", std::string(16, 'x')));
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message.find("\"<U4\""), std::string::npos) << tensor.error().message;
}

TEST(Numpy, RefusesTypesThatNumpyLacks) {
  TemporaryFolder folder;
  auto written =
      writeNpz(folder / "x.npz", {{"x", toTensor(reference::makeIntegers(ElementType::Int4, {2}, {1, 2}))}});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::TensorFileInvalid);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Numpy, SaysThatAFileIsMissing) {
  EXPECT_EQ(readNpy("/nonexistent.npy").error().code, ErrorCode::FileUnreadable);
  EXPECT_EQ(readNpz("/nonexistent.npz").error().code, ErrorCode::FileUnreadable);
  EXPECT_EQ(readTensorProto("/nonexistent.pb").error().code, ErrorCode::FileUnreadable);
}

Result<NamedTensor> readProto(const onnx::TensorProto &proto) {
  TemporaryFolder folder;
  test::writeFile(folder / "x.pb", proto.SerializeAsString());
  return readTensorProto(folder / "x.pb");
}

TEST(TensorProto, ReadsRawBytesAndLists) {
  onnx::TensorProto proto;
  proto.set_name("x");
  proto.set_data_type(onnx::TensorProto::INT16);
  proto.add_dims(2);
  proto.add_int32_data(-3);
  proto.add_int32_data(4);
  auto listed = readProto(proto);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(listed->name, "x");
  EXPECT_EQ(elementsOf(listed->tensor), (std::vector<double>{-3, 4}));
  proto.clear_int32_data();
  proto.set_raw_data(bytesOfShorts({-3, 4}));
  auto raw = readProto(proto);
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->tensor.bytes, listed->tensor.bytes);
}

TEST(TensorProto, ReadsPackedIntegers) {
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::INT4);
  proto.add_dims(3);
  proto.add_int32_data(0xf1); // 1, -1
  proto.add_int32_data(0x07);
  auto tensor = readProto(proto);
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(elementsOf(tensor->tensor), (std::vector<double>{1, -1, 7}));
}

TEST(TensorProto, RefusesWhatItCannotHold) {
  onnx::TensorProto strings;
  strings.set_data_type(onnx::TensorProto::STRING);
  onnx::TensorProto tooShort;
  tooShort.set_data_type(onnx::TensorProto::FLOAT);
  tooShort.add_dims(2);
  tooShort.add_float_data(1);
  onnx::TensorProto elsewhere = tooShort;
  elsewhere.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::TensorProto negative = tooShort;
  negative.set_dims(0, -1);
  for (const onnx::TensorProto &proto : {strings, tooShort, elsewhere, negative})
    EXPECT_EQ(readProto(proto).error().code, ErrorCode::TensorFileInvalid);
}

TEST(DataSet, FindsFoldersAndFiles) {
  TemporaryFolder folder;
  onnx::TensorProto one;
  one.set_data_type(onnx::TensorProto::FLOAT);
  one.add_float_data(1);
  EXPECT_EQ(findDataSets(folder / ".").error().code, ErrorCode::FileUnreadable);
  for (const char *set : {"test_data_set_0", "test_data_set_1"}) {
    std::filesystem::create_directory(folder / set);
    for (const char *file : {"/input_0.pb", "/input_1.pb", "/output_0.pb"})
      test::writeFile((folder / set) + file, one.SerializeAsString());
  }
  auto sets = findDataSets(folder / ".");
  ASSERT_TRUE(sets);
  ASSERT_EQ(sets->size(), 2u);
  auto set = readDataSet(sets->at(1));
  ASSERT_TRUE(set);
  EXPECT_EQ(set->inputs.size(), 2u);
  EXPECT_EQ(set->outputs.size(), 1u);
  EXPECT_EQ(findDataSets(sets->at(0))->size(), 1u);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Compare, HoldsToTheTolerance) {
  Tensor wanted = floats({3}, {1, 0, -4});
  EXPECT_FALSE(explainDifference(floats({3}, {1.0009, 0, -4}), wanted, {1e-3, 0}));
  EXPECT_TRUE(explainDifference(floats({3}, {1.002, 0, -4}), wanted, {1e-3, 0}));
  EXPECT_FALSE(explainDifference(floats({3}, {1, 0.25, -4}), wanted, {0, 0.25}));
  Difference apart = compare(floats({3}, {1, 0, -3}), wanted, {0, 0});
  EXPECT_EQ(apart.unequal, 1);
  EXPECT_EQ(apart.worst, 2);
  EXPECT_EQ(apart.absolute, 1);
  EXPECT_EQ(apart.relative, 0.25);
}

TEST(Compare, TakesNaNAndInfinityAsEqualToThemselvesAlone) {
  Tensor special = floats({3}, {NAN, infinity, -infinity});
  EXPECT_FALSE(explainDifference(special, floats({3}, {NAN, infinity, -infinity}), {}));
  for (Tensor other : {floats({3}, {1, infinity, -infinity}), floats({3}, {NAN, -infinity, -infinity}),
                       floats({3}, {NAN, infinity, 1e30})}) {
    EXPECT_EQ(compare(other, special, {}).unequal, 1);
    EXPECT_EQ(compare(special, other, {}).unequal, 1);
  }
}

TEST(Compare, TypesAndShapesAreExact) {
  EXPECT_EQ(*explainDifference(floats({2}, {1, 2}), floats({1, 2}, {1, 2}), {}),
            "the shape is [2] instead of [1, 2]");
  Tensor integers = toTensor(reference::makeIntegers(ElementType::Int32, {2}, {1, 2}));
  EXPECT_EQ(*explainDifference(integers, floats({2}, {1, 2}), {}), "the type is int32 instead of float32");
}

} // namespace
