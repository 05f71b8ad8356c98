// Kernels on the virtual GPU give what the reference says, op by op.
#include "test/lib/Emit/RunKernel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joule::test {
namespace {

struct Case {
  const char *name;
  const char *function;
  double relative = 0;
  double absolute = 0;
};

void PrintTo(const Case &test, std::ostream *stream) { *stream << test.name; }

class Kernel : public testing::TestWithParam<Case> {};

TEST_P(Kernel, agrees_with_the_reference) {
  const Case &test = GetParam();
  std::vector<Buffer> inputs = makeInputs(test.function, {{"n", 3}, {"m", 5}, {"one", 1}});
  std::string difference = compare(test.function, inputs, test.relative, test.absolute);
  if (difference.find("has no reference") != std::string::npos)
    GTEST_SKIP() << difference;
  EXPECT_EQ(difference, "");
}

std::string nameOf(const testing::TestParamInfo<Case> &info) { return info.param.name; }

const Case layout[] = {
    {"broadcast", R"((%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
      %y = nn.broadcast %x dimensions = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
      return %y : tensor<2x3x4xf32> })"},
    {"broadcast_of_one", R"((%x: tensor<1x3xf32>) -> tensor<4x3xf32> {
      %y = nn.broadcast %x dimensions = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
      return %y : tensor<4x3xf32> })"},
    {"broadcast_of_unknown",
     R"((%x: tensor<?xf32> {nn.dims = ["one"]}, %y: tensor<?xf32> {nn.dims = ["n"]}) -> tensor<?xf32> {
      %n = nn.symbol "n"
      %one = nn.symbol "one"
      %b = nn.broadcast %x sizes(%n) dimensions = [0] : (tensor<?xf32>) -> tensor<?xf32>
      %s = arith.addf %b, %y : tensor<?xf32>
      return %s : tensor<?xf32> })"},
    {"reshape", R"((%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
      %y = nn.reshape %x : (tensor<2x6xf32>) -> tensor<3x4xf32>
      return %y : tensor<3x4xf32> })"},
    {"reshape_dynamic", R"((%x: tensor<?x6xf32> {nn.dims = ["n", ""]}) -> tensor<3x?xf32> {
      %n = nn.symbol "n"
      %c2 = arith.constant 2 : index
      %m = arith.muli %n, %c2 : index
      %y = nn.reshape %x sizes(%m) : (tensor<?x6xf32>) -> tensor<3x?xf32>
      return %y : tensor<3x?xf32> })"},
    {"transpose", R"((%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
      %y = nn.transpose %x permutation = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
      return %y : tensor<4x2x3xf32> })"},
    {"slice", R"((%x: tensor<8x9xf32>) -> tensor<3x4xf32> {
      %y = nn.slice %x offsets = [7, 1] strides = [-2, 2] : (tensor<8x9xf32>) -> tensor<3x4xf32>
      return %y : tensor<3x4xf32> })"},
    {"pad_constant", R"((%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<6x4xf32> {
      %y = nn.pad %x, %v low = [2, -1] mode = constant : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x4xf32>
      return %y : tensor<6x4xf32> })"},
    {"pad_edge", R"((%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<8x9xf32> {
      %y = nn.pad %x, %v low = [2, 3] mode = edge : (tensor<3x4xf32>, tensor<f32>) -> tensor<8x9xf32>
      return %y : tensor<8x9xf32> })"},
    {"pad_reflect", R"((%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<7x9xf32> {
      %y = nn.pad %x, %v low = [2, 3] mode = reflect : (tensor<3x4xf32>, tensor<f32>) -> tensor<7x9xf32>
      return %y : tensor<7x9xf32> })"},
    {"pad_wrap", R"((%x: tensor<3x4xf32>, %v: tensor<f32>) -> tensor<7x9xf32> {
      %y = nn.pad %x, %v low = [2, 3] mode = wrap : (tensor<3x4xf32>, tensor<f32>) -> tensor<7x9xf32>
      return %y : tensor<7x9xf32> })"},
    {"concat", R"((%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x4xf32>) -> tensor<2x8xf32> {
      %y = nn.concat %a, %b, %c axis = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
      return %y : tensor<2x8xf32> })"},
    {"iota", R"(() -> (tensor<3x4xi64>, tensor<3x4xf16>) {
      %y = nn.iota dimension = 1 : tensor<3x4xi64>
      %z = nn.iota dimension = 0 : tensor<3x4xf16>
      return %y, %z : tensor<3x4xi64>, tensor<3x4xf16> })"},
    {"gather", R"((%x: tensor<2x4x3xf32>, %i: tensor<5xi64>) -> tensor<2x5x3xf32> {
      %y = nn.gather %x, %i axis = 1 : (tensor<2x4x3xf32>, tensor<5xi64>) -> tensor<2x5x3xf32>
      return %y : tensor<2x5x3xf32> })"},
    {"gather_narrow_indices", R"((%x: tensor<4xi8>, %i: tensor<2x2xi32>) -> tensor<2x2xi8> {
      %y = nn.gather %x, %i axis = 0 : (tensor<4xi8>, tensor<2x2xi32>) -> tensor<2x2xi8>
      return %y : tensor<2x2xi8> })"},
    {"gather_elements", R"((%x: tensor<4x3xf32>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
      %y = nn.gather_elements %x, %i axis = 0 : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
      return %y : tensor<2x3xf32> })"},
    {"gather_nd", R"((%x: tensor<4x5x6xf32>, %i: tensor<3x2xi64>) -> tensor<3x6xf32> {
      %y = nn.gather_nd %x, %i batch_dims = 0 : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
      return %y : tensor<3x6xf32> })"},
    {"gather_nd_batched", R"((%x: tensor<2x5x6xf32>, %i: tensor<2x3x1xi64>) -> tensor<2x3x6xf32> {
      %y = nn.gather_nd %x, %i batch_dims = 1 : (tensor<2x5x6xf32>, tensor<2x3x1xi64>) -> tensor<2x3x6xf32>
      return %y : tensor<2x3x6xf32> })"},
    {"constant", R"(() -> tensor<2x2xf32> {
      %y = nn.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> -> tensor<2x2xf32>
      return %y : tensor<2x2xf32> })"},
    {"rank_zero", R"((%x: tensor<f32>) -> tensor<f32> {
      %y = arith.negf %x : tensor<f32>
      return %y : tensor<f32> })"},
    {"zero_size", R"((%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
      %y = arith.negf %x : tensor<0x4xf32>
      return %y : tensor<0x4xf32> })"},
};
INSTANTIATE_TEST_SUITE_P(layout, Kernel, testing::ValuesIn(layout), nameOf);

