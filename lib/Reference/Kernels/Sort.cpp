// The greatest or least elements, in order.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

#include <numeric>

namespace joule::reference {

/// The first `k` places of a row in order; `isBefore(a, b)` compares two places, of equal ones the lower is
/// first.
template <typename IsBefore>
static std::vector<int64_t> firstPlaces(int64_t length, int64_t k, IsBefore &&isBefore) {
  std::vector<int64_t> places(length);
  std::iota(places.begin(), places.end(), 0);
  std::partial_sort(places.begin(), places.begin() + k, places.end(),
                    [&](int64_t a, int64_t b) { return isBefore(a, b) || (!isBefore(b, a) && a < b); });
  places.resize(k);
  return places;
}

Result<TopK> topK(const Buffer &input, int64_t axis, int64_t k, bool smallest) {
  int64_t length = input.shape[axis];
  if (k < 0 || k > length)
    return Failure{"asks for the first " + std::to_string(k) + " of " + std::to_string(length) + " elements"};
  Shape shape = input.shape;
  shape[axis] = k;
  int64_t outer = countOf(Shape(shape.begin(), shape.begin() + axis));
  int64_t inner = countOf(Shape(shape.begin() + axis + 1, shape.end()));
  Buffer source = spread(input);
  Mover values(input.type, shape);
  std::vector<int64_t> indices(countOf(shape));
  withComputeType(input.type, [&](auto compute) {
    Values<decltype(compute)> elements(input);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        auto position = [&](int64_t place) { return (o * length + place) * inner + i; };
        auto places = firstPlaces(length, k, [&](int64_t a, int64_t b) {
          return smallest ? isGreater(elements[position(b)], elements[position(a)])
                          : isGreater(elements[position(a)], elements[position(b)]);
        });
        for (int64_t rank = 0; rank < k; ++rank) {
          int64_t to = (o * k + rank) * inner + i;
          indices[to] = places[rank];
          values.copy(to, source, position(places[rank]));
        }
      }
  });
  return TopK{values.take(), makeIntegers(ElementType::Int64, shape, indices)};
}

} // namespace joule::reference
