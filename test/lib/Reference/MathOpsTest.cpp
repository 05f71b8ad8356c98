// nn operations that compute: reductions, contractions, windows, recurrent cells.
#include "test/lib/Reference/RunText.h"

#include <gtest/gtest.h>

namespace joule::reference {
namespace {

const Buffer sixFloats = floats({2, 3}, {1, 2, 3, 4, 5, 6});

//===- Reductions --------------------------------------------------------------------------------------------

std::string reduced(const std::string &combiner, const Buffer &input, const std::string &type = "f32") {
  return run("(%x: tensor<2x3x" + type + ">) -> tensor<2x" + type + "> {" + "  %y = nn.reduce " + combiner +
                 " %x axes = [1] : (tensor<2x3x" + type + ">) -> tensor<2x" + type + ">" +
                 "  return %y : tensor<2x" + type + "> }",
             {input});
}

TEST(Reduce, combines) {
  EXPECT_EQ(reduced("sum", sixFloats), "float32 [2]: 6 15");
  EXPECT_EQ(reduced("product", sixFloats), "float32 [2]: 6 120");
  EXPECT_EQ(reduced("max", sixFloats), "float32 [2]: 3 6");
  EXPECT_EQ(reduced("min", sixFloats), "float32 [2]: 1 4");
}

TEST(Reduce, propagates_nan) {
  EXPECT_EQ(reduced("max", floats({2, 3}, {1, NAN, 3, 4, 5, 6})), "float32 [2]: nan 6");
  EXPECT_EQ(reduced("min", floats({2, 3}, {NAN, 2, 3, 4, 5, 6})), "float32 [2]: nan 4");
}

TEST(Reduce, reads_integers_by_combiner_and_wraps) {
  Buffer bytes = makeIntegers(ElementType::Int8, {2, 3}, {-1, 2, 3, 100, 100, 100});
  EXPECT_EQ(reduced("max", bytes, "i8"), "int8 [2]: 3 100");
  EXPECT_EQ(reduced("umax", bytes, "i8"), "int8 [2]: -1 100");
  EXPECT_EQ(reduced("umin", bytes, "i8"), "int8 [2]: 2 100");
  EXPECT_EQ(reduced("sum", bytes, "i8"), "int8 [2]: 4 44");
}

TEST(Reduce, of_bools_is_or_and_and) {
  Buffer bools = makeIntegers(ElementType::Bool, {2, 3}, {0, 1, 0, 1, 1, 1});
  EXPECT_EQ(reduced("umax", bools, "i1"), "bool [2]: 1 1");
  EXPECT_EQ(reduced("umin", bools, "i1"), "bool [2]: 0 1");
  EXPECT_EQ(reduced("max", bools, "i1"), "bool [2]: 0 1"); // of 0 and -1
}

TEST(Reduce, sums_narrow_floats_wide) {
  // In f16, 2048 + 1 would stay 2048.
  EXPECT_EQ(reduced("sum", makeFloats(ElementType::Float16, {2, 3}, {2048, 1, 1, 0, 0, 0}), "f16"),
            "float16 [2]: 2050 0");
}

TEST(Reduce, of_nothing_is_neutral) {
  auto empty = [](const std::string &combiner) {
    return run("(%x: tensor<1x0xf32>) -> tensor<1xf32> {"
               "  %y = nn.reduce " +
                   combiner +
                   " %x axes = [1] : (tensor<1x0xf32>) -> tensor<1xf32>"
                   "  return %y : tensor<1xf32> }",
               {Buffer(ElementType::Float32, {1, 0})});
  };
  EXPECT_EQ(empty("sum"), "float32 [1]: 0");
  EXPECT_EQ(empty("product"), "float32 [1]: 1");
  EXPECT_EQ(empty("max"), "float32 [1]: -inf");
  EXPECT_EQ(empty("min"), "float32 [1]: inf");
}

TEST(Reduce, over_outer_and_inner_axes) {
  EXPECT_EQ(run(R"((%x: tensor<2x2x2xf32>) -> tensor<2xf32> {
    %y = nn.reduce sum %x axes = [0, 2] : (tensor<2x2x2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
            "float32 [2]: 14 22");
}

std::string extreme(const std::string &how, const Buffer &input) {
  return run("(%x: tensor<4xf32>) -> tensor<i64> {"
             "  %y = nn.arg_reduce " +
                 how + " : (tensor<4xf32>) -> tensor<i64> return %y : tensor<i64> }",
             {input});
}

TEST(ArgReduce, finds_first_or_last) {
  Buffer input = floats({4}, {1, 3, 3, 1});
  EXPECT_EQ(extreme("max %x axis = 0", input), "int64 []: 1");
  EXPECT_EQ(extreme("max %x axis = 0 last", input), "int64 []: 2");
  EXPECT_EQ(extreme("min %x axis = 0", input), "int64 []: 0");
  EXPECT_EQ(extreme("min %x axis = 0 last", input), "int64 []: 3");
}

TEST(ArgReduce, takes_nan_as_the_extreme) {
  EXPECT_EQ(extreme("max %x axis = 0", floats({4}, {1, NAN, 3, NAN})), "int64 []: 1");
  EXPECT_EQ(extreme("min %x axis = 0 last", floats({4}, {1, NAN, 0, NAN})), "int64 []: 3");
}

std::string cumulated(const std::string &how) {
  return run("(%x: tensor<3xf32>) -> tensor<3xf32> {"
             "  %y = nn.cumulate sum %x axis = 0 " +
                 how +
                 " : (tensor<3xf32>) -> tensor<3xf32>"
                 "  return %y : tensor<3xf32> }",
             {floats({3}, {1, 2, 3})});
}

TEST(Cumulate, goes_both_ways) {
  EXPECT_EQ(cumulated(""), "float32 [3]: 1 3 6");
  EXPECT_EQ(cumulated("exclusive"), "float32 [3]: 0 1 3");
  EXPECT_EQ(cumulated("reverse"), "float32 [3]: 6 5 3");
  EXPECT_EQ(cumulated("exclusive reverse"), "float32 [3]: 5 3 0");
}

TEST(Softmax, normalises_and_does_not_overflow) {
  const char *text = R"((%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %y = nn.softmax %x axis = 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  })";
  EXPECT_EQ(run(text, {floats({2, 2}, {1000, 5, 1000, 5})}), "float32 [2, 2]: 0.5 0.5 0.5 0.5");
}

TEST(Softmax, gives_logarithms) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = nn.softmax %x axis = 0 log : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {floats({2}, {3, 3})}),
            "float32 [2]: -0.693147 -0.693147");
}

TEST(Normalize, brings_to_mean_zero_and_variance_one) {
  EXPECT_EQ(run(R"((%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %y = nn.normalize %x axes = [1] epsilon = 0.0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  })",
                {floats({2, 2}, {1, 3, 10, 30})}),
            "float32 [2, 2]: -1 1 -1 1");
}

TEST(Normalize, by_root_mean_square) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = nn.normalize %x axes = [0] epsilon = 0.5 rms : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {floats({2}, {0, 1})}),
            "float32 [2]: 0 1");
}

