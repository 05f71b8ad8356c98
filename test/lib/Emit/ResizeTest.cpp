// nn.resize on the virtual GPU gives the values that the ONNX specification's reference evaluator gives.
#include "test/lib/Emit/RunKernel.h"

#include <gtest/gtest.h>

namespace joule::test {
namespace {

struct Case {
  const char *name;
  const char *function;
  std::vector<double> wanted;
};

void PrintTo(const Case &test, std::ostream *stream) { *stream << test.name; }

class Resize : public testing::TestWithParam<Case> {};

TEST_P(Resize, gives_the_specified_values) {
  const Case &test = GetParam();
  std::vector<double> input;
  for (int i = 1; i <= 20; ++i)
    input.push_back(i * i % 23);
  KernelRun run = runKernel(test.function, {reference::makeFloats(ElementType::Float32, {4, 5}, input)});
  ASSERT_EQ(run.error, "");
  ASSERT_EQ(run.results[0].count(), static_cast<int64_t>(test.wanted.size()));
  for (size_t i = 0; i < test.wanted.size(); ++i)
    EXPECT_NEAR(run.results[0].number(i), test.wanted[i], 2e-5) << "element " << i;
}

const Case cases[] = {
    {"linear_half_pixel",
     R"((%x: tensor<4x5xf32>) -> tensor<6x10xf32> {
      %s = nn.constant dense<[1.600000023841858, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = half_pixel nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x10xf32>
      return %y : tensor<6x10xf32> })",
     {1,       1.75,     3.25,     5.25,     7.75,     10.75,    14.25,    12.5,     5.5,      2,
      6.25,    5.578125, 4.234375, 5.90625,  10.59375, 13.26562, 13.92188, 11.84375, 7.03125,  4.625,
      12.5625, 10.21875, 5.53125,  6.734375, 13.82813, 16.03125, 13.34375, 11.15625, 9.46875,  8.625,
      8.1875,  7.40625,  5.84375,  6.578125, 9.609375, 11.34375, 11.78125, 12.71875, 14.15625, 14.875,
      5.0625,  5.84375,  7.40625,  7.671875, 6.640625, 7.90625,  11.46875, 13.73437, 14.70313, 15.1875,
      3.1875,  5.53125,  10.21875, 10.01562, 4.921875, 5.71875,  12.40625, 14.20312, 11.10938, 9.5625}},
    {"cubic_half_pixel",
     R"((%x: tensor<4x5xf32>) -> tensor<8x3xf32> {
      %s = nn.constant dense<[2.0, 0.699999988079071]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = half_pixel nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x3xf32>
      return %y : tensor<8x3xf32> })",
     {0.459146, 6.048608, 15.94718, 3.699401, 8.331002, 14.5733,  9.095178, 12.16546,
      12.29759, 10.61902, 12.29435, 11.17269, 7.425214, 8.685832, 11.76001, 5.276345,
      5.7691,   13.47951, 5.202127, 5.067526, 15.44014, 5.121313, 4.5959,   16.63832}},
    {"linear_half_pixel_symmetric",
     R"((%x: tensor<4x5xf32>) -> tensor<6x10xf32> {
      %s = nn.constant dense<[1.600000023841858, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = half_pixel_symmetric nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x10xf32>
      return %y : tensor<6x10xf32> })",
     {1,       1.75,     3.25,     5.25,     7.75,     10.75,    14.25,    12.5,     5.5,      2,
      7.75,    6.671875, 4.515625, 6.09375,  11.40625, 13.98438, 13.82812, 11.65625, 7.46875,  5.375,
      11.6875, 9.65625,  5.59375,  6.703125, 12.98437, 15.09375, 13.03125, 11.46875, 10.40625, 9.875,
      7.3125,  6.84375,  5.90625,  6.546875, 8.765625, 10.40625, 11.46875, 13.03125, 15.09375, 16.125,
      4.6875,  5.78125,  7.96875,  8.140625, 6.296875, 7.46875,  11.65625, 13.82812, 13.98438, 14.0625,
      3,       5.5,      10.5,     10.25,    4.75,     5.5,      12.5,     14.25,    10.75,    9}},
    {"cubic_half_pixel_symmetric",
     R"((%x: tensor<4x5xf32>) -> tensor<8x3xf32> {
      %s = nn.constant dense<[2.0, 0.699999988079071]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = half_pixel_symmetric nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x3xf32>
      return %y : tensor<8x3xf32> })",
     {1.856289, 8.050781, 10.98014, 2.982063, 11.39062, 10.40844, 4.834218, 17.01562,
      9.401694, 5.874545, 16.89453, 10.77127, 5.432854, 11.21484, 13.75187, 6.751515,
      5.585938, 15.39978, 9.01821,  3.007812, 14.80758, 10.39567, 1.367188, 14.48756}},
    {"linear_pytorch_half_pixel",
     R"((%x: tensor<4x5xf32>) -> tensor<6x10xf32> {
      %s = nn.constant dense<[1.600000023841858, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = pytorch_half_pixel nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x10xf32>
      return %y : tensor<6x10xf32> })",
     {1,       1.75,     3.25,     5.25,     7.75,     10.75,    14.25,    12.5,     5.5,      2,
      6.25,    5.578125, 4.234375, 5.90625,  10.59375, 13.26562, 13.92188, 11.84375, 7.03125,  4.625,
      12.5625, 10.21875, 5.53125,  6.734375, 13.82813, 16.03125, 13.34375, 11.15625, 9.46875,  8.625,
      8.1875,  7.40625,  5.84375,  6.578125, 9.609375, 11.34375, 11.78125, 12.71875, 14.15625, 14.875,
      5.0625,  5.84375,  7.40625,  7.671875, 6.640625, 7.90625,  11.46875, 13.73437, 14.70313, 15.1875,
      3.1875,  5.53125,  10.21875, 10.01562, 4.921875, 5.71875,  12.40625, 14.20312, 11.10938, 9.5625}},
    {"cubic_pytorch_half_pixel",
     R"((%x: tensor<4x5xf32>) -> tensor<8x3xf32> {
      %s = nn.constant dense<[2.0, 0.699999988079071]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = pytorch_half_pixel nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x3xf32>
      return %y : tensor<8x3xf32> })",
     {0.459146, 6.048608, 15.94718, 3.699401, 8.331002, 14.5733,  9.095178, 12.16546,
      12.29759, 10.61902, 12.29435, 11.17269, 7.425214, 8.685832, 11.76001, 5.276345,
      5.7691,   13.47951, 5.202127, 5.067526, 15.44014, 5.121313, 4.5959,   16.63832}},
    {"linear_align_corners",
     R"((%x: tensor<4x5xf32>) -> tensor<6x10xf32> {
      %s = nn.constant dense<[1.600000023841858, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = align_corners nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x10xf32>
      return %y : tensor<6x10xf32> })",
     {1,        2.333333, 3.666667, 5.666667, 7.888889, 10.55556, 13.66667, 14.44444, 8.222222, 2,
      7.666667, 5.790123, 3.91358,  6.962963, 11.65432, 13.95062, 13.85185, 12.83951, 9.08642,  5.333333,
      12.22222, 8.271605, 4.320988, 7.851852, 13.87654, 15.80247, 13.62963, 11.67901, 10.39506, 9.111111,
      8.333334, 6.851852, 5.37037,  7.111111, 9.925926, 11.48148, 11.77778, 12.2963,  13.48148, 14.66667,
      5.333333, 6.320988, 7.308642, 7.259259, 6.864198, 8.049383, 10.81481, 13.23457, 14.61728, 16,
      3.666667, 7.123457, 10.58025, 8.740741, 5.135803, 5.950617, 11.18519, 14.65432, 12.82716, 11}},
    {"cubic_align_corners",
     R"((%x: tensor<4x5xf32>) -> tensor<8x3xf32> {
      %s = nn.constant dense<[2.0, 0.699999988079071]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = align_corners nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x3xf32>
      return %y : tensor<8x3xf32> })",
     {1,        6.52,     14.208,   6.588921, 9.284444, 12.52954, 12.09913, 11.85036,
      10.92791, 12.59621, 11.37387, 10.93948, 8.699708, 8.582869, 12.27767, 5.086006,
      6.214315, 13.9774,  3.708455, 5.610029, 15.20434, 3,        5.475999, 16.112}},
    {"linear_asymmetric",
     R"((%x: tensor<4x5xf32>) -> tensor<6x10xf32> {
      %s = nn.constant dense<[1.600000023841858, 2.0]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = asymmetric nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x10xf32>
      return %y : tensor<6x10xf32> })",
     {1,     2.5,    4,      6.5,     9,    12.5,  16,    9,    2,     2,      8.5,  5.9375,
      3.375, 9,      14.625, 14.0625, 13.5, 9.625, 5.75,  5.75, 11.25, 7.5,    3.75, 9.625,
      15.5,  13.75,  12,     11.25,   10.5, 10.5,  6.875, 6.25, 5.625, 7.4375, 9.25, 10.625,
      12,    14.375, 16.75,  16.75,   4.5,  7,     9.5,   7.25, 5,     9.5,    14,   13.75,
      13.5,  13.5,   3,      8,       13,   7.5,   2,     9,    16,    12.5,   9,    9}},
    {"cubic_asymmetric",
     R"((%x: tensor<4x5xf32>) -> tensor<8x3xf32> {
      %s = nn.constant dense<[2.0, 0.699999988079071]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = asymmetric nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x3xf32>
      return %y : tensor<8x3xf32> })",
     {1,        5.862974, 16.3207,  7.65625,  7.497358, 14.98237, 13,       8.720117,
      13.23761, 10.90625, 7.721119, 11.52323, 6,        6.524781, 11.06997, 3.84375,
      7.221301, 12.68818, 3,        8.329446, 14.71283, 2.71875,  8.498633, 15.05435}},
    {"nearest_round_prefer_floor",
     R"((%x: tensor<4x5xf32>) -> tensor<6x3xf32> {
      %s = nn.constant dense<[1.5, 0.6000000238418579]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = half_pixel nearest = round_prefer_floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x3xf32>
      return %y : tensor<6x3xf32> })",
     {1, 9, 2, 1, 9, 2, 13, 18, 8, 6, 8, 18, 6, 8, 18, 3, 2, 9}},
    {"nearest_asymmetric_round_prefer_floor",
     R"((%x: tensor<4x5xf32>) -> tensor<8x6xf32> {
      %s = nn.constant dense<[2.0, 1.2999999523162842]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = asymmetric nearest = round_prefer_floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x6xf32>
      return %y : tensor<8x6xf32> })",
     {1, 4, 9, 9, 16, 2,  1, 4, 9, 9, 16, 2,  13, 3,  18, 18, 12, 8, 13, 3,  18, 18, 12, 8,
      6, 6, 8, 8, 12, 18, 6, 6, 8, 8, 12, 18, 3,  13, 2,  2,  16, 9, 3,  13, 2,  2,  16, 9}},
    {"nearest_round_prefer_ceil",
     R"((%x: tensor<4x5xf32>) -> tensor<6x3xf32> {
      %s = nn.constant dense<[1.5, 0.6000000238418579]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = half_pixel nearest = round_prefer_ceil
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x3xf32>
      return %y : tensor<6x3xf32> })",
     {1, 9, 2, 13, 18, 8, 13, 18, 8, 6, 8, 18, 3, 2, 9, 3, 2, 9}},
    {"nearest_asymmetric_round_prefer_ceil",
     R"((%x: tensor<4x5xf32>) -> tensor<8x6xf32> {
      %s = nn.constant dense<[2.0, 1.2999999523162842]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = asymmetric nearest = round_prefer_ceil
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x6xf32>
      return %y : tensor<8x6xf32> })",
     {1, 4, 9, 9, 16, 2,  13, 3,  18, 18, 12, 8, 13, 3,  18, 18, 12, 8, 6, 6,  8, 8, 12, 18,
      6, 6, 8, 8, 12, 18, 3,  13, 2,  2,  16, 9, 3,  13, 2,  2,  16, 9, 3, 13, 2, 2, 16, 9}},
    {"nearest_floor",
     R"((%x: tensor<4x5xf32>) -> tensor<6x3xf32> {
      %s = nn.constant dense<[1.5, 0.61000001430511475]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = half_pixel nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x3xf32>
      return %y : tensor<6x3xf32> })",
     {1, 4, 16, 1, 4, 16, 13, 3, 12, 13, 3, 12, 6, 6, 12, 3, 13, 16}},
    {"nearest_asymmetric_floor",
     R"((%x: tensor<4x5xf32>) -> tensor<8x6xf32> {
      %s = nn.constant dense<[2.0, 1.2999999523162842]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = asymmetric nearest = floor
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x6xf32>
      return %y : tensor<8x6xf32> })",
     {1, 1, 4, 9, 16, 16, 1, 1, 4, 9, 16, 16, 13, 13, 3,  18, 12, 12, 13, 13, 3,  18, 12, 12,
      6, 6, 6, 8, 12, 12, 6, 6, 6, 8, 12, 12, 3,  3,  13, 2,  16, 16, 3,  3,  13, 2,  16, 16}},
    {"nearest_ceil",
     R"((%x: tensor<4x5xf32>) -> tensor<6x3xf32> {
      %s = nn.constant dense<[1.5, 0.6000000238418579]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = half_pixel nearest = ceil
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x3xf32>
      return %y : tensor<6x3xf32> })",
     {4, 9, 2, 3, 18, 8, 6, 8, 18, 6, 8, 18, 13, 2, 9, 13, 2, 9}},
    {"nearest_asymmetric_ceil",
     R"((%x: tensor<4x5xf32>) -> tensor<8x6xf32> {
      %s = nn.constant dense<[2.0, 1.2999999523162842]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize nearest %x, %s coordinate = asymmetric nearest = ceil
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<8x6xf32>
      return %y : tensor<8x6xf32> })",
     {1, 4, 9, 16, 2,  2,  13, 3,  18, 12, 8, 8, 13, 3,  18, 12, 8, 8, 6, 6,  8, 12, 18, 18,
      6, 6, 8, 12, 18, 18, 3,  13, 2,  16, 9, 9, 3,  13, 2,  16, 9, 9, 3, 13, 2, 16, 9,  9}},
    {"linear_antialias",
     R"((%x: tensor<4x5xf32>) -> tensor<2x2xf32> {
      %s = nn.constant dense<[0.6000000238418579, 0.5]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize linear %x, %s coordinate = half_pixel nearest = floor {antialias}
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32> })",
     {5.65625, 11.0625, 7.138889, 10.75}},
    {"cubic_antialias",
     R"((%x: tensor<4x5xf32>) -> tensor<2x2xf32> {
      %s = nn.constant dense<[0.6000000238418579, 0.5]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = half_pixel nearest = floor {antialias}
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32> })",
     {5.355163, 12.31848, 7.11456, 10.88316}},
    {"cubic_antialias_excluded",
     R"((%x: tensor<4x5xf32>) -> tensor<2x2xf32> {
      %s = nn.constant dense<[0.6000000238418579, 0.5]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = align_corners nearest = floor {exclude_outside, antialias}
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32> })",
     {3.545087, 11.52846, 6.727175, 11.28757}},
    {"cubic_excluded",
     R"((%x: tensor<4x5xf32>) -> tensor<6x7xf32> {
      %s = nn.constant dense<[1.5, 1.5]> : tensor<2xf32> -> tensor<2xf32>
      %y = nn.resize cubic %x, %s coordinate = half_pixel nearest = floor {cubic_a = -5.000000e-01 : f32, exclude_outside}
        : (tensor<4x5xf32>, tensor<2xf32>) -> tensor<6x7xf32>
      return %y : tensor<6x7xf32> })",
     {-0.04310942, 1.76935,  4.720638, 7.475268, 13.52303, 14.80064, 3.359064, 7.302632, 4.698962,
      4.395425,    12.50327, 15.24265, 12.84547, 5.362981, 13.52239, 7.505447, 4.433471, 15.89755,
      15.56887,    11.12855, 9.828329, 7.282255, 5.984749, 5.620027, 8.97951,  10.61169, 12.57931,
      16.76467,    3.613003, 7.100346, 9.428649, 4.41122,  8.841912, 14.64464, 13.96512, 2.101454,
      8.51548,     12.48063, 2.307383, 8.684211, 16.07711, 9.462081}},
    {"crop",
     R"((%x: tensor<4x5xf32>) -> tensor<4x6xf32> {
      %s = nn.constant dense<[1.0, 1.2000000476837158]> : tensor<2xf32> -> tensor<2xf32>
      %r = nn.constant dense<[0.4000000059604645, -0.20000000298023224, 0.8999999761581421, 1.2999999523162842]> : tensor<4xf32> -> tensor<4xf32>
      %y = nn.resize linear %x, %s roi %r coordinate = tf_crop_and_resize nearest = floor {extrapolation = 1.000000e+01 : f32}
        : (tensor<4x5xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<4x6xf32>
      return %y : tensor<4x6xf32> })",
     {10, 8.4, 11.04, 12.8, 10,   10, 10, 6.9,      8.639999, 11.8, 15,   10,
      10, 6.2, 7.04,  11.6, 16.2, 10, 10, 6.699999, 6.640001, 12.6, 11.7, 10}},
};
INSTANTIATE_TEST_SUITE_P(all, Resize, testing::ValuesIn(cases), [](const testing::TestParamInfo<Case> &info) {
  return std::string(info.param.name);
});

} // namespace
} // namespace joule::test
