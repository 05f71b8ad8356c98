// How the interpreter walks functions: arguments, symbols, control flow, groups, weights, errors.
#include "test/lib/Reference/RunText.h"

#include <gtest/gtest.h>

namespace joule::reference {
namespace {

TEST(Interpreter, hands_arguments_through) {
  EXPECT_EQ(run("(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }", {floats({2}, {1, 2})}),
            "float32 [2]: 1 2");
}

TEST(Interpreter, reads_unsigned_inputs_as_signless) {
  EXPECT_EQ(run("(%x: tensor<1xi8>) -> tensor<1xi32> {"
                "  %y = nn.cast %x unsigned_input : (tensor<1xi8>) -> tensor<1xi32>"
                "  return %y : tensor<1xi32> }",
                {makeIntegers(ElementType::UInt8, {1}, {200})}),
            "int32 [1]: 200");
}

const char *symbolic =
    R"((%x: tensor<?x2xf32> {nn.dims = ["n", ""]}, %y: tensor<?x2xf32> {nn.dims = ["n", ""]})
    -> (tensor<?xf32>, index) {
  %n = nn.symbol "n"
  %two = arith.constant 2 : index
  %m = arith.muli %n, %two : index
  %z = arith.addf %x, %y : tensor<?x2xf32>
  %r = nn.reshape %z sizes(%m) : (tensor<?x2xf32>) -> tensor<?xf32>
  return %r, %m : tensor<?xf32>, index
})";

TEST(Interpreter, binds_symbols_from_shapes) {
  EXPECT_EQ(run(symbolic, {floats({1, 2}, {1, 2}), floats({1, 2}, {10, 20})}),
            "float32 [2]: 11 22\nint64 []: 2");
}

TEST(Interpreter, refuses_two_sizes_of_one_name) {
  EXPECT_EQ(run(symbolic, {floats({1, 2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}),
            "error: size \"n\" is both 1 and 2");
}

TEST(Interpreter, refuses_inputs_that_do_not_fit) {
  const char *identity = "(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
  EXPECT_EQ(run(identity, {}), "error: takes 1 inputs, not 0");
  EXPECT_EQ(run(identity, {integers({2}, {1, 2})}), "error: input 0 has elements of type int64 for float32");
  EXPECT_EQ(run(identity, {floats({3}, {1, 2, 3})}), "error: input 0 has shape [3] for 'tensor<2xf32>'");
}

TEST(Interpreter, chooses_a_branch) {
  const char *text = R"((%c: tensor<i1>) -> tensor<f32> {
    %b = tensor.extract %c[] : tensor<i1>
    %r = scf.if %b -> tensor<f32> {
      %one = nn.constant dense<1.0> : tensor<f32> -> tensor<f32>
      scf.yield %one : tensor<f32>
    } else {
      %two = nn.constant dense<2.0> : tensor<f32> -> tensor<f32>
      scf.yield %two : tensor<f32>
    }
    return %r : tensor<f32>
  })";
  EXPECT_EQ(run(text, {scalar(ElementType::Bool, int64_t(1))}), "float32 []: 1");
  EXPECT_EQ(run(text, {scalar(ElementType::Bool, int64_t(0))}), "float32 []: 2");
}

TEST(Interpreter, loops_with_carried_tensors) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> tensor<2xf32> {
    %zero = arith.constant 0 : index
    %three = arith.constant 3 : index
    %one = arith.constant 1 : index
    %r = scf.for %i = %zero to %three step %one iter_args(%carried = %x) -> tensor<2xf32> {
      %next = arith.addf %carried, %x : tensor<2xf32>
      scf.yield %next : tensor<2xf32>
    }
    return %r : tensor<2xf32>
  })",
                {floats({2}, {1, 2})}),
            "float32 [2]: 4 8");
}

TEST(Interpreter, loops_while_a_condition_holds_and_shapes_grow) {
  EXPECT_EQ(run(R"((%x: tensor<?xf32>) -> (index, tensor<?xf32>) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %eight = arith.constant 8 : index
    %n, %r = scf.while (%size = %one, %carried = %x) : (index, tensor<?xf32>) -> (index, tensor<?xf32>) {
      %more = arith.cmpi slt, %size, %eight : index
      scf.condition(%more) %size, %carried : index, tensor<?xf32>
    } do {
    ^bb0(%size: index, %carried: tensor<?xf32>):
      %doubled = arith.muli %size, %two : index
      %joined = nn.concat %carried, %carried sizes(%doubled) axis = 0
          : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      scf.yield %doubled, %joined : index, tensor<?xf32>
    }
    return %n, %r : index, tensor<?xf32>
  })",
                {floats({1}, {3})}),
            "int64 []: 8\nfloat32 [8]: 3 3 3 3 3 3 3 3");
}

TEST(Interpreter, runs_groups) {
  EXPECT_EQ(run(R"((%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = nn.fused (%x, %x : tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>) {
    ^bb0(%0: tensor<2xf32>, %1: tensor<2xf32>):
      %2 = arith.mulf %0, %1 : tensor<2xf32>
      nn.yield %2 : tensor<2xf32>
    }
    return %y : tensor<2xf32>
  })",
                {floats({2}, {3, 4})}),
            "float32 [2]: 9 16");
}

TEST(Interpreter, finds_weights) {
  WeightStore weights;
  Buffer kept = floats({3}, {1, 2, 3});
  EXPECT_EQ(weights.add(kept.bytes), "@0");
  EXPECT_EQ(run("() -> tensor<2xf32> { %w = nn.constant #nn.weight<\"@0\", 4, 8> -> tensor<2xf32>"
                " return %w : tensor<2xf32> }",
                {}, weights),
            "float32 [2]: 2 3");
  EXPECT_EQ(run("() -> tensor<2xf32> { %w = nn.constant #nn.weight<\"@0\", 8, 8> -> tensor<2xf32>"
                " return %w : tensor<2xf32> }",
                {}, weights),
            "error: weights lie at bytes 8 to 16 of \"@0\", which has 12");
  EXPECT_EQ(run("() -> tensor<2xf32> { %w = nn.constant #nn.weight<\"absent.bin\", 0, 8> -> tensor<2xf32>"
                " return %w : tensor<2xf32> }",
                {}, weights),
            "error: cannot read \"absent.bin\": No such file or directory");
}

TEST(Interpreter, ends_at_a_failed_assertion) {
  EXPECT_EQ(run("() { %no = arith.constant false\n nn.assert %no, \"sizes differ\"\n return }"),
            "error: sizes differ");
}

TEST(Interpreter, names_the_operation_that_fails) {
  EXPECT_EQ(run(R"((%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %z = arith.addf %x, %y : tensor<?xf32>
    return %z : tensor<?xf32>
  })",
                {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}),
            "error: 'arith.addf' op combines tensors of shapes [2] and [3]");
}

} // namespace
} // namespace joule::reference
