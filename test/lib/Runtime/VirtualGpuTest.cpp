// Sessions on the virtual GPU, with PTX written by hand.
#include "joule/Session.h"
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Runtime/Driver.h"
#include "test/lib/Runtime/PlanBuilder.h"
#include "test/lib/TemporaryFolder.h"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace joule;
using namespace joule::test;

// add: out[i] = a[i] + b[i] for i below n. forever: never ends. trap: traps.
static const char *kernels = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry add(.param .u64 pa, .param .u64 pb, .param .u64 pout, .param .u32 pn)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<4>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [pa];
  ld.param.u64 %d2, [pb];
  ld.param.u64 %d3, [pout];
  ld.param.u32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p, %r5, %r1;
  @%p bra DONE;
  mul.wide.s32 %d4, %r5, 4;
  add.s64 %d5, %d1, %d4;
  add.s64 %d6, %d2, %d4;
  add.s64 %d7, %d3, %d4;
  ld.global.f32 %f1, [%d5];
  ld.global.f32 %f2, [%d6];
  add.f32 %f3, %f1, %f2;
  st.global.f32 [%d7], %f3;
DONE:
  ret;
}

.visible .entry forever()
{
LOOP:
  bra LOOP;
}

.visible .entry trap_now()
{
  trap;
}
)";

class VirtualGpuTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    Result<Device> opened = Device::open("virtual:a100");
    ASSERT_TRUE(opened) << opened.error().toString();
    device = *opened;
  }
  static void TearDownTestSuite() { device.reset(); }

  Result<Session> make(const plan::Plan &plan, const std::string &ptx = kernels) {
    Result<ArtifactWriter> writer = ArtifactWriter::begin(folder / "m.joule");
    EXPECT_TRUE(writer && writer->addWeight(std::string(4096, '\0')) &&
                writer->addEntry("targets/sm_80/kernels/all.ptx", ptx) &&
                writer->addEntry("targets/sm_80/plan.pb", plan.SerializeAsString()) && writer->finish());
    Result<Artifact> artifact = Artifact::open(folder / "m.joule");
    EXPECT_TRUE(artifact);
    SessionOptions options;
    options.profile = true;
    return Session::create(*artifact, *device, options);
  }

  TemporaryFolder folder;
  static std::optional<Device> device;
};

std::optional<Device> VirtualGpuTest::device;

// z = (x + y) + y over [batch, 100]
static plan::Plan addTwice() {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "batch", 0);
  addInput(plan, "x", 0, {reg(0), constant(100)});
  addInput(plan, "y", 1, {reg(0), constant(100)});
  addKernel(plan, "add");
  plan::Block *body = plan.mutable_body();
  addEval(body, plan::Eval::MUL, 1, reg(0), constant(100));
  addEval(body, plan::Eval::MUL, 2, reg(1), constant(4));
  addEval(body, plan::Eval::CEILDIV, 3, reg(1), constant(32));
  for (uint32_t out : {2u, 3u}) {
    addAlloc(body, out, reg(2));
    uint32_t in = out == 2 ? 0 : 2;
    addLaunch(body, 0, reg(3), {bufferArgument(in), bufferArgument(1), bufferArgument(out), i32(reg(1))},
              {in, 1}, {out});
  }
  addOutput(plan, "z", 3, {reg(0), constant(100)});
  return plan;
}

TEST_F(VirtualGpuTest, TellsWhatItIs) {
  EXPECT_TRUE(device->properties().isVirtual);
  EXPECT_EQ(device->properties().major, 8);
  EXPECT_EQ(device->properties().multiprocessors, 108);
  EXPECT_NE(device->properties().name.find("A100"), std::string::npos);
  EXPECT_EQ(Device::open("virtual:nothing").error().code, ErrorCode::DeviceUnknown);
  EXPECT_EQ(Device::open("virtual:a100,exact").error().message,
            "the virtual GPU of this process was first opened without \"exact\"");
}

TEST(CheckMode, FindingsBecomeAnError) {
  Driver driver;
  EXPECT_TRUE(driver.findingsBeyond(0));
  driver.countFindings = [] { return size_t(3); };
  driver.finding = [](size_t index) { return index == 1 ? "race: kernel 'k'" : "another"; };
  EXPECT_TRUE(driver.findingsBeyond(3));
  EXPECT_EQ(driver.findingsBeyond(1).error().message, "the virtual GPU found race: kernel 'k' (and 1 more)");
  EXPECT_EQ(driver.findingsBeyond(2).error().message, "the virtual GPU found another");
}

