"""models.py FOLDER: writes the models that the examples run on."""

import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(name, nodes, inputs, outputs, **weights):
    initializers = [numpy_helper.from_array(numpy.array(array, "f4"), key) for key, array in weights.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / f"{name}.onnx")


# y[b] = relu(x[b, :] · w + 1), for any number of rows; columns of w are 1 and -1 in turn
model(
    "layer",
    [helper.make_node("MatMul", ["x", "w"], ["xw"], name="product"), helper.make_node("Add", ["xw", "one"], ["sum"], name="bias"),
     helper.make_node("Relu", ["sum"], ["y"], name="relu")],
    [value("x", ["batch", 64])], [value("y", ["batch", 32])], w=[[1, -1] * 16] * 64, one=[1] * 32)
# next = 2 state + 1
model(
    "step",
    [helper.make_node("Mul", ["state", "two"], ["twice"], name="double"), helper.make_node("Add", ["twice", "one"], ["next"], name="increment")],
    [value("state", ["n"])], [value("next", ["n"])], two=2, one=1)
