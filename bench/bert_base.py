"""Writes BERT-base with random weights as ONNX: the standard encoder, 110 million parameters, batch and length left open.

    python bench/bert_base.py bert.onnx [--layers 12]
    joule compile bert.onnx -o bert.joule --target a100
"""

import argparse

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, INNER, WORDS, PLACES = 768, 12, 3072, 30522, 512


class Graph:
    """Nodes and weights under construction; each method adds a node and names its result."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], numpy.random.default_rng(0)

    def node(self, operator, *inputs, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) * 0.02).astype("f4"))

    def constant(self, array):
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def linear(self, x, inputs, outputs):
        return self.node("Add", self.node("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def normalize(self, x):
        return self.node("LayerNormalization", x, self.weight(HIDDEN), self.weight(HIDDEN), axis=-1, epsilon=1e-12)

    def heads(self, x, order):
        shape = self.constant(numpy.array([0, 0, HEADS, HIDDEN // HEADS]))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def attention(self, x, mask):
        query, value = (self.heads(self.linear(x, HIDDEN, HIDDEN), [0, 2, 1, 3]) for _ in range(2))
        key = self.heads(self.linear(x, HIDDEN, HIDDEN), [0, 2, 3, 1])
        scale = self.constant(numpy.float32((HIDDEN // HEADS) ** -0.5))
        scores = self.node("Add", self.node("Mul", self.node("MatMul", query, key), scale), mask)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), value)
        merged = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", merged, self.constant(numpy.array([0, 0, HIDDEN]))), HIDDEN, HIDDEN)

    def gelu(self, x):
        half = self.node("Mul", x, self.constant(numpy.float32(0.5)))
        error = self.node("Erf", self.node("Mul", x, self.constant(numpy.float32(0.5**0.5))))
        return self.node("Mul", half, self.node("Add", error, self.constant(numpy.float32(1))))

    def layer(self, x, mask):
        x = self.normalize(self.node("Add", x, self.attention(x, mask)))
        inner = self.linear(self.gelu(self.linear(x, HIDDEN, INNER)), INNER, HIDDEN)
        return self.normalize(self.node("Add", x, inner))

    def embed(self):
        words = self.node("Gather", self.weight(WORDS, HIDDEN), "input_ids")
        length = self.node("Gather", self.node("Shape", "input_ids"), self.constant(numpy.array(1)))
        places = self.node("Range", self.constant(numpy.array(0)), length, self.constant(numpy.array(1)))
        kinds = self.node("Gather", self.weight(2, HIDDEN), "token_type_ids")
        sum_of_two = self.node("Add", words, self.node("Gather", self.weight(PLACES, HIDDEN), places))
        return self.normalize(self.node("Add", sum_of_two, kinds))

    def mask(self):
        spread = self.node("Unsqueeze", "attention_mask", self.constant(numpy.array([1, 2])))
        missing = self.node("Sub", self.constant(numpy.float32(1)), self.node("Cast", spread, to=TensorProto.FLOAT))
        return self.node("Mul", missing, self.constant(numpy.float32(-10000)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--layers", type=int, default=12)
    options = parser.parse_args()
    graph = Graph()
    x, mask = graph.embed(), graph.mask()
    for _ in range(options.layers):
        x = graph.layer(x, mask)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
              for name in ("input_ids", "attention_mask", "token_type_ids")]
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="output"))
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", HIDDEN])
    made = helper.make_graph(graph.nodes, "bert_base", inputs, [output], graph.weights)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), options.file)


if __name__ == "__main__":
    main()
