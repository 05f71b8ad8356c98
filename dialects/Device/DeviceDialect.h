// The device level: what do we know of the machine?
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/Device/DeviceDialect.h.inc"

#include "dialects/Device/DeviceEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Device/DeviceAttributes.h.inc"
