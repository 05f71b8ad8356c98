"""Who watches a terminal sees how far long work is; who does not, sees nothing of it."""
# RUN: rm -rf %t && %python %S/Inputs/models.py %t
# RUN: %python %s %t/add.onnx

import os
import pty
import signal
import subprocess
import sys

command = ["joule", "bench", sys.argv[1], "--random", "--dim", "batch=20000", "--runs", "1000000"]


def start(stderr):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)


def end(process):
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 1, process.returncode


main_end, other_end = pty.openpty()
unseen = open(sys.argv[1] + ".stderr", "w+b")
watched, unwatched = start(other_end), start(unseen)
os.close(other_end)
seen = b""
while b"running " not in seen:
    seen += os.read(main_end, 65536)
end(watched)
end(unwatched)
try:
    while piece := os.read(main_end, 65536):
        seen += piece
except OSError:
    pass  # how Linux says that nobody holds the other end any more
assert b" s" in seen, seen
# The line goes before the error is printed.
assert seen.rindex(b"\r\x1b[K") < seen.index(b"joule: error JL0403"), seen
unseen.seek(0)
assert unseen.read().startswith(b"joule: error JL0403")
