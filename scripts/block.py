"""Prints a named block of a page: the one that follows the comment `<!-- block: NAME -->`. Pages are tested with it."""

import pathlib
import re
import sys


def main():
    page, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    match = re.search(rf"<!-- block: {re.escape(name)} -->\s*```\w*\n(.*?)^```", page.read_text(), re.S | re.M)
    if not match:
        sys.exit(f"error: {page} has no block called {name}")
    print(match.group(1), end="")


main()
