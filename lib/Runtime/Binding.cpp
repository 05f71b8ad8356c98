// Each message names the input, what it is, and what the model wants.
#include "lib/Runtime/Binding.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace joule {

namespace {

// A symbol's value and the input that gave it.
struct Bound {
  int64_t value;
  std::string input;
};

class Binder {
public:
  Binder(const plan::Plan &plan, const std::vector<TensorSpec> &specs) : plan(plan), specs(specs) {}

  Result<void> input(int position, const TensorView &view) {
    const plan::Tensor &wanted = plan.inputs(position);
    const TensorSpec &spec = specs[static_cast<size_t>(position)];
    if (view.type != spec.type)
      return Error{ErrorCode::InputType,
                   fmt::format("input \"{}\" is {}, the model wants {}", spec.name, nameOf(view.type),
                               nameOf(spec.type)),
                   ""};
    if (Result<void> fits = shape(wanted, spec, view.shape); !fits)
      return fits;
    int64_t bytes = bytesOf(view.type, view.shape);
    if (bytes < 0 || static_cast<uint64_t>(bytes) > view.bytes || (bytes > 0 && !view.data))
      return Error{ErrorCode::InputBytes,
                   fmt::format("input \"{}\" of shape {} needs {} bytes, but {} are given", spec.name,
                               toString(view.shape), bytes, view.data ? view.bytes : 0),
                   ""};
    return {};
  }

  Result<void> shape(const plan::Tensor &wanted, const TensorSpec &spec, const std::vector<int64_t> &shape) {
    auto mismatch = [&](const std::string &why) {
      return Error{ErrorCode::InputShape,
                   fmt::format("input \"{}\" has shape {}, the model wants {}{}", spec.name, toString(shape),
                               toString(spec.shape), why),
                   ""};
    };
    if (shape.size() != static_cast<size_t>(wanted.dims_size()))
      return mismatch("");
    for (int axis = 0; axis < wanted.dims_size(); ++axis) {
      const plan::Index &size = wanted.dims(axis);
      int64_t given = shape[static_cast<size_t>(axis)];
      if (given < 0 || (size.kind_case() == plan::Index::kConstant && size.constant() != given))
        return mismatch("");
      if (size.kind_case() != plan::Index::kIndex)
        continue;
      auto [found, isNew] = symbols.try_emplace(size.index(), Bound{given, spec.name});
      if (!isNew && found->second.value != given)
        return mismatch(fmt::format(", and input \"{}\" makes {} {}", found->second.input,
                                    spec.shape[static_cast<size_t>(axis)].symbol, found->second.value));
    }
    return {};
  }

  Result<std::vector<int64_t>> values() const {
    std::vector<int64_t> values;
    for (const plan::Symbol &symbol : plan.symbols()) {
      const Bound &bound = symbols.at(symbol.index());
      if (bound.value < symbol.min() || (symbol.max() != 0 && bound.value > symbol.max()))
        return Error{ErrorCode::InputShape,
                     fmt::format("input \"{}\" makes {} {}, the model wants {}", bound.input, symbol.name(),
                                 bound.value, rangeOf(symbol)),
                     ""};
      values.push_back(bound.value);
    }
    return values;
  }

private:
  static std::string rangeOf(const plan::Symbol &symbol) {
    if (symbol.max() == 0)
      return fmt::format("at least {}", symbol.min());
    return fmt::format("{} to {}", symbol.min(), symbol.max());
  }

  const plan::Plan &plan;
  const std::vector<TensorSpec> &specs;
  std::map<uint32_t, Bound> symbols; // by index register
};

} // namespace

static std::string namesOf(const std::vector<TensorSpec> &specs) {
  std::string names;
  for (const TensorSpec &spec : specs)
    names += (names.empty() ? "" : ", ") + spec.name;
  return names.empty() ? "none" : names;
}

Result<Binding> bindInputs(const plan::Plan &plan, const std::vector<TensorSpec> &specs,
                           const std::map<std::string, TensorView> &tensors) {
  Binding binding;
  Binder binder(plan, specs);
  for (size_t i = 0; i < specs.size(); ++i) {
    auto found = tensors.find(specs[i].name);
    if (found == tensors.end())
      return Error{ErrorCode::InputMissing, fmt::format("input \"{}\" is not given", specs[i].name), ""};
    if (Result<void> bound = binder.input(static_cast<int>(i), found->second); !bound)
      return bound.error();
    binding.inputs.push_back(&found->second);
  }
  if (tensors.size() != specs.size())
    for (const auto &[name, tensor] : tensors)
      if (std::none_of(specs.begin(), specs.end(),
                       [&, &name = name](const TensorSpec &spec) { return spec.name == name; }))
        return Error{ErrorCode::InputUnknown,
                     fmt::format("the model has no input \"{}\"; its inputs are: {}", name, namesOf(specs)),
                     ""};
  Result<std::vector<int64_t>> values = binder.values();
  if (!values)
    return values.error();
  binding.symbols = *values;
  return binding;
}

} // namespace joule
