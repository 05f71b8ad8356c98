// Reductions, softmax and normalisation on the virtual GPU give what the reference says.
#include "test/lib/Emit/RunKernel.h"
#include "test/passes/NnToTile/Numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace joule::test {
namespace {

using Shape = std::vector<int64_t>;

std::string list(const Shape &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

Shape without(const Shape &shape, const Shape &axes) {
  Shape rest;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (std::find(axes.begin(), axes.end(), dim) == axes.end())
      rest.push_back(shape[dim]);
  return rest;
}

std::string unary(const std::string &op, const Shape &shape, const Shape &result, const std::string &type,
                  const std::string &resultType) {
  std::string x = tensorType(shape, type), y = tensorType(result, resultType);
  return "(%x: " + x + ") -> " + y + " {\n%y = " + op + " : (" + x + ") -> " + y + "\nreturn %y : " + y +
         "\n}";
}

std::string reduce(const std::string &combiner, const Shape &shape, const Shape &axes,
                   const std::string &type) {
  return unary("nn.reduce " + combiner + " %x axes = " + list(axes), shape, without(shape, axes), type, type);
}

struct Case {
  Shape shape, axes;
};

/// Rows along memory of all lengths, across it, of several axes, none at all.
const Case cases[] = {
    {{7, 5}, {1}},         {{1, 1}, {1}},         {{33, 64}, {1}},        {{3, 1000}, {1}},
    {{2000, 50}, {1}},     {{2, 5000}, {1}},      {{1, 40000}, {1}},      {{5, 768}, {1}},
    {{40, 33}, {0}},       {{300, 7}, {0}},       {{6, 20, 35}, {1}},     {{6, 20, 35}, {0, 2}},
    {{6, 20, 35}, {1, 2}}, {{6, 20, 35}, {0, 1}}, {{4, 6, 7, 7}, {2, 3}}, {{12, 9}, {0, 1}},
    {{5, 0}, {1}},         {{0, 5}, {1}},         {{5, 6}, {}},           {{2, 3, 1, 8}, {2}}};

TEST(Row, sums) {
  for (const Case &c : cases)
    EXPECT_EQ(compare(reduce("sum", c.shape, c.axes, "f32"), {wholeNumbers("f32", c.shape, 1)}), "")
        << list(c.shape) << list(c.axes);
}

TEST(Row, combinersAndTypes) {
  for (const char *type : {"f32", "f16", "bf16", "f64", "i8", "i32", "i64"})
    for (const char *combiner : {"sum", "product", "max", "min"})
      for (const Case &c : {Case{{9, 40}, {1}}, {{9, 300}, {1}}, {{40, 9}, {0}}})
        EXPECT_EQ(compare(reduce(combiner, c.shape, c.axes, type), {wholeNumbers(type, c.shape, 1, -1, 2)}),
                  "")
            << combiner << type << list(c.shape);
  for (const char *combiner : {"umax", "umin"})
    for (const char *type : {"i8", "i1"})
      EXPECT_EQ(compare(reduce(combiner, {9, 300}, {1}, type), {wholeNumbers(type, {9, 300}, 1, 0, 1)}), "")
          << type;
}

TEST(Row, extremes) {
  for (const Case &c : {Case{{7, 5}, {1}},
                        {{33, 64}, {1}},
                        {{3, 1000}, {1}},
                        {{40, 33}, {0}},
                        {{6, 20, 35}, {1}},
                        {{2, 9000}, {1}}})
    for (const char *type : {"f32", "i8", "f64"})
      for (const char *combiner : {"max", "min"})
        for (const char *last : {"", " last"}) {
          std::string op =
              std::string("nn.arg_reduce ") + combiner + " %x axis = " + std::to_string(c.axes[0]) + last;
          EXPECT_EQ(compare(unary(op, c.shape, without(c.shape, c.axes), type, "i64"),
                            {wholeNumbers(type, c.shape, 1)}),
                    "")
              << op << list(c.shape);
        }
}

TEST(Row, extremesOfSpecialNumbers) {
  std::string op = unary("nn.arg_reduce max %x axis = 1", {4, 70}, {4}, "f32", "i64");
  std::vector<double> values(280, -INFINITY);
  values[70 + 40] = NAN;
  values[70 + 60] = NAN;
  values[140 + 5] = -1;
  values[210 + 69] = INFINITY;
  EXPECT_EQ(compare(op, {reference::makeFloats(ElementType::Float32, {4, 70}, values)}), "");
  EXPECT_EQ(compare(reduce("max", {4, 70}, {1}, "f32"),
                    {reference::makeFloats(ElementType::Float32, {4, 70}, values)}),
            "");
}

TEST(Row, softmax) {
  for (const Case &c : {Case{{7, 5}, {1}},
                        {{33, 64}, {1}},
                        {{3, 1000}, {1}},
                        {{2, 5000}, {1}},
                        {{5, 768}, {1}},
                        {{40, 33}, {0}},
                        {{6, 20, 35}, {1}}})
    for (const char *log : {"", " log"}) {
      std::string op = "nn.softmax %x axis = " + std::to_string(c.axes[0]) + log;
      EXPECT_EQ(
          compare(unary(op, c.shape, c.shape, "f32", "f32"), {wholeNumbers("f32", c.shape, 1)}, 1e-5, 1e-6),
          "")
          << op << list(c.shape);
      EXPECT_EQ(
          compare(unary(op, c.shape, c.shape, "f16", "f16"), {wholeNumbers("f16", c.shape, 1)}, 2e-3, 1e-5),
          "")
          << op << list(c.shape);
    }
}

TEST(Row, normalize) {
  for (const Case &c : cases) {
    if (c.axes.empty())
      continue;
    for (const char *rms : {"", " rms"}) {
      std::string op = "nn.normalize %x axes = " + list(c.axes) + " epsilon = 1.0e-5" + rms;
      EXPECT_EQ(
          compare(unary(op, c.shape, c.shape, "f32", "f32"), {wholeNumbers("f32", c.shape, 1)}, 1e-4, 1e-5),
          "")
          << op << list(c.shape);
    }
  }
}

TEST(Row, surroundings) {
  EXPECT_EQ(
      compare(
          R"((%x: tensor<20x96xf16>, %r: tensor<20x96xf32>, %g: tensor<96xf32>) -> tensor<20x96xf32> {
      %c = nn.cast %x : (tensor<20x96xf16>) -> tensor<20x96xf32>
      %s = arith.addf %c, %r : tensor<20x96xf32>
      %n = nn.normalize %s axes = [1] epsilon = 1.0e-5 : (tensor<20x96xf32>) -> tensor<20x96xf32>
      %b = nn.broadcast %g dimensions = [1] : (tensor<96xf32>) -> tensor<20x96xf32>
      %m = arith.mulf %n, %b : tensor<20x96xf32>
      return %m : tensor<20x96xf32>
    })",
          {wholeNumbers("f16", {20, 96}, 1), wholeNumbers("f32", {20, 96}, 2), wholeNumbers("f32", {96}, 3)},
          1e-4, 1e-5),
      "");
  EXPECT_EQ(compare(R"((%x: tensor<20x96xf32>) -> tensor<4x5xf32> {
      %q = arith.mulf %x, %x : tensor<20x96xf32>
      %s = nn.reduce sum %q axes = [1] : (tensor<20x96xf32>) -> tensor<20xf32>
      %n = arith.negf %s : tensor<20xf32>
      %y = nn.reshape %n : (tensor<20xf32>) -> tensor<4x5xf32>
      return %y : tensor<4x5xf32>
    })",
                    {wholeNumbers("f32", {20, 96}, 1)}),
            "");
}

TEST(Row, dynamicSizes) {
  std::string function = R"((%x: tensor<?x?xf32> {nn.dims = ["m", "n"]}) -> tensor<?xf32> {
    %m = nn.symbol "m"
    %n = nn.symbol "n"
    %y = nn.reduce sum %x axes = [AXIS] : (tensor<?x?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  })";
  for (const char *axis : {"0", "1"})
    for (Shape shape : {Shape{1, 1}, {33, 70}, {3, 4000}, {0, 3}, {3, 0}}) {
      std::string text = function;
      text.replace(text.find("AXIS"), 4, axis);
      EXPECT_EQ(compare(text, {wholeNumbers("f32", shape, 1)}), "") << axis << list(shape);
    }
}

} // namespace
} // namespace joule::test
