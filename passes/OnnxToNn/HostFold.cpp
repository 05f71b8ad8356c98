// Shape arithmetic: nodes on small integer tensors that the host calculates while the walk goes on.
//
// A node is of this kind where the host knows all its inputs' elements, as constants or `index` values. Floats take
// part as long as they are integral: exporters calculate sizes so. Whatever a function here declines is translated
// like any other node.
#include "passes/OnnxToNn/Translator.h"

using namespace mlir;
using namespace joule::translate;

namespace {

constexpr int64_t maxHostElements = 4096;

/// A small tensor whose elements the host knows.
struct Host {
  SmallVector<int64_t> shape;
  SmallVector<Index> elements;
  int dataType = Int64;

  int64_t rank() const { return shape.size(); }
};

using Fold = std::optional<Host> (*)(Node &, ArrayRef<Host>);

int64_t count(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    if (size < 0 || llvm::MulOverflow(product, size, product) || product > maxHostElements)
      return -1;
  return product;
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

/// Calls `visit` with each index of `shape`, in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t left = count(shape); left > 0; --left) {
    visit(index);
    for (int64_t dim = int64_t(shape.size()) - 1; dim >= 0 && ++index[dim] == shape[dim]; --dim)
      index[dim] = 0;
  }
}

std::optional<SmallVector<int64_t>> constants(const Host &host) {
  SmallVector<int64_t> values;
  for (Index element : host.elements)
    if (auto value = IndexMath::known(element))
      values.push_back(*value);
    else
      return std::nullopt;
  return values;
}

/// `host` repeated to `shape`; none where that does not fit.
std::optional<Host> expand(const Host &host, ArrayRef<int64_t> shape) {
  int64_t lead = int64_t(shape.size()) - host.rank();
  if (lead < 0 || count(shape) < 0)
    return std::nullopt;
  SmallVector<int64_t> strides = stridesOf(host.shape);
  for (int64_t dim = 0; dim < host.rank(); ++dim) {
    if (host.shape[dim] == 1)
      strides[dim] = 0;
    else if (host.shape[dim] != shape[lead + dim])
      return std::nullopt;
  }
  Host result = {llvm::to_vector(shape), {}, host.dataType};
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (int64_t dim = 0; dim < host.rank(); ++dim)
      from += index[lead + dim] * strides[dim];
    result.elements.push_back(host.elements[from]);
  });
  return result;
}

/// All of `hosts` repeated to the shape they have together.
std::optional<SmallVector<Host>> broadcastAll(ArrayRef<Host> hosts) {
  SmallVector<int64_t> shape;
  for (const Host &host : hosts) {
    if (host.shape.size() > shape.size())
      shape.insert(shape.begin(), host.shape.size() - shape.size(), 1);
    for (size_t i = 0, dim = shape.size() - host.shape.size(); dim < shape.size(); ++dim, ++i)
      if (host.shape[i] != 1)
        shape[dim] = host.shape[i];
  }
  SmallVector<Host> result;
  for (const Host &host : hosts) {
    std::optional<Host> one = expand(host, shape);
    if (!one)
      return std::nullopt;
    result.push_back(std::move(*one));
  }
  return result;
}

//===- Pointwise -----------------------------------------------------------------------------------------------------

/// Keeps 32-bit arithmetic on constants within 32 bits.
Index wrap(Node &node, Index value, int dataType) {
  auto known = IndexMath::known(value);
  return known && dataType == Int32 ? node.math.constant(int32_t(*known)) : value;
}

template <typename Emit> std::optional<Host> pointwise(Node &node, ArrayRef<Host> inputs, int dataType, Emit emit) {
  auto operands = broadcastAll(inputs);
  if (!operands)
    return std::nullopt;
  Host result = {operands->front().shape, {}, dataType};
  for (size_t i = 0; i < operands->front().elements.size(); ++i) {
    SmallVector<Index> each;
    for (const Host &operand : *operands)
      each.push_back(operand.elements[i]);
    result.elements.push_back(wrap(node, emit(each), dataType));
  }
  return result;
}

template <Index (IndexMath::*op)(Location, Index, Index)>
std::optional<Host> arithmetic(Node &node, ArrayRef<Host> inputs) {
  for (const Host &input : inputs)
    if (input.dataType != inputs.front().dataType || input.dataType == Bool)
      return std::nullopt;
  return pointwise(node, inputs, inputs.front().dataType, [&](ArrayRef<Index> each) {
    Index result = each.front();
    for (Index operand : each.drop_front())
      result = (node.math.*op)(node.loc, result, operand);
    return result;
  });
}