const Case reductions[] = {
    {"sum", R"((%x: tensor<4x5x6xf32>) -> tensor<4x6xf32> {
      %y = nn.reduce sum %x axes = [1] : (tensor<4x5x6xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32> })",
     1e-6},
    {"sum_all", R"((%x: tensor<?x5xf32> {nn.dims = ["n", ""]}) -> tensor<f32> {
      %n = nn.symbol "n"
      %y = nn.reduce sum %x axes = [0, 1] : (tensor<?x5xf32>) -> tensor<f32>
      return %y : tensor<f32> })",
     1e-6},
    {"sum_of_nothing", R"((%x: tensor<3x0xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
      %y = nn.reduce sum %x axes = [1] : (tensor<3x0xf32>) -> tensor<3xf32>
      %z = nn.reduce product %x axes = [1] : (tensor<3x0xf32>) -> tensor<3xf32>
      %w = nn.reduce max %x axes = [1] : (tensor<3x0xf32>) -> tensor<3xf32>
      return %y, %z, %w : tensor<3xf32>, tensor<3xf32>, tensor<3xf32> })"},
    {"sum_f16", R"((%x: tensor<3x40xf16>) -> tensor<3xf16> {
      %y = nn.reduce sum %x axes = [1] : (tensor<3x40xf16>) -> tensor<3xf16>
      return %y : tensor<3xf16> })",
     1e-3},
    {"sum_i32", R"((%x: tensor<3x40xi32>) -> tensor<3xi32> {
      %y = nn.reduce sum %x axes = [1] : (tensor<3x40xi32>) -> tensor<3xi32>
      return %y : tensor<3xi32> })"},
    {"product_f64", R"((%x: tensor<3x7xf64>) -> tensor<3xf64> {
      %y = nn.reduce product %x axes = [1] : (tensor<3x7xf64>) -> tensor<3xf64>
      return %y : tensor<3xf64> })",
     1e-14},
    {"extremes_f32", R"((%x: tensor<3x7xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %y = nn.reduce max %x axes = [1] : (tensor<3x7xf32>) -> tensor<3xf32>
      %z = nn.reduce min %x axes = [1] : (tensor<3x7xf32>) -> tensor<3xf32>
      return %y, %z : tensor<3xf32>, tensor<3xf32> })"},
    {"extremes_i8", R"((%x: tensor<3x7xi8>) -> (tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8>) {
      %y = nn.reduce max %x axes = [1] : (tensor<3x7xi8>) -> tensor<3xi8>
      %z = nn.reduce min %x axes = [1] : (tensor<3x7xi8>) -> tensor<3xi8>
      %u = nn.reduce umax %x axes = [1] : (tensor<3x7xi8>) -> tensor<3xi8>
      %v = nn.reduce umin %x axes = [1] : (tensor<3x7xi8>) -> tensor<3xi8>
      return %y, %z, %u, %v : tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8> })"},
    {"any_and_all", R"((%x: tensor<6x2xi1>) -> (tensor<6xi1>, tensor<6xi1>) {
      %y = nn.reduce umax %x axes = [1] : (tensor<6x2xi1>) -> tensor<6xi1>
      %z = nn.reduce umin %x axes = [1] : (tensor<6x2xi1>) -> tensor<6xi1>
      return %y, %z : tensor<6xi1>, tensor<6xi1> })"},
    {"arg_max", R"((%x: tensor<3x40xf32>) -> (tensor<3xi64>, tensor<3xi64>) {
      %y = nn.arg_reduce max %x axis = 1 : (tensor<3x40xf32>) -> tensor<3xi64>
      %z = nn.arg_reduce max %x axis = 1 last : (tensor<3x40xf32>) -> tensor<3xi64>
      return %y, %z : tensor<3xi64>, tensor<3xi64> })"},
    {"arg_min", R"((%x: tensor<30x4xi32>) -> (tensor<4xi64>, tensor<4xi64>) {
      %y = nn.arg_reduce min %x axis = 0 : (tensor<30x4xi32>) -> tensor<4xi64>
      %z = nn.arg_reduce umin %x axis = 0 last : (tensor<30x4xi32>) -> tensor<4xi64>
      return %y, %z : tensor<4xi64>, tensor<4xi64> })"},
    {"cumulate", R"((%x: tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) {
      %a = nn.cumulate sum %x axis = 1 : (tensor<3x7xf32>) -> tensor<3x7xf32>
      %b = nn.cumulate sum %x axis = 1 exclusive : (tensor<3x7xf32>) -> tensor<3x7xf32>
      %c = nn.cumulate product %x axis = 0 reverse : (tensor<3x7xf32>) -> tensor<3x7xf32>
      return %a, %b, %c : tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32> })",
     1e-6},
    {"softmax", R"((%x: tensor<3x?x4xf32> {nn.dims = ["", "m", ""]}) -> tensor<3x?x4xf32> {
      %m = nn.symbol "m"
      %y = nn.softmax %x axis = 1 : (tensor<3x?x4xf32>) -> tensor<3x?x4xf32>
      return %y : tensor<3x?x4xf32> })",
     1e-6},
    {"softmax_log_f16", R"((%x: tensor<3x8xf16>) -> tensor<3x8xf16> {
      %y = nn.softmax %x axis = 1 log : (tensor<3x8xf16>) -> tensor<3x8xf16>
      return %y : tensor<3x8xf16> })",
     1e-3, 1e-3},
    {"normalize", R"((%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
      %y = nn.normalize %x axes = [1, 2] epsilon = 1.0e-5 : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
      return %y : tensor<3x4x5xf32> })",
     1e-5, 1e-6},
    {"normalize_rms", R"((%x: tensor<3x8xf64>) -> tensor<3x8xf64> {
      %y = nn.normalize %x axes = [1] epsilon = 1.0e-5 {rms} : (tensor<3x8xf64>) -> tensor<3x8xf64>
      return %y : tensor<3x8xf64> })",
     1e-13},
    {"sum_of_softmax", R"((%x: tensor<3x8xf32>) -> tensor<3xf32> {
      %y = nn.softmax %x axis = 1 : (tensor<3x8xf32>) -> tensor<3x8xf32>
      %s = nn.reduce sum %y axes = [1] : (tensor<3x8xf32>) -> tensor<3xf32>
      return %s : tensor<3xf32> })",
     1e-6},
};
INSTANTIATE_TEST_SUITE_P(reductions, Kernel, testing::ValuesIn(reductions), nameOf);

