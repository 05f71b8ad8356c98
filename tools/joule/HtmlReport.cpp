// A page without scripts and without anything fetched: text, tables and the charts of Charts.h.
#include "tools/joule/HtmlReport.h"

#include "tools/joule/Charts.h"
#include "tools/joule/PlanCost.h"
#include "tools/joule/Units.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

static const char *const head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<style>
:root{--ink:#222;--paper:#fff;--line:#ddd;--soft:#666}
@media(prefers-color-scheme:dark){:root{--ink:#eee;--paper:#16181c;--line:#3a3d44;--soft:#aaa}}
body{font:15px/1.5 sans-serif;color:var(--ink);background:var(--paper);max-width:1100px;margin:2em auto;padding:0 1em}
.charts{display:flex;flex-wrap:wrap;gap:1em}.chart{flex:1 1 420px;min-width:0;width:100%}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
td,th{padding:.2em .6em;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
.text{text-align:left;white-space:normal;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.bar{display:flex;height:1.2em;min-width:8em}.bar span{display:block}
.key{display:inline-block;width:.9em;height:.9em;margin-right:.4em;vertical-align:middle}
.c0{background:#7f8c8d}.c1{background:#b07aa1}.c2{background:#e15759}.c3{background:#f28e2b}.c4{background:#76b7b2}
.c5{background:#4e79a7}.c6{background:#59a14f}.c7{background:#9c755f}
</style>
)";

namespace {

struct PricedLaunch {
  const LaunchWork *launch;
  size_t place; ///< in the run's order, from 1
  Prediction cost;
};

} // namespace

static std::vector<PricedLaunch> priceAll(const TargetReport &report) {
  std::vector<PricedLaunch> priced;
  for (size_t i = 0; i < report.launches.size(); ++i)
    if (report.launches[i].work)
      priced.push_back({&report.launches[i], i + 1, joule::predict(*report.launches[i].work, *report.device)});
  std::sort(priced.begin(), priced.end(), [](const PricedLaunch &a, const PricedLaunch &b) {
    return a.cost.energy > b.cost.energy || (a.cost.energy == b.cost.energy && a.place < b.place);
  });
  return priced;
}

static std::string nodesOf(const LaunchWork &launch) {
  return escaped(fmt::format("{}", fmt::join(launch.launch->nodes(), ", ")));
}

static std::string causeBar(const EnergyParts &parts) {
  std::string bar = "<div class=\"bar\">";
  for (size_t i = 0; i < energyCauses().size(); ++i) {
    const EnergyCause &cause = energyCauses()[i];
    double share = parts.total().value() > 0 ? (parts.*cause.part) / parts.total() : 0;
    if (share > 0)
      bar += fmt::format("<span class=\"c{}\" style=\"width:{:.2f}%\" title=\"{}: {:.1f} %\"></span>", i, 100 * share,
                         escaped(cause.name), 100 * share);
  }
  return bar + "</div>";
}

static std::string causeTable(const Prediction &total) {
  std::string html = "<h3>Joules by cause</h3>\n" + causeBar(total.parts) + "\n<div class=\"scroll\"><table>\n";
  for (size_t i = 0; i < energyCauses().size(); ++i) {
    const EnergyCause &cause = energyCauses()[i];
    Joules part = total.parts.*cause.part;
    html += fmt::format("<tr><td class=\"text\"><span class=\"key c{}\"></span>{}</td><td>{}</td><td>{:.1f} %</td></tr>\n", i,
                        escaped(cause.name), withPrefix(part.value(), "J"), 100 * (part / total.energy));
  }
  return html + fmt::format("<tr><th class=\"text\">all</th><th>{}</th><th>100 %</th></tr>\n</table></div>\n",
                            withPrefix(total.energy.value(), "J"));
}

static std::string launchTable(const std::vector<PricedLaunch> &launches, const Prediction &total) {
  std::string html = "<h3>Launches, the dearest first</h3>\n<div class=\"scroll\"><table>\n<tr><th>#</th>"
                     "<th class=\"text\">ONNX nodes</th><th class=\"text\">kernel</th><th>work</th><th>bytes</th>"
                     "<th>time</th><th>energy</th><th>share</th><th class=\"text\">bound by</th><th>causes</th></tr>\n";
  for (const PricedLaunch &row : launches)
    html += fmt::format(
        "<tr><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{} <span class=\"soft\">{}</span></td><td>{}</td>"
        "<td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td><td class=\"text\">{}</td><td>{}</td></tr>\n",
        row.place, nodesOf(*row.launch), escaped(row.launch->kernel->name()),
        escaped(row.launch->launch->cost().family()), withPrefix(row.launch->work->totalFlops().value(), "flop"),
        withPrefix(row.launch->work->dramBytes.value(), "B"), withPrefix(row.cost.time.value(), "s"),
        withPrefix(row.cost.energy.value(), "J"), 100 * (row.cost.energy / total.energy), nameOf(row.cost.bound),
        causeBar(row.cost.parts));
  return html + "</table></div>\n";
}

static std::string roofline(const std::vector<PricedLaunch> &launches, const DeviceEnergy &device,
                            const Prediction &total) {
  std::vector<Engine> engines = {Engine::Cores};
  std::vector<RooflinePoint> points;
  for (const PricedLaunch &row : launches) {
    const WorkCounts &work = *row.launch->work;
    double flops = work.totalFlops().value(), bytes = work.dramBytes.value();
    if (flops > 0 && bytes > 0)
      points.push_back({row.launch->kernel->name(), flops / bytes, flops / row.cost.energy.value(),
                        row.cost.energy / total.energy});
    for (int i = 0; i < engineCount; ++i)
      if (auto engine = static_cast<Engine>(i); work.flops[i].value() > 0 && device.engine(engine).peak.value() > 0 &&
                                                std::count(engines.begin(), engines.end(), engine) == 0)
        engines.push_back(engine);
  }
  return rooflineChart(device, engines, points);
}

static std::string front(const std::vector<PricedLaunch> &launches, const DeviceEnergy &device) {
  std::vector<WorkCounts> work;
  for (const PricedLaunch &row : launches)
    work.push_back(*row.launch->work);
  std::vector<OperatingPoint> points = operatingPoints(work, device);
  std::vector<OperatingPoint> capped = pointsUnderCaps(work, device);
  points.insert(points.end(), capped.begin(), capped.end());
  constexpr double slowdown = 0.05;
  return frontChart(paretoFront(points), choose(points, Objective::Energy, slowdown),
                    fmt::format("Time and energy by clock and power cap; least energy at most {:.0f} % slower", 100 * slowdown));
}

static std::string summary(const TargetReport &report) {
  Json cost = describeCost(report.launches, *report.device);
  return fmt::format(
      "<p><strong>{} and {} ± {:.0f} %</strong> an inference ({}) on {}: {}, {}, {:.2f} times the least possible.<br>"
      "<span class=\"soft\">Assumed: {:.0f} MHz, power cap {}, {} operands.</span></p>\n",
      withPrefix(cost["seconds"], "s"), withPrefix(cost["joules"], "J"), 100 * cost["plusMinus"].get<double>(),
      cost["source"].get<std::string>(), escaped(report.device->name), withPrefix(cost["watts"], "W"),
      withPrefix(cost["flopsPerJoule"], "FLOPS/W"), cost["timesTheFloor"].get<double>(),
      cost["clockMHz"].get<double>(), withPrefix(cost["powerCapWatts"], "W"), cost["operands"].get<std::string>());
}

static std::string section(const TargetReport &report) {
  std::string html =
      fmt::format("<h2>{}: {} launch{}</h2>\n", escaped(report.target), report.launches.size(),
                  report.launches.size() == 1 ? "" : "es");
  if (!report.device)
    return html + "<p>No device file describes a GPU of this target: nothing is modelled.</p>\n";
  std::vector<PricedLaunch> launches = priceAll(report);
  if (size_t unknown = report.launches.size() - launches.size())
    html += fmt::format("<p>{} of them depend on values that only a run knows and are left out.</p>\n", unknown);
  Prediction total = predict(report.launches, *report.device);
  if (total.energy.value() <= 0)
    return html + "<p>Nothing is known to be launched.</p>\n";
  return html + summary(report) + "<div class=\"charts\">\n" + roofline(launches, *report.device, total) +
         front(launches, *report.device) + "</div>\n" + causeTable(total) + launchTable(launches, total);
}

std::string htmlReport(const std::string &model, const std::vector<TargetReport> &reports) {
  std::string html =
      head + fmt::format("<title>{0} - Joule</title>\n</head>\n<body>\n<h1>{0}</h1>\n", escaped(model));
  for (const TargetReport &report : reports)
    html += section(report);
  return html + "</body>\n</html>\n";
}

} // namespace joule::cli
