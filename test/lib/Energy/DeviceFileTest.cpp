// Device files: what is read comes out again, and what is wrong is said with its line.
#include "lib/Energy/DeviceEnergy.h"

#include <gtest/gtest.h>

using namespace joule;

static std::string textOf(const std::string &name) { return deviceNamed(name)->file.toString(); }

// The text with one part replaced, which must be there.
static std::string with(std::string text, const std::string &part, const std::string &other) {
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

static std::string errorOf(const std::string &text) {
  Result<DeviceFile> file = readDeviceFile(text, "x.mlir");
  return file ? "" : file.error().message;
}

// What is said of the text, without the file and the line.
static std::string complaintOf(const std::string &text) {
  std::string error = errorOf(text);
  size_t colon = error.find(": ");
  return colon == std::string::npos ? error : error.substr(colon + 2);
}

TEST(DeviceFile, EveryBuiltInFileReadsBackAsItPrints) {
  EXPECT_GE(knownDevices().size(), 14u);
  for (const DeviceEnergy &device : knownDevices()) {
    std::string text = device.file.toString();
    Result<DeviceFile> again = readDeviceFile(text, device.name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->toString(), text);
  }
}

TEST(DeviceFile, EveryNumberHasASource) {
  for (const DeviceEnergy &device : knownDevices())
    for (const auto *facts : {&device.file.gpu, &device.file.energy})
      for (const auto &[name, fact] : *facts) {
        EXPECT_FALSE(fact.source.empty()) << device.name << " " << name;
        EXPECT_TRUE(fact.kind == FactKind::Spec || fact.uncertainty > 0) << device.name << " " << name;
      }
}

TEST(DeviceFile, SaysWhatIsWrongAndWhere) {
  std::string good = textOf("a100-sxm-80");
  EXPECT_EQ(errorOf(good), "");
  EXPECT_EQ(errorOf(with(good, "400.0, \"W\"", "400.0, \"mW\"")),
            "x.mlir:11: power_cap is given in 'mW', not in 'W'");
  EXPECT_EQ(complaintOf(with(good, "400.0, \"W\"", "-400.0, \"W\"")),
            "power_cap is -400 W, outside 1 to 5000");
  EXPECT_EQ(complaintOf(with(good, "400.0, \"W\"", "400, \"W\"")), "'400' lacks a decimal point");
  EXPECT_EQ(complaintOf(with(good, "power_cap", "power_kap")), "no quantity is called 'power_kap'");
  EXPECT_EQ(
      complaintOf(with(
          good, "    power_cap = #device.fact<400.0, \"W\", spec, within 0.0, \"published by the maker\">,\n",
          "")),
      "a device without power_cap");
  EXPECT_EQ(
      complaintOf(with(good, "lowest_clock = #device.fact<210.0", "lowest_clock = #device.fact<2100.0")),
      "the lowest clock is above the highest");
  EXPECT_EQ(complaintOf(with(good, "[0.7438, 0.7438", "[0.7438, 0.7437")),
            "core_voltage falls where the clock rises");
  EXPECT_EQ(complaintOf(with(good, "power_cap = #device.fact<400.0", "power_cap = #device.fact<90.0")),
            "the lowest power cap is above the board's own");
  EXPECT_EQ(complaintOf(with(good, "knee_clock = #device.fact<1110.0", "knee_clock = #device.fact<1500.0")),
            "knee_clock is 1500 MHz, which the device does not run at");
  EXPECT_EQ(complaintOf(with(good, "[210.0, 270.0", "[270.0, 210.0")), "a curve whose clocks do not rise");
  EXPECT_EQ(complaintOf(good + "x"), "something follows the module");
}

// No prefix of a file is read, and none crashes the reader.
TEST(DeviceFile, RefusesEveryPrefix) {
  std::string good = textOf("h200");
  while (!good.empty() && (good.back() == '\n' || good.back() == ' '))
    good.pop_back();
  for (size_t length = 0; length < good.size(); length += 7)
    EXPECT_FALSE(readDeviceFile(good.substr(0, length), "x.mlir")) << length;
}

TEST(DeviceFile, ASliceHasItsShare) {
  Result<DeviceEnergy> slice = deviceNamed("a100-sxm-80:3/7");
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->multiprocessors, 46);
  EXPECT_NEAR(slice->dramBandwidth.value(), a100().dramBandwidth.value() * 3 / 7, 1);
  EXPECT_NEAR(slice->idle(slice->highestClock).value(), a100().idle(a100().highestClock).value() * 3 / 7,
              1e-9);
  EXPECT_EQ(slice->costs.byte[0], a100().costs.byte[0]);
  EXPECT_LT(slice->lowestPowerCap, slice->powerCap);
  for (const char *wrong : {"a100:8/7", "a100:0/7", "a100:3", "a100:x/y", "a100:3/7x", "a100:1/0"})
    EXPECT_FALSE(deviceNamed(wrong)) << wrong;
}

TEST(DeviceFile, AnUnknownNameListsTheKnownOnes) {
  Result<DeviceEnergy> device = deviceNamed("tpu");
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("h100-sxm"), std::string::npos);
}
