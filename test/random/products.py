"""Operations of random programs that combine elements: reductions, contractions, windows."""

import math

from values import ARITHMETIC, ELEMENTS, F32_ERROR, Dim, Value, arithmetic, integers, numbers, rounded, sizes, tensor_type


def summed(element, value, count, accumulate=True):
    """Bound, error and step of a sum of `count` elements, or None where it may overflow."""
    bound = value.bound * max(count, 1)
    if bound > element.largest:
        return None
    exact = value.exact and rounded(ELEMENTS["f32"] if element.name != "f64" else element, bound, 0, value.step)[1] == 0
    inner = min(element.epsilon, F32_ERROR)
    error = value.error * max(count, 1) + (0 if exact else 4 * inner * bound * math.sqrt(max(count, 1)))
    return rounded(element, bound, error, value.step if exact else 0.0)


def reduce(p):
    x = p.pick(lambda v: v.rank >= 1 and (numbers(v) or v.element.name == "i1"))
    if not x:
        return False
    axes = sorted(p.random.sample(range(x.rank), p.random.randint(1, x.rank)))
    dims = tuple(dim for d, dim in enumerate(x.dims) if d not in axes)
    count = math.prod(x.dims[d].size for d in axes)
    ways = ["sum", "sum", "max", "min"]
    if integers(x):
        ways += ["umax", "umin", "product"]
    if x.element.name == "i1":
        ways = ["umax", "umin"]
    way = p.random.choice(ways)
    facts = ()
    if x.element.is_float:
        facts = summed(x.element, x, count) if way == "sum" else (x.bound, x.error, x.step)
        if facts is None or (way != "sum" and count == 0):
            return False
    return p.add(f"nn.reduce {way} {{0}} axes = {axes} : ({x.type}) -> {tensor_type(x.element, dims)}", [x], [(x.element, dims, *facts)])


def arg_reduce(p):
    x = p.pick(lambda v: v.rank >= 1 and v.count > 0 and (integers(v) or (arithmetic(v) and v.exact)))
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    dims = x.dims[:axis] + x.dims[axis + 1:]
    element = ELEMENTS[p.random.choice(["i64", "i64", "i32"])]
    way = p.random.choice(["max", "min"] + (["umax", "umin"] if integers(x) else []))
    last = p.random.choice(["", "last "])
    return p.add(f"nn.arg_reduce {way} {{0}} axis = {axis} {last}: ({x.type}) -> {tensor_type(element, dims)}", [x], [(element, dims)])


def cumulate(p):
    x = p.pick(lambda v: v.rank >= 1 and numbers(v))
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    facts = ()
    if x.element.is_float:
        facts = summed(x.element, x, x.dims[axis].size)
        if facts is None:
            return False
    flags = [f for f in ["exclusive", "reverse"] if p.random.random() < 0.4]
    return p.add(f"nn.cumulate sum {{0}} axis = {axis} {' '.join(flags)} : ({x.type}) -> {x.type}", [x], [(x.element, x.dims, *facts)])


def softmax(p):
    x = p.pick(lambda v: v.rank >= 1 and arithmetic(v) and v.bound < 1e3)
    if not x:
        return False
    log = p.random.random() < 0.3
    bound = 2 * x.bound + 12 if log else 1
    if bound > x.element.largest:
        return False
    bound, error, step = rounded(x.element, bound, 4 * x.error + 16 * min(x.element.epsilon, F32_ERROR) * (x.bound + 16), 0)
    text = f"nn.softmax {{0}} axis = {p.random.randrange(x.rank)} {'log ' if log else ''}: ({x.type}) -> {x.type}"
    return p.add(text, [x], [(x.element, x.dims, bound, error, step)])


