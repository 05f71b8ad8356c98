// A program as the compiler sees it: every operation with its name and the places it reads and writes, basic
// blocks, and which places are alive where.
#pragma once

#include "lib/VirtualGpu/Decode.h"

#include <string>
#include <vector>

namespace joule::vgpu::jit {

enum class Kind : uint8_t {
  Label,
  Branch,
  BranchIf,
  Exit,
  Return,
  Call,
  Sleep,
  Poll, // calls a handler that may stop the warp for a while
  Trap,
  Nop,
  Barrier,
  Pure, // computes d (and e) from a, b, c in compiled code
  Load, // in compiled code where the space is global or shared
  Store,
  LoadParameter,
  Special,
  LocalAddress,
  Handler, // calls the interpreter's handler
  Unknown
};

/// A place of the frame: 32 values of `width` bytes, or 32 bits where the width is 0.
struct Slot {
  uint32_t offset;
  uint8_t width;
  bool isConstant = false;
  uint64_t constant = 0;
  bool isAddress = false; // of a variable: never written, and read from the frame alone
};

struct Operation {
  const Op *op = nullptr;
  const std::string *name = nullptr;
  Kind kind = Kind::Unknown;
  int32_t guard = -1; // slot
  bool guardNegated = false;
  bool isCautious = false;                        // nothing is known but that it runs on to the next
  uint32_t at = 0;                                // index of the first op, a guard's where there is one
  int32_t a = -1, b = -1, c = -1, d = -1, e = -1; // slots
  std::vector<uint32_t> list;                     // slots of a vector's registers
  std::vector<uint32_t> uses, defs;               // without the guard
};

using SlotSet = std::vector<bool>;

struct Block {
  uint32_t first = 0, last = 0; // operations
  std::vector<uint32_t> next, previous;
  SlotSet liveIn, liveOut;
};

struct Graph {
  const Program *program = nullptr;
  std::vector<Slot> slots;
  std::vector<Operation> operations;
  std::vector<Block> blocks;
  std::vector<int32_t> blockOfOp; // the block that begins at an op, or -1
  std::string problem;            // what cannot be compiled; empty if all can
  bool hasLocalMemory =
      false; // to which generic addresses may lead: equal ones are another place for each lane

  /// `variables` are where the module's variables lie: code must not hold what differs in the next process.
  explicit Graph(const Program &program, std::vector<Range> variables = {});

private:
  void placeSlots();
  bool isAddress(const Constant &c) const;

  std::vector<Range> variables;
  int32_t slotAt(uint32_t offset) const;
  void describe();
  void describeOne(Operation &o);
  bool describeCautiously(Operation &o);
  bool placesOf(const Operation &o, std::vector<uint32_t> &offsets) const;
  const std::vector<uint32_t> *findList(const uint32_t *data) const;
  bool worksInRegisters(const Operation &o) const;
  void findBlocks();
  void flow();
};

bool startsWith(const std::string &text, const char *prefix);

/// What the name of a load, store or atomic says: "ld.4.u32.4", "atom.8". Sizes in bytes.
struct AccessForm {
  unsigned count = 1, element = 0, registerBytes = 0; // of registers; of one in memory
  bool isSigned = false;
};
AccessForm accessFormOf(const std::string &name);

} // namespace joule::vgpu::jit