const Case products[] = {
    {"matmul", R"((%x: tensor<?x16xf32> {nn.dims = ["n", ""]}, %w: tensor<16x4xf32>) -> tensor<?x4xf32> {
      %n = nn.symbol "n"
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32> })",
     1e-6, 1e-6},
    {"matmul_f16", R"((%x: tensor<3x16xf16>, %w: tensor<16x4xf16>) -> tensor<3x4xf16> {
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<3x16xf16>, tensor<16x4xf16>) -> tensor<3x4xf16>
      return %y : tensor<3x4xf16> })",
     1e-3, 1e-3},
    {"matmul_bf16_batched", R"((%x: tensor<2x3x16xbf16>, %w: tensor<2x16x4xbf16>) -> tensor<2x3x4xbf16> {
      %y = nn.contract %x, %w lhs = [3, 0, 2] rhs = [3, 2, 1] out = [3, 0, 1] : (tensor<2x3x16xbf16>, tensor<2x16x4xbf16>) -> tensor<2x3x4xbf16>
      return %y : tensor<2x3x4xbf16> })",
     1e-2, 1e-2},
    {"matmul_i8", R"((%x: tensor<3x16xi8>, %w: tensor<16x4xi8>) -> tensor<3x4xi32> {
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] {unsigned_lhs} : (tensor<3x16xi8>, tensor<16x4xi8>) -> tensor<3x4xi32>
      return %y : tensor<3x4xi32> })"},
    {"outer_and_sum", R"((%x: tensor<3x5xf64>, %w: tensor<4x6xf64>) -> tensor<4x3xf64> {
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [1, 3] out = [1, 0] : (tensor<3x5xf64>, tensor<4x6xf64>) -> tensor<4x3xf64>
      return %y : tensor<4x3xf64> })",
     1e-13, 1e-13},
    {"conv", R"((%x: tensor<2x3x8x7xf32>, %f: tensor<4x3x3x2xf32>) -> tensor<2x4x4x4xf32> {
      %y = nn.conv %x, %f strides = [2, 2] low = [1, 0] dilations = [1, 1] input_dilations = [1, 1] groups = 1
        : (tensor<2x3x8x7xf32>, tensor<4x3x3x2xf32>) -> tensor<2x4x4x4xf32>
      return %y : tensor<2x4x4x4xf32> })",
     1e-6, 1e-5},
    {"conv_groups", R"((%x: tensor<1x4x9xf32>, %f: tensor<6x2x3xf32>) -> tensor<1x6x7xf32> {
      %y = nn.conv %x, %f strides = [1] low = [1] dilations = [2] input_dilations = [1] groups = 2
        : (tensor<1x4x9xf32>, tensor<6x2x3xf32>) -> tensor<1x6x7xf32>
      return %y : tensor<1x6x7xf32> })",
     1e-6, 1e-5},
    {"conv_transposed", R"((%x: tensor<1x2x4x4xf32>, %f: tensor<3x2x3x3xf32>) -> tensor<1x3x9x9xf32> {
      %y = nn.conv %x, %f strides = [1, 1] low = [2, 2] dilations = [1, 1] input_dilations = [2, 2] groups = 1
        : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x9x9xf32>
      return %y : tensor<1x3x9x9xf32> })",
     1e-6, 1e-5},
    {"conv_i8", R"((%x: tensor<1x2x5x5xi8>, %f: tensor<3x2x3x3xi8>) -> tensor<1x3x3x3xi32> {
      %y = nn.conv %x, %f strides = [1, 1] low = [0, 0] dilations = [1, 1] input_dilations = [1, 1] groups = 1 {unsigned_input}
        : (tensor<1x2x5x5xi8>, tensor<3x2x3x3xi8>) -> tensor<1x3x3x3xi32>
      return %y : tensor<1x3x3x3xi32> })"},
    {"matmul_bias_relu", R"((%x: tensor<5x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<5x4xf32> {
      %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
      %bb = nn.broadcast %b dimensions = [1] : (tensor<4xf32>) -> tensor<5x4xf32>
      %s = arith.addf %y, %bb : tensor<5x4xf32>
      %zero = nn.constant dense<0.0> : tensor<5x4xf32> -> tensor<5x4xf32>
      %r = arith.maximumf %s, %zero : tensor<5x4xf32>
      return %r : tensor<5x4xf32> })",
     1e-6, 1e-5},
};
INSTANTIATE_TEST_SUITE_P(products, Kernel, testing::ValuesIn(products), nameOf);

