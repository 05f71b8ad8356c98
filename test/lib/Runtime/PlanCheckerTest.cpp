// Each rule of PlanChecker.h, broken once.
#include "lib/Runtime/PlanChecker.h"
#include "test/lib/Runtime/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::test;

static std::optional<uint64_t> entryBytes(const std::string &entry) {
  if (entry == "weights/a" || entry == "targets/sm_80/kernels/all.ptx")
    return 100;
  return std::nullopt;
}

static std::string check(const plan::Plan &plan) {
  Result<void> checked = checkPlan(plan, entryBytes);
  return checked ? "" : checked.error().message;
}

// x -> kernel -> y
static plan::Plan goodPlan() {
  plan::Plan plan = emptyPlan(4, 4);
  addSymbol(plan, "batch", 0);
  addInput(plan, "x", 0, {reg(0), constant(4)});
  addKernel(plan, "relu");
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(16));
  addAlloc(plan.mutable_body(), 1, reg(1));
  addLaunch(plan.mutable_body(), 0, constant(1), {bufferArgument(0), bufferArgument(1), i32(reg(0))}, {0},
            {1});
  addOutput(plan, "y", 1, {reg(0), constant(4)});
  return plan;
}

#define EXPECT_REFUSED(plan, text) EXPECT_NE(check(plan).find(text), std::string::npos) << check(plan)

TEST(PlanChecker, AcceptsAGoodPlan) { EXPECT_EQ(check(goodPlan()), ""); }

TEST(PlanChecker, RefusesOtherVersions) {
  plan::Plan plan = goodPlan();
  plan.set_version(2);
  EXPECT_REFUSED(plan, "version 2");
}

TEST(PlanChecker, RefusesRegistersThatAreNot) {
  plan::Plan plan = goodPlan();
  plan.set_buffer_registers(1);
  EXPECT_REFUSED(plan, "step 2: there is no buffer register 1");
  plan = goodPlan();
  plan.set_index_registers(1);
  EXPECT_REFUSED(plan, "step 1: there is no index register 1");
  plan = goodPlan();
  plan.set_index_registers(0xffffffff);
  EXPECT_REFUSED(plan, "too many registers");
}

TEST(PlanChecker, RefusesReadingBeforeSetting) {
  plan::Plan plan = goodPlan();
  addEval(plan.mutable_body(), plan::Eval::ADD, 2, reg(3), constant(1));
  EXPECT_REFUSED(plan, "step 4: index register 3 is read before it is set");
  plan = goodPlan();
  addCopy(plan.mutable_body(), 1, 2, constant(4));
  EXPECT_REFUSED(plan, "buffer register 2 is used before it is set");
  plan = goodPlan();
  plan.mutable_outputs(0)->set_buffer(3);
  EXPECT_REFUSED(plan, "output \"y\" is never set");
}

TEST(PlanChecker, RefusesMissingOperands) {
  plan::Plan plan = goodPlan();
  plan.mutable_body()->mutable_steps(0)->mutable_eval()->clear_rhs();
  EXPECT_REFUSED(plan, "step 1: an operand is missing");
  plan = goodPlan();
  plan.mutable_body()->add_steps();
  EXPECT_REFUSED(plan, "of a kind that this Joule does not know");
}

TEST(PlanChecker, RefusesASecondSetter) {
  plan::Plan plan = goodPlan();
  addAlloc(plan.mutable_body(), 1, constant(4));
  EXPECT_REFUSED(plan, "buffer register 1 is set in a second place");
  plan = goodPlan();
  addMoveBuffer(plan.mutable_body(), 1, 0);
  EXPECT_REFUSED(plan, "buffer register 1 is set in a second place");
  plan = goodPlan();
  addMoveIndex(plan.mutable_body(), 0, constant(3));
  EXPECT_REFUSED(plan, "holds a symbol and is set again");
}

TEST(PlanChecker, RefusesWritingInputs) {
  plan::Plan plan = goodPlan();
  addCopy(plan.mutable_body(), 0, 1, constant(4));
  EXPECT_REFUSED(plan, "it writes buffer register 0, an input or a weight");
}

TEST(PlanChecker, RefusesBadLaunches) {
  plan::Plan plan = goodPlan();
  plan.mutable_body()->mutable_steps(2)->mutable_launch()->set_kernel(1);
  EXPECT_REFUSED(plan, "there is no kernel 1");
  plan = goodPlan();
  plan.mutable_body()->mutable_steps(2)->mutable_launch()->set_block(0, 2048);
  EXPECT_REFUSED(plan, "a block has size 2048");
  plan = goodPlan();
  plan.mutable_body()->mutable_steps(2)->mutable_launch()->mutable_grid()->RemoveLast();
  EXPECT_REFUSED(plan, "three sizes of grid and of block");
}

TEST(PlanChecker, RefusesEntriesThatAreNot) {
  plan::Plan plan = goodPlan();
  plan.mutable_kernels(0)->set_ptx("elsewhere.ptx");
  EXPECT_REFUSED(plan, "lacks \"elsewhere.ptx\"");
  plan = goodPlan();
  plan::Weight *weight = plan.add_weights();
  weight->set_buffer(2);
  weight->set_entry("weights/a");
  weight->set_bytes(60);
  EXPECT_EQ(check(plan), "");
  weight->set_offset(50);
  EXPECT_REFUSED(plan, "a weight reaches outside \"weights/a\"");
  weight->set_offset(UINT64_MAX);
  EXPECT_REFUSED(plan, "a weight reaches outside \"weights/a\"");
}

TEST(PlanChecker, RefusesSymbolsThatNoInputHas) {
  plan::Plan plan = goodPlan();
  addSymbol(plan, "sequence", 3);
  EXPECT_REFUSED(plan, "symbol \"sequence\" is no size of any input");
  plan = goodPlan();
  *plan.mutable_inputs(0)->mutable_dims(1) = reg(1);
  EXPECT_REFUSED(plan, "neither a number nor a symbol");
}

TEST(PlanChecker, AfterAnIfOnlyWhatBothBranchesSetIsSet) {
  plan::Plan plan = goodPlan();
  plan::If *branch = plan.mutable_body()->add_steps()->mutable_if_();
  *branch->mutable_condition() = reg(0);
  addMoveIndex(branch->mutable_then(), 2, constant(1));
  addMoveIndex(branch->mutable_otherwise(), 3, constant(1));
  addEval(plan.mutable_body(), plan::Eval::ADD, 3, reg(2), constant(1));
  EXPECT_REFUSED(plan, "index register 2 is read before it is set");
  addMoveIndex(branch->mutable_otherwise(), 2, constant(2));
  EXPECT_EQ(check(plan), "");
}

TEST(PlanChecker, AWhilesBodyMayNotRun) {
  plan::Plan plan = goodPlan();
  plan::While *loop = plan.mutable_body()->add_steps()->mutable_while_();
  addMoveIndex(loop->mutable_before(), 2, constant(0));
  *loop->mutable_condition() = reg(2);
  addMoveIndex(loop->mutable_body(), 3, reg(2));
  EXPECT_EQ(check(plan), "");
  addEval(plan.mutable_body(), plan::Eval::ADD, 3, reg(3), reg(2));
  EXPECT_REFUSED(plan, "index register 3 is read before it is set");
}
