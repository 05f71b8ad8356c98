// Whole sessions on the fake driver: binding, every kind of step, memory, limits.
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Runtime/SessionState.h"
#include "test/lib/Runtime/FakeDriver.h"
#include "test/lib/Runtime/PlanBuilder.h"
#include "test/lib/TemporaryFolder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace joule;
using namespace joule::test;

template <typename T>
static Tensor tensor(ElementType type, std::vector<int64_t> shape, std::vector<T> values) {
  Tensor result{type, std::move(shape), std::vector<uint8_t>(values.size() * sizeof(T))};
  if (!values.empty())
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

static Tensor floats(std::vector<int64_t> shape, std::vector<float> values) {
  return tensor(ElementType::Float32, std::move(shape), std::move(values));
}

template <typename T> static std::vector<T> values(const Tensor &tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  if (!result.empty())
    std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  return result;
}

// out[i] = a[i] + b[i] for i below n: (a, b, out, n)
static void add(const std::array<unsigned, 3> &, void **arguments) {
  auto *a = argument<const float *>(arguments, 0);
  auto *b = argument<const float *>(arguments, 1);
  auto *out = argument<float *>(arguments, 2);
  for (int64_t i = 0; i < argument<int64_t>(arguments, 3); ++i)
    out[i] = a[i] + b[i];
}

class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    device = openFakeDevice();
    fakeDevice().kernels["add"] = add;
  }

  // Writes and opens an artifact of one plan for sm_80.
  Artifact artifactOf(const plan::Plan &plan, const std::function<void(ArtifactWriter &)> &more = nullptr) {
    Result<ArtifactWriter> writer = ArtifactWriter::begin(folder / "m.joule");
    EXPECT_TRUE(writer);
    if (more)
      more(*writer);
    EXPECT_TRUE(writer->addEntry("targets/sm_80/kernels/all.ptx", "// of no interest to the fake driver"));
    EXPECT_TRUE(writer->addEntry("targets/sm_80/plan.pb", plan.SerializeAsString()));
    EXPECT_TRUE(writer->finish());
    Result<Artifact> artifact = Artifact::open(folder / "m.joule");
    EXPECT_TRUE(artifact) << artifact.error().message;
    return *artifact;
  }

  Result<Session> make(const plan::Plan &plan, const SessionOptions &options = {},
                       const HostKernels &kernels = {}) {
    Result<std::shared_ptr<Session::Impl>> impl =
        Session::Impl::create(artifactOf(plan), *device, options, kernels);
    if (!impl)
      return impl.error();
    return Session(*impl);
  }

  TemporaryFolder folder;
  std::optional<Device> device;
};

// y = x + w with a weight w of 4 floats, and x [batch, 4]: a row at a time would need a loop, so batch is 1
// or 0.
static plan::Plan addPlan(const std::string &weight, uint64_t offset = 0) {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "batch", 0, 0, 8);
  addInput(plan, "x", 0, {reg(0), constant(4)});
  plan::Weight *w = plan.add_weights();
  w->set_buffer(1);
  w->set_entry(weight);
  w->set_bytes(16);
  w->set_offset(offset);
  addKernel(plan, "add");
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(16));
  addEval(plan.mutable_body(), plan::Eval::MUL, 2, reg(0), constant(4));
  addAlloc(plan.mutable_body(), 2, reg(1));
  addLaunch(plan.mutable_body(), 0, reg(0),
            {bufferArgument(0), bufferArgument(1), bufferArgument(2), i64(reg(2))}, {0, 1}, {2});
  addOutput(plan, "y", 2, {reg(0), constant(4)});
  return plan;
}

static std::string floatBytes(std::vector<float> values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
}

