"""Branches whose results are of different ranks: what follows is repeated in each, until the ways meet."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 23
# RUN: joule-onnx-tests %t --mode dynamic --floor 23
# RUN: not joule run %t/contradiction/model.onnx --input %t/taken.npz 2>&1 | FileCheck %s
# CHECK: error JL0401: Squeeze has axis 2 on a tensor of rank 2

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases

cases = Cases()
x = cases.floats(2, 3)
yes, no = numpy.array(True), numpy.array(False)

SUMS = "If (c) <then_branch = t () => (float a) { a = ReduceSum<keepdims = 0> (x) }, else_branch = e () => (float[1,3] b) { b = ReduceSum (x, zero) }>"

# One output each way, met by a reduction of all.
cases.add("meets_behind_ops", f"""g (bool c, float[2,3] x) => (float y) <int64[1] zero = {{0}}> {{
    z = {SUMS}  r = Neg (z)  y = ReduceMax<keepdims = 0> (r) }}""", [yes, x], [no, x])

# Two values that diverge, an op beside them that does not, and one that reads both kinds.
cases.add("meets_with_others", f"""g (bool c, float[2,3] x) => (float[2,3] y, float n) <int64[1] zero = {{0}}> {{
    z = {SUMS}  w = Exp (x)  sum = Add (z, w)  y = Relu (sum)  s = Shape (z)  r = Size (s)  n = Cast<to = 1> (r) }}""",
    [yes, x], [no, x])

# Another branch on the way, decided on each side by the rank.
cases.add("decided_by_rank", f"""g (bool c, float[2,3] x) => (float[1,3] y) <int64[1] zero = {{0}}, int64 none = {{0}}> {{
    z = {SUMS}  s = Shape (z)  r = Size (s)  scalar = Equal (r, none)
    y = If (scalar) <then_branch = t2 () => (float[1,3] d) {{ k = Constant<value_ints = [1, 3]> ()  d = Expand (z, k) }},
                     else_branch = e2 () => (float[1,3] f) {{ f = Identity (z) }}> }}""", [yes, x], [no, x])

# Undecided branches one behind the other: four ways.
cases.add("four_ways", f"""g (bool c, bool d, float[2,3] x) => (float y) <int64[1] zero = {{0}}> {{
    z = {SUMS}
    w = If (d) <then_branch = t2 () => (float[] p) {{ p = Unsqueeze (z, zero) }}, else_branch = e2 () => (float[] q) {{ q = Neg (z) }}>
    y = ReduceSum<keepdims = 0> (w) }}""", *[[c, d, x] for c in (yes, no) for d in (yes, no)])

# A branch in a branch gives the ranks; the outer one has a third.
cases.add("nested", """g (bool c, bool d, float[2,3] x) => (float y) <int64[1] zero = {0}> {
    z = If (c) <then_branch = t () => (float[] a) {
            a = If (d) <then_branch = t2 () => (float[] p) { p = Unsqueeze (x, zero) }, else_branch = e2 () => (float[] q) { q = Exp (x) }> },
        else_branch = e () => (float[] b) { flat = Constant<value_ints = [-1]> ()  b = Reshape (x, flat) }>
    y = ReduceSum<keepdims = 0> (z) }""", *[[c, d, x] for c in (yes, no) for d in (yes, no)])

# In the body of a Loop, whose values keep their ranks.
cases.add("in_a_loop", """g (int64 n, float[2,3] x) => (float y) <bool go = {1}, float start = {0}, int64[1] zero = {0}, int64 one = {1}> {
    y = Loop (n, go, start) <body = b (int64 i, bool goes, float sum) => (bool on, float next) {
        on = Identity (goes)  first = Less (i, one)
        z = If (first) <then_branch = t () => (float a) { a = ReduceSum<keepdims = 0> (x) }, else_branch = e () => (float[] p) { p = Relu (x) }>
        w = Neg (z)  s = ReduceSum<keepdims = 0> (w)  next = Add (sum, s) }> }""", [numpy.array(3), x], [numpy.array(0), x])

# Lists of different lengths decide the ranks of what is reshaped by them.
cases.add("lists", """g (bool c, float[2,3] x) => (float y) {
    k = If (c) <then_branch = t () => (int64[] a) { a = Constant<value_ints = [3, 2, 1]> () }, else_branch = e () => (int64[] b) { b = Constant<value_ints = [-1]> () }>
    z = Reshape (x, k)  y = ReduceL2<keepdims = 0> (z) }""", [yes, x], [no, x])

# A way that cannot be gone: its axis is not there. Nobody goes it.
cases.add("contradiction", """g (bool c, float[2,3] x) => (float[2,3] y) <int64[1] two = {2}> {
    z = If (c) <then_branch = t () => (float[] a) { a = Squeeze (x, two) }, else_branch = e () => (float[2,3] b) { b = Neg (x) }>
    y = Relu (z) }""", [no, x], oracle="reference")

numpy.savez(cases.folder / "taken.npz", c=yes, x=x)

# Only what follows the branch contradicts one side; the sizes are the run's.
cases.add("contradiction_behind", """g (bool c, float[N,M] x) => (float[N,M] y) <int64[1] one = {1}> {
    z = If (c) <then_branch = t () => (float[] a) { a = Unsqueeze (x, one) }, else_branch = e () => (float[N,M] b) { b = Neg (x) }>
    w = Gemm (z, z)  y = Relu (w) }""", [no, cases.floats(3, 3)], [no, cases.floats(2, 2)], oracle="reference")

# Types may differ, too.
cases.add("types", """g (bool c, float[2,3] x) => (int64[2,3] y) {
    z = If (c) <then_branch = t () => (int64[2,3] a) { a = Cast<to = 7> (x) }, else_branch = e () => (float[2,3] b) { b = Neg (x) }>
    y = Cast<to = 7> (z) }""", [yes, x], [no, x], oracle="reference")
