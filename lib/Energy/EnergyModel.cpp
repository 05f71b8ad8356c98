// One table of terms serves the prediction, the fit and the device files.
#include "lib/Energy/EnergyModel.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
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

// The terms that some measurement shows.
std::vector<const Term *> visibleTerms(const std::vector<Measurement> &measurements,
                                       const DeviceEnergy &device) {
  std::vector<const Term *> visible;
  for (const Term &term : terms())
    if (std::any_of(measurements.begin(), measurements.end(),
                    [&](const Measurement &m) { return term.amount(m.work, m.conditions, device) > 0; }))
      visible.push_back(&term);
  return visible;
}

// What the fit's constants do not explain: power at rest, and terms that keep the device's value.
double knownJoules(const Measurement &measurement, const DeviceEnergy &device) {
  return (measurement.conditions.time * device.idle(measurement.conditions.clock)).value();
}

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

double uncertaintyOf(const DeviceEnergy &device) {
  double most = 0;
  for (const auto &[name, fact] : device.file.energy)
    if (fact.kind == FactKind::Fit && name.rfind("per_", 0) == 0)
      most = std::max(most, fact.uncertainty);
  return most > 0 ? most : 0.33;
}

EnergyFit fitEnergy(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                    const FitOptions &options) {
  std::vector<const Term *> visible = visibleTerms(measurements, device);
  Matrix rows;
  std::vector<double> wanted, prior;
  for (const Measurement &measurement : measurements) {
    double energy = measurement.energy.value();
    std::vector<double> &row = rows.emplace_back();
    for (const Term *term : visible)
      row.push_back(term->amount(measurement.work, measurement.conditions, device) / energy);
    wanted.push_back(1 - knownJoules(measurement, device) / energy);
  }
  for (const Term *term : visible)
    prior.push_back(term->get(options.prior));
  std::vector<double> constants = fitNonNegative(rows, wanted, options.pull, prior);
  EnergyFit fit{device.costs, {}};
  for (size_t i = 0; i < visible.size(); ++i) {
    visible[i]->set(fit.costs, constants[i]);
    fit.used.push_back(visible[i]->name);
  }
  return fit;
}

std::vector<Joules> crossValidate(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                                  const FitOptions &options) {
  std::set<std::string> groups;
  for (const Measurement &measurement : measurements)
    groups.insert(measurement.group);
  std::vector<Joules> predicted(measurements.size());
  for (const std::string &group : groups) {
    std::vector<Measurement> others;
    for (const Measurement &measurement : measurements)
      if (measurement.group != group)
        others.push_back(measurement);
    DeviceEnergy fitted = device;
    fitted.costs = fitEnergy(others, device, options).costs;
    for (size_t i = 0; i < measurements.size(); ++i)
      if (measurements[i].group == group)
        predicted[i] = energyOf(measurements[i].work, measurements[i].conditions, fitted).total();
  }
  return predicted;
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
  for (const Term &term : terms()) {
    if (std::find(fit.used.begin(), fit.used.end(), term.name) == fit.used.end())
      continue;
    Fact fact;
    // Four digits are more than any fit decides.
    fact.values = {std::stod(fmt::format("{:.4g}", term.get(fit.costs) / term.unit))};
    fact.unit = term.unitName;
    fact.kind = FactKind::Fit;
    fact.uncertainty = std::clamp(uncertainty, 0.0, 2.0);
    fact.source = source;
    file.energy[term.name] = fact;
  }
  return file;
}

double meanRelativeError(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements) {
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    sum += std::abs(predicted[i] / measurements[i].energy - 1);
  return predicted.empty() ? 0 : sum / static_cast<double>(predicted.size());
}

std::vector<Joules> constantPower(const std::vector<Measurement> &measurements) {
  std::vector<Joules> predicted;
  for (const Measurement &left : measurements) {
    std::vector<Watts> powers;
    for (const Measurement &other : measurements)
      if (other.group != left.group)
        powers.push_back(other.energy / other.conditions.time);
    Watts median;
    if (!powers.empty()) {
      std::nth_element(powers.begin(), powers.begin() + static_cast<long>(powers.size() / 2), powers.end());
      median = powers[powers.size() / 2];
    }
    predicted.push_back(left.conditions.time * median);
  }
  return predicted;
}

} // namespace joule
