// The C interface but for compiling: each function unwraps handles, calls C++, and wraps what comes back.
#include "joule/Session.h"
#include "joule/Version.h"
#include "lib/Interface/Guard.h"

#include <deque>
#include <optional>

using namespace joule;
using c::guarded;
using c::needAll;
using c::needSize;

//===-- Handles -----------------------------------------------------------------------------------------===//

namespace {
// TensorSpecs as C reads them. Pointers into itself, so it stays where it is.
class Specs {
public:
  explicit Specs(const std::vector<TensorSpec> &specs) {
    for (const TensorSpec &spec : specs) {
      std::vector<int64_t> &ofSizes = sizes.emplace_back();
      std::vector<const char *> &ofSymbols = symbols.emplace_back();
      for (const Dimension &dimension : spec.shape) {
        ofSizes.push_back(dimension.size);
        ofSymbols.push_back(dimension.symbol.c_str());
      }
      rows.push_back({spec.name.c_str(), static_cast<int32_t>(spec.type), spec.shape.size(), ofSizes.data(),
                      ofSymbols.data()});
    }
  }
  Specs(const Specs &) = delete;

  std::vector<joule_spec> rows;

private:
  std::deque<std::vector<int64_t>> sizes;
  std::deque<std::vector<const char *>> symbols;
};
} // namespace

struct joule_artifact {
  explicit joule_artifact(Artifact opened)
      : artifact(std::move(opened)), inputs(artifact.inputs()), outputs(artifact.outputs()) {
    for (const std::string &target : artifact.targets())
      targets.push_back(target.c_str());
  }

  Artifact artifact;
  Specs inputs, outputs;
  std::vector<const char *> targets;
};

struct joule_device {
  Device device;
};

struct joule_memory {
  DeviceMemory memory;
};

struct joule_stream {
  Stream stream;
};

struct joule_session {
  Session session;
};

struct joule_outputs {
  std::map<std::string, Tensor> tensors;
  std::vector<joule_tensor> rows;
};

struct joule_run {
  PendingRun run;
};

struct joule_profile {
  std::vector<KernelProfile> kernels;
  std::deque<std::string> nodes;
  std::vector<joule_profile_row> rows;
};

/// Wraps `value` into a new handle at `*handle`.
template <typename Handle, typename Value> static Result<void> give(Handle **handle, Result<Value> value) {
  if (!value)
    return value.error();
  *handle = new Handle{std::move(*value)};
  return {};
}

//===-- Errors and artifacts ----------------------------------------------------------------------------===//

const char *joule_version(void) { return JOULE_VERSION; }

int joule_error_code(const joule_error *error) { return error ? static_cast<int>(error->error.code) : 0; }
const char *joule_error_message(const joule_error *error) {
  return error ? error->error.message.c_str() : "";
}
const char *joule_error_node(const joule_error *error) { return error ? error->error.node.c_str() : ""; }
const char *joule_error_cure(const joule_error *error) {
  std::optional<Explanation> known;
  if (error)
    known = explain(toString(error->error.code));
  return known ? known->cure : "";
}
void joule_error_free(joule_error *error) {
  if (error && !error->isFixed)
    delete error;
}

joule_error *joule_artifact_open(const char *path, joule_artifact **artifact) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"path", "artifact"}, path, artifact); !given)
      return given;
    *artifact = nullptr;
    return give(artifact, Artifact::open(path));
  });
}

void joule_artifact_free(joule_artifact *artifact) { delete artifact; }

const char *joule_artifact_model_name(const joule_artifact *artifact) {
  return artifact ? artifact->artifact.modelName().c_str() : "";
}

const char *const *joule_artifact_targets(const joule_artifact *artifact, size_t *count) {
  if (count)
    *count = artifact ? artifact->targets.size() : 0;
  return artifact ? artifact->targets.data() : nullptr;
}

const joule_spec *joule_artifact_inputs(const joule_artifact *artifact, size_t *count) {
  if (count)
    *count = artifact ? artifact->inputs.rows.size() : 0;
  return artifact ? artifact->inputs.rows.data() : nullptr;
}