TEST_F(SessionTest, RunsAKernelOnInputAndWeight) {
  std::string weight = floatBytes({0, 10, 20, 30, 40});
  std::string name = *[&]() -> Result<std::string> {
    Result<ArtifactWriter> writer = ArtifactWriter::begin(folder / "name");
    return writer->addWeight(weight);
  }();
  Artifact artifact =
      artifactOf(addPlan(name, 4), [&](ArtifactWriter &writer) { ASSERT_TRUE(writer.addWeight(weight)); });
  Result<Session> session = Session::create(artifact, *device);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->target(), "sm_80");
  Tensor x = floats({1, 4}, {1, 2, 3, 4});
  auto results = session->run({{"x", x.view()}});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(values<float>(results->at("y")), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(results->at("y").shape, (std::vector<int64_t>{1, 4}));

  // A batch of none: no launch, an empty result.
  Tensor none = floats({0, 4}, {});
  results = session->run({{"x", none.view()}});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->at("y").shape, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(session->counters().launches, 1u);

  // After the first run with a shape the driver is asked for nothing.
  uint64_t allocations = session->counters().deviceAllocations;
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(session->run({{"x", x.view()}}));
  Counters counters = session->counters();
  EXPECT_EQ(counters.deviceAllocations, allocations);
  EXPECT_EQ(counters.runs, 7u);
  EXPECT_EQ(counters.launches, 6u);
  EXPECT_EQ(counters.compiles, 0u);
  EXPECT_EQ(counters.bytesCopied, 6u * 32);

  // Sessions share weights and modules, and all goes when the last one goes.
  {
    Result<Session> second = Session::create(artifact, *device);
    ASSERT_TRUE(second);
    EXPECT_EQ(fakeDevice().modulesLoaded, 1);
  }
  *session = Session::create(artifact, *device).value();
  EXPECT_EQ(fakeDevice().modulesLive, 1);
}

TEST_F(SessionTest, LeavesNothingOnTheDevice) {
  {
    plan::Plan plan = emptyPlan();
    addInput(plan, "x", 0, {constant(4)});
    addAlloc(plan.mutable_body(), 1, constant(16), /*counted=*/true);
    addCopy(plan.mutable_body(), 1, 0, constant(16));
    addOutput(plan, "y", 1, {constant(4)});
    Result<Session> session = make(plan);
    ASSERT_TRUE(session);
    Tensor x = floats({4}, {1, 2, 3, 4});
    ASSERT_TRUE(session->run({{"x", x.view()}}));
    EXPECT_FALSE(fakeDevice().allocations.empty());
  }
  EXPECT_TRUE(fakeDevice().allocations.empty());
  EXPECT_EQ(fakeDevice().modulesLive, 0);
  EXPECT_EQ(fakeDevice().streamsLive, 0);
  EXPECT_EQ(fakeDevice().contextDepth, 0);
}

// z = x + y over [batch, 4] and [batch, 4]
static plan::Plan twoInputs() {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "batch", 0, 1, 8);
  addInput(plan, "x", 0, {reg(0), constant(4)});
  addInput(plan, "y", 1, {reg(0), constant(4)});
  addKernel(plan, "add");
  addEval(plan.mutable_body(), plan::Eval::MUL, 1, reg(0), constant(16));
  addEval(plan.mutable_body(), plan::Eval::MUL, 2, reg(0), constant(4));
  addAlloc(plan.mutable_body(), 2, reg(1));
  addLaunch(plan.mutable_body(), 0, reg(0),
            {bufferArgument(0), bufferArgument(1), bufferArgument(2), i64(reg(2))}, {0, 1}, {2});
  addOutput(plan, "z", 2, {reg(0), constant(4)});
  return plan;
}

TEST_F(SessionTest, ExplainsWhatIsWrongWithInputs) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  Tensor good = floats({2, 4}, std::vector<float>(8));
  auto message = [&](const std::map<std::string, TensorView> &inputs) {
    auto result = session->run(inputs);
    return result ? std::string("none") : toString(result.error().code) + " " + result.error().message;
  };
  EXPECT_EQ(message({{"x", good.view()}, {"y", good.view()}}), "none");
  EXPECT_EQ(message({{"x", good.view()}}), "JL0301 input \"y\" is not given");
  EXPECT_EQ(message({{"x", good.view()}, {"y", good.view()}, {"q", good.view()}}),
            "JL0302 the model has no input \"q\"; its inputs are: x, y");
  EXPECT_EQ(message({{"x", floats({2, 3}, std::vector<float>(6)).view()}, {"y", good.view()}}),
            "JL0304 input \"x\" has shape [2, 3], the model wants [batch, 4]");
  EXPECT_EQ(message({{"x", floats({4}, std::vector<float>(4)).view()}, {"y", good.view()}}),
            "JL0304 input \"x\" has shape [4], the model wants [batch, 4]");
  EXPECT_EQ(message({{"x", good.view()}, {"y", floats({3, 4}, std::vector<float>(12)).view()}}),
            "JL0304 input \"y\" has shape [3, 4], the model wants [batch, 4], and input \"x\" makes batch 2");
  Tensor many = floats({9, 4}, std::vector<float>(36));
  EXPECT_EQ(message({{"x", many.view()}, {"y", many.view()}}),
            "JL0304 input \"x\" makes batch 9, the model wants 1 to 8");
  Tensor whole = tensor<int64_t>(ElementType::Int64, {2, 4}, std::vector<int64_t>(8));
  EXPECT_EQ(message({{"x", whole.view()}, {"y", good.view()}}),
            "JL0303 input \"x\" is int64, the model wants float32");
  TensorView small = good.view();
  small.bytes = 31;
  EXPECT_EQ(message({{"x", small}, {"y", good.view()}}),
            "JL0305 input \"x\" of shape [2, 4] needs 32 bytes, but 31 are given");
}

