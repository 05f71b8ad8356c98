"""Sizes that a run finds to be 1, and numbers of the host that are far apart."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 4
# RUN: joule-onnx-tests %t --mode dynamic --floor 4
# RUN: joule run %t/squeeze_keeps/model.onnx --random --dim n=2 --dim m=3 | FileCheck %s --check-prefix=KEEPS
# KEEPS: y: float32 [2, 3]
# RUN: not joule run %t/squeeze_keeps/model.onnx --random --dim n=2 --dim m=1 2>&1 | FileCheck %s --check-prefix=DROPS
# DROPS: Squeeze has no axes and an axis 1 that only a run finds to have size 1, which is not supported
# RUN: not joule run %t/values/model.onnx --random --dim n=4 --dim m=3 --input depth=random:2:3 2>&1 | FileCheck %s --check-prefix=VALUES
# VALUES: OneHot wants two values, off and on
# RUN: not joule run %t/sizes/model.onnx --input s=%t/negative.npy 2>&1 | FileCheck %s --check-prefix=NEGATIVE
# NEGATIVE: ConstantOfShape makes a dimension of fewer than 0 elements

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases

cases = Cases()

# What `...` stands for is repeated; a letter is not.
cases.add("einsum", """g (float[a,b,3,4] x, float[c,d,4,2] w) => (float[A,B,3,2] y) { y = Einsum<equation = "...ij,...jk"> (x, w) }""",
          [cases.floats(2, 1, 3, 4), cases.floats(1, 5, 4, 2)], [cases.floats(2, 5, 3, 4), cases.floats(2, 1, 4, 2)])

far = numpy.iinfo("i8")
cases.add("far_apart", f"""g (float[n] x) => (bool[2] less, bool[2] equal) <int64[2] a = {{{far.min}, {far.max}}}, int64[2] b = {{3, -3}}> {{
    less = Less (a, b)  equal = LessOrEqual (b, a) }}""", [cases.floats(1)],
    outputs=[numpy.array([True, False]), numpy.array([False, True])])
cases.add("squeeze_keeps", "g (float[n,m] x) => (float[n,m] y) { y = Squeeze (x) }", [cases.floats(2, 3)])
cases.add("values", "g (int64[n] x, int64[1] depth, float[m] v) => (float[n,k] y) { y = OneHot (x, depth, v) }",
          [numpy.array([0, 2, -1, 3]), numpy.array([3]), numpy.array([0.5, 2], "f4")])
cases.add("sizes", "g (int64[2] s) => (float[A,B] y) { y = ConstantOfShape (s) }", [numpy.array([2, 0])])
numpy.save(cases.folder / "negative.npy", numpy.array([-1, 2]))
