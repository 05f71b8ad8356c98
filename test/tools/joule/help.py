"""Every command prints help whose examples run and whose options some test uses; a wrong command line exits with 2."""
# RUN: rm -rf %t && %python %S/Inputs/models.py %t
# RUN: %python %s %t

import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
tests = pathlib.Path(__file__).parent


def joule(*arguments):
    return subprocess.run(["joule", *arguments], capture_output=True, text=True, cwd=folder)


def check_examples(page):
    examples = re.findall(r"^(?:example:| {8,})\s*(joule .*)$", page, re.M)
    assert examples, page
    for example in examples:
        done = joule(*example.split()[1:])
        assert done.returncode == 0, (example, done)


def check_options(command, page, lines):
    """A line of a test has the command and the option."""
    for short, option in re.findall(r"^  (-\w)?,?(--[\w-]+)", page, re.M):
        if option in ("--help", "--json"):  # which json-output.py gives to every command
            continue
        names = rf"(?<![\w-])({option}|{short or option})\b"
        used = [line for line in lines if re.search(rf"\b{command}\b", line) and re.search(names, line)]
        assert used, f"no test uses joule {command} {option}"


overview = joule("--help")
assert overview.returncode == 0, overview
assert re.fullmatch(r"joule \d+\.\d+\.\d+\n", joule("--version").stdout)
commands = re.findall(r"^  (\w+) ", overview.stdout.split("Subcommands:")[1], re.M)
assert set(commands) == {"bench", "check", "compile", "doctor", "energy", "explain", "report", "run", "verify"}, commands
lines = [line for file in tests.iterdir() if file.suffix in (".py", ".test") for line in file.read_text().splitlines()]
# What one example writes, another reads.
for command in sorted(set(commands) - {"energy"}, key=lambda command: (command != "compile", command)):
    page = joule(command, "--help")
    assert page.returncode == 0 and "--json" in page.stdout, page
    check_examples(page.stdout)
    check_options(command, page.stdout, lines)
# Its subcommands read tables that only their own tests have.
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
    ["run", "model.joule", "--dump-tensor", "positive"],
    ["bench", "a.onnx", "--runs", "0"],
    ["bench", "a.onnx", "--energy-window", "2"],
    ["compile", "a.onnx"],
    ["compile", "-o", "a.joule"],
    ["compile", "model.onnx", "--start-from", "model.mlir", "-o", "a.joule"],
    ["compile", "--start-from", "model.onnx", "-o", "a.joule"],
    ["compile", "model.onnx", "--stop-after", "noon", "-o", "a.mlir"],
    ["explain", "JL9999"],
    ["energy"],
    ["energy", "fit", "a.csv"],
    ["energy", "fit", "a.csv", "--device", "a10", "--column", "time"],
):
    result = joule(*wrong)
    assert result.returncode == 2 and result.stderr.startswith("joule: "), (wrong, result)
