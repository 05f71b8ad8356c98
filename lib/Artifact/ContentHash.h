// The name of bytes: XXH3-128 as 32 hexadecimal digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace joule {

/// Hashes bytes piece by piece.
class ContentHash {
public:
  ContentHash();
  ~ContentHash();
  void add(std::string_view bytes);
  std::string text() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace joule
