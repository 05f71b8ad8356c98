"""models.py FOLDER: writes the small models and tensors that the command line's tests use."""

import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def model(name, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, name, inputs, outputs)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / f"{name}.onnx")


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


# y = x + z, where x may have any number of rows
model("add", [helper.make_node("Add", ["x", "z"], ["y"], name="plus")], [value("x", ["batch", 2]), value("z", ["batch", 2])], [value("y", ["batch", 2])])
model("unknown", [helper.make_node("NoSuchOperator", ["x"], ["a"], name="first"), helper.make_node("Neither", ["a"], ["y"], name="second")], [value("x", [2])], [value("y", [2])])
model("unfit", [helper.make_node("MatMul", ["x", "x"], ["a"], name="first"), helper.make_node("NoSuchOperator", ["x"], ["y"], name="second")], [value("x", [2, 3])], [value("y", [2])])

x, z = numpy.array([[1, 2], [3, 4]], "f4"), numpy.array([[0.5, 0.25], [0.5, 0.25]], "f4")
numpy.save(folder / "x.npy", x)
numpy.save(folder / "z.npy", numpy.asfortranarray(z))
numpy.savez(folder / "both.npz", x=x, z=z)
numpy.save(folder / "wide.npy", numpy.zeros((2, 3), "f4"))
for name, y in (("right", x + z), ("wrong", x - z)):
    for number, rows in ((0, 2), (1, 1)):
        path = folder / name / f"test_data_set_{number}"
        path.mkdir(parents=True, exist_ok=True)
        for file, array in (("input_0", x), ("input_1", z), ("output_0", y)):
            (path / f"{file}.pb").write_bytes(numpy_helper.from_array(array[:rows]).SerializeToString())
