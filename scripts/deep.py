"""Runs every quick test, then what is slow; the last line counts them all.

The slow part: kernels in the virtual GPU's check mode; the unit tests of what is free of MLIR, built by GCC and with the sanitizers; fuzzers, and models damaged in
ways that are new every day; everything below fails as a test does.
"""

import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys

import test

# Seconds for each fuzzer, and what it starts from: see write_seeds.
FUZZERS = {"FuzzImport": 60, "FuzzArtifact": 60, "FuzzPtx": 60, "FuzzTensorFile": 60, "FuzzDriver": 60}
DAMAGES = 500
RANDOM_PTX = 1500
TODAY = int(datetime.date.today().strftime("%Y%m%d"))
MODELS = test.ROOT / "test" / "lib" / "Compiler"


def run_unit_tests(build, preset):
    """The unit tests of another build: as a suite of its own, in whose folder they lie."""
    print(f"unit tests with {preset}:", flush=True)
    return test.run_lit(build.with_name(f"{build.name}-{preset}"), "^unit ::")


def run_random_ptx(build):
    """Random kernels on the virtual GPU's interpreter and as compiled code, others every day; a share to each core."""
    program = build / "test" / "unit" / "VirtualGpuRandomPtxTest"
    shares, count, outcomes = os.cpu_count(), RANDOM_PTX // os.cpu_count(), []
    first = TODAY % 100000 * RANDOM_PTX
    environments = [dict(os.environ, JOULE_RANDOM_PTX=str(count), JOULE_RANDOM_PTX_FIRST=str(first + share * count)) for share in range(shares)]
    runs = [subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=each) for each in environments]
    for share, run in enumerate(runs):
        output = run.communicate()[0]
        print(f"{count} kernels from {first + share * count} on: {'passed' if run.returncode == 0 else 'failed'}", flush=True)
        if run.returncode != 0:
            print(output[-6000:])
        outcomes.append((int(run.returncode == 0), int(run.returncode != 0), 0))
    return outcomes


def write_seeds(build, seeds):
    """Whole files of each kind, from which the fuzzers go on."""
    sys.path.insert(0, str(MODELS / "Inputs"))
    import hostile_models

    shutil.rmtree(seeds, ignore_errors=True)
    for name in FUZZERS:
        (seeds / name).mkdir(parents=True)
    for make in (hostile_models.vision, hostile_models.control):
        model = seeds / "FuzzImport" / f"{make.__name__}.onnx"
        model.write_bytes(make().SerializeToString())
        artifact = seeds / "FuzzArtifact" / f"{make.__name__}.joule"
        command = [build / "bin" / "joule", "compile", model, "-o", artifact, "--dump", seeds / "dump"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for ptx in (seeds / "dump").glob("*.ptx"):
        ptx.rename(seeds / "FuzzPtx" / ptx.name)
    (seeds / "FuzzDriver" / "zeros").write_bytes(bytes(64))
    for tensors, kind in hostile_models.tensor_files():
        (seeds / "FuzzTensorFile" / f"seed{kind}").write_bytes(bytes([kind]) + tensors)


def run_fuzzer(build, seeds, name, seconds):
    """One fuzzer for a while; what it finds stays in its folder, as a test that somebody is to write."""
    folder = build.with_name(f"{build.name}-asan") / "fuzz" / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [folder.parents[1] / "bin" / name, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096",
               f"-seed={TODAY}", "-max_len=20000", f"-artifact_prefix={folder}/", seeds / name]
    log = folder / "log.txt"
    with log.open("w") as output:
        status = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
    lines = [line for line in log.read_text(errors="replace").splitlines() if re.match(r"#\d", line)]
    print(f"{name}: {'passed' if status == 0 else 'failed'} ({lines[-1] if lines else 'no run'}); its log: {log}", flush=True)
    return (1, 0, 0) if status == 0 else (0, 1, 0)


def run_damages(build, name):
    """The quick test of damaged files, with more of them and others each day."""
    folder = build / "test" / "damaged" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = dict(os.environ, PATH=f"{build / 'bin'}{os.pathsep}{os.environ['PATH']}")
    command = [sys.executable, MODELS / f"{name}.py", folder, str(DAMAGES), str(TODAY)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    print(f"{name} of {TODAY}: {'passed' if run.returncode == 0 else 'failed'}", flush=True)
    if run.returncode != 0:
        print(*(run.stdout + run.stderr).splitlines()[-10:], sep="\n")
    return (1, 0, 0) if run.returncode == 0 else (0, 1, 0)


def run_checked(build):
    """The quick tests that run kernels once more, in the virtual GPU's check mode: nothing may be found.

    Its lines of JSON are kept; the environment reaches every process that the suites start.
    """
    report = build / "test" / "check-mode.jsonl"
    report.unlink(missing_ok=True)
    os.environ.update(JOULE_VGPU_CHECK="1", JOULE_VGPU_REPORT=str(report))
    try:
        suites = [test.run_onnx_tests(build), test.run_models(build)]
    finally:
        for name in ("JOULE_VGPU_CHECK", "JOULE_VGPU_REPORT"):
            del os.environ[name]
    found = report.read_text().splitlines() if report.exists() else []
    print(f"check mode: {len(found)} findings{''.join(chr(10) + line for line in found[:20])}", flush=True)
    return [*suites, (1, 0, 0) if not found else (0, 1, 0)]


def main():
    build = pathlib.Path(sys.argv[1])
    suites = [test.run_lit(build, None), test.run_onnx_tests(build), test.run_models(build)]
    suites += [test.run_random_tests(build, "--seed", f"deep {TODAY}", "--programs", "1500", "--models", "600")]
    suites += run_random_ptx(build)
    suites += run_checked(build)
    suites += [run_unit_tests(build, preset) for preset in ("gcc", "asan", "tsan")]
    suites += [run_damages(build, name) for name in ("damaged-models", "damaged-artifacts")]
    seeds = build / "test" / "fuzz-seeds"
    write_seeds(build, seeds)
    suites += [run_fuzzer(build, seeds, name, seconds) for name, seconds in FUZZERS.items()]
    return test.finish(suites)


if __name__ == "__main__":
    sys.exit(main())
