"""Scan: states, directions, axes, no iteration at all; and Loops that collect."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 11
# RUN: joule-onnx-tests %t --mode dynamic --floor 11

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases

cases = Cases()
BODY = """body = b (float[3] s, float[3] t, float[3] a, float[3] b) => (float[3] s2, float[3] t2, float[3] o, float[3] p) {
    s2 = Add (s, a)  m = Mul (t, b)  t2 = Sub (m, a)  o = Mul (s2, b)  p = Identity (s) }"""


def scan(attributes, first, second, outputs):
    return f"""g (float[3] s, float[3] t, float[{first}] x, float[{second}] y) => (float[3] u, float[3] v, {outputs}) {{
        u, v, o, p = Scan<num_scan_inputs = 2, {attributes} {BODY}> (s, t, x, y) }}"""


state = cases.floats(3), cases.floats(3)
cases.add("forward", scan("", "5,3", "5,3", "float[5,3] o, float[5,3] p"), [*state, cases.floats(5, 3), cases.floats(5, 3)])
cases.add("directions", scan("scan_input_directions = [1, 0], scan_output_directions = [0, 1],", "5,3", "5,3", "float[5,3] o, float[5,3] p"),
          [*state, cases.floats(5, 3), cases.floats(5, 3)])
cases.add("axes", scan("scan_input_axes = [1, -1], scan_output_axes = [1, -1],", "3,4", "3,4", "float[3,4] o, float[3,4] p"),
          [*state, cases.floats(3, 4), cases.floats(3, 4)])
cases.add("sizes_of_the_run", scan("scan_output_directions = [1, 0],", "N,3", "N,3", "float[N,3] o, float[N,3] p"),
          *[[*state, cases.floats(n, 3), cases.floats(n, 3)] for n in (1, 7)])

# ONNX Runtime refuses these.
nothing = cases.floats(0, 3)
for name, size in (("no_iteration", "0"), ("no_iteration_in_this_run", "N")):
    cases.add(name, scan("", f"{size},3", f"{size},3", f"float[{size},3] o, float[{size},3] p"), [*state, nothing, nothing],
              outputs=[*state, nothing, nothing])

# No state, integers, and a value of the outer graph.
cases.add("no_state", """g (int64[4,2] x, int64[2] k) => (int64[4,2] y) {
    y = Scan<num_scan_inputs = 1, body = b (int64[2] a) => (int64[2] o) { o = Mul (a, k) }> (x) }""",
    [cases.integers(4, 2), cases.integers(2)])

# Version 8 has batches before the sequences.
cases.add("batches", """g (float[2,3] s, float[2,5,3] x) => (float[2,3] u, float[2,5,3] y) {
    u, y = Scan<num_scan_inputs = 1, directions = [1], body = b (float[3] s1, float[3] a) => (float[3] s2, float[3] o) {
        s2 = Add (s1, a)  o = Identity (s2) }> (, s, x) }""", [cases.floats(2, 3), cases.floats(2, 5, 3)], opset=8)

# A Loop that collects what it has collected so far keeps its count, and sizes that only an iteration knows.
cases.add("loop_collects", """g (int64 n, float[M,3] x, bool[K] keep) => (float[A,B,3] y, int64[A] k) <bool go = {1}, int64 zero = {0}> {
    z, y, k = Loop (n, go, zero) <body = b (int64 i, bool goes, int64 before) => (bool on, int64 after, float[] rows, int64 count) {
        on = Identity (goes)  rows = Compress<axis = 0> (x, keep)  after = Add (before, i)  count = Identity (after) }>
    }""", *[[numpy.array(n), cases.floats(4, 3), numpy.array([True, False, True, True])] for n in (3, 1)])