TEST_F(VirtualGpuTest, RunsPtx) {
  Result<Session> session = make(addTwice());
  ASSERT_TRUE(session) << session.error().toString();
  for (int64_t batch : {3, 0, 7, 3}) {
    auto count = static_cast<size_t>(batch * 100);
    std::vector<float> x(count), y(count);
    for (size_t i = 0; i < count; ++i)
      x[i] = float(i), y[i] = 0.5f * float(i);
    TensorView xView{ElementType::Float32, {batch, 100}, x.data(), count * 4, Memory::Host};
    TensorView yView{ElementType::Float32, {batch, 100}, y.data(), count * 4, Memory::Host};
    auto results = session->run({{"x", xView}, {"y", yView}});
    ASSERT_TRUE(results) << results.error().toString();
    std::vector<float> z(count), want(count);
    ASSERT_EQ(results->at("z").bytes.size(), count * 4);
    if (count)
      std::memcpy(z.data(), results->at("z").bytes.data(), count * 4);
    for (size_t i = 0; i < count; ++i)
      want[i] = 2 * float(i);
    EXPECT_EQ(z, want);
  }
  EXPECT_EQ(session->counters().launches, 6u);
  // The arena for the first batch, and a larger one for the third.
  EXPECT_EQ(session->counters().deviceAllocations, 2u);
}

TEST_F(VirtualGpuTest, RunsFromManyThreads) {
  Result<Session> session = make(addTwice());
  ASSERT_TRUE(session) << session.error().toString();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> x(200, float(t)), y(200, 1.f);
      for (int i = 0; i < 10; ++i) {
        auto results = session->run({{"x", {ElementType::Float32, {2, 100}, x.data(), 800, Memory::Host}},
                                     {"y", {ElementType::Float32, {2, 100}, y.data(), 800, Memory::Host}}});
        float last = 0;
        if (results)
          std::memcpy(&last, results->at("z").bytes.data() + 796, 4);
        failures += !results || last != float(t) + 2;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

// A plan of one launch without arguments.
static plan::Plan launchOnly(const std::string &kernel) {
  plan::Plan plan = emptyPlan();
  addKernel(plan, kernel);
  addLaunch(plan.mutable_body(), 0, constant(1), {}, {}, {});
  return plan;
}

TEST_F(VirtualGpuTest, EndsAKernelAtTheTimeLimitOrOnRequest) {
  Result<Session> session = make(launchOnly("forever"));
  ASSERT_TRUE(session) << session.error().toString();
  session->setTimeLimit(0.05);
  EXPECT_EQ(session->run({}).error().code, ErrorCode::TimeLimit);
  session->setTimeLimit(0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    session->interrupt();
  });
  EXPECT_EQ(session->run({}).error().code, ErrorCode::Interrupted);
  other.join();
  // The device is unharmed.
  std::vector<float> x(100, 1.f);
  TensorView view{ElementType::Float32, {1, 100}, x.data(), 400, Memory::Host};
  Result<Session> next = make(addTwice());
  ASSERT_TRUE(next) << next.error().toString();
  EXPECT_TRUE(next->run({{"x", view}, {"y", view}}));
}

TEST_F(VirtualGpuTest, ExplainsPtxThatDoesNotLoad) {
  Result<Session> session =
      make(launchOnly("add"), ".version 7.0\n.target sm_80\n.address_size 64\n.entry {");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::KernelUnloadable) << session.error().message;
  session = make(launchOnly("no_such"));
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::KernelUnloadable) << session.error().message;
}

// Last, as a fault poisons the context until nobody holds the device.
TEST_F(VirtualGpuTest, NamesTheKernelThatFails) {
  {
    Result<Session> session = make(launchOnly("trap_now"));
    ASSERT_TRUE(session) << session.error().toString();
    auto result = session->run({});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::KernelFailed) << result.error().toString();
    EXPECT_EQ(result.error().node, "node_of_kernel_0");
    EXPECT_NE(result.error().message.find("trap_now"), std::string::npos) << result.error().message;
  }
  device.reset();
  SetUpTestSuite();
  Result<Session> session = make(addTwice());
  EXPECT_TRUE(session) << session.error().toString();
}
