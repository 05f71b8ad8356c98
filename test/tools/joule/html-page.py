"""joule report --html writes a page: whole, self-contained, with every launch and node, and with the sums of --json."""
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import html.parser
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
import html_models

os.chdir(sys.argv[1])
html_models.write("m.onnx")
subprocess.run(["joule", "compile", "m.onnx", "-o", "m.joule", "--target", "a100,h100"], check=True, stdout=subprocess.DEVNULL)
run = subprocess.run(["joule", "report", "m.joule", "--dim", "batch=64", "--html", "m.html", "--json"], check=True, capture_output=True)
report = json.loads(run.stdout)
EMPTY = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """Collects cells and counts what is drawn; every element must be closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.circles, self.text = [], [], 0, ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img", "iframe"), tag
        assert not any(name in ("src", "href") or name.startswith("on") for name, _ in attributes), attributes
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.circles += tag == "circle"

    def handle_endtag(self, tag):
        assert tag in EMPTY or self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


page = Page(pathlib.Path("m.html").read_text())
for target in report["targets"]:
    assert f"{target['target']}: {len(target['launches'])} launches" in page.text
    for launch in target["launches"]:
        nodes = ", ".join(launch["nodes"])
        assert [row for row in page.rows if len(row) == 10 and row[1] == nodes and row[2].startswith(launch["kernel"])], nodes
        assert abs(sum(launch["joulesByCause"].values()) / launch["joules"] - 1) < 1e-9
assert any(html_models.HOSTILE in cell for row in page.rows for cell in row)
launches = [row for row in page.rows if len(row) == 10 and row[0] != "#"]
assert len(launches) == sum(len(target["launches"]) for target in report["targets"])
for begin in (0, len(launches) // 2):  # each target's launches have all of its joules, the dearest first
    shares = [float(row[7].split()[0]) for row in launches[begin:begin + len(launches) // 2]]
    assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 100) < 0.1 * len(shares), shares
assert page.circles > len(launches), page.circles
