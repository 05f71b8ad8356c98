/// Errors of kernels: one sentence, without a place; the caller knows the place.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace joule::reference {

/// Why a kernel has no result.
struct Failure {
  std::string message;
};

/// A value, or the Failure that came instead of one.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : held(std::move(value)) {}
  Result(Failure failure) : reason(std::move(failure.message)) {}

  explicit operator bool() const { return held.has_value(); }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }

  /// Why there is no value; empty where there is one.
  const std::string &error() const { return reason; }

private:
  std::optional<T> held;
  std::string reason;
};

} // namespace joule::reference
