// arith and math operations on tensors, and tensors of scalars.
#include "test/lib/Reference/RunText.h"

#include <gtest/gtest.h>

namespace joule::reference {
namespace {

/// Applies a unary operation to a vector.
std::string unaryOf(const std::string &op, const std::string &from, const std::string &to,
                    const Buffer &input) {
  std::string size = std::to_string(input.count());
  std::string source = "tensor<" + size + "x" + from + ">", target = "tensor<" + size + "x" + to + ">";
  std::string types = from == to ? source : source + " to " + target;
  return run("(%x: " + source + ") -> " + target + " { %y = " + op + " %x : " + types +
                 " return %y : " + target + " }",
             {input});
}

/// Applies a binary operation to two vectors.
std::string binaryOf(const std::string &op, const std::string &type, const Buffer &lhs, const Buffer &rhs,
                     const std::string &result = "") {
  std::string size = std::to_string(lhs.count()) + "x";
  std::string operands = "tensor<" + size + type + ">",
              target = "tensor<" + size + (result.empty() ? type : result) + ">";
  return run("(%x: " + operands + ", %y: " + operands + ") -> " + target + " { %z = " + op +
                 " %x, %y : " + operands + " return %z : " + target + " }",
             {lhs, rhs});
}

Buffer bytes(const std::vector<int64_t> &values) {
  return makeIntegers(ElementType::Int8, {static_cast<int64_t>(values.size())}, values);
}

TEST(Arith, floats) {
  Buffer a = floats({2}, {7, -1}), b = floats({2}, {2, NAN});
  EXPECT_EQ(binaryOf("arith.addf", "f32", a, b), "float32 [2]: 9 nan");
  EXPECT_EQ(binaryOf("arith.divf", "f32", a, b), "float32 [2]: 3.5 nan");
  EXPECT_EQ(binaryOf("arith.remf", "f32", floats({2}, {-7, 5}), floats({2}, {2, 3})), "float32 [2]: -1 2");
  EXPECT_EQ(binaryOf("arith.maximumf", "f32", a, b), "float32 [2]: 7 nan");
  EXPECT_EQ(binaryOf("arith.maxnumf", "f32", a, b), "float32 [2]: 7 -1");
  EXPECT_EQ(unaryOf("arith.negf", "f32", "f32", a), "float32 [2]: -7 1");
}

TEST(Arith, f16_rounds_after_each_operation) {
  Buffer a = makeFloats(ElementType::Float16, {1}, {2048}), b = makeFloats(ElementType::Float16, {1}, {1});
  EXPECT_EQ(binaryOf("arith.addf", "f16", a, b), "float16 [1]: 2048");
}

TEST(Arith, integers_wrap_and_follow_the_operations_sign) {
  EXPECT_EQ(binaryOf("arith.addi", "i8", bytes({100}), bytes({100})), "int8 [1]: -56");
  EXPECT_EQ(binaryOf("arith.divsi", "i8", bytes({-7, -128, 5}), bytes({2, -1, 0})), "int8 [3]: -3 -128 0");
  EXPECT_EQ(binaryOf("arith.divui", "i8", bytes({-1}), bytes({2})), "int8 [1]: 127");
  EXPECT_EQ(binaryOf("arith.remsi", "i8", bytes({-7, 7}), bytes({4, -4})), "int8 [2]: -3 3");
  EXPECT_EQ(binaryOf("arith.floordivsi", "i8", bytes({-7, 7}), bytes({2, 2})), "int8 [2]: -4 3");
  EXPECT_EQ(binaryOf("arith.ceildivsi", "i8", bytes({-7, 7}), bytes({2, 2})), "int8 [2]: -3 4");
  EXPECT_EQ(binaryOf("arith.maxsi", "i8", bytes({-1}), bytes({1})), "int8 [1]: 1");
  EXPECT_EQ(binaryOf("arith.maxui", "i8", bytes({-1}), bytes({1})), "int8 [1]: -1");
}

TEST(Arith, bits) {
  EXPECT_EQ(binaryOf("arith.xori", "i8", bytes({5}), bytes({-1})), "int8 [1]: -6");
  EXPECT_EQ(binaryOf("arith.shli", "i8", bytes({1, 1}), bytes({7, 8})), "int8 [2]: -128 0");
  EXPECT_EQ(binaryOf("arith.shrsi", "i8", bytes({-128}), bytes({3})), "int8 [1]: -16");
  EXPECT_EQ(binaryOf("arith.shrui", "i8", bytes({-128}), bytes({3})), "int8 [1]: 16");
  EXPECT_EQ(unaryOf("math.ctlz", "i8", "i8", bytes({1, 0})), "int8 [2]: 7 8");
  EXPECT_EQ(unaryOf("math.ctpop", "i8", "i8", bytes({-1})), "int8 [1]: 8");
}

TEST(Arith, one_bit_numbers_are_signed_where_the_operation_is) {
  Buffer bit = makeIntegers(ElementType::Bool, {2}, {0, 1});
  EXPECT_EQ(unaryOf("arith.extsi", "i1", "i8", bit), "int8 [2]: 0 -1");
  EXPECT_EQ(unaryOf("arith.extui", "i1", "i8", bit), "int8 [2]: 0 1");
  EXPECT_EQ(unaryOf("arith.sitofp", "i1", "f32", bit), "float32 [2]: 0 -1");
  EXPECT_EQ(unaryOf("arith.trunci", "i8", "i1", bytes({2, 3})), "bool [2]: 0 1");
  EXPECT_EQ(binaryOf("arith.minsi", "i1", bit, makeIntegers(ElementType::Bool, {2}, {0, 0})),
            "bool [2]: 0 1");
}

TEST(Arith, compares) {
  Buffer a = floats({3}, {1, NAN, 2}), b = floats({3}, {2, 1, 2});
  EXPECT_EQ(binaryOf("arith.cmpf olt,", "f32", a, b, "i1"), "bool [3]: 1 0 0");
  EXPECT_EQ(binaryOf("arith.cmpf ult,", "f32", a, b, "i1"), "bool [3]: 1 1 0");
  EXPECT_EQ(binaryOf("arith.cmpf one,", "f32", a, b, "i1"), "bool [3]: 1 0 0");
  EXPECT_EQ(binaryOf("arith.cmpf une,", "f32", a, b, "i1"), "bool [3]: 1 1 0");
  EXPECT_EQ(binaryOf("arith.cmpf ord,", "f32", a, b, "i1"), "bool [3]: 1 0 1");
  EXPECT_EQ(binaryOf("arith.cmpi slt,", "i8", bytes({-1}), bytes({1}), "i1"), "bool [1]: 1");
  EXPECT_EQ(binaryOf("arith.cmpi ult,", "i8", bytes({-1}), bytes({1}), "i1"), "bool [1]: 0");
}

TEST(Arith, selects_elements_or_whole_tensors) {
  EXPECT_EQ(
      run(R"((%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %a = arith.select %c, %x, %y : tensor<2xi1>, tensor<2xf32>
    %yes = arith.constant true
    %b = arith.select %yes, %x, %y : tensor<2xf32>
    return %a, %b : tensor<2xf32>, tensor<2xf32>
  })",
          {makeIntegers(ElementType::Bool, {2}, {1, 0}), floats({2}, {1, 2}), floats({2}, {3, 4})}),
      "float32 [2]: 1 4\nfloat32 [2]: 1 2");
}

