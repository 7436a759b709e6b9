"""Runs the commands and examples of the pages; fails where one prints something else than the page says.

A page is one session in a folder of its own. In the order of the page,
- a fenced block after a line that is nothing but a name in backticks and a colon becomes that file;
- a `console` block holds commands behind `$ `, each followed by what it prints, where `...` stands for
  anything, as in Python's doctest; `pycon` blocks are run after them;
- comments that no reader sees steer a block that follows: `<!-- exits with 2 -->`,
  `<!-- not run: REASON -->`; `<!-- set-up: COMMAND -->` runs a command on its own, and
  `<!-- at most 10 lines: FILES -->` counts what the files above hold beyond the frame of any program.
A command anywhere else in a page fails, since nothing would run it. Commands see the project as it is
installed, with its archive in the page's folder; `./dev run` takes the programs of the build.

Usage: check_examples.py BUILD [PAGE...]
"""

import argparse
import contextlib
import doctest
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

BLOCK = re.compile(
    r"^(?:<!-- set-up: (?P<setup>.*?) -->$"
    r"|<!-- at most (?P<limit>\d+) lines: (?P<counted>.*?) -->$"
    r"|(?:<!-- not run: (?P<not_run>.*?) -->\n|<!-- exits with (?P<status>\d+) -->\n"
    r"|`(?P<file>[\w./-]+)`:\n\n?)?"
    r"```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$)",
    re.MULTILINE | re.DOTALL,
)
FRAME = re.compile(
    r"\s*$|cmake_minimum_required\(|project\(|add_executable\(|#include <cstdio>|int main\(|}$"
)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# What a command begins with, at the begin of a line of code.
LOOKS_LIKE_COMMAND = re.compile(
    r"^(?: {4,})?(?:\$ |\./dev|\.ci/|bench/|build/release/bin/|VENV/|[A-Z_]+=\S+ "
    r"|(?:sudo|apt|apt-get|dpkg|pip|cmake|ctest|cpack|ninja|make|g\+\+|gcc|tar|python3?|selvage"
    r"|png_filter|qemu-\w+) )"
)
PROGRAM = re.compile(r"\./dev run ([a-z]\w*)")


class Page:
    def __init__(self, path):
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text()
        self.tried = self.wrong = 0

    def check(self):
        start = time.monotonic()
        unmarked = self.text
        for block in BLOCK.finditer(self.text):
            if (
                block["setup"]
                or block["file"]
                or block["not_run"]
                or block["language"] in ("console", "pycon")
            ):
                unmarked = unmarked.replace(block[0], "")
            if block["setup"]:
                self.run(block["setup"], None, 0)
            elif block["limit"]:
                self.count_lines(block["counted"].split(), int(block["limit"]))
            elif block["file"]:
                file = pathlib.Path(block["file"])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block["text"])
            elif block["language"] == "console" and not block["not_run"]:
                for command, expected in COMMAND.findall(block["text"]):
                    self.run(command, expected, int(block["status"] or 0))
        self.python()
        self.unmarked(unmarked)
        print(f"{self.name}: {self.tried} examples, {time.monotonic() - start:.1f} s")
        return self.wrong == 0

    def run(self, command, expected, status):
        self.tried += 1
        result = subprocess.run(
            ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found = result.stdout
        same = expected is None or doctest.OutputChecker().check_output(
            expected, found, doctest.ELLIPSIS
        )
        if not same or result.returncode != status:
            self.fault(
                f"$ {command}\nexpected, with exit status {status}:\n{expected or ''}"
                f"found, with exit status {result.returncode}:\n{found}"
            )

    def count_lines(self, files, limit):
        lines = [line for file in files for line in pathlib.Path(file).read_text().splitlines()]
        count = sum(not FRAME.match(line) for line in lines)
        if count > limit:
            self.fault(f"{' and '.join(files)} have {count} lines, more than {limit}")

    def python(self):
        session = "\n".join(
            block["text"] for block in BLOCK.finditer(self.text) if block["language"] == "pycon"
        )
        test = doctest.DocTestParser().get_doctest(session, {}, self.name, self.name, 0)
        failed, tried = doctest.DocTestRunner(verbose=False).run(test)
        self.wrong += failed
        self.tried += tried

    def unmarked(self, text):
        """What looks like a command in code that was neither run nor marked."""
        fenced = False
        for line in text.splitlines():
            fenced ^= line.startswith("```")
            if (fenced or line.startswith("    ")) and LOOKS_LIKE_COMMAND.match(line):
                self.fault(f"is neither run nor marked as not run: {line.strip()}")

    def fault(self, text):
        self.wrong += 1
        print(f"{self.name}: {text}")


def programs_exist(pages, programs):
    """Also of commands that are only mentioned, or not run."""
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  (\w+)", usage, re.MULTILINE))
    good = True
    for page in pages:
        for command in set(re.findall(r"\./dev (\w+)", page.text)) - known:
            page.fault(f"./dev has no command {command}")
        for name in set(PROGRAM.findall(page.text)):
            if not (programs / name).exists():
                page.fault(f"./dev run {name}: there is no such program")
        good &= page.wrong == 0
    return good


def shim(path, command):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def install(build, folder):
    """The project as users have it: an archive, and what it holds."""
    name = (
        "selvage-"
        + re.search(r"CMAKE_PROJECT_VERSION:STATIC=(.*)", (build / "CMakeCache.txt").read_text())[1]
    )
    name += "-x86_64-linux"
    tree = folder / name
    cmake = pathlib.Path(sys.executable).parent / "cmake"
    subprocess.run([cmake, "--install", build, "--prefix", tree], check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(folder / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(tree, name)
    # Pages are for users of Debian's CMake, where there is one.
    shim(folder / "bin" / "python3", f'exec {sys.executable} "$@"')
    os.environ["PKG_CONFIG_PATH"] = str(tree / "lib" / "pkgconfig")
    os.environ["PATH"] = f"{tree}/bin:{build}/bin:{folder}/bin:{os.environ['PATH']}:{cmake.parent}"
    return folder / f"{name}.tar.gz"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build tree")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: all")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    paths = [path.resolve() for path in arguments.pages]
    pages = [
        Page(path)
        for path in paths
        or [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    ]
    good = programs_exist(pages, build / "bin")
    with tempfile.TemporaryDirectory() as folder:
        archive = install(build, pathlib.Path(folder))
        for page in pages:
            with tempfile.TemporaryDirectory() as here, contextlib.chdir(here):
                shim(pathlib.Path("dev"), '[ "$1" = run ] && shift && exec "$@"')
                pathlib.Path(archive.name).symlink_to(archive)
                good &= page.check()
    return not good


if __name__ == "__main__":
    sys.exit(main())
