// Facts about PTX types and the small look-ups of the module's form.
#include "lib/VirtualGpu/Ptx.h"

#include <algorithm>

namespace joule::vgpu::ptx {

unsigned sizeOf(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred:
    return 0;
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E4M3:
  case Type::E5M2:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  case Type::B128:
    return 16;
  default:
    return 4;
  }
}

bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}

bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64 ||
         type == Type::TF32;
}

const char *nameOf(Type type) {
  static const char *const names[] = {"",    "pred",  "b8",    "b16",  "b32",    "b64",    "b128",
                                      "u8",  "u16",   "u32",   "u64",  "s8",     "s16",    "s32",
                                      "s64", "f16",   "f16x2", "bf16", "bf16x2", "tf32",   "f32",
                                      "f64", "u16x2", "s16x2", "e4m3", "e5m2",   "e4m3x2", "e5m2x2"};
  return names[unsigned(type)];
}

bool Opcode::has(std::string_view mod) const {
  return std::find(mods.begin(), mods.end(), mod) != mods.end();
}

std::string Function::registerName(uint32_t index) const {
  for (const RegisterRange &range : ranges)
    if (index >= range.first && index < range.first + range.count)
      return std::string(range.prefix) + (range.numbered ? std::to_string(index - range.first) : "");
  return "?";
}

std::string Module::lineText(uint32_t line) const {
  size_t at = 0;
  for (uint32_t i = 1; i < line && at != std::string::npos; ++i) {
    at = source.find('\n', at);
    at = at == std::string::npos ? at : at + 1;
  }
  if (at == std::string::npos)
    return "";
  std::string text = source.substr(at, source.find('\n', at) - at);
  size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

} // namespace joule::vgpu::ptx
