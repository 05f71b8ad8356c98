// nn operations that move elements: what each gives for small inputs.
#include "test/lib/Reference/RunText.h"

#include <gtest/gtest.h>

namespace joule::reference {
namespace {

const Buffer sixFloats = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Broadcast, repeats_along_new_dimensions_and_size_one) {
  EXPECT_EQ(run(R"((%x: tensor<2x1xf32>) -> tensor<2x2x3xf32> {
    %y = nn.broadcast %x dimensions = [1, 2] : (tensor<2x1xf32>) -> tensor<2x2x3xf32>
    return %y : tensor<2x2x3xf32>
  })",
                {floats({2, 1}, {1, 2})}),
            "float32 [2, 2, 3]: 1 1 1 2 2 2 1 1 1 2 2 2");
}

TEST(Broadcast, refuses_a_dynamic_size_that_does_not_fit) {
  EXPECT_EQ(run(R"((%x: tensor<?xf32>) -> tensor<3xf32> {
    %y = nn.broadcast %x dimensions = [0] : (tensor<?xf32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  })",
                {floats({2}, {1, 2})}),
            "error: 'nn.broadcast' op repeats 2 elements along a dimension of 3");
}

TEST(Reshape, keeps_row_major_order) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %y = nn.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %y : tensor<3x2xf32>
  })",
                {sixFloats}),
            "float32 [3, 2]: 1 2 3 4 5 6");
}

TEST(Reshape, refuses_another_number_of_elements) {
  EXPECT_EQ(run(R"((%x: tensor<?xf32>) -> tensor<3xf32> {
    %y = nn.reshape %x : (tensor<?xf32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  })",
                {floats({2}, {1, 2})}),
            "error: 'nn.reshape' op turns shape [2] into [3]");
}

TEST(Transpose, permutes) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %y = nn.transpose %x permutation = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %y : tensor<3x2xf32>
  })",
                {sixFloats}),
            "float32 [3, 2]: 1 4 2 5 3 6");
}

TEST(Slice, walks_backward_with_a_stride) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
    %y = nn.slice %x offsets = [0, 2] strides = [1, -2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  })",
                {sixFloats}),
            "float32 [2, 2]: 3 1 6 4");
}

TEST(Slice, takes_dynamic_offsets_and_sizes_and_checks_them) {
  const char *text = R"((%x: tensor<2x3xf32>, %at: tensor<i64>) -> tensor<2x?xf32> {
    %i64 = tensor.extract %at[] : tensor<i64>
    %i = arith.index_cast %i64 : i64 to index
    %two = arith.constant 2 : index
    %y = nn.slice %x sizes(%two) offsets = [0, %i] strides = [1, 1]
        : (tensor<2x3xf32>) -> tensor<2x?xf32>
    return %y : tensor<2x?xf32>
  })";
  EXPECT_EQ(run(text, {sixFloats, scalar(ElementType::Int64, int64_t(1))}), "float32 [2, 2]: 2 3 5 6");
  EXPECT_EQ(run(text, {sixFloats, scalar(ElementType::Int64, int64_t(2))}),
            "error: 'nn.slice' op reads elements 2 to 3 of 3 along dimension 1");
}

std::string padded(const std::string &mode) {
  return run(R"((%x: tensor<3xf32>) -> tensor<9xf32> {
    %v = nn.constant dense<9.0> : tensor<f32> -> tensor<f32>
    %y = nn.pad %x, %v low = [3] mode = )" +
                 mode + R"( : (tensor<3xf32>, tensor<f32>) -> tensor<9xf32>
    return %y : tensor<9xf32>
  })",
             {floats({3}, {1, 2, 3})});
}

TEST(Pad, fills_by_mode) {
  EXPECT_EQ(padded("constant"), "float32 [9]: 9 9 9 1 2 3 9 9 9");
  EXPECT_EQ(padded("edge"), "float32 [9]: 1 1 1 1 2 3 3 3 3");
  EXPECT_EQ(padded("reflect"), "float32 [9]: 2 3 2 1 2 3 2 1 2");
  EXPECT_EQ(padded("wrap"), "float32 [9]: 1 2 3 1 2 3 1 2 3");
}

