"""spoil.py FILE NEWER DAMAGED: copies an artifact as one of the next version, and with a changed byte in a plan."""

import struct
import sys
import zipfile
import zlib

source, newer, damaged = sys.argv[1:]
whole = open(source, "rb").read()


def offset_of(name):
    """Where an entry's bytes begin."""
    entry = zipfile.ZipFile(source).getinfo(name)
    name_bytes, extra_bytes = struct.unpack_from("<HH", whole, entry.header_offset + 26)
    return entry.header_offset + 30 + name_bytes + extra_bytes


def with_entry(name, old, new):
    """The artifact with text of one entry replaced by as many bytes, checksums included."""
    entry = zipfile.ZipFile(source).getinfo(name)
    begin = offset_of(name)
    bytes_ = whole[begin : begin + entry.file_size]
    assert bytes_.count(old) == 1 and len(old) == len(new), bytes_
    changed = bytes_.replace(old, new)
    result = whole[:begin] + changed + whole[begin + entry.file_size :]
    return result.replace(struct.pack("<I", entry.CRC), struct.pack("<I", zlib.crc32(changed)))


open(newer, "wb").write(with_entry("manifest.json", b'"version": 1', b'"version": 2'))
at = offset_of("targets/sm_80/plan.pb") + 4
open(damaged, "wb").write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
