"""Every example in an op's documentation parses and verifies, whatever the types of the values that it does not define."""
# RUN: %python %s

import re
import subprocess

import tree

# An example of a use of a symbol stands without the symbol.
WITHOUT_SYMBOL = re.compile(r"error: '[\w.]+' op names no kernel @\w+$", re.M)
SEPARATOR = "\n// -----\n"
TYPE_WANTED = re.compile(r"within split at <stdin>:(\d+) offset :\d+:\d+: error: use of value '(%[\w]+)' expects different type than prior uses: "
                         r"'(.*)' vs 'none'$", re.M)


def undefined(example):
    """The names that an example uses and does not define itself, in order."""
    defined = set()
    for line in example.splitlines():
        if match := re.match(r"\s*((?:%\w+(?::\d+)?(?:,\s*)?)+)\s*=", line):
            defined |= set(re.findall(r"%\w+", match.group(1)))
        if match := re.match(r"\s*\^\w+\((.*)\):", line):
            defined |= set(re.findall(r"(%\w+)\s*:", match.group(1)))
    return [name for name in dict.fromkeys(re.findall(r"%\w+", example)) if name not in defined]


def wrap(example, types):
    """The example in a scope of its own, below stand-ins for the values that it uses."""
    stand_ins = [f'{name} = "free.value"() : () -> {kind}' for name, kind in types.items()]
    return "\n".join(stand_ins) + '\n"free.scope"() ({\n' + example + "}) : () -> ()\n"


def run(texts):
    """The messages for all texts at once, split as they are split."""
    command = ["joule-opt", "--split-input-file", "--allow-unregistered-dialect", "-o", "/dev/null", "-"]
    messages = subprocess.run(command, input=SEPARATOR.join(texts), capture_output=True, text=True).stderr
    return messages if "error:" in WITHOUT_SYMBOL.sub("", messages) else ""


def starts(texts):
    """The number of the first line of each text in the joined input."""
    line, found = 1, []
    for text in texts:
        found.append(line)
        line += text.count("\n") + SEPARATOR.count("\n")
    return found


def complaints():
    cases = [(f"{tree.name_of(file)}: {dialect}.{mnemonic}", example)
             for file, dialect, mnemonic, record in tree.ops() for example in tree.examples(record["description"])]
    types = [dict.fromkeys(undefined(example), "none") for _, example in cases]
    # Each round, the parser says what type the first wrongly typed value of each example has.
    for _ in range(10):
        texts = [wrap(example, known) for (_, example), known in zip(cases, types)]
        messages, begins = run(texts), starts(texts)
        wanted = TYPE_WANTED.findall(messages)
        for line, name, kind in wanted:
            # The message names the line of the separator above the example.
            number = max(i for i, begin in enumerate(begins) if begin <= int(line) + 1)
            types[number][name] = kind
        if not wanted:
            break
    if not messages:
        return []
    return [f"{cases[i][0]}: its example does not parse:\n{errors}" for i, text in enumerate(texts) if (errors := run([text]))]


tree.finish(complaints())
