// Meters against synthetic boards whose power is known.
#include "lib/Energy/Meter.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

using namespace joule;

namespace {

/// A board that draws `power` at its own time, which moves only when it is told to.
struct Board {
  std::atomic<double> seconds{0}, joules{0}, watts{100};
  std::atomic<bool> isBroken{false};

  void run(double time) {
    joules = joules + watts * time;
    seconds = seconds + time;
  }

  PowerSensor sensor() {
    auto failing = [this] { return isBroken.load(); };
    Error error{ErrorCode::DriverFailed, "the sensor is gone", ""};
    return {[=]() -> Result<Joules> { return failing() ? Result<Joules>(error) : Joules(joules); },
            [=]() -> Result<Watts> { return failing() ? Result<Watts>(error) : Watts(watts); },
            [this] { return Seconds(seconds); }};
  }
};

// The virtual GPU's sensors: a board at rest, and nothing that may be called measured.
TEST(Meter, TheVirtualSensorsAreModelled) {
  Result<NvmlFunctions> functions = openNvmlLibrary(JOULE_VGPU_NVML);
  ASSERT_TRUE(functions) << functions.error().message;
  Result<PowerSensor> sensor = openNvml(*functions, "0000:01:00.0");
  ASSERT_TRUE(sensor) << sensor.error().message;
  EXPECT_TRUE(sensor->isVirtual);
  Result<Watts> rest = sensor->power();
  ASSERT_TRUE(rest);
  // Its clock runs a hundred times too slow for the shortest window: the reader's is sped up instead.
  auto now = sensor->now;
  sensor->now = [now] { return Seconds(100 * now().value()); };
  std::unique_ptr<Meter> meter = makeCounterMeter(*sensor);
  ASSERT_TRUE(meter->start());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  Result<MeterReading> reading = meter->stop();
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_FALSE(reading->isMeasured);
  EXPECT_NEAR(100 * reading->power().value(), rest->value(), 0.1 * rest->value());
  EXPECT_GT(sensor->state().clock, megahertz(100));
  EXPECT_GT(sensor->state().powerCap, Watts(50));
  EXPECT_EQ(openNvml(*functions, "0000:77:00.0").error().message, "NVML has no device at 0000:77:00.0");
}

} // namespace

TEST(Meter, TheCounterGivesTheDifference) {
  Board board;
  board.run(3);
  auto meter = makeCounterMeter(board.sensor());
  ASSERT_TRUE(meter->start());
  board.watts = 250;
  board.run(6);
  Result<MeterReading> reading = meter->stop();
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading->energy.value(), 1500);
  EXPECT_DOUBLE_EQ(reading->power().value(), 250);
  EXPECT_NEAR(reading->uncertainty, 0.06, 0.005);
  EXPECT_TRUE(reading->isMeasured);
}

// An RTX 4090's sensor reads 1.047 times the power, less 22.8 W.
TEST(Meter, ReadingsAreCorrectedByTheSensorsTraits) {
  Board board;
  PowerSensor sensor = board.sensor();
  sensor.traits = sensorTraitsOf(*deviceNamed("rtx-4090"));
  auto meter = makeCounterMeter(sensor);
  ASSERT_TRUE(meter->start());
  board.watts = 1.047 * 300 - 22.8;
  board.run(6);
  Result<MeterReading> reading = meter->stop();
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->power().value(), 300, 1e-9);
  EXPECT_LT(reading->uncertainty, 0.035); // it watches all of the time, and its gain is known
  EXPECT_GT(meterUncertainty(Seconds(6), sensorTraitsOf(*deviceNamed("h100-sxm"))), 0.055);
}

TEST(Meter, AShortWindowIsRefused) {
  Board board;
  auto meter = makeCounterMeter(board.sensor());
  ASSERT_TRUE(meter->start());
  board.run(0.4);
  Result<MeterReading> reading = meter->stop();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().message, "a window of 0.40 s is too short to measure joules; 5 s are the least");
}

TEST(Meter, WhatAVirtualBoardSaysIsNotMeasured) {
  Board board;
  PowerSensor sensor = board.sensor();
  sensor.isVirtual = true;
  auto meter = makeCounterMeter(sensor);
  ASSERT_TRUE(meter->start());
  board.run(6);
  EXPECT_FALSE(meter->stop()->isMeasured);
}

TEST(Meter, SamplesIntegrateToTheEnergy) {
  std::vector<PowerSample> samples;
  // 200 W and 50 W around it at 1 Hz, over whole periods.
  for (int i = 0; i <= 600; ++i)
    samples.push_back({Seconds(i / 100.0), Watts(200 + 50 * std::sin(2 * M_PI * i / 100))});
  EXPECT_NEAR(integrate(samples).value(), 1200, 1e-6);
  EXPECT_EQ(integrate({}).value(), 0);
}

TEST(Meter, TheSamplerFollowsTheBoard) {
  Board board;
  auto meter = makeSamplingMeter(board.sensor(), Seconds(1e-3));
  ASSERT_TRUE(meter->start());
  for (int i = 0; i < 20; ++i) {
    board.run(0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Result<MeterReading> reading = meter->stop();
  ASSERT_TRUE(reading);
  EXPECT_NEAR(reading->energy.value(), 1000, 1e-6);
}

TEST(Meter, ABrokenSensorIsSaid) {
  Board board;
  for (auto make :
       {+[](PowerSensor sensor) { return makeCounterMeter(std::move(sensor)); },
        +[](PowerSensor sensor) { return makeSamplingMeter(std::move(sensor), Seconds(1e-3)); }}) {
    board.isBroken = true;
    auto meter = make(board.sensor());
    EXPECT_FALSE(meter->start());
    board.isBroken = false;
    ASSERT_TRUE(meter->start());
    board.run(6);
    board.isBroken = true;
    Result<MeterReading> reading = meter->stop();
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().message, "the sensor is gone");
  }
}

// The board warms up: each run draws a little more than the one before. A B B A sees through it, A B would
// not.
TEST(Meter, InterleavingCancelsADrift) {
  Board board;
  int runs = 0;
  auto work = [&](double watts) {
    board.watts = watts * (1 + 0.01 * runs++);
    board.run(6);
  };
  auto meter = makeCounterMeter(board.sensor());
  Result<Comparison> comparison = compareInterleaved(
      *meter, [&] { work(200); }, [&] { work(200); }, 3, Watts(0));
  ASSERT_TRUE(comparison);
  EXPECT_NEAR(comparison->ratio, 1, 1e-9);
}

TEST(Meter, IdlePowerIsSubtracted) {
  Board board;
  auto draw = [&](double watts) {
    board.watts = watts;
    board.run(6);
  };
  auto meter = makeCounterMeter(board.sensor());
  Result<Comparison> comparison = compareInterleaved(
      *meter, [&] { draw(150); }, [&] { draw(100); }, 2, Watts(50));
  ASSERT_TRUE(comparison);
  EXPECT_NEAR(comparison->ratio, 2, 1e-9);
}

TEST(Meter, WithoutNvmlThereIsAnError) {
  EXPECT_EQ(openNvmlLibrary("libno-such-nvml.so").error().message, "cannot open libno-such-nvml.so");
  EXPECT_EQ(openNvml(*openNvmlLibrary("libm.so.6"), "").error().message,
            "the sensors' library lacks functions of NVML");
}