//===- Contractions ------------------------------------------------------------------------------------------

TEST(Contract, is_a_matrix_product) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<2x2xf32> {
    %z = nn.contract %x, %y lhs = [0, 2] rhs = [2, 1] out = [0, 1]
        : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    return %z : tensor<2x2xf32>
  })",
                {sixFloats, floats({3, 2}, {1, 0, 0, 1, 1, 1})}),
            "float32 [2, 2]: 4 5 10 11");
}

TEST(Contract, takes_any_order_of_labels_and_batches) {
  // out[n, b, m] = sum over k of lhs[k, b, m] * rhs[b, n, k]
  EXPECT_EQ(run(R"((%x: tensor<2x2x1xf32>, %y: tensor<2x1x2xf32>) -> tensor<1x2x1xf32> {
    %z = nn.contract %x, %y lhs = [3, 0, 1] rhs = [0, 2, 3] out = [2, 0, 1]
        : (tensor<2x2x1xf32>, tensor<2x1x2xf32>) -> tensor<1x2x1xf32>
    return %z : tensor<1x2x1xf32>
  })",
                {floats({2, 2, 1}, {1, 2, 3, 4}), floats({2, 1, 2}, {1, 10, 100, 1000})}),
            "float32 [1, 2, 1]: 31 4200");
}

