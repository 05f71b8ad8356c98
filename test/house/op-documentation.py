"""Every op has a summary that is a short phrase, and an example."""
# RUN: %python %s

import tree


def complaints():
    for file, dialect, mnemonic, record in tree.ops():
        where = f"{tree.name_of(file)}: {dialect}.{mnemonic}"
        summary = record["summary"]
        if not summary or summary.endswith(".") or not summary[0].isupper():
            yield f"{where} wants a summary that starts upper-case and has no full stop"
        if not tree.examples(record["description"]):
            yield f"{where} has no example"


tree.finish(list(complaints()))
