// Clocks: the law of voltage, the ranking of clocks within a kernel, and decisions replayed on measured
// tables.
#include "bench/energy/Figures.h"
#include "lib/Energy/OperatingPoint.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace joule::bench {

namespace {

/// One kernel at all measured points; the first has the highest clocks.
struct Sweep {
  std::string name;
  std::vector<OperatingPoint> points;
};

/// What the ranking and the decisions of one table came to.
struct Replay {
  double tau = 0, regret = 0, saved = 0, oracle = 0;
  double tauApart = 0;  // of the pairs whose measured energies are apart
  double tauFitted = 0; // where the law is fitted on all points: what their scatter leaves
  int kernels = 0;
};

} // namespace

//===- Tables
//--------------------------------------------------------------------------------------------------------

static void sortByClocks(std::vector<Sweep> &sweeps) {
  for (Sweep &sweep : sweeps)
    std::sort(sweep.points.begin(), sweep.points.end(), [](const OperatingPoint &a, const OperatingPoint &b) {
      return a.clock > b.clock || (a.clock == b.clock && a.memoryClockShare > b.memoryClockShare);
    });
}

/// Groups rows that `nameOf` gives the same name; "" leaves a row out.
template <typename Name, typename Point>
static std::vector<Sweep> readSweeps(const Data &table, Name nameOf, Point pointOf) {
  std::map<std::string, std::vector<OperatingPoint>> byName;
  for (size_t i = 0; i < table.size(); ++i)
    if (std::string name = nameOf(i); !name.empty())
      byName[name].push_back(pointOf(i));
  std::vector<Sweep> sweeps;
  for (auto &[name, points] : byName)
    sweeps.push_back({name, points});
  sortByClocks(sweeps);
  return sweeps;
}

static std::vector<Sweep> readCoreAndMemory(const Data &table, const DeviceEnergy &device) {
  return readSweeps(
      table, [&](size_t i) { return table.text(i, "benchmark"); },
      [&](size_t i) {
        return OperatingPoint{megahertz(table.number(i, "core_MHz")),
                              megahertz(table.number(i, "mem_MHz")) / device.memoryClock,
                              Seconds(table.number(i, "time_ms") / 1e3),
                              Joules(table.number(i, "energy_mJ") / 1e3)};
      });
}

static std::vector<Sweep> readVolta(const Data &table) {
  return readSweeps(
      table, [&](size_t i) { return table.text(i, "set") == "real" ? table.text(i, "benchmark") : ""; },
      [&](size_t i) {
        return OperatingPoint{megahertz(table.number(i, "core_MHz")), 1,
                              Seconds(table.number(i, "time_ms") / 1e3),
                              Joules(table.number(i, "energy_mJ") / 1e3)};
      });
}

/// The networks of the A100: the clock is the one that the power cap left.
static std::vector<Sweep> readNetworks(const Data &table) {
  return readSweeps(
      table,
      [&](size_t i) {
        std::string name = table.text(i, "workload");
        return table.text(i, "set") == "dvfs" ? name.substr(0, name.find("_freq")) : "";
      },
      [&](size_t i) {
        return OperatingPoint{megahertz(table.number(i, "avg_freq_MHz")), 1,
                              Seconds(table.number(i, "time_ms") / 1e3), Joules(table.number(i, "energy_J"))};
      });
}

//===- The law of voltage
//--------------------------------------------------------------------------------------------

/// Each clock's energy from the others of the same kernel, times given.
static double leaveOneClockOut(const std::vector<Sweep> &sweeps, const DeviceEnergy &device) {
  std::vector<double> predicted, measured;
  for (const Sweep &sweep : sweeps)
    for (size_t left = 0; left < sweep.points.size(); ++left) {
      std::vector<OperatingPoint> others = sweep.points;
      others.erase(others.begin() + static_cast<long>(left));
      const OperatingPoint &point = sweep.points[left];
      predicted.push_back(ClockResponse(others, device).energy(point.clock, 1, point.time).value());
      measured.push_back(point.energy.value());
    }
  return meanError(predicted, measured);
}

