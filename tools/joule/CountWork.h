// Fills in, from a target's PTX, what a plan does not say of its launches: instructions, and bytes by level.
#pragma once

#include "joule/Artifact.h"
#include "tools/joule/PlanWork.h"

#include <string>
#include <vector>

namespace joule::cli {

/// Counts each launch on the virtual GPU, a few blocks for all (countSample()) and with zeros for all data, and adds
/// to its work: instructions by class, the bytes that pass between multiprocessors and L2 (what a block touches, it
/// fetches once), those of shared memory, and the blocks of the grid. Launches of unknown shape, and those that do not
/// end so, are left as they are; how many these are is returned. Errors: EntryMissing, ArtifactDamaged, HostMemoryFull.
Result<size_t> countWork(const Artifact &artifact, std::vector<LaunchWork> &launches);

} // namespace joule::cli
