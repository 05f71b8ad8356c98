// Matrix products on the virtual GPU give what the reference says. All inputs are small whole numbers, so
// that results are exact whatever the order of summation.
#include "test/lib/Emit/RunKernel.h"
#include "test/passes/NnToTile/Numbers.h"

#include <gtest/gtest.h>

namespace joule::test {
namespace {

using Shape = std::vector<int64_t>;

std::string schedule(int64_t threads, const std::string &block, const std::string &thread) {
  return "#tile.schedule<family = \"contract\", threads = " + std::to_string(threads) + ", block = [" +
         block + "], thread = [" + thread + "]>";
}

/// One schedule of each sort: large and small tiles, slices, more threads than elements to load.
std::vector<std::string> schedules() {
  return {schedule(64, "64, 64, 16", "8, 8"),  schedule(256, "64, 64, 32", "8, 8"),
          schedule(64, "32, 32, 16", "4, 4"),  schedule(128, "16, 16, 64", "4, 4"),
          schedule(256, "16, 16, 16", "1, 1"), schedule(32, "16, 32, 8", "4, 4"),
          schedule(64, "8, 64, 16", "4, 8"),   schedule(256, "128, 128, 8", "8, 8")};
}

struct Matrices {
  int64_t rows, columns, depth;
  std::string type = "f32";
  bool leftTurned = false, rightTurned = false;
};

std::string multiply(const Matrices &m) {
  Shape left = m.leftTurned ? Shape{m.depth, m.rows} : Shape{m.rows, m.depth};
  Shape right = m.rightTurned ? Shape{m.columns, m.depth} : Shape{m.depth, m.columns};
  std::string l = tensorType(left, m.type), r = tensorType(right, m.type),
              o = tensorType({m.rows, m.columns}, m.type);
  return "(%x: " + l + ", %w: " + r + ") -> " + o +
         " {\n%y = nn.contract %x, %w lhs = " + (m.leftTurned ? "[2, 0]" : "[0, 2]") +
         " rhs = " + (m.rightTurned ? "[1, 2]" : "[2, 1]") + " out = [0, 1] : (" + l + ", " + r + ") -> " +
         o + "\nreturn %y : " + o + "\n}";
}

std::vector<Buffer> operands(const Matrices &m) {
  Shape left = m.leftTurned ? Shape{m.depth, m.rows} : Shape{m.rows, m.depth};
  Shape right = m.rightTurned ? Shape{m.columns, m.depth} : Shape{m.depth, m.columns};
  return {wholeNumbers(m.type, left, 1), wholeNumbers(m.type, right, 2)};
}

TEST(Contract, everyScheduleEverySide) {
  for (const std::string &schedule : schedules())
    for (int turned = 0; turned < 4; ++turned) {
      Matrices m{65, 72, 44, "f32", (turned & 1) != 0, (turned & 2) != 0};
      EXPECT_EQ(compare(multiply(m), operands(m), 0, 0, schedule), "") << schedule << " turned " << turned;
    }
}

TEST(Contract, sizes) {
  for (Matrices m : {Matrices{1, 1, 1},
                     {1, 1, 257},
                     {1, 100, 64},
                     {100, 1, 64},
                     {2, 3, 5},
                     {17, 31, 13},
                     {64, 64, 64},
                     {128, 256, 32},
                     {33, 129, 0},
                     {0, 5, 3},
                     {5, 0, 3},
                     {127, 61, 97},
                     {4, 300, 1000},
                     {300, 4, 1000}})
    EXPECT_EQ(compare(multiply(m), operands(m)), "") << m.rows << "x" << m.columns << "x" << m.depth;
}

/// Few rows or columns: lines along and across memory, shared by one thread to a block.
TEST(Contract, fewLines) {
  for (const char *division :
       {"32, 1], thread = [1, 4]", "32, 8], thread = [1, 2]", "8, 32], thread = [4, 1]",
        "1, 256], thread = [1, 1]", "4, 16], thread = [2, 3]"}) {
    std::string block = division;
    int64_t threads = std::stoll(block) * std::stoll(block.substr(block.find(',') + 1));
    std::string dot =
        "#tile.schedule<family = \"dot\", threads = " + std::to_string(threads) + ", block = [" + block + ">";
    for (int turned = 0; turned < 4; ++turned)
      for (Matrices m : {Matrices{1, 70, 100}, {3, 33, 7}, {70, 2, 64}, {5, 5, 300}}) {
        m.leftTurned = turned & 1;
        m.rightTurned = turned & 2;
        EXPECT_EQ(compare(multiply(m), operands(m), 0, 0, dot), "")
            << dot << m.rows << "x" << m.columns << "x" << m.depth;
      }
  }
}

TEST(Contract, types) {
  for (const char *type : {"f16", "bf16", "f64", "i8", "i32", "i64"})
    for (bool turned : {false, true}) {
      Matrices m{37, 50, 24, type, false, turned};
      EXPECT_EQ(compare(multiply(m), operands(m)), "") << type;
    }
}

TEST(Contract, dynamicSizes) {
  std::string function =
      R"((%x: tensor<?x?xf32> {nn.dims = ["m", "k"]}, %w: tensor<?x?xf32> {nn.dims = ["k", "n"]})
    -> tensor<?x?xf32> {
    %m = nn.symbol "m"
    %n = nn.symbol "n"
    %k = nn.symbol "k"
    %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
        : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";
  for (Shape sizes : {Shape{1, 1, 1}, {70, 9, 33}, {64, 64, 64}, {5, 130, 2}, {3, 0, 2}, {3, 2, 0}})
    EXPECT_EQ(compare(function, {wholeNumbers("f32", {sizes[0], sizes[2]}, 1),
                                 wholeNumbers("f32", {sizes[2], sizes[1]}, 2)}),
              "")
        << sizes[0] << "x" << sizes[1] << "x" << sizes[2];
}

/// Batches, labels in any order, several labels of a sort, operands seen through other ops, an epilogue.
TEST(Contract, labels) {
  EXPECT_EQ(compare(R"((%x: tensor<3x20x24xf32>, %w: tensor<3x24x36xf32>) -> tensor<3x20x36xf32> {
      %y = nn.contract %x, %w lhs = [0, 1, 3] rhs = [0, 3, 2] out = [0, 1, 2]
          : (tensor<3x20x24xf32>, tensor<3x24x36xf32>) -> tensor<3x20x36xf32>
      return %y : tensor<3x20x36xf32>
    })",
                    {wholeNumbers("f32", {3, 20, 24}, 1), wholeNumbers("f32", {3, 24, 36}, 2)}),
            "");
  // Heads: the batch stands between rows and columns of the result.
  EXPECT_EQ(compare(R"((%x: tensor<2x20x4x8xf32>, %w: tensor<2x18x4x8xf32>) -> tensor<2x20x4x18xf32> {
      %y = nn.contract %x, %w lhs = [0, 1, 2, 4] rhs = [0, 3, 2, 4] out = [0, 1, 2, 3]
          : (tensor<2x20x4x8xf32>, tensor<2x18x4x8xf32>) -> tensor<2x20x4x18xf32>
      return %y : tensor<2x20x4x18xf32>
    })",
                    {wholeNumbers("f32", {2, 20, 4, 8}, 1), wholeNumbers("f32", {2, 18, 4, 8}, 2)}),
            "");
  // Two depths, one of them of one operand alone; columns from the first operand.
  EXPECT_EQ(compare(R"((%x: tensor<5x7x20xf32>, %w: tensor<18x7x5x3xf32>) -> tensor<18x20xf32> {
      %y = nn.contract %x, %w lhs = [2, 3, 1] rhs = [0, 3, 2, 4] out = [0, 1]
          : (tensor<5x7x20xf32>, tensor<18x7x5x3xf32>) -> tensor<18x20xf32>
      return %y : tensor<18x20xf32>
    })",
                    {wholeNumbers("f32", {5, 7, 20}, 1), wholeNumbers("f32", {18, 7, 5, 3}, 2)}),
            "");
  // Rows and columns of several labels, mixed in the result; the same tensor twice.
  EXPECT_EQ(compare(R"((%x: tensor<5x6x9xf32>) -> tensor<5x5x6x6xf32> {
      %y = nn.contract %x, %x lhs = [0, 2, 4] rhs = [1, 3, 4] out = [0, 1, 2, 3]
          : (tensor<5x6x9xf32>, tensor<5x6x9xf32>) -> tensor<5x5x6x6xf32>
      return %y : tensor<5x5x6x6xf32>
    })",
                    {wholeNumbers("f32", {5, 6, 9}, 1)}),
            "");
}

