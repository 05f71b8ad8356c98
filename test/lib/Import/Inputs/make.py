"""Writes the models that the import tests read: make.py NAME FILE."""
import os
import sys

import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save

F = TensorProto.FLOAT


def value(name, shape=("n", 4), kind=F):
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def model(nodes, inputs=(), outputs=(), initializers=(), opset=21, ir=10, **more):
    graph = helper.make_graph(nodes, "g", list(inputs), list(outputs), list(initializers))
    imports = more.pop("imports", [helper.make_opsetid("", opset)])
    made = helper.make_model(graph, opset_imports=imports, **more)
    made.ir_version = ir
    return made


def raw(name, array):
    return numpy_helper.from_array(numpy.asarray(array), name)


def chain(count):
    nodes = [node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    return model(nodes, [value("v0")], [value(f"v{count}")])


def unsorted():
    nodes = [node("Relu", ["b"], ["y"], "last"), node("Abs", ["a"], ["b"], "middle"), node("Neg", ["x"], ["a"], "first")]
    return model(nodes, [value("x")], [value("y")])


def names():
    """Nodes without names, with one name for two, and an output without one; a domain that nobody uses."""
    nodes = [node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["b"], "same"), node("Abs", ["b"], ["c"], "same"),
             node("Dropout", ["c"], ["y", ""], "drop")]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.unused", 7)]
    return model(nodes, [value("x")], [value("y")], imports=imports)


def cycle():
    return model([node("Add", ["x", "c"], ["a"], "one"), node("Relu", ["a"], ["c"], "two")], [value("x")], [value("c")])


def twice():
    return model([node("Relu", ["x"], ["a"], "one"), node("Abs", ["x"], ["a"], "two")], [value("x")], [value("a")])


def undefined():
    return model([node("Relu", ["nowhere"], ["a"], "one")], [value("x")], [value("a")])


def dims():
    inputs = [value("a", ("n", None)), value("b", ("n", "?")), value("c", ("?", "")), value("d", (3, 0)),
              helper.make_tensor_value_info("e", F, None)]
    outputs = [value("s"), value("t")]
    return model([node("Add", ["a", "b"], ["s"]), node("Add", ["c", "d"], ["t"])], inputs, outputs)


def functions():
    """y = twice(twice(x)), where twice scales by an attribute that has a default."""
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    body = [helper.make_node("LeakyRelu", ["a"], ["m"], name="leak"), helper.make_node("Add", ["m", "m"], ["r"])]
    reference = body[0].attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "alpha", "slope", 1
    default = helper.make_attribute("slope", 0.5)
    twice = helper.make_function("f", "twice", ["a"], ["r"], body, imports, attribute_protos=[default])
    nodes = [node("twice", ["x"], ["t"], "outer", domain="f"), node("twice", ["t"], ["y"], domain="f", slope=0.25)]
    return model(nodes, [value("x")], [value("y")], imports=imports, functions=[twice])


def recursive():
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    body = [helper.make_node("loop", ["a"], ["r"], domain="f")]
    loop = helper.make_function("f", "loop", ["a"], ["r"], body, imports)
    return model([node("loop", ["x"], ["y"], "call", domain="f")], [value("x")], [value("y")], imports=imports, functions=[loop])


def exponential():
    """Thirty functions, each of which calls the next one twice."""
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("f", 1)]
    made = []
    for i in range(30):
        op, domain = ("Relu", "") if i == 29 else (f"f{i + 1}", "f")
        body = [helper.make_node(op, ["a"], ["m"], domain=domain), helper.make_node(op, ["m"], ["r"], domain=domain)]
        made.append(helper.make_function("f", f"f{i}", ["a"], ["r"], body, imports))
    return model([node("f0", ["x"], ["y"], "call", domain="f")], [value("x")], [value("y")], imports=imports, functions=made)


def branch(nodes, output, initializers=()):
    return helper.make_graph(nodes, "branch", [], [value(output)], list(initializers))


