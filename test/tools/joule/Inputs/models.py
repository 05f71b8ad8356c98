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
# y = relu(x) + x: what the examples of --help call model.onnx
model("model", [helper.make_node("Relu", ["x"], ["positive"], name="relu"), helper.make_node("Add", ["positive", "x"], ["y"], name="plus")], [value("x", ["batch", 2])], [value("y", ["batch", 2])])
# y = x + (w · w), whose weights fold into one that no file holds
weights = numpy_helper.from_array(numpy.arange(4096, dtype="f4"), "w")
graph = helper.make_graph([helper.make_node("Mul", ["w", "w"], ["squares"]), helper.make_node("Add", ["x", "squares"], ["y"])], "folds", [value("x", [4096])], [value("y", [4096])], [weights])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "folds.onnx")
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
path = folder / "test_data_set_0"
path.mkdir(exist_ok=True)
for file, array in (("input_0", x - 2), ("output_0", numpy.maximum(x - 2, 0) + x - 2)):
    (path / f"{file}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
