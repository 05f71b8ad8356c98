"""Every op has a round trip in ops.mlir, and every numbered constraint a failing case that is named after it."""
# RUN: %python %s

import re

import tree


def text_of(file):
    return file.read_text() if file.exists() else ""


def complaints():
    for file, dialect, mnemonic, record in tree.ops():
        folder = tree.ROOT / "test" / "dialects" / file.parent.name
        if not re.search(rf"\b{dialect}\.{mnemonic}\b", text_of(folder / "ops.mlir")):
            yield f"{tree.name_of(folder)}/ops.mlir has no {dialect}.{mnemonic}"
        for number in re.findall(r"^\s*- \(C(\d+)\)", record["description"], re.M):
            if not re.search(rf"@{mnemonic}_c{number}\b", text_of(folder / "invalid.mlir")):
                yield f"{tree.name_of(folder)}/invalid.mlir has no @{mnemonic}_c{number}"


tree.finish(list(complaints()))
