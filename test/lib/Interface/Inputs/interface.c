/* interface MODEL ARTIFACT: every function of the C interface, right and wrong. MODEL computes next = 2 state
 * + 1. */
#include "joule/joule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WANT(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);                                      \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

/* Ends the program unless the call succeeded. */
#define DO(call)                                                                                             \
  do {                                                                                                       \
    joule_error *error = call;                                                                               \
    if (error) {                                                                                             \
      fprintf(stderr, "line %d: JL%04d: %s\n", __LINE__, joule_error_code(error),                            \
              joule_error_message(error));                                                                   \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

/* Ends the program unless the call failed with this code, and with words. */
#define REFUSES(code, call)                                                                                  \
  do {                                                                                                       \
    joule_error *error = call;                                                                               \
    WANT(joule_error_code(error) == (code));                                                                 \
    WANT(strlen(joule_error_message(error)) > 10);                                                           \
    WANT(joule_error_node(error) != NULL && strlen(joule_error_cure(error)) > 5);                            \
    joule_error_free(error);                                                                                 \
  } while (0)

static void checkArtifact(const joule_artifact *artifact) {
  size_t count = 0;
  const joule_spec *spec;
  DO(joule_artifact_verify(artifact));
  WANT(strcmp(joule_artifact_model_name(artifact), "step.onnx") == 0);
  WANT(strcmp(joule_artifact_targets(artifact, &count)[0], "sm_80") == 0 && count == 2);
  spec = joule_artifact_inputs(artifact, &count);
  WANT(count == 1 && strcmp(spec->name, "state") == 0 && spec->type == JOULE_FLOAT32);
  WANT(spec->rank == 1 && spec->sizes[0] == -1 && strcmp(spec->symbols[0], "n") == 0);
  spec = joule_artifact_outputs(artifact, &count);
  WANT(count == 1 && strcmp(spec->name, "next") == 0);
}

static void checkDevice(const joule_device *device) {
  joule_device_properties properties = {0};
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_device_describe(device, &properties));
  properties.size = sizeof properties;
  DO(joule_device_describe(device, &properties));
  WANT(properties.is_virtual && properties.major == 8 && strstr(properties.name, "A100"));
}

static void checkRuns(joule_session *session, const joule_device *device) {
  int64_t shape = 3, given[2] = {0, 0};
  float state[3] = {1, 2, 3}, next[3] = {0, 0, 0};
  joule_tensor input = {"state", JOULE_FLOAT32, JOULE_HOST, 1, NULL, NULL, 0};
  joule_buffer output = {"next", JOULE_HOST, NULL, 0, NULL, 0};
  joule_outputs *outputs;
  joule_counters counters = {0};
  const joule_tensor *tensor;
  size_t count;
  input.shape = &shape, input.data = state, input.bytes = sizeof state;
  output.data = next, output.bytes = sizeof next, output.shape = given, output.rank = 2;

  DO(joule_session_run(session, &input, 1, NULL, &outputs));
  tensor = joule_outputs_tensors(outputs, &count);
  WANT(count == 1 && strcmp(tensor->name, "next") == 0 && tensor->rank == 1 && tensor->shape[0] == 3);
  WANT(tensor->bytes == 12 && ((const float *)tensor->data)[2] == 7);
  joule_outputs_free(outputs);

  DO(joule_session_run_into(session, &input, 1, NULL, &output, 1));
  WANT(next[0] == 3 && next[1] == 5 && next[2] == 7 && output.rank == 1 && given[0] == 3 && given[1] == 0);
  output.bytes = 8;
  REFUSES(JOULE_ERROR_OutputUnusable, joule_session_run_into(session, &input, 1, NULL, &output, 1));
  output.bytes = sizeof next, output.name = "nothing";
  REFUSES(JOULE_ERROR_OutputUnusable, joule_session_run_into(session, &input, 1, NULL, &output, 1));
  output.name = "next";

  input.name = "other";
  REFUSES(JOULE_ERROR_InputMissing, joule_session_run(session, &input, 1, NULL, &outputs));
  WANT(outputs == NULL);
  input.name = "state", input.type = JOULE_INT32;
  REFUSES(JOULE_ERROR_InputType, joule_session_run(session, &input, 1, NULL, &outputs));
  input.type = JOULE_FLOAT32, input.bytes = 11;
  REFUSES(JOULE_ERROR_InputBytes, joule_session_run(session, &input, 1, NULL, &outputs));
  input.bytes = sizeof state, input.rank = 0;
  REFUSES(JOULE_ERROR_InputShape, joule_session_run(session, &input, 1, NULL, &outputs));
  input.rank = 1;

  /* In device memory, in a stream. */
  {
    joule_memory *from, *to;
    joule_stream *stream;
    joule_run *run;
    joule_run_options options = {0};
    DO(joule_memory_allocate(device, sizeof state, &from));
    DO(joule_memory_allocate(device, sizeof state, &to));
    DO(joule_stream_make(device, &stream));
    DO(joule_memory_write(from, 0, state, sizeof state));
    input.memory = output.memory = JOULE_DEVICE;
    input.data = joule_memory_data(from), output.data = joule_memory_data(to);
    WANT(joule_memory_bytes(to) == sizeof state);
    REFUSES(JOULE_ERROR_ArgumentInvalid, joule_session_start(session, &input, 1, &options, &output, 1, &run));
    WANT(run == NULL);
    options.size = sizeof options, options.stream = joule_stream_handle(stream);
    output.rank = 0;
    DO(joule_session_start(session, &input, 1, &options, &output, 1, &run));
    DO(joule_run_wait(run, &output, 1));
    WANT(output.rank == 1);
    joule_run_free(run);
    DO(joule_stream_wait(stream));
    DO(joule_memory_read(to, 0, next, sizeof next));
    WANT(next[0] == 3 && next[1] == 5 && next[2] == 7);
    REFUSES(JOULE_ERROR_OutOfBounds, joule_memory_read(to, 4, next, sizeof next));
    joule_stream_free(stream);
    joule_memory_free(to);
    joule_memory_free(from);
  }

  {
    joule_profile *profile;
    const joule_profile_row *rows;
    DO(joule_session_profile(session, &profile));
    rows = joule_profile_rows(profile, &count);
    WANT(count == 1 && rows->launches == 4 && rows->joules > 0 && rows->seconds > 0 && rows->dram_bytes > 0);
    WANT(strcmp(rows->nodes, "double\nincrement") == 0 && strlen(rows->kernel) && strlen(rows->family));
    joule_profile_free(profile);
  }

  counters.size = sizeof counters;
  DO(joule_session_count(session, &counters));
  WANT(counters.runs == 4 && counters.launches == 4 && counters.compiles == 0);
}

static void checkNulls(void) {
  joule_device *device;
  joule_artifact *artifact;
  joule_session *session;
  size_t count = 7;
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_device_open(NULL, &device));
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_device_open("virtual", NULL));
  REFUSES(JOULE_ERROR_DeviceUnknown, joule_device_open("abacus", &device));
  WANT(device == NULL);
  REFUSES(JOULE_ERROR_FileUnreadable, joule_artifact_open("/no/such/file", &artifact));
  WANT(artifact == NULL);
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_session_create(NULL, NULL, NULL, &session));
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_session_run(NULL, NULL, 0, NULL, NULL));
  REFUSES(JOULE_ERROR_ArgumentInvalid, joule_compile(NULL, NULL, NULL));
  WANT(joule_artifact_inputs(NULL, &count) == NULL && count == 0);
  WANT(joule_error_code(NULL) == 0);
  joule_error_free(NULL);
  joule_artifact_free(NULL);
  joule_device_free(NULL);
  joule_session_free(NULL);
  joule_outputs_free(NULL);
  joule_memory_free(NULL);
  joule_stream_free(NULL);
  joule_run_free(NULL);
  joule_profile_free(NULL);
}