def normalize(p):
    x = p.pick(lambda v: v.rank >= 1 and arithmetic(v) and v.bound < 64)
    if not x:
        return False
    axes = sorted(p.random.sample(range(x.rank), p.random.randint(1, min(2, x.rank))))
    count = max(1, math.prod(x.dims[d].size for d in axes))
    bound = math.sqrt(count) + 1
    # epsilon = 1/16: at most 4 times steeper than its input.
    error = 16 * x.error * bound + 64 * min(x.element.epsilon, F32_ERROR) * x.bound * bound
    if bound > x.element.largest:
        return False
    rms = p.random.choice(["", "rms "])
    return p.add(f"nn.normalize {{0}} axes = {axes} epsilon = 6.25e-2 {rms}: ({x.type}) -> {x.type}", [x],
                 [(x.element, x.dims, *rounded(x.element, bound, error, 0))])


def product_facts(element, x, y, count):
    """Bound, error and step of a sum of `count` products."""
    product = Value("", element, (), x.bound * y.bound, x.error * y.bound + y.error * x.bound, x.step * y.step)
    return summed(element, product, count)


def contract(p):
    x = p.pick(lambda v: 1 <= v.rank <= 4 and (arithmetic(v) or integers(v)))
    if not x:
        return False
    labels = list(range(x.rank))
    kinds = [p.random.choice(["row", "sum", "batch", "alone"]) if x.rank > 2 or p.random.random() < 0.2 else "row" for _ in labels]
    if x.rank <= 2:
        kinds = ["row"] * (x.rank - 1) + ["sum"]
        p.random.shuffle(kinds)
    shared = [d for d in labels if kinds[d] in ("sum", "batch")]
    fresh = list(range(10, 10 + p.random.randint(0, 2)))
    right = shared + fresh
    p.random.shuffle(right)
    new = {label: p.size() for label in fresh}
    y_dims = tuple(x.dims[l] if l in shared else new[l] for l in right)
    if p.too_large(y_dims):
        return False
    y = p.mate_of(x.element, y_dims)
    out = [d for d in labels if kinds[d] in ("row", "batch")] + fresh
    p.random.shuffle(out)
    dims = tuple(new[l] if l in new else x.dims[l] for l in out)
    count = math.prod(x.dims[d].size for d in labels if kinds[d] in ("sum", "alone"))
    if p.too_large(dims) or math.prod(d.size for d in dims) * count > p.work:
        return False
    element, flags = x.element, ""
    if integers(x):
        element = ELEMENTS["i32"] if x.element.name == "i8" else x.element
        if p.random.random() < 0.3:
            flags = " {" + p.random.choice(["unsigned_lhs", "unsigned_rhs", "unsigned_lhs, unsigned_rhs"]) + "}"
        facts = ()
    else:
        facts = product_facts(element, x, y, count)
        if facts is None:
            return False
    text = f"nn.contract {{0}}, {{1}} lhs = {labels} rhs = {right} out = {out}{flags} : ({x.type}, {y.type}) -> {tensor_type(element, dims)}"
    return p.add(text, [x, y], [(element, dims, *facts)])


