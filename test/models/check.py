"""check.py BUILD NAME...: compiles models, runs each on the virtual GPU at its sizes, and compares with ONNX Runtime.

Prints one line a run; exits with 1 where one differs or fails. `check.py BUILD all` takes every model of the catalogue.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime

from catalogue import MODELS


def oracle(model, path, inputs):
    """ONNX Runtime as plainly as it runs: its optimised forms differ from its own plain ones."""
    if model.expected:
        tensor = onnx.load_tensor(path.parent / pathlib.Path(model.expected).name)
        return [onnx.numpy_helper.to_array(tensor)]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def joule(*arguments):
    """The JSON that a command prints; what it says on stderr where it fails."""
    result = subprocess.run(["joule", *map(str, arguments), "--json"], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr.strip() or f"exit code {result.returncode}")
    return json.loads(result.stdout)


def difference(found, wanted, model):
    """What is wrong with one output; nothing where it is right. And how far apart it is at most."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"is {found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}", None
    apart = numpy.abs(found.astype("f8") - wanted.astype("f8")).max(initial=0)
    if numpy.allclose(found, wanted, rtol=model.rtol, atol=model.atol, equal_nan=True):
        return None, apart
    return f"is up to {apart:.3g} apart", apart


def run_once(model, path, artifact, size, folder):
    """Runs an artifact on inputs of one size; gives how far its outputs are from the oracle's at most, launches, and seconds."""
    inputs = model.inputs(numpy.random.default_rng(size), size)
    numpy.savez(folder / "in.npz", **inputs)
    start = time.monotonic()
    report = joule("run", artifact, "--input", folder / "in.npz", "--output", folder / "out.npz")
    seconds = time.monotonic() - start
    outputs, largest = numpy.load(folder / "out.npz"), 0
    for output, wanted in zip(report["outputs"], oracle(model, path, inputs)):
        problem, apart = difference(outputs[output["name"]], wanted, model)
        if problem:
            raise RuntimeError(f"the output {output['name']} {problem}")
        largest = max(largest, apart)
    return largest, report["counters"]["launches"], seconds


def check(model, build):
    """Compiles a model once and runs it at every size; gives the number of runs that failed."""
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        try:
            path = model.path(build)
            joule("compile", path, "-o", folder / "model.joule")
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"{model.name}: failed {error}", flush=True)
            return 1
        for size in model.sizes:
            try:
                apart, launches, seconds = run_once(model, path, folder / "model.joule", size, folder)
                print(f"{model.name} size {size}: passed at most {apart:.2g} apart, {launches} launches, {seconds:.1f} s", flush=True)
            except RuntimeError as error:
                print(f"{model.name} size {size}: failed {error}", flush=True)
                failures += 1
    return failures


def main():
    build, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    known = {model.name: model for model in MODELS}
    chosen = MODELS if names == ["all"] else [known[name] for name in names]
    failures = sum(check(model, build) for model in chosen)
    sys.exit(1 if failures or not chosen else 0)


if __name__ == "__main__":
    main()
