"""Prints the longest functions and files and the lines of each folder: to look at, never to fail."""
# RUN: %python %s | FileCheck %s
# CHECK: lines a folder
# CHECK: longest files
# CHECK: longest functions

import collections
import re

import tree


def functions(file):
    """(lines, name) of each function that starts in the first column and ends in a closing brace there."""
    start = name = None
    for number, line in enumerate(file.read_text().splitlines()):
        if start is None and (match := re.match(r"[\w:<>&*~,\s\[\]]*?([\w:~]+)\(.*\{$|[\w].*?([\w:]+)\(", line)) and not line.startswith(("namespace", "#")):
            start, name = number, match.group(1) or match.group(2)
        if start is not None and line.endswith(";") and "{" not in line and number == start:
            start = None
        if start is not None and line.startswith("}"):
            yield number - start + 1, name
            start = None


def main():
    sources = tree.files(".h", ".cpp", ".td", ".py", ".mlir", under=["dialects", "include", "lib", "passes", "tools", "test"])
    folders, lengths, longest = collections.Counter(), [], []
    for file in sources:
        path, lines = tree.name_of(file), len(file.read_text(errors="replace").splitlines())
        folders["/".join(path.split("/")[:2])] += lines
        lengths.append((lines, path))
        if file.suffix == ".cpp":
            longest += [(length, f"{path}: {name}") for length, name in functions(file)]
    print("lines a folder:")
    for folder, lines in sorted(folders.items()):
        print(f"{lines:7} {folder}")
    for title, entries in (("longest files:", lengths), ("longest functions:", longest)):
        print(title)
        for length, name in sorted(entries, reverse=True)[:15]:
            print(f"{length:7} {name}")


main()
