// Fits find what was planted; tables say what is wrong with them.
#include "lib/Energy/GemmTime.h"
#include "lib/Energy/LeastSquares.h"
#include "lib/Energy/Predict.h"
#include "lib/Energy/RowTime.h"
#include "lib/Energy/SequenceTime.h"
#include "lib/Energy/Table.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace joule;

TEST(LeastSquares, NoConstantIsNegative) {
  // Free least squares would give (2, -1).
  std::vector<double> x = fitNonNegative({{1, 0}, {0, 1}, {1, 1}}, {2, -1, 1}, 0, {0, 0});
  EXPECT_NEAR(x[0], 1.5, 1e-6);
  EXPECT_EQ(x[1], 0);
}

TEST(LeastSquares, WhatTheDataDoNotDecideGoesToItsPrior) {
  std::vector<double> x = fitNonNegative({{1, 1}, {2, 2}}, {1, 2}, 0.01, {0.9, 0});
  EXPECT_NEAR(x[0] + x[1], 1, 1e-3);
  EXPECT_GT(x[0], 0.9);
}

// The exact optimum satisfies the conditions of Karush, Kuhn and Tucker.
TEST(LeastSquares, RandomProblemsAreSolvedExactly) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int trial = 0; trial < 50; ++trial) {
    Matrix rows(20, std::vector<double>(6));
    std::vector<double> wanted(20);
    for (size_t i = 0; i < rows.size(); ++i) {
      for (double &entry : rows[i])
        entry = uniform(random);
      wanted[i] = uniform(random);
    }
    std::vector<double> x = fitNonNegative(rows, wanted, 0, std::vector<double>(6));
    for (size_t j = 0; j < x.size(); ++j) {
      double slope = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        double residual = wanted[i];
        for (size_t k = 0; k < x.size(); ++k)
          residual -= rows[i][k] * x[k];
        slope += rows[i][j] * residual;
      }
      EXPECT_GE(x[j], 0);
      EXPECT_LT(slope, 1e-6);
      if (x[j] > 1e-9)
        EXPECT_NEAR(slope, 0, 1e-6);
    }
  }
}

TEST(LeastSquares, LogarithmsFindPlantedParametersDespiteAnOutlier) {
  std::vector<double> at = {1, 2, 4, 8, 16, 32};
  auto model = [](const std::vector<double> &p, double x) { return p[0] + p[1] * x; };
  auto residuals = [&](const std::vector<double> &p) {
    std::vector<double> list;
    for (double x : at)
      list.push_back(std::log(model(p, x) / (x == 4 ? 50 : model({3, 0.5}, x))));
    return list;
  };
  std::vector<double> found = fitLogarithms(residuals, {1, 1}, 0, 0.01);
  EXPECT_NEAR(found[0], 3, 0.1);
  EXPECT_NEAR(found[1], 0.5, 0.02);
}

//===- Energy
//--------------------------------------------------------------------------------------------------------

static EnergyCosts plantedCosts() {
  EnergyCosts costs;
  costs.multiprocessors = Watts(40);
  costs.flop[static_cast<int>(Engine::MatrixFp16)] = picojoulesPerFlop(0.7);
  costs.byte[0] = picojoulesPerByte(90);
  costs.byte[1] = picojoulesPerByte(25);
  return costs;
}

static std::vector<Measurement> plantedRuns(const DeviceEnergy &device) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0.1, 1);
  std::vector<Measurement> runs;
  for (int i = 0; i < 40; ++i) {
    Measurement run;
    run.group = "g" + std::to_string(i % 4);
    run.conditions = {Seconds(1),
                      device.lowestClock + uniform(random) * (device.highestClock - device.lowestClock)};
    run.work.flopsOf(Engine::MatrixFp16) = Flops(100e12 * uniform(random));
    run.work.dramBytes = Bytes(1e12 * uniform(random));
    run.work.l2Bytes = Bytes(2e12 * uniform(random));
    run.work.activeShare = uniform(random);
    run.energy = energyOf(run.work, run.conditions, device).total();
    runs.push_back(run);
  }
  return runs;
}

