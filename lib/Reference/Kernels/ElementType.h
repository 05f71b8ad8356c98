/// What kernels ask about element types.
#pragma once

#include "joule/Tensor.h"

namespace joule::reference {

bool isFloat(ElementType type);

/// True for integers, signed or not; a bool is none.
bool isInteger(ElementType type);
bool isUnsigned(ElementType type);

/// The integer type of `type`'s width and the given signedness; other types as they are.
ElementType withSign(ElementType type, bool isUnsigned);

} // namespace joule::reference
