"""Fails if an example in a markdown file prints something else than the page says.

Examples are `$ ./dev run PROGRAM ARGS...` lines in console blocks, each followed by what it prints, and
Python in pycon blocks. Those of a page are one session, in which programs are found through PATH.
Usage: check_examples.py FOLDER_OF_PROGRAMS
"""

import contextlib
import doctest
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = r"^```{}\n(.*?)^```$"
CONSOLE = re.compile(BLOCK.format("console"), re.MULTILINE | re.DOTALL)
PYTHON = re.compile(BLOCK.format("pycon"), re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ./dev run (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def printed(command):
    result = subprocess.run(shlex.split(command), capture_output=True, text=True)
    return result.stdout + result.stderr


def check_commands(name, text):
    """The numbers of wrong and of all commands; the wrong ones are printed."""
    examples = [each for block in CONSOLE.findall(text) for each in COMMAND.findall(block)]
    wrong = 0
    for command, expected in examples:
        found = printed(command)
        if found != expected:
            wrong += 1
            print(f"{name}: {command}\nexpected:\n{expected}found:\n{found}")
    return wrong, len(examples)


def check_python(name, text):
    """The same for the lines of Python."""
    session = "\n".join(PYTHON.findall(text))
    test = doctest.DocTestParser().get_doctest(session, {}, name, name, 0)
    return doctest.DocTestRunner(verbose=False).run(test)


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    wrong = total = 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for check in check_commands, check_python:
                failed, tried = check(str(page.relative_to(ROOT)), page.read_text())
                wrong += failed
                total += tried
    print(f"{total} examples run")
    return wrong > 0 or total == 0


if __name__ == "__main__":
    sys.exit(main())
