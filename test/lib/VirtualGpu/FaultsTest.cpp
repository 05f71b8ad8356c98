// Kernels with one fault each, and the same kernels without it: check mode finds every fault, at its line,
// and nothing else.
#include "test/lib/VirtualGpu/Harness.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace joule::vgpu::test {
namespace {

using K = FindingKind;

/// A kernel's body as a difference: lines that begin with '-' are only in the faulty one, with '+' only in
/// its twin. The finding is wanted at the line that ends in "// here".
struct Fault {
  const char *name;
  K kind;
  uint32_t grid, block;
  const char *body;
};

// What all have: %t, %lane, %warp, %cta; %out, the thread's own word of an output; %in, 1024 words; %flags,
// 64 words of zeros; %raw, 64 words that nobody has written; %gone, freed memory; `buf`, 1024 words of shared
// memory, of which %own is the thread's, %next the next thread's; `depot`, 16 words of local memory.
const char *const prologue = R"(.version 8.3
.target sm_90
.address_size 64
.const .align 4 .b32 table[4] = {1, 2, 3, 4};
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.extern .func free (.param .b64 pointer);
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 flags, .param .u64 raw, .param .u64 gone)
{
.shared .align 16 .b8 buf[4096];
.local .align 16 .b8 depot[64];
.reg .pred %p, %q;
.reg .b16 %h;
.reg .b32 %a, %b, %c, %d, %e, %f, %t, %lane, %warp, %cta, %buf, %own, %next, %nt;
.reg .b64 %out, %in, %flags, %raw, %gone, %la, %lb, %depot;
.reg .f32 %x<8>;
ld.param.u64 %out, [out];
ld.param.u64 %in, [in];
ld.param.u64 %flags, [flags];
ld.param.u64 %raw, [raw];
ld.param.u64 %gone, [gone];
mov.u32 %t, %tid.x;
mov.u32 %nt, %ntid.x;
mov.u32 %cta, %ctaid.x;
and.b32 %lane, %t, 31;
shr.u32 %warp, %t, 5;
mad.lo.u32 %a, %cta, %nt, %t;
mul.wide.u32 %la, %a, 4;
add.u64 %out, %out, %la;
mov.u32 %buf, buf;
shl.b32 %own, %t, 2;
add.u32 %own, %own, %buf;
add.u32 %next, %t, 1;
rem.u32 %next, %next, %nt;
shl.b32 %next, %next, 2;
add.u32 %next, %next, %buf;
mov.u64 %depot, depot;
)";

