"""Mutated ONNX models: official node tests and small graphs, changed so that most make no sense and some still do."""

import math
import multiprocessing
import pathlib
import random

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZES = [0, 1, 2, 3, 5, 7, 13]
TYPES = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16,
         TensorProto.INT32, TensorProto.INT64, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL]


def is_tensor(value):
    return value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.elem_type != TensorProto.STRING


class Mutant:
    """A model and its inputs' elements by name."""

    def __init__(self, model, data, generator):
        self.model, self.data, self.random = model, data, generator

    @property
    def graph(self):
        return self.model.graph

    def nodes(self):
        return self.graph.node

    def fit(self, value):
        """Brings an input's elements to its declared type and shape."""
        declared = value.type.tensor_type
        shape = [dim.dim_value if dim.HasField("dim_value") else 2 for dim in declared.shape.dim]
        old = self.data[value.name]
        if any(dim.HasField("dim_param") for dim in declared.shape.dim) and old.ndim == len(shape):
            shape = [dim.dim_value if dim.HasField("dim_value") else size for dim, size in zip(declared.shape.dim, old.shape)]
        if old.size == 0:
            old = numpy.ones(1, old.dtype)
        array = numpy.resize(old, shape)
        kind = helper.tensor_dtype_to_np_dtype(declared.elem_type)
        with numpy.errstate(all="ignore"):
            self.data[value.name] = array if array.dtype == kind else array.astype("f4").astype(kind)


# --- mutations: each gives False where it does not apply


def change_opset(m):
    for opset in m.model.opset_import:
        if not opset.domain:
            opset.version = m.random.choice([1, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24])
            return True
    return False


def change_type(m):
    value = m.random.choice(m.graph.input)
    kind = m.random.choice(TYPES)
    old = value.type.tensor_type.elem_type
    # Often all inputs of one type change together, or nothing would accept them.
    same = [v for v in m.graph.input if v.type.tensor_type.elem_type == old] if m.random.random() < 0.7 else [value]
    for value in same:
        value.type.tensor_type.elem_type = kind
        m.fit(value)
    return True


def change_rank(m):
    value = m.random.choice(m.graph.input)
    dims = value.type.tensor_type.shape.dim
    if len(dims) and m.random.random() < 0.5:
        del dims[m.random.randrange(len(dims))]
    else:
        sizes = [dim.dim_value for dim in dims]
        sizes.insert(m.random.randint(0, len(sizes)), m.random.choice([1, 1, 2]))
        del dims[:]
        for size in sizes:
            dims.add().dim_value = size
    m.fit(value)
    return True


def change_size(m):
    """One size everywhere, or in one place."""
    value = m.random.choice(m.graph.input)
    dims = value.type.tensor_type.shape.dim
    if not len(dims):
        return False
    old, new = m.random.choice(dims).dim_value, m.random.choice(SIZES)
    everywhere = m.random.random() < 0.6
    for value in m.graph.input if everywhere else [value]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value == old:
                dim.dim_value = new
        m.fit(value)
    return True


def forget_sizes(m):
    names = {}
    for value in m.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if m.random.random() < 0.6 and dim.HasField("dim_value"):
                # Equal sizes sometimes share a name.
                name = names.setdefault(dim.dim_value, f"s{len(names)}") if m.random.random() < 0.6 else f"t{m.random.randrange(99)}{value.name}"
                dim.dim_param = "".join(filter(str.isalnum, name))
    # One name is one size.
    bound = {}
    for value in m.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, m.data[value.name].shape):
            if dim.HasField("dim_param") and bound.setdefault(dim.dim_param, size) != size:
                dim.dim_value = size
    return True


def change_attribute(m):
    node = m.random.choice(m.nodes())
    if not node.attribute:
        return False
    attribute = m.random.choice(node.attribute)
    if m.random.random() < 0.15:
        node.attribute.remove(attribute)
    elif attribute.type == onnx.AttributeProto.INT:
        attribute.i = m.random.choice([attribute.i + 1, attribute.i - 1, -attribute.i, 0, 1, -1, 2, 7, 2**62])
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = m.random.choice([0.0, 1.0, -1.0, attribute.f * 2, 0.5])
    elif attribute.type == onnx.AttributeProto.INTS and len(attribute.ints):
        at = m.random.randrange(len(attribute.ints))
        choice = m.random.random()
        if choice < 0.2:
            del attribute.ints[at]
        elif choice < 0.3:
            attribute.ints.append(m.random.choice([0, 1, 2]))
        else:
            attribute.ints[at] = m.random.choice([0, 1, 2, 3, -1, attribute.ints[at] + 1, -attribute.ints[at]])
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = m.random.choice([b"", b"NOTSET", b"SAME_UPPER", b"VALID", b"linear", b"nearest", b"add", b"none", b"reflect"])
    else:
        return False
    return True


