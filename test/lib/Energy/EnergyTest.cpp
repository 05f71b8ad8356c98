// Units and the first energy model.
#include "lib/Energy/Predict.h"

#include <gtest/gtest.h>
#include <type_traits>

using namespace joule;

// What must not compile does not: sums of unlike units.
template <typename A, typename B, typename = void> struct CanAdd : std::false_type {};
template <typename A, typename B>
struct CanAdd<A, B, std::void_t<decltype(std::declval<A>() + std::declval<B>())>> : std::true_type {};
static_assert(CanAdd<Joules, Joules>::value);
static_assert(!CanAdd<Joules, Watts>::value);
static_assert(!CanAdd<Joules, double>::value);
static_assert(std::is_same_v<decltype(Watts(1) * Seconds(1)), Joules>);
static_assert(std::is_same_v<decltype(Joules(1) / Seconds(1)), Watts>);
static_assert(std::is_same_v<decltype(1.0 / Seconds(1)), Hertz>);
static_assert(std::is_same_v<decltype(Joules(1) / Joules(1)), double>);
static_assert(std::is_same_v<decltype(Flops(1) / FlopsPerSecond(1)), Seconds>);
static_assert(std::is_same_v<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
static_assert(std::is_same_v<decltype(Flops(1) * JoulesPerFlop(1)), Joules>);
static_assert(!CanAdd<Volts, Watts>::value);
static_assert(!CanAdd<Bytes, Flops>::value);

static WorkCounts matmul(double m, double n, double k) {
  WorkCounts work;
  work.flopsOf(Engine::MatrixFp16) = Flops(2 * m * n * k);
  work.dramBytes = Bytes(2 * (m * k + k * n + m * n));
  work.launches = 1;
  return work;
}

TEST(Predict, AnEmptyLaunchCostsItsOverheadAtRest) {
  WorkCounts work;
  work.launches = 1;
  Prediction prediction = predict(work, a100());
  EXPECT_DOUBLE_EQ(prediction.time.value(), 3.6e-6);
  EXPECT_NEAR(prediction.energy.value(), 3.6e-6 * 82.29, 1e-12);
  EXPECT_EQ(prediction.bound, Bound::Launch);
  EXPECT_EQ(prediction.source, Source::Modelled);
}

TEST(Predict, NoWorkCostsNothing) {
  Prediction prediction = predict(WorkCounts(), a100());
  EXPECT_EQ(prediction.time.value(), 0);
  EXPECT_EQ(prediction.energy.value(), 0);
  EXPECT_EQ(prediction.power().value(), 0);
}

TEST(Predict, CopiesAreBoundByMemory) {
  WorkCounts copy;
  copy.dramBytes = Bytes(1.759e12);
  Prediction prediction = predict(copy, a100());
  EXPECT_EQ(prediction.bound, Bound::Memory);
  EXPECT_NEAR(prediction.time.value(), 1, 1e-12);
  EXPECT_NEAR(prediction.memory.value(), 1.759 * 118, 1e-9);
}

TEST(Predict, ThePartsAddUp) {
  Prediction prediction = predict(matmul(4096, 4096, 4096), h100());
  double sum = (prediction.atRest + prediction.memory + prediction.compute).value();
  EXPECT_DOUBLE_EQ(prediction.energy.value(), sum);
}

// A large product at full speed would draw more than the board may: the clock gives way.
TEST(Predict, TheCapLowersTheClock) {
  Prediction prediction = predict(matmul(16384, 16384, 16384), h100());
  EXPECT_LT(prediction.clock, h100().highestClock);
  EXPECT_LE(prediction.power(), h100().powerCap);
  EXPECT_EQ(prediction.bound, Bound::Compute);
}

// Plain float32 arithmetic on an A100 is measured at some 150 to 190 W at the highest clock.
TEST(Predict, PlainArithmeticDrawsWhatWasMeasured) {
  WorkCounts work;
  work.flopsOf(Engine::Cores) = Flops(19.5e12);
  Prediction prediction = predict(work, a100());
  EXPECT_NEAR(prediction.time.value(), 1, 1e-9);
  EXPECT_GT(prediction.power().value(), 150);
  EXPECT_LT(prediction.power().value(), 190);
}

TEST(Predict, ALowerClockIsSlowerAndCheaperWhereComputeBinds) {
  WorkCounts work = matmul(4096, 4096, 4096);
  Prediction fast = predict(work, a100(), a100().highestClock);
  Prediction slow = predict(work, a100(), a100().kneeClock);
  EXPECT_GE(slow.time, fast.time);
  EXPECT_LT(slow.energy, fast.energy);
}

// Below the knee the voltage stays: nothing is won, and power at rest lasts longer.
TEST(Predict, BelowTheKneeEnergyRises) {
  WorkCounts work = matmul(4096, 4096, 4096);
  EXPECT_GT(predict(work, a100(), a100().lowestClock).energy, predict(work, a100(), a100().kneeClock).energy);
}

TEST(Predict, AnEngineThatIsMissingFallsBackToCores) {
  WorkCounts work;
  work.flopsOf(Engine::MatrixFp8) = Flops(19.5e12);
  EXPECT_NEAR(predict(work, a100()).time.value(), 1, 1e-9);
}

TEST(DeviceEnergy, VoltageIsFlatThenLinear) {
  EXPECT_DOUBLE_EQ(a100().voltage(megahertz(210)).value(), 0.7438);
  EXPECT_DOUBLE_EQ(a100().voltage(megahertz(1110)).value(), 0.7438);
  EXPECT_DOUBLE_EQ(a100().voltage(megahertz(1410)).value(), 0.9188);
  EXPECT_NEAR(a100().voltage(megahertz(1260)).value(), 0.8187, 1e-3);
  EXPECT_DOUBLE_EQ(a100().dynamicFactor(megahertz(1410)), 1);
}

TEST(DeviceEnergy, IsFoundByNameThenCapability) {
  EXPECT_EQ(findDeviceEnergy("NVIDIA A100-SXM4-80GB", 8, 0), &a100());
  EXPECT_EQ(findDeviceEnergy("NVIDIA A100-PCIE-40GB", 8, 0)->name, "a100-pcie-40");
  EXPECT_EQ(findDeviceEnergy("Joule virtual h100", 9, 0), &h100());
  EXPECT_EQ(findDeviceEnergy("NVIDIA H200", 9, 0)->name, "h200");
  EXPECT_EQ(findDeviceEnergy("NVIDIA A10", 8, 6)->name, "a10");
  EXPECT_EQ(findDeviceEnergy("NVIDIA GeForce RTX 4090", 8, 9)->name, "rtx-4090");
  EXPECT_EQ(findDeviceEnergy("Quadro", 7, 5)->name, "t4");
  EXPECT_EQ(findDeviceEnergy("Quadro", 5, 2), nullptr);
}
