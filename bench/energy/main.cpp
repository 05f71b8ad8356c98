// Prints how far the model of time and energy is from published measurements, beside what it should reach.
//
//   bench-energy --data DIR
//
// DIR holds the folders energy-data and codegen-data.
#include "bench/energy/Figures.h"

#include <fmt/format.h>
#include <functional>
#include <string>

using namespace joule::bench;

static void print(const Figure &figure) {
  const char *verdict = figure.meets(figure.aim) ? "aim" : figure.meets(figure.must) ? "must" : "MISSED";
  auto bound = [&](double value) {
    return fmt::format("{} {:.4g}", figure.isLowerBetter ? "<=" : ">=", value);
  };
  fmt::print("{:<58} {:>16} {:>9} {:>9} {:>8.2f} {:<2} {:<7} {}\n", figure.what, figure.known,
             bound(figure.must), bound(figure.aim), figure.ours, figure.unit, verdict, figure.split);
}

static int measure(const std::string &data) {
  const std::function<Findings()> suites[] = {[&] { return measureNetworks(data + "/energy-data"); },
                                              [&] { return measureCounters(data + "/energy-data"); },
                                              [&] { return measureClocks(data + "/energy-data"); },
                                              [&] { return measureKernels(data + "/codegen-data"); }};
  std::vector<std::string> notes;
  fmt::print("{:<58} {:>16} {:>9} {:>9} {:>8} {:<2} {:<7} {}\n", "figure", "best known", "must", "aim",
             "ours", "", "meets", "not seen by the fit");
  for (const auto &suite : suites) {
    Findings findings = suite();
    for (const Figure &figure : findings.figures)
      print(figure);
    std::fflush(stdout);
    notes.insert(notes.end(), findings.notes.begin(), findings.notes.end());
  }
  fmt::print("\nwhere the error sits:\n");
  for (const std::string &note : notes)
    fmt::print("  {}\n", note);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3 || std::string(argv[1]) != "--data") {
    fmt::print(stderr,
               "usage: bench-energy --data DIR\nDIR holds the folders energy-data and codegen-data.\n");
    return 2;
  }
  return measure(argv[2]);
}
