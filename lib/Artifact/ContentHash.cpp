// Keeps xxHash, which is heavy to include, in one file.
#include "lib/Artifact/ContentHash.h"

#include <fmt/format.h>
#include <new>
#include <xxhash.h>

namespace joule {

struct ContentHash::State {
  XXH3_state_t *hash = XXH3_createState();
  State() {
    if (!hash)
      throw std::bad_alloc();
    XXH3_128bits_reset(hash);
  }
  ~State() { XXH3_freeState(hash); }
};

ContentHash::ContentHash() : state(std::make_unique<State>()) {}
ContentHash::~ContentHash() = default;

void ContentHash::add(std::string_view bytes) {
  XXH3_128bits_update(state->hash, bytes.data(), bytes.size());
}

std::string ContentHash::text() const {
  XXH128_hash_t hash = XXH3_128bits_digest(state->hash);
  return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(hash.high64), static_cast<uint64_t>(hash.low64));
}

} // namespace joule