bool isFloatType(int dataType) { return dataType == Float || dataType == Double || dataType == Float16; }

/// Rounds toward zero. A quotient of floats is integral only by chance, and a divisor of 0 is the run's affair.
std::optional<Host> divide(Node &node, ArrayRef<Host> inputs) {
  if (isFloatType(inputs[0].dataType) ||
      llvm::any_of(inputs[1].elements, [](Index index) { return IndexMath::known(index).value_or(0) == 0; }))
    return std::nullopt;
  return arithmetic<&IndexMath::truncDiv>(node, inputs);
}

std::optional<Host> modulo(Node &node, ArrayRef<Host> inputs) {
  if (node.flag("fmod") || isFloatType(inputs[0].dataType) ||
      llvm::any_of(inputs[1].elements, [](Index index) { return IndexMath::known(index).value_or(0) == 0; }))
    return std::nullopt;
  return arithmetic<&IndexMath::floorMod>(node, inputs);
}

template <arith::CmpIPredicate predicate> std::optional<Host> compare(Node &node, ArrayRef<Host> inputs) {
  if (inputs[0].dataType != inputs[1].dataType)
    return std::nullopt;
  return pointwise(node, inputs, Bool,
                   [&](ArrayRef<Index> each) { return node.math.compare(node.loc, predicate, each[0], each[1]); });
}

std::optional<Host> where(Node &node, ArrayRef<Host> inputs) {
  if (inputs[0].dataType != Bool || inputs[1].dataType != inputs[2].dataType)
    return std::nullopt;
  return pointwise(node, inputs, inputs[1].dataType, [&](ArrayRef<Index> each) {
    return node.math.select(node.loc, each[0], each[1], each[2]);
  });
}

template <Index (IndexMath::*op)(Location, Index, Index)>
std::optional<Host> logical(Node &node, ArrayRef<Host> inputs) {
  if (inputs[0].dataType != Bool || inputs[1].dataType != Bool)
    return std::nullopt;
  return pointwise(node, inputs, Bool,
                   [&](ArrayRef<Index> each) { return (node.math.*op)(node.loc, each[0], each[1]); });
}

std::optional<Host> logicalNot(Node &node, ArrayRef<Host> inputs) {
  if (inputs[0].dataType != Bool)
    return std::nullopt;
  return pointwise(node, inputs, Bool,
                   [&](ArrayRef<Index> each) { return node.math.sub(node.loc, node.math.constant(1), each[0]); });
}

std::optional<Host> negate(Node &node, ArrayRef<Host> inputs) {
  return pointwise(node, inputs, inputs[0].dataType,
                   [&](ArrayRef<Index> each) { return node.math.sub(node.loc, node.math.constant(0), each[0]); });
}

/// The rounding operations: what is integral stays.
std::optional<Host> same(Node &node, ArrayRef<Host> inputs) { return inputs[0]; }

std::optional<Host> castTo(Node &node, const Host &input, int dataType) {
  Host result = input;
  result.dataType = dataType;
  if (dataType == Bool) {
    Index zero = node.math.constant(0);
    for (Index &element : result.elements)
      element = node.math.compare(node.loc, arith::CmpIPredicate::ne, element, zero);
    return result;
  }
  if (dataType == Int32)
    for (Index &element : result.elements)
      element = wrap(node, element, Int32);
  if (dataType == Int64 || dataType == Int32 || dataType == Float || dataType == Double)
    return result;
  return std::nullopt;
}

std::optional<Host> castFold(Node &node, ArrayRef<Host> inputs) {
  return castTo(node, inputs[0], int(node.integer("to", 0)));
}

//===- Layout --------------------------------------------------------------------------------------------------------

