// Makes a test program run every launch as compiled code: the interpreter's tests then are the compiler's
// too.
#include "lib/VirtualGpu/Compiled.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace joule::vgpu {
namespace {

class Environment : public ::testing::Environment {
public:
  void SetUp() override {
    useJit();
    setDefaultEngine(EngineChoice::Compiled);
  }
  void TearDown() override {
    EngineUse use = engineUse();
    printf("compiled %llu kernels, refused %llu (last: %s), compiled runs %llu, interpreted runs %llu, %.3f "
           "ms per "
           "instruction\n",
           (unsigned long long)use.compiledKernels, (unsigned long long)use.refusedKernels,
           use.lastRefusal.c_str(), (unsigned long long)use.compiledRuns,
           (unsigned long long)use.interpretedRuns,
           double(use.compileNanoseconds) / 1e6 / double(std::max<uint64_t>(1, use.compiledInstructions)));
    EXPECT_GT(use.compiledKernels + use.refusedKernels, 0u); // a shard may have only what is refused
  }
};

[[maybe_unused]] const auto *environment = ::testing::AddGlobalTestEnvironment(new Environment);

} // namespace
} // namespace joule::vgpu
