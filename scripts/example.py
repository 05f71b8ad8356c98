"""`bootstrap run` without a model: classifies three files of this repository on the virtual GPU, and says what it takes.

The model is the byte classifier of the magika package; ONNX Runtime, on the CPU, says what it should answer.
"""

import json
import pathlib
import shlex
import subprocess
import sys

import magika
import numpy
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILES = ["lib/Runtime/Executor.cpp", "scripts/test.py", "CMakeLists.txt"]
MODEL = pathlib.Path(magika.__file__).parent / "models" / "standard_v3_3"


def features(content, config):
    """What the model reads of a file: its first and last bytes without the white space around, padded."""
    pad, begin, end = config["padding_token"], config["beg_size"], config["end_size"]
    first = list(content[: config["block_size"]].lstrip()[:begin])
    last = list(content[-config["block_size"] :].rstrip()[-end:])
    return first + [pad] * (begin - len(first)) + [pad] * (end - len(last)) + last


def joule(program, *arguments):
    """What `joule` answers, as JSON."""
    run = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"error: joule {' '.join(map(str, arguments))} failed:\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def expected(inputs):
    """ONNX Runtime's answers; its optimised paths differ from its plain ones, so they are off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4  # this machine may have devices that ONNX Runtime fails to name
    session = onnxruntime.InferenceSession(str(MODEL / "model.onnx"), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: inputs})[0]


def batch_symbol():
    """The name that the model gives to the number of files."""
    return onnx.load(MODEL / "model.onnx", load_external_data=False).graph.input[0].type.tensor_type.shape.dim[0].dim_param


def main():
    build = pathlib.Path(sys.argv[1])
    program, folder = build / "bin" / "joule", build / "example"
    folder.mkdir(exist_ok=True)
    artifact, report = folder / "magika.joule", folder / "report.txt"
    config = json.loads((MODEL / "config.min.json").read_text())
    inputs = numpy.array([features((ROOT / file).read_bytes(), config) for file in FILES], numpy.int32)
    numpy.save(folder / "bytes.npy", inputs)

    print("Compiling a classifier of files for an A100 and an H100 …", flush=True)
    joule(program, "compile", MODEL / "model.onnx", "-o", artifact, "--target", "a100,h100")
    print("Running it on the virtual GPU …", flush=True)
    run = joule(program, "run", artifact, "--device", "virtual", "--input", f"bytes={folder / 'bytes.npy'}",
                "--output", folder / "answers.npz")
    answers = next(iter(numpy.load(folder / "answers.npz").values()))
    print()
    for file, scores in zip(FILES, answers):
        print(f"  {file}: {config['target_labels_space'][scores.argmax()]} ({100 * scores.max():.1f} %)")
    difference = float(abs(answers - expected(inputs)).max())
    print(f"  greatest difference from ONNX Runtime: {difference:.2g}")
    print(f"  kernels launched: {run['counters']['launches']}")

    one_file = ["report", artifact, "--dim", f"{batch_symbol()}=1"]
    report.write_text(subprocess.run([program, *map(str, one_file)], capture_output=True, text=True, check=True).stdout)
    for target in joule(program, *one_file)["targets"]:
        total = target["total"]
        print(f"  one file on an {target['device']}: {1e6 * total['seconds']:.0f} µs, {1e3 * total['joules']:.2f} mJ "
              f"({total['source']})")
    print(f"\nThe artifact: {artifact}\nThe report:   {report}\n\nNext:")
    for what, command in [("what a batch costs, launch by launch", [program, "report", artifact, "--dim", f"{batch_symbol()}=64"]),
                          ("compiled code against the reference", [program, "verify", MODEL / "model.onnx", "--dim", f"{batch_symbol()}=1"]),
                          ("every quick test", [ROOT / "bootstrap", "test"])]:
        print(f"  {shlex.join(map(str, command))}   # {what}")
    # The answers are probabilities: a thousandth is far above what rounding does, and far below what a user sees.
    return 0 if difference < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
