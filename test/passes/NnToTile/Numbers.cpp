#include "test/passes/NnToTile/Numbers.h"

#include <algorithm>
#include <map>
#include <random>

namespace joule::test {

reference::Buffer wholeNumbers(const std::string &type, const std::vector<int64_t> &shape, unsigned seed,
                               int64_t least, int64_t most) {
  static const std::map<std::string, ElementType> types = {
      {"f32", ElementType::Float32}, {"f16", ElementType::Float16}, {"bf16", ElementType::BFloat16},
      {"f64", ElementType::Float64}, {"i8", ElementType::Int8},     {"i32", ElementType::Int32},
      {"i64", ElementType::Int64},   {"i1", ElementType::Bool}};
  std::minstd_rand random(seed + 1);
  std::vector<int64_t> values(reference::countOf(shape));
  for (int64_t &value : values)
    value = least + static_cast<int64_t>(random() / 7) % (most - least + 1);
  if (reference::isFloat(types.at(type)))
    return reference::makeFloats(types.at(type), shape, std::vector<double>(values.begin(), values.end()));
  return reference::makeIntegers(types.at(type), shape, values);
}

std::string tensorType(const std::vector<int64_t> &shape, const std::string &type,
                       const std::vector<unsigned> &dynamic) {
  std::string text = "tensor<";
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool open = std::find(dynamic.begin(), dynamic.end(), dim) != dynamic.end();
    text += (open ? "?" : std::to_string(shape[dim])) + "x";
  }
  return text + type + ">";
}

} // namespace joule::test
