/// Runs nn functions written as text, for tests.
#pragma once

#include "lib/Reference/Interpreter/Interpreter.h"
#include "lib/Reference/Kernels/Kernels.h"

#include <string>

namespace joule::reference {

/// "float32 [2, 3]: 1 2 3 4 5 6".
std::string print(const Buffer &buffer);

/// Runs `func.func @main` followed by `function` and prints its results, one line each without a newline at
/// the end; "error: " and the first message where it fails.
std::string run(const std::string &function, llvm::ArrayRef<Buffer> inputs = {});

/// The same with weights at hand.
std::string run(const std::string &function, llvm::ArrayRef<Buffer> inputs, WeightStore &weights);

/// Tensors of f32 and i64.
Buffer floats(const Shape &shape, const std::vector<double> &values);
Buffer integers(const Shape &shape, const std::vector<int64_t> &values);

} // namespace joule::reference