const Case windows[] = {
    {"pool_max", R"((%x: tensor<1x2x7x7xf32>) -> tensor<1x2x4x4xf32> {
      %y = nn.pool max %x window = [3, 3] strides = [2, 2] low = [1, 1] dilations = [1, 1] : (tensor<1x2x7x7xf32>) -> tensor<1x2x4x4xf32>
      return %y : tensor<1x2x4x4xf32> })"},
    {"pool_sum", R"((%x: tensor<1x2x9xf16>) -> tensor<1x2x4xf16> {
      %y = nn.pool sum %x window = [3] strides = [2] low = [1] dilations = [2] : (tensor<1x2x9xf16>) -> tensor<1x2x4xf16>
      return %y : tensor<1x2x4xf16> })",
     1e-3},
    {"pool_arg_max", R"((%x: tensor<2x2x6x5xf32>) -> (tensor<2x2x3x3xi64>, tensor<2x2x3x3xi64>) {
      %y = nn.pool_arg_max %x window = [3, 3] strides = [2, 2] low = [1, 1] dilations = [1, 1] : (tensor<2x2x6x5xf32>) -> tensor<2x2x3x3xi64>
      %z = nn.pool_arg_max %x window = [3, 3] strides = [2, 2] low = [1, 1] dilations = [1, 1] column_major : (tensor<2x2x6x5xf32>) -> tensor<2x2x3x3xi64>
      return %y, %z : tensor<2x2x3x3xi64>, tensor<2x2x3x3xi64> })"},
};
INSTANTIATE_TEST_SUITE_P(windows, Kernel, testing::ValuesIn(windows), nameOf);

