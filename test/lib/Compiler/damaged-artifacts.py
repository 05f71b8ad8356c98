"""Artifacts that are cut short or changed, also so that their checksums hold: refused, or run within their buffers."""
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t 200 1

import io
import pathlib
import re
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import hostile_models

folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
REFUSED = re.compile(r"JL0[1-5]\d\d: .+ \[.*\]$")


def with_plan(whole, plan):
    """The artifact with another plan, its checksums right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w") as new:
        for entry in old.infolist():
            new.writestr(entry.filename, plan if entry.filename.endswith("plan.pb") else old.read(entry))
    return out.getvalue()


def try_all(files):
    """How each file ends; none may end the process that tries them."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    run = subprocess.run(["try-models", "--run", *files], cwd=folder, capture_output=True, text=True, errors="replace")
    lines = run.stdout.rstrip("\n").split("\n")
    assert run.returncode == 0 and len(lines) == len(files), (run.returncode, lines[-1:], run.stderr[-2000:])
    return {line.split(": ", 1)[0]: line.split(": ", 1)[1] for line in lines}


def report(name):
    run = subprocess.run(["joule", "report", name, "--dim", "n=2", "--dim", "m=2"], cwd=folder, capture_output=True,
                         text=True, errors="replace", timeout=60)
    assert run.returncode in (0, 1), (name, run)
    assert run.returncode == 0 or run.stderr.startswith("joule: error JL0"), (name, run)


for make in (hostile_models.vision, hostile_models.control):
    stem = make.__name__
    (folder / f"{stem}.onnx").write_bytes(make().SerializeToString())
    subprocess.run(["joule", "compile", f"{stem}.onnx", "-o", f"{stem}.joule"], cwd=folder, check=True, capture_output=True)
    whole = (folder / f"{stem}.joule").read_bytes()
    with zipfile.ZipFile(folder / f"{stem}.joule") as artifact:
        plan = artifact.read("targets/sm_80/plan.pb")
    files = {f"{stem}-cut{i}.joule": data for i, data in enumerate(hostile_models.cuts(whole, 100))}
    del files[f"{stem}-cut0.joule"]  # nothing at all is no artifact, nor a model
    for name, ending in try_all(files).items():
        assert re.match(r"JL010[37]: ", ending), (name, ending)
    plans = {f"{stem}-plan{i}.joule": with_plan(whole, data) for i, data in enumerate(hostile_models.flips(plan, count, seed))}
    plans |= {f"{stem}-same.joule": with_plan(whole, plan)}
    flips = {f"{stem}-flip{i}.joule": data for i, data in enumerate(hostile_models.flips(whole, count // 2, seed))}
    endings = try_all(plans | flips)
    assert endings[f"{stem}-same.joule"] == "ok", endings[f"{stem}-same.joule"]
    for name, ending in endings.items():
        assert ending == "ok" or REFUSED.match(ending), (name, ending)
    for name in [name for name in plans][:12]:
        report(name)
