// joule-ptx: runs a kernel of a PTX file on the virtual GPU, or says what a file holds that it does not know.
#include "lib/VirtualGpu/Devices.h"
#include "lib/VirtualGpu/Launch.h"
#include "lib/VirtualGpu/Settings.h"
#include "tools/joule-ptx/Arguments.h"
#include "tools/joule-ptx/Disassembly.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace joule::vgpu;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UsageError("cannot read '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct RunOptions {
  std::string file, kernel;
  std::vector<uint32_t> grid{1}, block{1};
  uint32_t shared = 0;
  std::vector<std::string> arguments;
  bool count = false, json = false, time = false, exact = false, check = false;
  bool timesOnly = false; // of joule-ptx time
  bool countsOnly = false; // of joule-ptx count
  unsigned threads = 0, repeat = 1;
  double timeLimit = 0;
  unsigned show = 64;
};

void setShape(const std::vector<uint32_t> &from, uint32_t *to) {
  for (size_t i = 0; i < from.size() && i < 3; ++i)
    to[i] = from[i];
}

/// Buffers get device memory; the parameters are packed as the kernel declares them.
std::vector<uint64_t> packArguments(const std::vector<Argument> &arguments, const Program &kernel,
                                    MemoryMap &memory, LaunchRequest &request) {
  if (arguments.size() != kernel.kernelParameters.size())
    throw UsageError("the kernel takes " + std::to_string(kernel.kernelParameters.size()) + " arguments, " +
                     std::to_string(arguments.size()) + " were given");
  request.parameters.resize(kernel.kernelParameterBytes);
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &a = arguments[i];
    uint64_t address = a.buffer ? memory.allocate(std::max<size_t>(1, a.bytes.size())) : 0;
    if (a.buffer)
      memcpy(reinterpret_cast<void *>(address), a.bytes.data(), a.bytes.size());
    if (a.buffer)
      memory.hostWrote(address, a.bytes.size());
    addresses.push_back(address);
    const void *from = a.buffer ? static_cast<const void *>(&address) : a.bytes.data();
    size_t size = a.buffer ? sizeof address : a.bytes.size();
    if (size != kernel.kernelParameterSizes[i])
      throw UsageError("argument " + std::to_string(i + 1) + " has " + std::to_string(size) +
                       " bytes, the kernel wants " + std::to_string(kernel.kernelParameterSizes[i]));
    memcpy(request.parameters.data() + kernel.kernelParameters[i], from, size);
  }
  return addresses;
}

void printOutput(size_t index, const Argument &a, unsigned show) {
  unsigned size = elementSize(a.type);
  size_t count = a.bytes.size() / size, shown = std::min<size_t>(count, show);
  printf("argument %zu (%s):", index + 1, a.type.c_str());
  for (size_t i = 0; i < shown; ++i)
    printf(" %s", formatElement(a.type, a.bytes.data() + i * size).c_str());
  printf(shown < count ? " ... (%zu elements)\n" : "\n", count);
}

const std::pair<const char *, uint64_t MemoryCount::*> memoryRows[] = {
    {"global_load_bytes", &MemoryCount::globalLoadBytes},
    {"global_store_bytes", &MemoryCount::globalStoreBytes},
    {"global_load_sectors", &MemoryCount::globalLoadSectors},
    {"global_store_sectors", &MemoryCount::globalStoreSectors},
    {"shared_load_bytes", &MemoryCount::sharedLoadBytes},
    {"shared_store_bytes", &MemoryCount::sharedStoreBytes},
    {"shared_load_wavefronts", &MemoryCount::sharedLoadWavefronts},
    {"shared_store_wavefronts", &MemoryCount::sharedStoreWavefronts},
    {"local_bytes", &MemoryCount::localBytes}};

const std::pair<const char *, uint64_t MemoryTraffic::*> trafficRows[] = {
    {"l1_load_sectors", &MemoryTraffic::l1Loads},       {"l1_hit_sectors", &MemoryTraffic::l1Hits},
    {"l2_read_sectors", &MemoryTraffic::l2Reads},       {"l2_read_hit_sectors", &MemoryTraffic::l2ReadHits},
    {"l2_write_sectors", &MemoryTraffic::l2Writes},     {"dram_read_sectors", &MemoryTraffic::dramReads},
    {"dram_write_sectors", &MemoryTraffic::dramWrites}};

void printTraffic(const MemoryTraffic &traffic) {
  if (!traffic.isModelled)
    printf("caches are not modelled: there are too many accesses to keep\n");
  for (auto [name, member] : trafficRows)
    if (traffic.isModelled && traffic.*member)
      printf("%-24s %18llu modelled\n", name, (unsigned long long)(traffic.*member));
}