const Case casts[] = {
    {"float_to_integers",
     R"((%x: tensor<40xf32>) -> (tensor<40xi8>, tensor<40xi64>, tensor<40xi1>, tensor<40xi32>) {
      %f = nn.constant dense<100.0> : tensor<40xf32> -> tensor<40xf32>
      %w = arith.mulf %x, %f : tensor<40xf32>
      %a = nn.cast %w : (tensor<40xf32>) -> tensor<40xi8>
      %b = nn.cast %w : (tensor<40xf32>) -> tensor<40xi64>
      %c = nn.cast %x : (tensor<40xf32>) -> tensor<40xi1>
      %d = nn.cast %w saturate unsigned_result : (tensor<40xf32>) -> tensor<40xi32>
      return %a, %b, %c, %d : tensor<40xi8>, tensor<40xi64>, tensor<40xi1>, tensor<40xi32> })"},
    {"integers",
     R"((%x: tensor<40xi32>) -> (tensor<40xi8>, tensor<40xi8>, tensor<40xi64>, tensor<40xi64>, tensor<40xi8>) {
      %f = nn.constant dense<100> : tensor<40xi32> -> tensor<40xi32>
      %w = arith.muli %x, %f : tensor<40xi32>
      %a = nn.cast %w : (tensor<40xi32>) -> tensor<40xi8>
      %b = nn.cast %w saturate : (tensor<40xi32>) -> tensor<40xi8>
      %c = nn.cast %w : (tensor<40xi32>) -> tensor<40xi64>
      %d = nn.cast %w unsigned_input : (tensor<40xi32>) -> tensor<40xi64>
      %e = nn.cast %w saturate unsigned_result : (tensor<40xi32>) -> tensor<40xi8>
      return %a, %b, %c, %d, %e : tensor<40xi8>, tensor<40xi8>, tensor<40xi64>, tensor<40xi64>, tensor<40xi8> })"},
    {"integers_to_floats",
     R"((%x: tensor<40xi64>, %b: tensor<40xi1>) -> (tensor<40xf32>, tensor<40xf16>, tensor<40xbf16>, tensor<40xf64>) {
      %a = nn.cast %x : (tensor<40xi64>) -> tensor<40xf32>
      %c = nn.cast %x unsigned_input : (tensor<40xi64>) -> tensor<40xf16>
      %d = nn.cast %x : (tensor<40xi64>) -> tensor<40xbf16>
      %e = nn.cast %b : (tensor<40xi1>) -> tensor<40xf64>
      return %a, %c, %d, %e : tensor<40xf32>, tensor<40xf16>, tensor<40xbf16>, tensor<40xf64> })"},
    {"floats", R"((%x: tensor<40xf64>) -> (tensor<40xf32>, tensor<40xf16>, tensor<40xbf16>) {
      %f = nn.constant dense<1.1> : tensor<40xf64> -> tensor<40xf64>
      %w = arith.mulf %x, %f : tensor<40xf64>
      %a = nn.cast %w : (tensor<40xf64>) -> tensor<40xf32>
      %b = nn.cast %w : (tensor<40xf64>) -> tensor<40xf16>
      %c = nn.cast %w : (tensor<40xf64>) -> tensor<40xbf16>
      return %a, %b, %c : tensor<40xf32>, tensor<40xf16>, tensor<40xbf16> })"},
    {"bitcast", R"((%x: tensor<40xf32>) -> tensor<40xi32> {
      %a = nn.bitcast %x : (tensor<40xf32>) -> tensor<40xi32>
      return %a : tensor<40xi32> })"},
};
INSTANTIATE_TEST_SUITE_P(casts, Kernel, testing::ValuesIn(casts), nameOf);

