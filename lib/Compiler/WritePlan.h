// From the plan level to the plan that an artifact stores.
#pragma once

#include "lib/Artifact/plan.pb.h"

#include "dialects/Plan/PlanDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace joule {

/// Gives the name of the artifact's entry that holds a constant of type `tensor`.
using StoreWeight = llvm::function_ref<mlir::FailureOr<std::string>(mlir::Attribute value, mlir::ShapedType tensor)>;

/// Writes `function`, the main function after nn-to-plan, as a plan. Kernels are numbered in the order of their first
/// launch; `kernels` receives their names in that order.
mlir::FailureOr<plan::Plan> writePlan(mlir::func::FuncOp function, StoreWeight store,
                                      llvm::SmallVectorImpl<std::string> &kernels);

} // namespace joule
