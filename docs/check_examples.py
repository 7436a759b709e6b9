"""Fails if an example in a markdown file prints something else than the page says.

Examples are `$ ./dev run PROGRAM ARGS...` lines in console blocks, each followed by what it prints.
Usage: check_examples.py FOLDER_OF_PROGRAMS
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^\$ \./dev run (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def printed(command, programs, folder):
    program, *arguments = shlex.split(command)
    result = subprocess.run(
        [programs / program, *arguments], cwd=folder, capture_output=True, text=True
    )
    return result.stdout + result.stderr


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    examples = [
        (page, command, expected)
        for page in pages
        for block in BLOCK.findall(page.read_text())
        for command, expected in EXAMPLE.findall(block)
    ]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for page, command, expected in examples:
            found = printed(command, programs, folder)
            if found != expected:
                wrong += 1
                print(f"{page.relative_to(ROOT)}: {command}\nexpected:\n{expected}found:\n{found}")
    print(f"{len(examples)} examples run")
    return wrong > 0 or not examples


if __name__ == "__main__":
    sys.exit(main())
