"""The page of error codes is the one that the codes give, and no code is missed."""
# RUN: %python %root/scripts/error-messages.py --check
# RUN: %python %s

import re

import tree

codes = (tree.ROOT / "include" / "joule" / "ErrorCodes.def").read_text()
page = (tree.ROOT / "docs" / "ErrorMessages.md").read_text()
numbers = re.findall(r"^JOULE_ERROR\((\d+)", codes, re.M)
tree.finish([f"docs/ErrorMessages.md lacks JL{int(number):04}" for number in numbers if f"| JL{int(number):04} |" not in page])
