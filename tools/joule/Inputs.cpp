// Files and random tensors become a run's inputs.
#include "tools/joule/Inputs.h"

#include "lib/TensorFile/TensorFile.h"
#include "tools/joule/RandomTensor.h"

#include <fmt/format.h>
#include <limits>

namespace joule::cli {

namespace {

using Tensors = std::map<std::string, Tensor>;

/// Where one input comes from.
struct Source {
  std::string file; ///< empty: random
  std::optional<Range> range;
};

} // namespace

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void addDims(CLI::App &app, std::vector<std::string> &dims) {
  app.add_option("--dim", dims, "The size of a dimension that the model names, as in batch=4")
      ->type_name("NAME=N");
}

void addInputs(CLI::App &app, InputOptions &options) {
  app.add_option("--input", options.inputs,
                 "An input: NAME=FILE (.npy, .pb, .npz), NAME=random, NAME=random:LOW:HIGH (HIGH itself "
                 "excluded), or a "
                 ".npz file of several")
      ->type_name("NAME=SOURCE");
  app.add_option("--seed", options.seed, "The seed of what is made up")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  addDims(app, options.dims);
}

void addRandom(CLI::App &app, InputOptions &options) {
  app.add_flag("--random", options.random, "Make up every input that is not given");
}

SymbolSizes parseDims(const std::vector<std::string> &dims) {
  SymbolSizes sizes;
  for (const std::string &text : dims) {
    size_t equals = text.rfind('=');
    bool isNumber = equals != 0 && equals != text.npos && equals + 1 < text.size() &&
                    text.size() - equals <= 18 &&
                    text.find_first_not_of("0123456789", equals + 1) == text.npos;
    if (!isNumber)
      throw CLI::ValidationError("--dim", fmt::format("\"{}\" is not NAME=N", text));
    if (!sizes.emplace(text.substr(0, equals), std::stoll(text.substr(equals + 1))).second)
      throw CLI::ValidationError("--dim", fmt::format("\"{}\" is given twice", text.substr(0, equals)));
  }
  return sizes;
}

/// "random", or "random:LOW:HIGH"; throws where that is malformed.
static std::optional<Range> parseRange(const std::string &text) {
  if (text == "random")
    return std::nullopt;
  Range range;
  char rest = 0;
  if (std::sscanf(text.c_str(), "random:%lf:%lf%c", &range.low, &range.high, &rest) != 2 ||
      !(range.low < range.high))
    throw CLI::ValidationError("--input", fmt::format("\"{}\" is not random:LOW:HIGH", text));
  return range;
}

static Source parseSource(const std::string &text) {
  if (text == "random" || text.rfind("random:", 0) == 0)
    return {"", parseRange(text)};
  if (!endsWith(text, ".npy") && !endsWith(text, ".npz") && !endsWith(text, ".pb"))
    throw CLI::ValidationError("--input",
                               fmt::format("\"{}\" is neither random nor a .npy, .npz or .pb file", text));
  return {text, std::nullopt};
}

static Error unknownInput(const std::string &name, const std::vector<TensorSpec> &specs) {
  std::string known;
  for (const TensorSpec &spec : specs)
    known += (known.empty() ? "\"" : ", \"") + spec.name + "\"";
  return {ErrorCode::InputUnknown, fmt::format("the model has no input \"{}\"; it has {}", name, known), ""};
}

/// Reads one input's file. Of a .npz file it is the array of that name, or the only one.
static Result<Tensor> readInput(const std::string &file, const std::string &name) {
  if (endsWith(file, ".npy"))
    return readNpy(file);
  if (endsWith(file, ".pb")) {
    Result<NamedTensor> tensor = readTensorProto(file);
    if (!tensor)
      return tensor.error();
    return std::move(tensor->tensor);
  }
  Result<Tensors> arrays = readNpz(file);
  if (!arrays)
    return arrays.error();
  auto found = arrays->size() == 1 ? arrays->begin() : arrays->find(name);
  if (found == arrays->end())
    return Error{ErrorCode::InputMissing, fmt::format("\"{}\" has no array \"{}\"", file, name), ""};
  return std::move(found->second);
}

static Result<std::vector<int64_t>> shapeOf(const TensorSpec &spec, const SymbolSizes &sizes) {
  std::vector<int64_t> shape;
  for (const Dimension &dimension : spec.shape) {
    auto bound = sizes.find(dimension.symbol);
    if (dimension.size < 0 && bound == sizes.end())
      return Error{ErrorCode::InputShape,
                   fmt::format("the input \"{}\" of shape {} cannot be made up: give --dim {}=N", spec.name,
                               toString(spec.shape), dimension.symbol),
                   ""};
    shape.push_back(dimension.size >= 0 ? dimension.size : bound->second);
  }
  return shape;
}

namespace {

class InputMaker {
public:
  InputMaker(const std::vector<TensorSpec> &specs, const InputOptions &options)
      : specs(specs), options(options), dims(parseDims(options.dims)), sizes(dims) {}

