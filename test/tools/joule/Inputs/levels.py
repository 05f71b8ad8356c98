"""levels.py WHOLE.joule MODULE...: compiles each dumped module for an H100; the plan must be that of the whole compilation."""

import subprocess
import sys
import zipfile


def plan_of(path):
    return zipfile.ZipFile(path).read("targets/sm_90/plan.pb")


wanted = plan_of(sys.argv[1])
for module in sys.argv[2:]:
    subprocess.run(["joule", "compile", "--start-from", module + ".mlir", "-o", "from.joule", "--target", "h100"], check=True)
    assert plan_of("from.joule") == wanted, module
