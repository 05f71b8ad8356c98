"""expected-failures.py LOG: writes the list of ONNX tests that fail, from what joule-onnx-tests printed without a list:

    build/bin/joule-onnx-tests build/venv/lib/python3.11/site-packages/onnx/backend/test/data/node > LOG

Look at the difference before committing it: a test that is new in the list is a step back.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "test" / "tools" / "joule-onnx-tests" / "expected-failures.txt"
HEAD = """# The official ONNX tests that Joule fails, each with its reason. The list is exact: a test that begins to pass must
# leave it. Written by scripts/expected-failures.py.
"""


def main():
    lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
    failures = []
    for line in lines:
        if match := re.match(r"(\S+): failed (.*)", line):
            # The code and the node say nothing that the test's name does not.
            reason = re.sub(r"^.*?JL\d+: ", "", match.group(2))
            failures.append(f"{match.group(1)} {reason}\n")
    LIST.write_text(HEAD + "\n" + "".join(sorted(failures)))
    print(f"{len(failures)} tests in {LIST}")


main()