TEST(Pad, crops_where_negative) {
  EXPECT_EQ(run(R"((%x: tensor<3xf32>) -> tensor<3xf32> {
    %v = nn.constant dense<9.0> : tensor<f32> -> tensor<f32>
    %y = nn.pad %x, %v low = [-1] mode = constant : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    return %y : tensor<3xf32>
  })",
                {floats({3}, {1, 2, 3})}),
            "float32 [3]: 2 3 9");
}

TEST(Concat, joins_along_an_inner_axis) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
    %z = nn.concat %x, %y axis = 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    return %z : tensor<2x4xf32>
  })",
                {sixFloats, floats({2, 1}, {7, 8})}),
            "float32 [2, 4]: 1 2 3 7 4 5 6 8");
}

TEST(Concat, joins_small_elements_across_bytes) {
  Buffer three = makeIntegers(ElementType::Int4, {3}, {1, -2, 3}),
         two = makeIntegers(ElementType::Int4, {2}, {-4, 5});
  EXPECT_EQ(run(R"((%x: tensor<3xi4>, %y: tensor<2xi4>) -> tensor<5xi4> {
    %z = nn.concat %x, %y axis = 0 : (tensor<3xi4>, tensor<2xi4>) -> tensor<5xi4>
    return %z : tensor<5xi4>
  })",
                {three, two}),
            "int4 [5]: 1 -2 3 -4 5");
}

TEST(Iota, counts_along_its_dimension) {
  EXPECT_EQ(run("() -> tensor<2x3xi32> { %y = nn.iota dimension = 1 : tensor<2x3xi32> return %y : "
                "tensor<2x3xi32> }"),
            "int32 [2, 3]: 0 1 2 0 1 2");
  EXPECT_EQ(
      run("() -> tensor<2xf16> { %y = nn.iota dimension = 0 : tensor<2xf16> return %y : tensor<2xf16> }"),
      "float16 [2]: 0 1");
}

TEST(Gather, takes_slices_counts_from_the_end_and_clamps) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<2x2xi64>) -> tensor<2x2x2xf32> {
    %y = nn.gather %x, %i axis = 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
    return %y : tensor<2x2x2xf32>
  })",
                {sixFloats, integers({2, 2}, {0, -1, 7, -9})}),
            "float32 [2, 2, 2]: 1 3 3 1 4 6 6 4");
}

TEST(GatherElements, takes_single_elements) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<2x2xi64>) -> tensor<2x2xf32> {
    %y = nn.gather_elements %x, %i axis = 1 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  })",
                {sixFloats, integers({2, 2}, {2, 0, -1, 1})}),
            "float32 [2, 2]: 3 1 6 5");
}

TEST(GatherNd, takes_elements_at_tuples) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<2x2xi64>) -> tensor<2xf32> {
    %y = nn.gather_nd %x, %i batch_dims = 0 : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {sixFloats, integers({2, 2}, {0, 1, 1, -1})}),
            "float32 [2]: 2 6");
}

TEST(GatherNd, takes_from_each_batch_its_own) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<2x1xi64>) -> tensor<2xf32> {
    %y = nn.gather_nd %x, %i batch_dims = 1 : (tensor<2x3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {sixFloats, integers({2, 1}, {0, 2})}),
            "float32 [2]: 1 6");
}

std::string scattered(const std::string &update) {
  return run("(%x: tensor<4xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<4xf32> {"
             "  %y = nn.scatter_elements " +
                 update +
                 " %x, %i, %u axis = 0"
                 "      : (tensor<4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4xf32>"
                 "  return %y : tensor<4xf32> }",
             {floats({4}, {1, 2, 3, 4}), integers({3}, {1, -1, 1}), floats({3}, {10, 20, 30})});
}

TEST(ScatterElements, joins_by_update) {
  EXPECT_EQ(scattered("replace"), "float32 [4]: 1 30 3 20");
  EXPECT_EQ(scattered("add"), "float32 [4]: 1 42 3 24");
  EXPECT_EQ(scattered("mul"), "float32 [4]: 1 600 3 80");
  EXPECT_EQ(scattered("max"), "float32 [4]: 1 30 3 20");
  EXPECT_EQ(scattered("min"), "float32 [4]: 1 2 3 4");
}

