"""Random numbers: their distributions, what they depend on, and what they do not."""
# RUN: %python %s %t

import pathlib
import subprocess
import sys

import numpy
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import graph

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def run(text, **inputs):
    """The outputs of a graph, in order."""
    model = graph(text, 22)
    onnx.save(model, folder / "model.onnx")
    numpy.savez(folder / "in.npz", **inputs)
    given = ["--input", folder / "in.npz"] if inputs else []
    subprocess.run(["joule", "run", folder / "model.onnx", *given, "--output", folder / "out.npz"], check=True, stdout=subprocess.DEVNULL)
    outputs = numpy.load(folder / "out.npz")
    return [outputs[value.name] for value in model.graph.output]


def near(found, wanted, by):
    assert abs(found - wanted) < by, (found, wanted)


many = """g (int64 n) => (float[100,100] u, float[100,100] v, double[100,100] w, float16[100,100] z, float[N,100] l) <bool go = {1}, float zero = {0}> {
    u = RandomUniform<shape = [100, 100], low = -1.0, high = 3.0, seed = 1.0> ()
    v = RandomUniform<shape = [100, 100], low = -1.0, high = 3.0, seed = 2.0> ()
    w = RandomNormal<shape = [100, 100], mean = 5.0, scale = 2.0, dtype = 11> ()
    z = RandomNormal<shape = [100, 100], dtype = 10> ()
    l = Loop (n, go) <body = b (int64 i, bool goes) => (bool on, float[100] o) { on = Identity (goes)  o = RandomUniform<shape = [100]> () }> }"""
u, v, w, z, looped = run(many, n=numpy.array(3))
near(u.mean(), 1, 0.05), near(u.std(), 4 / 12**0.5, 0.05)
assert -1 <= u.min() < -0.99 and 2.99 < u.max() < 3 and len(numpy.unique(u)) > 9900
near(numpy.corrcoef(u.ravel(), v.ravel())[0, 1], 0, 0.05)
near(numpy.corrcoef(u[:, 1:].ravel(), u[:, :-1].ravel())[0, 1], 0, 0.05)
near(w.mean(), 5, 0.1), near(w.std(), 2, 0.1), near(((w - 5) ** 4).mean() / 16, 3, 0.3)
near(z.astype("f4").mean(), 0, 0.05), near(z.astype("f4").std(), 1, 0.05)
assert z.dtype == numpy.float16 and looped.shape == (3, 100) and len(numpy.unique(looped)) > 290
again = run(many, n=numpy.array(3))
assert all((a == b).all() for a, b in zip(again, (u, v, w, z, looped)))

chances = numpy.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], "f4")
with numpy.errstate(divide="ignore"):
    logarithms = numpy.log(chances)
drawn, coins = run("""g (float[2,3] x, float[1000] p) => (int64[2,2000] y, bool[1000] b) {
    y = Multinomial<sample_size = 2000, dtype = 7> (x)  b = Bernoulli<dtype = 9> (p) }""", x=logarithms, p=numpy.full(1000, 0.3, "f4"))
for row, wanted in zip(drawn, chances):
    for number, chance in enumerate(wanted):
        near((row == number).mean(), chance, 0.05)
near(coins.mean(), 0.3, 0.06)

x = numpy.linspace(-3, 3, 1000, dtype="f4")
dropout = "g (float[1000] x, float r, bool t) => (float[1000] y, bool[1000] m) { y, m = Dropout (x, r, t) }"
y, mask = run(dropout, x=x, r=numpy.array(0.25, "f4"), t=numpy.array(True))
near(mask.mean(), 0.75, 0.06)
assert numpy.allclose(y, numpy.where(mask, x / 0.75, 0), rtol=1e-6)
for ratio, training in ((0, True), (0.25, False)):
    y, mask = run(dropout, x=x, r=numpy.array(ratio, "f4"), t=numpy.array(training))
    assert (y == x).all() and mask.all(), (ratio, training)
