# How lit runs the tests under test/ and the pages under docs/.
import ctypes
import os
import shlex
import shutil
import sys

sys.path.insert(0, config.joule_source + "/test")
import joule_lit


def has_cuda():
    """True where a driver loads and sees a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


config.name = "joule"
config.test_format = joule_lit.Files()
config.suffixes = [".mlir", ".md", ".onnxtxt", ".ptx", ".py", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.local.cfg", "joule_lit.py", "CMakeLists.txt"]
config.test_source_root = config.joule_source + "/test"
config.test_exec_root = config.joule_build + "/test"

# Programs are found by their plain names: ours, then LLVM's (FileCheck, not, split-file), then the CUDA toolkit's.
folders = [config.joule_build + "/bin", config.llvm_bin]
path = os.pathsep.join(folders + [os.environ["PATH"], "/usr/local/cuda/bin"])
config.environment["PATH"] = path
config.environment["JOULE_LLVM_BIN"] = config.llvm_bin
config.environment["JOULE_VGPU_CACHE"] = "0"  # what this user's earlier runs left must not matter
for name in ("HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%python", shlex.quote(sys.executable)),
    ("%root", shlex.quote(config.joule_source)),
    ("%build", shlex.quote(config.joule_build)),
]

config.available_features |= {tool for tool in ("ptxas", "nvcc", "chromium") if shutil.which(tool, path=path)}
if has_cuda():
    config.available_features.add("cuda")