void printCounters(const Counters &c) {
  printf("%-24s %18s %18s\n", "instructions", "warps", "threads");
  for (unsigned i = 0; i < Counters::classes; ++i)
    if (c.warpInstructions[i])
      printf("%-24s %18llu %18llu\n", nameOf(InstructionClass(i)), (unsigned long long)c.warpInstructions[i],
             (unsigned long long)c.threadInstructions[i]);
  printf("%-24s %18llu %18llu\n", "all", (unsigned long long)c.totalWarpInstructions(),
         (unsigned long long)c.totalThreadInstructions());
  for (auto [name, member] : memoryRows)
    if (c.memory.*member)
      printf("%-24s %18llu\n", name, (unsigned long long)(c.memory.*member));
}

void printCountersAsJson(const Counters &c, const MemoryTraffic &traffic = {}) {
  nlohmann::ordered_json out;
  for (unsigned i = 0; i < Counters::classes; ++i) {
    out["warp_instructions"][nameOf(InstructionClass(i))] = c.warpInstructions[i];
    out["thread_instructions"][nameOf(InstructionClass(i))] = c.threadInstructions[i];
  }
  for (auto [name, member] : memoryRows)
    out["memory"][name] = c.memory.*member;
  for (auto [name, member] : trafficRows)
    if (traffic.isModelled)
      out["modelled"][name] = traffic.*member;
  std::cout << out.dump(2) << "\n";
}

/// Counts a few blocks for all, without running the kernel where its counts do not hang on data.
int countOnly(const LaunchRequest &request, bool json) {
  LaunchResult result = countSample(request);
  if (result.fault != FaultKind::None) {
    fprintf(stderr, "error: %s\n", result.message.c_str());
    return 1;
  }
  json ? printCountersAsJson(result.counters) : printCounters(result.counters);
  if (!result.followsFromPtx)
    fprintf(stderr, "note: these counts hang on what the memory holds; `run --count` is exact\n");
  return 0;
}

/// To standard error, or to the report where one is asked for; true if there are none.
bool printFindings(const std::vector<Finding> &findings, const std::string &report) {
  if (!report.empty() && !appendToReport(report, findings))
    throw UsageError("cannot write '" + report + "'");
  for (const Finding &finding : findings)
    if (report.empty())
      fprintf(stderr, "found: %s\n", describe(finding).c_str());
  return findings.empty();
}

/// The host's time for a launch: the best and the middle of several.
void printTimes(std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  printf("best %.3f ms, median %.3f ms of %zu runs\n", milliseconds.front(),
         milliseconds[milliseconds.size() / 2], milliseconds.size());
}

LaunchResult launchTimed(const LaunchRequest &request, const RunOptions &options) {
  LaunchResult result;
  std::vector<double> times;
  for (unsigned i = 0; i < std::max(1u, options.repeat); ++i) {
    auto start = std::chrono::steady_clock::now();
    result = launch(request);
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (options.time)
      printf("time: %.3f ms\n", ms);
    times.push_back(ms);
    if (result.fault != FaultKind::None)
      break;
  }
  if (options.timesOnly && result.fault == FaultKind::None)
    printTimes(times);
  return result;
}

using Contents = std::vector<std::vector<uint8_t>>;

Contents readBuffers(const std::vector<Argument> &arguments, const std::vector<uint64_t> &addresses) {
  Contents all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto *from = reinterpret_cast<const uint8_t *>(addresses[i]);
    all.emplace_back(from, from + (arguments[i].buffer ? arguments[i].bytes.size() : 0));
  }
  return all;
}

void writeBuffers(const Contents &contents, const std::vector<uint64_t> &addresses) {
  for (size_t i = 0; i < contents.size(); ++i)
    memcpy(reinterpret_cast<void *>(addresses[i]), contents[i].data(), contents[i].size());
}

/// Runs a clean kernel again with its warps backward and in a random order, and says where that changes the
/// result. It may be meant so: atomics on floats add in any order.
void compareSchedules(LaunchRequest request, const Contents &initial, const std::vector<Argument> &arguments,
                      const std::vector<uint64_t> &addresses) {
  Contents forward = readBuffers(arguments, addresses);
  for (unsigned schedule : {1u, 2u}) {
    writeBuffers(initial, addresses);
    request.schedule = schedule;
    if (launch(request).fault != FaultKind::None)
      break;
    Contents other = readBuffers(arguments, addresses);
    for (size_t i = 0; i < other.size(); ++i)
      if (other[i] != forward[i]) {
        size_t byte = size_t(std::mismatch(other[i].begin(), other[i].end(), forward[i].begin()).first -
                             other[i].begin());
        fprintf(stderr, "note: argument %zu depends on the order in which warps run: element %zu differs\n",
                i + 1, byte / elementSize(arguments[i].type));
        return writeBuffers(forward, addresses);
      }
  }
  writeBuffers(forward, addresses);
}

