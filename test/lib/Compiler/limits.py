"""Models that ask for too much, or for what cannot be: each ends soon, with one error that names the node."""
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Import" / "Inputs"))
import make
from make import node, raw, value
from onnx import TensorProto, helper, save

os.chdir(sys.argv[1])
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
HUGE = 1 << 62
problems = []


def run(path, *arguments, seconds=60):
    return subprocess.run(["joule", "run", path, *arguments], capture_output=True, text=True, timeout=seconds)


def write(made, name="m.onnx"):
    data = made if isinstance(made, bytes) else made.SerializeToString()
    pathlib.Path(name).write_bytes(data)
    return name


def ends(made, code, message, *arguments, at=None, name="m.onnx"):
    """The model ends with one error: its code, a part of its message, the node that it names."""
    got = run(write(made, name), *(arguments or ["--random"]))
    lines = got.stderr.splitlines()
    said = got.returncode == 1 and lines and lines[0].startswith(f"joule: error {code}: ") and message in lines[0]
    if not said or lines[1:] != ([f"  at node: {at}"] if at else []):
        problems.append(f"wanted {code} with '{message}' at {at}, got {got.returncode} and {lines}")


def works(made, *arguments, name="m.onnx"):
    got = run(write(made, name), *(arguments or ["--random"]))
    assert got.returncode == 0, got
    return got.stdout


def one(op, inputs, constants=(), **attributes):
    """A model of one node, called e."""
    names = [name for name, *_ in inputs] + [tensor.name for tensor in constants]
    made = make.node(op, names, ["y"], "e", **attributes)
    return make.model([made], [value(*each) for each in inputs], [value("y", None)], constants)


def whole(name, *numbers):
    return raw(name, numpy.array(numbers, "i8"))


# Sizes that no memory holds, also as products and beside a zero.
for shape in ([HUGE], [1 << 40, 1 << 40], [(1 << 63) - 1, 4], [0, HUGE]):
    ends(one("Relu", [("x", shape)]), "JL0601", "too many to count", at="x")
    ends(one("ConstantOfShape", [], [whole("s", *shape)]), "JL0601", "too many to count", at="e")
    ends(one("Expand", [("x", [1] * len(shape))], [whole("s", *shape)]), "JL0601", "too many to count", at="e")
ends(one("Tile", [("x", [8])], [whole("s", HUGE)]), "JL0601", "too many to count", at="e")
ends(one("Pad", [("x", [7])], [whole("s", HUGE, HUGE)]), "JL0601", "", at="e")
ends(one("Range", [], [raw("a", numpy.int64(0)), raw("b", numpy.int64(HUGE)), raw("c", numpy.int64(1))]), "JL0601",
     "too many to count", at="e")
ends(one("OneHot", [("x", [4], I64)], [whole("s", HUGE), raw("v", numpy.float32([0, 1]))]), "JL0601", "too many", at="e")
ends(one("Reshape", [("x", [0])], [whole("s", 1 << 32, 1 << 32)], allowzero=1), "JL0601", "", at="e")
ends(one("Resize", [("x", [1, 1, 4, 4]), ("r", [0])], [raw("s", numpy.float32([1, 1, 1e30, 1e30]))]), "JL0601", "", at="e")
ends(one("LSTM", [("x", [2, 1, 3]), ("w", [1, 16, 3]), ("r", [1, 16, 4])], hidden_size=HUGE), "JL0601", "hidden_size", at="e")
ends(one("Relu", [("x", [1 << 40])]), "JL0902", "memory")

# The same where only a run says them.
ends(one("Relu", [("x", ["n", "m"])]), "JL0304", "too many to count", "--random", *["--dim", "n=9999999999", "--dim", "m=9999999999"])
expand = one("Expand", [("x", [1, 1]), ("s", [2], I64)])
numpy.save("huge.npy", numpy.array([HUGE, 1 << 40]))
numpy.save("negative.npy", numpy.array([-3, 4]))
ends(expand, "JL0410", "beyond 63 bits", "--input", "x=random", "--input", "s=huge.npy", at="e")
top = make.model([node("TopK", ["x", "k"], ["y", "i"], "e")], [value("x", ["n"]), value("k", [1], I64)],
                 [value("y", None), value("i", None, I64)])
