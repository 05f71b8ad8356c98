"""Operations of random programs that move elements."""

from values import ELEMENTS, INTEGERS, Dim, integers, like, numbers, rounded, sizes, tensor_type


def broadcast(p):
    x = p.pick(lambda v: v.rank < 4)
    return bool(x) and bool(p.broadcast(x))


def reshape(p):
    x = p.pick(lambda v: True)
    if not x:
        return False
    dims = list(x.dims)
    for _ in range(p.random.randint(1, 2)):
        if len(dims) > 1 and p.random.random() < 0.6:
            at = p.random.randrange(len(dims) - 1)
            dims[at:at + 2] = [p.product(dims[at], dims[at + 1])]
        elif dims and p.random.random() < 0.5:
            at = p.random.randrange(len(dims))
            divisors = [d for d in range(2, 17) if not dims[at].name and dims[at].size and dims[at].size % d == 0]
            if divisors:
                divisor = p.random.choice(divisors)
                dims[at:at + 1] = [Dim(divisor), Dim(dims[at].size // divisor)]
        elif len(dims) < 5:
            dims.insert(p.random.randint(0, len(dims)), Dim(1))
    return p.add(f"nn.reshape {{0}} {sizes(dims)}: ({x.type}) -> {tensor_type(x.element, dims)}", [x], [like(x, dims)])


def transpose(p):
    x = p.pick(lambda v: v.rank >= 2)
    if not x:
        return False
    order = p.random.sample(range(x.rank), x.rank)
    dims = [x.dims[d] for d in order]
    return p.add(f"nn.transpose {{0}} permutation = {order} : ({x.type}) -> {tensor_type(x.element, dims)}", [x], [like(x, dims)])


def slice_(p):
    x = p.pick(lambda v: v.rank >= 1 and v.count > 0)
    if not x:
        return False
    offsets, strides, dims, operands = [], [], [], [x]
    for dim in x.dims:
        stride = p.random.choice([1, 1, 1, 2, 3, -1, -2])
        taken = p.random.randint(1, max(1, (dim.size - 1) // abs(stride) + 1))
        span = (taken - 1) * abs(stride)
        start = p.random.randint(0, dim.size - 1 - span) + (span if stride < 0 else 0)
        if dim.name and p.random.random() < 0.5:
            offsets, strides, dims = offsets + ["0"], strides + [1], dims + [dim]
            continue
        if p.random.random() < 0.25 and p.symbols:
            offsets.append(p.index(start))
        else:
            offsets.append(str(start))
        strides.append(stride)
        # A size that is known only at run time, from one that is.
        dims.append(Dim(taken, p.index(taken, opaque=True)) if p.symbols and p.random.random() < 0.2 else Dim(taken))
    text = f"nn.slice {{0}} {sizes(dims)}offsets = [{', '.join(offsets)}] strides = {strides} : ({x.type}) -> {tensor_type(x.element, dims)}"
    return p.add(text, operands, [like(x, dims)])


def pad(p):
    x = p.pick(lambda v: 1 <= v.rank <= 4 and v.count > 0)
    if not x:
        return False
    mode = p.random.choice(["constant", "edge", "reflect", "wrap"])
    low, dims = [], []
    for dim in x.dims:
        most = dim.size - 1 if mode == "reflect" else 3
        before, after = (p.random.randint(0, min(most, 3)) for _ in range(2))
        if p.random.random() < 0.4:
            before = after = 0
        if mode == "constant" and p.random.random() < 0.2 and dim.size > 1:
            before = -1
        low.append(before)
        dims.append(p.total(dim, before + after))
    if p.too_large(dims):
        return False
    filler = p.scalar(x)
    mixed = like(x, dims)[:2] + (max(x.bound, filler.bound), max(x.error, filler.error), min(x.step, filler.step))
    return p.add(f"nn.pad {{0}}, {{1}} {sizes(dims)}low = {low} mode = {mode} : ({x.type}, {filler.type}) -> {tensor_type(x.element, dims)}",
                 [x, filler], [mixed])


def concat(p):
    x = p.pick(lambda v: v.rank >= 1)
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    fits = lambda v: v.element == x.element and v.rank == x.rank and v.dims[:axis] == x.dims[:axis] and v.dims[axis + 1:] == x.dims[axis + 1:]
    parts = [x] + [p.pick(fits) for _ in range(p.random.randint(0, 2))]
    if p.random.random() < 0.4:
        parts.append(p.input(x.element, x.dims[:axis] + (p.size(),) + x.dims[axis + 1:]))
    p.random.shuffle(parts)
    along = parts[0].dims[axis]
    for part in parts[1:]:
        along = p.total(along, part.dims[axis])
    dims = x.dims[:axis] + (along,) + x.dims[axis + 1:]
    if p.too_large(dims):
        return False
    names = ", ".join(f"{{{i}}}" for i in range(len(parts)))
    mixed = (x.element, dims, max(v.bound for v in parts), max(v.error for v in parts), min(v.step for v in parts))
    return p.add(f"nn.concat {names} {sizes(dims)}axis = {axis} : ({', '.join(v.type for v in parts)}) -> {tensor_type(x.element, dims)}",
                 parts, [mixed])


def iota(p):
    element = ELEMENTS[p.random.choice(INTEGERS + ["f32", "f16", "f64"])]
    dims = p.shape(1, 3)
    along = p.random.randrange(len(dims))
    if dims[along].size > 127:
        return False
    return p.add(f"nn.iota {sizes(dims)}dimension = {along} : {tensor_type(element, dims)}", [],
                 [(element, dims, max(dims[along].size, 1), 0.0, 1.0)])


def gather(p):
    x = p.pick(lambda v: v.rank >= 1 and v.count > 0)
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    indices = p.indices(p.shape(0, 2), x.dims[axis].size)
    dims = x.dims[:axis] + indices.dims + x.dims[axis + 1:]
    if p.too_large(dims):
        return False
    return p.add(f"nn.gather {{0}}, {{1}} {sizes(dims)}axis = {axis} : ({x.type}, {indices.type}) -> {tensor_type(x.element, dims)}",
                 [x, indices], [like(x, dims)])


def gather_elements(p):
    x = p.pick(lambda v: v.rank >= 1 and v.count > 0)
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    dims = tuple(Dim(p.random.randint(0, 5)) if d == axis else dim if p.random.random() < 0.7 else Dim(p.random.randint(1, dim.size))
                 for d, dim in enumerate(x.dims))
    indices = p.indices(dims, x.dims[axis].size)
    return p.add(f"nn.gather_elements {{0}}, {{1}} axis = {axis} : ({x.type}, {indices.type}) -> {tensor_type(x.element, dims)}",
                 [x, indices], [like(x, dims)])


def gather_nd(p):
    x = p.pick(lambda v: 1 <= v.rank <= 4 and v.count > 0)
    if not x:
        return False
    batch = p.random.randint(0, x.rank - 1)
    length = p.random.randint(1, x.rank - batch)
    outer = x.dims[:batch] + p.shape(0, 2)
    least = min(dim.size for dim in x.dims[batch:batch + length])
    indices = p.indices(outer + (Dim(length),), least)
    dims = outer + x.dims[batch + length:]
    if p.too_large(dims):
        return False
    return p.add(f"nn.gather_nd {{0}}, {{1}} {sizes(dims)}batch_dims = {batch} : ({x.type}, {indices.type}) -> {tensor_type(x.element, dims)}",
                 [x, indices], [like(x, dims)])


def update_of(p, x, count):
    """How updates join, and the bound, error and step that `count` of them leave."""
    ways = ["replace", "max", "min", "add", "add"] if x.element.name != "i1" else ["replace"]
    if integers(x):
        ways += ["umax", "umin", "mul"]
    return p.random.choice(ways)


def scattered(way, x, updates, count):
    if not x.element.is_float:
        return ()
    bound, error, step = max(x.bound, updates.bound), max(x.error, updates.error), min(x.step, updates.step)
    if way == "add":
        bound, error = x.bound + count * updates.bound, x.error + count * updates.error
        if bound > x.element.largest:
            return None
        if not (error == 0 and rounded(x.element, bound, error, step)[1] == 0):
            # Added in any order, each sum rounded.
            error, step = error + 4 * x.element.epsilon * bound * (count + 1), 0.0
    return bound, error, step


def scatter_elements(p):
    x = p.pick(lambda v: v.rank >= 1 and v.count > 0 and (numbers(v) or v.element.name == "i1"))
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    dims = tuple(Dim(p.random.randint(0, min(4, dim.size))) if d == axis else Dim(p.random.randint(0, dim.size)) for d, dim in enumerate(x.dims))
    way = update_of(p, x, 1)
    # Where order would matter, no two updates meet.
    indices = p.indices(dims, x.dims[axis].size, along=axis)
    updates = p.input(x.element, dims)
    result = scattered(way, x, updates, max(1, dims[axis].size))
    if result is None:
        return False
    return p.add(f"nn.scatter_elements {way} {{0}}, {{1}}, {{2}} axis = {axis} : ({x.type}, {indices.type}, {updates.type}) -> {x.type}",
                 [x, indices, updates], [(x.element, x.dims, *result)])


def scatter_nd(p):
    x = p.pick(lambda v: 1 <= v.rank <= 3 and v.count > 0 and numbers(v))
    if not x:
        return False
    length = p.random.randint(1, x.rank)
    tuples = p.random.randint(0, min(4, x.dims[0].size))
    least = min(dim.size for dim in x.dims[:length])
    tuples = min(tuples, least)
    indices = p.indices((Dim(tuples), Dim(length)), least, along=0)
    updates = p.mate_of(x.element, (Dim(tuples),) + x.dims[length:])
    way = update_of(p, x, 1)
    result = scattered(way, x, updates, max(1, tuples))
    if result is None:
        return False
    return p.add(f"nn.scatter_nd {way} {{0}}, {{1}}, {{2}} : ({x.type}, {indices.type}, {updates.type}) -> {x.type}",
                 [x, indices, updates], [(x.element, x.dims, *result)])
