/// Errors as values: what went wrong, under a code that stays the same between versions.
#pragma once

#include "joule/Export.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace joule {

/// What kind of failure an Error is. Its number prints as "JL0101".
enum class ErrorCode : int {
#define JOULE_ERROR(number, name, meaning, cure) name = number,
#include "joule/ErrorCodes.def"
#undef JOULE_ERROR
};

/// A failure: its code, one sentence, and the ONNX node it concerns (empty where none does).
struct Error {
  ErrorCode code;
  std::string message;
  std::string node;

  /// "JL0304: input "x" has shape [2, 3], the model wants [batch, 4]", with the node in front where there is
  /// one.
  JOULE_API std::string toString() const;
};

/// "JL0101" of FileUnreadable.
JOULE_API std::string toString(ErrorCode code);

/// What a code means and what to do about it.
struct Explanation {
  ErrorCode code;
  const char *name;
  const char *meaning;
  const char *cure;
};

/// Explains "JL0101" (or "101"); nullopt where no such code exists.
JOULE_API std::optional<Explanation> explain(const std::string &code);

/// A value, or the Error that came instead of one.
///
///   joule::Result<joule::Artifact> artifact = joule::Artifact::open("model.joule");
///   if (!artifact) {
///     std::cerr << artifact.error().toString() << "\n"; // JL0101: cannot read "model.joule": No such file or directory
///     return 1;
///   }
///   std::cout << artifact->modelName() << "\n";
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  /// The value; the Result must hold one.
  T &value() & {
    assert(*this && "the result is an error");
    return *std::get_if<0>(&state);
  }
  const T &value() const & {
    assert(*this && "the result is an error");
    return *std::get_if<0>(&state);
  }
  T &&value() && { return std::move(value()); }

  /// The error; the Result must hold one.
  const Error &error() const {
    assert(!*this && "the result is a value");
    return *std::get_if<1>(&state);
  }

private:
  std::variant<T, Error> state;
};

/// Success, or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  const Error &error() const {
    assert(failure && "the result is a success");
    return *failure;
  }

private:
  std::optional<Error> failure;
};

} // namespace joule