int main(int argc, char **argv) {
  joule_compile_options options = {0};
  joule_session_options sessionOptions = {0};
  joule_artifact *artifact;
  joule_device *device;
  joule_session *session;
  WANT(argc == 3);
  checkNulls();
  options.size = sizeof options;
  options.targets = "tpu";
  REFUSES(JOULE_ERROR_TargetUnknown, joule_compile(argv[1], argv[2], &options));
  options.targets = "a100,h100", options.skip_assembly = 1;
  DO(joule_compile(argv[1], argv[2], &options));
  DO(joule_artifact_open(argv[2], &artifact));
  checkArtifact(artifact);
  DO(joule_device_open("virtual:a100", &device));
  checkDevice(device);
  sessionOptions.size = sizeof sessionOptions, sessionOptions.profile = 1, sessionOptions.target = "sm_90";
  REFUSES(JOULE_ERROR_TargetMissing, joule_session_create(artifact, device, &sessionOptions, &session));
  sessionOptions.target = NULL;
  DO(joule_session_create(artifact, device, &sessionOptions, &session));
  /* A session keeps what it was made of. */
  joule_artifact_free(artifact);
  checkRuns(session, device);
  joule_session_set_time_limit(session, 100);
  joule_session_interrupt(session); /* nothing runs */
  WANT(strcmp(joule_session_target(session), "sm_80") == 0);
  joule_device_free(device);
  joule_session_free(session);
  printf("joule %s: all well\n", joule_version());
  return 0;
}
