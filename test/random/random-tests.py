"""random-tests.py BUILD [--seed TEXT] [--programs N] [--models N]: compares random programs and mutated models.

Programs of the nn level are compiled to PTX, run on the virtual GPU and compared with the reference. Models that were
changed at random are refused with one clear error, or give what the reference and, where it takes them, ONNX Runtime give.
The seed is the date where none is given; the same seed gives the same cases. Prints a line a case; what fails is kept
under BUILD/test/random/failed, programs made smaller, and shown with the commands that repeat it. Exits with 1 where a case
fails.
"""

import argparse
import datetime
import pathlib
import shutil
import subprocess
import sys

import models
import onnx
import programs
import shrink


def run(build, cases, jobs, limit=60):
    """What run-programs says of each case: {name: (status, reason)}."""
    command = [build / "bin" / "run-programs", cases, "--time-limit", str(limit)] + (["--jobs", str(jobs)] if jobs else [])
    output = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    outcomes = {}
    for line in output.stdout.splitlines():
        name, rest = line.split(": ", 1)
        status, _, reason = rest.partition(" ")
        outcomes[name] = (status, reason)
    return outcomes, output.stderr


def show(folder, text, name, reason, repeat):
    print(f"{name}: failed {reason}")
    print(text)
    file = next(path for path in (folder / "program.mlir", folder / "model.onnx") if path.exists())
    paths = sorted(folder.glob("input_*.pb"), key=lambda path: int(path.stem[6:]))
    inputs = " ".join(f"--input {onnx.load_tensor(path).name}={path}" for path in paths)
    print(f"  repeat: {repeat}")
    print(f"  alone:  joule verify {file} {inputs}", flush=True)


def failures_of(made, outcomes, errors):
    """Prints the cases that pass, and gives the others with the reason."""
    for name in made:
        status, reason = outcomes.get(name, ("failed", f"run-programs ended early: {errors[-300:]}"))
        if status == "passed":
            print(f"{name}: passed {reason}".strip())
        else:
            yield name, reason


def test_programs(options, root):
    cases = root / "programs"
    shutil.rmtree(cases, ignore_errors=True)
    made = {}
    for number in range(options.programs):
        made[f"program-{number}"] = program = programs.make(f"{options.seed} {number}")
        program.write(cases / f"program-{number}")
    failures = 0
    for name, reason in failures_of(made, *run(options.build, cases, options.jobs)):
        failures += 1
        small = root / "failed" / f"{options.seed}-{name}".replace(" ", "-")
        shutil.rmtree(small, ignore_errors=True)
        reason = shrink.shrink(made[name], reason, small, lambda folder: run(options.build, folder, options.jobs)[0], root / "shrinking")
        show(small, (small / "program.mlir").read_text(), name, reason, repeat_with(options))
    return failures


def test_models(options, root):
    cases = root / "models"
    shutil.rmtree(cases, ignore_errors=True)
    made = {}
    for number in range(options.models):
        made[f"model-{number}"] = mutant = models.make(f"{options.seed} {number}")
        models.write(mutant, cases / f"model-{number}")
    failures = 0
    for name, reason in failures_of(made, *run(options.build, cases, options.jobs, limit=30)):
        failures += 1
        kept = root / "failed" / f"{options.seed}-{name}".replace(" ", "-")
        shutil.copytree(cases / name, kept, dirs_exist_ok=True)
        show(kept, onnx.printer.to_text(made[name].model), name, reason, repeat_with(options))
    return failures


def repeat_with(options):
    return f"{sys.executable} {__file__} {options.build} --seed '{options.seed}' --programs {options.programs} --models {options.models}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seed", default=datetime.date.today().isoformat())
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=0)
    options = parser.parse_args()
    options.build = options.build.resolve()
    root = options.build / "test" / "random"
    print(f"seed {options.seed}: {options.programs} programs, {options.models} models", flush=True)
    failures = test_programs(options, root) if options.programs else 0
    failures += test_models(options, root) if options.models else 0
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