def windows(p, spatial, padded=True):
    """Per dimension (window, stride, dilation, low, result size) or None where a window does not fit."""
    rows = []
    for dim in spatial:
        window, stride, dilation = p.random.randint(1, 3), p.random.randint(1, 2), p.random.choice([1, 1, 2])
        reach = (window - 1) * dilation
        low, high = (p.random.randint(0, min(2, reach)) if padded else 0 for _ in range(2))
        size = dim.size + low + high - reach
        if size <= 0:
            return None
        rows.append((window, stride, dilation, low, (size - 1) // stride + 1))
    return [list(column) for column in zip(*rows)]


def conv(p):
    x = p.pick(lambda v: 3 <= v.rank <= 5 and (arithmetic(v) or v.element.name == "i8") and v.shape[1] > 0 and not any(d.name for d in v.dims[1:]))
    if not x:
        x = p.input(ELEMENTS[p.random.choice(ARITHMETIC)], (p.size(), Dim(p.random.choice([1, 3, 4, 8, 17]))) + tuple(
            Dim(p.random.randint(3, 12)) for _ in range(p.random.randint(1, 2))))
    window = windows(p, x.dims[2:])
    if not window:
        return False
    window, strides, dilations, low, result = window
    channels = x.shape[1]
    groups = p.random.choice([g for g in (1, 1, 1, channels, 2) if channels % g == 0])
    filters = groups * p.random.choice([1, 1, 2, 3, 8, 16, 33])
    if filters > 64:
        return False
    spread = [1] * len(window)
    if p.random.random() < 0.2:
        spread = [2] * len(window)
        result = [((s - 1) * 2 + 1 + 2 * l - (w - 1) * d - 1) // t + 1 for s, l, w, d, t in zip(x.shape[2:], low, window, dilations, strides)]
    dims = (x.dims[0], Dim(filters)) + tuple(Dim(r) for r in result)
    count = channels // groups * math.prod(window)
    if min(result) < 1 or p.too_large(dims) or math.prod(d.size for d in dims) * count > p.work:
        return False
    y = p.mate_of(x.element, (Dim(filters), Dim(channels // groups)) + tuple(Dim(w) for w in window))
    element = ELEMENTS["i32"] if x.element.name == "i8" else x.element
    facts = product_facts(element, x, y, count) if element.is_float else ()
    if facts is None:
        return False
    text = (f"nn.conv {{0}}, {{1}} {sizes(dims)}strides = {strides} low = {low} dilations = {dilations} input_dilations = {spread} "
            f"groups = {groups} : ({x.type}, {y.type}) -> {tensor_type(element, dims)}")
    return p.add(text, [x, y], [(element, dims, *facts)])


def pool(p):
    x = p.pick(lambda v: 3 <= v.rank <= 5 and numbers(v) and v.count > 0 and not any(d.name for d in v.dims[2:]))
    window = x and windows(p, x.dims[2:])
    if not window:
        return False
    window, strides, dilations, low, result = window
    dims = x.dims[:2] + tuple(Dim(r) for r in result)
    how = f"{sizes(dims)}window = {window} strides = {strides} low = {low} dilations = {dilations}"
    # Of a window that lies beside all elements none is the greatest.
    if x.exact and all(dim.size >= dilation for dim, dilation in zip(x.dims[2:], dilations)) and p.random.random() < 0.3:
        element = ELEMENTS["i64"]
        order = p.random.choice(["", "column_major "])
        return p.add(f"nn.pool_arg_max {{0}} {how} {order}: ({x.type}) -> {tensor_type(element, dims)}", [x], [(element, dims)])
    way = p.random.choice(["max", "sum", "min"])
    facts = ()
    if x.element.is_float:
        facts = summed(x.element, x, math.prod(window)) if way == "sum" else (x.bound, x.error, x.step)
        if facts is None:
            return False
    return p.add(f"nn.pool {way} {{0}} {how} : ({x.type}) -> {tensor_type(x.element, dims)}", [x], [(x.element, dims, *facts)])


def resize(p):
    x = p.pick(lambda v: 2 <= v.rank <= 4 and arithmetic(v) and v.count > 0 and not any(d.name for d in v.dims))
    if not x:
        return False
    scales = [p.random.choice([1.0, 1.0, 2.0, 0.5, 1.5]) for _ in x.dims]
    dims = tuple(Dim(max(1, int(dim.size * scale))) for dim, scale in zip(x.dims, scales))
    scales = [dim.size / old.size for dim, old in zip(dims, x.dims)]
    if p.too_large(dims):
        return False
    sample = p.random.choice(["nearest", "linear", "cubic"])
    coordinate = p.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"])
    nearest = p.random.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    bound = x.bound if sample == "nearest" else 8 * x.bound
    if bound > x.element.largest:
        return False
    error = x.error * 8 + (0 if sample == "nearest" else 64 * F32_ERROR * x.bound * max(x.shape))
    facts = rounded(x.element, bound, error, x.step if sample == "nearest" else 0)
    scale = p.constant(ELEMENTS["f32"], (Dim(x.rank),), scales)
    text = (f"nn.resize {sample} {{0}}, {{1}} coordinate = {coordinate} nearest = {nearest} : ({x.type}, {scale.type}) -> "
            f"{tensor_type(x.element, dims)}")
    return p.add(text, [x, scale], [(x.element, dims, *facts)])