TEST_F(SessionTest, TakesAndFillsDeviceMemory) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  const Driver &driver = *device->impl()->driver;
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver.cuMemAlloc_v2(&memory, 4096), CUDA_SUCCESS);
  auto *x = reinterpret_cast<float *>(memory);
  auto *unaligned = x + 65; // must be copied first
  for (int i = 0; i < 4; ++i)
    x[i] = static_cast<float>(i), unaligned[i] = 100;
  TensorView xView{ElementType::Float32, {1, 4}, x, 16, Memory::Device};
  TensorView yView{ElementType::Float32, {1, 4}, unaligned, 16, Memory::Device};
  float *z = x + 512;
  auto shapes = session->run({{"x", xView}, {"y", yView}}, {{"z", {z, 16, Memory::Device}}});
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(shapes->at("z"), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{100, 101, 102, 103}));
  EXPECT_EQ(session->counters().bytesCopied, 0u);
  auto tooSmall = session->run({{"x", xView}, {"y", yView}}, {{"z", {z, 15, Memory::Device}}});
  EXPECT_EQ(tooSmall.error().code, ErrorCode::OutputUnusable);
  auto unknown = session->run({{"x", xView}, {"y", yView}}, {{"nope", {z, 16, Memory::Device}}});
  EXPECT_EQ(unknown.error().code, ErrorCode::OutputUnusable);
  (void)driver.cuMemFree_v2(memory);
}

TEST_F(SessionTest, KeepsAStateInDeviceMemory) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  std::vector<float> ones = {1, 1, 1, 1};
  DeviceMemory x = *device->allocate(16), y = *device->allocate(16);
  EXPECT_EQ(x.bytes(), 16u);
  ASSERT_TRUE(x.write(ones.data(), 16));
  // x + x into y, y + y into x, and so on: 2, 4, 8.
  for (int i = 0; i < 3; ++i) {
    TensorView view = x.view(ElementType::Float32, {1, 4});
    auto shapes = session->run({{"x", view}, {"y", view}}, {{"z", y.buffer()}});
    ASSERT_TRUE(shapes) << shapes.error().message;
    std::swap(x, y);
  }
  std::vector<float> found(4);
  ASSERT_TRUE(x.read(found.data(), 16));
  EXPECT_EQ(found, (std::vector<float>{8, 8, 8, 8}));
  EXPECT_EQ(session->counters().bytesCopied, 0u);

  ASSERT_TRUE(x.read(found.data(), 4, 12));
  for (auto [bytes, offset] : {std::pair(17, 0), {5, 12}, {0, 17}}) {
    EXPECT_EQ(x.read(found.data(), bytes, offset).error().code, ErrorCode::OutOfBounds);
    EXPECT_EQ(x.write(found.data(), bytes, offset).error().code, ErrorCode::OutOfBounds);
  }
  fakeDevice().memoryLimit = 100;
  EXPECT_EQ(device->allocate(200).error().code, ErrorCode::DeviceMemoryFull);
  EXPECT_EQ(device->allocate(0)->data(), nullptr);
}