const Case pointwise[] = {
    {"f16", R"((%x: tensor<40xf16>, %y: tensor<40xf16>) -> (tensor<40xf16>, tensor<40xi1>) {
      %a = arith.mulf %x, %y : tensor<40xf16>
      %e = math.exp %a : tensor<40xf16>
      %c = arith.cmpf ogt, %e, %y : tensor<40xf16>
      return %e, %c : tensor<40xf16>, tensor<40xi1> })",
     1e-3},
    {"integer_edges",
     R"((%x: tensor<64xi32>, %y: tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) {
      %a = arith.divsi %x, %y : tensor<64xi32>
      %b = arith.remsi %x, %y : tensor<64xi32>
      %c = arith.divui %x, %y : tensor<64xi32>
      %d = arith.shli %x, %y : tensor<64xi32>
      %e = arith.shrsi %x, %y : tensor<64xi32>
      %f = arith.floordivsi %x, %y : tensor<64xi32>
      return %a, %b, %c, %d, %e, %f : tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32> })"},
    {"least_integer_by_minus_one", R"((%x: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
      %least = nn.constant dense<-9223372036854775808> : tensor<4xi64> -> tensor<4xi64>
      %minus = nn.constant dense<-1> : tensor<4xi64> -> tensor<4xi64>
      %zero = arith.subi %x, %x : tensor<4xi64>
      %l = arith.addi %least, %zero : tensor<4xi64>
      %a = arith.divsi %l, %minus : tensor<4xi64>
      %b = arith.remsi %l, %minus : tensor<4xi64>
      return %a, %b : tensor<4xi64>, tensor<4xi64> })"},
    {"multiply_high", R"((%x: tensor<40xi32>, %y: tensor<40xi32>) -> tensor<40xi32> {
      %f = nn.constant dense<1000000> : tensor<40xi32> -> tensor<40xi32>
      %a = arith.muli %x, %f : tensor<40xi32>
      %b = arith.muli %y, %f : tensor<40xi32>
      %l, %h = arith.mulsi_extended %a, %b : tensor<40xi32>
      return %h : tensor<40xi32> })"},
    {"select", R"((%c: tensor<40xi1>, %x: tensor<40xbf16>, %y: tensor<40xbf16>) -> tensor<40xbf16> {
      %a = arith.select %c, %x, %y : tensor<40xi1>, tensor<40xbf16>
      return %a : tensor<40xbf16> })"},
    {"integer_power", R"((%x: tensor<40xi32>, %y: tensor<40xi32>) -> tensor<40xi32> {
      %two = nn.constant dense<2> : tensor<40xi32> -> tensor<40xi32>
      %p = arith.maxsi %y, %two : tensor<40xi32>
      %a = math.ipowi %x, %p : tensor<40xi32>
      return %a : tensor<40xi32> })"},
    {"gelu", R"((%x: tensor<40xf32>) -> tensor<40xf32> {
      %r = nn.constant dense<0.70710678> : tensor<40xf32> -> tensor<40xf32>
      %one = nn.constant dense<1.0> : tensor<40xf32> -> tensor<40xf32>
      %half = nn.constant dense<0.5> : tensor<40xf32> -> tensor<40xf32>
      %a = arith.mulf %x, %r : tensor<40xf32>
      %e = math.erf %a : tensor<40xf32>
      %b = arith.addf %e, %one : tensor<40xf32>
      %c = arith.mulf %x, %half : tensor<40xf32>
      %d = arith.mulf %b, %c : tensor<40xf32>
      return %d : tensor<40xf32> })",
     1e-5, 1e-7},
};
INSTANTIATE_TEST_SUITE_P(pointwise, Kernel, testing::ValuesIn(pointwise), nameOf);

