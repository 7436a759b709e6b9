#!/usr/bin/env python3
"""What the hot loops of the kernels for ARM take by llvm-mca, without an ARM: a model, not a measurement.

For each row of the kernel table for NEON, runs its generator and takes the hot loop out of the
assembly. Of the loops without another inside (from a label to the last branch back to it) that is the
one with the most FMLA, the instruction of a multiply-add, or with the most vector arithmetic where
there are none; of equals the shortest, since loops that test for the border stand beside one that does
not. llvm-mca runs the loop for each CPU with all data in the first-level cache, all branches predicted.

  loop    instructions of it, loads, stores, and stack: those of them that go to the stack
  FMLA    share of the instructions; ld/FMLA: loads for each
  CPU     cycles of a turn, and how busy its FMLAs keep the pipes that take them (without FMLA: the
          vector arithmetic)
  mean    cycles for each FMLA, geometric mean of the CPUs: rates of tiles in the kernel table are
          inverse to it
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPUS = "neoverse-n1,neoverse-v1,cortex-a55,cortex-a53"
# The least that FMLA pipes of a CPU must be busy, and whether the loop may use the stack.
JUDGE = "neoverse-n1"
BARS = [
    (re.compile(r"conv/(direct|pointwise|narrow|winograd)_"), 0.9, False),
    (re.compile(r"depthwise/rows_"), 0.6, True),
]
# The difference of two runs has no first turns in it.
FEW_TURNS, MANY_TURNS = 100, 500

LABEL = re.compile(r"(\.L\w+):")
BRANCH = re.compile(r"\t(?:b|b\.\w+|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\w+)$")
FMLA = re.compile(r"\tfml[as]\s+v")
ARITHMETIC = re.compile(r"\t(?!ld|st|mov|dup|ins|ext)\w+\s+v\d+\.")


class Failure(Exception):
    """Something outside this program does not work."""


def run(command, **options):
    """The output of a program that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def rows_of(build, pattern):
    """The rows for NEON whose name matches, without references: name, generator and its arguments."""
    rows = []
    for line in (build / "kernel_commands.txt").read_text().splitlines():
        name, program, *arguments = line.split()
        if name.endswith("/neon") and "/reference/" not in name and re.search(pattern, name):
            rows.append((name, build / "bin" / program, arguments))
    return rows


def inner_loops(assembly):
    """Instructions of each loop without another inside."""
    lines = [line.split("//")[0].rstrip() for line in assembly.splitlines()]
    labels = {match[1]: i for i, line in enumerate(lines) if (match := LABEL.match(line))}
    ends = {}  # of loops, by their first line
    for end, line in enumerate(lines):
        if (match := BRANCH.match(line)) and labels.get(match[1], end) < end:
            ends[labels[match[1]]] = end
    loops = ends.items()
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [[line for line in lines[first:last + 1] if re.match(r"\t\w", line)] for first, last in inner]


def hot_loop(name, assembly):
    """The hot loop, and the pattern of the instructions that are its work."""
    loops = inner_loops(assembly)
    for work in (FMLA, ARITHMETIC):
        count, _, loop = max((sum(map(bool, map(work.match, loop))), -len(loop), loop) for loop in loops)
        if count != 0:
            return loop, work
    raise Failure(f"{name}: no loop with vector arithmetic")


def simulate(mca, loop, work, cpu):
    """Cycles of a turn, the part of them that pipes for the work are busy with it, the CPU's model."""
    few, many = (
        json.loads(run([mca, "-mtriple=aarch64", f"-mcpu={cpu}", f"-iterations={turns}", "--json"],
                       input="\n".join(loop)))
        for turns in (FEW_TURNS, MANY_TURNS)
    )
    begin, end = (answer["CodeRegions"][0]["SummaryView"]["TotalCycles"] for answer in (few, many))
    cycles = (end - begin) / (MANY_TURNS - FEW_TURNS)
    uses = [use for use in many["CodeRegions"][0]["ResourcePressureView"]["ResourcePressureInfo"]
            if use["InstructionIndex"] < len(loop) and work.match(loop[use["InstructionIndex"]])]
    pipes = len({use["ResourceIndex"] for use in uses})
    busy = sum(use["ResourceUsage"] for use in uses) / (pipes * cycles)
    # Resources are named after the model: N1UnitV0, CortexA55UnitFPMAC.
    model = many["TargetInfo"]["Resources"][0].split("Unit")[0]
    return {"cycles": round(cycles, 2), "busy": round(busy, 3), "model": model}


