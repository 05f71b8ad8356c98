// mlir-opt with Joule's dialects and passes.
#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/Nn/Passes.h"
#include "passes/NnToPlan/Passes.h"
#include "passes/NnToTile/Passes.h"
#include "passes/Tile/Passes.h"
#include "passes/TileToNvvm/Passes.h"
#include "passes/OnnxToNn/OnnxToNn.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  joule::registerNnPasses();
  joule::registerNnToPlanPasses();
  joule::registerTilePasses();
  joule::registerNnToTilePasses();
  joule::registerTileToNvvmPasses();
  joule::registerOnnxToNnPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<joule::nn::NnDialect, joule::onnx::OnnxDialect, joule::plan::PlanDialect, joule::tile::TileDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Joule's optimizer driver\n", registry));
}
