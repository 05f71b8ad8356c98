// The syntax of device files, and the checks of their facts.
#include "lib/Energy/DeviceFile.h"

#include "dialects/Device/Quantities.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace joule {

static const char *const kindNames[] = {"spec", "measured", "fit", "estimate"};

const char *nameOf(FactKind kind) { return kindNames[static_cast<int>(kind)]; }

const Fact *DeviceFile::find(const std::string &fact) const {
  for (const auto *facts : {&gpu, &energy})
    if (auto found = facts->find(fact); found != facts->end())
      return &found->second;
  return nullptr;
}

namespace {

/// What a message says; the line is added on the way out.
struct Failure {
  std::string message;
};

class Reader {
public:
  Reader(const std::string &text, const std::string &fileName) : text(text), fileName(fileName) {}

  Result<DeviceFile> read() {
    try {
      readModule();
      return std::move(file);
    } catch (const Failure &failure) {
      return Error{ErrorCode::DeviceFileInvalid, fmt::format("{}:{}: {}", fileName, line(), failure.message),
                   ""};
    }
  }

private:
  size_t line() const { return 1 + std::count(text.begin(), text.begin() + std::min(at, text.size()), '\n'); }

  [[noreturn]] static void fail(std::string message) { throw Failure{std::move(message)}; }

  void skip() {
    for (;; ++at) {
      if (text.compare(at, 2, "//") == 0)
        at = std::min(text.find('\n', at), text.size());
      if (at >= text.size() || !std::isspace(static_cast<unsigned char>(text[at])))
        return;
    }
  }

  bool accept(const std::string &token) {
    skip();
    if (text.compare(at, token.size(), token) != 0)
      return false;
    at += token.size();
    return true;
  }

  void expect(const std::string &token) {
    if (!accept(token))
      fail(fmt::format("'{}' is expected", token));
  }

  std::string word() {
    skip();
    size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    if (begin == at)
      fail("a name is expected");
    return text.substr(begin, at - begin);
  }

  std::string quoted() {
    expect("\"");
    size_t end = text.find('"', at);
    if (end == std::string::npos || text.find('\n', at) < end)
      fail("a text lacks its closing quote");
    std::string inside = text.substr(at, end - at);
    if (inside.find('\\') != std::string::npos)
      fail("a text holds a backslash");
    at = end + 1;
    return inside;
  }

  double number() {
    skip();
    const char *begin = text.c_str() + at;
    char *end = nullptr;
    double value = std::strtod(begin, &end);
    if (end == begin)
      fail("a number is expected");
    std::string digits = text.substr(at, static_cast<size_t>(end - begin));
    // MLIR reads "8" as an integer, which is no number to these attributes.
    if (digits.find('.') == std::string::npos)
      fail(fmt::format("'{}' lacks a decimal point", digits));
    if (!std::isfinite(value))
      fail(fmt::format("'{}' is out of range", digits));
    at += digits.size();
    return value;
  }

  std::vector<double> numbers() {
    expect("[");
    std::vector<double> list;
    do
      list.push_back(number());
    while (accept(","));
    expect("]");
    return list;
  }

  void origin(Fact &fact) {
    expect(",");
    fact.unit = quoted();
    expect(",");
    std::string kind = word();
    auto found = std::find(std::begin(kindNames), std::end(kindNames), kind);
    if (found == std::end(kindNames))
      fail(fmt::format("a number is spec, measured, fit or estimate, not '{}'", kind));
    fact.kind = static_cast<FactKind>(found - std::begin(kindNames));
    expect(",");
    expect("within");
    fact.uncertainty = number();
    expect(",");
    fact.source = quoted();
    expect(">");
    if (!(fact.uncertainty >= 0 && fact.uncertainty <= 2))
      fail(fmt::format("an uncertainty is a share between 0 and 2, not {}", fact.uncertainty));
    if (fact.source.empty())
      fail("a number without a source");
  }

  Fact fact() {
    Fact fact;
    if (accept("#device.curve")) {
      expect("<");
      fact.clocks = numbers();
      expect(",");
      fact.values = numbers();
      if (fact.clocks.size() != fact.values.size())
        fail(fmt::format("a curve with {} clocks and {} values", fact.clocks.size(), fact.values.size()));
      if (!std::is_sorted(fact.clocks.begin(), fact.clocks.end(), std::less_equal<double>()))
        fail("a curve whose clocks do not rise");
    } else {
      expect("#device.fact");
      expect("<");
      fact.values = {number()};
    }
    origin(fact);
    return fact;
  }

  static void check(const device::Quantity &quantity, const Fact &fact) {
    if (fact.clocks.empty() == quantity.isCurve)
      fail(fmt::format("{} is no #device.{}", quantity.name, quantity.isCurve ? "curve" : "fact"));
    if (fact.unit != quantity.unit)
      fail(fmt::format("{} is given in '{}', not in '{}'", quantity.name, fact.unit, quantity.unit));
    for (double value : fact.values)
      if (!(value >= quantity.lowest && value <= quantity.highest))
        fail(fmt::format("{} is {} {}, outside {} to {}", quantity.name, value, fact.unit, quantity.lowest,
                         quantity.highest));
    if (device::mustRise(quantity) && !std::is_sorted(fact.values.begin(), fact.values.end()))
      fail(fmt::format("{} falls where the clock rises", quantity.name));
  }

