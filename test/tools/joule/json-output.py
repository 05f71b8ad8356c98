"""Every command's --json is one JSON value on stdout, with what the text says, and an error's code where it fails."""
# RUN: rm -rf %t && %python %S/Inputs/models.py %t
# RUN: %python %s %t

import json
import subprocess
import sys


def joule(*arguments, status=0):
    done = subprocess.run(["joule", *arguments, "--json"], capture_output=True, text=True, cwd=sys.argv[1])
    assert done.returncode == status, (arguments, done)
    return json.loads(done.stdout)


def keys(value, *wanted):
    assert list(value) == list(wanted), (list(value), wanted)


cost = ("seconds", "joules", "plusMinus", "source", "watts", "clockMHz", "powerCapWatts", "operands", "flopsPerJoule", "timesTheFloor", "joulesByCause")
counters = ("runs", "launches", "compiles", "deviceAllocations", "bytesCopied", "arenaBytes")

found = joule("check", "unknown.onnx", status=1)
keys(found, "model", "unsupported")
assert [row["node"] for row in found["unsupported"]] == ["first", "second"], found

found = joule("compile", "model.onnx", "-o", "model.joule", "--target", "a100,h100", "--threads", "2", "--dump", "dump")
keys(found, "artifact", "targets", "nodes", "kernels", "launches", "ptxLines", "assembled", "cpuSeconds")
assert found["targets"] == ["a100", "h100"] and found["nodes"] == 2 and found["launches"] == 1, found
keys(joule("compile", "model.onnx", "-o", "model.mlir", "--stop-after", "nn"), "module", "level")

found = joule("run", "model.onnx", "--input", "x=random:0:1", "--dim", "batch=3", "--seed", "4", "--time-limit", "100")
keys(found, "program", "device", "target", "outputs", "counters")
assert found["outputs"] == [{"name": "y", "type": "float32", "shape": [3, 2]}], found
keys(found["counters"], *counters)
assert found["counters"]["launches"] == 1 and found["counters"]["compiles"] == 0, found
found = joule("run", "model.onnx", "--expect", "test_data_set_0", "--rtol", "1e-5", "--atol", "0")
keys(found, "program", "device", "target", "dataSets", "counters")
keys(found["dataSets"][0], "folder", "passed", "outputs", "counters")
keys(found["dataSets"][0]["outputs"][0], "name", "type", "shape", "passed", "maxAbsolute", "maxRelative")

found = joule("bench", "model.joule", "--device", "virtual:a100", "--input", "x=x.npy", "--runs", "3", "--warm-up", "0", "--time-limit", "100")
keys(found, "program", "device", "target", "latencySeconds", "perInference", "launchesNotModelled", "counters")
keys(found["latencySeconds"], "source", "runs", "min", "p50", "p90", "p99", "max")
assert found["latencySeconds"]["source"] == "virtual" and found["counters"]["runs"] == 3, found
assert {"device", *cost} <= set(found["perInference"][0]), found
keys(joule("bench", "model.onnx", "--random", "--seed", "3", "--dim", "batch=2", "--runs", "1"), "program", "device", "target", "latencySeconds", "perInference", "launchesNotModelled", "counters")

found = joule("bench", "model.joule", "--random", "--dim", "batch=2", "--energy-window", "5")["measuredPerInference"]
keys(found, "seconds", "joules", "plusMinus", "source", "sensor", "isCalibrated", "windowSeconds", "runs", "watts", "operands", "clockMHz",
     "powerCapWatts", "clockHeldDownBy", "flopsPerJoule", "timesTheFloor")
assert found["source"] == "modelled" and found["sensor"] == "energy counter" and found["operands"] == "random", found
# The board rests while nothing is simulated: how much of the window that is hangs on the machine.
assert 0 < found["watts"] < found["powerCapWatts"] and found["windowSeconds"] >= 5 and found["runs"] > 1, found
assert abs(found["joules"] * found["runs"] - found["watts"] * found["windowSeconds"]) < 1e-6 * found["watts"], found

found = joule("report", "model.joule", "--dim", "batch=4", "--node", "relu")
keys(found, "model", "targets")
keys(found["targets"][0], "target", "launches", "launchesNotModelled", "launchesNotCounted", "device", "total")
launch = found["targets"][0]["launches"][0]
keys(launch, "kernel", "nodes", "family", "flops", "bytes", "counted", "seconds", "joules", "plusMinus", "bound", "source", "joulesByCause")
keys(launch["counted"], "instructions", "fp32", "integer", "special", "l2Bytes", "sharedBytes", "blocks")
assert launch["counted"]["l2Bytes"] == launch["bytes"] == 64 and launch["counted"]["blocks"] == 1, launch
total = found["targets"][0]["total"]
keys(total, *cost)
assert abs(sum(total["joulesByCause"].values()) - total["joules"]) <= 1e-6 * total["joules"], total

found = joule("verify", "model.onnx", "--input", "x=x.npy", "--rtol", "0", "--atol", "0", "--device", "virtual", "--time-limit", "100")
keys(found, "program", "device", "target", "passed", "outputs")
assert found["passed"] and found["outputs"][0]["maxAbsolute"] == 0, found

found = joule("doctor")
keys(found, "drivers", "ptxas")
virtual = next(driver for driver in found["drivers"] if driver["driver"] == "virtual")
keys(virtual["devices"][0], "name", "computeCapability", "multiprocessors", "memoryBytes", "clockHz", "virtual", "open")
keys(joule("explain", "JL0304"), "code", "name", "meaning", "cure")

# An error is JSON, too, wherever it comes from.
for arguments in (["run", "none.onnx"], ["check", "none.onnx"], ["bench", "none.onnx"], ["verify", "none.onnx"], ["report", "none.joule"],
                  ["compile", "none.onnx", "-o", "x.joule"]):
    found = joule(*arguments, status=1)
    keys(found, "error")
    keys(found["error"], "code", "message", "node")