int runKernel(const RunOptions &options) {
  Settings settings = settingsFromEnvironment();
  const DeviceFacts *device = findDevice(settings.device);
  if (!device)
    throw UsageError(unknownDevice(settings.device));
  MemoryMap memory(device->memoryBytes);
  DecodeOptions decoding;
  decoding.check = options.check || settings.check;
  if (decoding.check)
    memory.startChecking();
  if (options.exact || settings.exact)
    decoding.exactArchitecture = device->major * 10 + device->minor;
  LoadedModule module(readFile(options.file), memory, decoding);
  KernelImage *image = module.kernel(options.kernel);
  if (!image)
    throw UsageError("'" + options.file + "' has no kernel '" + options.kernel + "'");
  std::vector<Argument> arguments;
  for (const std::string &text : options.arguments) {
    bool isAnyAddress = options.countsOnly && text == "ptr"; // buffers that do not overlap, at the edge of a sector
    arguments.push_back(
        parseArgument(isAnyAddress ? "u64:" + std::to_string((arguments.size() + 1) << 40) : text));
  }
  LaunchRequest request;
  request.image = image;
  setShape(options.grid, request.grid);
  setShape(options.block, request.block);
  request.dynamicShared = options.shared;
  request.threads = options.threads ? options.threads : settings.threads;
  request.count = options.count;
  if (options.count)
    request.caches = cachesOf(*device, request.block[0] * request.block[1] * request.block[2],
                              image->staticShared() + uint64_t(options.shared));
  request.multiprocessors = unsigned(device->multiprocessors);
  request.memory = &memory;
  request.check = decoding.check;
  request.schedule = settings.schedule;
  if (options.timeLimit > 0)
    request.deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(options.timeLimit * 1e6));
  std::vector<uint64_t> addresses = packArguments(arguments, image->entry(), memory, request);
  if (options.countsOnly)
    return countOnly(request, options.json);
  Contents initial = readBuffers(arguments, addresses);
  LaunchResult result = launchTimed(request, options);
  bool keepsState = std::any_of(module.source().variables.begin(), module.source().variables.end(),
                                [](const ptx::Variable &v) { return v.space == ptx::Space::Global; });
  if (request.check && result.findings.empty() && !keepsState)
    compareSchedules(request, initial, arguments, addresses);
  bool isClean = printFindings(result.findings, settings.report);
  if (result.fault != FaultKind::None) {
    fprintf(stderr, "error: %s\n", result.message.c_str());
    return 1;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].output)
      continue;
    memcpy(arguments[i].bytes.data(), reinterpret_cast<void *>(addresses[i]), arguments[i].bytes.size());
    if (!options.json && !options.timesOnly)
      printOutput(i, arguments[i], options.show);
    if (!arguments[i].saveTo.empty())
      saveNpy(arguments[i]);
  }
  if (options.count)
    options.json ? printCountersAsJson(result.counters, result.traffic)
                 : (printCounters(result.counters), printTraffic(result.traffic));
  return isClean ? 0 : 1;
}

/// Every instruction that decodes to a trap, in all kernels, by spelling.
void countUnknown(LoadedModule &module, std::map<std::string, size_t> &unknown) {
  Handler trap = handlers().at("trap").fn;
  for (auto &f : module.source().functions) {
    KernelImage *image = f->entry ? module.kernel(f->name) : nullptr;
    if (!image)
      continue;
    image->eachProgram([&](const Program &program) {
      for (const Op &op : program.ops)
        if (op.fn == trap && op.imm == int64_t(FaultKind::IllegalInstruction))
          ++unknown[program.function->instructions[op.instruction].opcode->text + ": " +
                    program.problems[op.e]];
    });
  }
}

int parseFiles(const std::vector<std::string> &files, bool time) {
  std::map<std::string, size_t> unknown;
  size_t instructions = 0, kernels = 0;
  int status = 0;
  for (const std::string &path : files) {
    MemoryMap memory(1ull << 40);
    std::string text = readFile(path);
    size_t lines = size_t(std::count(text.begin(), text.end(), '\n'));
    try {
      auto start = std::chrono::steady_clock::now();
      auto parsed = ptx::parse(text);
      double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (time)
        printf("%s: %zu lines in %.1f ms, %.2f M lines/s\n", path.c_str(), lines, seconds * 1e3,
               double(lines) / seconds / 1e6);
      LoadedModule module(std::move(text), memory);
      for (auto &f : module.source().functions)
        instructions += f->instructions.size(), kernels += f->entry;
      countUnknown(module, unknown);
    } catch (const std::exception &error) {
      fprintf(stderr, "error: %s: %s\n", path.c_str(), error.what());
      status = 1;
    }
  }
  printf("%zu kernels, %zu instructions, %zu unknown forms\n", kernels, instructions, unknown.size());
  for (auto &[form, count] : unknown)
    printf("%8zu  %s\n", count, form.c_str());
  return status;
}

