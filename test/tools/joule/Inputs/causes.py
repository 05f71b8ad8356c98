"""Reads `joule report --json`: joules by cause sum to the total, joules by launch, too, and nothing beats the floor."""

import json
import math
import sys

report = json.load(sys.stdin)
assert report["targets"]
for target in report["targets"]:
    total = target["total"]
    assert math.isclose(sum(total["joulesByCause"].values()), total["joules"], rel_tol=1e-9), total
    assert math.isclose(sum(launch["joules"] for launch in target["launches"]), total["joules"], rel_tol=1e-9), total
    assert total["timesTheFloor"] >= 1 and total["source"] == "modelled" and total["plusMinus"] > 0, total