TEST(EnergyFit, FindsPlantedConstants) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  std::vector<Measurement> runs = plantedRuns(device);
  device.costs = {};
  EnergyFit fit = fitEnergy(runs, device, {0, {}});
  EXPECT_NEAR(fit.costs.multiprocessors.value(), 40, 1e-3);
  EXPECT_NEAR(fit.costs.flop[2].value(), 0.7e-12, 1e-16);
  EXPECT_NEAR(fit.costs.byte[0].value(), 90e-12, 1e-15);
  EXPECT_NEAR(fit.costs.byte[1].value(), 25e-12, 1e-15);
  EXPECT_LT(meanRelativeError(crossValidate(runs, device, {0, {}}), runs), 1e-6);
}

TEST(EnergyFit, FindsAPlantedVoltageCurve) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  device.kneeClock = megahertz(0.65 * 1410);
  device.coreVoltage = {{device.kneeClock, device.highestClock}, {Volts(0.7), Volts(0.7 * 1.3)}};
  std::vector<Measurement> runs = plantedRuns(device);
  device.costs = {};
  device.coreVoltage = {{megahertz(1300), device.highestClock}, {Volts(0.7), Volts(0.75)}};
  DeviceEnergy found = withFittedVoltage(runs, device, {0, {}});
  EXPECT_NEAR(found.kneeClock / device.highestClock, 0.65, 0.051);
  EXPECT_NEAR(found.coreVoltage.values.back() / found.coreVoltage.values.front(), 1.3, 0.051);
}

TEST(EnergyFit, TheFileCarriesTheConstantsWithTheirSource) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  EnergyFit fit = fitEnergy(plantedRuns(device), device, {0, {}});
  Result<DeviceFile> file = readDeviceFile(withCosts(device.file, fit, "a test", 0.04).toString(), "new");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->energy["per_l2_byte"].values[0], 25);
  EXPECT_EQ(file->energy["per_l2_byte"].kind, FactKind::Fit);
  EXPECT_EQ(file->energy["per_l2_byte"].source, "a test");
}

// Each group by a fit to the others, whatever the way there.
TEST(EnergyFit, GroupsLeftOutArePredictedFromTheOthersAlone) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  std::vector<Measurement> runs = plantedRuns(device);
  std::mt19937 random(3);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].energy = std::normal_distribution<double>(1, 0.05)(random) * runs[i].energy;
    runs[i].group = "g" + std::to_string(i % 7);
  }
  std::vector<Joules> predicted = crossValidate(runs, device), powers = constantPower(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<Measurement> others;
    std::vector<double> watts;
    for (const Measurement &run : runs)
      if (run.group != runs[i].group)
        others.push_back(run), watts.push_back((run.energy / run.conditions.time).value());
    DeviceEnergy fitted = device;
    fitted.costs = fitEnergy(others, device).costs;
    EXPECT_NEAR(predicted[i] / energyOf(runs[i].work, runs[i].conditions, fitted).total(), 1, 1e-9) << i;
    std::sort(watts.begin(), watts.end());
    EXPECT_DOUBLE_EQ((powers[i] / runs[i].conditions.time).value(), watts[watts.size() / 2]) << i;
  }
}

// As many groups as rows: a fit from scratch for each would take minutes.
TEST(EnergyFit, LargeTablesOfGroupsAreCheap) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  std::vector<Measurement> runs, some = plantedRuns(device);
  for (size_t i = 0; i < 20000; ++i) {
    runs.push_back(some[i % some.size()]);
    runs.back().group = std::to_string(i);
  }
  EXPECT_LT(meanRelativeError(crossValidate(runs, device, {0, {}}), runs), 1e-6);
  EXPECT_GT(meanRelativeError(constantPower(runs), runs), 0.05);
}

TEST(EnergyFit, PredictionsSayHowFarOffTheyMayBe) {
  DeviceEnergy device = a100();
  Conditions conditions{Seconds(1), device.highestClock};
  WorkCounts integers;
  integers.flopsOf(Engine::MatrixInt8) = Flops(500e12);
  // Nobody has checked predictions of this device; an estimate within 40 % counts by its part.
  EXPECT_DOUBLE_EQ(uncertaintyOf({}, conditions, device), 0.33);
  device.file.energy["prediction_error"] = Fact{{}, {0.1}, "", FactKind::Fit, 0.2, "a test"};
  double rest = uncertaintyOf({}, conditions, device), busy = uncertaintyOf(integers, conditions, device);
  EXPECT_DOUBLE_EQ(rest, 0.1);
  EXPECT_GT(busy, 0.2);
  EXPECT_LT(busy, 0.4);
  // A time that is predicted adds to it.
  integers.launches = 1;
  Prediction prediction = predict(integers, device);
  EXPECT_GT(prediction.plusMinus / prediction.energy, busy);
}

