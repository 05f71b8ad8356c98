"""Files of tensors that are not what they should be: one error each, which names the file."""
# RUN: rm -rf %t && %python %S/Inputs/models.py %t
# RUN: %python %s %t

import io
import os
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

import numpy
from onnx import TensorProto, numpy_helper

os.chdir(sys.argv[1])
GOOD = numpy.array([[1, 2], [3, 4]], "f4")
READ = "JL0109: cannot read a tensor from \"{}"


def ends(code, message, *arguments):
    run = subprocess.run(["joule", "run", "add.onnx", "--input", "z=z.npy", *arguments], capture_output=True, text=True)
    assert run.returncode == (2 if code == "usage" else 1), (arguments, run)
    begin = "joule: " if code == "usage" else f"joule: error {code}: "
    assert run.stderr.startswith(begin) and message in run.stderr, (arguments, message, run.stderr)
    assert code == "usage" or run.stderr.count("\n") == 1, run.stderr


def refuses(name, data, message):
    pathlib.Path(name).write_bytes(data)
    ends("JL0109", f"cannot read a tensor from \"{name}", "--input", f"x={name}")
    ends("JL0109", message, "--input", f"x={name}")


def npy(header, data=GOOD.tobytes(), version=1):
    text = header.encode("latin-1") if isinstance(header, str) else header
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def described(descr="'<f4'", order="False", shape="(2, 2)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


# .npy
refuses("empty.npy", b"", "it is no .npy file")
refuses("other.npy", b"PK\x03\x04" + bytes(20), "it is no .npy file")
refuses("cut.npy", npy(described())[:30], "it is truncated")
refuses("long.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(20), "it is truncated")
refuses("short.npy", npy(described())[:-1], "it holds 15 bytes")
refuses("more.npy", npy(described()) + b"x", "it holds 17 bytes")
refuses("huge.npy", npy(described(shape=f"({1 << 59}, 2)")), "it holds 16 bytes")
refuses("overflow.npy", npy(described(shape=f"({10 ** 17}, {10 ** 17})")), "it holds 16 bytes")
refuses("digits.npy", npy(described(shape="(99999999999999999999,)")), "malformed")
refuses("negative.npy", npy(described(shape="(-1, 2)")), "malformed")
refuses("object.npy", npy(described(descr="'|O'")), "NumPy's type \"|O\"")
refuses("big-endian.npy", npy(described(descr="'>f4'")), "NumPy's type \">f4\"")
refuses("fields.npy", npy(described(descr="[('a', '<f4')]")), "malformed")
refuses("open.npy", npy("{'descr': '<f4"), "malformed")
refuses("bare.npy", npy("{}"), "lacks the shape")
refuses("text.npy", npy("import os"), "no dictionary")
refuses("key.npy", npy("{'descr': '<f4', 'shape': (2, 2), 'evil': 1}"), "malformed")
refuses("nested.npy", npy("{" * 60000), "malformed")
refuses("zeros.npy", npy(bytes(100)), "no dictionary")
for name, array in (("fortran.npy", numpy.asfortranarray(GOOD)), ("v2.npy", None)):
    if array is None:
        pathlib.Path(name).write_bytes(npy(described(), version=2))
    else:
        numpy.save(name, array)
    run = subprocess.run(["joule", "run", "add.onnx", "--input", "z=z.npy", "--input", f"x={name}"], capture_output=True, text=True)
    assert run.returncode == 0 and "[1.5, 2.25, 3.5, 4.25]" in run.stdout, (name, run)

# .npz
whole = pathlib.Path("both.npz").read_bytes()
for cut in range(0, len(whole), max(len(whole) // 10, 1)):
    refuses("cut.npz", whole[:cut], "it is no .npz file")
at = whole.index(b"x.npy") + 140
refuses("flipped.npz", whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1:], "the array \"x.npy\" is damaged")
buffer = io.BytesIO()
numpy.savez_compressed(buffer, x=GOOD)
refuses("compressed.npz", buffer.getvalue(), "a compressed one, which Joule does not read")
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w") as archive:
    archive.writestr("x.npy", b"no array")
refuses("inside.npz", buffer.getvalue(), "it is no .npy file")
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w") as archive:
    archive.writestr("../x.npy", npy(described()))
refuses("escape.npz", buffer.getvalue(), "no .npz file")
numpy.savez("names.npz", a=GOOD, b=GOOD)
ends("JL0301", "\"names.npz\" has no array \"x\"", "--input", "x=names.npz")
ends("JL0302", "the model has no input \"a\"", "--input", "names.npz")

# .pb
proto = numpy_helper.from_array(GOOD)
data = proto.SerializeToString()
refuses("cut.pb", data[:-1], "it holds no TensorProto")
refuses("text.pb", b"not a tensor at all", "it holds no TensorProto")
refuses("empty.pb", b"", "of type undefined")


def changed(**fields):
    made = TensorProto()
    made.CopyFrom(proto)
    for name, content in fields.items():
        made.ClearField(name)
        getattr(made, name).extend(content) if name == "dims" else setattr(made, name, content)
    return made.SerializeToString()


refuses("dims.pb", changed(dims=[1 << 62, 4]), "it holds 16 bytes")
refuses("minus.pb", changed(dims=[-2, -2]), "it holds 16 bytes")
refuses("type.pb", changed(data_type=99), "of type undefined")
refuses("minus-type.pb", changed(data_type=-1), "of type undefined")
refuses("string.pb", changed(data_type=TensorProto.STRING), "of type string")
refuses("external.pb", changed(data_location=TensorProto.EXTERNAL), "lie in another file")
refuses("few.pb", changed(raw_data=b"1234"), "it holds 4 bytes")

# Types, shapes, names.
numpy.save("double.npy", GOOD.astype("f8"))
numpy.save("rank.npy", GOOD.reshape(4))
numpy.save("rows.npy", numpy.zeros((3, 2), "f4"))
ends("JL0303", "input \"x\" is float64, the model wants float32", "--input", "x=double.npy")
ends("JL0304", "input \"x\" has shape [4], the model wants [batch, 2]", "--input", "x=rank.npy")
ends("JL0304", "[batch, 2]", "--input", "x=wide.npy")
ends("JL0304", "makes batch 3", "--input", "x=rows.npy")
ends("JL0302", "the model has no input \"w\"", "--input", "w=wide.npy")
ends("JL0101", "cannot read \"absent.pb\"", "--input", "x=absent.pb")
os.mkdir("folder.npy")
os.mkdir("folder.pb")
os.mkdir("folder.npz")
os.symlink("/dev/zero", "endless.npy")
for name in ("folder.npy", "folder.pb", "folder.npz", "endless.npy"):
    ends("JL0101", f"\"{name}\"", "--input", f"x={name}")
for name in ("/dev/zero", "."):
    run = subprocess.run(["joule", "check", name], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr.startswith(f"joule: error JL0501: \"{name}\": this is "), run

# Sizes that cannot be.
run = subprocess.run(["joule", "run", "model.onnx", "--random", "--dim", f"batch={10 ** 15}"], capture_output=True, text=True)
assert run.returncode == 1 and run.stderr.startswith("joule: error JL0902: ") and "memory" in run.stderr, run

# Command lines.
for arguments, message in ((["--dim", "batch"], "is not NAME=N"), (["--dim", "=3"], "is not NAME=N"),
                           (["--dim", "batch=-1"], "is not NAME=N"), (["--dim", "batch=1e3"], "is not NAME=N"),
                           (["--dim", "batch=99999999999999999999"], "is not NAME=N"),
                           (["--dim", "batch=1", "--dim", "batch=2"], "is given twice"),
                           (["--input", "x"], "neither NAME=SOURCE"), (["--input", "x="], "neither random nor"),
                           (["--input", "x=a.txt"], "neither random nor"), (["--input", "x=random:1"], "is not random:LOW:HIGH"),
                           (["--input", "x=random:nan:nan"], "is not random:LOW:HIGH"),
                           (["--input", "x=random:2:1"], "is not random:LOW:HIGH"),
                           (["--input", "x=random", "--input", "x=random"], "is given twice"),
                           (["--time-limit", "-1"], "--time-limit"), (["--time-limit", "soon"], "--time-limit"),
                           (["--seed", "-1"], "--seed"), (["--no-such-flag"], "--no-such-flag"),
                           (["--expect", "x", "--output", "y"], "--expect"), (["extra"], "extra"),
                           (["--rtol", "1"], "--rtol"), (["--" + "x" * 100000], "x" * 100)):
    ends("usage", message, *arguments)
for command in ([], ["no-such-command"], ["run"], ["compile", "add.onnx"], ["explain", "JL9999"], ["\xff"]):
    run = subprocess.run(["joule", *command], capture_output=True, text=True, errors="replace")
    assert run.returncode in (1, 2) and run.stderr.startswith("joule: "), (command, run)