TEST(Contract, sums_a_label_of_one_operand) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    %z = nn.contract %x, %y lhs = [0, 1] rhs = [0] out = [0] : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %z : tensor<2xf32>
  })",
                {sixFloats, floats({2}, {1, 2})}),
            "float32 [2]: 6 30");
}

TEST(Contract, multiplies_bytes_of_either_sign_into_i32) {
  EXPECT_EQ(run(R"((%x: tensor<1x2xi8>, %y: tensor<2x1xi8>) -> tensor<1x1xi32> {
    %z = nn.contract %x, %y lhs = [0, 2] rhs = [2, 1] out = [0, 1] {unsigned_lhs}
        : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>
    return %z : tensor<1x1xi32>
  })",
                {makeIntegers(ElementType::Int8, {1, 2}, {-1, 1}),
                 makeIntegers(ElementType::Int8, {2, 1}, {-1, 2})}),
            "int32 [1, 1]: -253");
}

TEST(Contract, rounds_operands_to_the_compute_type) {
  EXPECT_EQ(run(R"((%x: tensor<1x1xf32>, %y: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %z = nn.contract %x, %y lhs = [0, 2] rhs = [2, 1] out = [0, 1]
        {precision = #nn.precision<compute = f16, accumulate = f32>}
        : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    return %z : tensor<1x1xf32>
  })",
                {floats({1, 1}, {2049}), floats({1, 1}, {3})}),
            "float32 [1, 1]: 6144");
}

std::string convolved(const std::string &attributes, const std::string &type, const Buffer &input,
                      const Buffer &filter) {
  return run("(%x: tensor<?x?x?xf32>, %f: tensor<?x?x?xf32>) -> tensor<" + type + "> {" +
                 "  %y = nn.conv %x, %f " + attributes +
                 " : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<" + type + ">  return %y : tensor<" +
                 type + "> }",
             {input, filter});
}

TEST(Conv, correlates_with_padding_and_stride) {
  EXPECT_EQ(convolved("strides = [2] low = [1] dilations = [1] input_dilations = [1] groups = 1", "1x1x3xf32",
                      floats({1, 1, 5}, {1, 2, 3, 4, 5}), floats({1, 1, 3}, {1, 10, 100})),
            "float32 [1, 1, 3]: 210 432 54");
}

TEST(Conv, sums_channels_and_dilates) {
  EXPECT_EQ(convolved("strides = [1] low = [0] dilations = [2] input_dilations = [1] groups = 1", "1x1x2xf32",
                      floats({1, 2, 4}, {1, 2, 3, 4, 10, 20, 30, 40}), floats({1, 2, 2}, {1, 1, 1, 1})),
            "float32 [1, 1, 2]: 44 66");
}

TEST(Conv, keeps_groups_apart) {
  EXPECT_EQ(convolved("strides = [1] low = [0] dilations = [1] input_dilations = [1] groups = 2", "1x2x2xf32",
                      floats({1, 2, 2}, {1, 2, 3, 4}), floats({2, 1, 1}, {10, 100})),
            "float32 [1, 2, 2]: 10 20 300 400");
}

TEST(Conv, spreads_its_input_apart) {
  // The transposed convolution of stride 2: input 1 0 2 0 3 with a border of one zero.
  EXPECT_EQ(convolved("strides = [1] low = [1] dilations = [1] input_dilations = [2] groups = 1", "1x1x6xf32",
                      floats({1, 1, 3}, {1, 2, 3}), floats({1, 1, 2}, {10, 1})),
            "float32 [1, 1, 6]: 1 10 2 20 3 30");
}

TEST(Conv, spreads_and_strides_at_once) {
  // The input spread by 3 is 1 0 0 2 0 0 3; every second output of a window of one: positions 0 2 4 6.
  EXPECT_EQ(convolved("strides = [2] low = [0] dilations = [1] input_dilations = [3] groups = 1", "1x1x4xf32",
                      floats({1, 1, 3}, {1, 2, 3}), floats({1, 1, 1}, {1})),
            "float32 [1, 1, 4]: 1 0 0 3");
}