const Fault faults[] = {
    // --- addresses ---
    {"global read behind the end", K::OutOfBounds, 1, 32, R"(
mul.wide.u32 %la, %t, 4;
add.u64 %in, %in, %la;
-ld.global.u32 %a, [%in+4000]; // here
+ld.global.u32 %a, [%in+3968];
st.global.u32 [%out], %a;)"},
    {"global write behind the end", K::OutOfBounds, 1, 32, R"(
-st.global.u32 [%flags+256], %t; // here
+st.global.u32 [%out], %t;)"},
    {"global read before the start", K::OutOfBounds, 1, 32, R"(
-ld.global.u32 %a, [%in+-4]; // here
+ld.global.u32 %a, [%in];
st.global.u32 [%out], %a;)"},
    {"null pointer", K::OutOfBounds, 1, 32, R"(
mov.u64 %la, 0;
-ld.global.u32 %a, [%la]; // here
+ld.global.u32 %a, [%in];
st.global.u32 [%out], %a;)"},
    {"vector across the end", K::OutOfBounds, 1, 1, R"(
-ld.global.v4.u32 {%a, %b, %c, %d}, [%flags+256]; // here
+ld.global.v4.u32 {%a, %b, %c, %d}, [%flags+240];
st.global.u32 [%out], %d;)"},
    {"one lane of many out of bounds", K::OutOfBounds, 1, 32, R"(
mul.lo.u32 %a, %lane, 132;
cvt.u64.u32 %la, %a;
add.u64 %la, %in, %la;
+setp.gt.u32 %p, %lane, 30;
+@%p mov.u64 %la, %in;
add.u64 %la, %la, 4;
-ld.global.u32 %a, [%la]; // here
+ld.global.u32 %a, [%la];
st.global.u32 [%out], %a;)"},
    {"shared read behind the end", K::OutOfBounds, 1, 32, R"(
st.shared.u32 [%own], %t;
bar.sync 0;
-ld.shared.u32 %a, [%own+4096]; // here
+ld.shared.u32 %a, [%own];
st.global.u32 [%out], %a;)"},
    {"shared write behind the end", K::OutOfBounds, 1, 32, R"(
-st.shared.u32 [%own+4092], %t; // here
+st.shared.u32 [%own], %t;)"},
    {"shared memory by a generic address, behind the end", K::OutOfBounds, 1, 32, R"(
cvt.u64.u32 %la, %own;
cvta.shared.u64 %la, %la;
-st.u32 [%la+4092], %t; // here
+st.u32 [%la], %t;)"},
    {"local read behind the end", K::OutOfBounds, 1, 32, R"(
-ld.local.u32 %a, [%depot+64]; // here
+st.local.u32 [%depot+60], %t;
+ld.local.u32 %a, [%depot+60];
st.global.u32 [%out], %a;)"},
    {"constant table behind the end", K::OutOfBounds, 1, 1, R"(
mov.u64 %la, table;
-ld.const.u32 %a, [%la+16]; // here
+ld.const.u32 %a, [%la+12];
st.global.u32 [%out], %a;)"},
    {"memory that has been freed", K::UseAfterFree, 1, 32, R"(
-ld.global.u32 %a, [%gone]; // here
+ld.global.u32 %a, [%in];
st.global.u32 [%out], %a;)"},
    {"write to memory that has been freed", K::UseAfterFree, 1, 32, R"(
mul.wide.u32 %la, %lane, 4;
add.u64 %gone, %gone, %la;
-st.global.u32 [%gone], %t; // here
+st.global.u32 [%out], %t;)"},
    {"behind the end of what malloc gave", K::OutOfBounds, 1, 1, R"(
{ .param .b64 n, p;
st.param.b64 [n], 64;
call.uni (p), malloc, (n);
ld.param.b64 %la, [p]; }
-st.u32 [%la+64], %t; // here
+st.u32 [%la+60], %t;
{ .param .b64 p;
st.param.b64 [p], %la;
call.uni free, (p); })"},
    {"after free", K::UseAfterFree, 1, 1, R"(
{ .param .b64 n, p;
st.param.b64 [n], 64;
call.uni (p), malloc, (n);
ld.param.b64 %la, [p]; }
st.u32 [%la], %t;
+ld.u32 %a, [%la];
{ .param .b64 p;
st.param.b64 [p], %la;
call.uni free, (p); }
-ld.u32 %a, [%la]; // here
st.global.u32 [%out], %a;)"},
    {"free twice", K::UseAfterFree, 1, 1, R"(
{ .param .b64 n, p;
st.param.b64 [n], 64;
call.uni (p), malloc, (n);
ld.param.b64 %la, [p]; }
{ .param .b64 p;
st.param.b64 [p], %la;
call.uni free, (p); }
-{ .param .b64 p;
-st.param.b64 [p], %la;
-call.uni free, (p); } // here
)"},
    {"misaligned vector", K::Misaligned, 1, 32, R"(
-ld.global.v4.u32 {%a, %b, %c, %d}, [%in+8]; // here
+ld.global.v4.u32 {%a, %b, %c, %d}, [%in+16];
st.global.u32 [%out], %a;)"},
    {"misaligned word of shared memory", K::Misaligned, 1, 32, R"(
-st.shared.u32 [%own+2], %t; // here
+st.shared.u32 [%own+4], %t;)"},
    {"misaligned atomic", K::Misaligned, 1, 1, R"(
-red.global.add.u64 [%flags+4], 1; // here
+red.global.add.u64 [%flags+8], 1;)"},
    {"misaligned destination of a copy", K::Misaligned, 1, 1, R"(
-cp.async.ca.shared.global [%buf+4], [%in], 8; // here
+cp.async.ca.shared.global [%buf+8], [%in], 8;
cp.async.wait_all;)"},
    {"copy from behind the end", K::OutOfBounds, 1, 1, R"(
-cp.async.cg.shared.global [%buf], [%in+4096], 16; // here
+cp.async.cg.shared.global [%buf], [%in+4080], 16;
cp.async.wait_all;)"},

    // --- bytes that nobody wrote ---
    {"unwritten global memory", K::UninitialisedRead, 1, 32, R"(
-ld.global.u32 %a, [%raw]; // here
+ld.global.u32 %a, [%in];
st.global.u32 [%out], %a;)"},
    {"unwritten shared memory", K::UninitialisedRead, 1, 32, R"(
+st.shared.u32 [%own], 0;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"unwritten local memory", K::UninitialisedRead, 1, 32, R"(
+st.local.u32 [%depot+8], %t;
ld.local.u32 %a, [%depot+8]; // here
st.global.u32 [%out], %a;)"},
    {"a word of which half is written", K::UninitialisedRead, 1, 32, R"(
mov.u16 %h, 7;
st.shared.u16 [%own], %h;
+st.shared.u16 [%own+2], %h;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"one unwritten byte", K::UninitialisedRead, 1, 32, R"(
st.shared.u8 [%own], %t;
-ld.shared.u8 %a, [%own+1]; // here
+ld.shared.u8 %a, [%own];
st.global.u32 [%out], %a;)"},
    {"a byte of which a half is changed", K::UninitialisedRead, 1, 32, R"(
mov.u32 %b, %t;
add.u32 %b, %b, %buf;
ld.shared.u8 %c, [%b]; // here
-shr.u32 %c, %c, 1;
and.b32 %c, %c, 240;
or.b32 %c, %c, 5;
st.shared.u8 [%b], %c;
st.global.u32 [%out], %t;)"},
    {"one unwritten element of a vector", K::UninitialisedRead, 1, 1, R"(
st.shared.v2.u32 [%buf], {%t, %t};
st.shared.u32 [%buf+8], %t;
ld.shared.v4.u32 {%a, %b, %c, %d}, [%buf]; // here
-add.u32 %a, %a, %d;
st.global.u32 [%out], %a;)"},
    {"atomic on unwritten memory", K::UninitialisedRead, 1, 32, R"(
-red.global.add.u32 [%raw], 1; // here
+red.global.add.u32 [%flags], 1;)"},
    {"one lane alone reads what is unwritten", K::UninitialisedRead, 1, 32, R"(
setp.ne.u32 %p, %lane, 17;
+setp.ne.u32 %p, %lane, 32;
@%p st.shared.u32 [%own], %t;
bar.warp.sync 0xffffffff;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"ldmatrix of rows that are not all written", K::UninitialisedRead, 1, 32, R"(
st.shared.u32 [%own], %t;
+st.shared.u32 [%own+128], %t;
bar.warp.sync 0xffffffff;
shl.b32 %b, %lane, 4;
add.u32 %b, %b, %buf;
-ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%c, %d}, [%b]; // here
+ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%c, %d}, [%b];
st.global.u32 [%out], %c;)"},
    {"copy from unwritten memory", K::UninitialisedRead, 1, 1, R"(
-cp.async.cg.shared.global [%buf], [%raw], 16; // here
+cp.async.cg.shared.global [%buf], [%in], 16;
cp.async.wait_all;)"},

    // --- races ---
    {"no barrier between writing and reading", K::Race, 1, 64, R"(
st.shared.u32 [%own], %t;
+bar.sync 0;
setp.ge.u32 %p, %warp, 1;
@%p ld.shared.u32 %a, [buf+4]; // here
st.global.u32 [%out], %t;)"},
    {"no barrier before the buffer is written again", K::Race, 1, 64, R"(
st.shared.u32 [%own], %t;
bar.sync 0;
ld.shared.u32 %a, [%next];
+bar.sync 0;
st.shared.u32 [%own], 5; // here
st.global.u32 [%out], %a;)"},
    {"two warps write different values", K::Race, 1, 64, R"(
-st.shared.u32 [buf], %warp; // here
+st.shared.u32 [buf], 1;)"},
    {"lanes of one instruction write different values", K::Race, 1, 32, R"(
-st.global.u32 [%flags], %lane; // here
+st.global.u32 [%flags], 3;)"},
    {"lanes of a warp without a warp barrier", K::Race, 1, 32, R"(
st.shared.u32 [%own], %t;
+bar.warp.sync 0xffffffff;
ld.shared.u32 %a, [%next]; // here
st.global.u32 [%out], %a;)"},
    {"both sides of a branch", K::Race, 1, 32, R"(
st.shared.u32 [%own], %t;
bar.warp.sync 0xffffffff;
setp.lt.u32 %p, %lane, 16;
@%p bra low;
st.shared.u32 [buf], 77;
-bra.uni done;
+bra.uni wait;
low:
+bar.warp.sync 0xffffffff;
ld.shared.u32 %a, [buf]; // here
st.global.u32 [%out], %a;
bra.uni done;
+wait:
+bar.warp.sync 0xffffffff;
done:)"},
    {"two warps on one byte of a word", K::Race, 1, 64, R"(
-st.shared.u8 [buf+1], %t; // here
+mov.u32 %a, %t;
+add.u32 %b, %buf, %t;
+st.shared.u8 [%b], %a;)"},
    {"blocks write one word", K::Race, 2, 1, R"(
-st.global.u32 [%flags], %cta; // here
+red.global.add.u32 [%flags], %cta;)"},
    {"a block reads what another writes", K::Race, 2, 1, R"(
setp.eq.u32 %p, %cta, 0;
@%p st.global.u32 [%flags], 5;
-@!%p ld.global.u32 %a, [%flags]; // here
+@!%p ld.global.u32 %a, [%flags+4];
st.global.u32 [%out], %cta;)"},
    {"warps of a block on global memory", K::Race, 1, 64, R"(
st.global.u32 [%out], %t;
+bar.sync 0;
setp.ge.u32 %p, %warp, 1;
@%p ld.global.u32 %a, [%out+-128]; // here
)"},
    {"counting without atomics", K::Race, 1, 64, R"(
-ld.global.u32 %a, [%flags];
-add.u32 %a, %a, 1;
-st.global.u32 [%flags], %a; // here
+red.global.add.u32 [%flags], 1;)"},
    {"a counter that is cleared as others count", K::Race, 1, 64, R"(
setp.ne.u32 %p, %t, 0;
@!%p st.shared.u32 [%buf], 0;
+bar.sync 0;
atom.shared.add.u32 %a, [%buf], 1; // here
st.global.u32 [%out], %t;)"},
    {"a counter that is read before others count", K::Race, 1, 64, R"(
st.shared.u32 [%buf], 0;
bar.sync 0;
ld.shared.u32 %b, [%buf];
+bar.sync 0;
atom.shared.add.u32 %a, [%buf], 1; // here
st.global.u32 [%out], %b;)"},
    {"a plain read of a counter", K::Race, 2, 32, R"(
atom.global.add.u32 %a, [%flags], 1;
-ld.global.u32 %b, [%flags]; // here
+ld.relaxed.gpu.global.u32 %b, [%flags];
st.global.u32 [%out], %a;)"},
    {"a flag without a fence", K::Race, 2, 1, R"(
setp.ne.u32 %p, %cta, 0;
@%p bra reader;
st.global.u32 [%flags], 5;
+fence.acq_rel.gpu;
st.relaxed.gpu.global.u32 [%flags+4], 1;
bra.uni done;
reader:
ld.acquire.gpu.global.u32 %a, [%flags+4];
setp.eq.u32 %q, %a, 0;
@%q bra reader;
ld.global.u32 %b, [%flags]; // here
st.global.u32 [%out], %b;
done:)"},
    {"a flag read without a fence", K::Race, 2, 1, R"(
setp.ne.u32 %p, %cta, 0;
@%p bra reader;
st.global.u32 [%flags], 5;
st.release.gpu.global.u32 [%flags+4], 1;
bra.uni done;
reader:
ld.relaxed.gpu.global.u32 %a, [%flags+4];
setp.eq.u32 %q, %a, 0;
@%q bra reader;
+fence.acq_rel.gpu;
ld.global.u32 %b, [%flags]; // here
st.global.u32 [%out], %b;
done:)"},
    {"a fence for the block alone", K::Race, 2, 1, R"(
setp.ne.u32 %p, %cta, 0;
@%p bra reader;
st.global.u32 [%flags], 5;
-membar.cta;
+membar.gl;
atom.global.exch.b32 %c, [%flags+4], 1;
bra.uni done;
reader:
atom.global.add.u32 %a, [%flags+4], 0;
setp.eq.u32 %q, %a, 0;
@%q bra reader;
membar.gl;
ld.global.u32 %b, [%flags]; // here
st.global.u32 [%out], %b;
done:)"},
    {"atomics of the block between blocks", K::Race, 2, 1, R"(
-atom.relaxed.cta.global.add.u32 %a, [%flags], 1; // here
+atom.relaxed.gpu.global.add.u32 %a, [%flags], 1;
st.global.u32 [%out], %a;)"},
    {"a barrier of too few warps", K::Race, 1, 96, R"(
st.shared.u32 [%own], 9;
bar.sync 0;
st.shared.u32 [%own], %t;
-setp.eq.u32 %p, %warp, 2;
-@%p bra skip;
-bar.sync 1, 64;
-skip:
+bar.sync 1, 96;
ld.shared.u32 %a, [%next]; // here
st.global.u32 [%out], %a;)"},
    {"a consumer that does not wait", K::Race, 1, 64, R"(
setp.eq.u32 %p, %warp, 0;
@!%p bra consumer;
st.shared.u32 [%own], %t;
bar.arrive 1, 64;
bra.uni done;
consumer:
-ld.shared.u32 %a, [%own+-128]; // here
bar.sync 1, 64;
+ld.shared.u32 %a, [%own+-128];
st.global.u32 [%out], %t;
done:)"},
    {"a producer that arrives too early", K::Race, 1, 64, R"(
setp.eq.u32 %p, %warp, 0;
@!%p bra consumer;
-bar.arrive 1, 64;
st.shared.u32 [%own], %t;
+bar.arrive 1, 64;
bra.uni done;
consumer:
bar.sync 1, 64;
ld.shared.u32 %a, [%own+-128]; // here
st.global.u32 [%out], %a;
done:)"},
    {"a stored fragment read at once", K::Race, 1, 32, R"(
mov.f32 %x0, 0f3F800000;
wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [buf], {%x0, %x0, %x0, %x0, %x0, %x0, %x0, %x0}, 16;
+bar.warp.sync 0xffffffff;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"ldmatrix right after the stores", K::Race, 1, 32, R"(
shl.b32 %b, %lane, 4;
add.u32 %b, %b, %buf;
st.shared.v4.u32 [%b], {%t, %t, %t, %t};
+bar.warp.sync 0xffffffff;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%c}, [%b]; // here
st.global.u32 [%out], %c;)"},

    // --- cp.async ---
    {"a copy that nobody waits for", K::AsyncCopy, 1, 32, R"(
cp.async.ca.shared.global [%own], [%in], 4;
cp.async.commit_group;
+cp.async.wait_group 0;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"a wait for one group too few", K::AsyncCopy, 1, 32, R"(
cp.async.ca.shared.global [%own], [%in], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%own+128], [%in], 4;
cp.async.commit_group;
-cp.async.wait_group 1;
+cp.async.wait_group 0;
ld.shared.u32 %a, [%own];
ld.shared.u32 %b, [%own+128]; // here
st.global.u32 [%out], %a;)"},
    {"a copy that is not committed", K::AsyncCopy, 1, 32, R"(
cp.async.ca.shared.global [%own], [%in], 4;
+cp.async.commit_group;
cp.async.wait_group 0;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"a barrier instead of the wait", K::AsyncCopy, 1, 64, R"(
cp.async.ca.shared.global [%own], [%in], 4;
cp.async.commit_group;
+cp.async.wait_all;
bar.sync 0;
ld.shared.u32 %a, [%next]; // here
st.global.u32 [%out], %a;)"},
    {"a wait without the barrier", K::Race, 1, 64, R"(
st.shared.u32 [%own], 9;
bar.sync 0;
cp.async.ca.shared.global [%own], [%in], 4;
cp.async.wait_all;
+bar.sync 0;
ld.shared.u32 %a, [%next]; // here
st.global.u32 [%out], %a;)"},
    {"a store into a copy's destination", K::AsyncCopy, 1, 32, R"(
cp.async.ca.shared.global [%own], [%in], 4;
+cp.async.wait_all;
st.shared.u32 [%own], 1; // here
)"},
    {"two copies to one place", K::AsyncCopy, 1, 32, R"(
cp.async.ca.shared.global [%own], [%in], 4;
+cp.async.wait_all;
cp.async.ca.shared.global [%own], [%in+4], 4; // here
cp.async.wait_all;)"},
    {"a copy into a buffer that others still read", K::Race, 1, 64, R"(
st.shared.u32 [%own], %t;
bar.sync 0;
ld.shared.u32 %a, [%next];
+bar.sync 0;
cp.async.ca.shared.global [%own], [%in], 4; // here
cp.async.wait_all;
st.global.u32 [%out], %a;)"},

    // --- mbarriers and bulk copies ---
    {"a bulk copy that nobody waits for", K::AsyncCopy, 1, 32, R"(
setp.eq.u32 %p, %t, 0;
@%p mbarrier.init.shared.b64 [buf+1024], 1;
bar.sync 0;
@%p mbarrier.arrive.expect_tx.shared.b64 _, [buf+1024], 256;
@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%buf], [%in], 256, [buf+1024];
+wait:
+mbarrier.try_wait.parity.shared.b64 %q, [buf+1024], 0;
+@!%q bra wait;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"an mbarrier that is not initialised", K::AsyncBarrier, 1, 32, R"(
setp.eq.u32 %p, %t, 0;
+@%p mbarrier.init.shared.b64 [buf+1024], 32;
bar.sync 0;
mbarrier.arrive.shared.b64 %la, [buf+1024]; // here
)"},
    {"arrivals too many", K::AsyncBarrier, 1, 32, R"(
setp.eq.u32 %p, %t, 0;
@%p mbarrier.init.shared.b64 [buf+1024], 2;
bar.sync 0;
-@%p mbarrier.arrive.shared.b64 %la, [buf+1024], 3; // here
+@%p mbarrier.arrive.shared.b64 %la, [buf+1024], 2;
)"},
    {"an mbarrier used before others know it", K::Race, 1, 64, R"(
setp.eq.u32 %p, %t, 0;
@%p mbarrier.init.shared.b64 [buf+1024], 64;
+bar.sync 0;
mbarrier.arrive.shared.b64 %la, [buf+1024]; // here
)"},
    {"a consumer that does not test the mbarrier", K::Race, 1, 64, R"(
setp.eq.u32 %p, %t, 0;
@%p mbarrier.init.shared.b64 [buf+1024], 32;
st.shared.u32 [%own], 9;
bar.sync 0;
setp.eq.u32 %p, %warp, 1;
@!%p bra consumer;
st.shared.u32 [%own], %t;
mbarrier.arrive.shared.b64 %la, [buf+1024];
bra.uni done;
consumer:
+mbarrier.try_wait.parity.shared.b64 %q, [buf+1024], 0;
+@!%q bra consumer;
ld.shared.u32 %a, [%own+128]; // here
st.global.u32 [%out], %a;
done:)"},
    {"st.async that nobody waits for", K::AsyncCopy, 1, 32, R"(
setp.eq.u32 %p, %t, 0;
@%p mbarrier.init.shared.b64 [buf+1024], 1;
@%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [buf+1024], 128;
bar.sync 0;
add.u32 %b, %buf, 1024;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%own], %t, [%b];
consumer:
+mbarrier.try_wait.parity.shared.b64 %q, [buf+1024], 0;
+@!%q bra consumer;
ld.shared.u32 %a, [%own]; // here
st.global.u32 [%out], %a;)"},
    {"a bulk store without a proxy fence", K::ProxyFence, 1, 32, R"(
st.shared.u32 [%own], %t;
+fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p, %t, 0;
@%p cp.async.bulk.global.shared::cta.bulk_group [%flags], [%buf], 128; // here
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;)"},
    {"a buffer that a bulk store still reads", K::AsyncCopy, 1, 32, R"(
st.shared.u32 [%own], %t;
fence.proxy.async.shared::cta;
bar.sync 0;
setp.eq.u32 %p, %t, 0;
@%p cp.async.bulk.global.shared::cta.bulk_group [%flags], [%buf], 128;
@%p cp.async.bulk.commit_group;
+@%p cp.async.bulk.wait_group.read 0;
bar.sync 0;
st.shared.u32 [%own], 1; // here
)"},

    // --- barriers and masks ---
    {"a barrier in one side of a branch", K::BarrierDivergence, 1, 32, R"(
setp.lt.u32 %p, %lane, 16;
-@%p bra skip;
bar.sync 0; // here
-bra.uni skip;
-skip:
-bar.sync 0;
st.global.u32 [%out], %t;)"},
    {"a barrier after lanes have exited", K::BarrierDivergence, 1, 32, R"(
setp.lt.u32 %p, %lane, 16;
-@%p exit;
bar.sync 0; // here
+@%p exit;
st.global.u32 [%out], %t;)"},
    {"one barrier with two counts", K::BarrierMismatch, 1, 64, R"(
setp.eq.u32 %p, %warp, 0;
mov.u32 %a, 64;
-@%p mov.u32 %a, 96;
bar.sync 1, %a; // here
)"},
    {"a barrier for a part of a warp", K::BarrierMismatch, 1, 64, R"(
-mov.u32 %a, 33;
+mov.u32 %a, 64;
bar.sync 1, %a; // here
)"},
    {"a barrier for more threads than there are", K::Deadlock, 1, 64, R"(
-bar.sync 1, 96; // here
+bar.sync 1, 64;)"},
    {"warps at different barriers", K::Deadlock, 1, 64, R"(
-add.u32 %a, %warp, 1;
+mov.u32 %a, 1;
bar.sync %a, 64; // here
)"},
    {"a warp that never comes", K::Deadlock, 1, 64, R"(
setp.eq.u32 %p, %warp, 1;
-@%p bra done;
bar.sync 1, 64; // here
done:)"},
    {"a flag that nobody sets", K::Deadlock, 1, 32, R"(
-setp.eq.u32 %p, %lane, 40;
+setp.eq.u32 %p, %lane, 0;
@%p st.volatile.global.u32 [%flags], 1;
spin:
ld.volatile.global.u32 %a, [%flags]; // here
setp.eq.u32 %q, %a, 0;
@%q bra spin;)"},
    {"a lock that is never given back", K::Deadlock, 2, 32, R"(
setp.ne.u32 %p, %lane, 0;
@%p bra done;
spin:
mov.u32 %b, 1;
atom.global.cas.b32 %a, [%flags], 0, %b; // here
setp.ne.u32 %q, %a, 0;
@%q bra spin;
+atom.global.exch.b32 %a, [%flags], 0;
done:)"},
    {"a mask without the lane itself", K::MemberMask, 1, 32, R"(
mov.u32 %b, 0xffffffff;
setp.eq.u32 %p, %lane, 3;
-@%p mov.u32 %b, 0x1;
shfl.sync.idx.b32 %a, %t, 0, 31, %b; // here
st.global.u32 [%out], %a;)"},
    {"lanes that meet with different masks", K::MemberMask, 1, 32, R"(
mov.u32 %b, 0xffffffff;
setp.lt.u32 %p, %lane, 16;
-@%p mov.u32 %b, 0x0000ffff;
vote.sync.ballot.b32 %a, %p, %b; // here
st.global.u32 [%out], %a;)"},
    {"a warp barrier whose mask lacks the caller", K::MemberMask, 1, 32, R"(
setp.ge.u32 %p, %lane, 16;
-@%p bar.warp.sync 0x0000ffff; // here
+@%p bar.warp.sync 0xffff0000;
st.global.u32 [%out], %t;)"},
    {"a reduction whose mask lacks the caller", K::MemberMask, 1, 32, R"(
-redux.sync.add.s32 %a, %t, 0x7fffffff; // here
+redux.sync.add.s32 %a, %t, 0xffffffff;
st.global.u32 [%out], %a;)"},
    {"a matrix product by half a warp", K::BarrierDivergence, 1, 32, R"(
mov.u32 %a, 0;
mov.f32 %x0, 0f00000000;
setp.lt.u32 %p, %lane, 16;
-@%p bra skip;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%x0, %x1, %x2, %x3}, {%a, %a}, {%a}, {%x0, %x0, %x0, %x0}; // here
-skip:
st.global.u32 [%out], %t;)"},
    {"ldmatrix by half a warp", K::BarrierDivergence, 1, 32, R"(
shl.b32 %b, %lane, 4;
add.u32 %b, %b, %buf;
st.shared.v4.u32 [%b], {0, 0, 0, 0};
bar.warp.sync 0xffffffff;
setp.lt.u32 %p, %lane, 16;
-@!%p bra skip;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%c}, [%b]; // here
-skip:
st.global.u32 [%out], %t;)"},
    {"a failed assertion", K::Fault, 1, 32, R"(
setp.eq.u32 %p, %lane, 40;
-setp.eq.u32 %p, %lane, 4;
@%p trap; // here
st.global.u32 [%out], %t;)"},
};

