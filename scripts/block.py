"""Named blocks of a page, so that pages are tested: a block follows the comment `<!-- block: NAME -->`.

block.py PAGE NAME prints the block. `… | block.py PAGE NAME -` reads what a command prints and says whether the block is
in it, line by line; in a block, … stands for anything, within a line or, alone, for any lines; value names may differ.
"""

import pathlib
import re
import sys


def block_of(page, name):
    match = re.search(rf"<!-- block: {re.escape(name)} -->\s*```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    if not match:
        sys.exit(f"error: {page} has no block called {name}")
    return match.group(1)


def simplify(line):
    """A line without what may differ: the names of values and the amount of white space."""
    return re.sub(r"\s+", " ", re.sub(r"%[\w#]+", "%", line)).strip()


def find(wanted, lines):
    """How many of the wanted lines are found in order; a line after … may be anywhere behind, another must be next."""
    place, anywhere = 0, True
    for number, line in enumerate(wanted):
        if line == "…":
            anywhere = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        candidates = range(place, len(lines)) if anywhere else range(place, min(place + 1, len(lines)))
        place = next((i + 1 for i in candidates if pattern.fullmatch(lines[i])), None)
        if place is None:
            return number
        anywhere = False
    return len(wanted)


def main():
    page, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    block = block_of(page, name)
    if len(sys.argv) == 3:
        print(block, end="")
        return
    text = sys.stdin.read()
    wanted = [simplify(line) for line in block.splitlines() if line.strip()]
    lines = [simplify(line) for line in text.splitlines() if line.strip()]
    found = find(wanted, lines)
    if found < len(wanted):
        sys.exit(f"{page}: the block {name} differs from what the command prints, at\n  {wanted[found]}\nof\n{text}")


main()
