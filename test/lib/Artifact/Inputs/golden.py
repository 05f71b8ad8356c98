"""Every version of the format up to this Joule's has its golden file, and no file is of another version."""

import json
import pathlib
import re
import zipfile

test = pathlib.Path(__file__).resolve().parents[1]
header = (test.parents[2] / "lib" / "Artifact" / "Manifest.h").read_text()
newest = int(re.search(r"artifactVersion = (\d+);", header).group(1))
files = sorted((test / "golden").glob("*.joule"))
assert [file.stem for file in files] == [str(version) for version in range(1, newest + 1)], files
for file in files:
    manifest = json.loads(zipfile.ZipFile(file).read("manifest.json"))
    assert manifest["version"] == int(file.stem), (file, manifest)
