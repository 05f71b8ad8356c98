"""Makes a program that fails smaller, as long as it fails in the same way."""

import re
import shutil

from values import Value


def kind(reason):
    """Failures of one kind have one cause, most likely: numbers and names do not count."""
    reason = re.sub(r"\(at [^)]*\)|%\w+|y\d+|\d[\d.e+-]*|inf|nan", "", reason)
    return "difference" if "elements differ" in reason or "shape is" in reason else reason[:60]


class Candidate:
    """The part of a program that makes `results`, where the values in `cut` are inputs."""

    def __init__(self, program, results, cut=()):
        self.program, self.results, self.cut = program, results, frozenset(cut)

    def write(self, folder):
        program = self.program
        kept = program.statements, program.inputs, dict(program.data)
        made = {value.name: value for statement in program.statements for value in statement.results}
        program.statements = [s for s in program.statements if not (set(s.names) & self.cut)]
        program.inputs = program.inputs + [made[name] for name in sorted(self.cut)]
        for name in self.cut:
            program.data[name] = program.make(input_like(made[name]))
        program.write(folder, self.results)
        program.statements, program.inputs, program.data = kept

    def size(self):
        return self.program.text(self.results)[0].count("\n") - len(self.cut)


def input_like(value):
    """Elements that an input may have instead of what the program made."""
    bound = min(value.bound, 4)
    step = value.step if 0 < value.step <= bound else 2.0**-3 if value.element.epsilon < 2.0**-7 else 0.25
    return Value(value.name, value.element, value.dims, max(bound, step), 0.0, max(step, bound / 64))


def can_be_cut(program, value):
    """An input's sizes are known or symbols; a position must stay one."""
    return value.element.is_float and all(not dim.name or dim.name in program.symbols for dim in value.dims)


def smaller(candidate):
    """Candidates that are smaller, most of them by much."""
    program = candidate.program
    if len(candidate.results) > 1:
        yield from (Candidate(program, [result], candidate.cut) for result in candidate.results)
    text = program.text(candidate.results)[0]
    inside = [v for s in program.statements for v in s.results if re.search(re.escape(v.name) + r"\b", text)]
    tied = {o.name for s in program.statements if "nn.reshape" in s.text for o in s.operands if o not in program.values and o not in program.inputs}
    for value in inside:
        if value not in candidate.results and value.name not in candidate.cut and value.name not in tied:
            yield Candidate(program, [value], candidate.cut)
    for value in inside:
        if value not in candidate.results and value.name not in candidate.cut and can_be_cut(program, value):
            yield Candidate(program, candidate.results, candidate.cut | {value.name})


def shrink(program, reason, folder, run, scratch):
    """Leaves the smallest program found in `folder` and gives how it fails."""
    best, wanted = Candidate(program, program.results), kind(reason)
    best.write(folder)
    for _ in range(12):
        shutil.rmtree(scratch, ignore_errors=True)
        candidates = list(smaller(best))[:60]
        for number, candidate in enumerate(candidates):
            candidate.write(scratch / f"{number:03}")
        outcomes = run(scratch) if candidates else {}
        failing = [(candidates[int(name)], why) for name, (status, why) in outcomes.items() if status == "failed" and kind(why) == wanted]
        if not failing:
            break
        best, reason = min(failing, key=lambda pair: pair[0].size())
        shutil.rmtree(folder)
        best.write(folder)
    shutil.rmtree(scratch, ignore_errors=True)
    return reason
