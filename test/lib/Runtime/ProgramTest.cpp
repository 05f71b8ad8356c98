// Lifetimes and index arithmetic.
#include "lib/Runtime/Program.h"
#include "lib/Runtime/Estimate.h"
#include "lib/Runtime/IndexMath.h"
#include "test/lib/Runtime/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::test;

struct Case {
  plan::Eval::Op op;
  int64_t lhs, rhs, want;
};

TEST(IndexMath, RoundsAsItsNamesSay) {
  Case cases[] = {
      {plan::Eval::DIV, -7, 2, -3},
      {plan::Eval::REM, -7, 2, -1},
      {plan::Eval::FLOORDIV, -7, 2, -4},
      {plan::Eval::CEILDIV, -7, 2, -3},
      {plan::Eval::CEILDIV, 7, 2, 4},
      {plan::Eval::FLOORDIV, 7, -2, -4},
      {plan::Eval::MOD, -7, 3, 2},
      {plan::Eval::MOD, 7, -3, -2},
      {plan::Eval::MOD, 6, 3, 0},
      {plan::Eval::MIN, -1, 2, -1},
      {plan::Eval::MAX, -1, 2, 2},
      {plan::Eval::XOR, 6, 3, 5},
      {plan::Eval::LE, 2, 2, 1},
      {plan::Eval::GT, 2, 2, 0},
      {plan::Eval::MUL, INT64_MAX / 2, 2, INT64_MAX - 1},
  };
  for (const Case &c : cases) {
    Evaluated got = evaluate(c.op, {c.lhs}, {c.rhs}, {});
    EXPECT_EQ(got.fault, Fault::None);
    EXPECT_EQ(got.value, c.want) << plan::Eval::Op_Name(c.op) << " " << c.lhs << " " << c.rhs;
  }
  EXPECT_EQ(evaluate(plan::Eval::SELECT, {1}, {2}, {5}).value, 1);
  EXPECT_EQ(evaluate(plan::Eval::SELECT, {1}, {2}, {0}).value, 2);
  for (plan::Eval::Op op :
       {plan::Eval::DIV, plan::Eval::REM, plan::Eval::FLOORDIV, plan::Eval::CEILDIV, plan::Eval::MOD})
    EXPECT_EQ(evaluate(op, {1}, {0}, {}).fault, Fault::Division);
}

TEST(IndexMath, WhatWrapsAroundSaysSo) {
  Case cases[] = {
      {plan::Eval::ADD, INT64_MAX, 1, INT64_MIN},
      {plan::Eval::SUB, INT64_MIN, 1, INT64_MAX},
      {plan::Eval::MUL, INT64_MAX, 2, -2},
      {plan::Eval::DIV, INT64_MIN, -1, INT64_MIN},
      {plan::Eval::REM, INT64_MIN, -1, 0},
      {plan::Eval::CEILDIV, INT64_MIN, -1, INT64_MIN},
  };
  for (const Case &c : cases) {
    Evaluated got = evaluate(c.op, {c.lhs}, {c.rhs}, {});
    EXPECT_EQ(got.fault, Fault::Overflow) << plan::Eval::Op_Name(c.op);
    EXPECT_EQ(got.value, c.want) << plan::Eval::Op_Name(c.op);
  }
}

TEST(IndexMath, FaultsSpreadButNotFromTheSideThatIsNotSelected) {
  Evaluated bad = {0, Fault::Division}, good = {7};
  EXPECT_EQ(evaluate(plan::Eval::ADD, bad, good, {}).fault, Fault::Division);
  EXPECT_EQ(evaluate(plan::Eval::SELECT, bad, good, {0}).fault, Fault::None);
  EXPECT_EQ(evaluate(plan::Eval::SELECT, bad, good, {1}).fault, Fault::Division);
  EXPECT_EQ(evaluate(plan::Eval::SELECT, good, good, bad).fault, Fault::Division);
}

static std::optional<uint64_t> offsetOf(const Program &program, const MemoryPlan &memory, uint32_t buffer) {
  for (size_t i = 0; i < program.slots().size(); ++i)
    if (program.slots()[i].alloc && program.slots()[i].alloc->buffer() == buffer)
      return memory.offsets[i];
  return std::nullopt;
}

