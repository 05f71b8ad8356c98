// The launches of plans written by hand, with the work that is known before a run.
#include "tools/joule/PlanWork.h"

#include "test/lib/Runtime/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::cli;
using namespace joule::test;

namespace {

/// Adds a launch that does `flops` operations.
void launch(plan::Block *block, plan::Index flops, plan::Index grid = constant(1)) {
  plan::Cost *cost = addLaunch(block, 0, grid, {}, {}, {})->mutable_cost();
  *cost->mutable_flops() = flops;
  *cost->mutable_bytes_read() = constant(4);
  *cost->mutable_bytes_written() = constant(8);
  cost->set_family("map");
}

/// The operations of each launch; -1 where they are unknown.
std::vector<double> flopsOf(const plan::Plan &plan, const SymbolSizes &sizes = {}) {
  auto launches = listLaunches(plan, sizes);
  std::vector<double> flops;
  if (!launches)
    return flops;
  for (const LaunchWork &row : *launches)
    flops.push_back(row.work ? row.work->flops[static_cast<int>(Engine::Cores)].value() : -1);
  return flops;
}

plan::Plan planWithKernel() {
  plan::Plan plan = emptyPlan();
  addKernel(plan, "k");
  return plan;
}

TEST(PlanWork, FollowsSymbolsAndSizeArithmetic) {
  plan::Plan plan = planWithKernel();
  addSymbol(plan, "batch", 0);
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(10));
  launch(plan.mutable_body(), reg(1));
  launch(plan.mutable_body(), constant(3));
  EXPECT_EQ(flopsOf(plan, {{"batch", 4}}), (std::vector<double>{40, 3}));
  auto launches = listLaunches(plan, {{"batch", 4}});
  EXPECT_EQ(launches->at(0).work->dramBytes.value(), 12);
  EXPECT_EQ(launches->at(0).kernel->name(), "k");
}

TEST(PlanWork, AsksForSymbols) {
  plan::Plan plan = planWithKernel();
  addSymbol(plan, "batch", 0);
  auto launches = listLaunches(plan, {});
  ASSERT_FALSE(launches);
  EXPECT_EQ(launches.error().code, ErrorCode::InputShape);
}

TEST(PlanWork, AnEmptyGridIsNoLaunch) {
  plan::Plan plan = planWithKernel();
  addSymbol(plan, "batch", 0);
  launch(plan.mutable_body(), constant(1), reg(0));
  EXPECT_EQ(flopsOf(plan, {{"batch", 0}}), std::vector<double>{});
  EXPECT_EQ(flopsOf(plan, {{"batch", 1}}), std::vector<double>{1});
}

TEST(PlanWork, WhatARunReadsIsUnknownAndSoIsWhatFollows) {
  plan::Plan plan = planWithKernel();
  addReadScalar(plan.mutable_body(), 0, 0, 7);
  addEval(plan.mutable_body(), plan::Eval::ADD, 1, reg(0), constant(1));
  launch(plan.mutable_body(), reg(1));
  launch(plan.mutable_body(), constant(5));
  EXPECT_EQ(flopsOf(plan), (std::vector<double>{-1, 5}));
}

TEST(PlanWork, ALoopOfKnownLengthIsUnrolled) {
  plan::Plan plan = planWithKernel();
  addSymbol(plan, "steps", 0);
  addMoveIndex(plan.mutable_body(), 1, constant(0));
  plan::While *loop = plan.mutable_body()->add_steps()->mutable_while_();
  addEval(loop->mutable_before(), plan::Eval::LT, 2, reg(1), reg(0));
  *loop->mutable_condition() = reg(2);
  launch(loop->mutable_body(), reg(1));
  addEval(loop->mutable_body(), plan::Eval::ADD, 3, reg(1), constant(1));
  addMoveIndex(loop->mutable_body(), 1, reg(3));
  EXPECT_EQ(flopsOf(plan, {{"steps", 3}}), (std::vector<double>{0, 1, 2}));
}

TEST(PlanWork, ALoopOfUnknownLengthIsListedOnceWithoutItsWork) {
  plan::Plan plan = planWithKernel();
  addMoveIndex(plan.mutable_body(), 1, constant(0));
  plan::While *loop = plan.mutable_body()->add_steps()->mutable_while_();
  addReadScalar(loop->mutable_before(), 2, 0, 9);
  *loop->mutable_condition() = reg(2);
  launch(loop->mutable_body(), constant(7));
  addEval(loop->mutable_body(), plan::Eval::ADD, 1, reg(1), constant(1));
  launch(plan.mutable_body(), reg(1)); // how often the loop ran
  launch(plan.mutable_body(), constant(2));
  EXPECT_EQ(flopsOf(plan), (std::vector<double>{-1, -1, 2}));
}

TEST(PlanWork, ALoopThatNeverEndsIsLeft) {
  plan::Plan plan = planWithKernel();
  *plan.mutable_body()->add_steps()->mutable_while_()->mutable_condition() = constant(1);
  EXPECT_TRUE(flopsOf(plan).empty());
}

TEST(PlanWork, BothSidesOfAnUnknownBranchAreListed) {
  plan::Plan plan = planWithKernel();
  addReadScalar(plan.mutable_body(), 0, 0, 9);
  plan::If *branch = plan.mutable_body()->add_steps()->mutable_if_();
  *branch->mutable_condition() = reg(0);
  launch(branch->mutable_then(), constant(1));
  addMoveIndex(branch->mutable_then(), 1, constant(1));
  launch(branch->mutable_otherwise(), constant(2));
  addMoveIndex(branch->mutable_otherwise(), 1, constant(1));
  launch(plan.mutable_body(), reg(1));
  EXPECT_EQ(flopsOf(plan), (std::vector<double>{-1, -1, -1}));
  *branch->mutable_condition() = constant(0);
  EXPECT_EQ(flopsOf(plan), (std::vector<double>{2, 1}));
}

TEST(PlanWork, SumsWhatIsKnown) {
  plan::Plan plan = planWithKernel();
  addReadScalar(plan.mutable_body(), 0, 0, 7);
  launch(plan.mutable_body(), reg(0));
  launch(plan.mutable_body(), constant(1000));
  launch(plan.mutable_body(), constant(1000));
  auto launches = listLaunches(plan, {});
  Prediction total = predict(*launches, a100());
  EXPECT_DOUBLE_EQ(total.time.value(), 2 * joule::predict(*launches->at(1).work, a100()).time.value());
  EXPECT_EQ(total.source, Source::Modelled);
}

TEST(PlanWork, RefusesAKernelThatDoesNotExist) {
  plan::Plan plan = emptyPlan();
  launch(plan.mutable_body(), constant(1));
  EXPECT_EQ(listLaunches(plan, {}).error().code, ErrorCode::PlanInvalid);
}

} // namespace
