/* Joule from C99, and from every language that can call C.
 *
 * The same things as the C++ interface, under the same names; its headers say more about each.
 *
 *   joule_device *device;
 *   joule_error *error = joule_device_open("virtual", &device);
 *   if (error) {
 *     fprintf(stderr, "JL%04d: %s\n", joule_error_code(error), joule_error_message(error));
 *     joule_error_free(error);
 *   }
 *
 * Errors: a function that can fail returns null on success, and else an error, which the caller frees; what it should
 * have made is then null. A null pointer where something is needed is an error, too (JOULE_ERROR_ArgumentInvalid).
 * Handles: who makes one frees it; freeing null does nothing. A handle keeps what it was made of.
 * Texts: UTF-8, ended by a zero; they belong to the handle that gave them.
 * Threads: devices, artifacts and sessions may be used from several at once; every other handle from one at a time.
 * Structures that a caller fills begin with their size, so that later versions can add to them; a zero in every other
 * field means what the C++ interface has as its default. */
#ifndef JOULE_JOULE_H
#define JOULE_JOULE_H

#include "joule/Export.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* JOULE_ERROR_InputShape is 304, which prints as JL0304. */
enum joule_error_codes {
#define JOULE_ERROR(number, name, meaning, cure) JOULE_ERROR_##name = number,
#include "joule/ErrorCodes.def"
#undef JOULE_ERROR
  JOULE_ERROR_none = 0
};

/* How one element is stored: the numbers of onnx.TensorProto.DataType. Those narrower than a byte are packed. */
enum joule_element_type {
  JOULE_FLOAT32 = 1,
  JOULE_UINT8 = 2,
  JOULE_INT8 = 3,
  JOULE_UINT16 = 4,
  JOULE_INT16 = 5,
  JOULE_INT32 = 6,
  JOULE_INT64 = 7,
  JOULE_BOOL = 9, /* a byte */
  JOULE_FLOAT16 = 10,
  JOULE_FLOAT64 = 11,
  JOULE_UINT32 = 12,
  JOULE_UINT64 = 13,
  JOULE_BFLOAT16 = 16,
  JOULE_FLOAT8E4M3FN = 17,
  JOULE_FLOAT8E4M3FNUZ = 18,
  JOULE_FLOAT8E5M2 = 19,
  JOULE_FLOAT8E5M2FNUZ = 20,
  JOULE_UINT4 = 21,
  JOULE_INT4 = 22,
  JOULE_FLOAT4E2M1 = 23,
  JOULE_FLOAT8E8M0 = 24,
  JOULE_UINT2 = 25,
  JOULE_INT2 = 26
};

enum joule_memory_kind { JOULE_HOST = 0, JOULE_DEVICE = 1 };

typedef struct joule_error joule_error;
typedef struct joule_artifact joule_artifact;
typedef struct joule_device joule_device;
typedef struct joule_memory joule_memory;
typedef struct joule_stream joule_stream;
typedef struct joule_session joule_session;
typedef struct joule_outputs joule_outputs;
typedef struct joule_run joule_run;
typedef struct joule_profile joule_profile;

/* The version of the library, such as "0.1.0". */
JOULE_API const char *joule_version(void);

/* ---- Errors ------------------------------------------------------------------------------------------------ */

/* One of joule_error_codes. */
JOULE_API int joule_error_code(const joule_error *error);
/* One sentence. */
JOULE_API const char *joule_error_message(const joule_error *error);
/* The ONNX node that it concerns; empty where none does. */
JOULE_API const char *joule_error_node(const joule_error *error);
/* What to do about it; belongs to the library. */
JOULE_API const char *joule_error_cure(const joule_error *error);
JOULE_API void joule_error_free(joule_error *error);

/* ---- Compiling: in libjoule-compiler alone ------------------------------------------------------------------ */

typedef struct joule_compile_options {
  size_t size;         /* sizeof(joule_compile_options) */
  const char *targets; /* "a100,sm_90"; null: "sm_80" */
  unsigned threads;    /* that make kernels; 0: one per core */
  int skip_assembly;   /* 1: PTX alone, even where ptxas is installed */
} joule_compile_options;

/* Compiles the ONNX file `model` and writes the file `artifact`. Null options: all as by default. */
JOULE_API joule_error *joule_compile(const char *model, const char *artifact, const joule_compile_options *options);

/* ---- Artifacts --------------------------------------------------------------------------------------------- */

/* What a model takes or gives. */
typedef struct joule_spec {
  const char *name;
  int32_t type; /* joule_element_type */
  size_t rank;
  const int64_t *sizes;       /* -1 where a symbol or only a run says it */
  const char *const *symbols; /* such as "batch"; "" where a size is given, or unknown until a run ends */
} joule_spec;

JOULE_API joule_error *joule_artifact_open(const char *path, joule_artifact **artifact);
JOULE_API void joule_artifact_free(joule_artifact *artifact);
JOULE_API const char *joule_artifact_model_name(const joule_artifact *artifact);
/* `*count` texts. */
JOULE_API const char *const *joule_artifact_targets(const joule_artifact *artifact, size_t *count);
/* `*count` rows in the model's order. */
JOULE_API const joule_spec *joule_artifact_inputs(const joule_artifact *artifact, size_t *count);
JOULE_API const joule_spec *joule_artifact_outputs(const joule_artifact *artifact, size_t *count);
/* Reads every byte and compares it with what the file says of it. */
JOULE_API joule_error *joule_artifact_verify(const joule_artifact *artifact);

/* ---- Devices ----------------------------------------------------------------------------------------------- */