def swap_inputs(m):
    node = m.random.choice(m.nodes())
    if len(node.input) < 2:
        return False
    a, b = m.random.sample(range(len(node.input)), 2)
    node.input[a], node.input[b] = node.input[b], node.input[a]
    return True


def repeat_input(m):
    node = m.random.choice(m.nodes())
    if len(node.input) < 2:
        return False
    a, b = m.random.sample(range(len(node.input)), 2)
    node.input[a] = node.input[b]
    return True


def drop_input(m):
    node = m.random.choice(m.nodes())
    if not node.input:
        return False
    if m.random.random() < 0.5:
        del node.input[-1]
    else:
        node.input[m.random.randrange(len(node.input))] = ""
    return True


def drop_output(m):
    node = m.random.choice(m.nodes())
    if len(node.output) < 2:
        return False
    at = m.random.randrange(len(node.output))
    name = node.output[at]
    node.output[at] = ""
    for output in list(m.graph.output):
        if output.name == name:
            m.graph.output.remove(output)
    return True


def insert_node(m):
    """A node between an input and what reads it, or before an output."""
    at = m.random.randrange(len(m.nodes()))
    node = m.nodes()[at]
    places = [i for i, name in enumerate(node.input) if name]
    if not places:
        return False
    place = m.random.choice(places)
    source, name = node.input[place], f"{node.input[place]}_between{len(m.nodes())}"
    kind = m.random.choice(["Identity", "Cast", "Transpose", "Neg", "Relu", "Unsqueeze", "Squeeze"])
    attributes = {"Cast": {"to": m.random.choice(TYPES)}}.get(kind, {})
    if kind in ("Unsqueeze", "Squeeze"):
        axes = f"axes{len(m.nodes())}"
        m.graph.initializer.append(numpy_helper.from_array(numpy.array([0], "i8"), axes))
        new = [helper.make_node("Unsqueeze", [source, axes], [name + "u"]), helper.make_node("Squeeze", [name + "u", axes], [name])]
    elif kind == "Transpose" and m.random.random() < 0.6:
        new = [helper.make_node("Transpose", [source], [name + "t"]), helper.make_node("Transpose", [name + "t"], [name])]
    else:
        new = [helper.make_node(kind, [source], [name], **attributes)]
    node.input[place] = name
    rest = list(m.nodes())
    del m.nodes()[:]
    m.nodes().extend(rest[:at] + new + rest[at:])
    return True


def append_node(m):
    """Something that reads an output and becomes one."""
    output = m.random.choice(m.graph.output)
    kind = m.random.choice(["Relu", "Neg", "Transpose", "Add", "Mul", "ReduceSum", "Softmax", "Shape", "Concat", "MatMul", "Flatten"])
    inputs = [output.name] * (2 if kind in ("Add", "Mul", "Concat", "MatMul") else 1)
    attributes = {"axis": m.random.choice([0, -1])} if kind in ("Concat", "Softmax") else {}
    name = f"{output.name}_after"
    m.nodes().append(helper.make_node(kind, inputs, [name], **attributes))
    if m.random.random() < 0.5:
        m.graph.output.append(helper.make_empty_tensor_value_info(name))
    else:
        output.name = name
    return True


def fix_input(m):
    """An input becomes a constant of the model."""
    if len(m.graph.input) < 2:
        return False
    value = m.random.choice(m.graph.input)
    tensor = numpy_helper.from_array(m.data.pop(value.name), value.name)
    m.graph.initializer.append(tensor)
    m.graph.input.remove(value)
    return True


MUTATIONS = {change_opset: 2, change_type: 3, change_rank: 3, change_size: 5, forget_sizes: 4, change_attribute: 4, swap_inputs: 1, repeat_input: 1,
             drop_input: 2, drop_output: 1, insert_node: 3, append_node: 3, fix_input: 2}


# --- where models come from


def official(folder):
    """An official node test's model and inputs, or nothing where it takes or gives more than tensors."""
    model = onnx.load(folder / "model.onnx")
    constants = {constant.name for constant in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    if not inputs or not model.graph.node or not all(map(is_tensor, list(inputs) + list(model.graph.output))):
        return None
    data = {}
    for number, value in enumerate(inputs):
        data[value.name] = numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / f"input_{number}.pb"))
    if len(inputs) != len(model.graph.input) or sum(array.size for array in data.values()) > 50000:
        return None
    return model, data


