// Sizes of tensors.
#include "joule/Tensor.h"

#include <gtest/gtest.h>

using namespace joule;

TEST(Tensor, CountsBytes) {
  EXPECT_EQ(bytesOf(ElementType::Float32, {2, 3}), 24);
  EXPECT_EQ(bytesOf(ElementType::Float32, {}), 4);
  EXPECT_EQ(bytesOf(ElementType::Bool, {5}), 5);
  EXPECT_EQ(bytesOf(ElementType::Int4, {3}), 2);
  EXPECT_EQ(bytesOf(ElementType::Int2, {5}), 2);
  EXPECT_EQ(bytesOf(ElementType::Float64, {INT64_MAX, 0}), 0);
}

TEST(Tensor, RefusesSizesThatCannotBe) {
  EXPECT_EQ(bytesOf(ElementType::Float32, {-1}), -1);
  EXPECT_EQ(bytesOf(ElementType::Float32, {0, -1}), -1);
  EXPECT_EQ(bytesOf(ElementType::Float32, {INT64_MAX, 2}), -1);
  EXPECT_EQ(bytesOf(ElementType::String, {2}), -1);
  EXPECT_EQ(bytesOf(static_cast<ElementType>(99), {2}), -1);
}

TEST(Tensor, NamesTypesInOnnxOrder) {
  EXPECT_STREQ(nameOf(ElementType::Float32), "float32");
  EXPECT_STREQ(nameOf(ElementType::BFloat16), "bfloat16");
  EXPECT_STREQ(nameOf(ElementType::Float8E4M3FN), "float8e4m3fn");
  EXPECT_STREQ(nameOf(ElementType::Int2), "int2");
}

TEST(Tensor, PrintsShapes) {
  EXPECT_EQ(toString(std::vector<int64_t>{2, 3}), "[2, 3]");
  EXPECT_EQ(toString(std::vector<int64_t>{}), "[]");
  EXPECT_EQ(toString(std::vector<Dimension>{{-1, "batch"}, {4, ""}, {-1, ""}}), "[batch, 4, ?]");
}