TEST(ScatterElements, drops_updates_outside) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<2xf32> {
    %y = nn.scatter_elements add %x, %i, %u axis = 0
        : (tensor<2xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })",
                {floats({2}, {1, 2}), integers({3}, {2, -3, -2}), floats({3}, {5, 6, 7})}),
            "float32 [2]: 8 2");
}

TEST(ScatterNd, drops_updates_outside) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<2x1xi64>, %u: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = nn.scatter_nd replace %x, %i, %u
        : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  })",
                {sixFloats, integers({2, 1}, {2, -3}), floats({2, 3}, {10, 20, 30, 40, 50, 60})}),
            "float32 [2, 3]: 1 2 3 4 5 6");
}

TEST(ScatterNd, writes_slices) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>, %i: tensor<1x1xi64>, %u: tensor<1x3xf32>) -> tensor<2x3xf32> {
    %y = nn.scatter_nd add %x, %i, %u
        : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x3xf32>) -> tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  })",
                {sixFloats, integers({1, 1}, {-1}), floats({1, 3}, {10, 20, 30})}),
            "float32 [2, 3]: 1 2 3 14 25 36");
}

TEST(TopK, orders_both_ways_and_ties_by_coordinate) {
  auto text = [](const std::string &smallest) {
    return "(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>) {"
           "  %v, %i = nn.top_k %x axis = 0 " +
           smallest +
           "      : (tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>)"
           "  return %v, %i : tensor<3xf32>, tensor<3xi64> }";
  };
  EXPECT_EQ(run(text(""), {floats({5}, {1, 7, 3, 7, NAN})}), "float32 [3]: nan 7 7\nint64 [3]: 4 1 3");
  EXPECT_EQ(run(text("smallest"), {floats({5}, {1, 7, 1, 0, NAN})}), "float32 [3]: 0 1 1\nint64 [3]: 3 0 2");
}

TEST(TopK, reads_integers_as_told) {
  EXPECT_EQ(run(R"((%x: tensor<2xi8>) -> tensor<1xi64> {
    %v, %i = nn.top_k %x axis = 0 unsigned : (tensor<2xi8>) -> (tensor<1xi8>, tensor<1xi64>)
    return %i : tensor<1xi64>
  })",
                {makeIntegers(ElementType::Int8, {2}, {1, -1})}),
            "int64 [1]: 1");
}

TEST(Triangularize, exchanges_rows_and_keeps_determinants) {
  // The second matrix has a column without a pivot.
  EXPECT_EQ(run(R"((%x: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
    %u = nn.triangularize %x : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    return %u : tensor<2x3x3xf32>
  })",
                {floats({2, 3, 3}, {1, 1, 1, 2, 4, 6, 0, 1, 5, 0, 1, 2, 0, 4, 8, 0, 8, 4})}),
            "float32 [2, 3, 3]: 2 4 6 0 1 2 0 0 3 0 1 2 0 8 4 0 0 -6");
}

TEST(Triangularize, refuses_matrices_that_are_not_square) {
  EXPECT_EQ(run(R"((%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %u = nn.triangularize %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
    return %u : tensor<?x3xf32>
  })",
                {sixFloats}),
            "error: 'nn.triangularize' op has matrices of 2 rows and 3 columns");
}

TEST(NonZero, lists_coordinates_by_dimension) {
  EXPECT_EQ(run(R"((%x: tensor<2x3xf32>) -> (tensor<2x?xi64>, index) {
    %i, %n = nn.nonzero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
    return %i, %n : tensor<2x?xi64>, index
  })",
                {floats({2, 3}, {0, 1, 0, 2, 0, 3})}),
            "int64 [2, 3]: 0 1 1 1 0 2\nint64 []: 3");
}

