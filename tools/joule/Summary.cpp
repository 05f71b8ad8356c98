// Reads elements as doubles.
#include "tools/joule/Summary.h"

#include "lib/TensorFile/Elements.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace joule::cli {

std::string summarize(const Tensor &tensor) {
  std::vector<double> elements = elementsOf(tensor);
  if (elements.size() <= 8)
    return fmt::format("= [{}]", fmt::join(elements, ", "));
  auto [least, greatest] = std::minmax_element(elements.begin(), elements.end());
  double mean = std::accumulate(elements.begin(), elements.end(), 0.0) / static_cast<double>(elements.size());
  return fmt::format("from {:.6g} to {:.6g}, mean {:.6g}", *least, *greatest, mean);
}

} // namespace joule::cli