TEST(Contract, surroundings) {
  EXPECT_EQ(
      compare(R"((%x: tensor<40x24xi8>, %w: tensor<36x24xf32>, %b: tensor<36xf32>, %r: tensor<40x36xf32>)
      -> tensor<1440xf16> {
      %c = nn.cast %x : (tensor<40x24xi8>) -> tensor<40x24xf32>
      %t = nn.transpose %w permutation = [1, 0] : (tensor<36x24xf32>) -> tensor<24x36xf32>
      %y = nn.contract %c, %t lhs = [0, 2] rhs = [2, 1] out = [0, 1]
          : (tensor<40x24xf32>, tensor<24x36xf32>) -> tensor<40x36xf32>
      %bb = nn.broadcast %b dimensions = [1] : (tensor<36xf32>) -> tensor<40x36xf32>
      %s = arith.addf %y, %bb : tensor<40x36xf32>
      %m = arith.maximumf %s, %r : tensor<40x36xf32>
      %h = nn.cast %m : (tensor<40x36xf32>) -> tensor<40x36xf16>
      %f = nn.reshape %h : (tensor<40x36xf16>) -> tensor<1440xf16>
      return %f : tensor<1440xf16>
    })",
              {wholeNumbers("i8", {40, 24}, 1), wholeNumbers("f32", {36, 24}, 2),
               wholeNumbers("f32", {36}, 3), wholeNumbers("f32", {40, 36}, 4)}),
      "");
  EXPECT_EQ(compare(R"((%x: tensor<20x33xi8>, %w: tensor<33x20xi8>) -> tensor<20x20xi32> {
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] {unsigned_lhs}
          : (tensor<20x33xi8>, tensor<33x20xi8>) -> tensor<20x20xi32>
      return %y : tensor<20x20xi32>
    })",
                    {wholeNumbers("i8", {20, 33}, 1, -128, 127), wholeNumbers("i8", {33, 20}, 2, -128, 127)}),
            "");
}

