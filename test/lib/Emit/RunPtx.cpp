#include "test/lib/Emit/RunPtx.h"

#include "lib/VirtualGpu/Launch.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace joule::test {
namespace {

PtxCounts countsOf(const vgpu::Counters &counters) {
  const vgpu::MemoryCount &memory = counters.memory;
  return {counters.totalThreadInstructions(), memory.globalLoadBytes + memory.globalStoreBytes,
          memory.globalLoadSectors + memory.globalStoreSectors, memory.sharedLoadBytes + memory.sharedStoreBytes,
          memory.sharedLoadWavefronts + memory.sharedStoreWavefronts,
          counters.threadInstructions[static_cast<size_t>(vgpu::InstructionClass::Fp32Fma)]};
}

std::string launchOn(PtxRun &run, vgpu::MemoryMap &memory) {
  vgpu::LoadedModule module(run.ptx, memory);
  vgpu::LaunchRequest request;
  request.image = module.kernel(run.kernel);
  if (!request.image)
    return "no kernel " + run.kernel;
  std::vector<uint64_t> addresses;
  for (const std::vector<uint8_t> &buffer : run.buffers) {
    addresses.push_back(memory.allocate(std::max<size_t>(buffer.size(), 1)));
    memcpy(reinterpret_cast<void *>(addresses.back()), buffer.data(), buffer.size());
  }
  for (int dimension = 0; dimension < 3; ++dimension) {
    request.grid[dimension] = static_cast<uint32_t>(run.grid[dimension]);
    request.block[dimension] = static_cast<uint32_t>(run.block[dimension]);
  }
  request.dynamicShared = static_cast<uint32_t>(run.dynamicShared);
  request.memory = &memory;
  request.count = run.count;
  const vgpu::Program &program = request.image->entry();
  if (program.kernelParameters.size() != run.parameters.size())
    return "the kernel has another number of parameters";
  request.parameters.resize(program.kernelParameterBytes);
  for (size_t number = 0; number < run.parameters.size(); ++number) {
    int which = run.parameters[number];
    uint64_t value = which >= 0 ? addresses[which] : static_cast<uint64_t>(run.sizes[~which]);
    memcpy(request.parameters.data() + program.kernelParameters[number], &value, sizeof value);
  }
  vgpu::LaunchResult result = vgpu::launch(request);
  run.counts = countsOf(result.counters);
  if (result.fault != vgpu::FaultKind::None)
    return result.message;
  for (size_t number = 0; number < addresses.size(); ++number)
    memcpy(run.buffers[number].data(), reinterpret_cast<void *>(addresses[number]),
           run.buffers[number].size());
  if (!run.count)
    return "";
  for (size_t number = 0; number < addresses.size(); ++number)
    memset(reinterpret_cast<void *>(addresses[number]), 0, run.buffers[number].size());
  result = vgpu::countSample(request);
  run.sampled = countsOf(result.counters);
  run.sampled.touchedSectors = result.touchedSectors;
  run.sampled.followsFromPtx = result.followsFromPtx;
  return result.message;
}

} // namespace

std::string run(PtxRun &run) {
  if (run.grid[0] == 0 || run.grid[1] == 0 || run.grid[2] == 0)
    return ""; // A launch of no blocks is none.
  try {
    vgpu::MemoryMap memory(uint64_t(1) << 34);
    return launchOn(run, memory);
  } catch (const std::exception &error) {
    return error.what();
  }
}

} // namespace joule::test