TEST_F(SessionTest, AnAddressThatIsNotTheDevicesIsAnError) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  Tensor x = floats({1, 4}, {1, 2, 3, 4});
  std::vector<float> host(8);
  auto *unaligned = reinterpret_cast<char *>(host.data()) + 1; // so that it is copied before a kernel reads it
  TensorView wrong{ElementType::Float32, {1, 4}, unaligned, 16, Memory::Device};
  EXPECT_EQ(session->run({{"x", x.view()}, {"y", wrong}}).error().code, ErrorCode::DriverFailed);
  EXPECT_TRUE(session->run({{"x", x.view()}, {"y", x.view()}}));
}

TEST_F(SessionTest, RunsInTheCallersStream) {
  {
    Result<Session> session = make(twoInputs());
    ASSERT_TRUE(session);
    Tensor x = floats({1, 4}, {1, 2, 3, 4});
    Stream stream = *device->makeStream();
    ASSERT_TRUE(session->run({{"x", x.view()}, {"y", x.view()}}));
    EXPECT_NE(fakeDevice().lastStream, stream.handle());
    ASSERT_TRUE(session->run({{"x", x.view()}, {"y", x.view()}}, {stream.handle()}));
    EXPECT_EQ(fakeDevice().lastStream, stream.handle());
    ASSERT_TRUE(session->run({{"x", x.view()}, {"y", x.view()}}));
    EXPECT_NE(fakeDevice().lastStream, stream.handle());
    EXPECT_TRUE(stream.wait());
  }
  EXPECT_EQ(fakeDevice().streamsLive, 0);
}

TEST_F(SessionTest, BeginsARunAndWaitsForIt) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  Tensor x = floats({1, 4}, {1, 2, 3, 4});
  std::vector<float> first(4), second(4);
  {
    Result<PendingRun> one = session->start({{"x", x.view()}, {"y", x.view()}}, {{"z", {first.data(), 16}}});
    Result<PendingRun> two = session->start({{"x", x.view()}, {"y", x.view()}}, {{"z", {second.data(), 16}}});
    ASSERT_TRUE(one && two);
    EXPECT_EQ(session->counters().runs, 0u);
    auto shapes = two->wait();
    ASSERT_TRUE(shapes) << shapes.error().message;
    EXPECT_EQ(shapes->at("z"), (std::vector<int64_t>{1, 4}));
    EXPECT_EQ(second, (std::vector<float>{2, 4, 6, 8}));
    EXPECT_TRUE(two->wait());
    EXPECT_EQ(session->counters().runs, 1u);
    // It may outlive its session; its end waits.
    *session = Session::create(artifactOf(twoInputs()), *device).value();
  }
  EXPECT_EQ(first, (std::vector<float>{2, 4, 6, 8}));
  auto refused = session->start({{"x", x.view()}}, {});
  EXPECT_EQ(refused.error().code, ErrorCode::InputMissing);
}

// Each run in progress has a context of its own, which later runs use again.
TEST_F(SessionTest, AllocatesNothingOnceAsManyRunsWereInProgress) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  Tensor x = floats({2, 4}, std::vector<float>(8, 1));
  auto startOne = [&] { return *session->start({{"x", x.view()}, {"y", x.view()}}, {}); };
  {
    PendingRun one = startOne(), two = startOne();
  }
  uint64_t allocations = session->counters().deviceAllocations;
  for (int i = 0; i < 5; ++i)
    PendingRun one = startOne(), two = startOne();
  EXPECT_EQ(session->counters().deviceAllocations, allocations);
  EXPECT_EQ(session->counters().runs, 12u);
}

TEST_F(SessionTest, RunsFromManyThreads) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  // The fake driver itself is not thread-safe; what is shared here is the session's own.
  std::mutex driverLock;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        Tensor x = floats({1, 4}, {float(t), float(i), 0, 0});
        std::lock_guard lock(driverLock);
        auto results = session->run({{"x", x.view()}, {"y", x.view()}});
        if (!results || values<float>(results->at("z")) != std::vector<float>{2.f * t, 2.f * i, 0, 0})
          ++failures;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(session->counters().runs, 80u);
}

