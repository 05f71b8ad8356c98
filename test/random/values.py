"""What a random program is made of: sizes, element types and values whose rounding errors are known."""

import dataclasses
import math

import ml_dtypes
import numpy


@dataclasses.dataclass(frozen=True)
class Dim:
    """A size: the number that this run gives it, and, where the program does not know that, the index value's name."""

    size: int
    name: str = ""

    def __str__(self):
        return "?" if self.name else str(self.size)


@dataclasses.dataclass(frozen=True)
class Element:
    """An element type: MLIR's name, ONNX's number, numpy's type; for floats the relative error of one rounded operation."""

    name: str
    onnx: int
    numpy: type
    epsilon: float = 0.0
    largest: float = 0.0

    @property
    def is_float(self):
        return self.epsilon > 0

    @property
    def bits(self):
        return int("".join(filter(str.isdigit, self.name.split("E")[0].split("e")[0])))


ELEMENTS = {element.name: element for element in [
    Element("i1", 9, numpy.bool_), Element("i8", 3, numpy.int8), Element("i16", 5, numpy.int16),
    Element("i32", 6, numpy.int32), Element("i64", 7, numpy.int64),
    Element("i4", 22, ml_dtypes.int4), Element("i2", 26, ml_dtypes.int2),
    Element("f32", 1, numpy.float32, 2.0**-21, 1e6), Element("f64", 11, numpy.float64, 2.0**-46, 1e6),
    Element("f16", 10, numpy.float16, 2.0**-11, 2e3), Element("bf16", 16, ml_dtypes.bfloat16, 2.0**-8, 1e6),
    Element("f8E4M3FN", 17, ml_dtypes.float8_e4m3fn, 2.0**-4, 2e2),
    Element("f8E5M2", 19, ml_dtypes.float8_e5m2, 2.0**-3, 2e3),
    Element("f8E4M3FNUZ", 18, ml_dtypes.float8_e4m3fnuz, 2.0**-4, 1e2),
    Element("f8E5M2FNUZ", 20, ml_dtypes.float8_e5m2fnuz, 2.0**-3, 2e3),
    Element("!nn.f4e2m1", 23, ml_dtypes.float4_e2m1fn, 0.25, 6), Element("!nn.f8e8m0", 24, ml_dtypes.float8_e8m0fnu, 0.5, 1e3),
]}
ARITHMETIC = ["f32", "f32", "f32", "f16", "bf16", "f64"]
INTEGERS = ["i8", "i16", "i32", "i64"]
SMALL = ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "!nn.f4e2m1", "!nn.f8e8m0", "i4", "i2"]


@dataclasses.dataclass
class Value:
    """A tensor. Floats: no element exceeds `bound`; the compiled program and the reference may differ by `error`, and
    where they do not, every element is a multiple of `step`. Integers and booleans never differ."""

    name: str
    element: Element
    dims: tuple
    bound: float = math.inf
    error: float = 0.0
    step: float = 0.0

    @property
    def rank(self):
        return len(self.dims)

    @property
    def shape(self):
        return tuple(dim.size for dim in self.dims)

    @property
    def count(self):
        return math.prod(self.shape)

    @property
    def exact(self):
        return self.error == 0

    @property
    def type(self):
        return tensor_type(self.element, self.dims)


def tensor_type(element, dims):
    return "tensor<" + "".join(f"{dim}x" for dim in dims) + element.name + ">"


def sizes(dims):
    """The clause that gives a result's dynamic sizes."""
    names = [dim.name for dim in dims if dim.name]
    return f"sizes({', '.join(names)}) " if names else ""


def holds_exactly(element, bound, step):
    """Whether every multiple of `step` up to `bound` is a number of the type."""
    return step > 0 and bound <= element.largest and bound / step <= 1 / (4 * element.epsilon) and step >= 2.0**-6


def rounded(element, bound, error, step):
    """Bound, error and step of a result that the type rounds, given those of the exact one."""
    if error == 0 and holds_exactly(element, bound, step):
        return bound, 0.0, step
    return bound * (1 + 2 * element.epsilon) + 2.0**-9, error + 4 * element.epsilon * (bound + 2.0**-9), 0.0


F32_ERROR = ELEMENTS["f32"].epsilon


def arithmetic(value):
    return value.element.is_float and value.element.name in ARITHMETIC


def integers(value):
    return value.element.name in INTEGERS


def numbers(value):
    return arithmetic(value) or integers(value)


def like(x, dims):
    return (x.element, tuple(dims), x.bound, x.error, x.step)
