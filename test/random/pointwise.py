"""Operations of random programs that work element by element. Each adds one to a program, or gives False where none fits."""

import math

from values import ARITHMETIC, ELEMENTS, INTEGERS, SMALL, arithmetic, integers, numbers, rounded, tensor_type


def chain(p, value, name, bound, slope, step=0.0, exact=False):
    """`name` of one float operand, whose result changes at most `slope` times as much as its operand."""
    error = value.error * slope
    if not exact:
        error += value.element.epsilon * max(bound, 1)
    bound, error, step = rounded(value.element, bound, error, step if exact and value.exact else 0.0)
    return p.add(f"{name} {{0}} : {value.type}", [value], [(value.element, value.dims, bound, error, step)])[0]


def absolute_plus(p, value, amount):
    """|value| + amount, away from where a function is steep."""
    positive = chain(p, value, "math.absf", value.bound, 1, value.step, exact=True)
    return binary(p, "arith.addf", positive, p.splat(value.element, value.dims, amount))


def within_one(p, value):
    return binary(p, "arith.mulf", chain(p, value, "math.sin", 1, 1), p.splat(value.element, value.dims, 0.5))


def unary_float(p):
    x = p.pick(arithmetic)
    if not x:
        return False
    smooth = {"math.sin": (1, 1), "math.cos": (1, 1), "math.tanh": (1, 1), "math.atan": (2, 1), "math.erf": (1, 1.2),
              "math.asinh": (math.asinh(min(x.bound, 1e6)), 1), "math.absf": (x.bound, 1), "arith.negf": (x.bound, 1)}
    growing = {name: (math.exp(min(x.bound, 6)), math.exp(min(x.bound, 6)))
               for name in ["math.exp", "math.exp2", "math.expm1", "math.sinh", "math.cosh"]} if x.bound <= 6 else {}
    steps = {name: (x.bound + 1, 0) for name in ["math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"]} if x.exact else {}
    shifted = {"math.log": (16, 2), "math.log2": (24, 3), "math.log1p": (16, 2), "math.log10": (16, 2), "math.sqrt": (x.bound + 1, 1), "math.rsqrt": (2, 2),
               "math.acosh": (16, 2), "math.cbrt": (x.bound + 2, 1)}
    inner = {"math.asin": (1, 1.2), "math.acos": (3, 1.2), "math.atanh": (1, 1.4), "math.tan": (1, 1.4)}
    name = p.random.choice([*smooth, *growing, *steps, *shifted, *inner])
    if name in smooth:
        exact = name in ("math.absf", "arith.negf")
        return chain(p, x, name, *smooth[name], x.step, exact)
    if name in growing:
        return chain(p, x, name, *growing[name])
    if name in steps:
        return chain(p, x, name, *steps[name], 1.0, exact=True)
    if name in shifted:
        y = absolute_plus(p, x, 1.5 if name == "math.acosh" else 0.5)
        return chain(p, y, name, *shifted[name])
    return chain(p, within_one(p, x), name, *inner[name])


def binary(p, name, x, y):
    """A float operation on two values of one shape; None where the result grows too large."""
    bounds = {"arith.addf": (x.bound + y.bound, x.error + y.error, min(x.step, y.step)),
              "arith.mulf": (x.bound * y.bound, x.error * y.bound + y.error * x.bound + x.error * y.error, x.step * y.step),
              "arith.maximumf": (max(x.bound, y.bound), max(x.error, y.error), min(x.step, y.step))}
    bounds["arith.subf"] = bounds["arith.addf"]
    bounds["arith.minimumf"] = bounds["arith.maxnumf"] = bounds["arith.minnumf"] = bounds["arith.maximumf"]
    bound, error, step = rounded(x.element, *bounds[name])
    if bound > x.element.largest:
        return None
    return p.add(f"{name} {{0}}, {{1}} : {x.type}", [x, y], [(x.element, x.dims, bound, error, step)])[0]


def binary_float(p):
    x = p.pick(arithmetic)
    y = x and p.mate(x)
    if not y:
        return False
    name = p.random.choice(["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"])
    return bool(binary(p, name, x, y))


