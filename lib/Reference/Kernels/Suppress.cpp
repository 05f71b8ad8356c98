// Choosing boxes that overlap little.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

namespace {

struct Box {
  double low[2], high[2];

  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

/// `numbers` are two opposite corners, or a centre, a width and a height.
Box boxOf(const double *numbers, bool centerPoint) {
  Box box;
  for (int dim = 0; dim < 2; ++dim) {
    double a = numbers[dim], b = numbers[dim + 2];
    box.low[dim] = centerPoint ? a - b / 2 : std::min(a, b);
    box.high[dim] = centerPoint ? a + b / 2 : std::max(a, b);
  }
  return box;
}

/// Intersection over union; 0 where the union is empty.
double overlap(const Box &a, const Box &b) {
  double common = 1;
  for (int dim = 0; dim < 2; ++dim)
    common *= std::max(0.0, std::min(a.high[dim], b.high[dim]) - std::max(a.low[dim], b.low[dim]));
  double joint = a.area() + b.area() - common;
  return joint > 0 ? common / joint : 0;
}

} // namespace

/// The chosen boxes of one class, best first.
static std::vector<int64_t> chooseBoxes(const std::vector<Box> &boxes, const double *scores,
                                        const SuppressionOptions &options) {
  std::vector<int64_t> candidates, chosen;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (!std::isnan(scores[i]) && (!options.scoreThreshold || scores[i] > *options.scoreThreshold))
      candidates.push_back(i);
  std::sort(candidates.begin(), candidates.end(),
            [&](int64_t a, int64_t b) { return scores[a] > scores[b] || (scores[a] == scores[b] && a < b); });
  for (int64_t candidate : candidates) {
    if (static_cast<int64_t>(chosen.size()) >= options.mostPerClass)
      break;
    bool isFree = std::none_of(chosen.begin(), chosen.end(), [&](int64_t other) {
      return overlap(boxes[candidate], boxes[other]) > options.overlapThreshold;
    });
    if (isFree)
      chosen.push_back(candidate);
  }
  return chosen;
}

Result<Buffer> suppressOverlaps(const Buffer &boxes, const Buffer &scores,
                                const SuppressionOptions &options) {
  int64_t batches = boxes.shape[0], count = boxes.shape[1], classes = scores.shape[1];
  if (boxes.shape[2] != 4 || scores.shape[0] != batches || scores.shape[2] != count)
    return Failure{"has boxes of shape " + toString(boxes.shape) + " and scores of shape " +
                   toString(scores.shape)};
  Values<double> corners(boxes), score(scores);
  std::vector<int64_t> triples;
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::vector<Box> batchBoxes;
    for (int64_t i = 0; i < count; ++i)
      batchBoxes.push_back(boxOf(corners.data() + (batch * count + i) * 4, options.centerPoint));
    for (int64_t kind = 0; kind < classes; ++kind)
      for (int64_t box : chooseBoxes(batchBoxes, score.data() + (batch * classes + kind) * count, options))
        triples.insert(triples.end(), {batch, kind, box});
  }
  return makeIntegers(ElementType::Int64, {static_cast<int64_t>(triples.size() / 3), 3}, triples);
}

} // namespace joule::reference
