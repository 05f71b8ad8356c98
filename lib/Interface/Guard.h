// What stands between C and C++: errors as objects, and no exception that crosses.
#pragma once

#include "joule/Error.h"
#include "joule/joule.h"

#include <exception>
#include <new>

struct joule_error {
  joule::Error error;
  bool isFixed = false; ///< not on the heap, so never freed
};

namespace joule::c {

/// Given away where the heap is full. Made while the library is loaded.
inline joule_error memoryIsFull{{ErrorCode::HostMemoryFull, "the host has no memory left", ""}, true};

/// An error on the heap.
inline joule_error *newError(Error error) {
  auto *made = new (std::nothrow) joule_error{std::move(error)};
  return made ? made : &memoryIsFull;
}

/// Calls `body`, which gives a Result<void>, and turns its error, or what it throws, into an object.
template <typename Body> joule_error *guarded(Body body) noexcept {
  try {
    Result<void> done = body();
    return done ? nullptr : newError(done.error());
  } catch (const std::bad_alloc &) {
    return &memoryIsFull;
  } catch (const std::exception &thrown) {
    return newError({ErrorCode::Internal, std::string("internal: ") + thrown.what(), ""});
  }
}

/// The first of the arguments that is null, as an error; `names` stand in the same order.
template <typename... Pointers>
Result<void> needAll(std::initializer_list<const char *> names, const Pointers *...pointers) {
  const void *all[] = {pointers...};
  for (size_t i = 0; i < sizeof...(pointers); ++i)
    if (!all[i])
      return Error{ErrorCode::ArgumentInvalid, std::string("the argument ") + names.begin()[i] + " is null",
                   ""};
  return {};
}

/// Structures that a caller fills say their size, which must be that of this version or a later one's.
template <typename Structure> Result<void> needSize(const Structure *structure, const char *name) {
  if (!structure || structure->size >= sizeof(Structure))
    return {};
  return Error{ErrorCode::ArgumentInvalid,
               std::string(name) + " says a size of " + std::to_string(structure->size) +
                   " bytes, but it has " + std::to_string(sizeof(Structure)),
               ""};
}

} // namespace joule::c
