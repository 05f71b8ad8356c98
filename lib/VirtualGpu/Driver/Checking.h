// Check mode in the driver: what the host writes is known to kernels, and what is found is kept and told.
#pragma once

#include "lib/VirtualGpu/Check/Findings.h"

namespace joule::vgpu {

/// The host, or a copy, wrote device memory. Nothing without check mode.
void noteWritten(uint64_t to, uint64_t bytes);
void noteCopied(uint64_t to, uint64_t from, uint64_t bytes);

/// Keeps what a launch found; what is new goes to the report, or to standard error where none is asked for.
void noteFindings(const std::vector<Finding> &findings);
/// The ONNX nodes of the calling thread's launches from here on.
std::string &nodesOfLaunches();

size_t countFindings();
/// The text of the finding of this number, in the order of their finding; null if there are fewer. Valid until the end.
const char *textOfFinding(size_t index);

} // namespace joule::vgpu
