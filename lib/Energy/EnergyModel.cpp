// One table of terms serves the prediction, the fit and the device files.
#include "lib/Energy/EnergyModel.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace joule {

namespace {

/// One constant of the model.
struct Term {
  std::string name; ///< in a device file
  double unit;      ///< what 1 means there, in joules or watts
  std::string unitName;
  std::function<double(const EnergyCosts &)> get;
  std::function<void(EnergyCosts &, double)> set;
  /// What the constant is multiplied by.
  std::function<double(const WorkCounts &, const Conditions &, const DeviceEnergy &)> amount;
  Joules EnergyParts::*part;
};

/// Makes a term of an accessor to a quantity of EnergyCosts.
template <typename Access, typename Amount>
Term makeTerm(std::string name, double unit, std::string unitName, Joules EnergyParts::*part, Access access,
              Amount amount) {
  using Quantity = std::decay_t<decltype(access(std::declval<EnergyCosts &>()))>;
  auto get = [access](const EnergyCosts &costs) { return access(const_cast<EnergyCosts &>(costs)).value(); };
  auto set = [access](EnergyCosts &costs, double value) { access(costs) = Quantity(value); };
  return {std::move(name), unit, std::move(unitName), get, set, amount, part};
}

// A dynamic energy's factor: voltage and operands.
double onChip(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
  return device.dynamicFactor(conditions.clock) * work.toggle;
}

// Time at work, times the clock and the square of the voltage.
double busyTime(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
  double clock = conditions.clock / device.referenceClock;
  return conditions.time.value() * activeShareOf(work, device) * clock * device.dynamicFactor(conditions.clock);
}

void addPowers(std::vector<Term> &terms) {
  using W = const WorkCounts &;
  using C = const Conditions &;
  using D = const DeviceEnergy &;
  terms.push_back(makeTerm(
      "rest_power", 1, "W", &EnergyParts::atRest, [](EnergyCosts &c) -> Watts & { return c.rest; },
      [](W, C conditions, D device) {
        return conditions.time.value() * std::pow(device.dynamicFactor(conditions.clock), 0.9);
      }));
  terms.push_back(makeTerm(
      "memory_power", 1, "W", &EnergyParts::atRest, [](EnergyCosts &c) -> Watts & { return c.memory; },
      [](W, C conditions, D) { return conditions.time.value() * conditions.memoryClockShare; }));
  terms.push_back(makeTerm(
      "multiprocessor_power", 1, "W", &EnergyParts::multiprocessors,
      [](EnergyCosts &c) -> Watts & { return c.multiprocessors; }, busyTime));
  terms.push_back(makeTerm(
      "occupancy_power", 1, "W", &EnergyParts::multiprocessors,
      [](EnergyCosts &c) -> Watts & { return c.occupancy; },
      [](W work, C conditions, D device) { return work.occupancy * busyTime(work, conditions, device); }));
}

void addArithmetic(std::vector<Term> &terms) {
  for (int i = 0; i < engineCount; ++i)
    terms.push_back(makeTerm(
        fmt::format("per_{}_flop", nameOf(static_cast<Engine>(i))), 1e-12, "pJ/flop",
        i == 0 ? &EnergyParts::cores : &EnergyParts::matrix,
        [i](EnergyCosts &c) -> JoulesPerFlop & { return c.flop[i]; },
        [i](const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
          return work.flops[i].value() * onChip(work, conditions, device);
        }));
  const char *const classes[instructionClassCount] = {"fp32_", "fp64_", "integer_", "special_", ""};
  for (int i = 0; i < instructionClassCount; ++i)
    terms.push_back(makeTerm(
        fmt::format("per_{}instruction", classes[i]), 1e-12, "pJ", &EnergyParts::cores,
        [i](EnergyCosts &c) -> Joules & { return c.instruction[i]; },
        [i](const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
          return work.instructions[i] * onChip(work, conditions, device);
        }));
}

// What DRAM gives passes through L2, counted or not.
Bytes bytesThrough(MemoryLevel level, const WorkCounts &work) {
  Bytes counted = work.bytesOf(level);
  return level == MemoryLevel::L2 ? std::max(counted, work.dramBytes) : counted;
}

void addMemory(std::vector<Term> &terms) {
  const char *const names[memoryLevelCount] = {"per_dram_byte", "per_l2_byte", "per_l1_byte",
                                               "per_shared_byte"};
  Joules EnergyParts::*const parts[memoryLevelCount] = {&EnergyParts::dram, &EnergyParts::l2,
                                                        &EnergyParts::shared, &EnergyParts::shared};
  for (int i = 0; i < memoryLevelCount; ++i)
    terms.push_back(makeTerm(
        names[i], 1e-12, "pJ/B", parts[i], [i](EnergyCosts &c) -> JoulesPerByte & { return c.byte[i]; },
        [i](const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
          MemoryLevel level = static_cast<MemoryLevel>(i);
          double factor = level == MemoryLevel::Dram ? work.toggle : onChip(work, conditions, device);
          return bytesThrough(level, work).value() * factor;
        }));
}

const std::vector<Term> &terms() {
  static const std::vector<Term> terms = [] {
    std::vector<Term> terms;
    addPowers(terms);
    addArithmetic(terms);
    addMemory(terms);
    return terms;
  }();
  return terms;
}

/// A fit's rows over all terms: shares of each measurement's energy, and the share that they are to explain.
struct Equations {
  Matrix rows;
  std::vector<double> wanted;

