// The way back from compiled code into handlers.
#include "lib/VirtualGpu/Jit/Site.h"

#include <cstring>

namespace joule::vgpu::jit {

Status stop(const Op *op, uint8_t *r, Warp *w) { return Status::Step; }

namespace {

void fillAddress(const Site &site, uint8_t *r, uint64_t first) {
  const Op &op = site.pair[0];
  for (unsigned i = 0; i < warpSize; ++i) {
    uint64_t value = first + uint64_t(site.pattern ? site.pattern[i] : 0);
    if (op.flags & address32) {
      uint32_t narrow = uint32_t(value);
      memcpy(r + op.a + 4 * i, &narrow, 4);
    } else {
      memcpy(r + op.a + 8 * i, &value, 8);
    }
  }
}

} // namespace

extern "C" uint32_t jouleVgpuRunSite(const Site *site, uint8_t *r, Warp *w, uint64_t first, uint64_t mask) {
  if (site->fillsAddress)
    fillAddress(*site, r, first);
  if (uint32_t(mask) == allLanes)
    return uint32_t(site->pair[0].fn(site->pair, r, w));
  if (uint32_t(mask) == 0)
    return uint32_t(Status::Step);
  w->mask = uint32_t(mask);
  Status status = site->pair[0].masked(site->pair, r, w);
  w->mask = allLanes;
  return uint32_t(status);
}

} // namespace joule::vgpu::jit

#if defined(__x86_64__)
// The caller may stand anywhere on its stack, so the frame is aligned afresh. Registers that a C++ function
// must keep are kept by it.
// clang-format off
#define JOULE_PUSH_GENERAL                                                                                   \
  "pushq %rbp\n movq %rsp, %rbp\n pushq %rcx\n pushq %rdx\n pushq %rsi\n pushq %rdi\n pushq %r8\n"           \
  "pushq %r9\n pushq %r10\n pushq %r11\n andq $-64, %rsp\n"
#define JOULE_POP_GENERAL                                                                                    \
  "leaq -64(%rbp), %rsp\n popq %r11\n popq %r10\n popq %r9\n popq %r8\n popq %rdi\n popq %rsi\n popq %rdx\n" \
  "popq %rcx\n popq %rbp\n retq\n"

asm(R"(
  .text
  .hidden jouleVgpuRareCallAvx512
  .globl jouleVgpuRareCallAvx512
  .type jouleVgpuRareCallAvx512, @function
jouleVgpuRareCallAvx512:
)" JOULE_PUSH_GENERAL R"(
  subq $2112, %rsp
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vmovdqu64 %zmm\n, 64*\n(%rsp)
  .endr
  .irp n,0,1,2,3,4,5,6,7
  kmovq %k\n, 2048+8*\n(%rsp)
  .endr
  vzeroupper
  callq jouleVgpuRunSite@PLT
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  vmovdqu64 64*\n(%rsp), %zmm\n
  .endr
  .irp n,0,1,2,3,4,5,6,7
  kmovq 2048+8*\n(%rsp), %k\n
  .endr
)" JOULE_POP_GENERAL R"(
  .size jouleVgpuRareCallAvx512, .-jouleVgpuRareCallAvx512

  .hidden jouleVgpuRareCallAvx2
  .globl jouleVgpuRareCallAvx2
  .type jouleVgpuRareCallAvx2, @function
jouleVgpuRareCallAvx2:
)" JOULE_PUSH_GENERAL R"(
  subq $512, %rsp
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqu %ymm\n, 32*\n(%rsp)
  .endr
  vzeroupper
  callq jouleVgpuRunSite@PLT
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqu 32*\n(%rsp), %ymm\n
  .endr
)" JOULE_POP_GENERAL R"(
  .size jouleVgpuRareCallAvx2, .-jouleVgpuRareCallAvx2
)");
// clang-format on
#endif