// x -> a -> b -> y: a's place can be y's.
TEST(Program, ReusesMemoryAlongAChain) {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "n", 0);
  addInput(plan, "x", 0, {reg(0)});
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(4));
  for (uint32_t buffer : {1u, 2u, 3u}) {
    addAlloc(plan.mutable_body(), buffer, reg(1));
    addCopy(plan.mutable_body(), buffer, buffer - 1, reg(1));
  }
  addOutput(plan, "y", 3, {reg(0)});
  Program program(plan);
  MemoryPlan memory = program.planMemory({64});
  EXPECT_EQ(memory.arenaBytes, 512u);
  EXPECT_EQ(offsetOf(program, memory, 1), offsetOf(program, memory, 3));
  EXPECT_NE(offsetOf(program, memory, 1), offsetOf(program, memory, 2));
  EXPECT_EQ(program.planMemory({1024}).arenaBytes, 8192u);
  EXPECT_EQ(program.planMemory({0}).arenaBytes, 0u);
}

// A buffer made before a loop and read in its first step must outlive the loop's later steps.
TEST(Program, KeepsWhatALoopReadsUntilItsEnd) {
  plan::Plan plan = emptyPlan();
  addAlloc(plan.mutable_body(), 0, constant(256));
  plan::While *loop = plan.mutable_body()->add_steps()->mutable_while_();
  *loop->mutable_condition() = constant(0);
  addAlloc(loop->mutable_body(), 1, constant(256));
  addCopy(loop->mutable_body(), 1, 0, constant(256));
  addAlloc(loop->mutable_body(), 2, constant(256));
  addCopy(loop->mutable_body(), 2, 1, constant(256));
  addAlloc(plan.mutable_body(), 3, constant(256));
  Program program(plan);
  MemoryPlan memory = program.planMemory({});
  EXPECT_NE(offsetOf(program, memory, 0), offsetOf(program, memory, 2));
  EXPECT_EQ(memory.arenaBytes, 768u);
  EXPECT_EQ(offsetOf(program, memory, 3), 0u);
}

TEST(Program, PlansOnlySizesThatAreKnown) {
  plan::Plan plan = emptyPlan();
  addInput(plan, "x", 0, {constant(4)}, 7);
  addReadScalar(plan.mutable_body(), 1, 0, 7);
  addEval(plan.mutable_body(), plan::Eval::MUL, 2, reg(1), constant(4));
  addAlloc(plan.mutable_body(), 1, reg(2));       // from data
  addAlloc(plan.mutable_body(), 2, constant(64)); // known
  addAlloc(plan.mutable_body(), 3, constant(64)); // escapes
  addMoveBuffer(plan.mutable_body(), 4, 3);
  addAlloc(plan.mutable_body(), 5, constant(64), /*counted=*/true);
  addMoveIndex(plan.mutable_body(), 3, constant(8));
  addMoveIndex(plan.mutable_body(), 3, constant(9)); // set twice: not known
  addAlloc(plan.mutable_body(), 6, reg(3));
  Program program(plan);
  MemoryPlan memory = program.planMemory({});
  EXPECT_FALSE(offsetOf(program, memory, 1));
  EXPECT_TRUE(offsetOf(program, memory, 2));
  EXPECT_FALSE(offsetOf(program, memory, 3));
  EXPECT_FALSE(offsetOf(program, memory, 5));
  EXPECT_FALSE(offsetOf(program, memory, 6));
}

TEST(Estimate, SumsLaunchesAndSaysWhatIsMissing) {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "n", 0);
  addInput(plan, "x", 0, {reg(0)});
  addKernel(plan, "copy");
  addAlloc(plan.mutable_body(), 1, constant(4));
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(4));
  plan::Launch *launch = addLaunch(plan.mutable_body(), 0, constant(1), {}, {0}, {1});
  *launch->mutable_cost()->mutable_bytes_read() = reg(1);
  launch = addLaunch(plan.mutable_body(), 0, constant(1), {}, {0}, {1});
  *launch->mutable_cost()->mutable_bytes_written() = reg(1);
  {
    Program program(plan);
    PlanEstimate whole = estimate(program, {1000000}, a100());
    ASSERT_EQ(whole.launches.size(), 2u);
    EXPECT_EQ(whole.work.dramBytes.value(), 8e6);
    EXPECT_TRUE(whole.isWhole);
    EXPECT_DOUBLE_EQ(whole.total.time.value(),
                     (whole.launches[0].prediction.time + whole.launches[1].prediction.time).value());
    EXPECT_NEAR(whole.total.time.value(), 2 * 3.6e-6 + 8e6 / 1.759e12, 1e-12);
  }
  addReadScalar(plan.mutable_body(), 2, 0, 7);
  launch = addLaunch(plan.mutable_body(), 0, constant(1), {}, {0}, {1});
  *launch->mutable_cost()->mutable_flops() = reg(2);
  Program program(plan);
  EXPECT_FALSE(estimate(program, {8}, a100()).isWhole);
}
