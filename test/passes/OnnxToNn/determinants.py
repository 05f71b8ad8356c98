"""Det beyond the official tests: types, sizes, singular matrices, and what is not square."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 7
# RUN: joule-onnx-tests %t --mode dynamic --floor 7
# RUN: not joule run %t/sizes_of_the_run/model.onnx --random --dim n=2 --dim m=3 2>&1 | FileCheck %s --check-prefix=STOPS
# STOPS: Det has rows and columns of sizes that differ
# RUN: not joule check %t/not_square.onnx 2>&1 | FileCheck %s
# CHECK: Det has rows and columns of 2 and 3, which differ

import pathlib
import sys

import numpy
import onnx.parser

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import HEAD, Cases

cases = Cases()


def add(name, x, text):
    determinants = numpy.linalg.det(x.astype("f8"))
    cases.add(name, text + " { y = Det (x) }", [x], outputs=[numpy.asarray(determinants, x.dtype)], opset=22)


add("more_elements_than_threads", cases.floats(2, 33, 33, low=-1, high=1), "g (float[2,33,33] x) => (float[2] y)")
add("half", cases.floats(3, 4, 4, dtype="f2"), "g (float16[3,4,4] x) => (float16[3] y)")
add("double", cases.floats(2, 2, 5, 5, dtype="f8"), "g (double[2,2,5,5] x) => (double[2,2] y)")
add("singular", numpy.array([[1, 2, 3], [2, 4, 6], [0, 1, 1]], "f4"), "g (float[3,3] x) => (float y)")
add("no_rows", numpy.zeros([2, 0, 0], "f4"), "g (float[2,0,0] x) => (float[2] y)")
add("one_number", cases.floats(1, 1), "g (float[1,1] x) => (float y)")
add("sizes_of_the_run", cases.floats(4, 4), "g (float[n,m] x) => (float y)")

model = onnx.parser.parse_model(HEAD.format(ir=10, opset=22) + "g (float[2,3] x) => (float y) { y = Det (x) }")
onnx.save(model, cases.folder / "not_square.onnx")
