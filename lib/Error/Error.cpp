// The table of error codes, and how errors print.
#include "joule/Error.h"

#include <cstdio>
#include <cstdlib>

namespace joule {

static const Explanation table[] = {
#define JOULE_ERROR(number, name, meaning, cure) {ErrorCode::name, #name, meaning, cure},
#include "joule/ErrorCodes.def"
#undef JOULE_ERROR
};

std::string toString(ErrorCode code) {
  char text[16];
  std::snprintf(text, sizeof text, "JL%04d", static_cast<int>(code));
  return text;
}

std::string Error::toString() const {
  std::string text = node.empty() ? "" : node + ": ";
  return text + joule::toString(code) + ": " + message;
}

std::optional<Explanation> explain(const std::string &code) {
  std::string digits = code.rfind("JL", 0) == 0 ? code.substr(2) : code;
  if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  int number = std::atoi(digits.c_str());
  for (const Explanation &row : table)
    if (static_cast<int>(row.code) == number)
      return row;
  return std::nullopt;
}

} // namespace joule