TEST(EnergyFit, OfHundredNewRowsNinetyFiveAreCovered) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  std::mt19937 random(4);
  std::normal_distribution<double> noise(1, 0.04);
  std::vector<Measurement> runs = plantedRuns(device), unseen = runs;
  for (Measurement &run : runs)
    run.energy = noise(random) * run.energy;
  std::vector<Joules> predicted = crossValidate(runs, device);
  double cover = coverOf(predicted, runs);
  device.costs = fitEnergy(runs, device).costs;
  int covered = 0, trials = 0;
  for (int i = 0; i < 10; ++i)
    for (const Measurement &run : unseen) {
      Joules energy = energyOf(run.work, run.conditions, device).total();
      covered += std::abs(noise(random) * run.energy / energy - 1) <= cover;
      ++trials;
    }
  EXPECT_GE(covered, 0.93 * trials);
  EXPECT_LT(cover, 0.15);
}

TEST(EnergyFit, PartsAddUpAndVoltageLeavesMemoryAlone) {
  DeviceEnergy device = a100();
  device.costs = plantedCosts();
  WorkCounts work;
  work.dramBytes = work.l2Bytes = Bytes(1e12);
  EnergyParts fast = energyOf(work, {Seconds(1), device.highestClock}, device);
  EnergyParts slow = energyOf(work, {Seconds(1), device.kneeClock}, device);
  EXPECT_EQ(fast.dram, slow.dram);
  EXPECT_NEAR(slow.l2 / fast.l2, std::pow(0.7438 / 0.9188, 2), 1e-9);
}

//===- Tables
//--------------------------------------------------------------------------------------------------------

static Result<MeasuredTable> read(const std::vector<std::string> &header, const std::vector<std::string> &row,
                                  TableOptions options = {}) {
  CsvTable table{header, {row}};
  return readMeasurements(table, a100(), options);
}

TEST(Table, UnitsScale) {
  Result<MeasuredTable> table = read({"time[ms]", "power[W]", "clock[MHz]", "dram_bytes[MB]", "occupancy[%]"},
                                     {"20", "150", "1410", "7", "50"});
  ASSERT_TRUE(table) << table.error().message;
  const Measurement &row = table->measurements.at(0);
  EXPECT_DOUBLE_EQ(row.conditions.time.value(), 0.02);
  EXPECT_DOUBLE_EQ(row.energy.value(), 3);
  EXPECT_DOUBLE_EQ(row.work.dramBytes.value(), 7e6);
  EXPECT_DOUBLE_EQ(row.work.occupancy, 0.5);
}

TEST(Table, UnitsAreSpeltAsPeopleDo) {
  Result<MeasuredTable> table =
      read({"time[s]", "energy[kWh]", "fp16_flops[GFLOP]", "l2_bytes[MiB]"}, {"1e5", "2", "5", "3"});
  ASSERT_TRUE(table) << table.error().message;
  Measurement row = table->measurements.at(0);
  EXPECT_DOUBLE_EQ(row.energy.value(), 7.2e6);
  EXPECT_DOUBLE_EQ(row.work.flopsOf(Engine::MatrixFp16).value(), 5e9);
  EXPECT_DOUBLE_EQ(row.work.bytesOf(MemoryLevel::L2).value(), 3 << 20);
  EXPECT_FALSE(read({"time[Mis]", "energy[J]"}, {"1", "1"}));
}

