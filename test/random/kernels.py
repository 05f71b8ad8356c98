"""Operations of random programs with kernels of their own, answers of the host, control flow."""

from values import ELEMENTS, Dim, arithmetic, integers, like, numbers, rounded, sizes, tensor_type


def top_k(p):
    x = p.pick(lambda v: 1 <= v.rank and v.count > 0 and (integers(v) or (arithmetic(v) and v.exact)) and max(v.shape) < 300)
    if not x:
        return False
    axis = p.random.randrange(x.rank)
    dims = x.dims[:axis] + (Dim(p.random.randint(0, x.shape[axis])),) + x.dims[axis + 1:]
    flags = [f for f in ["smallest"] + (["unsigned"] if integers(x) else []) if p.random.random() < 0.4]
    text = (f"nn.top_k {{0}} {sizes(dims)}axis = {axis} {' '.join(flags)} : ({x.type}) -> "
            f"({tensor_type(x.element, dims)}, {tensor_type(ELEMENTS['i64'], dims)})")
    return p.add(text, [x], [like(x, dims), (ELEMENTS["i64"], dims)])


def recurrent(p):
    kind = p.random.choice(["lstm", "gru", "rnn"])
    gates, states = {"lstm": (4, 2), "gru": (3, 1), "rnn": (1, 1)}[kind]
    element = ELEMENTS[p.random.choice(["f32", "f32", "f16", "f64"])]
    time, batch, hidden = p.size(12), p.size(5), Dim(p.random.choice([1, 2, 3, 5, 8]))
    x = p.pick(lambda v: v.element == element and v.rank == 3 and v.dims[2] == Dim(gates * hidden.size) and v.bound < 8 and v.shape[0] < 20)
    x = x or p.input(element, (time, batch, Dim(gates * hidden.size)), bound=1)
    time, batch = x.dims[:2]
    r = p.input(element, (Dim(gates * hidden.size), hidden), bound=1)
    operands = [x, r]
    if kind == "gru":
        operands.append(p.input(element, (hidden,), bound=1))
    start = len(operands)
    operands += [p.input(element, (batch, hidden), bound=1) for _ in range(states)]
    text = f"nn.{kind} " + ", ".join(f"{{{i}}}" for i in range(start)) + " init " + ", ".join(f"{{{i}}}" for i in range(start, len(operands)))
    if kind == "lstm" and p.random.random() < 0.3:
        operands.append(p.input(element, (Dim(3 * hidden.size),), bound=1))
        text += f" peepholes {{{len(operands) - 1}}}"
    if p.random.random() < 0.3:
        operands.append(p.indices((batch,), time.size + 1, signed=False))
        text += f" lengths {{{len(operands) - 1}}}"
    activations = {"lstm": '["Sigmoid", "Tanh", "Tanh"]', "gru": '["Sigmoid", "Tanh"]', "rnn": '["Tanh"]'}[kind]
    text += f" activations = {activations}" + p.random.choice(["", " reverse"])
    if kind == "gru" and p.random.random() < 0.5:
        text += " {linear_before_reset}"
    bound = 1.0 if kind != "lstm" else 1.0 + time.size
    error = (x.error * 4 + 64 * element.epsilon * hidden.size) * max(1, time.size)
    results = [(element, (time, batch, hidden), bound, error, 0.0)] + [(element, (batch, hidden), bound, error, 0.0)] * states
    types = ", ".join(tensor_type(e, d) for e, d, *_ in results)
    return p.add(f"{text} : ({', '.join(v.type for v in operands)}) -> ({types})", operands, results)


def nonzero(p):
    x = p.pick(lambda v: 1 <= v.rank <= 4 and v.exact and (numbers(v) or v.element.name == "i1"))
    if not x:
        return False
    return p.add_counted(f"nn.nonzero {{0}} : ({x.type}) -> tensor<{x.rank}x?xi64>", [x])


def unique(p):
    x = p.pick(lambda v: 1 <= v.rank <= 2 and v.exact and numbers(v))
    if not x:
        return False
    order = p.random.choice(["", "sorted "])
    return p.add_counted(f"nn.unique {{0}} {order}: ({x.type}) -> (tensor<?xi64>, {tensor_type(ELEMENTS['i64'], x.dims[:1])})", [x], results=2)


def decided(p):
    """A condition that the host knows: of a size, or of a tensor."""
    if p.symbols and p.random.random() < 0.5:
        name = p.random.choice(list(p.symbols))
        return p.host(f"arith.cmpi {p.random.choice(['sgt', 'slt', 'eq'])}, {name}, {p.index(p.random.randint(0, 9))} : index")
    scalar = p.pick(lambda v: v.element.name == "i1" and v.rank == 0) or p.input(ELEMENTS["i1"], ())
    return p.host(f"tensor.extract {scalar.name}[] : {scalar.type}")


def tied(p, x, dims):
    """What control flow hands on is read through a reshape that knows its sizes."""
    if not any(dim.name for dim in dims):
        return x
    return p.add(f"nn.reshape {{0}} {sizes(dims)}: ({x.type}) -> {x.type}", [x], [like(x, dims)])[0]


def branch(p):
    x = p.pick(lambda v: arithmetic(v) and v.bound < 30)
    y = x and p.mate(x)
    if not y or y.bound > 30:
        return False
    one, other = (p.random.choice(["arith.addf", "arith.mulf", "arith.subf"]) for _ in range(2))
    facts = rounded(x.element, max(x.bound * y.bound, x.bound + y.bound),
                    max(x.error * y.bound + y.error * x.bound, x.error + y.error), 0)
    text = (f"scf.if {decided(p)} -> ({x.type}) {{\n    %then = {one} {{0}}, {{1}} : {x.type}\n    scf.yield %then : {x.type}\n"
            f"  }} else {{\n    %else = {other} {{1}}, {{0}} : {x.type}\n    scf.yield %else : {x.type}\n  }}")
    result = p.add(text, [x, y], [(x.element, x.dims, *facts)], hidden=bool([d for d in x.dims if d.name]))[0]
    return tied(p, result, x.dims)


def loop(p):
    x = p.pick(lambda v: arithmetic(v) and v.bound < 20)
    y = x and p.mate(x)
    if not y or y.bound > 20:
        return False
    trips = p.random.randint(0, 3)
    facts = rounded(x.element, x.bound + trips * y.bound, x.error + trips * y.error, 0)
    state, inner = "%state", ""
    if any(dim.name for dim in x.dims):
        state, inner = "%known", f"    %known = nn.reshape %state {sizes(x.dims)}: ({x.type}) -> {x.type}\n"
    text = (f"scf.for %step = {p.index(0)} to {p.index(trips)} step {p.index(1)} iter_args(%state = {{0}}) -> ({x.type}) {{\n{inner}"
            f"    %next = arith.addf {state}, {{1}} : {x.type}\n    scf.yield %next : {x.type}\n  }}")
    result = p.add(text, [x, y], [(x.element, x.dims, *facts)], hidden=bool([d for d in x.dims if d.name]))[0]
    return tied(p, result, x.dims)
