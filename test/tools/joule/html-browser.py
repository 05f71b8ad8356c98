"""A browser shows the page of joule report --html in light and in dark: legible, nothing beyond its frame, nothing failing."""
# REQUIRES: chromium
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
import html_models

os.chdir(sys.argv[1])
html_models.write("m.onnx")
subprocess.run(["joule", "compile", "m.onnx", "-o", "m.joule", "--target", "a100,h100"], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["joule", "report", "m.joule", "--dim", "batch=64", "--html", "m.html"], check=True, stdout=subprocess.DEVNULL)

# What the page itself cannot say: added to a copy.
PROBE = """<script>
const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(v => v / 255)
  .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) }
const paper = getComputedStyle(document.body).backgroundColor
const problems = [], charts = document.querySelectorAll('svg').length
for (const e of document.querySelectorAll("p, h1, h2, h3, td, th, .soft"))
  if (contrast(getComputedStyle(e).color, paper) < 4.5) problems.push("hard to read: " + e.textContent)
for (const e of document.querySelectorAll("svg text")) {
  if (contrast(getComputedStyle(e).fill, paper) < 4.5) problems.push("hard to read: " + e.textContent)
  const [box, frame] = [e.getBoundingClientRect(), e.ownerSVGElement.getBoundingClientRect()]
  if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) problems.push("cut off: " + e.textContent)
}
for (const e of document.querySelectorAll("svg circle")) {
  const [box, frame] = [e.getBoundingClientRect(), e.ownerSVGElement.getBoundingClientRect()]
  if (!(box.width > 0) || box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom)
    problems.push("outside: " + e.outerHTML)
}
if (document.documentElement.scrollWidth > innerWidth) problems.push("wider than the window")
const dark = light(paper) < 0.1
document.body.innerHTML = ""
document.body.append("RESULT" + JSON.stringify({dark, charts, problems}) + "END")
</script>
"""
pathlib.Path("probe.html").write_text(pathlib.Path("m.html").read_text().replace("</body>", PROBE + "</body>"))

for scheme, number in (("dark", 0), ("light", 1)):
    for width in (1200, 420):
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={os.getcwd()}/{scheme}{width}",
                   f"--blink-settings=preferredColorScheme={number}", f"--window-size={width},900", "--dump-dom",
                   pathlib.Path("probe.html").resolve().as_uri()]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
        found = re.search("RESULT(.*)END", run.stdout)
        assert found, (run.stdout[-2000:], run.stderr[-2000:])
        result = json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        assert result == {"dark": scheme == "dark", "charts": 4, "problems": []}, (scheme, width, result)
