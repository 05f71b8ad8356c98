// Recurrent cells. Everything is computed in double; states are rounded when they are stored.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

#include <functional>

namespace joule::reference {

namespace {

//===- Activations -------------------------------------------------------------------------------------------

/// An activation of ONNX: which parameters it takes, and their defaults.
struct ActivationRow {
  const char *name;
  std::optional<double> alpha, beta;
  double (*compute)(double x, double alpha, double beta);
};

const ActivationRow activationRows[] = {
    {"Relu", {}, {}, [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"Tanh", {}, {}, [](double x, double, double) { return std::tanh(x); }},
    {"Sigmoid", {}, {}, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"Affine", 1.0, 0.0, [](double x, double alpha, double beta) { return alpha * x + beta; }},
    {"LeakyRelu", 0.01, {}, [](double x, double alpha, double) { return x < 0 ? alpha * x : x; }},
    {"ThresholdedRelu", 1.0, {}, [](double x, double alpha, double) { return x < alpha ? 0 : x; }},
    {"ScaledTanh", 1.0, 1.0, [](double x, double alpha, double beta) { return alpha * std::tanh(beta * x); }},
    {"HardSigmoid", 0.2, 0.5,
     [](double x, double alpha, double beta) { return std::clamp(alpha * x + beta, 0.0, 1.0); }},
    {"Elu", 1.0, {}, [](double x, double alpha, double) { return x < 0 ? alpha * std::expm1(x) : x; }},
    {"Softsign", {}, {}, [](double x, double, double) { return x / (1 + std::fabs(x)); }},
    {"Softplus", {}, {}, [](double x, double, double) { return std::log1p(std::exp(x)); }},
};

using Activation = std::function<double(double)>;

/// The activations of a cell.
Result<std::vector<Activation>> activationsOf(const RecurrentOptions &options, size_t wanted) {
  if (options.activations.size() != wanted)
    return Failure{"has " + std::to_string(options.activations.size()) + " activations for " +
                   std::to_string(wanted)};
  std::vector<Activation> found;
  for (const std::string &name : options.activations) {
    size_t number = found.size();
    const auto *row = std::find_if(std::begin(activationRows), std::end(activationRows),
                                   [&](const ActivationRow &row) { return name == row.name; });
    if (row == std::end(activationRows))
      return Failure{"has an unknown activation \"" + name + "\""};
    double alpha = row->alpha.value_or(0), beta = row->beta.value_or(0);
    if (number < options.alphas.size())
      alpha = options.alphas[number];
    if (number < options.betas.size())
      beta = options.betas[number];
    found.push_back([row, alpha, beta](double x) { return row->compute(x, alpha, beta); });
  }
  return found;
}

//===- Walking time ------------------------------------------------------------------------------------------

/// Sizes of a cell's operands.
struct CellSizes {
  int64_t steps, batch, hidden, gates;
};

/// The state of one sequence.
struct State {
  std::vector<double> hidden, cell;
};

/// Advances a state by one step; `input` are the step's gate values.
using Step = std::function<void(const double *input, State &state)>;

Result<CellSizes> sizesOf(const Buffer &gates, const Buffer &recurrence, const Buffer &hInitial,
                          int64_t count) {
  int64_t hidden = recurrence.shape[1];
  CellSizes sizes{gates.shape[0], gates.shape[1], hidden, count};
  if (recurrence.shape[0] != count * hidden || gates.shape[2] != count * hidden ||
      hInitial.shape != Shape{sizes.batch, hidden})
    return Failure{"has gates of shape " + toString(gates.shape) + ", a recurrence of shape " +
                   toString(recurrence.shape) + " and an initial state of shape " + toString(hInitial.shape)};
  return sizes;
}

std::vector<double> rowOf(const Values<double> &values, int64_t row, int64_t length) {
  return std::vector<double>(values.data() + row * length, values.data() + (row + 1) * length);
}

/// Runs every sequence of the batch through `step`.
Result<Recurrent> walk(const CellSizes &sizes, const Buffer &gates, const Buffer &hInitial,
                       const Buffer *cInitial, const Buffer *lengths, bool reverse, const Step &step) {
  if (lengths && lengths->count() != sizes.batch)
    return Failure{"has lengths of shape " + toString(lengths->shape) + " for " +
                   std::to_string(sizes.batch) + " sequences"};
  Values<double> inputs(gates), hStart(hInitial);
  int64_t hidden = sizes.hidden;
  std::vector<double> sequence(sizes.steps * sizes.batch * hidden), hLast, cLast;
  for (int64_t b = 0; b < sizes.batch; ++b) {
    State state{rowOf(hStart, b, hidden), {}};
    if (cInitial)
      state.cell = rowOf(Values<double>(*cInitial), b, hidden);
    int64_t length = lengths ? std::clamp<int64_t>(lengths->integer(b), 0, sizes.steps) : sizes.steps;
    for (int64_t i = 0; i < length; ++i) {
      int64_t at = (reverse ? length - 1 - i : i) * sizes.batch + b;
      step(inputs.data() + at * sizes.gates * hidden, state);
      std::copy(state.hidden.begin(), state.hidden.end(), sequence.begin() + at * hidden);
    }
    hLast.insert(hLast.end(), state.hidden.begin(), state.hidden.end());
    cLast.insert(cLast.end(), state.cell.begin(), state.cell.end());
  }
  ElementType type = gates.type;
  Shape stateShape = {sizes.batch, hidden};
  Recurrent result{store<double>(type, {sizes.steps, sizes.batch, hidden}, sequence),
                   store<double>(type, stateShape, hLast), Buffer()};
  if (cInitial)
    result.cLast = store<double>(type, stateShape, cLast);
  return result;
}

double clipped(double x, double clip) { return clip > 0 ? std::clamp(x, -clip, clip) : x; }

/// Row `row` of the recurrence times a state.
double dot(const Values<double> &recurrence, int64_t row, const std::vector<double> &state) {
  double sum = 0;
  for (size_t k = 0; k < state.size(); ++k)
    sum += recurrence[row * state.size() + k] * state[k];
  return sum;
}

} // namespace

Result<Recurrent> lstm(const Buffer &gates, const Buffer &recurrence, const Buffer &hInitial,
                       const Buffer &cInitial, const Buffer *peepholes, const Buffer *lengths,
                       const RecurrentOptions &options, bool inputForget) {
  Result<CellSizes> sizes = sizesOf(gates, recurrence, hInitial, 4);
  if (!sizes)
    return Failure{sizes.error()};
  int64_t hidden = sizes->hidden;
  if (cInitial.shape != hInitial.shape || (peepholes && peepholes->shape != Shape{3 * hidden}))
    return Failure{"has an initial cell of shape " + toString(cInitial.shape) +
                   " or peepholes that do not fit"};
  Result<std::vector<Activation>> found = activationsOf(options, 3);
  if (!found)
    return Failure{found.error()};
  const Activation &onGates = (*found)[0], &onCell = (*found)[1], &onOutput = (*found)[2];

  Values<double> r(recurrence);
  Values<double> p(peepholes ? *peepholes : Buffer(ElementType::Float64, {3 * hidden}));
  return walk(
      *sizes, gates, hInitial, &cInitial, lengths, options.reverse, [&](const double *x, State &state) {
        State next = state;
        for (int64_t j = 0; j < hidden; ++j) {
          // Gates stand in the order i, o, f, c; peepholes in the order i, o, f.
          auto gate = [&](int64_t number, double peephole) {
            return clipped(x[number * hidden + j] + dot(r, number * hidden + j, state.hidden) + peephole,
                           options.clip);
          };
          double i = onGates(gate(0, p[j] * state.cell[j]));
          double f = inputForget ? 1 - i : onGates(gate(2, p[2 * hidden + j] * state.cell[j]));
          next.cell[j] = f * state.cell[j] + i * onCell(gate(3, 0));
          double o = onGates(gate(1, p[hidden + j] * next.cell[j]));
          next.hidden[j] = o * onOutput(next.cell[j]);
        }
        state = next;
      });
}

Result<Recurrent> gru(const Buffer &gates, const Buffer &recurrence, const Buffer &recurrentBias,
                      const Buffer &hInitial, const Buffer *lengths, const RecurrentOptions &options,
                      bool linearBeforeReset) {
  Result<CellSizes> sizes = sizesOf(gates, recurrence, hInitial, 3);
  if (!sizes)
    return Failure{sizes.error()};
  int64_t hidden = sizes->hidden;
  if (recurrentBias.shape != Shape{hidden})
    return Failure{"has a recurrent bias of shape " + toString(recurrentBias.shape)};
  Result<std::vector<Activation>> found = activationsOf(options, 2);
  if (!found)
    return Failure{found.error()};
  const Activation &onGates = (*found)[0], &onHidden = (*found)[1];

  Values<double> r(recurrence), bias(recurrentBias);
  return walk(*sizes, gates, hInitial, nullptr, lengths, options.reverse, [&](const double *x, State &state) {
    auto gate = [&](int64_t number, int64_t j) {
      int64_t row = number * hidden + j;
      return onGates(clipped(x[row] + dot(r, row, state.hidden), options.clip));
    };
    State scaled = state, next = state; // scaled by the reset gate
    std::vector<double> reset(hidden);
    for (int64_t j = 0; j < hidden; ++j) {
      reset[j] = gate(1, j);
      scaled.hidden[j] *= reset[j];
    }
    for (int64_t j = 0; j < hidden; ++j) {
      int64_t row = 2 * hidden + j;
      double recurrent = linearBeforeReset ? reset[j] * (dot(r, row, state.hidden) + bias[j])
                                           : dot(r, row, scaled.hidden) + bias[j];
      double update = gate(0, j), candidate = onHidden(clipped(x[row] + recurrent, options.clip));
      next.hidden[j] = (1 - update) * candidate + update * state.hidden[j];
    }
    state = next;
  });
}

Result<Recurrent> rnn(const Buffer &gates, const Buffer &recurrence, const Buffer &hInitial,
                      const Buffer *lengths, const RecurrentOptions &options) {
  Result<CellSizes> sizes = sizesOf(gates, recurrence, hInitial, 1);
  if (!sizes)
    return Failure{sizes.error()};
  Result<std::vector<Activation>> found = activationsOf(options, 1);
  if (!found)
    return Failure{found.error()};

  Values<double> r(recurrence);
  return walk(*sizes, gates, hInitial, nullptr, lengths, options.reverse, [&](const double *x, State &state) {
    State next = state;
    for (int64_t j = 0; j < sizes->hidden; ++j)
      next.hidden[j] = found->front()(clipped(x[j] + dot(r, j, state.hidden), options.clip));
    state = next;
  });
}

} // namespace joule::reference
