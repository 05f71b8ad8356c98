// What the interpreter runs: a function decoded into operations whose handlers, register offsets and branch
// targets are settled. This header is included by files compiled for different instruction sets, so it holds
// data only: an inline function here could be linked in its AVX-512 form on a machine without it.
#pragma once

#include "lib/VirtualGpu/MatrixRule.h"

#include <cstddef>
#include <cstdint>

/// A handler ends with a jump to the next one, so that the stack does not grow.
#if defined(__clang__)
#define JOULE_TAIL [[clang::musttail]]
#else
#define JOULE_TAIL
#endif

namespace joule::vgpu {

constexpr unsigned warpSize = 32;
constexpr uint32_t allLanes = 0xffffffffu;

struct Op;
struct Warp;

/// Why a run of operations came back to the scheduler.
enum class Status : uint32_t {
  Step,     // one operation ran on its own, as asked
  Diverged, // lanes of `Warp::taken` go to the branch's target, the others to the next operation
  Join,     // other lanes wait at or before this label
  Yield,    // the budget of backward branches is spent, or the code asked to sleep
  Barrier,  // arrived at a block barrier
  Sync,     // arrived at a warp-level rendezvous that other lanes have yet to reach
  Exited,   // the lanes of `Warp::taken` are done
  Call,
  Return,
  Fault,
  Interpret, // compiled code leaves the rest to the interpreter, from `Warp::pc`
};

/// Runs the operation and those after it, until something needs the scheduler. `r` is the frame: registers
/// lie in it as 32 lanes side by side, predicates as one bit per lane.
using Handler = Status (*)(const Op *op, uint8_t *r, Warp *w);

enum MemorySpace : uint8_t { inGlobal, inShared, inLocal, inParam, inGeneric };

constexpr uint32_t noRegister = 0xffffffffu;

struct alignas(64) Op {
  Handler fn;          // for a warp none of whose living lanes is elsewhere
  Handler masked;      // for a part of the warp
  uint32_t d, a, b, c; // byte offsets into the frame
  int64_t imm;
  union {
    const Op *target;
    const uint32_t *list; // offsets of a vector's registers
    const void *data;
  };
  uint32_t e;           // a second result, or noRegister
  uint32_t instruction; // index into the PTX function, for messages and counters
  uint16_t slot;        // the operation's entry in the cache of address ranges
  uint8_t n;            // elements of a vector, or a variant of the operation
  uint8_t flags;        // MemoryFlags
  uint8_t space;        // MemorySpace
  uint8_t guard;        // the guard runs the next operation where the predicate is false
};

enum MemoryFlags : uint8_t { address32 = 1, storesData = 2, alwaysTrue = 4 };

/// Generic addresses of what is not global memory carry the space in the top byte.
constexpr uint64_t sharedWindow = 1ull << 56;
constexpr uint64_t localWindow = 2ull << 56;
constexpr uint64_t paramWindow = 3ull << 56;
constexpr uint64_t codeWindow = 4ull << 56;

/// Shared memory of another block of the cluster: above the offset stands the block's rank plus one.
constexpr unsigned clusterRankShift = 24;
constexpr uint64_t sharedOffsetMask = (1ull << clusterRankShift) - 1;

struct Range {
  uint64_t low, high; // addresses in [low, high) are allocated together
};

enum class FaultKind : uint32_t {
  None,
  IllegalAddress,
  Misaligned,
  IllegalInstruction,
  Trap,
  Deadlock,
  Timeout,
  OutOfResources,
  StackOverflow,
  Assert,
  BadTensorMap
};

/// Executions of one basic block: by warps, and by their lanes.
struct BlockCount {
  uint64_t warps, lanes;
};

/// Filled only while counting.
struct MemoryCount {
  uint64_t globalLoadBytes, globalStoreBytes, globalLoadSectors, globalStoreSectors;
  uint64_t sharedLoadBytes, sharedStoreBytes, sharedLoadWavefronts, sharedStoreWavefronts;
  uint64_t localBytes, constBytes;
};

struct Warp {
  uint32_t mask;       // lanes that run
  uint32_t live;       // lanes that have not exited
  int32_t budget;      // backward branches until the scheduler wants a word
  uint32_t freeLabels; // labels to pass without looking for others to join
  const Op *pc;        // where the run stopped
  const Op *joinAt;    // the first operation at which other lanes of this frame wait
  uint32_t taken;
  uint32_t barrierId, barrierCount; // of a Barrier stop
  uint8_t *frame;
  uint8_t *shared;
  uint64_t sharedSize;
  uint8_t *local;
  uint64_t localStride; // bytes of local memory per lane
  uint64_t localBase;   // of the running frame
  uint64_t *localTop;   // where the running frame's local memory ends: alloca moves it
  const uint8_t *params;
  uint64_t paramSize;
  Range *ranges;
  BlockCount *blockCounts;
  MemoryCount *memory;
  void *runner;                      // the BlockRunner this warp belongs to
  uint32_t initial;                  // lanes that the block started with
  uint32_t index;                    // in the block
  const uint32_t *blockIndex, *grid; // three numbers each
  uint32_t arrivals;                 // cp.async and similar: unused while copies are immediate
  alignas(64) uint32_t tid[3][warpSize];
};

struct HandlerEntry {
  const char *name;
  Handler fn;
  const char *
      result; // how the handler's result is merged under a mask: "2" "4" "8" "16" "p" or "" (it looks itself)
};

struct HandlerTable {
  const HandlerEntry *entries;
  size_t count;
};

/// d = a * b + c by a rule of MatrixRule.h; all lie column by column.
using ExactMultiply = void (*)(const MatrixRule &rule, int m, int n, int k, const float *a, const float *b,
                               const float *c, float *d);

// The tables of each instruction set; the files behind them are compiled once for each.
#define JOULE_VGPU_TABLES(isa)                                                                               \
  namespace isa {                                                                                            \
  HandlerTable arithmeticHandlers();                                                                         \
  HandlerTable memoryHandlers();                                                                             \
  HandlerTable matrixHandlers();                                                                             \
  HandlerTable controlHandlers();                                                                            \
  HandlerTable exactHandlers();                                                                              \
  HandlerTable tileHandlers();                                                                               \
  ExactMultiply exactMultiply();                                                                             \
  }
JOULE_VGPU_TABLES(baseline)
JOULE_VGPU_TABLES(avx2)
JOULE_VGPU_TABLES(avx512)
HandlerTable handlersOfWarps();
HandlerTable handlersOfAsync();
HandlerTable handlersOfChecks();
HandlerTable handlersOfVideo();
HandlerTable handlersOfDevice();

/// What a wmma.load or wmma.store moves.
struct WmmaShape {
  int rows, columns;
  bool rowMajor;
  unsigned elementBytes;
  const uint32_t *list; // the fragment's registers
};

/// What a wmma.mma multiplies.
struct WmmaProduct {
  int m, n, k;
  const uint32_t *d, *a, *b, *c;
};

/// Elements of the matrices that MatrixTile multiplies.
enum class TileFormat : uint8_t { F16, BF16, TF32, E4M3, E5M2, F32, F64, S8, U8, S4, U4, B1, S32 };

/// A product of one warp in its general form: mma.sync, mma.sp, and a warp's share of wgmma. Each matrix is
/// in registers (a list of their offsets) or in shared memory (a descriptor in a register).
struct MatrixTile {
  int m, n, k; // k counts the elements of B; a sparse A has half
  TileFormat a, b, sum, result;
  const uint32_t *inA = nullptr, *inB = nullptr, *inC = nullptr, *inD = nullptr;
  uint32_t descriptorA = noRegister, descriptorB = noRegister;
  bool rowsOfA = true, columnsOfB = true; // k runs along memory
  bool negateA = false, negateB = false;
  uint32_t keepsC = noRegister; // a predicate; without it C is added
  bool saturates = false;
  bool takesAnd = false;          // of bits: else exclusive or
  uint32_t metadata = noRegister; // sparse
  uint32_t selector = 0;          // which lanes hold the metadata
  bool exact = false;             // by the rule
  MatrixRule rule = {};
};

/// An address among the several of one instruction.
struct AsyncAddress {
  uint32_t place = noRegister; // none
  int64_t displacement = 0;
  bool narrow = false; // in a register of 32 bits
  uint8_t space = 0;   // MemorySpace
};

/// What an instruction of the copy engine moves: bytes, or a box of a tensor.
struct BulkCopy {
  AsyncAddress to, from, barrier;
  bool toGlobal = false;
  uint32_t bytes = noRegister;    // plain: how many
  uint32_t blocks = noRegister;   // multicast: which blocks of the cluster, 16 bits
  uint32_t byteMask = noRegister; // which of every 16 bytes, 16 bits
  const char *reduction = nullptr;
  uint8_t type = 0; // of a plain reduction: ptx::Type
  AsyncAddress map; // tensor
  uint32_t rank = 0, numOffsets = 0;
  bool isIm2col = false;
  uint32_t coordinates[5] = {}, offsets[3] = {};
};

// --- called by handlers, compiled for every machine ---

/// Records the fault in the block's runner and returns Status::Fault.
Status raiseFault(Warp *w, const Op *op, FaultKind kind, uint64_t address, unsigned lane);
/// The allocation that holds [low, high), put into the operation's cache slot; false if there is none.
bool findRange(Warp *w, const Op *op, uint64_t low, uint64_t high);
/// The host's address of shared memory that lies outside the block's own; 0 if there is none.
uint64_t sharedOfCluster(const Warp *w, uint64_t address, uint64_t bytes);
/// Adds one access to the counters. `addresses` are the host's; `bytes` per lane.
void countAccess(Warp *w, const Op *op, const uint64_t *addresses, uint32_t mask, unsigned bytes);

} // namespace joule::vgpu
