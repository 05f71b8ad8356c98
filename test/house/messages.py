"""Messages start lower-case and end without a full stop, as compilers' messages do."""
# RUN: %python %s

import re

import tree

# The text from the call that makes a message to the end of its statement.
STATEMENT = re.compile(r"\b(?:emitError|emitOpError|emitRemark|emitWarning|notifyMatchFailure|fail|error)\s*\(([^;]*);", re.S)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def complaints():
    for file in tree.files(".cpp", ".h", under=["dialects", "lib", "passes", "tools"]):
        text = file.read_text()
        for match in STATEMENT.finditer(text):
            literals = LITERAL.findall(match.group(1))
            where = f"{tree.name_of(file)}:{text.count(chr(10), 0, match.start()) + 1}"
            # A name of ONNX's (Gemm) or an acronym may stand first; a sentence's capital may not.
            if literals and re.match(r"(The|A|An|Cannot|Could|Invalid|Unsupported|Unknown|No|Not|Expected|Failed)\b", literals[0]):
                yield f"{where}: starts upper-case: {literals[0]}"
            if literals and literals[-1].rstrip().endswith(".") and not literals[-1].endswith("..."):
                yield f"{where}: ends in a full stop: {literals[-1]}"


tree.finish(list(complaints()))