TEST(Conv, slides_in_two_dimensions) {
  EXPECT_EQ(run(R"((%x: tensor<1x1x3x3xf32>, %f: tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32> {
    %y = nn.conv %x, %f strides = [1, 1] low = [0, 0] dilations = [1, 1] input_dilations = [1, 1] groups = 1
        : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
    return %y : tensor<1x1x2x2xf32>
  })",
                {floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), floats({1, 1, 2, 2}, {1, 0, 0, -1})}),
            "float32 [1, 1, 2, 2]: -4 -4 -4 -4");
}

TEST(Conv, refuses_channels_that_do_not_fit) {
  EXPECT_EQ(convolved("strides = [1] low = [0] dilations = [1] input_dilations = [1] groups = 1", "1x1x2xf32",
                      floats({1, 2, 2}, {1, 2, 3, 4}), floats({1, 1, 1}, {1})),
            "error: 'nn.conv' op has an input of shape [1, 2, 2], filters of shape [1, 1, 1], 1 groups and a "
            "result "
            "of shape [1, 1, 2]");
}

//===- Windows -----------------------------------------------------------------------------------------------

TEST(Pool, combines_what_lies_inside) {
  auto pooled = [](const std::string &combiner) {
    return run("(%x: tensor<1x1x4xf32>) -> tensor<1x1x3xf32> {"
               "  %y = nn.pool " +
                   combiner +
                   " %x window = [2] strides = [2] low = [1] dilations = [1]"
                   "      : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>"
                   "  return %y : tensor<1x1x3xf32> }",
               {floats({1, 1, 4}, {-1, -2, -3, -4})});
  };
  EXPECT_EQ(pooled("max"), "float32 [1, 1, 3]: -1 -2 -4");
  EXPECT_EQ(pooled("sum"), "float32 [1, 1, 3]: -1 -5 -4");
}

TEST(PoolArgMax, counts_in_the_whole_input) {
  auto places = [](const std::string &order) {
    return run("(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xi64> {"
               "  %y = nn.pool_arg_max %x window = [2, 2] strides = [1, 1] low = [0, 0] dilations = [1, 1] " +
                   order +
                   "      : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xi64>"
                   "  return %y : tensor<1x2x1x1xi64> }",
               {floats({1, 2, 2, 2}, {1, 9, 2, 3, 4, 5, 8, 8})});
  };
  EXPECT_EQ(places(""), "int64 [1, 2, 1, 1]: 1 6");
  EXPECT_EQ(places("column_major"), "int64 [1, 2, 1, 1]: 2 5");
}

/// Resizes [1, 2, 3, 4] to `size` elements.
std::string resized(const std::string &how, int64_t size, double scale, const std::string &more = "") {
  std::string type = "tensor<" + std::to_string(size) + "xf32>";
  return run("(%x: tensor<4xf32>, %s: tensor<1xf32>) -> " + type + " {" + "  %y = nn.resize " + how + " " +
                 more + " : (tensor<4xf32>, tensor<1xf32>) -> " + type + "  return %y : " + type + " }",
             {floats({4}, {1, 2, 3, 4}), floats({1}, {scale})});
}

TEST(Resize, takes_the_nearest) {
  EXPECT_EQ(resized("nearest %x, %s coordinate = asymmetric nearest = floor", 8, 2),
            "float32 [8]: 1 1 2 2 3 3 4 4");
  EXPECT_EQ(resized("nearest %x, %s coordinate = half_pixel nearest = round_prefer_floor", 2, 0.5),
            "float32 [2]: 1 3");
  EXPECT_EQ(resized("nearest %x, %s coordinate = half_pixel nearest = round_prefer_ceil", 2, 0.5),
            "float32 [2]: 2 4");
}

TEST(Resize, interpolates_linearly) {
  EXPECT_EQ(resized("linear %x, %s coordinate = half_pixel nearest = floor", 8, 2),
            "float32 [8]: 1 1.25 1.75 2.25 2.75 3.25 3.75 4");
  EXPECT_EQ(resized("linear %x, %s coordinate = align_corners nearest = floor", 7, 1.75),
            "float32 [7]: 1 1.5 2 2.5 3 3.5 4");
  EXPECT_EQ(resized("linear %x, %s coordinate = half_pixel nearest = floor", 2, 0.5), "float32 [2]: 1.5 3.5");
}