def odd_binary_float(p):
    """Division, powers, remainders, copied signs, angles: away from where they are steep."""
    x = p.pick(arithmetic)
    y = x and p.mate(x)
    if not y:
        return False
    name = p.random.choice(["arith.divf", "arith.remf", "math.powf", "math.atan2", "math.copysign", "math.fma"])
    epsilon = x.element.epsilon
    if name == "arith.divf":
        y = absolute_plus(p, y, 0.5) if y.bound < x.element.largest / 2 else None
        result = y and (2 * x.bound, 2 * x.error + 4 * x.bound * y.error)
    elif name == "arith.remf":
        # Jumps at the divisor's multiples.
        y = absolute_plus(p, y, 0.5) if x.exact and y.exact and y.bound < x.element.largest / 2 else None
        result = y and y.exact and (x.bound, 0)
    elif name == "math.powf":
        if x.bound > 8 or y.bound > 3:
            return False
        x = absolute_plus(p, x, 0.5)
        largest = max(2, x.bound) ** y.bound
        result = largest < x.element.largest and (largest, largest * (6 * x.error + 3 * y.error) + 4 * epsilon * largest)
    elif name == "math.atan2":
        y = absolute_plus(p, y, 0.5) if y.bound < x.element.largest / 2 else None
        result = y and (3, 2 * x.error + 4 * y.error + 4 * epsilon)
    elif name == "math.copysign":
        result = y.exact and (x.bound, x.error)
    else:
        z = p.mate(x)
        bound = x.bound * y.bound + z.bound if z else math.inf
        result = bound < x.element.largest and (bound, x.error * y.bound + y.error * x.bound + z.error)
        if result:
            bound, error, step = rounded(x.element, *result, 0)
            return p.add(f"{name} {{0}}, {{1}}, {{2}} : {x.type}", [x, y, z], [(x.element, x.dims, bound, error, 0.0)])
    if not result or result[0] > x.element.largest:
        return False
    step = x.step if name == "math.copysign" else 0.0
    bound, error, step = rounded(x.element, *result, step)
    return p.add(f"{name} {{0}}, {{1}} : {x.type}", [x, y], [(x.element, x.dims, bound, error, step)])


def binary_integer(p):
    x = p.pick(integers)
    y = x and p.mate(x)
    if not y:
        return False
    name = p.random.choice("addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui maxsi minsi maxui minui floordivsi ceildivsi".split())
    return p.add(f"arith.{name} {{0}}, {{1}} : {x.type}", [x, y], [(x.element, x.dims)])


def unary_integer(p):
    x = p.pick(integers)
    if not x:
        return False
    name = p.random.choice(["absi", "ctpop", "ctlz", "cttz"])
    return p.add(f"math.{name} {{0}} : {x.type}", [x], [(x.element, x.dims)])


def boolean(p):
    x = p.pick(lambda v: v.element.name == "i1")
    y = x and p.mate(x)
    if not y:
        return False
    name = p.random.choice(["andi", "ori", "xori"])
    return p.add(f"arith.{name} {{0}}, {{1}} : {x.type}", [x, y], [(x.element, x.dims)])


def comparison(p):
    x = p.pick(lambda v: integers(v) or (arithmetic(v) and v.exact))
    y = x and p.mate(x, lambda v: v.exact)
    if not y:
        return False
    if arithmetic(x):
        how = "cmpf " + p.random.choice("oeq ogt oge olt ole one une ueq ugt ult uno ord".split())
    else:
        how = "cmpi " + p.random.choice("eq ne slt sle sgt sge ult ule ugt uge".split())
    return p.add(f"arith.{how}, {{0}}, {{1}} : {x.type}", [x, y], [(ELEMENTS["i1"], x.dims)])


def select(p):
    condition = p.pick(lambda v: v.element.name == "i1")
    x = condition and p.pick(lambda v: v.dims == condition.dims and v.element.name != "i1")
    if not x:
        x = p.pick(numbers)
        condition = x and p.mate_of(ELEMENTS["i1"], x.dims)
    y = x and p.mate(x)
    if not y:
        return False
    mixed = (max(x.bound, y.bound), max(x.error, y.error), min(x.step, y.step))
    return p.add(f"arith.select {{0}}, {{1}}, {{2}} : {condition.type}, {x.type}", [condition, x, y], [(x.element, x.dims, *mixed)])


def cast(p):
    x = p.pick(lambda v: True)
    if not x:
        return False
    target = ELEMENTS[p.random.choice(ARITHMETIC + INTEGERS + SMALL + ["i1"])]
    jumps = not target.is_float or target.name in SMALL
    if target == x.element or (jumps and not x.exact):
        return False
    flags = [f for f in ["saturate", "unsigned_input", "unsigned_result"] if p.random.random() < 0.3]
    if x.element.is_float:
        bound, error, step = x.bound, x.error, x.step
    elif x.element.name == "i1":
        bound, error, step = 1, 0, 1
    else:
        width = x.element.bits
        bound, error, step = 2.0**width, 0, 1
    if target.is_float:
        if bound > target.largest:
            return False
        bound, error, step = rounded(target, bound, error, step)
        if target.name in SMALL:
            # Rounded once, by the same rule on both sides.
            error, step = 0, 2.0**-20
    rounding = f"rounding = {p.random.choice(['up', 'down', 'nearest'])} " if target.name == "!nn.f8e8m0" else ""
    text = f"nn.cast {{0}} {' '.join(flags)} {rounding}: ({x.type}) -> {tensor_type(target, x.dims)}"
    return p.add(text, [x], [(target, x.dims, bound, error, step)])


def bitcast(p):
    x = p.pick(lambda v: integers(v) or (arithmetic(v) and v.exact))
    if not x:
        return False
    same = [e for e in ["i16", "i32", "i64", "i8", "f8E5M2"] if ELEMENTS[e].bits == x.element.bits and e != x.element.name]
    if not same or ELEMENTS[same[0]].is_float:
        return False
    return p.add(f"nn.bitcast {{0}} : ({x.type}) -> {tensor_type(ELEMENTS[same[0]], x.dims)}", [x], [(ELEMENTS[same[0]], x.dims)])