def model(row, mca, cpus, folder):
    """The entry of a row, with what is wrong with it."""
    name, program, arguments = row
    run([str(program), *arguments, "-n", "kernel", "-o", str(folder), "-e", "assembly"])
    loop, work = hot_loop(name, (folder / "kernel.s").read_text())
    count = sum(map(bool, map(work.match, loop)))
    loads = sum(line.startswith("\tld") for line in loop)
    on = {cpu: simulate(mca, loop, work, cpu) for cpu in cpus}
    mean = math.exp(sum(math.log(each["cycles"] / count) for each in on.values()) / len(on))
    entry = {
        "row": name,
        "instructions": len(loop),
        "loads": loads,
        "stores": sum(line.startswith("\tst") for line in loop),
        "stack": sum("[sp" in line for line in loop),
        "work": "fmla" if work is FMLA else "vector arithmetic",
        "share": round(count / len(loop), 3),
        "loads_per_work": round(loads / count, 3),
        "cpus": on,
        "mean_cycles": round(mean, 3),
    }
    entry["faults"] = faults(entry)
    return entry


def faults(entry):
    """Where it misses a bar, in words."""
    found = []
    for pattern, busy, may_use_stack in BARS:
        if not pattern.match(entry["row"]):
            continue
        if entry["stack"] != 0 and not may_use_stack:
            found.append(f"{entry['stack']} accesses to the stack")
        if JUDGE in entry["cpus"] and entry["cpus"][JUDGE]["busy"] < busy:
            found.append(f"pipes of {JUDGE} {entry['cpus'][JUDGE]['busy']:.0%} busy, less than {busy:.0%}")
    return found


def line(entry):
    """An entry as a row of the table."""
    each = [f"{on['cycles']:.1f} {on['busy']:.0%}" for on in entry["cpus"].values()]
    loop = " ".join(str(entry[key]) for key in ("instructions", "loads", "stores", "stack"))
    fmla = (f"{entry['share']:.0%}", f"{entry['loads_per_work']:.2f}") if entry["work"] == "fmla" else ("-", "-")
    return "| " + " | ".join([entry["row"], loop, *fmla, *each, f"{entry['mean_cycles']:.2f}"]) + " |"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exits with 0, with 1 where a kernel misses a bar or a tool fails, with 2 for bad input.",
    )
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build/release",
                        help="build tree with the generators (build/release)")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows whose name matches")
    parser.add_argument("--cpus", default=CPUS, metavar="LIST", help="LLVM's names of CPUs (%(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    arguments = parser.parse_args()
    # Models before LLVM 19 are those of other CPUs.
    mca = shutil.which("llvm-mca-19")
    if mca is None:
        raise Failure("there is no llvm-mca-19, which is in Debian's package llvm-19")
    if not (arguments.build / "kernel_commands.txt").is_file():
        parser.error(f"{arguments.build} is no build tree: it has no kernel_commands.txt")
    rows = rows_of(arguments.build, arguments.rows)
    if not rows:
        parser.error(f"--rows {arguments.rows}: no row for NEON matches")

    cpus = arguments.cpus.split(",")
    help_of_cpus = subprocess.run([mca, "-mtriple=aarch64", "-mcpu=help"], capture_output=True, text=True, input="")
    known = re.findall(r"^  (\S+) +- Select", help_of_cpus.stderr, re.M)
    for cpu in cpus:
        if cpu not in known:
            parser.error(f"--cpus {cpu}: {mca} knows no such CPU")
    entries = []
    if not arguments.json:
        print("| row | loop: all ld st stack | FMLA | ld/FMLA | " + " | ".join(cpus) + " | mean |")
        print("|" + " --- |" * (5 + len(cpus)))
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows, 1):
            print(f"\r{number}/{len(rows)} {row[0]:60}", end="", file=sys.stderr, flush=True)
            entries.append(model(row, mca, cpus, Path(folder)))
            if not arguments.json:
                print("\r", end="", file=sys.stderr, flush=True)
                print(line(entries[-1]), flush=True)
    print(f"\r{'':80}\r", end="", file=sys.stderr)
    models = {cpu: on["model"] for cpu, on in entries[0]["cpus"].items()}
    if arguments.json:
        json.dump({"model": "llvm-mca, no measurement", "models": models, "kernels": entries}, sys.stdout, indent=1)
        print()
    else:
        print("\nModels: " + ", ".join(f"{cpu} {name}" for cpu, name in models.items()))
    faulty = [entry for entry in entries if entry["faults"]]
    for entry in faulty:
        print(f"arm_model: {entry['row']}: {'; '.join(entry['faults'])}", file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"arm_model: {failure}", file=sys.stderr)
        sys.exit(1)
