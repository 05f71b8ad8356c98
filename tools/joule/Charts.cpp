// Draws with text: a chart is an axis for each direction and what lies between.
#include "tools/joule/Charts.h"

#include "tools/joule/Units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace joule::cli {

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      // Other control characters are none of XML's, not even as numbers.
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  return result;
}

// The plane's corners in the picture; the labels stand around it.
constexpr double left = 96, right = 580, top = 40, bottom = 330;

static std::string begin(const std::string &title) {
  return fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 390\" role=\"img\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>{0}</title>\n"
      "<style>.chart text{{fill:#222}}.chart path{{stroke:#222;fill:none}}.chart .grid{{stroke:#8884}}"
      ".chart circle{{fill:#3572b0;fill-opacity:.7}}.chart .best{{fill:#c0392b}}"
      "@media(prefers-color-scheme:dark){{.chart text{{fill:#eee}}.chart path{{stroke:#eee}}"
      ".chart circle{{fill:#7ab0e8}}.chart .best{{fill:#ff8a7a}}}}</style>\n"
      "<text x=\"{1}\" y=\"24\" font-size=\"14\">{0}</text>\n<path d=\"M{1} {2}V{3}H{4}\"/>\n",
      escaped(title), left, top, bottom, right);
}

static std::string label(double x, double y, const char *anchor, const std::string &text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

static std::string dot(double x, double y, double radius, bool isBest, const std::string &text) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"{}><title>{}</title></circle>\n", x, y, radius,
                     isBest ? " class=\"best\"" : "", escaped(text));
}

std::string frontChart(const std::vector<OperatingPoint> &points, const OperatingPoint &chosen,
                       const std::string &title) {
  auto [quick, slow] = std::minmax_element(points.begin(), points.end(),
                                           [](const auto &a, const auto &b) { return a.time < b.time; });
  auto [cheap, dear] = std::minmax_element(points.begin(), points.end(),
                                           [](const auto &a, const auto &b) { return a.energy < b.energy; });
  auto x = [&, t0 = quick->time, t1 = slow->time](const OperatingPoint &p) {
    return t1 > t0 ? left + 20 + (right - left - 20) * ((p.time - t0) / (t1 - t0)) : left + 20;
  };
  auto y = [&, e0 = cheap->energy, e1 = dear->energy](const OperatingPoint &p) {
    return e1 > e0 ? bottom - 20 - (bottom - top - 20) * ((p.energy - e0) / (e1 - e0)) : bottom - 20;
  };
  std::string svg = begin(title);
  for (const OperatingPoint &point : points) {
    bool isBest = point.clock == chosen.clock && point.cap == chosen.cap;
    std::string cap = point.cap.value() > 0 ? fmt::format(" under {}", withPrefix(point.cap.value(), "W")) : "";
    std::string text = fmt::format("{:.0f} MHz{}: {}, {}", point.clock.value() / 1e6, cap,
                                   withPrefix(point.time.value(), "s"), withPrefix(point.energy.value(), "J"));
    svg += dot(x(point), y(point), isBest ? 6 : 3, isBest, text);
  }
  svg += label(x(*quick), bottom + 20, "start", withPrefix(quick->time.value(), "s"));
  if (slow->time > quick->time)
    svg += label(right, bottom + 20, "end", withPrefix(slow->time.value(), "s"));
  svg += label(left - 6, y(*cheap) + 4, "end", withPrefix(cheap->energy.value(), "J"));
  if (dear->energy > cheap->energy)
    svg += label(left - 6, y(*dear) + 4, "end", withPrefix(dear->energy.value(), "J"));
  return svg + "</svg>\n";
}

namespace {

/// Powers of ten along one direction of the picture.
struct Decades {
  int first, last;
  double begin, end; ///< in the picture

  Decades(double least, double most, double begin, double end)
      : first(static_cast<int>(std::floor(std::log10(least)))), last(static_cast<int>(std::ceil(std::log10(most)))),
        begin(begin), end(end) {
    last = std::max(last, first + 1);
  }
  double at(double value) const { return begin + (end - begin) * (std::log10(value) - first) / (last - first); }
};

/// What an engine reaches at most, over the FLOPs it does per byte.
struct Roof {
  std::string name;
  std::vector<std::pair<double, double>> line;
};

} // namespace

static Roof roofOf(const DeviceEnergy &device, Engine engine, double least, double most) {
  Roof roof{nameOf(engine), {}};
  constexpr int steps = 60;
  for (int i = 0; i <= steps; ++i) {
    WorkCounts work;
    work.flopsOf(engine) = Flops(1e15);
    double intensity = least * std::pow(most / least, double(i) / steps);
    work.dramBytes = Bytes(1e15 / intensity);
    roof.line.emplace_back(intensity, 1e15 / predict(work, device).energy.value());
  }
  return roof;
}

static std::string drawRoof(const Roof &roof, const Decades &x, const Decades &y) {
  std::string path;
  for (const auto &[intensity, rate] : roof.line)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(intensity), y.at(rate));
  return fmt::format("<path d=\"{}\"/>\n", path) +
         label(right, y.at(roof.line.back().second) - 5, "end", roof.name);
}

static std::string drawGrid(const Decades &x, const Decades &y) {
  std::string svg;
  int every = std::max(1, (x.last - x.first) / 6);
  for (int power = x.first; power <= x.last; power += every) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>\n", x.at(std::pow(10, power)), top, bottom);
    svg += label(x.at(std::pow(10, power)), bottom + 18, "middle", fmt::format("{:g}", std::pow(10, power)));
  }
  for (int power = y.first; power <= y.last; ++power) {
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>\n", left, y.at(std::pow(10, power)), right);
    svg += label(left - 6, y.at(std::pow(10, power)) + 4, "end", withPrefix(std::pow(10, power), "FLOPS/W"));
  }
  return svg + label((left + right) / 2, bottom + 40, "middle", "FLOPs per byte of DRAM traffic");
}

std::string rooflineChart(const DeviceEnergy &device, const std::vector<Engine> &engines,
                          const std::vector<RooflinePoint> &points) {
  double least = 0.1, most = 1000;
  for (const RooflinePoint &point : points) {
    least = std::min(least, point.flopsPerByte);
    most = std::max(most, point.flopsPerByte);
  }
  Decades x(least, most, left, right);
  std::vector<Roof> roofs;
  for (Engine engine : engines)
    roofs.push_back(roofOf(device, engine, std::pow(10, x.first), std::pow(10, x.last)));
  double lowest = INFINITY, highest = 0;
  auto include = [&](double rate) {
    lowest = std::min(lowest, rate);
    highest = std::max(highest, rate);
  };
  for (const Roof &roof : roofs)
    for (const auto &[intensity, rate] : roof.line)
      include(rate);
  for (const RooflinePoint &point : points)
    include(point.flopsPerJoule);
  Decades y(lowest, highest, bottom, top);
  std::string svg = begin(fmt::format("Energy roofline of {} (modelled)", device.name)) + drawGrid(x, y);
  for (const Roof &roof : roofs)
    svg += drawRoof(roof, x, y);
  for (const RooflinePoint &point : points)
    svg += dot(x.at(point.flopsPerByte), y.at(point.flopsPerJoule), 3 + 12 * std::sqrt(point.share), false,
               fmt::format("{}: {}, {:.3g} FLOPs/B, {:.1f} % of the joules", point.name,
                           withPrefix(point.flopsPerJoule, "FLOPS/W"), point.flopsPerByte, 100 * point.share));
  return svg + "</svg>\n";
}

} // namespace joule::cli