/// The same under schedules other than the default.
void expectUnder(const std::string &schedule, const char *function, int64_t n) {
  std::vector<Buffer> inputs = makeInputs(function, {{"n", n}});
  EXPECT_EQ(compare(function, inputs, 1e-6, 1e-6, schedule), "") << schedule << " n = " << n;
}

TEST(Schedules, several_elements_per_thread) {
  const char *add =
      R"((%x: tensor<?xf32> {nn.dims = ["n"]}, %y: tensor<?xf32> {nn.dims = ["n"]}) -> tensor<?xf32> {
    %n = nn.symbol "n"
    %z = arith.addf %x, %y : tensor<?xf32>
    return %z : tensor<?xf32> })";
  const char *bias =
      R"((%x: tensor<?x12xf16> {nn.dims = ["n", ""]}, %b: tensor<12xf16>) -> (tensor<?x12xf16>, tensor<?x12xi1>) {
    %n = nn.symbol "n"
    %bb = nn.broadcast %b sizes(%n) dimensions = [1] : (tensor<12xf16>) -> tensor<?x12xf16>
    %z = arith.addf %x, %bb : tensor<?x12xf16>
    %c = arith.cmpf olt, %z, %x : tensor<?x12xf16>
    return %z, %c : tensor<?x12xf16>, tensor<?x12xi1> })";
  const char *transpose = R"((%x: tensor<?x5xf32> {nn.dims = ["n", ""]}) -> tensor<5x?xf32> {
    %n = nn.symbol "n"
    %t = nn.transpose %x permutation = [1, 0] : (tensor<?x5xf32>) -> tensor<5x?xf32>
    return %t : tensor<5x?xf32> })";
  for (const char *schedule :
       {"#tile.schedule<family = \"map\", threads = 32, thread = [4]>",
        "#tile.schedule<family = \"map\", threads = 64, thread = [8], index_bits = 64>",
        "#tile.schedule<family = \"map\", threads = 128, thread = [3]>"})
    for (const char *function : {add, bias, transpose})
      for (int64_t n : {0, 1, 7, 130})
        expectUnder(schedule, function, n);
}