TEST(Resize, widens_the_filter_when_shrinking) {
  // At 0.5 the triangle reaches 2 to either side: weights 1 3 3 1 over the repeated border.
  EXPECT_EQ(resized("linear %x, %s coordinate = half_pixel nearest = floor", 2, 0.5, "{antialias}"),
            "float32 [2]: 1.625 3.375");
}

TEST(Resize, interpolates_cubically) {
  // At 0.5 between 1 and 2, with a = -0.75 and the border repeated: weights -3/32 19/32 19/32 -3/32.
  EXPECT_EQ(resized("cubic %x, %s coordinate = asymmetric nearest = floor", 8, 2),
            "float32 [8]: 1 1.40625 2 2.5 3 3.59375 4 4.09375");
}

TEST(Resize, extrapolates_outside_the_region) {
  EXPECT_EQ(run(R"((%x: tensor<3xf32>, %s: tensor<1xf32>, %r: tensor<2xf32>) -> tensor<3xf32> {
    %y = nn.resize linear %x, %s roi %r coordinate = tf_crop_and_resize nearest = floor {extrapolation = 9.0 : f32}
        : (tensor<3xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  })",
                {floats({3}, {1, 2, 3}), floats({1}, {1}), floats({2}, {0.5, 1.5})}),
            "float32 [3]: 2 3 9");
}

TEST(Resize, rounds_integers_and_clamps) {
  EXPECT_EQ(run(R"((%x: tensor<2xi8>, %s: tensor<1xf32>) -> tensor<4xi8> {
    %y = nn.resize linear %x, %s coordinate = half_pixel nearest = floor {unsigned_input}
        : (tensor<2xi8>, tensor<1xf32>) -> tensor<4xi8>
    return %y : tensor<4xi8>
  })",
                {makeIntegers(ElementType::UInt8, {2}, {0, 200}), floats({1}, {2})}),
            "int8 [4]: 0 50 -106 -56");
}

//===- Recurrent cells ---------------------------------------------------------------------------------------

TEST(Rnn, walks_time_and_ends_sequences_early) {
  EXPECT_EQ(run(R"((%g: tensor<3x2x1xf32>, %r: tensor<1x1xf32>, %h: tensor<2x1xf32>, %n: tensor<2xi32>)
      -> (tensor<3x2x1xf32>, tensor<2x1xf32>) {
    %y, %last = nn.rnn %g, %r init %h lengths %n activations = ["Relu"]
        : (tensor<3x2x1xf32>, tensor<1x1xf32>, tensor<2x1xf32>, tensor<2xi32>)
        -> (tensor<3x2x1xf32>, tensor<2x1xf32>)
    return %y, %last : tensor<3x2x1xf32>, tensor<2x1xf32>
  })",
                {floats({3, 2, 1}, {1, 10, 2, 20, 3, 30}), floats({1, 1}, {2}), floats({2, 1}, {1, 0}),
                 makeIntegers(ElementType::Int32, {2}, {3, 1})}),
            "float32 [3, 2, 1]: 3 10 8 0 19 0\nfloat32 [2, 1]: 19 10");
}

TEST(Rnn, walks_backward) {
  EXPECT_EQ(run(R"((%g: tensor<3x1x1xf32>, %r: tensor<1x1xf32>, %h: tensor<1x1xf32>)
      -> (tensor<3x1x1xf32>, tensor<1x1xf32>) {
    %y, %last = nn.rnn %g, %r init %h activations = ["Affine"] reverse {alphas = array<f32: 2.0>}
        : (tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<3x1x1xf32>, tensor<1x1xf32>)
    return %y, %last : tensor<3x1x1xf32>, tensor<1x1xf32>
  })",
                {floats({3, 1, 1}, {1, 2, 3}), floats({1, 1}, {1}), floats({1, 1}, {0})}),
            "float32 [3, 1, 1]: 34 16 6\nfloat32 [1, 1]: 34");
}

