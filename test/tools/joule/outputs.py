"""What is written appears whole or not at all, and replaces nothing but regular files: compile -o, --dump, run --output,
energy frontier --svg and energy fit -o."""
# RUN: rm -rf %t && %python %S/Inputs/models.py %t
# RUN: %python %s %t

import contextlib
import os
import pathlib
import resource
import stat
import subprocess
import sys

os.chdir(sys.argv[1])
KEPT = b"what was there before"
RUN = ["joule", "run", "add.onnx", "--input", "both.npz", "--output"]
COMPILE = ["joule", "compile", "add.onnx", "-o"]
DUMP = ["joule", "compile", "add.onnx", "-o", "dumped.joule", "--dump"]
MADE = pathlib.Path("made.joule").resolve()
PLOT = ["joule", "energy", "frontier", str(MADE), "--device", "a100", "--dim", "batch=4", "--svg"]
TABLE = pathlib.Path(__file__).resolve().parent / "Inputs" / "a100-networks.csv"
FIT = ["joule", "energy", "fit", str(TABLE), "--device", "a100-pcie-40", "--group-by", "family", "--ignore", "workload",
       "--column", "time_ms=time[ms]", "-o"]


def ends(command, message, **more):
    """The command fails with JL0102 and this message, in one line."""
    run = subprocess.run(command, capture_output=True, text=True, **more)
    assert run.returncode == 1, (command, run)
    assert run.stderr.startswith("joule: error JL0102: ") and message in run.stderr, (command, run.stderr)
    assert run.stderr.count("\n") == 1, run.stderr


def ends_in_usage(command, message):
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2 and message in run.stderr, (command, run)


def nothing_left(folder):
    assert sorted(os.listdir(folder)) == ["kept"], os.listdir(folder)
    assert pathlib.Path(folder, "kept").read_bytes() == KEPT


def fresh(folder):
    pathlib.Path(folder).mkdir()
    pathlib.Path(folder, "kept").write_bytes(KEPT)
    return folder


subprocess.run([*COMPILE, MADE], check=True, capture_output=True)

# Folders, devices, pipes, names that are none.
os.mkfifo("pipe")
os.symlink("/dev/null", "link-to-device")
for command in (COMPILE, RUN, PLOT, FIT):
    ends([*command, "."], "is not a regular file")
    ends([*command, "pipe"], "\"pipe\" is not a regular file")
    ends([*command, "add.onnx/x"], "cannot write \"add.onnx/x\": Not a directory")
    ends([*command, "nowhere/x"], "cannot write \"nowhere/x\": No such file or directory")
    ends([*command, "nowhere/"], "\"nowhere/\" is not a file's name")
    for device in ("/dev/null", "/dev/full", "link-to-device"):
        before = os.stat(device)
        ends([*command, device], "is not a regular file")
        after = os.stat(device)
        assert stat.S_ISCHR(after.st_mode) and before.st_rdev == after.st_rdev, device
ends([*DUMP, "add.onnx"], "cannot write \"add.onnx/1-onnx.mlir\": Not a directory")
ends([*DUMP, "add.onnx/dump"], "cannot make the folder \"add.onnx/dump\": Not a directory")
ends([*DUMP, "/dev/null"], "cannot write \"/dev/null/1-onnx.mlir\": Not a directory")
assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
os.makedirs("taken/1-onnx.mlir")
ends([*DUMP, "taken"], "1-onnx.mlir\" is not a regular file")
assert not os.path.exists("dumped.joule")

# What is read is not replaced, under another name neither.
os.symlink("add.onnx", "link-to-model")
model = pathlib.Path("add.onnx").read_bytes()
for file in ("add.onnx", "./add.onnx", "link-to-model"):
    ends([*COMPILE, file], "is what is compiled, and would be lost")
    ends_in_usage([*RUN, file], "is what is read, and would be lost")
ends_in_usage(["joule", "report", str(MADE), "--dim", "batch=4", "--html", str(MADE)], "is what is read, and would be lost")
assert pathlib.Path("add.onnx").read_bytes() == model

# A link stays one, and what it points to is replaced.
fresh("linked")
os.symlink("linked/kept", "link")
subprocess.run([*RUN, "link"], check=True, capture_output=True)
assert os.path.islink("link") and pathlib.Path("linked/kept").read_bytes()[:2] == b"PK"

# A full disk: a limit on the size of files, and a small file system where this may mount one.
limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
fresh("limited")
for command in ([*COMPILE, "limited/kept"], [*RUN, "limited/kept"], [*DUMP, "limited"]):
    ends(command, "File too large", preexec_fn=limit)
    nothing_left("limited")


@contextlib.contextmanager
def tiny_disk(folder):
    pathlib.Path(folder).mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tiny", folder]).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)


with tiny_disk("tiny") as mounted:
    if mounted:
        pathlib.Path("tiny/kept").write_bytes(KEPT)
        ends([*COMPILE, "tiny/kept"], "No space left on device")
        ends([*DUMP, "tiny"], "No space left on device")
        nothing_left("tiny")

# A folder that may only be read; root may write anyway, so somebody else tries.
fresh("locked")
os.chmod("locked", 0o555)
nobody = 65534


def drop():
    if os.geteuid() == 0:
        os.setgid(nobody)
        os.setuid(nobody)


def may_run():
    """Not where the project lies in root's own folder."""
    try:
        return subprocess.run(["joule", "--help"], preexec_fn=drop, capture_output=True).returncode == 0
    except PermissionError:
        return False


if may_run():
    for command in (COMPILE, RUN):
        ends([*command, "locked/kept"], "Permission denied", preexec_fn=drop)
        nothing_left("locked")
os.chmod("locked", 0o755)

# A model that fails leaves an older artifact alone.
fresh("failed")
run = subprocess.run(["joule", "compile", "unknown.onnx", "-o", "failed/kept"], capture_output=True, text=True)
assert run.returncode == 1 and "JL0601" in run.stderr, run
nothing_left("failed")

# What is printed counts as output, too.
with open("/dev/full", "w") as full:
    for command in (["joule", "run", "add.onnx", "--input", "both.npz"], ["joule", "check", "add.onnx", "--json"],
                    ["joule", "explain", "JL0102"]):
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        assert run.returncode == 1 and "JL0102: cannot write to the standard output" in run.stderr, (command, run)
