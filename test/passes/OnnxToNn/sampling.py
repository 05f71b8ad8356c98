"""Operators that sample, unfold and choose, in types and sizes that the official tests leave out."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 47
# RUN: joule-onnx-tests %t --mode dynamic --filter "^(grid|roi|crop|fold|unpool|unique|old)" --floor 44

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases, graph, run_onnxruntime

cases = Cases()
TYPES = {"f4": "float", "f2": "float16", "f8": "double", "i4": "int32", "i8": "int64", "u1": "uint8"}

# Coordinates beyond the border, on pixels, on the border.
grid = cases.floats(2, 4, 3, 2, low=-1.6, high=1.6)
grid[0, 0] = [[-1, -1], [1, 1], [0, 0]]
for mode in ("linear", "nearest", "cubic"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (0, 1):
            cases.add(f"grid_{mode}_{padding}_{corners}", f"""g (float[2,3,5,7] x, float[2,4,3,2] grid) => (float[2,3,4,3] y) {{
                y = GridSample<mode = "{mode}", padding_mode = "{padding}", align_corners = {corners}> (x, grid) }}""",
                [cases.floats(2, 3, 5, 7), grid], opset=20)
cases.add("grid_volume", """g (double[1,2,3,4,5] x, double[1,2,2,2,3] grid) => (double[1,2,2,2,2] y) {
    y = GridSample (x, grid) }""", [cases.floats(1, 2, 3, 4, 5, dtype="f8"), cases.floats(1, 2, 2, 2, 3, dtype="f8", low=-1, high=1)],
    opset=20, oracle="reference")
half = cases.floats(2, 3, 5, 7, dtype="f2")
exact = run_onnxruntime(graph("g (float[2,3,5,7] x, float[2,4,3,2] grid) => (float[2,3,4,3] y) { y = GridSample (x, grid) }", 20),
                        {"x": half.astype("f4"), "grid": grid})
cases.add("grid_half", "g (float16[2,3,5,7] x, float[2,4,3,2] grid) => (float16[2,3,4,3] y) { y = GridSample (x, grid) }",
          [half, grid], opset=20, outputs=[exact[0].astype("f2")])
cases.add("grid_integers", """g (int32[2,3,5,7] x, float[2,4,3,2] grid) => (int32[2,3,4,3] y) { y = GridSample<mode = "nearest"> (x, grid) }""",
          [cases.integers(2, 3, 5, 7, dtype="i4"), grid], opset=20, oracle="reference")

regions = numpy.array([[0, 0, 3, 4], [1.5, 2, 6, 3.25], [-2, -3, 9, 11], [4, 4, 4.5, 4.5]], "f4")
for mode in ("avg", "max"):
    for ratio in (0, 2):
        for transform in ("half_pixel", "output_half_pixel"):
            cases.add(f"roi_{mode}_{ratio}_{transform}", f"""g (float[2,3,6,7] x, float[4,4] rois, int64[4] batch) => (float[4,3,2,3] y) {{
                y = RoiAlign<mode = "{mode}", sampling_ratio = {ratio}, output_height = 2, output_width = 3, spatial_scale = 0.75,
                             coordinate_transformation_mode = "{transform}"> (x, rois, batch) }}""",
                [cases.floats(2, 3, 6, 7, low=0), regions, numpy.array([0, 1, 1, 0])], oracle="reference")

deformable = [cases.floats(2, 4, 5, 6), cases.floats(6, 2, 3, 2), cases.floats(2, 24, 3, 6, low=-1, high=1), cases.floats(6),
              cases.floats(2, 12, 3, 6, low=0, high=1)]
cases.add("deform_groups", """g (float[2,4,5,6] x, float[6,2,3,2] w, float[2,24,3,6] offsets, float[6] b, float[2,12,3,6] mask) => (float[2,6,3,6] y) {
    y = DeformConv<group = 2, offset_group = 2, strides = [2, 1], pads = [1, 0, 1, 1]> (x, w, offsets, b, mask) }""",
    deformable, opset=19, oracle="reference")

for kind in ("f2", "i8", "u1"):
    cases.add(f"crop_{kind}", f"""g ({TYPES[kind]}[3,5,4] x, int64[2] size) => ({TYPES[kind]}[A,B,C] y) {{
        y = CenterCropPad<axes = [-1, 0]> (x, size) }}""", [cases.integers(3, 5, 4, dtype=kind, low=0), numpy.array([7, 2])], oracle="reference")
cases.add("fold", """g (double[2,12,9] x, int64[2] image, int64[2] block) => (double[2,2,5,6] y) {
    y = Col2Im<strides = [1, 2], pads = [0, 1, 0, 1], dilations = [2, 1]> (x, image, block) }""",
    [cases.floats(2, 12, 9, dtype="f8"), numpy.array([5, 6]), numpy.array([2, 3])], oracle="reference")
cases.add("unpool", """g (float[1,2,5,7] x) => (float[A,B,C,D] y) {
    p, i = MaxPool<kernel_shape = [2, 3], strides = [2, 2]> (x)  y = MaxUnpool<kernel_shape = [2, 3], strides = [2, 2]> (p, i) }""",
    [cases.floats(1, 2, 5, 7)])

for kind in ("f4", "i8", "u1"):
    values = cases.integers(4, 3, dtype=kind, low=0, high=1)
    for number, (attributes, sizes) in enumerate((("", "A"), ("<axis = 1>", "A,B"), ("<axis = 0, sorted = 0>", "A,B"))):
        cases.add(f"unique_{kind}_{number}", f"""g ({TYPES[kind]}[4,3] x) => ({TYPES[kind]}[{sizes}] y, int64[C] first, int64[D] inverse, int64[C] counts) {{
            y, first, inverse, counts = Unique{attributes} (x) }}""", [values], oracle="reference")

# Before version 11 the nearest is the floor along what grows, and the ceiling along what shrinks.
for name, scales in (("grows", "2.5, 1.3"), ("shrinks", "0.6, 0.4"), ("both", "0.6, 2.5")):
    cases.add(f"old_nearest_{name}", f"""g (float[1,2,5,7] x) => (float[A,B,C,D] y) <float[4] scales = {{1.0, 1.0, {scales}}}> {{
        y = Resize (x, scales) }}""", [cases.floats(1, 2, 5, 7)], opset=10)
