"""Ctrl-C ends the run in progress with its own error, at once."""
# RUN: %python %S/Inputs/models.py %t
# RUN: %python %s %t/add.onnx

import signal
import subprocess
import sys
import time

command = ["joule", "bench", sys.argv[1], "--random", "--dim", "batch=100000", "--runs", "1000000"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
# Its runs have begun soon after it has mapped the artifact, whose name is gone by then.
while "model.joule (deleted)" not in open(f"/proc/{process.pid}/maps").read():
    time.sleep(0.05)
    assert process.poll() is None, process.communicate()
time.sleep(1)
process.send_signal(signal.SIGINT)
output, errors = process.communicate(timeout=120)
assert process.returncode == 1 and "joule: error JL0403: " in errors, (process.returncode, output, errors)
