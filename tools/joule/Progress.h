// Says how far work is, where somebody watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace joule::cli {

/// While one lives, and its work takes longer than two seconds, a line on stderr says how far it is and about how long
/// the rest takes. Only on a terminal; elsewhere nothing is printed. The line is gone when the object is.
class Progress {
public:
  /// Gives how much is done, from 0 to 1; nothing where nobody knows.
  using Fraction = std::function<std::optional<double>()>;

  /// `what` completes "… 40 %, about 3 s left", such as "compiling model.onnx".
  Progress(std::string what, Fraction fraction);
  Progress(const Progress &) = delete;
  ~Progress();

private:
  void watch();
  void printLine() const;

  const std::string what;
  const Fraction fraction;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool isOver = false;
  std::thread watcher; // not joinable where nobody watches
};

/// "compiling model.onnx: 40 %, about 3 s left"; without a fraction "running model.onnx: 12 s".
std::string progressLine(const std::string &what, double seconds, std::optional<double> fraction);

} // namespace joule::cli