static void measureLaw(const std::string &energyData, const std::vector<Sweep> &networks,
                       Findings &findings) {
  DeviceEnergy device = bareDevice("a100-pcie-40");
  findings.figures.push_back({"V/f law at unseen clocks, networks on A100", "~8", 4, 2,
                              leaveOneClockOut(networks, device), "%", true,
                              fmt::format("leave one clock out, {} kernels", networks.size())});
  Data burner(energyData + "/a100pcie40_fp32_synthetic_clock_measured.csv");
  std::vector<Sweep> sweeps = readSweeps(
      burner, [](size_t) { return "burner"; },
      [&](size_t i) {
        return OperatingPoint{megahertz(burner.number(i, "sm_clock_MHz")), 1,
                              Seconds(burner.number(i, "time_ms") / 1e3),
                              Joules(burner.number(i, "energy_mJ") / 1e3)};
      });
  // This board rests 11.5 W lower than the one whose curve the device file has; two runs at its ends tell.
  for (Watts &idle : device.idlePower.values)
    idle = idle - Watts(11.5);
  findings.figures.push_back({"V/f law at unseen clocks, FP32 burner on another A100", "~8", 4, 2,
                              leaveOneClockOut(sweeps, device), "%", true, "leave one clock out"});
}

//===- Ranking and decisions
//-----------------------------------------------------------------------------------------

/// Kendall's tau-b of two lists, of the pairs whose second values differ by a share of at least `apart`.
static double kendall(const std::vector<double> &a, const std::vector<double> &b, double apart = 0) {
  double same = 0, pairsA = 0, pairsB = 0;
  auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (std::abs(b[i] - b[j]) < apart * std::max(b[i], b[j]))
        continue;
      int first = sign(a[i] - a[j]), second = sign(b[i] - b[j]);
      same += first * second;
      pairsA += first != 0, pairsB += second != 0;
    }
  return same / std::sqrt(pairsA * pairsB);
}

/// The runs that a tuner would make: at the highest clocks, and near the voltage's knee; with a memory axis
/// the four corners.
static std::vector<OperatingPoint> probesOf(const Sweep &sweep, const DeviceEnergy &device) {
  auto closest = [&](Hertz clock, double memory) {
    return *std::min_element(sweep.points.begin(), sweep.points.end(), [&](const auto &a, const auto &b) {
      auto distance = [&](const OperatingPoint &p) {
        return std::abs(p.clock / clock - 1) + std::abs(p.memoryClockShare / memory - 1);
      };
      return distance(a) < distance(b);
    });
  };
  const OperatingPoint &top = sweep.points.front(), &bottom = sweep.points.back();
  if (top.memoryClockShare == bottom.memoryClockShare)
    return {top, closest(device.kneeClock, top.memoryClockShare)};
  return {top, bottom, closest(top.clock, bottom.memoryClockShare),
          closest(bottom.clock, top.memoryClockShare)};
}

/// Share of energy saved against the top point by `choice`; a choice that is slower than allowed saves
/// nothing.
static double savingOf(const Sweep &sweep, size_t choice, double slowdown) {
  const OperatingPoint &top = sweep.points.front(), &point = sweep.points[choice];
  return point.time > top.time * (1 + slowdown) ? 0 : 1 - point.energy / top.energy;
}

constexpr double slowdown = 0.05, apart = 0.02;

/// The index in the sweep that a tuner ends at: the model's choice is run, what it shows refines the model,
/// and so on, at most twice; then the cheapest of the runs that is quick enough counts.
static size_t tune(const Sweep &sweep, const DeviceEnergy &device) {
  std::vector<OperatingPoint> runs = probesOf(sweep, device);
  const OperatingPoint &top = sweep.points.front();
  auto isRun = [&](const OperatingPoint &point) {
    return std::any_of(runs.begin(), runs.end(), [&](const OperatingPoint &run) {
      return run.clock == point.clock && run.memoryClockShare == point.memoryClockShare;
    });
  };
  for (int more = 0; more < 2; ++more) {
    ClockResponse response(runs, device);
    const OperatingPoint *choice = &top;
    Joules least = top.energy;
    for (const OperatingPoint &point : sweep.points) {
      Seconds time = response.time(point.clock, point.memoryClockShare);
      Joules energy = response.energy(point.clock, point.memoryClockShare, time);
      if (!isRun(point) && time <= top.time * (1 + slowdown) && energy < least)
        choice = &point, least = energy;
    }
    if (choice == &top)
      break;
    runs.push_back(*choice);
  }
  size_t best = 0;
  for (size_t i = 0; i < sweep.points.size(); ++i)
    if (isRun(sweep.points[i]) && savingOf(sweep, i, slowdown) > savingOf(sweep, best, slowdown))
      best = i;
  return best;
}

