"""Every pass shows what it does to IR, says what it needs and leaves, and has a test file of its name."""
# RUN: %python %s

import tree


def test_names(flag):
    """A pass `nn-fuse-groups` is tested by nn-fuse-groups.mlir or fuse-groups.mlir."""
    return {flag, flag.split("-", 1)[-1]}


def complaints():
    tests = {file.stem for file in tree.files(".mlir", under=["test/passes"])}
    for file, flag, record in tree.passes():
        where = f"{tree.name_of(file)}: {flag}"
        if not record["summary"] or record["summary"].endswith("."):
            yield f"{where} wants a summary without a full stop"
        if "```mlir" not in record["description"]:
            yield f"{where} shows no IR before and after"
        if "Needs:" not in record["description"] or "Leaves:" not in record["description"]:
            yield f"{where} does not say what it needs and leaves"
        if not test_names(flag) & tests:
            print(f"{where} has no test/passes/…/{flag.split('-', 1)[-1]}.mlir")


tree.finish(list(complaints()))