/// Every bit pattern of a small float, and floats around each of them.
TEST(SmallFloats, convert_as_the_reference_does) {
  std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN,   1e30,  -1e30, 1e-30,
                                448, 464,  465,      480,       57344, 61440, 65536, 240,
                                248, 249,  6,        5,         7,     0.25,  0.75,  0.2499};
  for (int exponent = -20; exponent < 18; ++exponent)
    for (int fraction = 0; fraction < 64; ++fraction)
      values.push_back((fraction % 2 ? -1 : 1) * std::ldexp(1 + fraction / 64.0, exponent));
  std::string count = std::to_string(values.size());
  Buffer input = reference::makeFloats(ElementType::Float32, {static_cast<int64_t>(values.size())}, values);
  for (std::string type : {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "!nn.f4e2m1", "!nn.f8e8m0"})
    for (std::string saturate : {"", "saturate"}) {
      std::string wide = "tensor<" + count + "xf32>", narrow = "tensor<" + count + "x" + type + ">";
      std::string function = "(%x: " + wide + ") -> " + wide + " {\n  %a = nn.cast %x " + saturate + " : (" +
                             wide + ") -> " + narrow + "\n  %b = nn.cast %a : (" + narrow + ") -> " + wide +
                             "\n  return %b : " + wide + " }";
      EXPECT_EQ(compare(function, {input}), "") << type << saturate;
    }
}

TEST(SmallTypes, are_packed) {
  for (std::string text : {"(%x: tensor<7xi4>) -> tensor<7xi4> {\n  %z = nn.concat %x axis = 0 : "
                           "(tensor<7xi4>) -> tensor<7xi4>\n  return %z : tensor<7xi4> }",
                           "(%x: tensor<7xi4>) -> tensor<7xi8> {\n  %z = nn.cast %x : (tensor<7xi4>) -> "
                           "tensor<7xi8>\n  return %z : tensor<7xi8> }",
                           "(%x: tensor<9xi8>) -> tensor<9xi2> {\n  %z = nn.cast %x saturate : "
                           "(tensor<9xi8>) -> tensor<9xi2>\n  return %z : tensor<9xi2> }"})
    EXPECT_EQ(compare(text, makeInputs(text)), "") << text;
}

} // namespace
} // namespace joule::test