const joule_spec *joule_artifact_outputs(const joule_artifact *artifact, size_t *count) {
  if (count)
    *count = artifact ? artifact->outputs.rows.size() : 0;
  return artifact ? artifact->outputs.rows.data() : nullptr;
}

joule_error *joule_artifact_verify(const joule_artifact *artifact) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"artifact"}, artifact); !given)
      return given;
    return artifact->artifact.verify();
  });
}

//===-- Devices -----------------------------------------------------------------------------------------===//

joule_error *joule_device_open(const char *name, joule_device **device) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"name", "device"}, name, device); !given)
      return given;
    *device = nullptr;
    return give(device, Device::open(name));
  });
}

void joule_device_free(joule_device *device) { delete device; }

joule_error *joule_device_describe(const joule_device *device, joule_device_properties *properties) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"device", "properties"}, device, properties); !given)
      return given;
    if (Result<void> sized = needSize(properties, "joule_device_properties"); !sized)
      return sized;
    const DeviceProperties &known = device->device.properties();
    properties->name = known.name.c_str();
    properties->major = known.major;
    properties->minor = known.minor;
    properties->multiprocessors = known.multiprocessors;
    properties->memory_bytes = known.memoryBytes;
    properties->clock_hz = known.clockHz;
    properties->is_virtual = known.isVirtual;
    return {};
  });
}

joule_error *joule_memory_allocate(const joule_device *device, size_t bytes, joule_memory **memory) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"device", "memory"}, device, memory); !given)
      return given;
    *memory = nullptr;
    return give(memory, device->device.allocate(bytes));
  });
}

void joule_memory_free(joule_memory *memory) { delete memory; }
void *joule_memory_data(const joule_memory *memory) { return memory ? memory->memory.data() : nullptr; }
size_t joule_memory_bytes(const joule_memory *memory) { return memory ? memory->memory.bytes() : 0; }

joule_error *joule_memory_write(joule_memory *memory, size_t offset, const void *from, size_t bytes) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"memory", "from"}, memory, from); !given)
      return given;
    return memory->memory.write(from, bytes, offset);
  });
}

joule_error *joule_memory_read(const joule_memory *memory, size_t offset, void *to, size_t bytes) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"memory", "to"}, memory, to); !given)
      return given;
    return memory->memory.read(to, bytes, offset);
  });
}

joule_error *joule_stream_make(const joule_device *device, joule_stream **stream) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"device", "stream"}, device, stream); !given)
      return given;
    *stream = nullptr;
    return give(stream, device->device.makeStream());
  });
}

void joule_stream_free(joule_stream *stream) { delete stream; }
void *joule_stream_handle(const joule_stream *stream) { return stream ? stream->stream.handle() : nullptr; }

joule_error *joule_stream_wait(const joule_stream *stream) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"stream"}, stream); !given)
      return given;
    return stream->stream.wait();
  });
}

//===-- Sessions ----------------------------------------------------------------------------------------===//

joule_error *joule_session_create(const joule_artifact *artifact, const joule_device *device,
                                  const joule_session_options *options, joule_session **session) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"artifact", "device", "session"}, artifact, device, session); !given)
      return given;
    *session = nullptr;
    if (Result<void> sized = needSize(options, "joule_session_options"); !sized)
      return sized;
    SessionOptions chosen;
    if (options && options->target)
      chosen.target = options->target;
    if (options && options->dynamic_memory_cap > 0)
      chosen.dynamicMemoryCap = options->dynamic_memory_cap;
    chosen.profile = options && options->profile;
    return give(session, Session::create(artifact->artifact, device->device, chosen));
  });
}

void joule_session_free(joule_session *session) { delete session; }
const char *joule_session_target(const joule_session *session) {
  return session ? session->session.target().c_str() : "";
}

