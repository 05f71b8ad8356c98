"""Recurrent layers whose activations take coefficients: those given go, in order, to the activations that take one."""
# RUN: %python %s %t && joule-onnx-tests %t --floor 14
# RUN: joule-onnx-tests %t --mode constant
# RUN: not joule check %t/unknown.onnx 2>&1 | FileCheck %s
# CHECK: RNN has an unknown activation "Sine"

import pathlib
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from cases import Cases, graph

cases = Cases()
LAYERS = [("RNN", 1, ["LeakyRelu"], [0.1], []), ("RNN", 1, ["Affine"], [0.5], [0.1]), ("GRU", 3, ["Sigmoid", "ScaledTanh"], [0.5], [0.7]),
          ("GRU", 3, ["LeakyRelu", "ScaledTanh"], [0.1, 0.5], [0.7]), ("LSTM", 4, ["HardSigmoid", "Tanh", "Elu"], [0.3, 0.7], [0.4]),
          ("LSTM", 4, ["Sigmoid", "HardSigmoid", "LeakyRelu"], [0.3, 0.05], [0.4]),
          ("LSTM", 4, ["Sigmoid", "HardSigmoid", "ThresholdedRelu"], [0.3, 0.05], [0.4])]


def layer(operator, gates, directions, names, alphas, betas):
    """A layer that runs 3 steps of 2 sequences; lists that are empty are left out."""
    attributes = {"hidden_size": 2, "direction": '"bidirectional"' if directions == 2 else '"forward"',
                  "activations": "[" + ", ".join(f'"{name}"' for name in names) + "]"}
    attributes.update({name: value for name, value in (("activation_alpha", alphas), ("activation_beta", betas)) if value})
    text = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return f"""g (float[3,2,3] x, float[{directions},{2 * gates},3] w, float[{directions},{2 * gates},2] r) => (float[3,{directions},2,2] y) {{
        y = {operator}<{text}> (x, w, r) }}"""


for operator, gates, names, alphas, betas in LAYERS:
    for directions in (1, 2):
        cases.add("_".join([operator, *names, str(directions)]),
                  layer(operator, gates, directions, names * directions, alphas * directions, betas * directions),
                  [cases.floats(3, 2, 3), cases.floats(directions, 2 * gates, 3), cases.floats(directions, 2 * gates, 2)])
onnx.save(graph(layer("RNN", 1, 1, ["Sine"], [], [])), cases.folder / "unknown.onnx")
