// A signal's handler may do next to nothing, so it writes a byte into a pipe that a thread reads.
#include "tools/joule/Interrupt.h"

#include "lib/File/PendingPath.h"

#include <poll.h>
#include <unistd.h>

namespace joule::cli {

static int pipeEnds[2] = {-1, -1};
static volatile std::sig_atomic_t signals = 0;

extern "C" void jouleInterrupted(int) {
  signals = signals + 1;
  if (signals > 1) {
    joule::removePendingPaths();
    _exit(130);
  }
  (void)!write(pipeEnds[1], "i", 1);
}

InterruptOnSignal::InterruptOnSignal(Session session) : session(std::move(session)) {
  signals = 0;
  if (pipe(pipeEnds) != 0)
    pipeEnds[0] = pipeEnds[1] = -1;
  struct sigaction action = {};
  action.sa_handler = jouleInterrupted;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before);
  watcher = std::thread([this] { watch(); });
}

InterruptOnSignal::~InterruptOnSignal() {
  sigaction(SIGINT, &before, nullptr);
  (void)!write(pipeEnds[1], "e", 1);
  watcher.join();
  close(pipeEnds[0]);
  close(pipeEnds[1]);
}

void InterruptOnSignal::watch() {
  char byte = 'e';
  if (read(pipeEnds[0], &byte, 1) != 1 || byte != 'i')
    return;
  // A run that has not begun yet is not interrupted, so this is said until somebody gives up.
  pollfd end = {pipeEnds[0], POLLIN, 0};
  do
    session.interrupt();
  while (poll(&end, 1, /*milliseconds=*/10) == 0);
}

} // namespace joule::cli
