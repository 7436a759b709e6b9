"""Fails if a markdown file names a file or folder that is not there.

Looked at are targets of links and pictures and, in code spans, words that begin with one of the
checkout's folders or end like a file of ours. Paths count from the markdown file or from the root of
the checkout.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE_LATER = {"build", "out", ".venv", ".git"}
LINK = re.compile(r"""(?:\]\(|src=")([^)"#\s]+)""")
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"(?:\.\.?/)*[\w.+-]+(?:/[\w.+-]+)*/?")
OURS = re.compile(r".*\.(h|cpp|c|md|py|txt|cmake|json)$")


def named_paths(text, folders):
    for target in LINK.findall(text):
        if "://" not in target:
            yield target
    for span in CODE_SPAN.findall(text):
        for word in span.split():
            if not PATH.fullmatch(word) or "/" not in word:
                continue
            first = word.split("/")[0]
            if first not in MADE_LATER and (first in folders or OURS.match(word)):
                yield word


def main():
    folders = {entry.name for entry in ROOT.iterdir() if entry.is_dir()}
    pages = [
        page
        for page in sorted(ROOT.rglob("*.md"))
        if page.relative_to(ROOT).parts[0] not in MADE_LATER
    ]
    missing = [
        f"{page.relative_to(ROOT)}: {path} does not exist"
        for page in pages
        for path in named_paths(page.read_text(), folders)
        if not (page.parent / path).exists() and not (ROOT / path).exists()
    ]
    print(*missing, f"{len(pages)} pages checked", sep="\n")
    return bool(missing) or not pages


if __name__ == "__main__":
    sys.exit(main())
