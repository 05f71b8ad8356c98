// The order of all passes, on one page.
#include "passes/Pipeline.h"

#include "passes/Nn/Passes.h"
#include "passes/NnToPlan/Passes.h"
#include "passes/NnToTile/Passes.h"
#include "passes/OnnxToNn/OnnxToNn.h"
#include "passes/Tile/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void joule::buildToNn(OpPassManager &pm) { pm.addPass(createOnnxToNn()); }

void joule::buildImproveNn(OpPassManager &pm, reference::WeightStore &store) {
  pm.addPass(createVerifyNn());
  // The walk emits sizes and constants where it needs them: many are equal, and some fold away.
  pm.addPass(createCanonicalizeNn());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createFoldConstants(store));
  // Folded operands leave constants that nothing reads, and casts that fold.
  pm.addPass(createCanonicalizeNn());
  pm.addPass(createVerifyNn());
}

void joule::buildToKernels(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFuseGroups());
  pm.addPass(createOutlineKernels());
  // Counting each call's work leaves size arithmetic that folds.
  pm.addPass(createCanonicalizeNn());
  pm.addPass(createCSEPass());
}

void joule::buildToPlan(OpPassManager &pm) {
  pm.addPass(createChooseDefaultSchedule());
  pm.addPass(createNnToTile());
  // Needs the kernels' grids, which nn-to-tile fills in.
  pm.addPass(createNnToPlan());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}