  Equations(const std::vector<Measurement> &measurements, const DeviceEnergy &device) {
    for (const Measurement &measurement : measurements) {
      const Conditions &conditions = measurement.conditions;
      std::vector<double> &row = rows.emplace_back();
      for (const Term &term : terms())
        row.push_back(term.amount(measurement.work, conditions, device) / measurement.energy.value());
      wanted.push_back(1 - conditions.time * device.idle(conditions.clock) / measurement.energy);
    }
  }

  void addTo(NormalEquations &sums, size_t row) const { sums.add(rows[row], wanted[row]); }
};

// Terms that no row shows keep the device's value.
EnergyFit solve(const NormalEquations &sums, const DeviceEnergy &device, const FitOptions &options) {
  std::vector<double> prior;
  for (const Term &term : terms())
    prior.push_back(term.get(options.prior));
  std::vector<double> constants = sums.solve(options.pull, prior);
  EnergyFit fit{device.costs, {}};
  for (size_t i = 0; i < terms().size(); ++i)
    if (sums.shows(i)) {
      terms()[i].set(fit.costs, constants[i]);
      fit.used.push_back(terms()[i].name);
    }
  return fit;
}

/// Fits without each group in turn. Half of the groups see the rows of the other half once, and so on down,
/// so that as many groups as rows cost no more than the logarithm of their number.
class LeaveOneOut {
public:
  LeaveOneOut(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
              const FitOptions &options)
      : measurements(measurements), device(device), options(options), equations(measurements, device),
        predicted(measurements.size()) {
    std::map<std::string, std::vector<size_t>> byName;
    for (size_t i = 0; i < measurements.size(); ++i)
      byName[measurements[i].group].push_back(i);
    for (auto &[name, rows] : byName)
      groups.push_back(std::move(rows));
  }

  std::vector<Joules> run() {
    predict(0, groups.size(), NormalEquations(terms().size()));
    return std::move(predicted);
  }

private:
  // Predicts the groups from `begin` to `end`; `others` has the rows of all others.
  void predict(size_t begin, size_t end, const NormalEquations &others) {
    if (begin == end)
      return;
    if (end - begin == 1)
      return predict(groups[begin], others);
    size_t middle = begin + (end - begin) / 2;
    predict(begin, middle, with(others, middle, end));
    predict(middle, end, with(others, begin, middle));
  }

  NormalEquations with(NormalEquations sums, size_t begin, size_t end) const {
    for (size_t group = begin; group < end; ++group)
      for (size_t row : groups[group])
        equations.addTo(sums, row);
    return sums;
  }

  void predict(const std::vector<size_t> &group, const NormalEquations &others) {
    DeviceEnergy &fitted = device;
    EnergyCosts own = device.costs;
    fitted.costs = solve(others, device, options).costs;
    for (size_t i : group)
      predicted[i] = energyOf(measurements[i].work, measurements[i].conditions, fitted).total();
    device.costs = own;
  }

  const std::vector<Measurement> &measurements;
  DeviceEnergy device;
  const FitOptions &options;
  Equations equations;
  std::vector<std::vector<size_t>> groups;
  std::vector<Joules> predicted;
};

} // namespace

EnergyParts energyOf(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
  EnergyParts parts;
  parts.atRest = conditions.time * device.idle(conditions.clock);
  for (const Term &term : terms())
    if (double cost = term.get(device.costs))
      parts.*term.part += Joules(cost * term.amount(work, conditions, device));
  return parts;
}

const std::vector<EnergyCause> &energyCauses() {
  static const std::vector<EnergyCause> causes = {{"at rest", &EnergyParts::atRest},
                                                  {"launches", &EnergyParts::launches},
                                                  {"multiprocessors", &EnergyParts::multiprocessors},
                                                  {"matrix units", &EnergyParts::matrix},
                                                  {"cores", &EnergyParts::cores},
                                                  {"shared", &EnergyParts::shared},
                                                  {"L2", &EnergyParts::l2},
                                                  {"DRAM", &EnergyParts::dram}};
  return causes;
}

EnergyParts &EnergyParts::operator+=(const EnergyParts &other) {
  for (const EnergyCause &cause : energyCauses())
    this->*cause.part += other.*cause.part;
  return *this;
}

// What predictions of a device are off by where nobody has compared them with measurements: kernels of the
// V100 differ by up to 26 % from a fit to microbenchmarks.
constexpr double unchecked = 0.33;

