"""The kind of test that lit finds under test/: a module of its own, since lit hands tests to its workers by name."""

import os
import pathlib
import shlex

import lit.formats
import lit.TestRunner


class Files(lit.formats.ShTest):
    """Shell tests whose paths may hold spaces. Pages and scripts without a RUN line are no tests; others must have one."""

    def getTestsForPath(self, suite, path, lit_config, local_config):
        for test in super().getTestsForPath(suite, path, lit_config, local_config):
            file = pathlib.Path(test.getSourcePath())
            if file.suffix not in (".md", ".py") or "RUN:" in file.read_text():
                yield test

    def execute(self, test, lit_config):
        source, (_, temporary) = test.getSourcePath(), lit.TestRunner.getTempPaths(test)
        quoted = {"%s": source, "%S": os.path.dirname(source), "%t": temporary + ".tmp"}
        # Lit puts paths into commands bare; here, a path that the shell would split is quoted.
        paths = [(name + r"\b", shlex.quote(path)) for name, path in quoted.items()]
        return lit.TestRunner.executeShTest(test, lit_config, False, paths)