std::optional<int64_t> normalize(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

/// The axes of an attribute or, in newer versions, of the second input.
std::optional<SmallVector<int64_t>> axesOf(Node &node, ArrayRef<Host> inputs, int64_t rank) {
  std::optional<SmallVector<int64_t>> axes = node.integers("axes");
  if (inputs.size() > 1)
    axes = constants(inputs[1]);
  if (axes)
    for (int64_t &axis : *axes) {
      auto normal = normalize(axis, rank);
      if (!normal)
        return std::nullopt;
      axis = *normal;
    }
  return axes;
}

std::optional<Host> unsqueeze(Node &node, ArrayRef<Host> inputs) {
  int64_t given = inputs.size() > 1 ? int64_t(inputs[1].elements.size()) : int64_t(node.integers("axes").size());
  int64_t rank = inputs[0].rank() + given;
  auto axes = axesOf(node, inputs, rank);
  if (!axes)
    return std::nullopt;
  Host result = inputs[0];
  llvm::sort(*axes);
  if (std::unique(axes->begin(), axes->end()) != axes->end())
    return std::nullopt;
  for (int64_t axis : *axes)
    result.shape.insert(result.shape.begin() + axis, 1);
  return result;
}

std::optional<Host> squeeze(Node &node, ArrayRef<Host> inputs) {
  auto axes = axesOf(node, inputs, inputs[0].rank());
  if (!axes)
    return std::nullopt;
  Host result = inputs[0];
  result.shape.clear();
  bool all = !node.hasAttribute("axes") && inputs.size() < 2;
  for (auto [dim, size] : llvm::enumerate(inputs[0].shape)) {
    bool dropped = all ? size == 1 : llvm::is_contained(*axes, int64_t(dim));
    if (dropped && size != 1)
      return std::nullopt;
    if (!dropped)
      result.shape.push_back(size);
  }
  return result;
}

std::optional<Host> reshape(Node &node, ArrayRef<Host> inputs) {
  std::optional<SmallVector<int64_t>> shape = node.integers("shape");
  if (inputs.size() > 1)
    shape = constants(inputs[1]);
  if (!shape || node.flag("allowzero"))
    return std::nullopt;
  int64_t total = inputs[0].elements.size(), others = 1, *inferred = nullptr;
  for (auto [dim, size] : llvm::enumerate(*shape)) {
    if (size == 0 && int64_t(dim) < inputs[0].rank())
      size = inputs[0].shape[dim];
    if (size == -1 && !inferred)
      inferred = &size;
    else if (size < 0 || size > maxHostElements || (others *= size) > maxHostElements)
      return std::nullopt;
  }
  if (inferred && others > 0)
    *inferred = total / others;
  if (count(*shape) != total)
    return std::nullopt;
  return Host{*shape, inputs[0].elements, inputs[0].dataType};
}

std::optional<Host> transpose(Node &node, ArrayRef<Host> inputs) {
  const Host &input = inputs[0];
  SmallVector<int64_t> reversed = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, input.rank())));
  SmallVector<int64_t> permutation = node.integers("perm", reversed), sorted = permutation, shape;
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, input.rank())))
    return std::nullopt;
  SmallVector<int64_t> strides = stridesOf(input.shape);
  for (int64_t dim : permutation)
    shape.push_back(input.shape[dim]);
  Host result = {shape, {}, input.dataType};
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (auto [i, dim] : llvm::zip(index, permutation))
      from += i * strides[dim];
    result.elements.push_back(input.elements[from]);
  });
  return result;
}

/// Slices `positions` of `input` along `axis`.
Host take(const Host &input, int64_t axis, ArrayRef<int64_t> positions) {
  Host result = {input.shape, {}, input.dataType};
  result.shape[axis] = positions.size();
  SmallVector<int64_t> strides = stridesOf(input.shape);
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (int64_t dim = 0; dim < input.rank(); ++dim)
      from += (dim == axis ? positions[index[dim]] : index[dim]) * strides[dim];
    result.elements.push_back(input.elements[from]);
  });
  return result;
}

std::optional<Host> gather(Node &node, ArrayRef<Host> inputs) {
  auto axis = normalize(node.integer("axis", 0), inputs[0].rank());
  auto positions = constants(inputs[1]);
  if (!axis || !positions)
    return std::nullopt;
  int64_t size = inputs[0].shape[*axis];
  for (int64_t &position : *positions) {
    auto normal = normalize(position, size);
    if (!normal)
      return std::nullopt;
    position = *normal;
  }
  Host result = take(inputs[0], *axis, *positions);
  if (count(result.shape) < 0)
    return std::nullopt;
  result.shape.erase(result.shape.begin() + *axis);
  result.shape.insert(result.shape.begin() + *axis, inputs[1].shape.begin(), inputs[1].shape.end());
  return result;
}