joule_error *joule_session_count(const joule_session *session, joule_counters *counters) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"session", "counters"}, session, counters); !given)
      return given;
    if (Result<void> sized = needSize(counters, "joule_counters"); !sized)
      return sized;
    Counters counted = session->session.counters();
    *counters = {
        counters->size,      counted.runs,      counted.launches, counted.compiles, counted.deviceAllocations,
        counted.bytesCopied, counted.arenaBytes};
    return {};
  });
}

static std::string joinLines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

joule_error *joule_session_profile(const joule_session *session, joule_profile **profile) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"session", "profile"}, session, profile); !given)
      return given;
    *profile = nullptr;
    auto made = std::make_unique<joule_profile>(joule_profile{session->session.profile(), {}, {}});
    for (const KernelProfile &row : made->kernels)
      made->rows.push_back({row.kernel.c_str(), made->nodes.emplace_back(joinLines(row.nodes)).c_str(),
                            row.family.c_str(), row.launches, row.flops, row.dramBytes, row.seconds,
                            row.joules});
    *profile = made.release();
    return {};
  });
}

const joule_profile_row *joule_profile_rows(const joule_profile *profile, size_t *count) {
  if (count)
    *count = profile ? profile->rows.size() : 0;
  return profile ? profile->rows.data() : nullptr;
}

void joule_profile_free(joule_profile *profile) { delete profile; }

void joule_session_set_time_limit(joule_session *session, double seconds) {
  if (session)
    session->session.setTimeLimit(seconds);
}

void joule_session_interrupt(joule_session *session) {
  if (session)
    session->session.interrupt();
}

//===-- Runs --------------------------------------------------------------------------------------------===//

static Error twice(const std::string &name) {
  return {ErrorCode::ArgumentInvalid, "the tensor \"" + name + "\" is given twice", ""};
}

static Result<std::map<std::string, TensorView>> viewsOf(const joule_tensor *tensors, size_t count) {
  std::map<std::string, TensorView> views;
  for (size_t i = 0; i < count; ++i) {
    const joule_tensor &row = tensors[i];
    if (Result<void> given = needAll({"inputs[i].name"}, row.name); !given)
      return given.error();
    if (row.rank > 0)
      if (Result<void> given = needAll({"inputs[i].shape"}, row.shape); !given)
        return given.error();
    TensorView view{static_cast<ElementType>(row.type), std::vector<int64_t>(row.shape, row.shape + row.rank),
                    row.data, row.bytes, row.memory == JOULE_DEVICE ? Memory::Device : Memory::Host};
    if (!views.emplace(row.name, std::move(view)).second)
      return twice(row.name);
  }
  return views;
}

static Result<std::map<std::string, TensorBuffer>> buffersOf(const joule_buffer *rows, size_t count) {
  std::map<std::string, TensorBuffer> buffers;
  for (size_t i = 0; i < count; ++i) {
    if (Result<void> given = needAll({"outputs[i].name"}, rows[i].name); !given)
      return given.error();
    TensorBuffer buffer{rows[i].data, rows[i].bytes,
                        rows[i].memory == JOULE_DEVICE ? Memory::Device : Memory::Host};
    if (!buffers.emplace(rows[i].name, buffer).second)
      return twice(rows[i].name);
  }
  return buffers;
}

/// As many sizes as there is room for, and how many there are.
static void giveShapes(const std::map<std::string, std::vector<int64_t>> &shapes, joule_buffer *rows,
                       size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto shape = rows[i].name ? shapes.find(rows[i].name) : shapes.end();
    if (shape == shapes.end())
      continue;
    for (size_t axis = 0; rows[i].shape && axis < std::min(rows[i].rank, shape->second.size()); ++axis)
      rows[i].shape[axis] = shape->second[axis];
    rows[i].rank = shape->second.size();
  }
}

static Result<RunOptions> optionsOf(const joule_run_options *options) {
  if (Result<void> sized = needSize(options, "joule_run_options"); !sized)
    return sized.error();
  return RunOptions{options ? options->stream : nullptr};
}

