// Graphs of work, and capturing streams into them.
#pragma once

#include "lib/VirtualGpu/Driver/Work.h"

#include <array>

struct CUgraphNode_st {
  CUgraph graph = nullptr;
  joule::vgpu::Work work;
  std::vector<CUgraphNode> dependencies;
  CUgraph child = nullptr;        // of a child graph's node: its own copy
  CUgraphNode original = nullptr; // in the graph that this one's was cloned from
  std::vector<void *> parameterPointers;
  std::map<int, CUlaunchAttributeValue> attributes;
};

struct CUgraph_st {
  std::mutex mutex; // of all below
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::map<CUuserObject, unsigned> objects;
  bool isOfNode = false;
};

struct CUgraphExec_st {
  std::mutex mutex;                             // of all below
  std::shared_ptr<joule::vgpu::GraphBody> body; // all steps
  std::vector<CUgraphNode> nodes;               // by step
  std::vector<std::vector<size_t>> dependencies;
  std::vector<bool> enabled;
  std::vector<std::shared_ptr<void>> objects; // what the graph retained
  uint64_t flags = 0;
};

namespace joule::vgpu {

/// Adds a node; takes the graph's lock.
CUgraphNode addNode(CUgraph graph, Work work, const std::vector<CUgraphNode> &dependencies);
CUgraph makeGraph();
/// A stream's work goes to a graph between cuStreamBeginCapture and cuStreamEndCapture.
class Capture {
public:
  CUgraph graph = nullptr;
  bool makesGraph = true;
  unsigned long long id = 0;
  int mode = 0;
  CUstream origin = nullptr;
  std::thread::id thread;
  std::set<CUstream> streams;
  std::string invalidated; // why nothing more can be captured; empty: it can
  /// Nodes that nothing waits for yet, which the origin must come to wait for.
};

} // namespace joule::vgpu