TEST(Rnn, refuses_unknown_activations) {
  EXPECT_EQ(run(R"((%g: tensor<1x1x1xf32>, %r: tensor<1x1xf32>, %h: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %y, %last = nn.rnn %g, %r init %h activations = ["Sine"]
        : (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>)
    return %last : tensor<1x1xf32>
  })",
                {floats({1, 1, 1}, {1}), floats({1, 1}, {1}), floats({1, 1}, {0})}),
            "error: 'nn.rnn' op has an unknown activation \"Sine\"");
}

TEST(Lstm, joins_its_gates_in_onnx_order) {
  // With Affine everywhere a gate is its pre-activation: i = 2, o = 3, f = 5, c = 7 and a cell of 11 with
  // peepholes 1, 10, 100: i = 2 + 11, f = 5 + 1100, c' = f * 11 + i * 7, o = 3 + 10 c', h' = o * c'.
  EXPECT_EQ(run(R"((%g: tensor<1x1x4xf32>, %r: tensor<4x1xf32>, %h: tensor<1x1xf32>, %c: tensor<1x1xf32>,
                    %p: tensor<3xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
    %y, %hl, %cl = nn.lstm %g, %r init %h, %c peepholes %p activations = ["Affine", "Affine", "Affine"]
        : (tensor<1x1x4xf32>, tensor<4x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<3xf32>)
        -> (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
    return %hl, %cl : tensor<1x1xf32>, tensor<1x1xf32>
  })",
                {floats({1, 1, 4}, {2, 3, 5, 7}), floats({4, 1}, {0, 0, 0, 0}), floats({1, 1}, {0}),
                 floats({1, 1}, {11}), floats({3}, {1, 10, 100})}),
            "float32 [1, 1]: 1.49968e+09\nfloat32 [1, 1]: 12246");
}

TEST(Lstm, adds_the_recurrent_part_of_each_gate) {
  // h = 1; the rows of the recurrence are 1 2 3 4 for i o f c: i = 1, o = 2, f = 3, c = 4, so c' = 3 * 1 + 1
  // * 4.
  EXPECT_EQ(run(R"((%g: tensor<1x1x4xf32>, %r: tensor<4x1xf32>, %h: tensor<1x1xf32>, %c: tensor<1x1xf32>)
      -> (tensor<1x1xf32>, tensor<1x1xf32>) {
    %y, %hl, %cl = nn.lstm %g, %r init %h, %c activations = ["Affine", "Affine", "Affine"]
        : (tensor<1x1x4xf32>, tensor<4x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
        -> (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
    return %hl, %cl : tensor<1x1xf32>, tensor<1x1xf32>
  })",
                {Buffer(ElementType::Float32, {1, 1, 4}), floats({4, 1}, {1, 2, 3, 4}), floats({1, 1}, {1}),
                 floats({1, 1}, {1})}),
            "float32 [1, 1]: 14\nfloat32 [1, 1]: 7");
}

TEST(Gru, resets_before_or_after_the_product) {
  auto gru = [](const std::string &when) {
    return run(
        "(%g: tensor<1x1x3xf32>, %r: tensor<3x1xf32>, %b: tensor<1xf32>, %h: tensor<1x1xf32>)"
        "    -> tensor<1x1xf32> {"
        "  %y, %hl = nn.gru %g, %r, %b init %h activations = [\"Affine\", \"Affine\"] " +
            when +
            "      : (tensor<1x1x3xf32>, tensor<3x1xf32>, tensor<1xf32>, tensor<1x1xf32>)"
            "      -> (tensor<1x1x1xf32>, tensor<1x1xf32>)"
            "  return %hl : tensor<1x1xf32> }",
        {floats({1, 1, 3}, {0.5, 2, 3}), floats({3, 1}, {0, 0, 10}), floats({1}, {1}), floats({1, 1}, {4})});
  };
  // z = 0.5, r = 2; n = 3 + (2 * 4) * 10 + 1 = 84, or 3 + 2 * (4 * 10 + 1) = 85.
  EXPECT_EQ(gru(""), "float32 [1, 1]: 44");
  EXPECT_EQ(gru("{linear_before_reset}"), "float32 [1, 1]: 44.5");
}

} // namespace
} // namespace joule::reference
