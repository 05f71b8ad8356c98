"""Runs every quick test of a build folder; the last line counts them all."""

import json
import os
import pathlib
import subprocess
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}

# Fewer than this, and something other than single tests is wrong: a corpus that vanished, everything folded away.
PASSED_BY_KERNELS = 1550
QUICK_MODELS = ["magika", "light_squeezenet", "light_shufflenet"]


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


def run_logged(name, log, command):
    """Runs a suite that prints a line a test; shows those that failed, keeps the rest in a file."""
    environment = dict(os.environ, PATH=f"{log.parents[1] / 'bin'}{os.pathsep}{os.environ['PATH']}", JOULE_VGPU_CACHE="0")
    run = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    log.write_text(run.stdout + run.stderr)
    lines = run.stdout.splitlines()
    passed, failed, skipped = (sum(f": {status}" in line for line in lines) for status in ("passed", "failed", "skipped"))
    for line in lines:
        if ": failed" in line:
            print(line)
    if run.returncode != 0 and not failed:
        # It broke, or a promise beyond single tests did: that is in its last lines.
        print(*(run.stdout + run.stderr).splitlines()[-5:], sep="\n")
        failed = 1
    print(f"{name}: {passed} passed, {failed} failed, {skipped} skipped; each is in {log}", flush=True)
    return passed, failed, skipped


def run_onnx_tests(build):
    """The official tests of ONNX's operators; what is known to fail is in a list, which must be exact."""
    corpus = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    expected = ROOT / "test" / "tools" / "joule-onnx-tests" / "expected-failures.txt"
    command = [build / "bin" / "joule-onnx-tests", corpus, "--xfail", expected, "--floor", PASSED_BY_KERNELS]
    counts = run_logged("ONNX operators", build / "test" / "onnx-operators.log", command)
    if counts[1]:
        print("  a test that has begun to pass leaves the list: scripts/expected-failures.py says how to write it anew")
    return counts


def run_models(build):
    """Whole models against ONNX Runtime: the quick ones that the Python environment holds anyway."""
    command = [sys.executable, ROOT / "test" / "models" / "check.py", build, *QUICK_MODELS]
    return run_logged("models", build / "test" / "models.log", command)


def run_random_tests(build, *arguments):
    """Programs and models made at random, others every day; the log's first line has the seed that repeats them."""
    command = [sys.executable, ROOT / "test" / "random" / "random-tests.py", build, *arguments]
    log = build / "test" / "random-tests.log"
    counts = run_logged("random programs and models", log, command)
    if counts[1]:
        # The seed, what failed, and the commands that repeat it.
        print(*(line for line in log.read_text().splitlines() if ": passed" not in line), sep="\n")
    return counts


def finish(suites):
    """The line that counts everything, and the exit code."""
    passed, failed, skipped = (sum(counts) for counts in zip(*suites))
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0


def main():
    build = pathlib.Path(sys.argv[1])
    name_filter = sys.argv[2] if len(sys.argv) > 2 else None
    suites = [run_lit(build, name_filter)]
    if not name_filter:
        suites += [run_onnx_tests(build), run_models(build), run_random_tests(build)]
    return finish(suites)


if __name__ == "__main__":
    sys.exit(main())
