// Elimination on the virtual GPU gives what the reference says.
#include "test/lib/Emit/RunKernel.h"
#include "test/passes/NnToTile/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joule::test {
namespace {

using Shape = std::vector<int64_t>;

std::string triangularize(const std::string &type) {
  return "(%x: " + type + ") -> " + type + " {\n%y = nn.triangularize %x : (" + type + ") -> " + type +
         "\nreturn %y : " + type + "\n}";
}

/// Numbers of which no two in a column come so close that rounding would choose between them.
Buffer irregular(ElementType type, const Shape &shape) {
  std::vector<double> values(reference::countOf(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(1.0 + static_cast<double>(i * i % 1009));
  return reference::makeFloats(type, shape, values);
}

TEST(Triangularize, sizes) {
  for (Shape shape : {Shape{1, 1},
                      {2, 2},
                      {3, 3},
                      {16, 16},
                      {17, 17},
                      {40, 40},
                      {5, 4, 4},
                      {2, 3, 7, 7},
                      {0, 3, 3},
                      {2, 0, 0}}) {
    EXPECT_EQ(compare(triangularize(tensorType(shape, "f32")), {irregular(ElementType::Float32, shape)}, 1e-3,
                      1e-4),
              "");
    EXPECT_EQ(compare(triangularize(tensorType(shape, "f64")), {irregular(ElementType::Float64, shape)},
                      1e-10, 1e-12),
              "");
  }
}

TEST(Triangularize, dynamicSizes) {
  std::string function = R"((%x: tensor<?x?x?xf64> {nn.dims = ["b", "n", "n"]}) -> tensor<?x?x?xf64> {
    %b = nn.symbol "b"
    %n = nn.symbol "n"
    %y = nn.triangularize %x : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
    return %y : tensor<?x?x?xf64>
  })";
  for (Shape shape : {Shape{1, 1, 1}, {3, 2, 2}, {2, 20, 20}, {3, 0, 0}, {0, 3, 3}})
    EXPECT_EQ(compare(function, {irregular(ElementType::Float64, shape)}, 1e-10, 1e-12), "");
}

TEST(Triangularize, columnsWithoutPivotsTiesAndSpecialNumbers) {
  auto run = [](const std::vector<double> &values) {
    return compare(triangularize("tensor<3x3xf32>"),
                   {reference::makeFloats(ElementType::Float32, {3, 3}, values)}, 1e-6, 1e-6);
  };
  EXPECT_EQ(run({0, 1, 2, 0, 4, 5, 0, 7, 8}), "");
  EXPECT_EQ(run({0, 0, 0, 0, 0, 0, 0, 0, 0}), "");
  EXPECT_EQ(run({1, 2, 3, -1, 4, 4, 1, 2, 5}), "");
  EXPECT_EQ(run({1, 0, 0, 7, 1, 0, NAN, 0, 1}), "");
  EXPECT_EQ(run({1, 2, 3, INFINITY, 1, 4, 5, 6, 7}), "");
}

/// What stands before it is computed as it is copied.
TEST(Triangularize, surroundings) {
  EXPECT_EQ(compare(R"((%x: tensor<6x4x6xf16>) -> tensor<4x6x6xf32> {
      %t = nn.transpose %x permutation = [1, 0, 2] : (tensor<6x4x6xf16>) -> tensor<4x6x6xf16>
      %c = nn.cast %t : (tensor<4x6x6xf16>) -> tensor<4x6x6xf32>
      %y = nn.triangularize %c : (tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
      return %y : tensor<4x6x6xf32>
    })",
                    {irregular(ElementType::Float16, {6, 4, 6})}, 1e-3, 1e-4),
            "");
}

} // namespace
} // namespace joule::test
