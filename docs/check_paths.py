"""Fails if a markdown file names a file, a folder or a heading that is not there.

Looked at are targets of links and pictures, with the heading behind `#`, and, in code spans, words that
begin with one of the checkout's folders or end like a file of ours. Paths count from the markdown file,
from the root of the checkout, or, as in includes, from `runtime/`; CMake makes NAME of NAME.in.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE_LATER = {"build", "out", ".venv", ".git"}
LINK = re.compile(r"""(?:\]\(|src=")([^)"\s]+)""")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
# Not a line that is nothing but a name: that file is shown below it.
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)(?!:$)", re.MULTILINE)
PATH = re.compile(r"(?:\.\.?/)*[\w.+-]+(?:/[\w.+-]+)*/?")
OURS = re.compile(r".*\.(h|cpp|c|md|py|txt|cmake|json)$")


def named_paths(text, folders):
    for span in CODE_SPAN.findall(text):
        for word in span.split():
            if not PATH.fullmatch(word) or "/" not in word:
                continue
            first = word.split("/")[0]
            if first not in MADE_LATER and (first in folders or OURS.match(word)):
                yield word


def linked(text):
    """The path and the heading of each link, either of them empty where it has none."""
    for target in LINK.findall(text):
        if "://" not in target:
            yield target.partition("#")[::2]


def anchors(page):
    """The headings of a page, as links name them."""
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(page.read_text())
    }


def faults(page, folders):
    text = page.read_text()
    paths = [path for path, _ in linked(text) if path] + list(named_paths(text, folders))
    for path in paths:
        bases = (page.parent, ROOT, ROOT / "runtime")
        if not any((base / name).exists() for base in bases for name in (path, f"{path}.in")):
            yield f"{path} does not exist"
    for path, heading in linked(text):
        target = page.parent / path if path else page
        if heading and target.suffix == ".md" and target.exists() and heading not in anchors(target):
            yield f"{path}#{heading}: there is no such heading"


def main():
    folders = {entry.name for entry in ROOT.iterdir() if entry.is_dir()}
    pages = [
        page for page in sorted(ROOT.rglob("*.md")) if page.relative_to(ROOT).parts[0] not in MADE_LATER
    ]
    found = [f"{page.relative_to(ROOT)}: {fault}" for page in pages for fault in faults(page, folders)]
    print(*found, f"{len(pages)} pages checked", sep="\n")
    return bool(found) or not pages


if __name__ == "__main__":
    sys.exit(main())