int disassemble(const std::string &file, const std::string &kernel) {
  MemoryMap memory(1ull << 40);
  LoadedModule module(readFile(file), memory);
  bool isFound = false;
  for (auto &f : module.source().functions)
    if (f->entry && f->defined && (kernel.empty() || f->name == kernel)) {
      printDisassembly(*module.kernel(f->name));
      isFound = true;
    }
  if (!isFound)
    throw UsageError("'" + file + "' has no kernel" + (kernel.empty() ? "" : " '" + kernel + "'"));
  return 0;
}

void addRunOptions(CLI::App &command, RunOptions &options) {
  command.add_option("file", options.file, "PTX file")->required();
  command.add_option("--kernel", options.kernel, "Name of the kernel")->required();
  command.add_option("--grid", options.grid, "Blocks in x,y,z")->delimiter(',');
  command.add_option("--block", options.block, "Threads of a block in x,y,z")->delimiter(',');
  command.add_option("--shared", options.shared, "Bytes of dynamic shared memory");
  command.add_option("--arg", options.arguments,
                     "TYPE:VALUE, buf:FILE.npy[:SAVE.npy] or out:TYPE:SHAPE[:SAVE.npy]; once per parameter");
  command.add_option("--time-limit", options.timeLimit, "Seconds after which the launch fails");
}

void addEngineOptions(CLI::App &command, RunOptions &options) {
  command.add_flag("--exact", options.exact,
                   "Matrix products bit for bit as on the device of JOULE_VGPU_DEVICE");
  command.add_option("--repeat", options.repeat, "Run this many times");
  command.add_option("--threads", options.threads, "Worker threads; 1 runs the blocks in order");
}

} // namespace

int main(int argc, char **argv) {
  joule::vgpu::useJit(joule::vgpu::settingsFromEnvironment().cache);
  CLI::App app{"Run PTX on the virtual GPU"};
  app.require_subcommand(1);
  app.footer("Example:\n  joule-ptx run saxpy.ptx --kernel saxpy --grid 4 --block 256 --arg i32:1000 --arg "
             "f32:2 \\\n"
             "    --arg buf:x.npy --arg out:f32:1000:y.npy --count");
  RunOptions options;
  CLI::App *run = app.add_subcommand("run", "Run one kernel and print what it writes");
  addRunOptions(*run, options);
  addEngineOptions(*run, options);
  run->add_flag("--count", options.count, "Count instructions and memory traffic");
  run->add_flag("--check", options.check,
                "Look for races, unwritten memory and other faults; exit with 1 if any");
  run->add_flag("--json", options.json, "Print the counters as JSON and nothing else");
  run->add_flag("--time", options.time, "Print the host's time of each run");
  run->add_option("--show", options.show, "Elements printed of an output");
  CLI::App *timed = app.add_subcommand("time", "Time launches of one kernel on this machine");
  RunOptions timing;
  timing.repeat = 10;
  timing.timesOnly = true;
  addRunOptions(*timed, timing);
  addEngineOptions(*timed, timing);
  CLI::App *count = app.add_subcommand(
      "count", "Count a launch from its PTX, grid and parameters; an --arg may be just ptr, a buffer whose data do not matter");
  RunOptions counting;
  counting.countsOnly = true;
  addRunOptions(*count, counting);
  count->add_flag("--json", counting.json, "Print the counters as JSON");
  CLI::App *disasm = app.add_subcommand("disasm", "Print kernels with what each line was decoded into");
  std::string file, kernel;
  disasm->add_option("file", file, "PTX file")->required();
  disasm->add_option("--kernel", kernel, "Name of one kernel; without it, all");
  std::vector<std::string> files;
  bool time = false;
  CLI::App *parse = app.add_subcommand("parse", "Load PTX files and list the instructions that would trap");
  parse->add_option("files", files, "PTX files")->required();
  parse->add_flag("--time", time, "Print how fast each file was parsed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  try {
    if (*disasm)
      return disassemble(file, kernel);
    if (*timed)
      return runKernel(timing);
    if (*count)
      return runKernel(counting);
    return *run ? runKernel(options) : parseFiles(files, time);
  } catch (const UsageError &error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const std::exception &error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
