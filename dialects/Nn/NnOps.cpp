// The generated definitions of the nn ops, in a file of their own since they are the slowest to compile.
#include "dialects/Nn/NnDialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/Nn/NnOps.cpp.inc"