def captures():
    """A branch reads values around it; one of them is made after the If in the file."""
    one = branch([node("Add", ["x", "late"], ["p"])], "p")
    other = branch([node("If", ["c"], ["q"], then_branch=branch([node("Relu", ["x"], ["r"])], "r"),
                         else_branch=branch([], "x"))], "q")
    nodes = [node("If", ["c"], ["y"], "choice", then_branch=one, else_branch=other), node("Neg", ["x"], ["late"])]
    return model(nodes, [value("x"), value("c", (), TensorProto.BOOL)], [value("y")])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested(depth):
    """An If in an If in an If …, written byte by byte: protobuf for Python stops at a depth of 100."""
    output = field(12, field(1, b"y"))
    graph = field(1, node("Relu", ["x"], ["y"]).SerializeToString()) + output
    for _ in range(depth):
        then = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
        graph = field(1, node("If", ["c"], ["y"]).SerializeToString() + field(5, then)) + output
    made = model([], [value("x"), value("c", (), TensorProto.BOOL)])
    return field(7, graph + made.graph.SerializeToString()) + made.SerializeToString().replace(
        field(7, made.graph.SerializeToString()), b"")


def weights():
    """A big raw tensor stays in the file, small and typed ones become elements."""
    big, small = raw("big", numpy.arange(512, dtype=numpy.float32)), raw("small", numpy.float32([1, 2]))
    typed = helper.make_tensor("typed", F, [2], [3.0, 4.0])
    return model([node("Identity", ["big"], ["y"])], [], [value("y", (512,))], [big, small, typed])


def default_input():
    """Older models list initialisers among the inputs."""
    return model([node("Add", ["x", "w"], ["y"])], [value("x"), value("w", (4,))], [value("y")],
                 [raw("w", numpy.ones(4, numpy.float32))], opset=9, ir=3)


def types():
    """Every element type, typed and raw."""
    made = []
    for kind in range(1, 27):
        name = TensorProto.DataType.Name(kind).lower()
        if kind == TensorProto.STRING:
            made.append(helper.make_tensor(name, kind, [2], [b"a", b"b"]))
            continue
        values = [1, 0] if kind == TensorProto.BOOL else [1, 1]
        tensor = helper.make_tensor(name, kind, [2], values)
        made.append(tensor)
        array = numpy_helper.to_array(tensor)
        copy = numpy_helper.from_array(array, name + "_raw")
        made.append(copy)
    return model([node("Identity", ["float"], ["y"])], [], [value("y", (2,))], made)


def sparse():
    values = helper.make_tensor("s", F, [2], [1.5, 2.5])
    coordinates = helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 1, 1, 2])
    made = model([node("Identity", ["s"], ["y"])], [], [value("y", (2, 3))])
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, coordinates, [2, 3]))
    return made


def external(location, offset="0", length="2048", shape=(512,), path=None):
    tensor = TensorProto(name="w", data_type=F, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        if text is not None:
            tensor.external_data.add(key=key, value=text)
    folder = os.path.dirname(path)
    with open(os.path.join(folder, "data.bin"), "wb") as file:
        file.truncate(4096)
    if not os.path.lexists(os.path.join(folder, "link.bin")):
        os.symlink("/etc/passwd", os.path.join(folder, "link.bin"))
    return model([node("Identity", ["w"], ["y"])], [], [value("y", (512,))], [tensor])


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes(parts + [number])


def huge(path):
    """A model of 3 GB whose weight is a hole in a sparse file."""
    small = model([node("Identity", ["w"], ["y"])], [], [value("y", (768 << 20,))])
    graph = small.graph.SerializeToString()
    head = TensorProto(name="w", data_type=F, dims=[768 << 20]).SerializeToString()
    size = 3 << 30
    tensor_start = head + b"\x4a" + varint(size)
    initializer = b"\x2a" + varint(len(tensor_start) + size)
    small.ClearField("graph")
    with open(path, "wb") as file:
        file.write(small.SerializeToString() + b"\x3a" + varint(len(graph) + len(initializer) + len(tensor_start) + size))
        file.write(graph + initializer + tensor_start)
        file.truncate(file.tell() + size)


def opset(number):
    return model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")], opset=number)


if __name__ == "__main__":
    name, path = sys.argv[1:3]
    arguments = [int(a) if a.isdigit() else a for a in sys.argv[3:]]
    if name == "huge":
        huge(path)
    elif name == "external":
        save(external(*sys.argv[3:], path=path), path)
    elif name == "nested":
        with open(path, "wb") as file:
            file.write(nested(*arguments))
    else:
        save(globals()[name](*arguments), path)
