"""Operators of ai.onnx.ml that prepare features, beyond their official tests."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 4
# RUN: joule-onnx-tests %t --mode dynamic --floor 4

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases

cases = Cases()
places = numpy.array([[2, 0, 2]])

cases.add("binarize_doubles", "g (double[2,3] x) => (double[2,3] y) { y = ai.onnx.ml.Binarizer <threshold = 0.5> (x) }",
          [numpy.array([[0.5, 0.25, 0.75], [-1, numpy.nan, numpy.inf]])], oracle="reference")
cases.add("binarize_integers", "g (int64[5] x) => (int64[5] y) { y = ai.onnx.ml.Binarizer <threshold = -1.5> (x) }",
          [numpy.array([-3, -2, -1, 0, 1])], oracle="reference")
cases.add("extract_from_rows", "g (int64[2,2,3] x, int64[1,3] i) => (int64[2,2,3] y) { y = ai.onnx.ml.ArrayFeatureExtractor (x, i) }",
          [cases.integers(2, 2, 3), places])
cases.add("extract_from_a_vector", "g (float[n] x, int64[1,3] i) => (float[1,3] y) { y = ai.onnx.ml.ArrayFeatureExtractor (x, i) }",
          [cases.floats(4), places])
