"""Runs every quick test of a build folder; the last line counts them all."""

import json
import os
import pathlib
import subprocess
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def run_lit(build, name_filter):
    """Lit over all that is under test/, the cases of the GoogleTest programs one by one."""
    results = build / "test" / "results.json"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-c", "from lit.main import main; main()", "-s" if sys.stdout.isatty() else "-q", "--order=lexical"]
    command += ["--timeout=900", f"-j{os.cpu_count()}", "-o", str(results), str(build / "test")]
    if name_filter:
        command += ["--filter", name_filter]
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if not results.exists():
        sys.exit(f"error: lit ended with status {status} and no results")
    codes = [test["code"] for test in json.loads(results.read_text())["tests"] if test["code"] != "EXCLUDED"]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    return passed, len(codes) - passed - skipped, skipped


def main():
    build = pathlib.Path(sys.argv[1])
    passed, failed, skipped = run_lit(build, sys.argv[2] if len(sys.argv) > 2 else None)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
