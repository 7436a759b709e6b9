#!/usr/bin/env python3
"""What the kernels for GPUs become in machine code, without a GPU: a model, not a measurement.

For each row of the kernel table for CUDA, runs its generator, assembles the PTX for the row's own
compute capability (7.0: for 7.5, the oldest that the assembler still knows) and for 9.0, and fails
unless no kernel has a stack or spills and each is within its registers. Of convolutions in tiles it
takes the inner loop apart: FFMA is the instruction of a multiply-add, LDS that of a load from shared
memory. Occupancy is arithmetic: the share of a multiprocessor's threads that registers, shared memory
and the size of a block leave room for.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSEMBLE_FOR = {"cuda70": [75, 90], "cuda80": [80, 90], "cuda86": [86, 90]}
MOST_SHARED = 48 * 1024  # of a block without asking for more (CUDA programming guide, table 27)
# Of the instructions of the inner loop of a convolution in tiles; that of first layers has half as many
# products for the same loop around them.
LEAST_FFMA, LEAST_FFMA_OF_FIRST_LAYERS = 0.85, 0.75


class Multiprocessor:
    """Limits of a multiprocessor by compute capability (CUDA programming guide, table 27)."""

    REGISTERS = 65536
    WARP = 32
    REGISTER_UNIT = 256  # registers of a warp are allotted in these

    def __init__(self, capability):
        self.threads = {75: 1024, 80: 2048, 86: 1536, 90: 2048}[capability]
        self.blocks = {75: 16, 80: 32, 86: 16, 90: 32}[capability]
        self.shared = {75: 64, 80: 164, 86: 100, 90: 228}[capability] * 1024
        self.shared_of_system = 0 if capability == 75 else 1024  # of every block

    def occupancy(self, threads, registers, shared):
        """Resident threads, relative to the most there can be."""
        warps = -(-threads // self.WARP)
        of_warp = -(-registers * self.WARP // self.REGISTER_UNIT) * self.REGISTER_UNIT
        blocks = min(
            self.blocks,
            self.threads // (warps * self.WARP),
            self.REGISTERS // (of_warp * warps),
            self.shared // max(1, shared + self.shared_of_system),
        )
        return blocks * warps * self.WARP / self.threads


class Failure(Exception):
    """Something outside this program does not work."""


class BadInput(Exception):
    """What the caller gave is of no use."""


def run(command, **options):
    """The output of a program that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout + done.stderr


def rows_of(build, pattern):
    """The rows for CUDA whose name matches: name, generator and its arguments."""
    rows = []
    for line in (build / "kernel_commands.txt").read_text().splitlines():
        name, program, *arguments = line.split()
        if name.rsplit("/", 1)[1] in ASSEMBLE_FOR and re.search(pattern, name):
            rows.append((name, build / "bin" / program, arguments))
    return rows


def launches(statement):
    """Threads and bytes of shared memory of each kernel, in the order of the lowered statement."""
    found = []
    for line in statement.splitlines():
        text = line.strip()
        if text.startswith("gpu_block") and (not found or "threads" in found[-1]):
            found.append({"shared": 0})
        if match := re.match(r"allocate \S+\[(\w+?)(\d+) \* (\d+)\] in GPUShared", text):
            found[-1]["shared"] += int(match[2]) // 8 * int(match[3])
        if match := re.match(r"gpu_thread\S* \(\S+, 0, (\d+)\)", text):
            found[-1].setdefault("threads", {})[text.split(",")[0]] = int(match[1])
    for launch in found:
        threads = 1
        for extent in launch["threads"].values():
            threads *= extent
        launch["threads"] = threads
    return found


def resources(report):
    """Stack, spills and registers of each kernel, by its name, from what ptxas -v says."""
    found = {}
    for part in report.split("Compiling entry function '")[1:]:
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part)
        found[part.split("'", 1)[0]] = {
            "stack": int(frame[1]),
            "spills": int(frame[2]) + int(frame[3]),
            "registers": int(re.search(r"Used (\d+) registers", part)[1]),
        }
    return found


def inner_loop(listing):
    """Of the loops without another inside, the instructions of that with the most FFMA."""
    code = [
        (int(address, 16), operation, operands)
        for address, operation, operands in re.findall(
            r"/\*([0-9a-f]{4,})\*/\s+(?:@\S+\s+)?([A-Z][\w.]*)\s*([^;]*);", listing
        )
    ]
    loops = []
    for address, operation, operands in code:
        target = re.search(r"0x([0-9a-f]+)", operands)
        if operation.startswith("BRA") and target and int(target[1], 16) < address:
            loops.append((int(target[1], 16), address))
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    best = Counter()
    for first, last in inner:
        counts = Counter(op.split(".")[0] for address, op, _ in code if first <= address <= last)
        if counts["FFMA"] > best["FFMA"]:
            best = counts
    return best


def is_tiled(name):
    """Whether the row computes convolutions in tiles."""
    return re.match(r"conv/(tiled|split)_", name) is not None


