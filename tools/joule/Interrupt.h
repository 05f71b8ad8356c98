// Ctrl-C ends a run, not the program, while one of these lives.
#pragma once

#include "joule/Session.h"

#include <csignal>
#include <thread>

namespace joule::cli {

/// Interrupts `session` on SIGINT, so that its run ends with ErrorCode::Interrupted and everything is given
/// back. A second SIGINT ends the program at once. At most one at a time.
class InterruptOnSignal {
public:
  explicit InterruptOnSignal(Session session);
  InterruptOnSignal(const InterruptOnSignal &) = delete;
  ~InterruptOnSignal();

private:
  void watch();

  Session session;
  struct sigaction before;
  std::thread watcher;
};

} // namespace joule::cli