TEST(Table, SpreadsheetsMarkAndSeparateAsTheyLike) {
  std::string path = testing::TempDir() + "spreadsheet.csv";
  std::ofstream(path, std::ios::binary) << "\xef\xbb\xbftime[s];\"energy[J]\"\r\n1;\"2\"\r\n\r\n";
  Result<CsvTable> table = readCsv(path);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->header, (std::vector<std::string>{"time[s]", "energy[J]"}));
  EXPECT_EQ(table->rows, (std::vector<std::vector<std::string>>{{"1", "2"}}));
  std::ofstream(path, std::ios::binary) << "\xef\xbb\xbf";
  EXPECT_EQ(readCsv(path).error().message, path + " is empty");
  std::ofstream(path, std::ios::binary) << "time[s] , energy[J]\r 1,\" 2\"\r3,4";
  table = readCsv(path);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->header, (std::vector<std::string>{"time[s]", "energy[J]"}));
  EXPECT_EQ(table->rows, (std::vector<std::vector<std::string>>{{"1", " 2"}, {"3", "4"}}));
  std::ofstream(path, std::ios::binary) << "time[s],energy[J]\n1,2\n3,\"4\n5,6\n";
  EXPECT_EQ(readCsv(path).error().message, path + ": row 2 opens a quote that nothing closes");
}

TEST(Table, MissingValuesAreAllowedButForTimeAndEnergy) {
  EXPECT_TRUE(read({"time[s]", "energy[J]", "dram_bytes[B]"}, {"1", "100", ""}));
  EXPECT_EQ(read({"time[s]", "energy[J]"}, {"", "100"}).error().message, "row 1 has no time");
  EXPECT_EQ(read({"time[s]", "energy[J]"}, {"1", ""}).error().message, "row 1 has no energy");
}

TEST(Table, SaysWhatIsWrong) {
  auto message = [](const std::vector<std::string> &header, const std::vector<std::string> &row) {
    return read(header, row).error().message;
  };
  EXPECT_EQ(message({"time[s]", "joy"}, {"1", "2"}),
            "column 'joy' is unknown; map it to a known one, or ignore it");
  EXPECT_EQ(message({"time[W]", "energy[J]"}, {"1", "2"}),
            "column 'time[W]' is in 'W', which is no unit of time (s)");
  EXPECT_EQ(message({"time", "energy[J]"}, {"1", "2"}), "column 'time' lacks its unit, as in time[s]");
  EXPECT_EQ(message({"time[s]", "energy[J]"}, {"1", "-2"}), "row 1: energy[J] is -2, below zero");
  EXPECT_EQ(message({"time[s]", "energy[J]"}, {"1", "two"}), "row 1: energy[J] is 'two', which is no number");
  EXPECT_EQ(message({"time[s]", "energy[J]"}, {"1", "nan"}), "row 1: energy[J] is 'nan', which is no number");
  EXPECT_EQ(message({"time[s]", "energy[J]", "clock[MHz]"}, {"1", "2", "1980"}),
            "row 1 ran at 1980 MHz, a100-sxm-80 runs at 210 to 1410 MHz");
  EXPECT_EQ(message({"time[s]", "energy[J]"}, {std::string("1\0002", 3), "2"}).substr(0, 16),
            "row 1: time[s] i");
  EXPECT_EQ(message({"time[s]", "energy[J]", "dram_activity"}, {"1", "100", "40"}),
            "row 1: dram_activity is 40, a share above 1");
  EXPECT_EQ(message({"time[s]", "energy[J]", "fp8_flops[Gflop]"}, {"1", "100", "40"}),
            "row 1 has fp8_flops, and a100-sxm-80 has no such unit");
  EXPECT_EQ(message({"time[s]", "energy[J]", "memory_clock[kHz]"}, {"1", "100", "1593"}),
            "row 1: the memory's clock is 1.593 MHz, that of a100-sxm-80 is 1593 MHz");
  EXPECT_EQ(message({"time[s]", "energy[J]", "x", "x"}, {"1", "2", "3", "4"}), "column 'x' is given twice");
  EXPECT_EQ(message({"time[s]", "time_ms", "energy[J]"}, {"1", "2", "3"}),
            "columns 'time[s]' and 'time_ms' both give time");
}

TEST(Table, ImpossibleRowsAreLeftOutAndListed) {
  Result<MeasuredTable> table = read({"time[s]", "energy[J]", "fp16_flops[Tflop]"}, {"1", "300", "2000"});
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->measurements.empty());
  ASSERT_EQ(table->leftOut.size(), 1u);
  EXPECT_EQ(table->leftOut[0].reason, "2e+03 Tflop/s of fp16 at 1410 MHz, 6.4 times the peak");
  table = read({"time[s]", "energy[J]"}, {"1", "0.3"}); // of a table in kilojoules, say
  ASSERT_EQ(table->leftOut.size(), 1u);
  EXPECT_EQ(table->leftOut[0].reason, "0.3 W of mean power; the board rests at 60 W and is capped at 400 W");
}