std::string distinct(const std::string &how) {
  return run("(%x: tensor<4x2xf32>) -> (tensor<?xi64>, tensor<4xi64>, index) {"
             "  %f, %i, %n = nn.unique %x " +
                 how +
                 " : (tensor<4x2xf32>) -> (tensor<?xi64>, tensor<4xi64>)"
                 "  return %f, %i, %n : tensor<?xi64>, tensor<4xi64>, index }",
             {floats({4, 2}, {2, NAN, 1, 5, 2, NAN, 1, 4})});
}

TEST(Unique, finds_distinct_slices) {
  EXPECT_EQ(distinct(""), "int64 [3]: 0 1 3\nint64 [4]: 0 1 0 2\nint64 []: 3");
  EXPECT_EQ(distinct("sorted"), "int64 [3]: 3 1 0\nint64 [4]: 2 1 2 0\nint64 []: 3");
}

TEST(NonMaxSuppression, chooses_by_class_and_score) {
  // Boxes 0 and 1 overlap by half of their union, box 2 is apart.
  const char *text = R"((%b: tensor<1x3x4xf32>, %s: tensor<1x2x3xf32>, %m: tensor<i64>, %i: tensor<f32>,
                         %t: tensor<f32>) -> (tensor<?x3xi64>, index) {
    %c, %n = nn.non_max_suppression %b, %s max %m iou %i score %t
        : (tensor<1x3x4xf32>, tensor<1x2x3xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
    return %c, %n : tensor<?x3xi64>, index
  })";
  Buffer boxes = floats({1, 3, 4}, {0, 0, 2, 2, 2, 0, 0, 1, 5, 5, 6, 6});
  Buffer scores = floats({1, 2, 3}, {3, 2, 1, 2, 3, 0.25});
  auto choose = [&](int64_t most, double overlap) {
    return run(text, {boxes, scores, scalar(ElementType::Int64, most), scalar(ElementType::Float32, overlap),
                      scalar(ElementType::Float32, 0.5)});
  };
  EXPECT_EQ(choose(9, 0.25), "int64 [3, 3]: 0 0 0 0 0 2 0 1 1\nint64 []: 3");
  EXPECT_EQ(choose(9, 0.5), "int64 [5, 3]: 0 0 0 0 0 1 0 0 2 0 1 1 0 1 0\nint64 []: 5");
  EXPECT_EQ(choose(1, 0.5), "int64 [2, 3]: 0 0 0 0 1 1\nint64 []: 2");
  EXPECT_EQ(choose(0, 0.5), "int64 [0, 3]:\nint64 []: 0");
}

TEST(Bitcast, keeps_the_bits) {
  EXPECT_EQ(run(R"((%x: tensor<1xf32>) -> tensor<1xi32> {
    %y = nn.bitcast %x : (tensor<1xf32>) -> tensor<1xi32>
    return %y : tensor<1xi32>
  })",
                {floats({1}, {1})}),
            "int32 [1]: 1065353216");
}

TEST(Cast, reads_and_writes_integers_as_told) {
  EXPECT_EQ(run(R"((%x: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xi8>) {
    %y = nn.cast %x unsigned_input : (tensor<2xi8>) -> tensor<2xf32>
    %z = nn.cast %y unsigned_result : (tensor<2xf32>) -> tensor<2xi8>
    return %y, %z : tensor<2xf32>, tensor<2xi8>
  })",
                {makeIntegers(ElementType::Int8, {2}, {-1, 5})}),
            "float32 [2]: 255 5\nint8 [2]: -1 5");
}

TEST(Cast, rounds_powers_of_two_as_told) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> (tensor<2x!nn.f8e8m0>, tensor<2x!nn.f8e8m0>) {
    %y = nn.cast %x rounding = up : (tensor<2xf32>) -> tensor<2x!nn.f8e8m0>
    %z = nn.cast %x : (tensor<2xf32>) -> tensor<2x!nn.f8e8m0>
    return %y, %z : tensor<2x!nn.f8e8m0>, tensor<2x!nn.f8e8m0>
  })",
                {floats({2}, {5, 6})}),
            "float8e8m0 [2]: 8 8\nfloat8e8m0 [2]: 4 8");
}

} // namespace
} // namespace joule::reference
