"""Each nn op that computes is defined element by element or has a kernel of its own, never both."""
# RUN: %python %s

import tree

# What computes nothing on the device: values from outside, groups, and what the host answers.
NEITHER = {"assert", "constant", "fused", "non_max_suppression", "nonzero", "symbol", "unique", "yield"}


def kinds(everything, record):
    """The names of the interfaces an op has, of the two."""
    traits = [everything[trait["def"]] for trait in record["traits"]]
    named = {trait.get("cppInterfaceName") for trait in traits}
    return named & {"ElementDefinition", "KernelDefinition"}


def complaints():
    td = tree.ROOT / "dialects" / "Nn" / "NnOps.td"
    everything = tree.records(td)
    for record in tree.instances(everything, "Op"):
        wanted = 0 if record["opName"] in NEITHER else 1
        if len(kinds(everything, record)) != wanted:
            yield f"{tree.name_of(td)}: nn.{record['opName']} has the definitions {sorted(kinds(everything, record))}"


tree.finish(list(complaints()))
