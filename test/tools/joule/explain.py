"""Every error code can be explained, alone and in a list, for readers and for machines."""
# RUN: %python %s

import json
import subprocess


def explain(*arguments):
    return subprocess.run(["joule", "explain", *arguments], capture_output=True, text=True, check=True).stdout


codes = json.loads(explain("--json"))
assert len(codes) > 20
listed = explain()
for row in codes:
    assert f"{row['code']} {row['name']}: {row['meaning']}" in listed, listed
for row in codes[::10]:
    assert json.loads(explain(row["code"], "--json")) == row
    text = explain(row["code"])
    for part in ("code", "name", "meaning", "cure"):
        assert row[part] in text, text
