// Any bytes as an artifact: opening it, and reading all that it claims to hold, ends.
#include "joule/Artifact.h"
#include "test/lib/MemoryFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  joule::test::MemoryFile file(data, size);
  joule::Result<joule::Artifact> artifact = joule::Artifact::open(file.path());
  if (!artifact)
    return 0;
  (void)artifact->verify();
  for (const std::string &entry : artifact->entries())
    (void)artifact->read(entry);
  return 0;
}
