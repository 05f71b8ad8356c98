// mlir-opt with Joule's dialects and passes.
#include "tools/joule-opt/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  joule::registerPasses();
  joule::registerDialects(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Joule's optimizer driver\n", registry));
}