struct Conv {
  Shape input, filter;
  std::vector<int64_t> strides, low, high, dilations, spread;
  int64_t groups = 1;
  std::string type = "f32";
};

std::string list(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

Shape resultOf(const Conv &c) {
  Shape result = {c.input[0], c.filter[0]};
  for (size_t dim = 2; dim < c.input.size(); ++dim) {
    int64_t size = (c.input[dim] - 1) * c.spread[dim - 2] + 1 + c.low[dim - 2] + c.high[dim - 2];
    result.push_back((size - (c.filter[dim] - 1) * c.dilations[dim - 2] - 1) / c.strides[dim - 2] + 1);
  }
  return result;
}

std::string convolve(const Conv &c) {
  std::string x = tensorType(c.input, c.type), w = tensorType(c.filter, c.type),
              y = tensorType(resultOf(c), c.type);
  std::string b = tensorType({c.filter[0]}, c.type);
  return "(%x: " + x + ", %w: " + w + ", %b: " + b + ") -> " + y +
         " {\n%y = nn.conv %x, %w strides = " + list(c.strides) + " low = " + list(c.low) +
         " dilations = " + list(c.dilations) + " input_dilations = " + list(c.spread) +
         " groups = " + std::to_string(c.groups) + " : (" + x + ", " + w + ") -> " + y +
         "\n%c = nn.broadcast %b dimensions = [1] : (" + b + ") -> " + y + "\n%z = arith." +
         (c.type[0] == 'i' ? "addi" : "addf") + " %y, %c : " + y + "\nreturn %z : " + y + "\n}";
}

void expectConv(const Conv &c, const std::string &schedule = "") {
  EXPECT_EQ(compare(convolve(c),
                    {wholeNumbers(c.type, c.input, 1), wholeNumbers(c.type, c.filter, 2),
                     wholeNumbers(c.type, {c.filter[0]}, 3)},
                    0, 0, schedule),
            "")
      << list(c.input) << list(c.filter) << list(c.strides) << c.groups << schedule;
}

TEST(Conv, everySchedule) {
  for (const std::string &schedule : schedules()) {
    // Steps within the channels, and steps that cross them.
    expectConv({{2, 64, 9, 7}, {20, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, schedule);
    expectConv({{1, 5, 9, 7}, {20, 5, 3, 2}, {2, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 1}}, schedule);
  }
}

TEST(Conv, forms) {
  expectConv({{1, 3, 20, 20}, {8, 3, 7, 7}, {2, 2}, {3, 3}, {3, 3}, {1, 1}, {1, 1}});
  // Of one element each: neighbours in the result are neighbours in the input.
  expectConv({{1, 32, 8, 8}, {24, 32, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{3, 32, 6, 6}, {24, 32, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{2, 32, 7, 7}, {24, 32, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{2, 32, 8, 8}, {24, 32, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  // Groups, depthwise too.
  expectConv({{2, 12, 8, 8}, {18, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 3});
  expectConv({{2, 12, 8, 8}, {12, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 12});
  expectConv({{2, 6, 8, 8}, {12, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6});
  expectConv({{1, 40, 7, 7}, {40, 1, 5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}, {1, 1}, 40});
  expectConv({{2, 6, 20, 20}, {6, 1, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 2}, {1, 1}, 6, "f16"});
  // Few filters, few places.
  expectConv({{1, 16, 20, 20}, {3, 16, 5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}, {1, 1}});
  expectConv({{1, 64, 1, 1}, {50, 64, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{1, 64, 3, 3}, {50, 64, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{1, 6, 3, 3}, {50, 6, 3, 3}, {1, 1}, {1, 0}, {0, 1}, {1, 1}, {1, 1}});
  // Transposed, along one dimension, along three.
  expectConv({{2, 16, 5, 5}, {12, 16, 3, 3}, {1, 1}, {1, 1}, {2, 2}, {1, 1}, {2, 2}});
  expectConv({{2, 16, 50}, {12, 16, 5}, {1}, {2}, {2}, {1}, {1}});
  expectConv({{1, 4, 5, 6, 7}, {12, 4, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  // Padding beyond the window, a crop, one pixel.
  expectConv({{1, 4, 3, 3}, {16, 4, 2, 2}, {1, 1}, {4, 4}, {4, 4}, {1, 1}, {1, 1}});
  expectConv({{1, 4, 9, 9}, {16, 4, 2, 2}, {1, 1}, {-2, -1}, {0, -1}, {1, 1}, {1, 1}});
  expectConv({{4, 32, 1, 1}, {20, 32, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}});
  expectConv({{1, 8, 9, 9}, {16, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, "f16"});
  expectConv({{1, 8, 9, 9}, {16, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, "i32"});
}

TEST(Conv, dynamicBatch) {
  std::string function =
      R"((%x: tensor<?x8x10x10xf32> {nn.dims = ["n", "", "", ""]}, %w: tensor<16x8x3x3xf32>)
    -> tensor<?x16x10x10xf32> {
    %n = nn.symbol "n"
    %y = nn.conv %x, %w sizes(%n) strides = [1, 1] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
        : (tensor<?x8x10x10xf32>, tensor<16x8x3x3xf32>) -> tensor<?x16x10x10xf32>
    return %y : tensor<?x16x10x10xf32>
  })";
  for (int64_t batch : {0, 1, 3})
    EXPECT_EQ(compare(function,
                      {wholeNumbers("f32", {batch, 8, 10, 10}, 1), wholeNumbers("f32", {16, 8, 3, 3}, 2)}),
              "");
}

} // namespace
} // namespace joule::test
