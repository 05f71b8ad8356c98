// The options that say what a model is run on, and the tensors that come of them.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"
#include "tools/joule/Command.h"
#include "tools/joule/PlanWork.h"

#include <map>
#include <string>
#include <vector>

namespace joule::cli {

struct InputOptions {
  std::vector<std::string> inputs; ///< "x=file.npy", "x=random", "x=random:0:256", "all.npz"
  std::vector<std::string> dims;   ///< "batch=4"
  bool random = false;             ///< make up what is not given
  uint64_t seed = 0;
};

/// The option --dim.
void addDims(CLI::App &app, std::vector<std::string> &dims);

/// The options --input, --seed and --dim.
void addInputs(CLI::App &app, InputOptions &options);

/// The option --random.
void addRandom(CLI::App &app, InputOptions &options);

/// Sizes by symbol; throws a CLI::Error where one is malformed or stands twice.
SymbolSizes parseDims(const std::vector<std::string> &dims);

/// The tensors of `specs`, from files and made up at random; throws a CLI::Error where an option is
/// malformed. Errors: InputMissing, InputUnknown, InputShape (a random tensor's size is not fixed), those of
/// reading files.
Result<std::map<std::string, Tensor>> makeInputs(const std::vector<TensorSpec> &specs,
                                                 const InputOptions &options);

/// What Session::run takes; the tensors must outlive it.
std::map<std::string, TensorView> viewsOf(const std::map<std::string, Tensor> &tensors);

/// The sizes of the symbols in `specs` that `tensors` have.
SymbolSizes sizesOf(const std::vector<TensorSpec> &specs, const std::map<std::string, Tensor> &tensors);

} // namespace joule::cli
