// Pictures of the energy model's answers, as SVG that stands alone or within a page.
#pragma once

#include "lib/Energy/OperatingPoint.h"

#include <string>
#include <vector>

namespace joule::cli {

/// `text` as HTML and SVG show it.
std::string escaped(const std::string &text);

/// The operating points in joules over seconds, the chosen one marked. `points` holds one at least.
std::string frontChart(const std::vector<OperatingPoint> &points, const OperatingPoint &chosen,
                       const std::string &title);

/// A kernel in the energy roofline.
struct RooflinePoint {
  std::string name;
  double flopsPerByte = 0;  ///< of DRAM traffic, above 0
  double flopsPerJoule = 0; ///< above 0
  double share = 0;         ///< of the whole run's joules, 0 to 1
};

/// FLOPS/W over FLOPs per DRAM byte: for each engine the most that long work at the highest clock reaches, and
/// where the kernels are.
std::string rooflineChart(const DeviceEnergy &device, const std::vector<Engine> &engines,
                          const std::vector<RooflinePoint> &points);

} // namespace joule::cli
