// Writes the functions as text.
#include "bench/kernels/Products.h"

#include "test/passes/NnToTile/Numbers.h"

using joule::test::tensorType;
using joule::test::wholeNumbers;

namespace joule::bench {

using Shape = std::vector<int64_t>;

Product product(const Conv &c) {
  int64_t low = c.window / 2, out = (c.size + 2 * low - c.window) / c.stride + 1;
  Shape x = {1, c.channels, c.size, c.size}, w = {c.filters, c.channels / c.groups, c.window, c.window};
  Shape y = {1, c.filters, out, out};
  std::string xt = tensorType(x, "f32"), wt = tensorType(w, "f32"), yt = tensorType(y, "f32");
  std::string bt = tensorType({c.filters}, "f32"),
              pair = std::to_string(c.stride) + ", " + std::to_string(c.stride);
  std::string pad = std::to_string(low) + ", " + std::to_string(low);
  std::string function =
      "(%x: " + xt + ", %w: " + wt + ", %b: " + bt + ") -> " + yt + " {\n%y = nn.conv %x, %w strides = [" +
      pair + "] low = [" + pad +
      "] dilations = [1, 1] input_dilations = [1, 1] groups = " + std::to_string(c.groups) + " : (" + xt +
      ", " + wt + ") -> " + yt + "\n%c = nn.broadcast %b dimensions = [1] : (" + bt + ") -> " + yt +
      "\n%z = arith.addf %y, %c : " + yt + "\nreturn %z : " + yt + "\n}";
  double products = 1.0 * c.filters * out * out * w[1] * c.window * c.window;
  double bytes = 4.0 * (1.0 * c.channels * c.size * c.size + 1.0 * c.filters * w[1] * c.window * c.window +
                        1.0 * c.filters * out * out);
  return {c.name, function,
          {wholeNumbers("f32", x, 1), wholeNumbers("f32", w, 2), wholeNumbers("f32", {c.filters}, 3)},
          products, bytes};
}

Product product(int64_t rows, int64_t columns, int64_t depth, bool turned, const std::string &type) {
  Shape x = {rows, depth}, w = turned ? Shape{columns, depth} : Shape{depth, columns};
  // Whole numbers are summed in 32 bits.
  std::string result = type == "i8" ? "i32" : type;
  std::string xt = tensorType(x, type), wt = tensorType(w, type), yt = tensorType({rows, columns}, result);
  std::string function = "(%x: " + xt + ", %w: " + wt + ") -> " + yt +
                         " {\n%y = nn.contract %x, %w lhs = [0, 2] rhs = " + (turned ? "[1, 2]" : "[2, 1]") +
                         " out = [0, 1] : (" + xt + ", " + wt + ") -> " + yt + "\nreturn %y : " + yt + "\n}";
  std::string name = std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth) +
                     (turned ? "T" : "");
  reference::Buffer left = wholeNumbers(type, x, 1), right = wholeNumbers(type, w, 2);
  double bytes = static_cast<double>(left.bytes.size() + right.bytes.size()) +
                 1.0 * rows * columns * (type == "i8" ? 4 : left.bytes.size() / (rows * depth));
  return {name, function, {left, right}, 1.0 * rows * columns * depth, bytes};
}

} // namespace joule::bench
