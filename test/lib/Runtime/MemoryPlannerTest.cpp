// The arena: nothing overlaps, little is wasted.
#include "lib/Runtime/MemoryPlanner.h"

#include <gtest/gtest.h>

using namespace joule;

static void expectSound(const std::vector<Lifetime> &lifetimes, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % arenaAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool meet = lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
      bool overlap = plan.offsets[i] < plan.offsets[j] + lifetimes[j].bytes &&
                     plan.offsets[j] < plan.offsets[i] + lifetimes[i].bytes;
      EXPECT_FALSE(meet && overlap && lifetimes[i].bytes && lifetimes[j].bytes) << i << " and " << j;
    }
  }
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  EXPECT_EQ(planArena({}).bytes, 0u);
  ArenaPlan plan = planArena({{0, 0, 5}, {0, 2, 3}});
  EXPECT_EQ(plan.bytes, 0u);
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{0, 0}));
}

TEST(MemoryPlanner, ReusesWhatIsDead) {
  // The example of the header.
  std::vector<Lifetime> lifetimes = {{1024, 1, 2}, {512, 2, 3}, {256, 3, 4}};
  ArenaPlan plan = planArena(lifetimes);
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{0, 1024, 0}));
  EXPECT_EQ(plan.bytes, 1536u);
}

TEST(MemoryPlanner, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (uint64_t i = 0; i < 50; ++i)
    chain.push_back({1000, i, i + 1});
  ArenaPlan plan = planArena(chain);
  expectSound(chain, plan);
  EXPECT_EQ(plan.bytes, 2048u);
  EXPECT_EQ(leastArenaBytes(chain), 2048u);
}

TEST(MemoryPlanner, BuffersThatTouchAtOneStepMeet) {
  ArenaPlan plan = planArena({{256, 0, 3}, {256, 3, 5}});
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(MemoryPlanner, RandomLifetimesAreSoundAndTight) {
  unsigned random = 7;
  auto next = [&](unsigned below) { return (random = random * 1664525 + 1013904223) / 65536 % below; };
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes;
    for (unsigned i = 0; i < 60; ++i) {
      uint64_t first = next(100);
      lifetimes.push_back({next(20000), first, first + next(20)});
    }
    ArenaPlan plan = planArena(lifetimes);
    expectSound(lifetimes, plan);
    uint64_t least = leastArenaBytes(lifetimes);
    EXPECT_GE(plan.bytes, least);
    EXPECT_LE(plan.bytes, least * 3 / 2) << "more than half is wasted";
  }
}