/// The positions that start:end:step take of `size` elements.
SmallVector<int64_t> positionsOf(int64_t start, int64_t end, int64_t step, int64_t size) {
  SmallVector<int64_t> positions;
  start = start < 0 ? start + size : start;
  end = end < 0 ? end + size : end;
  if (step > 0)
    for (int64_t i = std::max<int64_t>(start, 0); i < std::min(end, size); i += std::min(step, size + 1))
      positions.push_back(i);
  else
    for (int64_t i = std::min(start, size - 1); i > std::max<int64_t>(end, -1); i -= std::min(-step, size + 1))
      positions.push_back(i);
  return positions;
}

std::optional<Host> slice(Node &node, ArrayRef<Host> inputs) {
  SmallVector<std::optional<SmallVector<int64_t>>> lists = {node.integers("starts"), node.integers("ends"),
                                                            node.integers("axes"), std::nullopt};
  for (size_t i = 1; i < inputs.size(); ++i)
    if (!(lists[i - 1] = constants(inputs[i])))
      return std::nullopt;
  // A left-out `axes` before `steps` would have shifted the list above.
  if (inputs.size() == 4 && !node.has(3))
    return std::nullopt;
  SmallVector<int64_t> starts = *lists[0], ends = *lists[1], axes = *lists[2];
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  SmallVector<int64_t> steps = lists[3].value_or(SmallVector<int64_t>(starts.size(), 1));
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    return std::nullopt;
  Host result = inputs[0];
  for (auto [start, end, axis, step] : llvm::zip(starts, ends, axes, steps)) {
    auto dim = normalize(axis, result.rank());
    if (!dim || step == 0 || step == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    result = take(result, *dim, positionsOf(start, end, step, result.shape[*dim]));
  }
  return result;
}

std::optional<Host> concat(Node &node, ArrayRef<Host> inputs) {
  const Host &first = inputs.front();
  auto axis = normalize(node.integer("axis", 1), first.rank());
  if (!axis)
    return std::nullopt;
  Host result = first;
  result.shape[*axis] = 0;
  for (const Host &input : inputs) {
    if (input.dataType != first.dataType || input.rank() != first.rank())
      return std::nullopt;
    for (int64_t dim = 0; dim < first.rank(); ++dim)
      if (dim != *axis && input.shape[dim] != first.shape[dim])
        return std::nullopt;
    result.shape[*axis] += input.shape[*axis];
  }
  if (count(result.shape) < 0)
    return std::nullopt;
  result.elements.clear();
  forEachIndex(result.shape, [&](ArrayRef<int64_t> index) {
    int64_t along = index[*axis];
    const Host *part = inputs.begin();
    for (; along >= part->shape[*axis]; ++part)
      along -= part->shape[*axis];
    SmallVector<int64_t> strides = stridesOf(part->shape);
    int64_t from = 0;
    for (int64_t dim = 0; dim < result.rank(); ++dim)
      from += (dim == *axis ? along : index[dim]) * strides[dim];
    result.elements.push_back(part->elements[from]);
  });
  return result;
}

std::optional<Host> expandFold(Node &node, ArrayRef<Host> inputs) {
  auto shape = constants(inputs[1]);
  if (!shape || count(*shape) < 0)
    return std::nullopt;
  Host target = {*shape, SmallVector<Index>(count(*shape), node.math.constant(0)), Int64};
  auto both = broadcastAll({inputs[0], target});
  return both ? std::optional((*both)[0]) : std::nullopt;
}

std::optional<Host> range(Node &node, ArrayRef<Host> inputs) {
  SmallVector<int64_t> bounds;
  for (const Host &input : inputs) {
    auto bound = constants(input);
    if (!bound || bound->size() != 1 || isFloatType(input.dataType))
      return std::nullopt;
    bounds.push_back(bound->front());
  }
  int64_t start = bounds[0], limit = bounds[1], delta = bounds[2];
  int64_t most = std::numeric_limits<int32_t>::max();
  if (delta == 0 || std::abs(start) > most || std::abs(limit) > most || std::abs(delta) > most)
    return std::nullopt;
  Host result = {{0}, {}, inputs[0].dataType};
  for (int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta) {
    if (int64_t(result.elements.size()) == maxHostElements)
      return std::nullopt;
    result.elements.push_back(node.math.constant(i));
  }
  result.shape[0] = result.elements.size();
  return result;
}

//===- Reductions ----------------------------------------------------------------------------------------------------

/// A reduction of a vector to one number.
template <Index (IndexMath::*op)(Location, Index, Index)>
std::optional<Host> reduce(Node &node, ArrayRef<Host> inputs) {
  const Host &input = inputs[0];
  auto axes = axesOf(node, inputs, input.rank());
  bool all = axes && (axes->empty() ? !node.flag("noop_with_empty_axes") : int64_t(axes->size()) == input.rank());
  if (!all || input.elements.empty() || input.dataType == Bool)
    return std::nullopt;
  Index result = input.elements.front();
  for (Index element : ArrayRef(input.elements).drop_front())
    result = (node.math.*op)(node.loc, result, element);
  SmallVector<int64_t> shape(node.flag("keepdims", true) ? input.rank() : 0, 1);
  return Host{shape, {wrap(node, result, input.dataType)}, input.dataType};
}

using P = arith::CmpIPredicate;

Fold foldOf(StringRef name) {
  return llvm::StringSwitch<Fold>(name)
      .Case("Add", arithmetic<&IndexMath::add>)
      .Case("And", logical<&IndexMath::min>)
      .Case("Cast", castFold)
      .Cases("Ceil", "Floor", "Round", "Identity", same)
      .Case("Concat", concat)
      .Case("Div", divide)
      .Case("Equal", compare<P::eq>)
      .Case("Expand", expandFold)
      .Case("Gather", gather)
      .Case("Greater", compare<P::sgt>)
      .Case("GreaterOrEqual", compare<P::sge>)
      .Case("Less", compare<P::slt>)
      .Case("LessOrEqual", compare<P::sle>)
      .Case("Max", arithmetic<&IndexMath::max>)
      .Case("Min", arithmetic<&IndexMath::min>)
      .Case("Mod", modulo)
      .Case("Mul", arithmetic<&IndexMath::mul>)
      .Case("Neg", negate)
      .Case("Not", logicalNot)
      .Case("Or", logical<&IndexMath::max>)
      .Case("Range", range)
      .Case("ReduceMax", reduce<&IndexMath::max>)
      .Case("ReduceMin", reduce<&IndexMath::min>)
      .Case("ReduceProd", reduce<&IndexMath::mul>)
      .Case("ReduceSum", reduce<&IndexMath::add>)
      .Case("Reshape", reshape)
      .Case("Slice", slice)
      .Case("Squeeze", squeeze)
      .Case("Sub", arithmetic<&IndexMath::sub>)
      .Case("Sum", arithmetic<&IndexMath::add>)
      .Case("Transpose", transpose)
      .Case("Unsqueeze", unsqueeze)
      .Case("Where", where)
      .Default(nullptr);
}

bool isHostType(int dataType) { return llvm::is_contained({Int32, Int64, Bool, Float, Double, Float16}, dataType); }

} // namespace