static void replay(const Sweep &sweep, const DeviceEnergy &device, Replay &sum) {
  ClockResponse response(probesOf(sweep, device), device);
  ClockResponse fitted(sweep.points, device);
  std::vector<double> ranked, measured, rankedByFit;
  for (const OperatingPoint &point : sweep.points) {
    ranked.push_back(response.energy(point.clock, point.memoryClockShare, point.time).value());
    rankedByFit.push_back(fitted.energy(point.clock, point.memoryClockShare, point.time).value());
    measured.push_back(point.energy.value());
  }
  sum.tau += kendall(ranked, measured);
  sum.tauApart += kendall(ranked, measured, apart);
  sum.tauFitted += kendall(rankedByFit, measured);
  size_t best = static_cast<size_t>(std::min_element(ranked.begin(), ranked.end()) - ranked.begin());
  sum.regret += measured[best] / *std::min_element(measured.begin(), measured.end()) - 1;
  double oracle = 0;
  for (size_t i = 0; i < sweep.points.size(); ++i)
    oracle = std::max(oracle, savingOf(sweep, i, slowdown));
  sum.oracle += oracle;
  sum.saved += savingOf(sweep, tune(sweep, device), slowdown);
  ++sum.kernels;
}

Findings measureClocks(const std::string &energyData) {
  Findings findings;
  std::vector<Sweep> networks = readNetworks(Data(energyData + "/energaizer_nn_inference_measured.csv"));
  measureLaw(energyData, networks, findings);

  DeviceEnergy pascal = bareDevice("gtx-1080-ti");
  const struct {
    std::string name;
    std::vector<Sweep> sweeps;
    DeviceEnergy device;
  } tables[] = {
      {"A100 networks", networks, bareDevice("a100-pcie-40")},
      {"V100 kernels", readVolta(Data(energyData + "/nvdvfs_v100_measured.csv")), bareDevice("v100-pcie")},
      {"GTX 1080 Ti kernels",
       readCoreAndMemory(Data(energyData + "/gtx1080ti_dvfs_counters_measured.csv"), pascal), pascal},
      // A sweep over both clocks needs no facts of the board but those that its runs show.
      {"RTX 2070 Super kernels", readCoreAndMemory(Data(energyData + "/rtx2070s_dvfs_measured.csv"), pascal),
       pascal}};
  Replay all;
  for (const auto &table : tables) {
    Replay sum;
    for (const Sweep &sweep : table.sweeps)
      replay(sweep, table.device, sum);
    double kernels = sum.kernels;
    findings.notes.push_back(fmt::format("{}: tau {:.3f} (at least 2 % apart: {:.3f}; fitted on all points: "
                                         "{:.3f}), regret {:.2f} %, saved at <= 5 % slowdown "
                                         "{:.2f} % of the oracle's {:.2f} %",
                                         table.name, sum.tau / kernels, sum.tauApart / kernels,
                                         sum.tauFitted / kernels, 100 * sum.regret / kernels,
                                         100 * sum.saved / kernels, 100 * sum.oracle / kernels));
    bool isCounted = table.name != "RTX 2070 Super kernels"; // no published figure to compare with
    if (isCounted)
      all.tau += sum.tau, all.regret += sum.regret, all.kernels += sum.kernels;
    all.saved += sum.saved, all.oracle += sum.oracle;
  }
  std::string split = "two runs a kernel (four with a memory axis), the rest unseen; A100, V100, 1080 Ti";
  findings.figures.push_back({"ranking of clocks in a kernel, Kendall's tau", "0.83", 0.9, 0.95,
                              all.tau / all.kernels, "", false, split + "; time given"});
  findings.figures.push_back({"ranking of clocks in a kernel, energy regret of the first", "0.2-2", 1, 0.5,
                              100 * all.regret / all.kernels, "%", true, split + "; time given"});
  findings.figures.push_back(
      {"energy saved at <= 5 % slowdown, share of the oracle's", "-", 80, 95, 100 * all.saved / all.oracle,
       "%", false,
       "two runs (four with a memory axis), then at most two at the model's choice; too slow saves nothing"});
  return findings;
}

} // namespace joule::bench
