"""A signal that ends the program takes its temporary files along."""
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib" / "Import" / "Inputs"))
import make
import numpy
from onnx import save

folder = pathlib.Path(sys.argv[1])
# Products of different sizes are different kernels: the artifact is begun early and finished late.
count = 80
nodes = [make.node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(count)]
weights = [make.raw(f"w{i}", numpy.ones((i + 4, i + 5), "f4")) for i in range(count)]
save(make.model(nodes, [make.value("v0", (4, 4))], [make.value(f"v{count}", (4, count + 4))], weights), folder / "long.onnx")


def traces():
    return [path for path in folder.rglob("*") if path.name != "long.onnx" and not path.is_dir()] + list(folder.glob("tmp/*"))


def wait_for_traces(process):
    end = time.monotonic() + 100
    while not traces():
        assert process.poll() is None and time.monotonic() < end, "no temporary file was ever seen"
        time.sleep(0.002)


(folder / "tmp").mkdir()
environment = dict(os.environ, TMPDIR=str(folder / "tmp"))
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    for command in (["joule", "compile", "long.onnx", "-o", "out.joule"], ["joule", "run", "long.onnx", "--random"]):
        # Who runs the tests in the background ignores some signals, which is inherited.
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        wait_for_traces(process)
        process.send_signal(number)
        assert process.wait(timeout=100) == -number, (command, number, process.returncode)
        assert traces() == [], traces()