for k, message in ((5, "takes more elements than there are"), (-1, "fewer than none")):
    numpy.save("k.npy", numpy.array([k]))
    ends(top, "JL0401", message, "--input", "x=random", "--input", "k=k.npy", "--dim", "n=4", at="e")

# Nothing is taken from what is empty, and nothing is written beside what is there.
gather = one("Gather", [("x", ["n", 3]), ("i", [2], I64)])
ends(gather, "JL0401", "takes elements of a dimension that has none", "--random", "--dim", "n=0", at="e")
works(gather, "--random", "--dim", "n=2")
ends(one("Gather", [("x", [0, 3]), ("i", [2], I64)]), "JL0601", "takes elements of a dimension that has none", at="e")
works(one("Gather", [("x", [0, 3]), ("i", [0], I64)]))
ends(one("GatherElements", [("x", [0, 3]), ("i", [2, 3], I64)]), "JL0601", "a dimension that has none", at="e")
ends(one("GatherND", [("x", [0, 3]), ("i", [2, 1], I64)]), "JL0601", "a dimension that has none", at="e")
wide = one("GatherElements", [("x", ["n", "m"]), ("i", ["n", "k"], I64)])
ends(wide, "JL0401", "has indices that are larger than its input", "--random", "--dim", "n=2", "--dim", "m=2", "--dim", "k=3", at="e")
scatter = one("ScatterElements", [("x", ["n", 3]), ("i", ["k", 3], I64), ("u", ["l", 3])])
numpy.save("i.npy", numpy.array([[7, -9, 1]]))
numpy.save("x.npy", numpy.zeros((2, 3), "f4"))
numpy.save("u.npy", numpy.ones((1, 3), "f4"))
files = [text for name in "xiu" for text in ("--input", f"{name}={name}.npy")]
assert "= [0, 0, 0, 0, 0, 1]" in works(scatter, *files)
numpy.save("u.npy", numpy.ones((2, 3), "f4"))
ends(scatter, "JL0401", "sizes that differ", *files, at="e")

# Types that are none.
for op, attribute, number in (("QuantizeLinear", "output_dtype", -5), ("QuantizeLinear", "output_dtype", 8), ("QuantizeLinear", "precision", 99),
                              ("DequantizeLinear", "output_dtype", 3), ("QuantizeLinear", "output_dtype", (1 << 32) + 2)):
    inputs = [("x", [3, 4], TensorProto.INT8 if op[0] == "D" else F), ("s", [])]
    made = make.model([make.node(op, ["x", "s"], ["y"], "e", **{attribute: number})], [value(*each) for each in inputs], [value("y", None)], opset=25)
    ends(made, "JL0601", f"has {attribute} {number}, which is no type", at="e")

# Sizes that only a run knows, and that do not fit: nothing outside of an input is read.
def sized(op, inputs, dims, message="joins shapes that do not fit", **attributes):
    arguments = [text for dim in dims.split() for text in ("--dim", dim)]
    ends(one(op, inputs, **attributes), "JL0401", message, "--random", *arguments, at="e")


vectors = [(name, ["c"]) for name in "sbmv"]
sized("Add", [("x", ["n"]), ("z", ["m"])], "n=2 m=3")
sized("Add", [("x", ["n"]), ("z", [3])], "n=2")
sized("Max", [("x", ["n", 5]), ("z", [4, 5])], "n=3")
sized("Sum", [("x", ["n"]), ("z", ["m"]), ("w", ["k"])], "n=1 m=2 k=4")
sized("Where", [("i", ["n"], BOOL), ("x", ["k"]), ("z", ["m"])], "n=2 k=30 m=1")
sized("PRelu", [("x", [2, 3]), ("s", ["n"])], "n=2")
sized("MatMul", [("x", ["a", 4, 8]), ("w", ["b", 8, 3])], "a=2 b=3")
sized("Gemm", [("x", [4, 8]), ("w", [8, 30]), ("b", ["c"])], "c=2")
sized("BatchNormalization", [("x", [2, 3, 4]), *vectors], "c=2")
sized("LayerNormalization", [("x", [2, 30]), *vectors[:2]], "c=2")
sized("InstanceNormalization", [("x", [2, 30, 4]), *vectors[:2]], "c=2")
sized("GroupNormalization", [("x", [2, 30, 4]), *vectors[:2]], "c=2", num_groups=2)
sized("QuantizeLinear", [("x", [4, 30]), ("s", ["n"])], "n=2")
for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    weights = [("x", [3, 2, 4]), ("w", [1, 5 * gates, 4]), ("r", [1, 5 * gates, 5])]
    sized(op, [*weights, ("b", [1, "n"])], "n=7", "has as input 3 and in its other inputs sizes that differ", hidden_size=5)
