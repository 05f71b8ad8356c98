// One line per folder of dialects and passes.
#include "tools/joule-opt/Registration.h"

#include "dialects/Device/DeviceDialect.h"
#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/Nn/Passes.h"
#include "passes/NnToPlan/Passes.h"
#include "passes/NnToTile/Passes.h"
#include "passes/OnnxToNn/OnnxToNn.h"
#include "passes/Tile/Passes.h"
#include "passes/TileToNvvm/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"

void joule::registerPasses() {
  mlir::registerAllPasses();
  registerNnPasses();
  registerNnToPlanPasses();
  registerNnToTilePasses();
  registerOnnxToNnPasses();
  registerTilePasses();
  registerTileToNvvmPasses();
}

void joule::registerDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  registry.insert<device::DeviceDialect, nn::NnDialect, onnx::OnnxDialect, plan::PlanDialect, tile::TileDialect>();
}
