// The order of all passes, on one page.
#pragma once

#include "lib/Reference/Kernels/WeightStore.h"
#include "mlir/Pass/PassManager.h"

namespace joule {

/// onnx → nn: what the network computes.
void buildToNn(mlir::OpPassManager &pm);

/// nn → better nn, as the walk or a person has written it. `store` receives the constants that folding makes.
void buildImproveNn(mlir::OpPassManager &pm, reference::WeightStore &store);

/// nn → groups → kernels with an nn body, called from main.
void buildToKernels(mlir::OpPassManager &pm);

/// For one target: every kernel scheduled and spread over threads; main becomes the host's program.
void buildToPlan(mlir::OpPassManager &pm);

} // namespace joule
