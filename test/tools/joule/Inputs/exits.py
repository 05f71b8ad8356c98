"""exits.py CODE COMMAND...: runs a command and checks what it returns to the shell; its output passes through."""

import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
got = subprocess.run(command).returncode
if got != wanted:
    sys.exit(f"exit code {got} instead of {wanted}: {' '.join(command)}")
