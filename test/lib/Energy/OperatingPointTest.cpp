// Choices among clocks.
#include "lib/Energy/OperatingPoint.h"

#include <gtest/gtest.h>

using namespace joule;

static OperatingPoint point(double clock, double time, double energy) {
  return {megahertz(clock), 1, Seconds(time), Joules(energy)};
}

TEST(OperatingPoint, EachObjectiveHasItsBest) {
  std::vector<OperatingPoint> points = {point(1400, 1.00, 100), point(1200, 1.04, 90), point(900, 1.3, 70)};
  EXPECT_EQ(choose(points, Objective::Latency).clock, megahertz(1400));
  EXPECT_EQ(choose(points, Objective::Energy, 0.05).clock, megahertz(1200));
  EXPECT_EQ(choose(points, Objective::Energy, 0.5).clock, megahertz(900));
  EXPECT_EQ(choose(points, Objective::Energy, 0).clock, megahertz(1400));
  EXPECT_EQ(choose(points, Objective::EnergyDelay).clock, megahertz(900));
  EXPECT_EQ(choose(points, Objective::EnergyDelaySquared).clock, megahertz(1200));
}

TEST(OperatingPoint, TheFrontHoldsNoPointThatIsBeaten) {
  std::vector<OperatingPoint> front =
      paretoFront({point(1, 3, 70), point(2, 1, 100), point(3, 2, 120), point(4, 2, 80)});
  ASSERT_EQ(front.size(), 3u);
  EXPECT_EQ(front[0].clock, megahertz(2));
  EXPECT_EQ(front[1].clock, megahertz(4));
  EXPECT_EQ(front[2].clock, megahertz(1));
}

// Memory-bound work loses no time at the knee and saves on the chip; below it nothing is won.
TEST(OperatingPoint, MemoryBoundWorkRunsAtTheKnee) {
  WorkCounts copy;
  copy.dramBytes = Bytes(1e11);
  std::vector<OperatingPoint> points = operatingPoints({copy}, a100());
  EXPECT_EQ(points.front().clock, a100().highestClock);
  OperatingPoint best = choose(points, Objective::Energy, 0.01);
  EXPECT_LE(best.clock, a100().kneeClock);
  EXPECT_LT(best.energy, points.front().energy);
}

TEST(OperatingPoint, ACapSlowsOnlyWhatWouldDrawMore) {
  WorkCounts product, nothing;
  product.flopsOf(Engine::MatrixFp16) = Flops(1e14);
  product.dramBytes = Bytes(1e9);
  nothing.launches = 100;
  std::vector<OperatingPoint> hot = pointsUnderCaps({product}, a100()), cold = pointsUnderCaps({nothing}, a100());
  ASSERT_FALSE(hot.empty());
  EXPECT_EQ(hot.back().cap, a100().lowestPowerCap);
  EXPECT_GT(hot.back().time, hot.front().time);
  for (const OperatingPoint &point : hot)
    EXPECT_TRUE(point.energy / point.time <= point.cap) << point.cap.value();
  EXPECT_EQ(cold.front().time, cold.back().time);
}

TEST(OperatingPoint, WhoCanDropToIdleMayRace) {
  std::vector<OperatingPoint> points = {point(1410, 0.1, 30), point(900, 0.2, 28)};
  std::vector<Duty> paced = dutyAt(points, a100(), Seconds(1), false);
  ASSERT_EQ(paced.size(), 2u);
  EXPECT_EQ(paced[0].point.clock, megahertz(900));
  EXPECT_NEAR(paced[0].perRequest.value(), 28 + 0.8 * a100().idle(megahertz(900)).value(), 1e-9);
  EXPECT_EQ(dutyAt(points, a100(), Seconds(0.15), false).size(), 1u);
  EXPECT_TRUE(dutyAt(points, a100(), Seconds(0.05), false).empty());
}

TEST(ClockResponse, TwoRunsTellTheRest) {
  auto at = [&](Hertz clock) {
    Seconds time(0.3 * (a100().highestClock / clock) + 0.7);
    return OperatingPoint{clock, 1, time,
                          time * a100().idle(clock) + Joules(50 * a100().dynamicFactor(clock) + 20)};
  };
  ClockResponse response({at(a100().highestClock), at(a100().kneeClock)}, a100());
  OperatingPoint middle = at(megahertz(1260));
  EXPECT_NEAR(response.time(middle.clock, 1).value(), middle.time.value(), 1e-6);
  EXPECT_NEAR(response.energy(middle.clock, 1, middle.time).value(), middle.energy.value(), 1e-4);
}
