// Adding up, the classes of instructions, and what one memory access costs.
#include "lib/VirtualGpu/Counters.h"

#include "lib/VirtualGpu/AccessTurns.h"
#include "lib/VirtualGpu/BlockRunner.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace joule::vgpu {

void Counters::add(const Counters &other, uint64_t times) {
  launches += times * other.launches;
  for (unsigned i = 0; i < classes; ++i) {
    warpInstructions[i] += times * other.warpInstructions[i];
    threadInstructions[i] += times * other.threadInstructions[i];
  }
  for (unsigned i = 0; i < matrixTypes; ++i)
    matrixFlops[i] += times * other.matrixFlops[i];
  auto *into = reinterpret_cast<uint64_t *>(&memory);
  auto *from = reinterpret_cast<const uint64_t *>(&other.memory);
  for (size_t i = 0; i < sizeof memory / sizeof *into; ++i)
    into[i] += times * from[i];
}

uint64_t Counters::totalMatrixFlops() const {
  return std::accumulate(matrixFlops, matrixFlops + matrixTypes, uint64_t(0));
}

uint64_t Counters::totalWarpInstructions() const {
  uint64_t sum = 0;
  for (uint64_t n : warpInstructions)
    sum += n;
  return sum;
}

uint64_t Counters::totalThreadInstructions() const {
  uint64_t sum = 0;
  for (uint64_t n : threadInstructions)
    sum += n;
  return sum;
}

const char *nameOf(InstructionClass c) {
  static const char *const names[] = {
      "fp32_fma",     "fp32_add",    "fp32_mul",     "fp32_other", "fp64",        "fp16",
      "integer",      "special",     "conversion",   "move",       "control",     "load_global",
      "store_global", "load_shared", "store_shared", "load_local", "store_local", "load_const",
      "atomic",       "barrier",     "matrix",       "other"};
  return names[unsigned(c)];
}

namespace {

using C = InstructionClass;

C memoryClass(const ptx::Opcode &o) {
  bool load = o.base != "st";
  switch (o.space) {
  case ptx::Space::Shared:
    return load ? C::LoadShared : C::StoreShared;
  case ptx::Space::Local:
    return load ? C::LoadLocal : C::StoreLocal;
  case ptx::Space::Const:
  case ptx::Space::Param:
    return load ? C::LoadConst : C::Move;
  default:
    return load ? C::LoadGlobal : C::StoreGlobal;
  }
}

C arithmeticClass(const ptx::Opcode &o) {
  ptx::Type t = o.type();
  if (t == ptx::Type::F64)
    return C::Fp64;
  if (t == ptx::Type::F16 || t == ptx::Type::F16x2 || t == ptx::Type::BF16 || t == ptx::Type::BF16x2)
    return C::Fp16;
  if (t != ptx::Type::F32)
    return C::Integer;
  if (o.base == "fma" || o.base == "mad")
    return C::Fp32Fma;
  if (o.base == "add" || o.base == "sub")
    return C::Fp32Add;
  return o.base == "mul" ? C::Fp32Mul : C::Fp32Other;
}

bool oneOf(const std::string &base, std::initializer_list<const char *> names) {
  return std::find(names.begin(), names.end(), base) != names.end();
}

} // namespace