TEST(Arith, gives_both_halves) {
  EXPECT_EQ(
      run(R"((%x: tensor<1xi8>, %y: tensor<1xi8>) -> (tensor<1xi8>, tensor<1xi1>, tensor<1xi8>, tensor<1xi8>) {
    %s, %o = arith.addui_extended %x, %y : tensor<1xi8>, tensor<1xi1>
    %l, %h = arith.mului_extended %x, %y : tensor<1xi8>
    return %s, %o, %l, %h : tensor<1xi8>, tensor<1xi1>, tensor<1xi8>, tensor<1xi8>
  })",
          {bytes({-1}), bytes({2})}),
      "int8 [1]: 1\nbool [1]: 1\nint8 [1]: -2\nint8 [1]: 1");
}

TEST(Math, functions) {
  Buffer x = floats({2}, {0, 1});
  EXPECT_EQ(unaryOf("math.exp", "f32", "f32", x), "float32 [2]: 1 2.71828");
  EXPECT_EQ(unaryOf("math.erf", "f32", "f32", x), "float32 [2]: 0 0.842701");
  EXPECT_EQ(unaryOf("math.rsqrt", "f32", "f32", floats({1}, {4})), "float32 [1]: 0.5");
  EXPECT_EQ(unaryOf("math.roundeven", "f32", "f32", floats({3}, {0.5, 1.5, -2.5})), "float32 [3]: 0 2 -2");
  EXPECT_EQ(unaryOf("math.round", "f32", "f32", floats({2}, {0.5, -2.5})), "float32 [2]: 1 -3");
  EXPECT_EQ(binaryOf("math.powf", "f32", floats({2}, {2, -8}), floats({2}, {10, 3})),
            "float32 [2]: 1024 -512");
  EXPECT_EQ(binaryOf("math.ipowi", "i8", bytes({2, 3, -1, 2}), bytes({7, 2, -3, -1})),
            "int8 [4]: -128 9 -1 0");
  EXPECT_EQ(unaryOf("math.absi", "i8", "i8", bytes({-128, -5})), "int8 [2]: -128 5");
}

TEST(Tensor, of_scalars) {
  EXPECT_EQ(run(R"((%x: tensor<?x2xf32>) -> (tensor<2xindex>, f32, tensor<2x2xf32>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = tensor.dim %x, %zero : tensor<?x2xf32>
    %sizes = tensor.from_elements %rows, %one : tensor<2xindex>
    %element = tensor.extract %x[%zero, %one] : tensor<?x2xf32>
    %all = tensor.splat %element : tensor<2x2xf32>
    return %sizes, %element, %all : tensor<2xindex>, f32, tensor<2x2xf32>
  })",
                {floats({3, 2}, {1, 2, 3, 4, 5, 6})}),
            "int64 [2]: 3 1\nfloat32 []: 2\nfloat32 [2, 2]: 2 2 2 2");
}

TEST(Tensor, extract_checks_its_indices) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> f32 {
    %two = arith.constant 2 : index
    %element = tensor.extract %x[%two] : tensor<2xf32>
    return %element : f32
  })",
                {floats({2}, {1, 2})}),
            "error: 'tensor.extract' op reads elements 2 to 2 of 2 along dimension 0");
}

} // namespace
} // namespace joule::reference