/// One of the two kernels, and the line where the finding is wanted.
std::string makeKernel(const Fault &fault, bool faulty, uint32_t &wanted) {
  std::string text = prologue, line;
  uint32_t number = uint32_t(std::count(text.begin(), text.end(), '\n'));
  std::istringstream body(fault.body);
  wanted = 0;
  while (std::getline(body, line)) {
    if (line.empty() || line[0] == (faulty ? '+' : '-'))
      continue;
    if (line[0] == '+' || line[0] == '-')
      line.erase(0, 1);
    ++number;
    if (line.find("// here") != std::string::npos)
      wanted = number;
    text += line + "\n";
  }
  return text + "ret;\n}\n";
}

std::vector<Finding> findingsOf(const Fault &fault, const std::string &text, LaunchResult &result) {
  DecodeOptions options;
  options.check = true;
  Device device(text, options);
  std::vector<uint32_t> words(1024);
  for (uint32_t i = 0; i < 1024; ++i)
    words[i] = i;
  uint64_t out = device.memory.allocate(4096), in = device.upload(words), raw = device.memory.allocate(256);
  uint64_t flags = device.upload(std::vector<uint32_t>(64)), gone = device.upload(words);
  device.memory.release(gone);
  Device::Shape shape;
  shape.grid[0] = fault.grid, shape.block[0] = fault.block;
  result = device.launch("k", shape, out, in, flags, raw, gone);
  return result.findings;
}

