// The layout algebra, tried on every element of all small tiles.
#include "dialects/Tile/TileDialect.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using joule::tile::LayoutAttr;

namespace {

class Layout : public ::testing::Test {
protected:
  Layout() { context.loadDialect<joule::tile::TileDialect>(); }

  MLIRContext context;

  /// Every address once, and back again.
  void expectBijective(LayoutAttr layout, ArrayRef<int64_t> shape) {
    std::set<int64_t> addresses;
    for (int64_t row = 0; row < shape[0]; ++row)
      for (int64_t column = 0; column < shape[1]; ++column) {
        int64_t address = layout.apply({row, column});
        EXPECT_LT(address, shape[0] * shape[1]);
        addresses.insert(address);
        SmallVector<int64_t> back = layout.invert(address);
        EXPECT_EQ(back[0], row);
        EXPECT_EQ(back[1], column);
      }
    EXPECT_EQ(static_cast<int64_t>(addresses.size()), shape[0] * shape[1]);
  }
};

TEST_F(Layout, rowMajorIsRowMajor) {
  for (int64_t rows : {1, 2, 4, 16})
    for (int64_t columns : {1, 2, 8, 32}) {
      LayoutAttr layout = LayoutAttr::rowMajor(&context, {rows, columns});
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < columns; ++column)
          EXPECT_EQ(layout.apply({row, column}), row * columns + column);
      expectBijective(layout, {rows, columns});
    }
}

TEST_F(Layout, everySwizzleOfASmallTileIsBijective) {
  const int64_t shape[] = {8, 16};
  for (unsigned first = 0; first < 3; ++first)
    for (unsigned count = 0; first + count <= 3; ++count)
      for (unsigned target = 0; target + count <= 4; ++target)
        expectBijective(LayoutAttr::rowMajor(&context, shape).swizzle(0, first, count, target), shape);
}

TEST_F(Layout, isLinear) {
  LayoutAttr layout = LayoutAttr::rowMajor(&context, {8, 16}).swizzle(0, 0, 2, 2);
  for (int64_t a = 0; a < 128; ++a)
    for (int64_t b = 0; b < 128; ++b)
      EXPECT_EQ(layout.apply({(a ^ b) / 16, (a ^ b) % 16}),
                layout.apply({a / 16, a % 16}) ^ layout.apply({b / 16, b % 16}));
}

TEST_F(Layout, runsStayTogetherUntilASwizzleReachesThem) {
  LayoutAttr plain = LayoutAttr::rowMajor(&context, {8, 16});
  for (int64_t count : {1, 2, 4, 8, 16})
    EXPECT_TRUE(plain.keepsRuns(count));
  EXPECT_FALSE(plain.keepsRuns(3));
  EXPECT_FALSE(plain.keepsRuns(32));
  LayoutAttr swizzled = plain.swizzle(0, 0, 2, 2);
  EXPECT_TRUE(swizzled.keepsRuns(4));
  EXPECT_FALSE(swizzled.keepsRuns(8));
}

/// Threads that store runs down the columns of a strip, as the contract family does, reach 32 different
/// banks.
TEST_F(Layout, swizzledStripHasNoBankConflicts) {
  for (int64_t depth : {8, 16, 32})
    for (int64_t lines : {32, 64, 128}) {
      int64_t runs = depth / 4;
      unsigned target = llvm::Log2_64(32 / runs);
      LayoutAttr layout =
          LayoutAttr::rowMajor(&context, {depth, lines}).swizzle(0, 2, llvm::Log2_64(runs), target);
      for (int64_t offset = 0; offset < 4; ++offset) {
        std::set<int64_t> banks;
        for (int64_t lane = 0; lane < 32; ++lane)
          banks.insert(layout.apply({lane % runs * 4 + offset, lane / runs}) % 32);
        EXPECT_EQ(banks.size(), 32u) << depth << "x" << lines;
      }
      EXPECT_TRUE(layout.keepsRuns(4));
    }
}

} // namespace
