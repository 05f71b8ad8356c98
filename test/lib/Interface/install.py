"""An installed tree, moved elsewhere, is all that a program outside needs; and its libraries export only what is promised."""
# RUN: rm -rf %t && mkdir -p %t
# RUN: %python %s %build %t

import os
import pathlib
import re
import subprocess
import sys

from onnx import TensorProto, helper, numpy_helper, save
import numpy

build, temporary = map(pathlib.Path, sys.argv[1:])
VERSION = re.search(r'"(.*)"', (pathlib.Path(__file__).parents[3] / "include" / "joule" / "Version.h").read_text()).group(1)
outside = pathlib.Path(__file__).parent / "Inputs" / "outside"
os.environ["CMAKE_GENERATOR"] = "Ninja"  # there need not be a make


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def install():
    """Installs for /opt/joule, below another root, and moves the tree to a path with a space."""
    run("cmake", "--install", build, "--strip", "--prefix", "/opt/joule", env=dict(os.environ, DESTDIR=str(temporary / "root")))
    moved = temporary / "moved here"
    (temporary / "root" / "opt" / "joule").rename(moved)
    return moved


def write_model(path):
    """y = 2 x + 1 for any number of elements."""
    nodes = [helper.make_node("Mul", ["x", "two"], ["twice"]), helper.make_node("Add", ["twice", "one"], ["y"])]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"])
    weights = [numpy_helper.from_array(numpy.array([number], "f4"), name) for name, number in (("one", 1), ("two", 2))]
    save(helper.make_model(helper.make_graph(nodes, "line", [value("x")], [value("y")], weights), opset_imports=[helper.make_opsetid("", 17)]), path)


def check_programs(tree):
    model, artifact = temporary / "line.onnx", temporary / "line.joule"
    write_model(model)
    run("cmake", "-S", outside, "-B", temporary / "build", f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_CXX_COMPILER=g++")
    run("cmake", "--build", temporary / "build")
    assert run(temporary / "build" / "compile-and-run", model, artifact) == "3 5 7\n"
    assert run(temporary / "build" / "only-run", artifact) == "[2]: 21 41\n"
    # Without CMake, and with the other compiler.
    run("clang++-19", "-std=c++17", outside / "only-run.cpp", f"-I{tree}/include", f"-L{tree}/lib", "-ljoule-runtime",
        f"-Wl,-rpath,{tree}/lib", "-o", temporary / "plain")
    assert run(temporary / "plain", artifact) == "[2]: 21 41\n"
    assert "y: float32 [2]" in run(tree / "bin" / "joule", "run", artifact, "--random", "--dim", "n=2")


def check_headers(tree):
    """Each stands alone, under every warning."""
    headers = sorted((tree / "include" / "joule").glob("*.h"))
    assert len(headers) >= 7, headers
    for header in headers:
        text = f"#include <joule/{header.name}>\n"
        run("clang++-19", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{tree}/include", "-xc++", "-", input=text)
        for name in re.findall(r"#include [<\"]([^>\"]+)", header.read_text()):
            assert name.startswith("joule/") or re.fullmatch(r"[a-z]+(\.h)?", name), (header, name)


def check_libraries(tree):
    promised = {"libjoule-runtime.so": r"joule::|joule_", "libjoule-compiler.so": r"joule::(compile|check)|joule_(compile|check)",
                "libjoule-vgpu.so": r"joule_vgpu_get_proc_address$"}
    for name, pattern in promised.items():
        lines = run("nm", "-DC", "--defined-only", tree / "lib" / name).splitlines()
        symbols = [line.split(" ", 2)[2] for line in lines]
        assert symbols, name
        for symbol in symbols:
            assert re.match(pattern, symbol) and "::Impl::" not in symbol, (name, symbol)
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", tree / "lib" / name))
        assert not any("LLVM" in library or "MLIR" in library for library in needed), (name, needed)
    for library in (tree / "lib").glob("*.so"):
        paths = re.findall(r"(?:RUNPATH|RPATH).*\[(.*)\]", run("readelf", "-d", library))
        assert all(path == "$ORIGIN" for path in paths), (library, paths)


def check_runtime_component():
    """What only runs artifacts is installed alone, and is small."""
    tree = temporary / "runtime"
    run("cmake", "--install", build, "--strip", "--prefix", tree, "--component", "Runtime")
    files = [file for file in tree.rglob("*") if file.is_file() and not file.is_symlink()]
    size = {file.name: file.stat().st_size for file in files}
    assert size.pop("libjoule-vgpu.so") < 60_000_000, files  # it compiles kernels for the CPU: LLVM lies within
    assert sum(size.values()) < 10_000_000, files
    assert {file.name for file in files if ".so" in file.name} == {f"libjoule-runtime.so.{VERSION}", "libjoule-vgpu.so", "libcuda.so.1", "libnvidia-ml.so.1"}, files
    assert not (tree / "bin").exists() and (tree / "share" / "doc" / "joule" / "LICENSE").exists()
    configure = ["cmake", "-S", outside, "-B", temporary / "no-compiler", f"-DCMAKE_PREFIX_PATH={tree}"]
    refused = subprocess.run(list(map(str, configure)), capture_output=True, text=True)
    assert refused.returncode == 1 and "the installed Joule has no component Joule" in refused.stderr, refused


def main():
    check_runtime_component()
    tree = install()
    for name in ("bin/joule-opt", "lib/libjoule-vgpu.so", "lib/vgpu/libcuda.so.1", "share/doc/joule/LICENSE",
                 "share/doc/joule/docs/LifeOfAModel.md", "lib/cmake/Joule/JouleConfigVersion.cmake"):
        assert (tree / name).exists(), name
    check_libraries(tree)
    check_headers(tree)
    check_programs(tree)


main()
