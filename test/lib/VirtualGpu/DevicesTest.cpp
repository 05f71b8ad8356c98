// The devices that the virtual driver can be: every device file, shown as a driver shows devices.
#include "lib/Energy/DeviceEnergy.h"
#include "lib/VirtualGpu/Devices.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::vgpu;

namespace {

TEST(Devices, EveryFileIsOne) {
  for (const DeviceEnergy &device : knownDevices()) {
    const DeviceFacts *facts = findDevice(device.name);
    ASSERT_NE(facts, nullptr) << device.name;
    EXPECT_EQ(facts->key, device.name);
    EXPECT_EQ(facts->energy, &device);
    EXPECT_EQ(facts->multiprocessors, device.multiprocessors);
    EXPECT_EQ(facts->major * 10 + facts->minor, device.major * 10 + device.minor);
    EXPECT_GE(facts->memoryBytes, 11ull << 30) << device.name; // each file says it
    EXPECT_GT(facts->clockKHz, 1000000) << device.name;
    EXPECT_GT(facts->busWidthBits, 0) << device.name;
    EXPECT_GT(facts->sharedPerBlockOptIn, 0) << device.name;
    EXPECT_GE(facts->l1Bytes, facts->sharedPerMultiprocessor - (facts->major < 7 ? 48 * 1024 : 0)) << device.name;
    EXPECT_LE(facts->l2EffectiveBytes, uint64_t(facts->l2Bytes)) << device.name;
    // The energy model must find the same file by the driver's name.
    EXPECT_EQ(findDeviceEnergy(facts->name, facts->major, facts->minor), &device) << facts->name;
  }
}

TEST(Devices, WhatDriversReport) { // read off drivers; published by CUDA's documentation and the maker
  struct Row {
    const char *name;
    int shared, sharedOptIn, threads, blocks, l2, bus, clock;
    uint64_t gib;
  };
  const Row rows[] = {{"a100-pcie-40", 167936, 166912, 2048, 32, 41943040, 5120, 1410000, 40},
                      {"a100-sxm-80", 167936, 166912, 2048, 32, 41943040, 5120, 1410000, 80},
                      {"h100-sxm", 233472, 232448, 2048, 32, 52428800, 5120, 1980000, 80},
                      {"h200", 233472, 232448, 2048, 32, 52428800, 6144, 1980000, 141},
                      {"v100-pcie", 98304, 98304, 2048, 32, 6291456, 4096, 1380000, 16},
                      {"t4", 65536, 65536, 1024, 16, 4194304, 256, 1590000, 16},
                      {"a10", 102400, 101376, 1536, 16, 6291456, 384, 1695000, 24},
                      {"l4", 102400, 101376, 1536, 24, 50331648, 192, 2040000, 24},
                      {"l40s", 102400, 101376, 1536, 24, 100663296, 384, 2520000, 48},
                      {"rtx-3090", 102400, 101376, 1536, 16, 6291456, 384, 1695000, 24},
                      {"rtx-4090", 102400, 101376, 1536, 24, 75497472, 384, 2520000, 24},
                      {"orin-agx", 167936, 166912, 1536, 16, 4194304, 256, 1300000, 64},
                      {"gtx-1080-ti", 98304, 49152, 2048, 32, 2883584, 352, 2000000, 11}};
  for (const Row &row : rows) {
    const DeviceFacts *facts = findDevice(row.name);
    ASSERT_NE(facts, nullptr) << row.name;
    EXPECT_EQ(facts->sharedPerMultiprocessor, row.shared) << row.name;
    EXPECT_EQ(facts->sharedPerBlockOptIn, row.sharedOptIn) << row.name;
    EXPECT_EQ(facts->threadsPerMultiprocessor, row.threads) << row.name;
    EXPECT_EQ(facts->blocksPerMultiprocessor, row.blocks) << row.name;
    EXPECT_EQ(facts->l2Bytes, row.l2) << row.name;
    EXPECT_EQ(facts->busWidthBits, row.bus) << row.name;
    EXPECT_EQ(facts->clockKHz, row.clock) << row.name;
    EXPECT_EQ(facts->memoryBytes, row.gib << 30) << row.name;
  }
}

TEST(Devices, TheBeginOfANameIsEnough) {
  EXPECT_EQ(findDevice("a100"), findDevice("a100-sxm-80"));
  EXPECT_EQ(findDevice("h100"), findDevice("h100-sxm"));
  EXPECT_EQ(findDevice("orin"), findDevice("orin-agx"));
  EXPECT_EQ(findDevice("a100")->name, "Joule virtual A100-SXM-80");
  for (const char *name : {"a1", "", "A100", "a100:3/7", "a100,exact"})
    EXPECT_EQ(findDevice(name), nullptr) << name;
  EXPECT_EQ(unknownDevice("k80").substr(0, 57), "there is no virtual device 'k80'; there are a100-sxm-80, ");
}

} // namespace