/// What every run needs: a session, and arrays where something is counted.
static Result<void> needRun(const joule_session *session, const joule_tensor *inputs, size_t inputCount,
                            const joule_buffer *outputs, size_t outputCount) {
  if (Result<void> given = needAll({"session"}, session); !given)
    return given;
  if (inputCount > 0)
    if (Result<void> given = needAll({"inputs"}, inputs); !given)
      return given;
  return outputCount > 0 ? needAll({"outputs"}, outputs) : Result<void>();
}

joule_error *joule_session_run(joule_session *session, const joule_tensor *inputs, size_t input_count,
                               const joule_run_options *options, joule_outputs **outputs) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"outputs"}, outputs); !given)
      return given;
    *outputs = nullptr;
    if (Result<void> given = needRun(session, inputs, input_count, nullptr, 0); !given)
      return given;
    Result<std::map<std::string, TensorView>> views = viewsOf(inputs, input_count);
    if (!views)
      return views.error();
    Result<RunOptions> chosen = optionsOf(options);
    if (!chosen)
      return chosen.error();
    Result<std::map<std::string, Tensor>> tensors = session->session.run(*views, *chosen);
    if (!tensors)
      return tensors.error();
    auto made = std::make_unique<joule_outputs>(joule_outputs{std::move(*tensors), {}});
    for (const TensorSpec &spec : session->session.outputs()) {
      const auto &[name, tensor] = *made->tensors.find(spec.name);
      made->rows.push_back({name.c_str(), static_cast<int32_t>(tensor.type), JOULE_HOST, tensor.shape.size(),
                            tensor.shape.data(), tensor.bytes.data(), tensor.bytes.size()});
    }
    *outputs = made.release();
    return {};
  });
}

const joule_tensor *joule_outputs_tensors(const joule_outputs *outputs, size_t *count) {
  if (count)
    *count = outputs ? outputs->rows.size() : 0;
  return outputs ? outputs->rows.data() : nullptr;
}

void joule_outputs_free(joule_outputs *outputs) { delete outputs; }

static Result<PendingRun> start(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                const joule_run_options *options, const joule_buffer *outputs,
                                size_t output_count) {
  if (Result<void> given = needRun(session, inputs, input_count, outputs, output_count); !given)
    return given.error();
  Result<std::map<std::string, TensorView>> views = viewsOf(inputs, input_count);
  if (!views)
    return views.error();
  Result<std::map<std::string, TensorBuffer>> buffers = buffersOf(outputs, output_count);
  if (!buffers)
    return buffers.error();
  Result<RunOptions> chosen = optionsOf(options);
  if (!chosen)
    return chosen.error();
  return session->session.start(*views, *buffers, *chosen);
}

static Result<void> finish(PendingRun &run, joule_buffer *outputs, size_t output_count) {
  Result<std::map<std::string, std::vector<int64_t>>> shapes = run.wait();
  if (!shapes)
    return shapes.error();
  giveShapes(*shapes, outputs, output_count);
  return {};
}

joule_error *joule_session_run_into(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                    const joule_run_options *options, joule_buffer *outputs,
                                    size_t output_count) {
  return guarded([&]() -> Result<void> {
    Result<PendingRun> run = start(session, inputs, input_count, options, outputs, output_count);
    return run ? finish(*run, outputs, output_count) : run.error();
  });
}

joule_error *joule_session_start(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                 const joule_run_options *options, const joule_buffer *outputs,
                                 size_t output_count, joule_run **run) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"run"}, run); !given)
      return given;
    *run = nullptr;
    return give(run, start(session, inputs, input_count, options, outputs, output_count));
  });
}

joule_error *joule_run_wait(joule_run *run, joule_buffer *outputs, size_t output_count) {
  return guarded([&]() -> Result<void> {
    if (Result<void> given = needAll({"run"}, run); !given)
      return given;
    if (output_count > 0)
      if (Result<void> given = needAll({"outputs"}, outputs); !given)
        return given;
    return finish(run->run, outputs, output_count);
  });
}

void joule_run_free(joule_run *run) { delete run; }
