// Plans with changed bytes: refused, or run within their buffers; never a crash.
#include "lib/Artifact/ArtifactWriter.h"
#include "lib/Runtime/SessionState.h"
#include "test/lib/Runtime/FakeDriver.h"
#include "test/lib/Runtime/PlanBuilder.h"
#include "test/lib/TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace joule;
using namespace joule::test;

// One of every kind of step.
static plan::Plan everything() {
  plan::Plan plan = emptyPlan(12, 12);
  addSymbol(plan, "n", 0, 1, 16);
  addInput(plan, "x", 0, {reg(0)}, 7);
  addKernel(plan, "add");
  plan::Block *body = plan.mutable_body();
  addEval(body, plan::Eval::MUL, 1, reg(0), constant(8));
  addAlloc(body, 1, reg(1));
  addLaunch(body, 0, constant(1), {bufferArgument(0), bufferArgument(1), i32(reg(0))}, {0}, {1});
  addCopy(body, 1, 0, reg(1));
  plan::Fill *fill = body->add_steps()->mutable_fill();
  fill->set_buffer(1);
  *fill->mutable_bytes() = reg(1);
  addReadScalar(body, 2, 0, 7, 8);
  plan::WriteScalars *write = body->add_steps()->mutable_write_scalars();
  write->set_buffer(1);
  write->set_type(7);
  *write->add_values() = reg(2);
  plan::HostCall *call = body->add_steps()->mutable_host_call();
  call->set_name("same");
  for (plan::HostTensor *tensor : {call->add_inputs(), call->add_results()}) {
    tensor->set_type(7);
    *tensor->add_dims() = reg(tensor == call->mutable_inputs(0) ? 0 : 3);
  }
  call->mutable_results(0)->set_buffer(2);
  addMoveBuffer(body, 3, 2);
  addMoveIndex(body, 4, constant(0));
  plan::While *loop = body->add_steps()->mutable_while_();
  addEval(loop->mutable_before(), plan::Eval::LT, 5, reg(4), constant(3));
  *loop->mutable_condition() = reg(5);
  addAlloc(loop->mutable_body(), 4, constant(64), /*counted=*/true);
  addMoveBuffer(loop->mutable_body(), 3, 4);
  addEval(loop->mutable_body(), plan::Eval::ADD, 6, reg(4), constant(1));
  addMoveIndex(loop->mutable_body(), 4, reg(6));
  plan::If *branch = body->add_steps()->mutable_if_();
  *branch->mutable_condition() = reg(2);
  addAlloc(branch->mutable_then(), 5, reg(1));
  plan::Check *check = branch->mutable_otherwise()->add_steps()->mutable_check();
  *check->mutable_condition() = reg(0);
  addOutput(plan, "y", 1, {reg(0)}, 7);
  addOutput(plan, "z", 3, {constant(8)}, 7);
  return plan;
}

static Result<std::vector<Tensor>> same(const std::vector<TensorView> &inputs, const std::string &) {
  if (inputs.empty())
    return Error{ErrorCode::HostKernelFailed, "nothing given", ""};
  auto *bytes = static_cast<const uint8_t *>(inputs[0].data);
  return std::vector<Tensor>{
      {inputs[0].type, inputs[0].shape, std::vector<uint8_t>(bytes, bytes + inputs[0].bytes)}};
}

static bool runs(const std::string &path, const std::string &planBytes, const Device &device, double seconds) {
  Result<ArtifactWriter> writer = ArtifactWriter::begin(path);
  EXPECT_TRUE(writer && writer->addEntry("targets/sm_80/kernels/all.ptx", "") &&
              writer->addEntry("targets/sm_80/plan.pb", planBytes) && writer->finish());
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact)
    return false;
  SessionOptions options;
  options.dynamicMemoryCap = 1 << 20;
  options.profile = true;
  Result<std::shared_ptr<Session::Impl>> impl =
      Session::Impl::create(*artifact, device, options, {{"same", same}});
  if (!impl)
    return false;
  Session session(*impl);
  session.setTimeLimit(seconds);
  std::vector<uint8_t> bytes(32);
  bytes[8] = 1;
  std::map<std::string, TensorView> inputs;
  for (const TensorSpec &spec : session.inputs())
    inputs[spec.name] = {spec.type, {4}, bytes.data(), bytes.size(), Memory::Host};
  return bool(session.run(inputs));
}

TEST(HostilePlan, ChangedBytesNeverCrash) {
  TemporaryFolder folder;
  Device device = openFakeDevice();
  // Kernels get whatever arguments the plan says: the driver's sandbox is not the subject here.
  fakeDevice().kernels["add"] = [](const std::array<unsigned, 3> &, void **) {};
  fakeDevice().memoryLimit = 64 << 20;
  std::string whole = everything().SerializeAsString();
  ASSERT_TRUE(runs(folder / "m.joule", whole, device, 60));
  unsigned random = 1;
  auto next = [&](size_t below) { return (random = random * 1664525 + 1013904223) / 65536 % below; };
  int ran = 0;
  for (int i = 0; i < 250; ++i) {
    std::string changed = whole;
    for (size_t changes = 1 + next(3); changes > 0; --changes)
      changed[next(changed.size())] = static_cast<char>(next(4) ? next(16) : next(256));
    ran += runs(folder / "m.joule", changed, device, 0.1); // some never end
  }
  EXPECT_GT(ran, 5) << "too few of the plans get as far as running";
}
