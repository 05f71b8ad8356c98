"""Writes small models with inputs and expected outputs, in the form of the official ONNX tests."""

import pathlib
import shutil
import sys

import numpy
import onnx
import onnx.parser
import onnx.reference
import onnxruntime

HEAD = '<ir_version: {ir}, opset_import: ["" : {opset}, "ai.onnx.ml" : 5]>\n'


def graph(text, opset=18):
    return onnx.parser.parse_model(HEAD.format(ir=10 if opset < 24 else 12, opset=opset) + text)


class Cases:
    """The cases of one script, which is run as `script.py FOLDER`."""

    def __init__(self):
        self.folder = pathlib.Path(sys.argv[1])
        shutil.rmtree(self.folder, ignore_errors=True)
        self.random = numpy.random.default_rng(1)

    def floats(self, *shape, dtype="f4", low=-2, high=2):
        return self.random.uniform(low, high, shape).astype(dtype)

    def integers(self, *shape, dtype="i8", low=-9, high=9):
        return self.random.integers(low, high + 1, shape).astype(dtype)

    def add(self, name, text, *runs, opset=18, oracle="onnxruntime", outputs=None):
        """`text` is a graph in ONNX's text form; each run is a list of inputs. Says the outputs itself where it is given them."""
        self.add_model(name, graph(text, opset), *runs, oracle=oracle, outputs=outputs)

    def add_model(self, name, model, *runs, oracle="onnxruntime", outputs=None):
        onnx.checker.check_model(model)
        for number, inputs in enumerate(runs):
            folder = self.folder / (f"{name}_{number}" if len(runs) > 1 else name)
            data = folder / "test_data_set_0"
            data.mkdir(parents=True)
            onnx.save(model, folder / "model.onnx")
            named = {value.name: array for value, array in zip(model.graph.input, inputs)}
            wanted = outputs if outputs is not None else ORACLES[oracle](model, named)
            for kind, values, arrays in (("input", model.graph.input, inputs), ("output", model.graph.output, wanted)):
                for position, (value, array) in enumerate(zip(values, arrays)):
                    tensor = onnx.numpy_helper.from_array(numpy.asarray(array), value.name)
                    (data / f"{kind}_{position}.pb").write_bytes(tensor.SerializeToString())


def run_onnxruntime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def run_reference(model, inputs):
    return onnx.reference.ReferenceEvaluator(model).run(None, inputs)


ORACLES = {"onnxruntime": run_onnxruntime, "reference": run_reference}