// Doubles "state" while a counter is below "n": y = x · 2ⁿ, with counted buffers that change places.
static plan::Plan doublingLoop() {
  plan::Plan plan = emptyPlan();
  addInput(plan, "x", 0, {constant(4)});
  addInput(plan, "n", 1, {}, 7);
  addKernel(plan, "add");
  addReadScalar(plan.mutable_body(), 0, 1, 7);
  addMoveIndex(plan.mutable_body(), 1, constant(0));
  addMoveBuffer(plan.mutable_body(), 2, 0);
  plan::While *loop = plan.mutable_body()->add_steps()->mutable_while_();
  addEval(loop->mutable_before(), plan::Eval::LT, 2, reg(1), reg(0));
  *loop->mutable_condition() = reg(2);
  addAlloc(loop->mutable_body(), 3, constant(16), /*counted=*/true);
  addLaunch(loop->mutable_body(), 0, constant(1),
            {bufferArgument(2), bufferArgument(2), bufferArgument(3), i64(constant(4))}, {2}, {3});
  addMoveBuffer(loop->mutable_body(), 2, 3);
  addEval(loop->mutable_body(), plan::Eval::ADD, 3, reg(1), constant(1));
  addMoveIndex(loop->mutable_body(), 1, reg(3));
  addOutput(plan, "y", 2, {constant(4)});
  return plan;
}

TEST_F(SessionTest, LoopsWithCarriedBuffers) {
  Result<Session> session = make(doublingLoop());
  ASSERT_TRUE(session) << session.error().message;
  Tensor x = floats({4}, {1, 2, 3, 4});
  for (int64_t n : {0, 1, 10}) {
    Tensor times = tensor<int64_t>(ElementType::Int64, {}, {n});
    auto results = session->run({{"x", x.view()}, {"n", times.view()}});
    ASSERT_TRUE(results) << results.error().message;
    float factor = float(1 << n);
    EXPECT_EQ(values<float>(results->at("y")),
              (std::vector<float>{factor, 2 * factor, 3 * factor, 4 * factor}));
  }
  // Two blocks that change places, whatever the number of turns; and the arena for the inputs.
  EXPECT_LE(session->counters().deviceAllocations, 3u);
}

TEST_F(SessionTest, EndsALoopAtTheTimeLimitOrOnRequest) {
  plan::Plan plan = emptyPlan();
  plan.mutable_body()->add_steps()->mutable_while_()->mutable_condition()->set_constant(1);
  Result<Session> session = make(plan);
  ASSERT_TRUE(session);
  session->setTimeLimit(0.02);
  EXPECT_EQ(session->run({}).error().code, ErrorCode::TimeLimit);
  session->setTimeLimit(0);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    session->interrupt();
  });
  EXPECT_EQ(session->run({}).error().code, ErrorCode::Interrupted);
  other.join();
}

TEST_F(SessionTest, BranchesOnAScalar) {
  plan::Plan plan = emptyPlan();
  addInput(plan, "c", 0, {}, 9);
  addReadScalar(plan.mutable_body(), 0, 0, 9);
  plan::If *branch = plan.mutable_body()->add_steps()->mutable_if_();
  *branch->mutable_condition() = reg(0);
  for (auto [block, buffer, byte] :
       {std::tuple(branch->mutable_then(), 1u, 1u), {branch->mutable_otherwise(), 2u, 2u}}) {
    addAlloc(block, buffer, constant(4), /*counted=*/true);
    plan::Fill *fill = block->add_steps()->mutable_fill();
    fill->set_buffer(buffer);
    *fill->mutable_bytes() = constant(4);
    fill->set_value(byte);
    addMoveBuffer(block, 3, buffer);
    addMoveIndex(block, 1, constant(byte));
  }
  addOutput(plan, "y", 3, {reg(1)}, 2);
  Result<Session> session = make(plan);
  ASSERT_TRUE(session) << session.error().message;
  auto result = [&](uint8_t c) {
    Tensor condition = tensor<uint8_t>(ElementType::Bool, {}, {c});
    return session->run({{"c", condition.view()}}).value().at("y").bytes;
  };
  EXPECT_EQ(result(1), (std::vector<uint8_t>{1}));
  EXPECT_EQ(result(0), (std::vector<uint8_t>{2, 2}));
}