  Result<Tensors> make() {
    if (Result<void> known = checkDims(); !known)
      return known.error();
    for (const std::string &text : options.inputs)
      if (Result<void> taken = take(text); !taken)
        return taken.error();
    for (size_t i = 0; i < specs.size(); ++i)
      if (Result<void> made = make(i); !made)
        return made.error();
    return std::move(tensors);
  }

private:
  /// Every size that is given is one that an input has.
  Result<void> checkDims() const {
    std::map<std::string, int64_t> known;
    for (const TensorSpec &spec : specs)
      for (const Dimension &dimension : spec.shape)
        if (!dimension.symbol.empty())
          known.emplace(dimension.symbol, 0);
    for (const auto &[name, size] : dims)
      if (!known.count(name)) {
        std::string names;
        for (const auto &[each, unused] : known)
          names += (names.empty() ? "\"" : ", \"") + each + "\"";
        return Error{ErrorCode::InputShape,
                     fmt::format("no input has a size \"{}\"; {}", name,
                                 known.empty() ? "all sizes are fixed" : "those not fixed are " + names),
                     ""};
      }
    return {};
  }

  /// Files are read at once; what is random waits for the symbols that the files decide.
  Result<void> take(const std::string &text) {
    const TensorSpec *spec = specOf(text);
    if (!spec && text.find('=') == text.npos && endsWith(text, ".npz"))
      return takeAll(text);
    if (!spec && text.find('=') == text.npos)
      throw CLI::ValidationError("--input",
                                 fmt::format("\"{}\" is neither NAME=SOURCE nor a .npz file", text));
    if (!spec)
      return unknownInput(text.substr(0, text.find('=')), specs);
    Source source = parseSource(text.substr(spec->name.size() + 1));
    if (tensors.count(spec->name) || ranges.count(spec->name))
      throw CLI::ValidationError("--input", fmt::format("\"{}\" is given twice", spec->name));
    if (source.file.empty()) {
      ranges[spec->name] = source.range;
      return {};
    }
    Result<Tensor> tensor = readInput(source.file, spec->name);
    if (!tensor)
      return tensor.error();
    return keep(*spec, std::move(*tensor));
  }

  Result<void> takeAll(const std::string &file) {
    Result<Tensors> arrays = readNpz(file);
    if (!arrays)
      return arrays.error();
    for (auto &[name, tensor] : *arrays) {
      const TensorSpec *spec = specOf(name + "=");
      if (!spec || spec->name != name)
        return unknownInput(name, specs);
      if (Result<void> kept = keep(*spec, std::move(tensor)); !kept)
        return kept;
    }
    return {};
  }

  /// The input whose name stands before an "=" in `text`; of several, since names may hold one, the longest.
  const TensorSpec *specOf(const std::string &text) const {
    const TensorSpec *best = nullptr;
    for (const TensorSpec &spec : specs)
      if (text.rfind(spec.name + "=", 0) == 0 && (!best || spec.name.size() > best->name.size()))
        best = &spec;
    return best;
  }

  Result<void> keep(const TensorSpec &spec, Tensor tensor) {
    for (size_t i = 0; i < spec.shape.size() && i < tensor.shape.size(); ++i) {
      const std::string &symbol = spec.shape[i].symbol;
      if (symbol.empty())
        continue;
      sizes.emplace(symbol, tensor.shape[i]);
      if (auto given = dims.find(symbol); given != dims.end() && given->second != tensor.shape[i])
        return Error{ErrorCode::InputShape,
                     fmt::format("--dim makes {} {}, and the input \"{}\" has shape {}", symbol, given->second,
                                 spec.name, toString(tensor.shape)),
                     ""};
    }
    tensors[spec.name] = std::move(tensor);
    return {};
  }

  Result<void> make(size_t position) {
    const TensorSpec &spec = specs[position];
    if (tensors.count(spec.name))
      return {};
    auto range = ranges.find(spec.name);
    if (range == ranges.end() && !options.random)
      return Error{ErrorCode::InputMissing,
                   fmt::format("the input \"{}\" ({} {}) is not given; --random makes up all that are not",
                               spec.name, nameOf(spec.type), toString(spec.shape)),
                   ""};
    Result<std::vector<int64_t>> shape = shapeOf(spec, sizes);
    if (!shape)
      return shape.error();
    auto within = range == ranges.end() ? std::nullopt : range->second;
    Result<Tensor> tensor = makeRandomTensor(spec.type, *shape, within, options.seed * 1000003 + position);
    if (!tensor)
      return tensor.error();
    tensors[spec.name] = std::move(*tensor);
    return {};
  }

  const std::vector<TensorSpec> &specs;
  const InputOptions &options;
  const SymbolSizes dims; // as the options give them
  SymbolSizes sizes;      // and as files do
  Tensors tensors;
  std::map<std::string, std::optional<Range>> ranges; // of the inputs that are random by name
};

} // namespace

Result<Tensors> makeInputs(const std::vector<TensorSpec> &specs, const InputOptions &options) {
  return InputMaker(specs, options).make();
}

std::map<std::string, TensorView> viewsOf(const Tensors &tensors) {
  std::map<std::string, TensorView> views;
  for (const auto &[name, tensor] : tensors)
    views[name] = tensor.view();
  return views;
}

SymbolSizes sizesOf(const std::vector<TensorSpec> &specs, const Tensors &tensors) {
  SymbolSizes sizes;
  for (const TensorSpec &spec : specs) {
    auto tensor = tensors.find(spec.name);
    for (size_t i = 0; tensor != tensors.end() && i < spec.shape.size() && i < tensor->second.shape.size();
         ++i)
      if (!spec.shape[i].symbol.empty())
        sizes[spec.shape[i].symbol] = tensor->second.shape[i];
  }
  return sizes;
}

} // namespace joule::cli
