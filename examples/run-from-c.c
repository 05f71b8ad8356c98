/* run-from-c ARTIFACT: the C interface. The model takes "x", float32 [batch, n]; it is run on two rows of
 * ones. */
#include "joule/joule.h"

#include <stdio.h>
#include <stdlib.h>

/* Ends the program where something failed. */
static void check(joule_error *error) {
  if (!error)
    return;
  fprintf(stderr, "JL%04d: %s\n", joule_error_code(error), joule_error_message(error));
  joule_error_free(error);
  exit(1);
}

static void print(const joule_tensor *tensor) {
  const float *values = tensor->data;
  size_t i;
  printf("%s: [", tensor->name);
  for (i = 0; i < tensor->rank; ++i)
    printf(i ? ", %lld" : "%lld", (long long)tensor->shape[i]);
  printf("]");
  for (i = 0; tensor->type == JOULE_FLOAT32 && i < tensor->bytes / sizeof(float) && i < 8; ++i)
    printf(" %g", (double)values[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  joule_artifact *artifact;
  joule_device *device;
  joule_session *session;
  joule_outputs *outputs;
  if (argc != 2)
    return fprintf(stderr, "usage: run-from-c ARTIFACT\n"), 2;
  check(joule_artifact_open(argv[1], &artifact));
  check(joule_device_open("virtual", &device));
  check(joule_session_create(artifact, device, NULL, &session));

  size_t count, i;
  const joule_spec *spec = joule_artifact_inputs(artifact, &count);
  const int64_t shape[] = {2, spec->sizes[1]};
  size_t elements = (size_t)(shape[0] * shape[1]);
  float *x = malloc(elements * sizeof(float));
  for (i = 0; i < elements; ++i)
    x[i] = 1;
  const joule_tensor input = {spec->name, JOULE_FLOAT32, JOULE_HOST, 2, shape, x, elements * sizeof(float)};
  check(joule_session_run(session, &input, 1, NULL, &outputs));
  const joule_tensor *tensors = joule_outputs_tensors(outputs, &count);
  for (i = 0; i < count; ++i)
    print(&tensors[i]);

  free(x);
  joule_outputs_free(outputs);
  joule_session_free(session);
  joule_device_free(device);
  joule_artifact_free(artifact);
  return 0;
}