typedef struct joule_device_properties {
  size_t size; /* sizeof(joule_device_properties), set by the caller */
  const char *name;
  int major, minor; /* compute capability */
  int multiprocessors;
  int64_t memory_bytes;
  int64_t clock_hz;
  int is_virtual;
} joule_device_properties;

/* "virtual", "virtual:a100", "cuda", "cuda:1". */
JOULE_API joule_error *joule_device_open(const char *name, joule_device **device);
JOULE_API void joule_device_free(joule_device *device);
JOULE_API joule_error *joule_device_describe(const joule_device *device, joule_device_properties *properties);

/* Memory on the device, for programs that have none of their own. */
JOULE_API joule_error *joule_memory_allocate(const joule_device *device, size_t bytes, joule_memory **memory);
JOULE_API void joule_memory_free(joule_memory *memory);
JOULE_API void *joule_memory_data(const joule_memory *memory);
JOULE_API size_t joule_memory_bytes(const joule_memory *memory);
JOULE_API joule_error *joule_memory_write(joule_memory *memory, size_t offset, const void *from, size_t bytes);
JOULE_API joule_error *joule_memory_read(const joule_memory *memory, size_t offset, void *to, size_t bytes);

JOULE_API joule_error *joule_stream_make(const joule_device *device, joule_stream **stream);
JOULE_API void joule_stream_free(joule_stream *stream);
/* The CUstream. */
JOULE_API void *joule_stream_handle(const joule_stream *stream);
JOULE_API joule_error *joule_stream_wait(const joule_stream *stream);

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

typedef struct joule_session_options {
  size_t size;                /* sizeof(joule_session_options) */
  const char *target;         /* null: the newest that the device can run */
  int64_t dynamic_memory_cap; /* bytes; 0: 4 GiB */
  int profile;                /* 1: keep the work of every kernel for joule_session_profile */
} joule_session_options;

typedef struct joule_counters {
  size_t size; /* sizeof(joule_counters), set by the caller */
  uint64_t runs, launches, compiles, device_allocations, bytes_copied, arena_bytes;
} joule_counters;

/* What the launches of one kernel for the same nodes add up to. Seconds and joules are modelled; 0 where Joule has no
 * model of the device. */
typedef struct joule_profile_row {
  const char *kernel;
  const char *nodes; /* the ONNX nodes they compute, a line each */
  const char *family;
  uint64_t launches;
  double flops, dram_bytes, seconds, joules;
} joule_profile_row;

/* A tensor that is read: dense, row-major. */
typedef struct joule_tensor {
  const char *name;
  int32_t type;   /* joule_element_type */
  int32_t memory; /* joule_memory_kind */
  size_t rank;
  const int64_t *shape; /* `rank` sizes */
  const void *data;
  size_t bytes; /* that may be read at `data` */
} joule_tensor;

/* Memory for an output. */
typedef struct joule_buffer {
  const char *name;
  int32_t memory; /* joule_memory_kind */
  void *data;
  size_t bytes;   /* that may be written at `data` */
  int64_t *shape; /* null, or room for the output's sizes */
  size_t rank;    /* how many that room holds; after a run, how many sizes the output has */
} joule_buffer;

typedef struct joule_run_options {
  size_t size;  /* sizeof(joule_run_options) */
  void *stream; /* null: one of the session's own, which waits for no other */
} joule_run_options;

JOULE_API joule_error *joule_session_create(const joule_artifact *artifact, const joule_device *device,
                                            const joule_session_options *options, joule_session **session);
JOULE_API void joule_session_free(joule_session *session);
JOULE_API const char *joule_session_target(const joule_session *session);
JOULE_API joule_error *joule_session_count(const joule_session *session, joule_counters *counters);
/* Totals since the session was made, in the plan's order; no rows unless joule_session_options.profile was 1. */
JOULE_API joule_error *joule_session_profile(const joule_session *session, joule_profile **profile);
JOULE_API const joule_profile_row *joule_profile_rows(const joule_profile *profile, size_t *count);
JOULE_API void joule_profile_free(joule_profile *profile);
/* Of each run begun later; 0: none. */
JOULE_API void joule_session_set_time_limit(joule_session *session, double seconds);
/* Ends the runs in progress with JOULE_ERROR_Interrupted. */
JOULE_API void joule_session_interrupt(joule_session *session);

/* Runs once, waits, and gives all outputs, in the model's order. */
JOULE_API joule_error *joule_session_run(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                         const joule_run_options *options, joule_outputs **outputs);
/* `*count` tensors in host memory. */
JOULE_API const joule_tensor *joule_outputs_tensors(const joule_outputs *outputs, size_t *count);
JOULE_API void joule_outputs_free(joule_outputs *outputs);

/* Runs once and waits; outputs go where the caller wants them. Those that are not named are not copied. */
JOULE_API joule_error *joule_session_run_into(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                              const joule_run_options *options, joule_buffer *outputs,
                                              size_t output_count);

/* The same, but returns as soon as the device has its work. All memory must stay until joule_run_wait, which is given
 * the same outputs for their shapes. Freeing the run waits, too. */
JOULE_API joule_error *joule_session_start(joule_session *session, const joule_tensor *inputs, size_t input_count,
                                           const joule_run_options *options, const joule_buffer *outputs,
                                           size_t output_count, joule_run **run);
JOULE_API joule_error *joule_run_wait(joule_run *run, joule_buffer *outputs, size_t output_count);
JOULE_API void joule_run_free(joule_run *run);

#ifdef __cplusplus
}
#endif

#endif