TEST(Table, EnergyAndPowerThatDisagreeAreLeftOut) {
  EXPECT_TRUE(read({"time[s]", "energy[J]", "power[W]"}, {"1", "100", "105"})->leftOut.empty());
  Result<MeasuredTable> table = read({"time[s]", "energy[J]", "power[W]"}, {"1", "100", "300"});
  ASSERT_EQ(table->leftOut.size(), 1u);
  EXPECT_EQ(table->leftOut[0].reason, "100 J, but 300 W over 1 s");
}

TEST(Table, UnitsMayStandInOtherBrackets) {
  for (const char *time : {"time (ms)", "time(ms)", "time [ms]", "time[ms]", "time_ms"})
    EXPECT_TRUE(read({time, "energy[J]"}, {"1000", "100"})) << time;
  EXPECT_FALSE(read({"time (mW)", "energy[J]"}, {"1000", "100"}));
}

TEST(Table, UnitsMayFollowALine) {
  Result<MeasuredTable> table = read({"time_ms", "energy_mJ", "clock_MHz"}, {"20", "3000", "1005"});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_DOUBLE_EQ(table->measurements[0].energy.value(), 3);
  EXPECT_FALSE(read({"time_ms", "energy_mV"}, {"20", "3000"}));
}

TEST(Table, OtherNamesAreMapped) {
  TableOptions options;
  options.columns = {{"ms", "time[ms]"}};
  options.ignored = {"host"};
  EXPECT_TRUE(read({"ms", "energy[J]", "host"}, {"1", "2", "x"}, options));
  options.columns = {{"us", "time[us]"}};
  EXPECT_EQ(read({"ms", "energy[J]"}, {"1", "2"}, options).error().message,
            "there is no column 'us' to take as time[us]");
}

//===- Time
//----------------------------------------------------------------------------------------------------------

TEST(GemmTime, FitsFindPlantedConstants) {
  GemmConstants planted = usualConstants(a100(), Engine::MatrixFp16);
  planted.launch = microseconds(5);
  planted.sustained = FlopsPerSecond(220e12);
  std::vector<TimedGemm> products;
  for (double rows : {64, 256, 1024, 4096, 16384})
    for (double columns : {1024, 4096, 8192})
      for (double depth : {64, 1024, 4096}) {
        GemmShape shape{rows, columns, depth};
        products.push_back({shape, gemmTime(shape, a100(), planted)});
      }
  GemmConstants found = fitGemm(products, a100());
  for (const TimedGemm &product : products)
    EXPECT_NEAR(gemmTime(product.shape, a100(), found) / product.time, 1, 0.02);
}

TEST(GemmTime, WorkNeverTakesLessTime) {
  GemmConstants constants = usualConstants(a100(), Engine::MatrixFp16);
  Seconds before;
  for (double rows = 64; rows <= 65536; rows *= 2) {
    Seconds time = gemmTime({rows, 4096, 4096}, a100(), constants);
    EXPECT_GE(time, before);
    before = time;
  }
}

TEST(RowTime, ALongRowIsReadTwice) {
  RowConstants constants = usualConstants(a100(), RowFamily::Softmax);
  Seconds kept = rowTime({RowFamily::Softmax, 8192, 8192}, constants);
  Seconds again = rowTime({RowFamily::Softmax, 2048, 32768}, constants);
  EXPECT_NEAR((again - constants.launch) / (kept - constants.launch), 1.5, 0.01);
}

TEST(SequenceTime, TheSlowerOfHostAndDeviceDecides) {
  SequenceStep step;
  step.count = 100;
  SequenceConstants constants = usualSequence(a100(), a100().highestClock);
  auto time = [&] {
    return sequenceTime({step}, a100(), constants, a100().highestClock, a100().highestClock).value();
  };
  EXPECT_NEAR(time(), 100 * 30e-6, 1e-6);
  step.dram = constants.others * Seconds(1e-3);
  EXPECT_NEAR(time(), 100 * 1.002e-3, 1e-6);
}
