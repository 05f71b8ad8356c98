// The order in which a graph's nodes can run.
#include "lib/Import/NodeOrder.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

namespace {

void collectReads(const NodeProto &node, llvm::StringSet<> &reads);

/// The names that `graph` reads but does not define.
void collectFreeNames(const GraphProto &graph, llvm::StringSet<> &reads) {
  llvm::StringSet<> inside, defined;
  for (const auto &input : graph.input())
    defined.insert(input.name());
  for (const auto &tensor : graph.initializer())
    defined.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    defined.insert(tensor.values().name());
  for (const NodeProto &node : graph.node()) {
    collectReads(node, inside);
    defined.insert(node.output().begin(), node.output().end());
  }
  for (const auto &output : graph.output())
    inside.insert(output.name());
  for (const auto &name : inside)
    if (!defined.contains(name.getKey()))
      reads.insert(name.getKey());
}

void collectReads(const NodeProto &node, llvm::StringSet<> &reads) {
  reads.insert(node.input().begin(), node.input().end());
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      collectFreeNames(attribute.g(), reads);
    for (const GraphProto &graph : attribute.graphs())
      collectFreeNames(graph, reads);
  }
}

/// A depth-first walk from each node to those it depends on, without recursion: chains may be as long as they like.
class Order {
public:
  Order(const joule::NodeList &nodes) : nodes(nodes), states(nodes.size(), State::New) {
    for (auto [index, node] : llvm::enumerate(nodes))
      for (const std::string &name : node.output())
        if (!name.empty())
          producers.try_emplace(name, int(index));
  }

  /// True unless the walk from `root` meets a cycle; `ordered` then ends with a node of it.
  bool visit(int root);
  SmallVector<const NodeProto *> ordered;

private:
  enum class State : char { New, Open, Done };
  struct Frame {
    int node;
    SmallVector<int> dependencies;
  };

  bool open(int node);

  const joule::NodeList &nodes;
  std::vector<State> states;
  llvm::StringMap<int> producers;
  SmallVector<Frame> stack;
};

bool Order::open(int node) {
  if (states[node] == State::Done)
    return true;
  if (states[node] == State::Open) {
    ordered.push_back(&nodes[node]);
    return false;
  }
  states[node] = State::Open;
  llvm::StringSet<> reads;
  collectReads(nodes[node], reads);
  Frame frame = {node, {}};
  for (const auto &name : reads)
    if (auto producer = producers.find(name.getKey()); producer != producers.end())
      frame.dependencies.push_back(producer->second);
  // The walk takes the last first: earlier nodes shall come out earlier.
  llvm::sort(frame.dependencies, std::greater<>());
  stack.push_back(std::move(frame));
  return true;
}

bool Order::visit(int root) {
  if (!open(root))
    return false;
  while (!stack.empty()) {
    if (stack.back().dependencies.empty()) {
      ordered.push_back(&nodes[stack.back().node]);
      states[stack.back().node] = State::Done;
      stack.pop_back();
    } else if (!open(stack.back().dependencies.pop_back_val())) {
      return false;
    }
  }
  return true;
}

} // namespace

FailureOr<SmallVector<const NodeProto *>> joule::orderNodes(const NodeList &nodes,
                                                            llvm::function_ref<void(const NodeProto &)> onCycle) {
  Order order(nodes);
  for (int root = 0; root < nodes.size(); ++root)
    if (!order.visit(root)) {
      onCycle(*order.ordered.back());
      return failure();
    }
  return std::move(order.ordered);
}
