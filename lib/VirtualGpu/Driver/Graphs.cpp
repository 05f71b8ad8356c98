// Graphs: made node by node, cloned, looked into; made executable, updated, launched.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Graph.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace joule::vgpu;

struct CUuserObject_st {
  std::shared_ptr<void> data; // destroyed with the last reference
  unsigned references = 0;
};

namespace joule::vgpu {
namespace {

int typeOf(const Work &work) {
  struct Types {
    int operator()(const EmptyWork &) { return CU_GRAPH_NODE_TYPE_EMPTY; }
    int operator()(const KernelWork &) { return CU_GRAPH_NODE_TYPE_KERNEL; }
    int operator()(const CopyWork &) { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    int operator()(const FillWork &) { return CU_GRAPH_NODE_TYPE_MEMSET; }
    int operator()(const HostWork &) { return CU_GRAPH_NODE_TYPE_HOST; }
    int operator()(const RecordWork &) { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
    int operator()(const WaitWork &) { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
    int operator()(const AllocWork &) { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    int operator()(const FreeWork &) { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    int operator()(const WordWork &) { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
    int operator()(const GraphWork &) { return CU_GRAPH_NODE_TYPE_GRAPH; }
  };
  return std::visit(Types(), work);
}

template <class T> T &workOf(CUgraphNode node) {
  wantHandle(node, HandleKind::GraphNode);
  T *work = std::get_if<T>(&node->work);
  want(work, "a node of another type");
  return *work;
}

/// The nodes in an order in which each comes after those that it waits for.
std::vector<CUgraphNode> inOrder(CUgraph graph) {
  std::vector<CUgraphNode> order;
  std::set<CUgraphNode> placed;
  bool isMoving = true;
  while (isMoving) {
    isMoving = false;
    for (auto &node : graph->nodes) {
      auto isPlaced = [&](CUgraphNode other) { return placed.count(other) != 0; };
      if (isPlaced(node.get()) ||
          !std::all_of(node->dependencies.begin(), node->dependencies.end(), isPlaced))
        continue;
      placed.insert(node.get());
      order.push_back(node.get());
      isMoving = true;
    }
  }
  if (order.size() != graph->nodes.size())
    fail(CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
  return order;
}

std::shared_ptr<GraphBody> bodyOf(CUgraph graph);

/// What a node runs; a child graph's at this moment.
Work stepOf(CUgraphNode node) {
  if (node->child)
    return GraphWork{bodyOf(node->child)};
  return node->work;
}

std::shared_ptr<GraphBody> bodyOf(CUgraph graph) {
  std::lock_guard lock(graph->mutex);
  auto body = std::make_shared<GraphBody>();
  for (CUgraphNode node : inOrder(graph))
    body->steps.push_back(stepOf(node));
  return body;
}

/// Fills a caller's array as far as it reaches; without an array only the number is told.
void give(const std::vector<CUgraphNode> &nodes, CUgraphNode *array, size_t *count) {
  want(count, "null pointer");
  if (array)
    for (size_t i = 0; i < *count; ++i)
      array[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = array ? std::min(*count, nodes.size()) : nodes.size();
}

std::vector<CUgraphNode> dependenciesFrom(CUgraph graph, const CUgraphNode *nodes, size_t count) {
  want(nodes || !count, "null pointer");
  std::vector<CUgraphNode> found;
  for (size_t i = 0; i < count; ++i) {
    wantHandle(nodes[i], HandleKind::GraphNode);
    want(nodes[i]->graph == graph, "a node of another graph");
    want(std::find(found.begin(), found.end(), nodes[i]) == found.end(), "a dependency is given twice");
    found.push_back(nodes[i]);
  }
  return found;
}

CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count, Work work) {
  want(node, "null pointer");
  wantHandle(graph, HandleKind::Graph);
  *node = addNode(graph, std::move(work), dependenciesFrom(graph, dependencies, count));
  return CUDA_SUCCESS;
}

CUgraph cloneOf(CUgraph original) {
  std::lock_guard lock(original->mutex);
  CUgraph clone = makeGraph();
  std::map<CUgraphNode, CUgraphNode> twins;
  for (auto &node : original->nodes) {
    auto twin = std::make_unique<CUgraphNode_st>();
    twin->graph = clone;
    twin->work = node->work;
    twin->original = node.get();
    twin->attributes = node->attributes;
    if (node->child) {
      twin->child = cloneOf(node->child);
      twin->child->isOfNode = true;
    }
    twins[node.get()] = twin.get();
    driver().handles.add(twin.get(), HandleKind::GraphNode);
    clone->nodes.push_back(std::move(twin));
  }
  for (auto &node : original->nodes)
    for (CUgraphNode dependency : node->dependencies)
      twins[node.get()]->dependencies.push_back(twins[dependency]);
  return clone;
}

void destroy(CUgraph graph) {
  if (!driver().handles.remove(graph, HandleKind::Graph))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a graph");
  forgetCaptured(graph, nullptr);
  for (auto &node : graph->nodes) {
    driver().handles.remove(node.get(), HandleKind::GraphNode);
    if (node->child)
      destroy(node->child);
  }
  std::map<CUuserObject, unsigned> objects = std::move(graph->objects);
  delete graph;
  for (auto &[object, references] : objects)
    cuUserObjectRelease(object, references);
}

} // namespace

CUgraph makeGraph() {
  auto graph = std::make_unique<CUgraph_st>();
  driver().handles.add(graph.get(), HandleKind::Graph);
  return graph.release();
}

CUgraphNode addNode(CUgraph graph, Work work, const std::vector<CUgraphNode> &dependencies) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = graph;
  node->work = std::move(work);
  node->dependencies = dependencies;
  driver().handles.add(node.get(), HandleKind::GraphNode);
  std::lock_guard lock(graph->mutex);
  graph->nodes.push_back(std::move(node));
  return graph->nodes.back().get();
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags) {
  want(graph && flags == 0, "null pointer or flags");
  deviceAt(0);
  *graph = makeGraph();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  wantHandle(graph, HandleKind::Graph);
  want(!graph->isOfNode, "the graph is a node's");
  destroy(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph original) {
  want(clone, "null pointer");
  wantHandle(original, HandleKind::Graph);
  *clone = cloneOf(original);
  return CUDA_SUCCESS;
}

// --- nodes by type ---

static CUDA_KERNEL_NODE_PARAMS widen(const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  want(parameters, "null pointer");
  return {*parameters, nullptr, nullptr};
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  ready();
  return add(node, graph, dependencies, count, makeKernelWork(*parameters));
}
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
  return cuGraphAddKernelNode_v2(node, graph, dependencies, count, &wide);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  KernelWork &work = workOf<KernelWork>(node);
  const LaunchRequest &request = work.request;
  CUfunction function = functionOf(work);
  node->parameterPointers.clear();
  for (uint32_t offset : function->image->entry().kernelParameters)
    node->parameterPointers.push_back(work.request.parameters.data() + offset);
  parameters->first = {function,         request.grid[0],       request.grid[1],
                       request.grid[2],  request.block[0],      request.block[1],
                       request.block[2], request.dynamicShared, node->parameterPointers.data(),
                       nullptr};
  parameters->kern = nullptr;
  parameters->ctx = function->module->context;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  want(parameters, "null pointer");
  CUDA_KERNEL_NODE_PARAMS wide;
  cuGraphKernelNodeGetParams_v2(node, &wide);
  *parameters = wide.first;
  return CUDA_SUCCESS;
}

/// A node's new work keeps what its attributes say.
static void setKernel(CUgraphNode node, KernelWork work) {
  KernelWork &old = workOf<KernelWork>(node);
  work.request.cooperative = old.request.cooperative;
  old = std::move(work);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  workOf<KernelWork>(node);
  setKernel(node, makeKernelWork(*parameters));
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  CUDA_KERNEL_NODE_PARAMS wide = widen(parameters);
  return cuGraphKernelNodeSetParams_v2(node, &wide);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, int attribute, const CUlaunchAttributeValue *value) {
  want(value, "null pointer");
  KernelWork &work = workOf<KernelWork>(node);
  if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
    work.request.cooperative = value->cooperative != 0;
  node->attributes[attribute] = *value;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, int attribute, CUlaunchAttributeValue *value) {
  want(value, "null pointer");
  KernelWork &work = workOf<KernelWork>(node);
  auto it = node->attributes.find(attribute);
  *value = it == node->attributes.end() ? CUlaunchAttributeValue{} : it->second;
  if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
    value->cooperative = work.request.cooperative;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  KernelWork &source = workOf<KernelWork>(from);
  workOf<KernelWork>(to).request.cooperative = source.request.cooperative;
  to->attributes = from->attributes;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMCPY3D *copy, CUcontext) {
  want(copy, "null pointer");
  ready();
  return add(node, graph, dependencies, count, makeCopyWork(*copy));
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy) {
  want(copy, "null pointer");
  *copy = workOf<CopyWork>(node).asked;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
  want(copy, "null pointer");
  workOf<CopyWork>(node) = makeCopyWork(*copy);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext) {
  want(parameters, "null pointer");
  ready();
  return add(node, graph, dependencies, count, makeFillWork(*parameters));
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  *parameters = workOf<FillWork>(node).box;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  workOf<FillWork>(node) = makeFillWork(*parameters);
  return CUDA_SUCCESS;
}

static HostWork hostWork(const CUDA_HOST_NODE_PARAMS *parameters) {
  want(parameters && parameters->fn, "null function");
  HostWork work;
  work.function = parameters->fn;
  work.data = parameters->userData;
  return work;
}
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS *parameters) {
  return add(node, graph, dependencies, count, hostWork(parameters));
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  HostWork &work = workOf<HostWork>(node);
  *parameters = {work.function, work.data};
  return CUDA_SUCCESS;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *parameters) {
  workOf<HostWork>(node) = hostWork(parameters);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, CUgraph child) {
  wantHandle(child, HandleKind::Graph);
  want(child != graph, "a graph cannot hold itself");
  add(node, graph, dependencies, count, GraphWork{});
  (*node)->child = cloneOf(child);
  (*node)->child->isOfNode = true;
  return CUDA_SUCCESS;
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
  want(graph, "null pointer");
  workOf<GraphWork>(node);
  want(node->child, "the node was captured from a launch");
  *graph = node->child;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t count) {
  return add(node, graph, dependencies, count, EmptyWork{});
}

template <class T> static T eventWork(CUevent event) {
  wantHandle(event, HandleKind::Event);
  return T{event};
}
template <class T> static CUresult giveEvent(CUgraphNode node, CUevent *event) {
  want(event, "null pointer");
  *event = workOf<T>(node).event;
  return CUDA_SUCCESS;
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t count, CUevent event) {
  return add(node, graph, dependencies, count, eventWork<RecordWork>(event));
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
  return giveEvent<RecordWork>(node, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  workOf<RecordWork>(node) = eventWork<RecordWork>(event);
  return CUDA_SUCCESS;
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, CUevent event) {
  return add(node, graph, dependencies, count, eventWork<WaitWork>(event));
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
  return giveEvent<WaitWork>(node, event);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  workOf<WaitWork>(node) = eventWork<WaitWork>(event);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  wantHandle(graph, HandleKind::Graph);
  AllocWork work = makeAllocWork(ready(), *parameters);
  parameters->dptr = work.parameters.dptr;
  return add(node, graph, dependencies, count, std::move(work));
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  *parameters = workOf<AllocWork>(node).parameters;
  return CUDA_SUCCESS;
}
CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, CUdeviceptr address) {
  wantHandle(graph, HandleKind::Graph);
  FreeWork work{address, false};
  for (auto &other : graph->nodes)
    if (auto *made = std::get_if<AllocWork>(&other->work))
      work.isOfGraph |= made->parameters.dptr == address;
  uint64_t base;
  Allocation allocation;
  want(lookUp(address, base, allocation) && base == address, "not the address of an allocation");
  return add(node, graph, dependencies, count, work);
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
  want(address, "null pointer");
  *address = workOf<FreeWork>(node).address;
  return CUDA_SUCCESS;
}

// --- nodes by their parameters' type ---

/// The work that general parameters ask for; an allocation's address is written back.
static Work workFrom(CUgraphNodeParams &p) {
  switch (p.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return makeKernelWork(p.kernel);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return makeCopyWork(p.memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return makeFillWork(p.memset.first);
  case CU_GRAPH_NODE_TYPE_HOST:
    return hostWork(&p.host);
  case CU_GRAPH_NODE_TYPE_EMPTY:
    return EmptyWork{};
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return eventWork<WaitWork>(p.event.event);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return eventWork<RecordWork>(p.event.event);
  default:
    fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type " + std::to_string(p.type) + " are not supported here");
  }
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                        CUgraphNodeParams *p) {
  want(p, "null pointer");
  ready();
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphAddChildGraphNode(node, graph, dependencies, count, p->graph.graph);
  if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
    return cuGraphAddMemAllocNode(node, graph, dependencies, count, &p->alloc);
  if (p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return cuGraphAddMemFreeNode(node, graph, dependencies, count, p->free.dptr);
  return add(node, graph, dependencies, count, workFrom(*p));
}
CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *, size_t count, CUgraphNodeParams *parameters) {
  return cuGraphAddNode(node, graph, dependencies, count, parameters);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *parameters) {
  want(parameters, "null pointer");
  wantHandle(node, HandleKind::GraphNode);
  want(parameters->type == typeOf(node->work), "a node keeps its type");
  Work work = workFrom(*parameters);
  if (auto *kernel = std::get_if<KernelWork>(&work))
    setKernel(node, std::move(*kernel));
  else
    node->work = std::move(work);
  return CUDA_SUCCESS;
}

// --- looking into a graph ---

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone) {
  want(node, "null pointer");
  wantHandle(original, HandleKind::GraphNode);
  wantHandle(clone, HandleKind::Graph);
  std::lock_guard lock(clone->mutex);
  for (auto &candidate : clone->nodes)
    if (candidate->original == original) {
      *node = candidate.get();
      return CUDA_SUCCESS;
    }
  fail(CUDA_ERROR_INVALID_VALUE, "the graph is no clone of the node's");
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
  want(type, "null pointer");
  wantHandle(node, HandleKind::GraphNode);
  *type = typeOf(node->work);
  return CUDA_SUCCESS;
}

static std::vector<CUgraphNode> nodesThat(CUgraph graph, const std::function<bool(CUgraphNode)> &isWanted) {
  wantHandle(graph, HandleKind::Graph);
  std::lock_guard lock(graph->mutex);
  std::vector<CUgraphNode> found;
  for (auto &node : graph->nodes)
    if (isWanted(node.get()))
      found.push_back(node.get());
  return found;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  give(nodesThat(graph, [](CUgraphNode) { return true; }), nodes, count);
  return CUDA_SUCCESS;
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  give(nodesThat(graph, [](CUgraphNode node) { return node->dependencies.empty(); }), nodes, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
  want(count && !from == !to, "null pointer");
  std::vector<CUgraphNode> starts, ends;
  for (CUgraphNode node : nodesThat(graph, [](CUgraphNode) { return true; }))
    for (CUgraphNode dependency : node->dependencies) {
      starts.push_back(dependency);
      ends.push_back(node);
    }
  size_t room = *count;
  give(starts, from, &room);
  give(ends, to, count);
  return CUDA_SUCCESS;
}
/// All edges are plain.
static void clearEdges(CUgraphEdgeData *edges, const size_t *count) {
  if (edges && count)
    memset(edges, 0, *count * sizeof *edges);
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                            size_t *count) {
  CUresult result = cuGraphGetEdges(graph, from, to, count);
  clearEdges(edges, count);
  return result;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies, size_t *count) {
  wantHandle(node, HandleKind::GraphNode);
  give(node->dependencies, dependencies, count);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies, CUgraphEdgeData *edges,
                                       size_t *count) {
  CUresult result = cuGraphNodeGetDependencies(node, dependencies, count);
  clearEdges(edges, count);
  return result;
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents, size_t *count) {
  wantHandle(node, HandleKind::GraphNode);
  auto waits = [node](CUgraphNode other) {
    return std::find(other->dependencies.begin(), other->dependencies.end(), node) !=
           other->dependencies.end();
  };
  give(nodesThat(node->graph, waits), dependents, count);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *dependents, CUgraphEdgeData *edges,
                                         size_t *count) {
  CUresult result = cuGraphNodeGetDependentNodes(node, dependents, count);
  clearEdges(edges, count);
  return result;
}

/// Calls `change` for every pair of nodes, after all were checked.
static void forPairs(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count,
                     const std::function<void(CUgraphNode, CUgraphNode)> &change) {
  wantHandle(graph, HandleKind::Graph);
  want((from && to) || !count, "null pointer");
  for (size_t i = 0; i < count; ++i) {
    wantHandle(from[i], HandleKind::GraphNode);
    wantHandle(to[i], HandleKind::GraphNode);
    want(from[i]->graph == graph && to[i]->graph == graph, "a node of another graph");
    want(from[i] != to[i], "a node cannot wait for itself");
  }
  std::lock_guard lock(graph->mutex);
  for (size_t i = 0; i < count; ++i)
    change(from[i], to[i]);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
  forPairs(graph, from, to, count, [](CUgraphNode first, CUgraphNode second) {
    auto &all = second->dependencies;
    want(std::find(all.begin(), all.end(), first) == all.end(), "the dependency is there already");
    all.push_back(first);
  });
  return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *, size_t count) {
  return cuGraphAddDependencies(graph, from, to, count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count) {
  forPairs(graph, from, to, count, [](CUgraphNode first, CUgraphNode second) {
    auto &all = second->dependencies;
    auto it = std::find(all.begin(), all.end(), first);
    want(it != all.end(), "there is no such dependency");
    all.erase(it);
  });
  return CUDA_SUCCESS;
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *, size_t count) {
  return cuGraphRemoveDependencies(graph, from, to, count);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  wantHandle(node, HandleKind::GraphNode);
  CUgraph graph = node->graph;
  CUgraph child = node->child;
  forgetCaptured(graph, node);
  {
    std::lock_guard lock(graph->mutex);
    for (auto &other : graph->nodes) {
      auto &all = other->dependencies;
      all.erase(std::remove(all.begin(), all.end(), node), all.end());
    }
    driver().handles.remove(node, HandleKind::GraphNode);
    auto isIt = [node](const std::unique_ptr<CUgraphNode_st> &other) { return other.get() == node; };
    graph->nodes.erase(std::find_if(graph->nodes.begin(), graph->nodes.end(), isIt));
  }
  if (child)
    destroy(child);
  return CUDA_SUCCESS;
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *file, unsigned int) {
  want(file, "null pointer");
  std::vector<CUgraphNode> nodes = nodesThat(graph, [](CUgraphNode) { return true; });
  std::map<CUgraphNode, size_t> numbers;
  for (CUgraphNode node : nodes)
    numbers.emplace(node, numbers.size());
  FILE *out = fopen(file, "w");
  if (!out)
    fail(CUDA_ERROR_INVALID_VALUE, std::string("cannot write ") + file);
  fprintf(out, "digraph {\n");
  for (CUgraphNode node : nodes) {
    auto *kernel = std::get_if<KernelWork>(&node->work);
    fprintf(out, "  n%zu [label=\"%s\"];\n", numbers[node],
            kernel && !kernel->module.expired() ? kernel->function->name.c_str()
                                                : ("type " + std::to_string(typeOf(node->work))).c_str());
    for (CUgraphNode dependency : node->dependencies)
      fprintf(out, "  n%zu -> n%zu;\n", numbers[dependency], numbers[node]);
  }
  fprintf(out, "}\n");
  want(fclose(out) == 0, "the file cannot be written");
  return CUDA_SUCCESS;
}

// --- executable graphs ---

static void fillExecutable(CUgraphExec executable, CUgraph graph) {
  std::lock_guard lock(graph->mutex);
  executable->nodes = inOrder(graph);
  executable->body = std::make_shared<GraphBody>();
  std::map<CUgraphNode, size_t> steps;
  for (CUgraphNode node : executable->nodes) {
    std::vector<size_t> dependencies;
    for (CUgraphNode dependency : node->dependencies)
      dependencies.push_back(steps[dependency]);
    steps[node] = executable->body->steps.size();
    executable->body->steps.push_back(stepOf(node));
    executable->dependencies.push_back(std::move(dependencies));
  }
  executable->enabled.assign(executable->nodes.size(), true);
  for (auto &[object, references] : graph->objects)
    executable->objects.push_back(object->data);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
  want(executable, "null pointer");
  wantHandle(graph, HandleKind::Graph);
  constexpr unsigned long long deviceLaunch = 4;
  if (flags & deviceLaunch)
    fail(CUDA_ERROR_NOT_SUPPORTED, "graphs are not launched from kernels");
  auto made = std::make_unique<CUgraphExec_st>();
  made->flags = flags;
  fillExecutable(made.get(), graph);
  driver().handles.add(made.get(), HandleKind::GraphExec);
  *executable = made.release();
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, CUgraphNode *errorNode, char *log,
                            size_t logSize) {
  if (errorNode)
    *errorNode = nullptr;
  if (log && logSize)
    *log = 0;
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec *executable, CUgraph graph, CUgraphNode *errorNode, char *log,
                               size_t logSize) {
  return cuGraphInstantiate(executable, graph, errorNode, log, logSize);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  want(parameters, "null pointer");
  parameters->errorNode = nullptr;
  constexpr int failed = 1;
  parameters->result = failed;
  cuGraphInstantiateWithFlags(executable, graph, parameters->flags);
  parameters->result = 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec executable, uint64_t *flags) {
  want(flags, "null pointer");
  wantHandle(executable, HandleKind::GraphExec);
  *flags = executable->flags;
  return CUDA_SUCCESS;
}

/// Which step a node of the original graph became.
static size_t stepIndex(CUgraphExec executable, CUgraphNode node) {
  for (size_t i = 0; i < executable->nodes.size(); ++i)
    if (executable->nodes[i] == node)
      return i;
  fail(CUDA_ERROR_INVALID_VALUE, "the executable graph was not made from this node");
}

/// Launches under way keep the steps that they began with.
static void setStep(CUgraphExec executable, CUgraphNode node, Work work) {
  wantHandle(executable, HandleKind::GraphExec);
  std::lock_guard lock(executable->mutex);
  size_t index = stepIndex(executable, node);
  Work &old = executable->body->steps[index];
  want(old.index() == work.index(), "a step keeps its type");
  if (auto *kernel = std::get_if<KernelWork>(&work))
    kernel->request.cooperative = std::get<KernelWork>(old).request.cooperative;
  auto body = std::make_shared<GraphBody>(*executable->body);
  body->steps[index] = std::move(work);
  executable->body = std::move(body);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams *parameters) {
  want(parameters, "null pointer");
  if (parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
    return cuGraphExecChildGraphNodeSetParams(executable, node, parameters->graph.graph);
  setStep(executable, node, workFrom(*parameters));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *parameters) {
  want(parameters, "null pointer");
  setStep(executable, node, makeKernelWork(*parameters));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *parameters) {
  setStep(executable, node, makeKernelWork(widen(parameters)));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                        CUcontext) {
  want(copy, "null pointer");
  setStep(executable, node, makeCopyWork(*copy));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext) {
  want(parameters, "null pointer");
  setStep(executable, node, makeFillWork(*parameters));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *parameters) {
  setStep(executable, node, hostWork(parameters));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  wantHandle(child, HandleKind::Graph);
  setStep(executable, node, GraphWork{bodyOf(child)});
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  setStep(executable, node, eventWork<RecordWork>(event));
  return CUDA_SUCCESS;
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  setStep(executable, node, eventWork<WaitWork>(event));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int enabled) {
  wantHandle(executable, HandleKind::GraphExec);
  std::lock_guard lock(executable->mutex);
  executable->enabled[stepIndex(executable, node)] = enabled != 0;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int *enabled) {
  want(enabled, "null pointer");
  wantHandle(executable, HandleKind::GraphExec);
  std::lock_guard lock(executable->mutex);
  *enabled = executable->enabled[stepIndex(executable, node)];
  return CUDA_SUCCESS;
}

/// What runs: without the steps that are switched off.
static std::shared_ptr<const GraphBody> enabledSteps(CUgraphExec executable) {
  std::lock_guard lock(executable->mutex);
  if (std::all_of(executable->enabled.begin(), executable->enabled.end(), [](bool on) { return on; }))
    return executable->body;
  auto body = std::make_shared<GraphBody>();
  for (size_t i = 0; i < executable->enabled.size(); ++i)
    if (executable->enabled[i])
      body->steps.push_back(executable->body->steps[i]);
  return body;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream handle) {
  CUstream stream = streamOf(handle);
  wantHandle(executable, HandleKind::GraphExec);
  submit(stream, GraphWork{enabledSteps(executable)});
  return CUDA_SUCCESS;
}
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  streamOf(stream);
  wantHandle(executable, HandleKind::GraphExec);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  if (!driver().handles.remove(executable, HandleKind::GraphExec))
    fail(CUDA_ERROR_INVALID_HANDLE, "not an executable graph");
  delete executable;
  return CUDA_SUCCESS;
}

// What an update can fail of: the shape, a node's type.
constexpr int topologyChanged = 2, typeChanged = 3;

CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *result) {
  want(result, "null pointer");
  wantHandle(executable, HandleKind::GraphExec);
  wantHandle(graph, HandleKind::Graph);
  CUgraphExec_st fresh;
  fillExecutable(&fresh, graph);
  *result = {0, nullptr, nullptr};
  std::lock_guard lock(executable->mutex);
  if (fresh.dependencies != executable->dependencies)
    result->result = topologyChanged;
  for (size_t i = 0; i < fresh.nodes.size() && !result->result; ++i)
    if (fresh.body->steps[i].index() != executable->body->steps[i].index()) {
      result->result = typeChanged;
      result->errorNode = fresh.nodes[i];
    }
  if (result->result)
    fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph has another shape than the executable one");
  executable->body = fresh.body;
  executable->objects = fresh.objects;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphNode *errorNode, int *result) {
  want(result, "null pointer");
  CUgraphExecUpdateResultInfo info = {};
  auto giveBack = [&] {
    *result = info.result;
    if (errorNode)
      *errorNode = info.errorNode;
  };
  try {
    cuGraphExecUpdate_v2(executable, graph, &info);
  } catch (const Failure &) {
    giveBack();
    throw;
  }
  giveBack();
  return CUDA_SUCCESS;
}

// --- user objects ---

CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroyData, unsigned int references,
                            unsigned int flags) {
  constexpr unsigned noWaiting = 1;
  want(object && destroyData && references && flags == noWaiting, "null pointer, number or flags");
  auto made = std::make_unique<CUuserObject_st>();
  made->references = references;
  made->data = std::shared_ptr<void>(data, destroyData);
  driver().handles.add(made.get(), HandleKind::UserObject);
  *object = made.release();
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  wantHandle(object, HandleKind::UserObject);
  std::lock_guard lock(driver().mutex);
  object->references += count;
  return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  wantHandle(object, HandleKind::UserObject);
  std::unique_ptr<CUuserObject_st> gone;
  std::lock_guard lock(driver().mutex);
  want(count <= object->references, "more references than there are");
  object->references -= count;
  if (!object->references && driver().handles.remove(object, HandleKind::UserObject))
    gone.reset(object);
  return CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  constexpr unsigned move = 1;
  want(count && flags <= move, "no such number or flags");
  wantHandle(graph, HandleKind::Graph);
  wantHandle(object, HandleKind::UserObject);
  if (flags != move)
    cuUserObjectRetain(object, count);
  std::lock_guard lock(graph->mutex);
  graph->objects[object] += count;
  return CUDA_SUCCESS;
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  wantHandle(graph, HandleKind::Graph);
  {
    std::lock_guard lock(graph->mutex);
    auto it = graph->objects.find(object);
    want(it != graph->objects.end() && count <= it->second, "the graph holds fewer references");
    if (!(it->second -= count))
      graph->objects.erase(it);
  }
  return cuUserObjectRelease(object, count);
}

} // namespace joule::vgpu
