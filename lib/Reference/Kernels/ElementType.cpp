// Kinds of element types.
#include "lib/Reference/Kernels/ElementType.h"

namespace joule::reference {

bool isFloat(ElementType type) {
  switch (type) {
  case ElementType::Float32:
  case ElementType::Float64:
  case ElementType::Float16:
  case ElementType::BFloat16:
  case ElementType::Float8E4M3FN:
  case ElementType::Float8E4M3FNUZ:
  case ElementType::Float8E5M2:
  case ElementType::Float8E5M2FNUZ:
  case ElementType::Float8E8M0:
  case ElementType::Float4E2M1:
    return true;
  default:
    return false;
  }
}

/// Integer types in pairs of one width: signed, unsigned.
static const ElementType pairs[][2] = {
    {ElementType::Int2, ElementType::UInt2},   {ElementType::Int4, ElementType::UInt4},
    {ElementType::Int8, ElementType::UInt8},   {ElementType::Int16, ElementType::UInt16},
    {ElementType::Int32, ElementType::UInt32}, {ElementType::Int64, ElementType::UInt64},
};

bool isUnsigned(ElementType type) {
  for (const auto &pair : pairs)
    if (pair[1] == type)
      return true;
  return false;
}

bool isInteger(ElementType type) { return withSign(type, false) != withSign(type, true); }

ElementType withSign(ElementType type, bool isUnsigned) {
  for (const auto &pair : pairs)
    if (pair[0] == type || pair[1] == type)
      return pair[isUnsigned];
  return type;
}

} // namespace joule::reference
