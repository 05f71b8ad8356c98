// One socket a worker: the number of a test goes there, its outcome comes back.
#include "tools/joule-onnx-tests/Workers.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace joule::onnxtests {

using Clock = std::chrono::steady_clock;

//===-- Messages
//--------------------------------------------------------------------------------------------===//

static bool sendAll(int socket, const void *data, size_t size) {
  for (const char *at = static_cast<const char *>(data); size > 0;) {
    ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    at += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

static bool receiveAll(int socket, void *data, size_t size) {
  for (char *at = static_cast<char *>(data); size > 0;) {
    ssize_t received = recv(socket, at, size, 0);
    if (received <= 0)
      return false;
    at += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

static bool sendOutcome(int socket, const Outcome &outcome) {
  uint32_t head[3] = {static_cast<uint32_t>(outcome.status), static_cast<uint32_t>(outcome.origin),
                      static_cast<uint32_t>(outcome.reason.size())};
  return sendAll(socket, head, sizeof head) && sendAll(socket, outcome.reason.data(), outcome.reason.size());
}

static std::optional<Outcome> receiveOutcome(int socket) {
  uint32_t head[3];
  if (!receiveAll(socket, head, sizeof head))
    return std::nullopt;
  Outcome outcome{static_cast<Status>(head[0]), static_cast<Origin>(head[1]), std::string(head[2], ' ')};
  if (!receiveAll(socket, outcome.reason.data(), outcome.reason.size()))
    return std::nullopt;
  return outcome;
}

//===-- One worker
//------------------------------------------------------------------------------------------===//

namespace {

class Worker {
public:
  Worker(const std::vector<TestCase> &tests, const TestFunction &run, unsigned number)
      : tests(tests), run(run), number(number) {}
  Worker(const Worker &) = delete;
  ~Worker() { stop(); }

  /// Hands the worker a test, starting a process where there is none.
  void begin(size_t test, double timeLimit) {
    if (process < 0)
      start();
    current = test;
    deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeLimit));
    uint32_t position = static_cast<uint32_t>(test);
    // A worker that has died says so when its outcome is read.
    sendAll(socket, &position, sizeof position);
  }

  bool isBusy() const { return current.has_value(); }
  size_t test() const { return *current; }
  int descriptor() const { return socket; }
  Clock::time_point until() const { return deadline; }

  /// The outcome that has arrived, or how the process ended instead.
  Outcome finish() {
    current.reset();
    if (std::optional<Outcome> outcome = receiveOutcome(socket))
      return *outcome;
    int status = stop();
    std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "ended early";
    return {Status::Failed, Origin::None, "crashed: " + how + lastWords()};
  }

  /// Ends a test that has taken too long.
  Outcome giveUp() {
    current.reset();
    stop();
    return {Status::Failed, Origin::None, "took longer than the time limit"};
  }

private:
  void start() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error(fmt::format("cannot make a socket: {}", std::strerror(errno)));
    if (words >= 0)
      close(words);
    words = memfd_create("stderr", MFD_CLOEXEC);
    process = fork();
    if (process < 0)
      throw std::runtime_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
    if (process == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that hangs does not outlive the suite
      if (words >= 0)
        dup2(words, STDERR_FILENO);
      serve(ends[1]);
    }
    close(ends[1]);
    socket = ends[0];
  }

  [[noreturn]] void serve(int parent) {
    uint32_t position;
    while (receiveAll(parent, &position, sizeof position))
      if (!sendOutcome(parent, run(tests[position], number)))
        break;
    // Nothing that the parent owns is to be undone here.
    _exit(0);
  }

  /// Ends the process, if there is one, and gives its status.
  int stop() {
    int status = 0;
    if (process < 0)
      return status;
    close(socket);
    // One that crashed is dead already and keeps its status; any other is idle or hangs.
    if (waitpid(process, &status, WNOHANG) == 0) {
      usleep(100'000);
      if (waitpid(process, &status, WNOHANG) == 0) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
      }
    }
    process = socket = -1;
    return status;
  }

  /// What the process last wrote on stderr that tells why it ended: an assertion's line, else the last one.
  std::string lastWords() {
    char text[4096];
    off_t size = words < 0 ? 0 : lseek(words, 0, SEEK_END);
    ssize_t count =
        words < 0 ? 0 : pread(words, text, sizeof text, std::max<off_t>(0, size - off_t(sizeof text)));
    std::string said(text, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (words >= 0)
      close(words);
    words = -1;
    size_t assertion = said.find("Assertion");
    if (assertion != said.npos)
      return ": " + said.substr(assertion, said.find('\n', assertion) - assertion);
    while (!said.empty() && said.back() == '\n')
      said.pop_back();
    return said.empty() ? "" : ": " + said.substr(said.rfind('\n') + 1);
  }

  const std::vector<TestCase> &tests;
  const TestFunction &run;
  unsigned number;
  pid_t process = -1;
  int socket = -1;
  int words = -1; // what the process writes on stderr
  std::optional<size_t> current;
  Clock::time_point deadline;
};

//===-- All workers
//-----------------------------------------------------------------------------------------===//

class Pool {
public:
  Pool(const std::vector<TestCase> &tests, const WorkerOptions &options, const TestFunction &run)
      : options(options), outcomes(tests.size()) {
    for (unsigned i = 0; i < std::max(1u, options.workers); ++i)
      workers.push_back(std::make_unique<Worker>(tests, run, i));
  }

  /// Keeps every worker busy; `arrived` is told each outcome in the order of the tests.
  void work(const std::function<void(size_t, const Outcome &)> &arrived) {
    size_t next = 0, reported = 0;
    while (reported < outcomes.size()) {
      for (auto &worker : workers)
        if (!worker->isBusy() && next < outcomes.size())
          worker->begin(next++, options.timeLimit);
      wait();
      for (; reported < outcomes.size() && outcomes[reported]; ++reported)
        arrived(reported, *outcomes[reported]);
    }
  }

private:
  /// Waits until a worker answers, dies, or runs out of time.
  void wait() {
    std::vector<pollfd> descriptors;
    std::vector<Worker *> busy;
    Clock::time_point first = Clock::time_point::max();
    for (auto &worker : workers) {
      if (!worker->isBusy())
        continue;
      descriptors.push_back({worker->descriptor(), POLLIN, 0});
      busy.push_back(worker.get());
      first = std::min(first, worker->until());
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count();
    poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<int64_t>(0, left + 1)));
    for (size_t i = 0; i < busy.size(); ++i) {
      size_t test = busy[i]->test();
      if (descriptors[i].revents)
        outcomes[test] = busy[i]->finish();
      else if (Clock::now() >= busy[i]->until())
        outcomes[test] = busy[i]->giveUp();
    }
  }

  const WorkerOptions &options;
  std::vector<std::optional<Outcome>> outcomes;
  std::vector<std::unique_ptr<Worker>> workers;
};

} // namespace

void runAll(const std::vector<TestCase> &tests, const WorkerOptions &options, const TestFunction &run,
            const std::function<void(const TestCase &, const Outcome &)> &report) {
  Pool(tests, options, run).work([&](size_t i, const Outcome &outcome) { report(tests[i], outcome); });
}

} // namespace joule::onnxtests
