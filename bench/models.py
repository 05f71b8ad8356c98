"""Prints a table of the catalogue's models: what compiling each costs, what comes out, and how it runs on the virtual GPU.

    PATH=build/bin:$PATH build/venv/bin/python bench/models.py build [NAME...]

Each is compiled twice for sm_80 and sm_90, assembled where ptxas is found, and run at its first size. Exits with 1 where one
fails, spills registers, or compiles to other bytes the second time.
"""

import json
import pathlib
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "models"))

from catalogue import MODELS  # noqa: E402
from check import joule, run_once  # noqa: E402

TARGETS = ("sm_80", "sm_90")
COLUMNS = ("model", "nodes", "kernels", "launches", "PTX lines", "compile CPU-s", "spilled bytes", "most registers", "max error", "run s")


def assembled(artifact):
    """The kernels of all targets as their reports describe them; some say nothing of registers where no ptxas is."""
    with zipfile.ZipFile(artifact) as archive:
        return [kernel for target in TARGETS for kernel in json.loads(archive.read(f"targets/{target}/report.json"))["kernels"]]


def measure(model, path, folder):
    """One row of the table."""
    first, second = folder / "first.joule", folder / "second.joule"
    compiled = joule("compile", path, "-o", first, "--target", ",".join(TARGETS))
    joule("compile", path, "-o", second, "--target", ",".join(TARGETS))
    if first.read_bytes() != second.read_bytes():
        raise RuntimeError("two compiles give different bytes")
    kernels = assembled(first)
    spilled = sum(kernel.get("spill_load_bytes", 0) + kernel.get("spill_store_bytes", 0) for kernel in kernels)
    apart, launches, seconds = run_once(model, path, first, model.sizes[0], folder)
    return (model.name, compiled["nodes"], compiled["kernels"], launches, compiled["ptxLines"], f"{compiled['cpuSeconds']:.1f}",
            spilled, max((kernel.get("registers", 0) for kernel in kernels), default=0) or "not assembled", f"{apart:.2g}", f"{seconds:.1f}"), spilled


def main():
    build, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    known = {model.name: model for model in MODELS}
    failures = 0
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for model in [known[name] for name in names] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                row, spilled = measure(model, model.path(build), pathlib.Path(folder))
                print("| " + " | ".join(map(str, row)) + " |", flush=True)
                failures += bool(spilled)
            except RuntimeError as error:
                print(f"| {model.name} | failed: {error} |", flush=True)
                failures += 1
    sys.exit(1 if failures else 0)


main()
