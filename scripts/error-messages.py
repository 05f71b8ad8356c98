"""Writes docs/ErrorMessages.md from include/joule/ErrorCodes.def; with --check, says whether it is up to date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ErrorMessages.md"
GROUPS = {1: "Artifacts and files", 2: "Devices and drivers", 3: "Sessions and inputs", 4: "Runs", 5: "Import",
          6: "Compiling", 7: "Energy", 9: "Joule itself"}
HEAD = """# Error messages

Every error of Joule's interface has a code that stays the same between versions. This page is written by
`scripts/error-messages.py` from `include/joule/ErrorCodes.def`; a test compares the two.
"""


def entries():
    text = (ROOT / "include" / "joule" / "ErrorCodes.def").read_text()
    # Neighbouring literals are one, as in C++.
    string = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for number, name, meaning, cure in re.findall(rf"^JOULE_ERROR\((\d+),\s*(\w+),\s*{string},\s*{string}\)", text, re.M):
        yield int(number), name, *("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', part)) for part in (meaning, cure))


def page():
    lines = [HEAD]
    for group, title in GROUPS.items():
        rows = [entry for entry in entries() if entry[0] // 100 == group]
        if rows:
            lines += [f"## {title}", "", "| code | name | meaning | what to do |", "|---|---|---|---|"]
            lines += [f"| JL{number:04} | {name} | {meaning} | {cure} |" for number, name, meaning, cure in rows] + [""]
    return "\n".join(lines)


def main():
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit("docs/ErrorMessages.md is out of date: run scripts/error-messages.py")


main()