def model(row, tools, folder):
    """One entry for each kernel of the row and each capability, and what is wrong with it."""
    name, program, arguments = row
    isa = name.rsplit("/", 1)[1]
    outputs = ["-o", str(folder), "-e", "device_code,conceptual_stmt"]
    run([str(program), *arguments, *outputs])
    base = folder / arguments[arguments.index("-f") + 1]
    ptx = base.with_suffix(".device_code")
    found = []
    for capability in ASSEMBLE_FOR[isa]:
        cubin = base.with_suffix(f".sm_{capability}")
        report = run([str(tools / "ptxas"), "-v", f"-arch=sm_{capability}", str(ptx), "-o", str(cubin)])
        code = {}
        if is_tiled(name):
            listing = run([str(tools / "cuobjdump"), "-sass", str(cubin)], env={"PATH": str(tools)})
            code = dict(part.split("\n", 1) for part in listing.split("Function : ")[1:])
        used = resources(report)
        of_kernel = launches(base.with_suffix(".conceptual.stmt").read_text())
        names = re.findall(r"^\.visible \.entry (\w+)", ptx.read_text(), re.M)
        if len(of_kernel) != len(names):
            raise Failure(f"{name}: {len(names)} kernels, but {len(of_kernel)} launches")
        for kernel, launch in zip(names, of_kernel):
            entry = {"row": name, "kernel": kernel, "capability": capability / 10, **launch, **used[kernel]}
            entry["occupancy"] = round(
                Multiprocessor(capability).occupancy(entry["threads"], entry["registers"], entry["shared"]), 2
            )
            # That which adds up partial sums has no shared memory.
            if is_tiled(name) and launch["shared"]:
                loop = inner_loop(code[kernel])
                total = sum(loop.values())
                entry["loop"] = {"instructions": total, "ffma": loop["FFMA"], "lds": loop["LDS"]}
                entry["ffma_share"] = round(loop["FFMA"] / total, 3) if total else 0
                entry["lds_per_ffma"] = round(loop["LDS"] / loop["FFMA"], 3) if loop["FFMA"] else 0
            entry["faults"] = faults(entry)
            found.append(entry)
    return found


def faults(entry):
    """What no kernel may have, in words."""
    # All registers of a multiprocessor must be enough for a block, and an instruction can name 255.
    most = min(255, Multiprocessor.REGISTERS // entry["threads"])
    found = []
    if entry["stack"] != 0 or entry["spills"] != 0:
        found.append(f"{entry['stack']} bytes of stack, {entry['spills']} of spills")
    if entry["registers"] > most:
        found.append(f"{entry['registers']} registers, more than {most}")
    if entry["shared"] > MOST_SHARED:
        found.append(f"{entry['shared']} bytes of shared memory, more than {MOST_SHARED}")
    least = LEAST_FFMA_OF_FIRST_LAYERS if "_c4/" in entry["row"] else LEAST_FFMA
    if entry.get("ffma_share", 1) < least:
        found.append(f"FFMA are {entry['ffma_share']:.1%} of the inner loop, less than {least:.0%}")
    return found


def line(entry):
    """An entry as a row of the table."""
    loop = entry.get("loop")
    text = (
        f"{entry['row']:38} {entry['capability']:4} {entry['threads']:7} {entry['registers']:9} "
        f"{entry['shared']:7} {entry['occupancy']:9.0%}"
    )
    if loop:
        text += f" {loop['instructions']:6} {entry['ffma_share']:6.1%} {entry['lds_per_ffma']:8.3f}"
    return text + "".join(f"  {fault}" for fault in entry["faults"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="Exits with 0, with 1 where a kernel has a fault or a tool fails, with 2 for bad input.",
    )
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build/release",
                        help="build tree with the generators (build/release)")
    parser.add_argument("--tools", type=Path,
                        help="folder of ptxas, cuobjdump and nvdisasm (what bench/gpu_tools.sh puts into the build tree)")
    parser.add_argument("--rows", default="", metavar="REGEX", help="only rows whose name matches")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    arguments = parser.parse_args()
    if not (arguments.build / "kernel_commands.txt").is_file():
        raise BadInput(f"{arguments.build} is no build tree: it has no kernel_commands.txt")
    tools = arguments.tools
    if tools is None:
        script = [str(ROOT / "bench/gpu_tools.sh"), str(arguments.build / "gpu_tools")]
        tools = Path(run(script).splitlines()[-1])
    for program in ("ptxas", "cuobjdump", "nvdisasm"):
        if not (tools / program).is_file():
            raise BadInput(f"--tools {tools}: there is no {program}")
    rows = rows_of(arguments.build, arguments.rows)
    if not rows:
        raise BadInput(f"--rows {arguments.rows}: no row for CUDA matches")

    entries = []
    if not arguments.json:
        print(f"{'row':38} {'cap.':4} threads registers  shared occupancy   loop   FFMA LDS/FFMA")
    with tempfile.TemporaryDirectory() as folder:
        for number, row in enumerate(rows, 1):
            print(f"\r{number}/{len(rows)} {row[0]:60}", end="", file=sys.stderr, flush=True)
            new = model(row, tools, Path(folder))
            entries += new
            if not arguments.json:
                print("\r", end="", file=sys.stderr, flush=True)
                print("\n".join(line(entry) for entry in new), flush=True)
    print(f"\r{'':80}\r", end="", file=sys.stderr)
    if arguments.json:
        json.dump({"model": "machine code of ptxas, no measurement", "kernels": entries}, sys.stdout, indent=1)
        print()
    faulty = [entry for entry in entries if entry["faults"]]
    for entry in faulty:
        print(f"gpu_model: {entry['row']} for {entry['capability']}: {'; '.join(entry['faults'])}", file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BadInput, Failure) as problem:
        print(f"gpu_model: {problem}", file=sys.stderr)
        sys.exit(2 if isinstance(problem, BadInput) else 1)
