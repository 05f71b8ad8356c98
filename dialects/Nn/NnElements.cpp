// The element definitions of the nn ops: for each, what one element of its result is.
#include "dialects/Nn/NnDialect.h"

using namespace mlir;
using namespace joule::nn;

#define PENDING(Op)                                                                                                    \
  Value Op::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned, ValueRange indices) {       \
    return {};                                                                                                         \
  }
PENDING(BroadcastOp) PENDING(ReshapeOp) PENDING(TransposeOp) PENDING(SliceOp) PENDING(PadOp) PENDING(ConcatOp)
PENDING(IotaOp) PENDING(GatherOp) PENDING(GatherElementsOp) PENDING(GatherNdOp) PENDING(ReduceOp)
PENDING(ArgReduceOp) PENDING(CumulateOp) PENDING(SoftmaxOp) PENDING(NormalizeOp) PENDING(ContractOp) PENDING(ConvOp)
PENDING(PoolOp) PENDING(PoolArgMaxOp) PENDING(ResizeOp) PENDING(CastOp) PENDING(BitcastOp)
