"""Random programs of the nn level, all valid, with inputs and with a bound on what rounding may do to their results."""

import math
import random
import re

import numpy
import onnx

from operations import OPERATIONS
from values import ARITHMETIC, ELEMENTS, INTEGERS, SMALL, Dim, Value, rounded, sizes, tensor_type

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67, 127, 130]
MOST_ELEMENTS = 20000
MOST_WORK = 400000


class Statement:
    """One line of a program: what it makes of what; tensors are `results`."""

    def __init__(self, text, operands, results, names):
        self.text, self.operands, self.results, self.names = text, operands, results, names

    def uses(self):
        return set(re.findall(r"%\w+", self.text.split("=", 1)[1])) if self.names else set()


class Program:
    """A program under construction. A value's name is fixed when it is made, so a statement is text from the start."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = numpy.random.default_rng(self.random.randrange(2**31))
        self.statements, self.values, self.inputs, self.data = [], [], [], {}
        self.results = []
        self.symbols = {}
        self.cache = {}
        self.serial = 0
        self.work = MOST_WORK
        self.small = self.random.random() < 0.7
        dynamic = self.random.random() < 0.5
        for i in range(self.random.randint(1, 3) if dynamic else 0):
            name = f"%n{i}"
            self.symbols[name] = self.random.choice([0] + SIZES[:12] if i == 1 else [1, 1, 2, 3, 5, 8, 17, 33])
            self.statements.append(Statement(f'{name} = nn.symbol "n{i}"', [], [], [name]))

    # --- sizes

    def size(self, most=10**9):
        if self.symbols and self.random.random() < 0.4:
            name = self.random.choice(list(self.symbols))
            if self.symbols[name] <= most:
                return Dim(self.symbols[name], name)
        if self.random.random() < 0.02:
            return Dim(0)
        known = [dim for value in self.values for dim in value.dims if dim.size <= most]
        if known and self.random.random() < 0.4:
            return self.random.choice(known)
        return Dim(self.random.choice([size for size in SIZES[:10 if self.small else None] if size <= most]))

    def shape(self, least, most):
        dims = tuple(self.size() for _ in range(self.random.randint(least, most)))
        return dims if not self.too_large(dims) else dims[:1]

    def too_large(self, dims):
        return math.prod(dim.size for dim in dims) > MOST_ELEMENTS

    def host(self, text):
        """A scalar of the host, the same one for the same text."""
        if text not in self.cache:
            self.serial += 1
            self.cache[text] = f"%h{self.serial}"
            self.statements.append(Statement(f"{self.cache[text]} = {text}", [], [], [self.cache[text]]))
        return self.cache[text]

    def index(self, number, opaque=False):
        """An index value; where `opaque`, one that only a run knows to be `number`."""
        if opaque and self.symbols:
            name, size = self.random.choice(list(self.symbols.items()))
            return self.host(f"arith.addi {name}, {self.index(number - size)} : index")
        return self.host(f"arith.constant {number} : index")

    def total(self, a, b):
        b = b if isinstance(b, Dim) else Dim(b)
        if not a.name and not b.name:
            return Dim(a.size + b.size)
        if b.size == 0 and not b.name:
            return a
        return Dim(a.size + b.size, self.host(f"arith.addi {self.of(a)}, {self.of(b)} : index"))

    def product(self, a, b):
        if not a.name and not b.name:
            return Dim(a.size * b.size)
        if b == Dim(1):
            return a
        if a == Dim(1):
            return b
        return Dim(a.size * b.size, self.host(f"arith.muli {self.of(a)}, {self.of(b)} : index"))

    def of(self, dim):
        return dim.name or self.index(dim.size)

    # --- values

    def add(self, text, operands, results, hidden=False):
        """Adds a statement; `{0}` in its text is the first operand. Each result is (element, dims, bound, error, step)."""
        made = []
        for element, dims, *facts in results:
            self.serial += 1
            made.append(Value(f"%v{self.serial}", element, tuple(dims), *facts))
        text = re.sub(r"\{(\d+)\}", lambda number: operands[int(number[1])].name, text)
        names = [value.name for value in made]
        self.statements.append(Statement(f"{', '.join(names)} = {text}", operands, made, names))
        if not hidden:
            self.values += made
        return made

    def add_counted(self, text, operands, results=1):
        """An operation whose results' sizes follow from data: nothing is built on them."""
        self.serial += 1
        names = [f"%v{self.serial}x{i}" for i in range(results + 1)]
        made = [Value(name, ELEMENTS["i64"], ()) for name in names[:results]]
        types = text.rsplit("->", 1)[1].strip().strip("()")
        for value, its in zip(made, re.findall(r"tensor<[^>]*>", types)):
            value.dims = tuple(Dim(0, names[-1]) if d == "?" else Dim(int(d)) for d in its[7:-1].split("x")[:-1])
        statement = Statement(f"{', '.join(names)} = " + text.replace("{0}", operands[0].name), operands, made, names)
        self.statements.append(statement)
        self.results += made
        return True

    def input(self, element, dims, bound=None, numbers=None):
        name = f"%x{len(self.inputs)}"
        # What the program computes is no size of an input.
        value = Value(name, element, tuple(dim if dim.name in self.symbols else Dim(dim.size) for dim in dims))
        if element.is_float:
            value.bound, value.step = bound or self.random.choice([1, 2, 4]), 2.0**-3 if element.epsilon < 2.0**-7 else 0.25
            if element.name in SMALL:
                value.bound, value.step = 4, 2.0**-20
        self.data[name] = self.make(value) if numbers is None else numbers.astype(element.numpy)
        self.inputs.append(value)
        self.values.append(value)
        if value.dims == tuple(dims):
            return value
        return self.add(f"nn.reshape {{0}} {sizes(dims)}: ({value.type}) -> {tensor_type(element, dims)}", [value],
                        [(element, tuple(dims), value.bound, value.error, value.step)])[0]

    def make(self, value):
        """Elements for an input: multiples of its step up to its bound, or any integers."""
        shape = value.shape
        name = value.element.name
        if name == "i1":
            return self.numpy.integers(0, 2, shape).astype(bool)
        if name == "!nn.f8e8m0":
            return (2.0 ** self.numpy.integers(-2, 3, shape)).astype(value.element.numpy)
        if name in SMALL:
            return self.numpy.choice([-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3], shape).astype(value.element.numpy) if value.element.is_float else \
                self.numpy.integers(-2, 2, shape).astype(value.element.numpy)
        if value.element.is_float:
            steps = int(value.bound / value.step)
            return (self.numpy.integers(-steps, steps + 1, shape) * value.step).astype(value.element.numpy)
        low, high = self.random.choice([(-4, 5), (-4, 5), (-128, 128), (-(2**(value.element.bits - 1)), 2**(value.element.bits - 1))])
        return self.numpy.integers(low, high, shape, dtype=numpy.int64).astype(value.element.numpy)

    def indices(self, dims, count, along=None, signed=True):
        """An input of positions below `count`; along the dimension `along` no position stands twice."""
        element = ELEMENTS[self.random.choice(["i64", "i64", "i32"])]
        shape = tuple(dim.size for dim in dims)
        if along is None:
            numbers = self.numpy.integers(0, max(count, 1), shape)
        else:
            numbers = numpy.zeros(shape, int)
            if math.prod(shape):
                pages = numpy.moveaxis(numbers, along, 0).reshape(shape[along], -1)
                for column in range(pages.shape[1]):
                    pages[:, column] = self.numpy.permutation(count)[:shape[along]]
                numbers = numpy.moveaxis(pages.reshape((shape[along],) + shape[:along] + shape[along + 1:]), 0, along)
        if signed and along is None and self.random.random() < 0.3:
            numbers = numpy.where(self.numpy.random(shape) < 0.3, numbers - count, numbers)
        return self.input(element, dims, numbers=numbers)

    def constant(self, element, dims, numbers):
        """A small constant; most floats are multiples of 1/8."""
        flat = [f"{number:.9e}" if element.is_float else str(int(number)) for number in numbers]
        body = flat[0] if len(set(flat)) == 1 or not dims else f"[{', '.join(flat)}]"
        kind = tensor_type(element, dims)
        bound = max(map(abs, numbers))
        eighths = all(float(8 * number).is_integer() for number in numbers)
        facts = ((bound, 0.0, 0.125) if eighths else rounded(element, bound, 0.0, 0.0)) if element.is_float else ()
        return self.add(f"nn.constant dense<{body}> : {kind} -> {kind}", [], [(element, dims, *facts)])[0]

    def splat(self, element, dims, number):
        return self.broadcast(self.constant(element, (), [number]), dims)

    def scalar(self, x):
        """A tensor of rank 0 of x's element type."""
        fitting = [v for v in self.values if v.rank == 0 and v.element == x.element]
        return self.random.choice(fitting) if fitting else self.input(x.element, ())

    def broadcast(self, x, dims=None):
        """x repeated to `dims`, or to sizes of its own choice."""
        if dims is None:
            out, places = list(x.dims), list(range(x.rank))
            for _ in range(self.random.randint(0 if x.rank else 1, 2)):
                if len(out) < 5:
                    at = self.random.randint(0, len(out))
                    out.insert(at, self.size())
                    places = [place + (place >= at) for place in places]
            for place in places:
                if out[place].size == 1 and self.random.random() < 0.6:
                    out[place] = self.size()
        else:
            out, places = list(dims), list(range(len(dims) - x.rank, len(dims)))
        if self.too_large(out):
            return None
        return self.add(f"nn.broadcast {{0}} {sizes(out)}dimensions = {places} : ({x.type}) -> {tensor_type(x.element, out)}", [x],
                        [(x.element, tuple(out), x.bound, x.error, x.step)])[0]

    def pick(self, fits):
        """A value that fits, recent ones first; None where there is none."""
        fitting = [value for value in self.values if fits(value) and value.count <= MOST_ELEMENTS]
        if not fitting:
            return None
        if self.random.random() < 0.6:
            fitting = fitting[-4:]
        return self.random.choice(fitting)

    def mate(self, x, fits=lambda value: True):
        """A value of x's type: one that is there, one repeated, a constant, or a new input."""
        same = [v for v in self.values if v.dims == x.dims and v.element == x.element and fits(v)]
        chance = self.random.random()
        if same and chance < 0.55:
            return self.random.choice(same)
        return self.mate_of(x.element, x.dims, fits)

    def mate_of(self, element, dims, fits=lambda value: True):
        same = [v for v in self.values if v.dims == dims and v.element == element and fits(v)]
        if same and self.random.random() < 0.5:
            return self.random.choice(same)
        # Repeated along its last dimensions, also where a run alone knows that a size is 1 or the same.
        narrow = [v for v in self.values if v.element == element and fits(v) and v.rank <= len(dims) and
                  all(a == b or a.size == 1 or (a.name and b.name and a.size == b.size)
                      for a, b in zip(v.dims, dims[len(dims) - v.rank:]))]
        if narrow and self.random.random() < 0.6:
            return self.broadcast(self.random.choice(narrow), dims)
        if self.random.random() < 0.3 and element.name in ARITHMETIC + INTEGERS:
            return self.splat(element, dims, self.random.choice([0.5, 1, 2, -1, 0] if element.is_float else [1, 2, 3, -1, 0]))
        if len(dims) and self.random.random() < 0.4:
            kept = self.random.randint(0, len(dims) - 1)
            part = tuple(dim if self.random.random() < 0.7 else Dim(1) for dim in dims[kept:])
            return self.broadcast(self.input(element, part), dims)
        return self.input(element, dims)

    # --- the whole

    def grow(self, steps):
        element = ELEMENTS[self.random.choice(ARITHMETIC + INTEGERS + SMALL[:2])]
        self.input(element, self.shape(1, 4))
        functions, weights = zip(*OPERATIONS.items())
        done = 0
        for _ in range(8 * steps):
            before = len(self.statements), len(self.values), len(self.inputs)
            if self.random.choices(functions, weights)[0](self):
                done += 1
            if done == steps:
                break
        used = set().union(*(statement.uses() for statement in self.statements))
        last = [v for v in self.values if v.name not in used and v not in self.inputs]
        inner = [v for v in self.values if v.name in used and v not in self.inputs]
        self.results += last + (self.random.sample(inner, 1) if inner and self.random.random() < 0.3 else [])
        self.results = self.results or [self.broadcast(self.inputs[0], self.inputs[0].dims)]

    def text(self, results=None):
        """The program, without what its results do not need."""
        results = self.results if results is None else results
        needed, kept = {value.name for value in results}, []
        needed |= {dim.name for value in results for dim in value.dims if dim.name}
        for statement in reversed(self.statements):
            if needed & set(statement.names):
                kept.append(statement)
                needed |= statement.uses()
        # The sizes of inputs are found through their symbols.
        inputs = [value for value in self.inputs if value.name in needed]
        symbols = needed | {dim.name for value in inputs for dim in value.dims}
        for name in self.symbols:
            if name in symbols and not any(dim.name == name for value in inputs for dim in value.dims):
                inputs.append(self.carrier(name))
        for statement in self.statements:
            if "nn.symbol" in statement.text and statement.names[0] in symbols and statement not in kept:
                kept.append(statement)
        kept.reverse()
        kept.sort(key=lambda statement: "nn.symbol" not in statement.text)
        body = "".join(f"  {statement.text}\n" for statement in kept)
        arguments = ", ".join(f"{v.name}: {v.type} {{{self.attributes(v)}}}" for v in inputs)
        types = ", ".join(f'{v.type} {{nn.name = "y{i}", nn.type = {v.element.onnx} : i64}}' for i, v in enumerate(results))
        names = ", ".join(value.name for value in results)
        kinds = ", ".join(value.type for value in results)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}  return {names} : {kinds}\n}}\n", inputs

    def carrier(self, symbol):
        """An input that is there to give a symbol its size."""
        value = Value(f"%size_of_{symbol[1:]}", ELEMENTS["i8"], (Dim(self.symbols[symbol], symbol),))
        self.data[value.name] = numpy.zeros(value.shape, numpy.int8)
        return value

    def attributes(self, value):
        dims = ", ".join(f'"{dim.name[1:]}"' if dim.name else f"{dim.size}" for dim in value.dims)
        return f'nn.dims = [{dims}], nn.name = "{value.name[1:]}", nn.type = {value.element.onnx} : i64'

    def write(self, folder, results=None):
        """A case for run-programs."""
        results = self.results if results is None else results
        folder.mkdir(parents=True, exist_ok=True)
        text, inputs = self.text(results)
        (folder / "program.mlir").write_text(text)
        for i, value in enumerate(inputs):
            (folder / f"input_{i}.pb").write_bytes(tensor_proto(self.data[value.name], value).SerializeToString())
        # Twice the bound: it is a sum of first-order terms.
        (folder / "tolerances.txt").write_text("".join(f"{2 * value.error:.9g}\n" for value in results))


def tensor_proto(array, value):
    tensor = onnx.TensorProto(name=value.name[1:], data_type=value.element.onnx, dims=value.shape)
    if value.element.bits >= 8 or value.element.name == "i1":
        tensor.raw_data = numpy.ascontiguousarray(array).tobytes()
        return tensor
    # Packed, the first element in the lowest bits.
    bits, flat = value.element.bits, numpy.ascontiguousarray(array).view(numpy.uint8).reshape(-1)
    each = 8 // bits
    padded = numpy.zeros(-(-flat.size // each) * each, numpy.uint8)
    padded[:flat.size] = flat & (2**bits - 1)
    tensor.raw_data = sum((padded[i::each] << (bits * i) for i in range(each)), numpy.zeros(padded.size // each, numpy.uint8)).astype(numpy.uint8).tobytes()
    return tensor


def make(seed):
    program = Program(seed)
    program.grow(program.random.choice([1, 2, 3, 5, 8, 12, 20]))
    return program