double uncertaintyOf(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device) {
  const Fact *checked = device.file.find("prediction_error");
  double least = checked ? checked->values[0] : unchecked;
  double total = (conditions.time * device.idle(conditions.clock)).value(), off = least * total;
  for (const Term &term : terms()) {
    double joules = term.get(device.costs) * term.amount(work, conditions, device);
    const Fact *fact = device.file.find(term.name);
    // Estimates are for work that no comparison had. Constants of one source err alike: their parts add up.
    bool isEstimate = fact && fact->kind == FactKind::Estimate;
    off += joules * (isEstimate ? std::max(least, fact->uncertainty) : least);
    total += joules;
  }
  return total > 0 ? off / total : least;
}

double coverOf(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements) {
  std::vector<double> errors;
  double squares = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    errors.push_back(std::abs(measurements[i].energy / predicted[i] - 1));
    squares += errors.back() * errors.back();
  }
  std::sort(errors.begin(), errors.end());
  std::set<std::string> groups;
  for (const Measurement &measurement : measurements)
    groups.insert(measurement.group);
  size_t rank = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(errors.size() + 1)));
  // Few rows say little of their tail: no less than two standard deviations. The worst of few groups is less
  // than the worst of all.
  double deviations = 2 * std::sqrt(squares / static_cast<double>(errors.size()));
  return std::max(errors[std::min(rank, errors.size()) - 1], deviations) *
         (1 + 1 / static_cast<double>(groups.size()));
}

EnergyFit fitEnergy(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                    const FitOptions &options) {
  Equations equations(measurements, device);
  NormalEquations sums(terms().size());
  for (size_t i = 0; i < measurements.size(); ++i)
    equations.addTo(sums, i);
  return solve(sums, device, options);
}

std::vector<Joules> crossValidate(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                                  const FitOptions &options) {
  return LeaveOneOut(measurements, device, options).run();
}

static double errorOfFit(const std::vector<Measurement> &measurements, DeviceEnergy device,
                         const FitOptions &options) {
  device.costs = fitEnergy(measurements, device, options).costs;
  std::vector<Joules> predicted;
  for (const Measurement &measurement : measurements)
    predicted.push_back(energyOf(measurement.work, measurement.conditions, device).total());
  return meanRelativeError(predicted, measurements);
}

DeviceEnergy withFittedVoltage(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                               const FitOptions &options) {
  DeviceEnergy best = device;
  double least = errorOfFit(measurements, device, options);
  double lowest = device.coreVoltage.values.front().value();
  // Knees of known GPUs lie at 0.57 to 0.80 of the highest clock, ratios at 1.1 to 1.3.
  for (double knee = 0.5; knee < 0.92; knee += 0.05)
    for (double ratio = 1; ratio < 1.42; ratio += 0.05) {
      DeviceEnergy trial = device;
      trial.kneeClock = megahertz(std::round(knee * device.highestClock.value() / 1e6));
      trial.coreVoltage = {{trial.kneeClock, device.highestClock}, {Volts(lowest), Volts(lowest * ratio)}};
      double error = errorOfFit(measurements, trial, options);
      if (error < least)
        best = trial, least = error;
    }
  return best;
}

DeviceFile withCosts(DeviceFile file, const EnergyFit &fit, const std::string &source, double uncertainty) {
  uncertainty = std::clamp(uncertainty, 0.001, 2.0);
  // Four digits are more than any fit decides.
  auto fact = [&](double value, const std::string &unit) {
    return Fact{{}, {std::stod(fmt::format("{:.4g}", value))}, unit, FactKind::Fit, uncertainty, source};
  };
  for (const Term &term : terms())
    if (std::find(fit.used.begin(), fit.used.end(), term.name) != fit.used.end())
      file.energy[term.name] = fact(term.get(fit.costs) / term.unit, term.unitName);
  file.energy["prediction_error"] = fact(uncertainty, "");
  return file;
}

double meanRelativeError(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements) {
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    sum += std::abs(predicted[i] / measurements[i].energy - 1);
  return predicted.empty() ? 0 : sum / static_cast<double>(predicted.size());
}

std::vector<Joules> constantPower(const std::vector<Measurement> &measurements) {
  std::vector<size_t> order(measurements.size());
  std::iota(order.begin(), order.end(), 0);
  auto powerOf = [&](size_t i) { return measurements[i].energy / measurements[i].conditions.time; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return powerOf(a) < powerOf(b); });
  std::map<std::string, std::vector<size_t>> places; // of each group's rows in the order
  for (size_t place = 0; place < order.size(); ++place)
    places[measurements[order[place]].group].push_back(place);
  std::vector<Joules> predicted(measurements.size());
  for (const auto &[group, own] : places) {
    size_t others = order.size() - own.size(), median = others / 2;
    for (size_t place : own)
      median += place <= median;
    for (size_t place : own) {
      Watts power = others > 0 ? powerOf(order[median]) : Watts(0);
      predicted[order[place]] = measurements[order[place]].conditions.time * power;
    }
  }
  return predicted;
}

} // namespace joule
