"""Settings live where users find them, a TODO has an issue, and no file is named after nothing."""
# RUN: %python %s

import re

import tree

# The one place besides tools/ that reads the environment: a driver has no command line.
SETTINGS_FILE = "lib/VirtualGpu/Settings.cpp"
EMPTY_NAMES = re.compile(r"(Utils?|Common|Misc|Helpers?)$", re.I)


def complaints():
    for file in tree.files():
        path = tree.name_of(file)
        if EMPTY_NAMES.search(file.stem) or any(EMPTY_NAMES.fullmatch(part) for part in path.split("/")):
            yield f"{path}: is named after nothing in particular"
    for file in tree.files(".h", ".cpp", ".td", ".py", ".txt", ".cmake", ".mlir"):
        path = tree.name_of(file)
        if path.startswith("test/house/"):
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b", line) and not re.search(r"(TODO|FIXME)\(#\d+\)", line):
                yield f"{path}:{number}: a TODO without an issue, as in TODO(#12)"
            if file.suffix in (".h", ".cpp") and path.startswith(("dialects/", "passes/", "lib/", "include/")):
                if re.search(r"\bcl::(opt|list)\b", line):
                    yield f"{path}:{number}: a process-wide option; it belongs to the thing it changes"
                if re.search(r"\bgetenv\b", line) and path != SETTINGS_FILE:
                    yield f"{path}:{number}: reads the environment outside tools and {SETTINGS_FILE}"


tree.finish(list(complaints()))
