"""Dependencies point one way: each folder includes only what it may see."""
# RUN: %python %s

import re

import tree

# The longest matching folder decides; what it lists may be included, besides itself and what is not ours.
MAY_SEE = {
    "dialects": ["dialects"],
    "passes": ["dialects", "passes", "lib/Reference/Evaluate", "lib/Reference/Kernels"],
    "include/joule": ["joule"],
    "lib/Artifact": ["joule", "lib/File"],
    "lib/Compiler": ["joule", "dialects", "passes", "lib"],
    "lib/Emit": ["joule", "dialects", "lib/File", "passes/TileToNvvm"],
    "lib/Energy": ["joule", "dialects/Device/Quantities.h"],
    "lib/Error": ["joule"],
    "lib/File": ["joule"],
    "lib/Import": ["joule", "dialects/Onnx", "dialects/Nn"],
    "lib/Interface": ["joule"],
    "lib/Reference/Kernels": ["joule"],
    "lib/Reference/Evaluate": ["joule", "dialects", "lib/Reference/Kernels"],
    "lib/Reference/Interpreter": ["joule", "dialects", "lib/Reference/Evaluate", "lib/Reference/Kernels"],
    "lib/Runtime": ["joule", "lib/Artifact", "lib/Energy", "lib/Reference/Kernels", "lib/VirtualGpu/DriverApi.h",
                    "lib/VirtualGpu/VirtualGpuApi.h"],
    "lib/Tensor": ["joule"],
    "lib/TensorFile": ["joule", "lib/Artifact", "lib/Reference/Kernels"],
    "lib/Tuner": ["joule", "dialects/Device", "dialects/Tile", "lib/Energy"],
    "lib/VirtualGpu": ["lib/Energy"],
}
NO_MLIR = ["include/joule", "lib/Artifact", "lib/Energy", "lib/File", "lib/Interface", "lib/Reference/Kernels", "lib/Runtime",
           "lib/TensorFile", "lib/VirtualGpu"]
NO_LLVM = [folder for folder in NO_MLIR if folder != "lib/VirtualGpu"]
OURS = ("dialects/", "passes/", "lib/", "joule/", "tools/", "test/", "bench/")


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_for(path):
    rules = [folder for folder in MAY_SEE if inside(path, folder)]
    return max(rules, key=len, default=None)


def complaints():
    for file in tree.files(".h", ".cpp", ".inc", under=["dialects", "include", "lib", "passes"]):
        path = tree.name_of(file)
        rule = rule_for(path)
        if rule is None:
            yield f"{path}: its folder has no line in test/house/include-directions.py"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if not match:
                continue
            included = match.group(1)
            where = f"{path}:{number}: {rule} may not include {included}"
            if included.startswith(OURS) and not any(inside(included, seen) for seen in [rule, *MAY_SEE[rule]]):
                yield where
            if included.startswith("mlir/") and rule in NO_MLIR or included.startswith("llvm/") and rule in NO_LLVM:
                yield where


tree.finish(list(complaints()))
