"""Every command prints help with an example; what is wrong with a command line exits with 2."""
# RUN: %python %s

import re
import subprocess


def joule(*arguments):
    return subprocess.run(["joule", *arguments], capture_output=True, text=True)


overview = joule("--help")
assert overview.returncode == 0, overview
commands = re.findall(r"^  (\w+) ", overview.stdout.split("Subcommands:")[1], re.M)
assert set(commands) == {"bench", "check", "compile", "doctor", "energy", "explain", "report", "run", "verify"}, commands
for command in commands:
    page = joule(command, "--help")
    assert page.returncode == 0 and f"example: joule {command}" in page.stdout, page
    assert "--json" in page.stdout or command == "energy", page
for command in ("devices", "fit", "frontier", "predict"):
    page = joule("energy", command, "--help")
    assert page.returncode == 0 and f"example: joule energy {command}" in page.stdout and "--json" in page.stdout, page

for wrong in (
    [],
    ["dance"],
    ["run"],
    ["run", "a.onnx", "--no-such-flag"],
    ["run", "a.onnx", "--dim", "batch"],
    ["run", "a.onnx", "--dim", "n=1", "--dim", "n=2"],
    ["run", "a.onnx", "--expect", "folder", "--random"],
    ["run", "a.onnx", "--rtol", "1"],
    ["run", "a.onnx", "--time-limit", "-1"],
    ["bench", "a.onnx", "--runs", "0"],
    ["compile", "a.onnx"],
    ["explain", "JL9999"],
    ["energy"],
    ["energy", "fit", "a.csv"],
    ["energy", "fit", "a.csv", "--device", "a10", "--column", "time"],
):
    result = joule(*wrong)
    assert result.returncode == 2 and result.stderr.startswith("joule: "), (wrong, result)
