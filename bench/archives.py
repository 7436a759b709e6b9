#!/usr/bin/env python3
"""What the kernels' archives cost: seconds to compile and bytes of code, the slowest first.

Seconds are those of the last build of each archive, as ninja has logged them: generator, symbols
and archive, while other jobs ran. Bytes are code and constants (`text` of binutils' `size`).
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def archives_of(build):
    """The archives that the build makes now; the folder may hold older ones."""
    names = set(re.findall(r"kernels/(\w+\.a)", (build / "build.ninja").read_text()))
    return sorted(build / "kernels" / name for name in names)


def compile_seconds(log):
    """Seconds of the last build of each archive by its name."""
    seconds = {}
    for line in log.read_text().splitlines():
        if line.startswith("#"):
            continue
        begin, end, _, output, _ = line.split("\t")  # milliseconds since that build began
        if output.endswith(".a"):
            seconds[Path(output).name] = (int(end) - int(begin)) / 1000
    return seconds


def code_bytes(archives):
    """Bytes of code and constants of each archive by its name."""
    table = subprocess.run(["size", *archives], check=True, capture_output=True, text=True).stdout
    size = {}
    for line in table.splitlines()[1:]:
        text, *_, member = line.split(maxsplit=5)  # MEMBER.o (ex FOLDER/ARCHIVE.a)
        name = Path(member.split("(ex ")[1].rstrip(")")).name
        size[name] = size.get(name, 0) + int(text)
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release",
                        help="folder of the build (%(default)s)")
    parser.add_argument("--top", type=int, help="only so many rows; the totals are of all")
    options = parser.parse_args()
    try:
        archives = archives_of(options.build)
        seconds = compile_seconds(options.build / ".ninja_log")
    except OSError as error:
        parser.error(f"not a folder that ninja built in: {error}")
    missing = [archive.name for archive in archives if not archive.exists()]
    if missing or not archives:
        parser.error(f"{len(missing)} of {len(archives)} archives are not built yet")

    size = code_bytes(archives)
    rows = sorted(((seconds[a.name], size[a.name], a.stem) for a in archives), reverse=True)
    print("| archive | seconds | bytes |\n|---|---|---|")
    for row_seconds, row_bytes, name in rows[:options.top]:
        print(f"| {name} | {row_seconds:.2f} | {row_bytes} |")
    print(f"| all {len(rows)} | {sum(row[0] for row in rows):.1f} | {sum(row[1] for row in rows)} |")


if __name__ == "__main__":
    sys.exit(main())