TEST_F(SessionTest, WritesAndReadsScalars) {
  plan::Plan plan = emptyPlan();
  addAlloc(plan.mutable_body(), 0, constant(6));
  plan::WriteScalars *write = plan.mutable_body()->add_steps()->mutable_write_scalars();
  write->set_buffer(0);
  write->set_type(5); // int16
  for (int64_t value : {7, -3, 70000})
    *write->add_values() = constant(value);
  addReadScalar(plan.mutable_body(), 0, 0, 5, 2);
  addEval(plan.mutable_body(), plan::Eval::EQ, 1, reg(0), constant(-3));
  plan::Check *check = plan.mutable_body()->add_steps()->mutable_check();
  *check->mutable_condition() = reg(1);
  check->set_message("a negative scalar is read back");
  addOutput(plan, "y", 0, {constant(3)}, 5);
  Result<Session> session = make(plan);
  ASSERT_TRUE(session) << session.error().message;
  auto results = session->run({});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(values<int16_t>(results->at("y")), (std::vector<int16_t>{7, -3, int16_t(70000)}));
}

TEST_F(SessionTest, AFailedCheckNamesItsNode) {
  plan::Plan plan = emptyPlan();
  plan::Check *check = plan.mutable_body()->add_steps()->mutable_check();
  *check->mutable_condition() = constant(0);
  check->set_message("Reshape to 3 elements from 4");
  check->set_node("reshape_1");
  Result<Session> session = make(plan);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->run({}).error().toString(), "reshape_1: JL0401: Reshape to 3 elements from 4");
}

// "positions": the places of the bytes that are not 0, as int64.
static Result<std::vector<Tensor>> positions(const std::vector<TensorView> &inputs,
                                             const std::string &attributes) {
  if (attributes == "refuse")
    return Error{ErrorCode::HostKernelFailed, "told to refuse", ""};
  std::vector<int64_t> found;
  for (size_t i = 0; i < inputs[0].bytes; ++i)
    if (static_cast<const uint8_t *>(inputs[0].data)[i])
      found.push_back(static_cast<int64_t>(i));
  auto count = static_cast<int64_t>(found.size());
  return std::vector<Tensor>{tensor(ElementType::Int64, {count}, found)};
}

static plan::Plan positionsPlan(const std::string &attributes = "") {
  plan::Plan plan = emptyPlan();
  addSymbol(plan, "n", 0);
  addInput(plan, "x", 0, {reg(0)}, 2);
  plan::HostCall *call = plan.mutable_body()->add_steps()->mutable_host_call();
  call->set_name("positions");
  call->set_node("nonzero_1");
  call->set_attributes(attributes);
  plan::HostTensor *in = call->add_inputs();
  in->set_type(2);
  in->set_buffer(0);
  *in->add_dims() = reg(0);
  plan::HostTensor *out = call->add_results();
  out->set_type(7);
  out->set_buffer(1);
  *out->add_dims() = reg(1);
  addEval(plan.mutable_body(), plan::Eval::MUL, 2, reg(1), constant(8));
  addAlloc(plan.mutable_body(), 2, reg(2)); // a size from data
  addCopy(plan.mutable_body(), 2, 1, reg(2));
  addOutput(plan, "y", 2, {reg(1)}, 7);
  return plan;
}

TEST_F(SessionTest, CallsTheHostForSizesFromData) {
  Result<Session> session = make(positionsPlan(), {}, {{"positions", positions}});
  ASSERT_TRUE(session) << session.error().message;
  Tensor x = tensor<uint8_t>(ElementType::UInt8, {5}, {0, 1, 0, 2, 3});
  auto results = session->run({{"x", x.view()}});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(values<int64_t>(results->at("y")), (std::vector<int64_t>{1, 3, 4}));
  Tensor zeros = tensor<uint8_t>(ElementType::UInt8, {5}, {0, 0, 0, 0, 0});
  results = session->run({{"x", zeros.view()}});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->at("y").shape, (std::vector<int64_t>{0}));
}

TEST_F(SessionTest, HostCallsFailWithTheirNode) {
  EXPECT_EQ(make(positionsPlan()).error().toString(),
            "nonzero_1: JL0407: this Joule has no host kernel \"positions\"");
  Result<Session> session = make(positionsPlan("refuse"), {}, {{"positions", positions}});
  ASSERT_TRUE(session);
  Tensor x = tensor<uint8_t>(ElementType::UInt8, {1}, {0});
  EXPECT_EQ(session->run({{"x", x.view()}}).error().toString(), "nonzero_1: JL0408: told to refuse");
}

