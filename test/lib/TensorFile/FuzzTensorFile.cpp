// Any bytes as a tensor in each kind of file; the first byte says which.
#include "lib/TensorFile/TensorFile.h"
#include "test/lib/MemoryFile.h"

using namespace joule;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  joule::test::MemoryFile file(data + 1, size - 1);
  if (data[0] % 3 == 0)
    (void)readNpy(file.path());
  else if (data[0] % 3 == 1)
    (void)readNpz(file.path());
  else
    (void)readTensorProto(file.path());
  return 0;
}
