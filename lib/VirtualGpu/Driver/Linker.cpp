// cuLink: several texts of PTX become one. The result is PTX again, which is what the device runs.
#include "lib/VirtualGpu/Driver/FatBinary.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/State.h"

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

using namespace joule::vgpu;

struct CUlinkState_st {
  std::string text;
  bool isComplete = false;
};

namespace joule::vgpu {

/// Directives that stand once at the head of a module.
static bool isHead(const std::string &line) {
  size_t start = line.find_first_not_of(" \t\r");
  if (start == std::string::npos)
    return false;
  for (const char *word : {".version", ".target", ".address_size"})
    if (line.compare(start, strlen(word), word) == 0)
      return true;
  return false;
}

static void append(CUlinkState state, const std::string &text) {
  ptx::parse(text); // alone, so that a message's line is the caller's
  std::istringstream lines(text);
  bool isFirst = state->text.empty();
  for (std::string line; std::getline(lines, line);)
    if (isFirst || !isHead(line))
      state->text += line + "\n";
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **values, CUlinkState *state) {
  want(state, "null pointer");
  want(numOptions == 0 || (options && values), "options without values");
  ready();
  auto made = std::make_unique<CUlinkState_st>();
  driver().handles.add(made.get(), HandleKind::Linker);
  *state = made.release();
  return CUDA_SUCCESS;
}
CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **values, CUlinkState *state) {
  return cuLinkCreate_v2(numOptions, options, values, state);
}

// Types of input: 0 is machine code, 1 PTX, 2 a fat binary; the others hold machine code or are not known.
constexpr int inputPtx = 1, inputFatBinary = 2;

static void add(CUlinkState state, int type, const std::string &bytes) {
  want(!state->isComplete, "the linker has finished");
  if (type != inputPtx && type != inputFatBinary)
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "only PTX can be linked for the virtual device");
  try {
    append(state, ptxOfFile(bytes, ready()->device->facts));
  } catch (const ptx::ParseError &error) {
    fail(CUDA_ERROR_INVALID_PTX, error.what());
  }
}

CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t size, const char *, unsigned int,
                          CUjit_option *, void **) {
  wantHandle(state, HandleKind::Linker);
  want(data && size, "no data");
  add(state, type, std::string(static_cast<const char *>(data), size));
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData(CUlinkState state, int type, void *data, size_t size, const char *name,
                       unsigned int numOptions, CUjit_option *options, void **values) {
  return cuLinkAddData_v2(state, type, data, size, name, numOptions, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState state, int type, const char *file, unsigned int, CUjit_option *,
                          void **) {
  wantHandle(state, HandleKind::Linker);
  want(file, "null pointer");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read ") + file);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  add(state, type, bytes.str());
  return CUDA_SUCCESS;
}
CUresult cuLinkAddFile(CUlinkState state, int type, const char *file, unsigned int numOptions,
                       CUjit_option *options, void **values) {
  return cuLinkAddFile_v2(state, type, file, numOptions, options, values);
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
  wantHandle(state, HandleKind::Linker);
  want(image, "null pointer");
  want(!state->text.empty(), "nothing was added");
  try {
    ptx::parse(state->text);
  } catch (const ptx::ParseError &error) {
    fail(CUDA_ERROR_INVALID_PTX, error.what());
  }
  state->isComplete = true;
  *image = state->text.data();
  if (size)
    *size = state->text.size() + 1;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  if (!driver().handles.remove(state, HandleKind::Linker))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a linker");
  delete state;
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
