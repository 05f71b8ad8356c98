// A thread of its own, so that the work needs no knowledge of terminals.
#include "tools/joule/Progress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace joule::cli {

constexpr std::chrono::seconds patience{2};
constexpr std::chrono::milliseconds interval{200};

Progress::Progress(std::string what, Fraction fraction) : what(std::move(what)), fraction(std::move(fraction)) {
  if (isatty(STDERR_FILENO))
    watcher = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watcher.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  ended.notify_one();
  watcher.join();
}

void Progress::watch() {
  std::unique_lock lock(mutex);
  if (ended.wait_for(lock, patience, [this] { return isOver; }))
    return;
  do
    printLine();
  while (!ended.wait_for(lock, interval, [this] { return isOver; }));
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void Progress::printLine() const {
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  fmt::print(stderr, "\r\033[K{}", progressLine(what, seconds.count(), fraction()));
  std::fflush(stderr);
}

std::string progressLine(const std::string &what, double seconds, std::optional<double> fraction) {
  // An estimate from the first few percent would jump about.
  if (!fraction || *fraction < 0.02)
    return fmt::format("{}: {:.0f} s", what, seconds);
  double left = seconds * (1 - *fraction) / *fraction;
  return fmt::format("{}: {:.0f} %, about {:.0f} s left", what, 100 * *fraction, left);
}

} // namespace joule::cli