  template <size_t count>
  std::map<std::string, Fact> facts(const device::Quantity (&table)[count], std::string &name) {
    std::map<std::string, Fact> facts;
    expect("<");
    name = quoted();
    expect(",");
    expect("{");
    do {
      std::string key = word();
      const device::Quantity *quantity = device::findQuantity(table, key);
      if (!quantity)
        fail(fmt::format("no quantity is called '{}'", key));
      expect("=");
      Fact next = fact();
      check(*quantity, next);
      if (!facts.emplace(key, next).second)
        fail(fmt::format("{} is given twice", key));
    } while (accept(","));
    expect("}");
    expect(">");
    for (const device::Quantity &quantity : table)
      if (quantity.isRequired && !facts.count(std::string(quantity.name)))
        fail(fmt::format("a device without {}", quantity.name));
    return facts;
  }

  void readModule() {
    if (text.compare(0, 3, "// ") == 0)
      file.comment = text.substr(3, text.find('\n') - 3);
    expect("module");
    expect("attributes");
    expect("{");
    expect("device.gpu");
    expect("=");
    expect("#device.gpu");
    file.gpu = facts(device::gpuQuantities, file.name);
    expect(",");
    expect("device.energy");
    expect("=");
    expect("#device.energy");
    std::string name;
    file.energy = facts(device::energyQuantities, name);
    if (name != file.name)
      fail(fmt::format("the energies of '{}' stand beside the limits of '{}'", name, file.name));
    for (const device::Order &order : device::gpuOrders) {
      const Fact *lower = file.find(std::string(order.lower)), *upper = file.find(std::string(order.upper));
      if (lower && upper && lower->values[0] > upper->values[0])
        fail(std::string(order.message));
    }
    for (const char *clock : {"reference_clock", "knee_clock"})
      if (double value = file.energy[clock].values[0];
          value < file.gpu["lowest_clock"].values[0] || value > file.gpu["highest_clock"].values[0])
        fail(fmt::format("{} is {} MHz, which the device does not run at", clock, value));
    expect("}");
    expect("{");
    expect("}");
    skip();
    if (at != text.size())
      fail("something follows the module");
  }

  const std::string &text;
  const std::string &fileName;
  size_t at = 0;
  DeviceFile file;
};

} // namespace

Result<DeviceFile> readDeviceFile(const std::string &text, const std::string &fileName) {
  return Reader(text, fileName).read();
}

//===- Writing
//-------------------------------------------------------------------------------------------------------

// The shortest digits that read back as the same number, always with a point.
static std::string print(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('.') != std::string::npos)
    return text;
  size_t exponent = text.find('e');
  return exponent == std::string::npos ? text + ".0" : text.insert(exponent, ".0");
}

static std::string print(const std::vector<double> &values) {
  std::string text;
  for (double value : values)
    text += (text.empty() ? "" : ", ") + print(value);
  return "[" + text + "]";
}

static std::string print(const Fact &fact) {
  std::string values = fact.clocks.empty() ? print(fact.values.at(0))
                                           : fmt::format("{}, {}", print(fact.clocks), print(fact.values));
  return fmt::format("#device.{}<{}, \"{}\", {}, within {}, \"{}\">", fact.clocks.empty() ? "fact" : "curve",
                     values, fact.unit, nameOf(fact.kind), print(fact.uncertainty), fact.source);
}

// In the order of the table, which is the one a reader looks for.
template <size_t count>
static std::string print(const std::map<std::string, Fact> &facts, const device::Quantity (&table)[count]) {
  std::string text;
  for (const device::Quantity &quantity : table)
    if (auto found = facts.find(std::string(quantity.name)); found != facts.end())
      text += fmt::format("{}    {} = {}", text.empty() ? "" : ",\n", quantity.name, print(found->second));
  return text;
}

std::string DeviceFile::toString() const {
  return fmt::format("// {}\nmodule attributes {{\n  device.gpu = #device.gpu<\"{}\", {{\n{}\n  }}>,\n"
                     "  device.energy = #device.energy<\"{}\", {{\n{}\n  }}>\n}} {{\n}}\n",
                     comment, name, print(gpu, device::gpuQuantities), name,
                     print(energy, device::energyQuantities));
}

//===- Slices
//--------------------------------------------------------------------------------------------------------

Result<DeviceFile> sliceOf(const DeviceFile &whole, int slices, int of) {
  if (slices < 1 || slices > of)
    return Error{ErrorCode::DeviceFileInvalid, fmt::format("a slice of {} of {} parts", slices, of), ""};
  DeviceFile slice = whole;
  slice.name = fmt::format("{}-{}of{}", whole.name, slices, of);
  double share = static_cast<double>(slices) / of;
  for (const char *name :
       {"multiprocessors", "power_cap", "lowest_power_cap", "memory_capacity", "dram_bandwidth_spec",
        "dram_bandwidth", "l2_capacity", "l2_effective", "l2_bandwidth", "shared_bandwidth", "core_rate",
        "fp64_rate", "tf32_rate", "fp16_rate", "fp8_rate", "int8_rate"})
    if (auto found = slice.gpu.find(name); found != slice.gpu.end()) {
      found->second.values[0] *= share;
      found->second.source = fmt::format("{} of {} parts of: {}", slices, of, found->second.source);
    }
  double &multiprocessors = slice.gpu.at("multiprocessors").values[0];
  multiprocessors = std::max(1.0, std::floor(multiprocessors));
  for (const char *name :
       {"rest_power", "memory_power", "multiprocessor_power", "occupancy_power", "idle_power"})
    if (auto found = slice.energy.find(name); found != slice.energy.end())
      for (double &value : found->second.values)
        value *= share;
  return slice;
}

} // namespace joule
