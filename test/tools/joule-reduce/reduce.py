"""A module that fails is made as small as the failure allows: whatever does not belong to it is gone."""
# RUN: %python %s %t

import os
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

MODULE = """
func.func @of_no_interest(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @fails(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %a = arith.addf %x, %x : tensor<2x3xf32>
  %b = arith.mulf %w, %w : tensor<3x4xf32>
  %c = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %c : tensor<2x4xf32>
}
"""
# The "failure": a contraction is there. Interesting is 1, as mlir-reduce has it.
SCRIPT = """#!/bin/sh
joule-opt "$1" 2>/dev/null | grep -q nn.contract && exit 1
exit 0
"""


def main():
    module, script, smaller = folder / "module.mlir", folder / "interesting.sh", folder / "smaller.mlir"
    module.write_text(MODULE)
    script.write_text(SCRIPT)
    script.chmod(0o755)
    # A pass option cannot hold the spaces that a path may have.
    command = ["joule-reduce", module, f"--reduction-tree=traversal-mode=0 test=./{script.name}", "-o", smaller]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done
    text = smaller.read_text()
    assert "nn.contract" in text, text
    for gone in ("@of_no_interest", "arith.mulf", "arith.addf"):
        assert gone not in text, text


main()