def graph(generator):
    """A chain of a few operators on tensors of rank 3, with a second branch."""
    shape = [generator.choice([1, 2, 3, 4, 5]) for _ in range(3)]
    names, nodes, constants = ["x", "z"], [], []
    one = ["Relu", "Neg", "Exp", "Sigmoid", "Tanh", "Softmax", "Transpose", "Abs", "Ceil", "Identity", "LayerNormalization", "ReduceSum", "Flatten",
           "CumSum", "Unsqueeze", "Gather", "TopK"]
    for number in range(generator.randint(2, 7)):
        name = f"v{number}"
        a, b = generator.choice(names[-3:]), generator.choice(names)
        kind = generator.choice(one + ["Add", "Mul", "Sub", "Max", "Concat", "MatMul", "Where", "Div"])
        inputs, attributes, outputs = [a], {}, [name]
        if kind in ("Add", "Mul", "Sub", "Max", "Concat", "MatMul", "Div"):
            inputs.append(b)
            attributes = {"axis": generator.choice([0, 1, -1])} if kind == "Concat" else {}
        elif kind == "Softmax":
            attributes = {"axis": generator.choice([0, 1, -1])}
        elif kind == "LayerNormalization":
            constants.append(numpy_helper.from_array(numpy.ones(shape[-1:], "f4"), name + "scale"))
            inputs.append(name + "scale")
        elif kind in ("CumSum", "Unsqueeze", "Gather", "TopK", "ReduceSum"):
            constants.append(numpy_helper.from_array(numpy.array(0 if kind == "CumSum" else [1 if kind == "TopK" else 0], "i8"), name + "i"))
            inputs.append(name + "i")
            outputs = [name, name + "also"] if kind == "TopK" else outputs
        elif kind == "Where":
            nodes.append(helper.make_node("Greater", [a, b], [name + "c"]))
            inputs = [name + "c", a, b]
        nodes.append(helper.make_node(kind, inputs, outputs, **attributes))
        names.append(name)
    outputs = [helper.make_empty_tensor_value_info(names[-1])]
    if generator.random() < 0.4:
        outputs.append(helper.make_empty_tensor_value_info(names[-2]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "z")]
    model = helper.make_model(helper.make_graph(nodes, "random", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 18)])
    values = numpy.random.default_rng(generator.randrange(2**31))
    return model, {name: values.integers(-8, 9, shape).astype("f4") / 4 for name in ("x", "z")}


CORPUS = sorted((pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node").iterdir())


def make(seed):
    """A mutated model and its inputs' elements."""
    generator = random.Random(seed)
    base = None
    while base is None:
        base = graph(generator) if generator.random() < 0.35 else official(generator.choice(CORPUS))
    mutant = Mutant(*base, generator)
    # What the file says of results is seldom right after a mutation.
    del mutant.graph.value_info[:]
    for output in mutant.graph.output:
        output.ClearField("type")
    functions, weights = zip(*MUTATIONS.items())
    for _ in range(generator.choice([0, 1, 1, 1, 2, 2, 3])):
        for _ in range(5):
            if mutant.graph.input and generator.choices(functions, weights)[0](mutant):
                break
    return mutant


# --- the oracle


def mask_by_infinity(output):
    """ONNX masks the scores of Attention by -inf; ONNX Runtime does it by the lowest number of their type."""
    return numpy.where(output == numpy.finfo(output.dtype).min, -numpy.inf, output).astype(output.dtype) if output.dtype.kind == "f" else output


def ask(model, data, pipe):
    import onnxruntime
    try:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        # Types that numpy lacks come back as bytes.
        strange = [output.type for output in session.get_outputs() if any(word in output.type for word in ("float8", "float4", "int4", "int2"))]
        outputs = [] if strange else session.run(None, data)
        is_plain = all(isinstance(output, numpy.ndarray) and output.dtype != object for output in outputs)
        if is_plain and any(node.op_type == "Attention" for node in model.graph.node):
            outputs = [mask_by_infinity(output) for output in outputs]
        pipe.send(outputs if is_plain else None)
    except Exception:
        pipe.send(None)


DRAWING = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def is_arguable(mutant):
    """Whether ONNX leaves the result open: numbers that are drawn or that the target of a cast does not have, the mean of
    nothing, sizes that a scale does not divide."""
    kinds = {node.op_type for node in mutant.nodes()}
    empty = any(array.size == 0 for array in mutant.data.values())
    return bool(kinds & (DRAWING | {"Cast", "CastLike", "Resize", "Upsample"})) or (empty and any(kind.startswith("Reduce") for kind in kinds))


def oracle(mutant, limit=10):
    """What ONNX Runtime gives, in a process of its own, since it may crash; None where it refuses or there is no telling."""
    if is_arguable(mutant):
        return None
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=ask, args=(mutant.model, mutant.data, there), daemon=True)
    child.start()
    there.close()
    try:
        answer = here.recv() if here.poll(limit) else None
    except EOFError:
        answer = None
    child.kill()
    child.join()
    return answer


def write(mutant, folder):
    """A case for run-programs."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(mutant.model, folder / "model.onnx")
    for number, value in enumerate(mutant.graph.input):
        (folder / f"input_{number}.pb").write_bytes(numpy_helper.from_array(mutant.data[value.name], value.name).SerializeToString())
    for number, array in enumerate(oracle(mutant) or []):
        (folder / f"output_{number}.pb").write_bytes(numpy_helper.from_array(array, mutant.graph.output[number].name).SerializeToString())
