"""What the house checks share: the files of the repository, its records of ops and passes, and how a check ends."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLVM_BIN = pathlib.Path(os.environ.get("JOULE_LLVM_BIN", "/usr/lib/llvm-19/bin"))
FOLDERS = ["bench", "cmake", "dialects", "docs", "examples", "include", "lib", "passes", "scripts", "test", "tools"]


def files(*suffixes, under=FOLDERS):
    """Every source file with one of the suffixes, in a stable order."""
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CMakeLists.txt", "bootstrap")]
    for folder in under:
        for path, folders, names in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name != "__pycache__"]
            found += [pathlib.Path(path) / name for name in names]
    return sorted(file for file in found if file.exists() and (not suffixes or file.suffix in suffixes))


def name_of(file):
    return file.relative_to(ROOT).as_posix()


def records(td):
    """What TableGen makes of a file: name → record, those that are instances of `kind` found by `instances`."""
    include = LLVM_BIN.parent / "include"
    command = [LLVM_BIN / "llvm-tblgen", "--dump-json", "-I", include, "-I", ROOT, td]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def instances(all_records, kind):
    return [all_records[name] for name in all_records["!instanceof"].get(kind, [])]


def ops():
    """(file, dialect, mnemonic, record) of every op, each op once, where its own dialect's folder defines it."""
    seen = set()
    for td in files(".td", under=["dialects"]):
        everything = records(td)
        for record in instances(everything, "Op"):
            dialect = everything[record["opDialect"]["def"]]["name"]
            key = (dialect, record["opName"])
            if dialect == td.parent.name.lower() and key not in seen:
                seen.add(key)
                yield td, dialect, record["opName"], record


def passes():
    """(file, flag, record) of every pass."""
    for td in files(".td", under=["passes"]):
        for record in instances(records(td), "PassBase"):
            yield td, record["argument"], record


def examples(description):
    """The text of each block of IR in a description, without its indent."""
    blocks = re.findall(r"^([ \t]*)```mlir\n(.*?)^\1```", description, re.S | re.M)
    return [re.sub(rf"^{indent}", "", text, flags=re.M) for indent, text in blocks]


def finish(complaints):
    """Prints what is wrong and ends the check: well where nothing is."""
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
