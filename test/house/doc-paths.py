"""Every path of the repository that a page names exists."""
# RUN: %python %s

import re

import tree

TOP = ("bench", "cmake", "dialects", "docs", "examples", "include", "lib", "passes", "scripts", "test", "tools")
NAMED = re.compile(r"(?<![\w/.~-])((?:%s)/[\w./+-]*[\w/+-])" % "|".join(TOP))
LINKED = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def complaints():
    for file in tree.files(".md"):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            where = f"{tree.name_of(file)}:{number}"
            for path in NAMED.findall(line):
                # A path with a pattern in it ends before the pattern: test/dialects/<Dialect> names test/dialects/.
                if not (tree.ROOT / path).exists():
                    yield f"{where}: names {path}, which does not exist"
            for link in LINKED.findall(line):
                if "://" not in link and not (file.parent / link).exists():
                    yield f"{where}: links to {link}, which does not exist"


tree.finish(list(complaints()))
