// A fixed table, since a signal handler may neither allocate nor lock.
#include "lib/File/PendingPath.h"

#include <atomic>
#include <cstring>
#include <limits.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace joule {

namespace {
enum class State { Free, BeingWritten, Pending };

struct Slot {
  std::atomic<State> state{State::Free};
  char path[PATH_MAX];
};
} // namespace

constexpr int numSlots = 64;
static Slot slots[numSlots];

static int remember(const std::string &path) {
  if (path.size() >= sizeof slots[0].path)
    return -1;
  for (int i = 0; i < numSlots; ++i) {
    State expected = State::Free;
    if (!slots[i].state.compare_exchange_strong(expected, State::BeingWritten))
      continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state = State::Pending;
    return i;
  }
  return -1;
}

PendingPath::PendingPath(const std::string &path) : slot(remember(path)) {}

PendingPath::PendingPath(PendingPath &&other) noexcept : slot(std::exchange(other.slot, -1)) {}

PendingPath::~PendingPath() {
  if (slot >= 0)
    slots[slot].state = State::Free;
}

std::string randomName(const std::string &prefix) {
  constexpr char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device source;
  std::uniform_int_distribution<size_t> letter(0, sizeof letters - 2);
  std::string name = prefix;
  for (int i = 0; i < 12; ++i)
    name += letters[letter(source)];
  return name;
}

void removePendingPaths() {
  for (auto remove : {unlink, rmdir})
    for (Slot &slot : slots)
      if (slot.state == State::Pending)
        remove(slot.path);
}

} // namespace joule
