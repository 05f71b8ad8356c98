// The operators of measured networks, as steps with counts.
#pragma once

#include "bench/energy/Figures.h"
#include "lib/Energy/SequenceTime.h"

#include <map>

namespace joule::bench {

/// The lists of energaizer_workload_ops.csv by the names of their workloads.
class OperatorLists {
public:
  explicit OperatorLists(const std::string &energyData);

  /// The workload of a measured row's name, which also says how it was run; empty: not listed.
  std::string workloadOf(const std::string &measuredName) const;

  /// What runs for a workload on `device`, each operator a kernel.
  std::vector<SequenceStep> stepsOf(const std::string &workload, const DeviceEnergy &device) const;

  /// One operator of a list.
  struct Operator {
    double count = 1;
    std::string kind, name;
    std::map<std::string, double> sizes;
  };

private:
  std::map<std::string, std::vector<Operator>> lists;
};

/// The counts of all steps together.
WorkCounts countsOf(const std::vector<SequenceStep> &steps);

} // namespace joule::bench