TEST_F(SessionTest, CapsMemoryOfSizesFromData) {
  SessionOptions options;
  options.dynamicMemoryCap = 1024;
  Result<Session> session = make(positionsPlan(), options, {{"positions", positions}});
  ASSERT_TRUE(session);
  Tensor few = tensor(ElementType::UInt8, {10}, std::vector<uint8_t>(10, 1));
  Tensor many = tensor(ElementType::UInt8, {1000}, std::vector<uint8_t>(1000, 1));
  EXPECT_TRUE(session->run({{"x", few.view()}}));
  EXPECT_EQ(session->run({{"x", many.view()}}).error().code, ErrorCode::DynamicMemoryCap);
  EXPECT_TRUE(session->run({{"x", few.view()}}));
}

TEST_F(SessionTest, AFullDeviceIsAnErrorAndPasses) {
  Result<Session> session = make(twoInputs());
  ASSERT_TRUE(session);
  Tensor x = floats({2, 4}, std::vector<float>(8));
  fakeDevice().memoryLimit = 100;
  EXPECT_EQ(session->run({{"x", x.view()}, {"y", x.view()}}).error().code, ErrorCode::DeviceMemoryFull);
  fakeDevice().memoryLimit = SIZE_MAX;
  EXPECT_TRUE(session->run({{"x", x.view()}, {"y", x.view()}}));
}

TEST_F(SessionTest, RefusesReachesOutsideBuffers) {
  plan::Plan plan = emptyPlan();
  addInput(plan, "x", 0, {constant(4)});
  addAlloc(plan.mutable_body(), 1, constant(16));
  addCopy(plan.mutable_body(), 1, 0, constant(17));
  addOutput(plan, "y", 1, {constant(4)});
  Tensor x = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(make(plan)->run({{"x", x.view()}}).error().code, ErrorCode::OutOfBounds);
  *plan.mutable_body()->mutable_steps(1)->mutable_copy()->mutable_bytes() = constant(-1);
  EXPECT_EQ(make(plan)->run({{"x", x.view()}}).error().code, ErrorCode::OutOfBounds);
  *plan.mutable_body()->mutable_steps(1)->mutable_copy()->mutable_bytes() = constant(16);
  *plan.mutable_outputs(0)->mutable_dims(0) = constant(5);
  EXPECT_EQ(make(plan)->run({{"x", x.view()}}).error().code, ErrorCode::OutOfBounds);
}

// The checker cannot see through a move; the run does.
// A buffer of `bytes`, which an Eval of the two operands or, where `take` is 0, the number 16 gives.
static plan::Plan planWithSize(plan::Eval::Op op, plan::Index lhs, plan::Index rhs, int64_t take) {
  plan::Plan plan = emptyPlan();
  plan::Block *body = plan.mutable_body();
  addEval(body, op, 0, lhs, rhs);
  addEval(body, plan::Eval::SELECT, 1, reg(0), constant(16));
  *body->mutable_steps(1)->mutable_eval()->mutable_condition() = constant(take);
  addAlloc(body, 0, reg(1));
  addOutput(plan, "y", 0, {constant(4)});
  return plan;
}

TEST_F(SessionTest, ASizeThatIsDividedByZeroIsAnErrorWhereItIsUsed) {
  Result<Session> session = make(planWithSize(plan::Eval::DIV, constant(8), constant(0), 1));
  EXPECT_EQ(session->run({}).error().code, ErrorCode::DivisionByZero);
  EXPECT_TRUE(make(planWithSize(plan::Eval::DIV, constant(8), constant(0), 0))->run({}));
}

TEST_F(SessionTest, ASizeBeyond63BitsIsAnErrorWhereItIsUsed) {
  Result<Session> session = make(planWithSize(plan::Eval::MUL, constant(int64_t(1) << 62), constant(4), 1));
  EXPECT_EQ(session->run({}).error().code, ErrorCode::SizeOverflow);
  EXPECT_TRUE(make(planWithSize(plan::Eval::MUL, constant(int64_t(1) << 62), constant(4), 0))->run({}));
}

TEST_F(SessionTest, RefusesWritingAnInputThroughAMove) {
  plan::Plan plan = emptyPlan();
  addInput(plan, "x", 0, {constant(4)});
  addMoveBuffer(plan.mutable_body(), 1, 0);
  addCopy(plan.mutable_body(), 1, 0, constant(16));
  Tensor x = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(make(plan)->run({{"x", x.view()}}).error().code, ErrorCode::OutOfBounds);
}

