"""Two small models that hold some of everything between them, and the ways to damage them."""

import io
import random

import numpy
from onnx import TensorProto, helper, numpy_helper

F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, shape, kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, numbers, kind="f4"):
    return numpy_helper.from_array(numpy.asarray(numbers, kind), name)


def finish(name, nodes, inputs, outputs, constants, **more):
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    made = helper.make_model(graph, opset_imports=imports, **more)
    made.ir_version = 10
    return made


def vision():
    """Windows, a product, shape arithmetic, typed and raw constants."""
    weights = numpy.random.default_rng(0)
    nodes = [node("Conv", ["x", "filter"], ["c"], "conv", pads=[1, 1, 1, 1]),
             node("Relu", ["c"], ["r"], "relu"),
             node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
             node("Shape", ["p"], ["shape"], "shape"),
             node("Gather", ["shape", "zero"], ["batch"], "batch"),
             node("Concat", ["batch", "rest"], ["flat"], "flat", axis=0),
             node("Reshape", ["p", "flat"], ["v"], "flatten"),
             node("Gemm", ["v", "matrix", "bias"], ["g"], "gemm", transB=1),
             node("Softmax", ["g"], ["y"], "softmax", axis=-1)]
    constants = [constant("filter", weights.standard_normal((2, 1, 3, 3))), constant("zero", [0], "i8"),
                 constant("rest", [-1], "i8"), constant("matrix", weights.standard_normal((3, 18))),
                 helper.make_tensor("bias", F, [3], [0.5, 0.25, -1.0])]
    return finish("vision", nodes, [value("x", ["n", 1, 6, 6])], [value("y", ["n", 3])], constants)


def control():
    """A branch, a loop, a function, indices that data bring, scatter, top-k, a recurrent cell, a cast."""
    small = helper.make_graph([node("Neg", ["t"], ["a"], "negate")], "then", [], [value("a", None)])
    other = helper.make_graph([node("Mul", ["t", "t"], ["b"], "square")], "else", [], [value("b", None)])
    turn = [node("Add", ["s", "one"], ["s2"], "step"), node("Identity", ["go"], ["go2"], "go")]
    body = helper.make_graph(turn, "body", [value("i", [], I64), value("go", [], BOOL), value("s", [4])],
                             [value("go2", [], BOOL), value("s2", [4])])
    twice = helper.make_function("own", "Twice", ["p"], ["q"], [node("Add", ["p", "p"], ["q"], "sum")],
                                 [helper.make_opsetid("", 21)])
    nodes = [node("Gather", ["table", "ids"], ["t"], "embed", axis=0),
             node("If", ["flag"], ["chosen"], "choice", then_branch=small, else_branch=other),
             node("ReduceSum", ["chosen", "axes"], ["sum"], "reduce", keepdims=0),
             node("Loop", ["trips", "", "sum"], ["looped"], "loop", body=body),
             node("Twice", ["looped"], ["twice"], "call", domain="own"),
             node("TopK", ["twice", "k"], ["best", "where"], "top"),
             node("ScatterElements", ["twice", "where", "best"], ["scattered"], "scatter", axis=0),
             node("Cast", ["scattered"], ["y"], "cast", to=TensorProto.FLOAT16)]
    constants = [constant("table", numpy.arange(20).reshape(5, 4)), constant("axes", [0], "i8"),
                 constant("one", [1, 1, 1, 1]), constant("k", [2], "i8"), constant("trips", 3, "i8")]
    inputs = [value("ids", ["m"], I64), value("flag", [], BOOL)]
    return finish("control", nodes, inputs, [value("y", [4], TensorProto.FLOAT16)], constants, functions=[twice])


def tensor_files():
    """Bytes of a .npy (0), a .npz (1) and a .pb file (2)."""
    array = numpy.arange(6, dtype="f4").reshape(2, 3)
    npy, npz = io.BytesIO(), io.BytesIO()
    numpy.save(npy, numpy.asfortranarray(array))
    numpy.savez(npz, a=array, b=array > 2)
    return [(npy.getvalue(), 0), (npz.getvalue(), 1), (numpy_helper.from_array(array).SerializeToString(), 2)]


def cuts(data, count):
    """`count` prefixes, evenly spread, the empty one first."""
    return [data[:len(data) * i // count] for i in range(count)]


def flips(data, count, seed):
    """`count` copies of `data` with one byte each that has become another."""
    source = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(data)
        damaged[source.randrange(len(data))] ^= source.randrange(1, 256)
        yield bytes(damaged)
