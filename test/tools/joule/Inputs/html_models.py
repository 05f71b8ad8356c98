"""Models for the page of `joule report`: one of several kernels, whose names and nodes are hostile to HTML."""

import numpy
from onnx import TensorProto, helper, numpy_helper, save

HOSTILE = "<script>alert('a & b')</script>\""


def write(path):
    weight = numpy_helper.from_array(numpy.ones((256, 256), "f4"), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name=HOSTILE), helper.make_node("Softmax", ["a"], ["b"], name="rows"),
             helper.make_node("MatMul", ["b", "w"], ["c"], name="second"), helper.make_node("Tanh", ["c"], ["y"], name="tanh")]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 256]) for name in "xy"]
    graph = helper.make_graph(nodes, "pages", values[:1], values[1:], [weight])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