TEST_F(SessionTest, RefusesArgumentsThatDoNotFit) {
  plan::Plan plan = twoInputs();
  plan.mutable_body()->mutable_steps(3)->mutable_launch()->mutable_arguments(3)->set_kind(
      plan::Argument::I32);
  *plan.mutable_body()->mutable_steps(3)->mutable_launch()->mutable_arguments(3)->mutable_value() =
      constant(1ll << 31);
  Tensor x = floats({1, 4}, {1, 2, 3, 4});
  auto result = make(plan)->run({{"x", x.view()}, {"y", x.view()}});
  EXPECT_EQ(result.error().toString(),
            "node_of_kernel_0: JL0405: kernel add takes 2147483648 as its argument 3, which does not fit 32 bits");
}

TEST_F(SessionTest, ShowsWhatEachLaunchWrote) {
  std::vector<LaunchDump> dumps;
  SessionOptions options;
  options.afterLaunch = [&](const LaunchDump &dump) { dumps.push_back(dump); };
  Result<Session> session = make(doublingLoop(), options);
  ASSERT_TRUE(session);
  Tensor x = floats({4}, {1, 2, 3, 4});
  Tensor times = tensor<int64_t>(ElementType::Int64, {}, {2});
  ASSERT_TRUE(session->run({{"x", x.view()}, {"n", times.view()}}));
  ASSERT_EQ(dumps.size(), 2u);
  EXPECT_EQ(dumps[1].kernel, "add");
  EXPECT_EQ(dumps[1].nodes, std::vector<std::string>{"node_of_kernel_0"});
  float last;
  std::memcpy(&last, dumps[1].written.at(0).data() + 12, 4);
  EXPECT_EQ(last, 16);
}

TEST_F(SessionTest, ProfilesByKernelAndNodes) {
  plan::Plan plan = doublingLoop();
  plan::Launch *launch = plan.mutable_body()
                             ->mutable_steps(3)
                             ->mutable_while_()
                             ->mutable_body()
                             ->mutable_steps(1)
                             ->mutable_launch();
  plan::Cost *cost = launch->mutable_cost();
  *cost->mutable_flops() = constant(4);
  *cost->mutable_bytes_read() = constant(16);
  *cost->mutable_bytes_written() = constant(16);
  cost->set_family("map");
  SessionOptions options;
  options.profile = true;
  Result<Session> session = make(plan, options);
  ASSERT_TRUE(session) << session.error().message;
  Tensor x = floats({4}, {1, 2, 3, 4});
  Tensor times = tensor<int64_t>(ElementType::Int64, {}, {3});
  ASSERT_TRUE(session->run({{"x", x.view()}, {"n", times.view()}}));
  std::vector<KernelProfile> rows = session->profile();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kernel, "add");
  EXPECT_EQ(rows[0].nodes, std::vector<std::string>{"node_of_kernel_0"});
  EXPECT_EQ(rows[0].family, "map");
  EXPECT_EQ(rows[0].launches, 3u);
  EXPECT_EQ(rows[0].flops, 12);
  EXPECT_EQ(rows[0].dramBytes, 96);
  EXPECT_NEAR(rows[0].seconds, 3 * 3.6e-6, 1e-9);
  EXPECT_GT(rows[0].joules, 0);
}

TEST_F(SessionTest, ChoosesATarget) {
  plan::Plan plan = twoInputs();
  SessionOptions options;
  options.target = "sm_90";
  EXPECT_EQ(make(plan, options).error().code, ErrorCode::TargetMissing);
  plan.set_target("sm_90a");
  EXPECT_EQ(make(plan).error().message,
            "the artifact has no target that Fake A100 (compute capability 8.0) can run; it has: sm_80");
  plan.set_target("sm_75");
  EXPECT_TRUE(make(plan));
}

TEST_F(SessionTest, AKernelThatIsMissingIsAnError) {
  fakeDevice().kernels.clear();
  EXPECT_EQ(make(twoInputs()).error().code, ErrorCode::KernelUnloadable);
  EXPECT_EQ(fakeDevice().modulesLive, 0);
}

TEST(Device, ExplainsNamesThatAreNone) {
  for (const char *name : {"", "gpu", "virtual:", "cuda:", "CUDA"})
    EXPECT_EQ(Device::open(name).error().code, ErrorCode::DeviceUnknown) << name;
}
