"""The page of error codes is the one that the codes give, no code is missed, and a test meets each."""
# RUN: %python %root/scripts/error-messages.py --check
# RUN: %python %s

import re

import tree

codes = (tree.ROOT / "include" / "joule" / "ErrorCodes.def").read_text()
page = (tree.ROOT / "docs" / "ErrorMessages.md").read_text()
rows = re.findall(r"^JOULE_ERROR\((\d+), (\w+)", codes, re.M)
tests = "".join(file.read_text() for file in tree.files(".cpp", ".c", ".test", ".mlir", ".py", under=["test"]) if file.parent.name != "house")


def complaints():
    for number, name in rows:
        code = f"JL{int(number):04}"
        if f"| {code} |" not in page:
            yield f"docs/ErrorMessages.md lacks {code}"
        if not re.search(rf"\b(ErrorCode::{name}|JOULE_ERROR_{name}|{code})\b", tests):
            yield f"no test expects {code}, {name}"


tree.finish(list(complaints()))