InstructionClass classify(const ptx::Opcode &o) {
  const std::string &b = o.base;
  if (oneOf(b, {"ld", "ldu", "st"}))
    return memoryClass(o);
  if (b == "ldmatrix")
    return C::LoadShared;
  if (b == "cp")
    return C::LoadGlobal;
  if (oneOf(b, {"tex", "tld4", "suld"}))
    return C::LoadGlobal;
  if (b == "sust")
    return C::StoreGlobal;
  if (oneOf(b, {"txq", "suq"}))
    return C::Other;
  if (oneOf(b, {"mma", "wmma", "wgmma"}))
    return C::Matrix;
  if (oneOf(b, {"atom", "red", "sured"}))
    return C::Atomic;
  if (oneOf(b, {"bar", "barrier", "membar", "fence", "mbarrier"}))
    return C::Barrier;
  if (oneOf(b, {"bra", "brx", "call", "ret", "exit", "trap", "nanosleep", "brkpt"}))
    return C::Control;
  if (oneOf(b, {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "rcp", "sqrt"}))
    return C::Special;
  if (oneOf(b, {"mov", "selp", "slct", "cvta", "prmt"}))
    return C::Move;
  if (b == "cvt")
    return C::Conversion;
  if (oneOf(b, {"shfl", "vote", "match", "redux", "activemask", "elect"}))
    return C::Other;
  return arithmeticClass(o);
}

const char *nameOf(MatrixType type) {
  static const char *const names[] = {"fp16", "tf32", "fp8", "int8", "fp64"};
  return names[unsigned(type)];
}

MatrixType matrixTypeOf(const ptx::Opcode &o) {
  if (o.has("tf32"))
    return MatrixType::Tf32;
  if (o.has("f64"))
    return MatrixType::Fp64;
  if (o.has("e4m3") || o.has("e5m2"))
    return MatrixType::Fp8;
  for (const char *integer : {"s8", "u8", "s4", "u4", "b1"})
    if (o.has(integer))
      return MatrixType::Int8;
  return MatrixType::Fp16;
}

uint64_t matrixFlopsOf(const ptx::Opcode &o) {
  for (const std::string &mod : o.mods) {
    unsigned m, n, k;
    if (sscanf(mod.c_str(), "m%un%uk%u", &m, &n, &k) != 3)
      continue;
    // wgmma is one instruction of four warps; of sparse operands half is multiplied.
    bool multiplies =
        o.base == "mma" || (o.base == "wmma" && o.has("mma")) || (o.base == "wgmma" && o.has("mma_async"));
    return multiplies ? uint64_t(2) * m * n * k / (o.base == "wgmma" ? 4 : 1) / (o.has("sp") ? 2 : 1) : 0;
  }
  return 0;
}

namespace {

void addAccess(MemoryCount &m, bool shared, bool stores, uint64_t bytes, uint64_t turns) {
  if (shared) {
    (stores ? m.sharedStoreBytes : m.sharedLoadBytes) += bytes;
    (stores ? m.sharedStoreWavefronts : m.sharedLoadWavefronts) += turns;
  } else {
    (stores ? m.globalStoreBytes : m.globalLoadBytes) += bytes;
    (stores ? m.globalStoreSectors : m.globalLoadSectors) += turns;
  }
}

uint64_t turnsOf(bool shared, const uint64_t *addresses, uint32_t mask, unsigned bytes) {
  static const AccessTurns turns = accessTurns();
  return shared ? turns.wavefronts(addresses, mask, bytes) : turns.sectors(addresses, mask);
}

} // namespace

void countAccess(Warp *w, const Op *op, const uint64_t *addresses, uint32_t mask, unsigned bytes) {
  if (!mask)
    return;
  MemoryCount &m = *w->memory;
  bool stores = op->flags & storesData;
  uint64_t total = uint64_t(__builtin_popcount(mask)) * bytes, first = addresses[__builtin_ctz(mask)];
  bool shared = first >= uint64_t(w->shared) && first < uint64_t(w->shared) + w->sharedSize;
  bool local =
      w->local && first >= uint64_t(w->local) && first < uint64_t(w->local) + w->localStride * warpSize;
  if (local) {
    m.localBytes += total;
    return;
  }
  addAccess(m, shared, stores, total, turnsOf(shared, addresses, mask, bytes));
  auto *runner = static_cast<BlockRunner *>(w->runner); // none where a compiler asks what an access counts
  if (!shared && runner)
    runner->noteAccess(w, op, addresses, mask, bytes);
}

} // namespace joule::vgpu
