"""interface.py LIBRARY FOLDER: compiles layer.onnx and runs it, through ctypes, in a process that has another LLVM."""

import ctypes
import os
import pathlib
import sys

import numpy

# The worst neighbour: its symbols come first in every search.
for neighbour in ("libLLVM.so", "libMLIR.so"):
    ctypes.CDLL(str(pathlib.Path(os.environ["JOULE_LLVM_BIN"]).parent / "lib" / neighbour), ctypes.RTLD_GLOBAL)
joule = ctypes.CDLL(sys.argv[1])
folder = sys.argv[2]
Handle = ctypes.c_void_p


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int32), ("memory", ctypes.c_int32), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


joule.joule_error_message.restype = ctypes.c_char_p
joule.joule_outputs_tensors.restype = ctypes.POINTER(Tensor)


def call(name, *arguments):
    """Calls a function that gives an error or null."""
    function = getattr(joule, name)
    function.restype = Handle
    error = function(*arguments)
    if error:
        error = Handle(error)
        text = f"JL{joule.joule_error_code(error):04}: {joule.joule_error_message(error).decode()}"
        joule.joule_error_free(error)
        raise RuntimeError(text)


def make(name, *arguments):
    handle = Handle()
    call(name, *arguments, ctypes.byref(handle))
    return handle


def run(session, x):
    shape = (ctypes.c_int64 * x.ndim)(*x.shape)
    tensor = Tensor(b"x", 1, 0, x.ndim, shape, x.ctypes.data, x.nbytes)
    outputs = make("joule_session_run", session, ctypes.byref(tensor), ctypes.c_size_t(1), None)
    count = ctypes.c_size_t()
    for row in joule.joule_outputs_tensors(outputs, ctypes.byref(count))[: count.value]:
        values = numpy.ctypeslib.as_array(ctypes.cast(row.data, ctypes.POINTER(ctypes.c_float)), (row.bytes // 4,))
        print(row.name.decode(), f"{list(row.shape[:row.rank])}: {values.tolist()}")
    joule.joule_outputs_free(outputs)


path = f"{folder}/layer.joule".encode()
call("joule_compile", f"{folder}/layer.onnx".encode(), path, None)
artifact, device = make("joule_artifact_open", path), make("joule_device_open", b"virtual")
session = make("joule_session_create", artifact, device, None)
run(session, numpy.arange(128, dtype="f4").reshape(2, 64))
try:
    run(session, numpy.zeros([2, 4], "f4"))
except RuntimeError as error:
    print(error)
for kind, handle in (("session", session), ("device", device), ("artifact", artifact)):
    getattr(joule, f"joule_{kind}_free")(handle)
