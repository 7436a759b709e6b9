"""Prints docs/conformance.md from the cases of export_onnx.py and of `export_random.py --seed 1`.

    page.py RUNNER ONNX_CASES RANDOM_CASES [--check PAGE]

RUNNER is the program `conformance`. With --check nothing is printed: the page must say the same.
"""

import argparse
import subprocess
from collections import Counter
from pathlib import Path

import onnx
import onnxruntime

import export_onnx
import export_random

HEAD = """\
# Conformance

Others have answers for the operators that they share with this library. `tests/conformance/` writes
them to plain files and computes each case through the public API, in both layouts. Where an answer
is known to be wrong, the tests' own oracle says what is right. A case that fails, fails the tests.

Answers from whole numbers must be equal. Others may differ by the roundings of two orders of the
same sum, which follow from the magnitudes of the summands (`tests/conformance/conformance.cpp`).

This page is made by a command, and a test holds it to what the command prints:

<!-- not run: that test does -->
```console
$ ./dev conformance
```
"""

ONNX = """
## The tests of onnx {version}

The package's backend node tests, and the layers in its data folder that were converted from
PyTorch: how many passed, of how many.

| operator | node tests | converted from PyTorch |
| --- | --- | --- |
{rows}

A dash: the package has none. Whole numbers of 32 bits become floats, which hold these exactly.
PyTorch's 1-D average pools are 2-D in the package, and here. Tests of other operators, which may
expand to one of ours, are not among them.

Answers that are not taken:

| test | oracle | fault |
| --- | --- | --- |
{faults}
"""

RANDOM = """
## Random problems and onnxruntime {version}

Each run of the tests takes 2000 problems of a fixed seed, which are these, and 2000 of a new one.
They vary everything that the operators have: each pad and stride for itself, dilations, groups,
`auto_pad`, `ceil_mode`, `output_padding`, `output_shape`, indices, types, the modes of `Pad`.

| operator | passed | of these held by the oracle |
| --- | --- | --- |
{rows}

Where onnxruntime is known to be wrong or to refuse, it is not asked:

| class | onnxruntime | problems |
| --- | --- | --- |
{faults}
"""


def results(runner, cases):
    """Name, operator, origin, passed or failed, and fault of each case."""
    command = [runner, cases, "--table"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def score(outcomes):
    outcomes = list(outcomes)
    return f"{outcomes.count('passed')}/{len(outcomes)}" if outcomes else "-"


def onnx_section(table):
    def outcomes(operator, origin):
        return (r[3] for r in table if r[1] == operator and r[2] == origin)

    rows = [
        row(operator, score(outcomes(operator, "node")), score(outcomes(operator, "pytorch")))
        for operator in export_onnx.OPERATORS
    ]
    version = onnx.__version__
    faults = [row(f"`{name}`", f"onnx {version}", fault) for name, *_, fault in table if fault]
    return ONNX.format(version=version, rows="\n".join(rows), faults="\n".join(faults))


def random_section(table):
    rows = []
    for operator in export_onnx.OPERATORS:
        mine = [r for r in table if r[1] == operator]
        rows.append(row(operator, score(r[3] for r in mine), sum(bool(r[4]) for r in mine)))
    counts = Counter(r[4] for r in table)
    faults = [row(*text.split(": "), counts[text]) for text in export_random.FAULTS.values()]
    return RANDOM.format(
        version=onnxruntime.__version__, rows="\n".join(rows), faults="\n".join(faults)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("onnx_cases")
    parser.add_argument("random_cases")
    parser.add_argument("--check", type=Path)
    arguments = parser.parse_args()
    page = HEAD
    page += onnx_section(results(arguments.runner, arguments.onnx_cases))
    page += random_section(results(arguments.runner, arguments.random_cases))
    if arguments.check is None:
        print(page, end="")
    elif arguments.check.read_text() != page:
        raise SystemExit(f"{arguments.check} is out of date: ./dev conformance makes it anew")


if __name__ == "__main__":
    main()
