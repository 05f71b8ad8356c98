"""entries.py FILE.joule: how each entry lies in the file, by Python's zipfile; the check of everything's checksum comes first."""

import struct
import sys
import zipfile

file = open(sys.argv[1], "rb")
archive = zipfile.ZipFile(file)
assert archive.testzip() is None
for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
    assert entry.date_time == (1980, 1, 1, 0, 0, 0) and entry.compress_type == zipfile.ZIP_STORED, entry
    file.seek(entry.header_offset + 26)
    name_bytes, extra_bytes = struct.unpack("<HH", file.read(4))
    begin = entry.header_offset + 30 + name_bytes + extra_bytes
    print(f"{entry.filename}: stored, begins at {'a multiple of 4096' if begin % 4096 == 0 else begin}")
