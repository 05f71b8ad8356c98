// What programs hand over as the image of a module: PTX text, or containers that hold some.
#pragma once

#include "lib/VirtualGpu/Devices.h"

#include <string>

namespace joule::vgpu {

/// The PTX text in an image of unknown length, as cuModuleLoadData gets it: text that ends with a zero, a fat
/// binary, or the wrapper that nvcc puts around one. Of several texts, the one for the newest architecture
/// that the device has. Throws Failure: machine code alone runs nowhere but on the GPU it is for.
std::string ptxOfImage(const void *image, const DeviceFacts &device);
/// The same for bytes whose number is known.
std::string ptxOfFile(const std::string &bytes, const DeviceFacts &device);

/// A block of LZ4. False where `from` is no such block of `size` bytes.
bool decompressLz4(const std::string &from, size_t size, std::string &to);

} // namespace joule::vgpu
