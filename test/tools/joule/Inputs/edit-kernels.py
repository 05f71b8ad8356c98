"""edit-kernels.py FROM TO OLD NEW: an artifact whose kernels have OLD replaced by NEW in their PTX."""

import sys
import zipfile

source, target, old, new = sys.argv[1:]
changed = 0
with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
    for entry in before.infolist():
        data = before.read(entry)
        if entry.filename.endswith(".ptx"):
            changed += data.count(old.encode())
            data = data.replace(old.encode(), new.encode())
        after.writestr(entry, data)
sys.exit(0 if changed else f"no kernel has {old!r}")
