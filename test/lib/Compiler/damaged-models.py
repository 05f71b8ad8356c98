"""Models that are cut short, and models with a changed byte: an error that says what is wrong, or a model that runs."""
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t 200 1

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import hostile_models

folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
problems, endings = [], {}


def check(line):
    name, ending = re.match(r"(\S+): (.*)", line).groups()
    code = ending.split(":")[0]
    endings[code] = endings.get(code, 0) + 1
    said = re.match(r"JL0[2-6]\d\d: .+ \[.*\]$", ending)
    if ending != "ok" and (not said or "internal:" in ending or "see current operation" in ending):
        problems.append(line)


for make in (hostile_models.vision, hostile_models.control):
    whole = make().SerializeToString()
    files = {"whole": whole}
    files |= {f"cut{i}": data for i, data in enumerate(hostile_models.cuts(whole, 100))}
    files |= {f"flip{i}": data for i, data in enumerate(hostile_models.flips(whole, count, seed))}
    paths = []
    for name, data in files.items():
        path = folder / f"{make.__name__}-{name}.onnx"
        path.write_bytes(data)
        paths.append(path.name)
    run = subprocess.run(["try-models", "--run", *paths], cwd=folder, capture_output=True, text=True, errors="replace")
    lines = run.stdout.rstrip("\n").split("\n")
    if run.returncode or len(lines) != len(paths):
        sys.exit(f"ended with {run.returncode} at: {lines[-1:]}\n{run.stderr[-2000:]}")
    if not lines[0].endswith(": ok"):
        problems.append(lines[0])
    for line in lines:
        check(line)
print(endings)
# A cut model is never a whole one, so at least these are refused.
assert endings["JL0501"] >= 150 and endings["ok"] >= count // 4, endings
sys.exit("\n".join(problems) or 0)