bool joule::translate::foldOnHost(Node &node) {
  Fold fold = node.op.getDomain().empty() ? foldOf(node.op.getOpType()) : nullptr;
  if (!fold || node.numResults() != 1)
    return false;
  SmallVector<Host> inputs;
  bool anyVariable = false, anyFloat = false;
  for (int64_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      continue;
    // A fold finds its inputs by their position.
    if (static_cast<int64_t>(inputs.size()) != i)
      return false;
    Tensor &tensor = node.input(i);
    SmallVector<Index> *elements = isHostType(tensor.dataType) ? node.translator.hostElements(tensor) : nullptr;
    if (!elements)
      return false;
    Host host = {{}, *elements, tensor.dataType};
    for (int64_t dim = 0; dim < tensor.rank(); ++dim)
      host.shape.push_back(*tensor.knownSize(dim));
    anyFloat |= isFloatType(tensor.dataType);
    anyVariable |= llvm::any_of(*elements, [](Index element) { return !IndexMath::known(element); });
    inputs.push_back(std::move(host));
  }
  // Constant floats are data as any other.
  if (inputs.empty() || (anyFloat && !anyVariable && node.op.getOpType() != "Cast"))
    return false;
  std::optional<Host> result = fold(node, inputs);
  if (!result)
    return false;
  return succeeded(node.yield({node.hostTensor(result->elements, result->shape, result->dataType)}));
}
