"""Prints what models take through Joule on the virtual GPU beside ONNX Runtime: seconds of the processor per inference.

    PATH=build/bin:$PATH build/venv/bin/python bench/VirtualGpu/models.py build

The first run of a process with nothing kept on disk, which compiles the kernels, has a column of its own.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "test" / "models"))

from catalogue import MODELS  # noqa: E402
from check import joule  # noqa: E402

THREADS, RUNS, MUST = 2, 10, 6
ROWS = (("light_resnet50", 1), ("minilm", 16), ("minilm", 128))


def native(path, inputs):
    """Least seconds of ONNX Runtime's processor time, of several runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = THREADS, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    session.run(None, inputs)
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        session.run(None, inputs)
        times.append(time.process_time() - start)
    return min(times)


def spent(folder, runs, jit="1"):
    """Seconds of the processor for a process that runs a model `runs` times."""
    environment = {**os.environ, "JOULE_VGPU_CACHE": str(folder / "cache"), "JOULE_VGPU_THREADS": str(THREADS), "JOULE_VGPU_JIT": jit}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["joule", "bench", folder / "model.joule", "--input", folder / "in.npz", "--warm-up", "0", "--runs", str(runs), "--json"], check=True,
                   stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    build = pathlib.Path(sys.argv[1])
    known = {model.name: model for model in MODELS}
    print("| model | size | ONNX Runtime s | Joule s | times | must | | first run s |\n|---|---|---|---|---|---|---|---|")
    for name, size in ROWS:
        model = known[name]
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            inputs = model.inputs(numpy.random.default_rng(size), size)
            numpy.savez(folder / "in.npz", **inputs)
            joule("compile", model.path(build), "-o", folder / "model.joule")
            first = spent(folder, 1)
            spent(folder, 1, "force")  # also compiles what pays later only
            seconds = (spent(folder, 1 + RUNS) - spent(folder, 1)) / RUNS
            reference = native(model.path(build), inputs)
        times = seconds / reference
        print(f"| {name} | {size} | {reference:.3f} | {seconds:.3f} | {times:.1f} | {MUST} | {'met' if times <= MUST else 'MISSED'} "
              f"| {first:.1f} |", flush=True)


main()
