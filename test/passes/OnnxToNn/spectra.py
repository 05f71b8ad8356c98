"""Fourier transforms in lengths and types that the official tests leave out; lists of axes that only a run brings."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 28

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases

cases = Cases()
TYPES = {"f4": "float", "f8": "double"}


def parts(array, dtype):
    return numpy.stack([array.real, array.imag], -1).astype(dtype)


for kind in ("f4", "f8"):
    signal = cases.floats(3, 11, 2, dtype=kind)
    numbers = signal[..., 0] + 1j * signal[..., 1]
    real = signal[..., :1]
    text = TYPES[kind]
    for length in (7, 11, 16):
        given = numpy.array(length)
        cases.add(f"complex_{kind}_{length}", f"g ({text}[3,11,2] x, int64 n) => ({text}[3,A,2] y) {{ y = DFT (x, n) }}", [signal, given],
                  opset=20, outputs=[parts(numpy.fft.fft(numbers, length, axis=1), kind)])
        cases.add(f"inverse_{kind}_{length}", f"g ({text}[3,11,2] x, int64 n) => ({text}[3,A,2] y) {{ y = DFT<inverse = 1> (x, n) }}", [signal, given],
                  opset=20, outputs=[parts(numpy.fft.ifft(numbers, length, axis=1), kind)])
        cases.add(f"onesided_{kind}_{length}", f"g ({text}[3,11,1] x, int64 n) => ({text}[3,A,2] y) {{ y = DFT<onesided = 1> (x, n) }}", [real, given],
                  opset=20, outputs=[parts(numpy.fft.rfft(real[..., 0], length, axis=1), kind)])
        cases.add(f"back_{kind}_{length}", f"g ({text}[3,11,2] x, int64 n) => ({text}[3,A,1] y) {{ y = DFT<inverse = 1, onesided = 1> (x, n) }}",
                  [signal, given], opset=20, outputs=[numpy.fft.irfft(numbers, length, axis=1)[..., None].astype(kind)])

cases.add("frames", """g (float[2,37,1] x, float[9] window) => (float[2,A,B,2] y) <int64 step = {4}> { y = STFT (x, step, window) }""",
          [cases.floats(2, 37, 1), cases.floats(9, low=0)], oracle="reference")
cases.add("mel", """g (int64 bands, int64 length, int64 rate, float low, float high) => (float[A,B] y) { y = MelWeightMatrix (bands, length, rate, low, high) }""",
          [numpy.array(10), numpy.array(64), numpy.array(16000), numpy.array(20, "f4"), numpy.array(7800, "f4")], oracle="reference")

# The axes are the run's.
x = cases.floats(2, 1, 4)
reduce = "g (float[2,1,4] x, int64[2] axes) => (float[N] y) { y = ReduceMean<keepdims = 0> (x, axes) }"
cases.add("reduce", reduce, [x, numpy.array([0, 1])], [x, numpy.array([-1, 0])], oracle="reference")
cases.add("squeeze", "g (float[2,1,4] x, int64[1] axes) => (float[A,B] y) { y = Squeeze (x, axes) }", [x, numpy.array([-2])])
cases.add("pad", "g (float[2,1,4] x, int64[4] pads, int64[2] axes) => (float[A,B,C] y) { y = Pad (x, pads, , axes) }",
          [x, numpy.array([1, 0, 2, 3]), numpy.array([2, 0])])
cases.add("slice", """g (float[2,1,4] x, int64[2] starts, int64[2] ends, int64[2] axes, int64[2] steps) => (float[A,B,C] y) {
    y = Slice (x, starts, ends, axes, steps) }""", [x, numpy.array([3, 0]), numpy.array([-9, 9]), numpy.array([2, 0]), numpy.array([-2, 1])],
    [x, numpy.array([0, 1]), numpy.array([4, 2]), numpy.array([-1, -3]), numpy.array([3, 1])])