for dims in ("n=1 m=3", "n=3 m=1", "n=3 m=3"):
    works(one("Add", [("x", ["n"]), ("z", ["m"])]), "--random", *[text for dim in dims.split() for text in ("--dim", dim)])

# Weights in another file: there, missing, cut off, out of the model's folder.
os.mkdir("weights")
outside = dict(path="weights/m.onnx")
works(make.external("data.bin", "2048", **outside), name="weights/m.onnx")
for location, message in (("missing.bin", "cannot be opened"), ("../m.onnx", "outside of the model's folder"), ("link.bin", "outside"),
                          ("/etc/passwd", "no path relative to the model"), (".", ""), ("", "")):
    ends(make.external(location, **outside), "JL0501", message, at="w", name="weights/m.onnx")
ends(make.external("data.bin", "2052", **outside), "JL0501", "which has 4096", at="w", name="weights/m.onnx")

# A cycle, a long chain, deep nesting.
ends(make.cycle(), "JL0501", "Add depends on its own result", at="one")
ends(make.recursive(), "JL0501", "calls itself", at="call/loop r")
start = time.monotonic()
chain = [node(("Sin", "Neg")[i % 2], [f"v{i}"], [f"v{i + 1}"]) for i in range(10_000)]
works(make.model(chain, [value("v0", (2,))], [value("v10000", (2,))]))
assert time.monotonic() - start < 100, "a chain of 10000 nodes took too long"
ends(make.nested(500), "JL0501", "subgraphs nest deeper than 100")


def nested(depth):
    """An If in both branches of an If …"""
    graph = helper.make_graph([node("Neg", ["x"], ["y"], "leaf")], "leaf", [], [value("y", [2])])
    for level in range(depth):
        other = helper.make_graph([node("Abs", ["x"], ["y"], f"other{level}")], "other", [], [value("y", [2])])
        graph = helper.make_graph([node("If", ["c"], ["y"], f"if{level}", then_branch=graph, else_branch=other)], "g", [],
                                  [value("y", [2])])
    return make.model(list(graph.node), [value("x", [2]), value("c", [], BOOL)], [value("y", [2])])


works(nested(30))

# Loops that never end, on the device and on the host, and one whose result grows.
step = [node("Add", ["a", "one"], ["b"], "inc"), node("Identity", ["c"], ["d"])]


def loop(trips, shape, one, scans=False):
    nodes = step + ([node("Identity", ["b"], ["e"])] if scans else [])
    kind = F if shape else I64
    outputs = [value("d", [], BOOL), value("b", shape, kind)] + ([value("e", shape, kind)] if scans else [])
    body = helper.make_graph(nodes, "body", [value("i", [], I64), value("c", [], BOOL), value("a", shape, kind)], outputs)
    constants = [raw("one", one), raw("m", numpy.int64(1 << 31))]
    made = node("Loop", ["m" if trips else "", "", "x"], ["y", "z"][:1 + scans], "loop", body=body)
    return make.model([made], [value("x", shape, kind)], [value("y", shape, kind)] + [value("z", None)] * scans, constants)


for made in (loop(True, [2], numpy.float32([1, 1])), loop(False, [2], numpy.float32([1, 1])),
             loop(True, [2], numpy.float32([1, 1]), scans=True), loop(True, [], numpy.int64(1))):
    start = time.monotonic()
    ends(made, "JL0402", "went over its time limit", "--random", "--time-limit", "0.5")
    assert time.monotonic() - start < 30
process = subprocess.Popen(["joule", "run", write(loop(True, [2], numpy.float32([1, 1]))), "--random"], stderr=subprocess.PIPE, text=True)
while "model.joule (deleted)" not in open(f"/proc/{process.pid}/maps").read():
    time.sleep(0.05)
time.sleep(1)
process.send_signal(signal.SIGINT)
_, errors = process.communicate(timeout=60)
assert process.returncode == 1 and errors.startswith("joule: error JL0403: "), (process.returncode, errors)
sys.exit("\n".join(problems) or 0)