std::ostream &operator<<(std::ostream &out, const Fault &fault) { return out << fault.name; }

class Faults : public testing::TestWithParam<Fault> {};

TEST_P(Faults, AreFound) {
  uint32_t wanted;
  std::string text = makeKernel(GetParam(), true, wanted);
  LaunchResult result;
  std::vector<Finding> found = findingsOf(GetParam(), text, result);
  ASSERT_NE(wanted, 0u);
  bool there = false;
  std::string all;
  for (const Finding &f : found) {
    there |= f.kind == GetParam().kind && f.line == wanted;
    all += describe(f) + "\n";
    EXPECT_EQ(f.kind, GetParam().kind) << describe(f);
    EXPECT_NE(f.message.find("line " + std::to_string(f.line)), std::string::npos);
  }
  EXPECT_TRUE(there) << "wanted at line " << wanted << ":\n" << all << result.message;
}

TEST_P(Faults, TwinsAreClean) {
  uint32_t wanted;
  LaunchResult result;
  for (const Finding &f : findingsOf(GetParam(), makeKernel(GetParam(), false, wanted), result))
    ADD_FAILURE() << describe(f);
  EXPECT_EQ(result.fault, FaultKind::None) << result.message;
}

std::string nameOfTest(const testing::TestParamInfo<Fault> &info) {
  std::string name = info.param.name;
  for (char &c : name)
    if (!isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(faults), nameOfTest);

} // namespace
} // namespace joule::vgpu::test
