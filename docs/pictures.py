"""Makes the pictures of borders.md from what the `selvage` program answers.

Usage: pictures.py PROGRAMS           writes docs/images/
       pictures.py PROGRAMS --check   fails where a picture there is another one
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

IMAGES = pathlib.Path(__file__).resolve().parent / "images"
MODES = ["constant", "reflect", "symmetric", "replicate", "circular"]
CONVENTIONS = {
    name: ["--same", name]
    for name in (
        "valid",
        "tf",
        "onnx-upper",
        "onnx-lower",
        "torch",
        "scipy",
        "scipy-correlate2d",
        "causal",
    )
}

CELL = 22  # width and height of an element
INK, GREY, PAPER = "#222222", "#8a8a8a", "#ffffff"
INSIDE, OUTSIDE, NOTHING = "#9cc3e6", "#dcebf7", "#f4f4f4"
BAR = "#d9822b"


def selvage(*arguments):
    return subprocess.run(
        ["selvage", *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


def applied(problem, x):
    np.save("x.npy", x)
    selvage("apply", problem, "-i", "x.npy", "-o", "y.npy")
    return np.load("y.npy")


# --- Drawing -------------------------------------------------------------------------------------


class Svg:
    def __init__(self, width, height):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
        ]

    def text(self, x, y, text, anchor="start", colour=INK):
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{text}</text>')

    def cell(self, x, y, colour, text=""):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{colour}" stroke="{PAPER}"/>'
        )
        if text:
            self.text(x + CELL // 2, y + CELL - 6, text, "middle")

    def frame(self, x, y, cells):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL * cells}" height="{CELL}" fill="none" stroke="{INK}"/>'
        )

    def bar(self, x, y, cells):
        """A window: a bar with a number of cells below it."""
        self.parts.append(
            f'<rect x="{x + 3}" y="{y}" width="{CELL * cells - 6}" height="5" rx="2" fill="{BAR}"/>'
        )

    def write(self):
        return "\n".join([*self.parts, "</svg>\n"])


def modes():
    """Six places to each side of abcd."""
    pad, left = 6, 90
    svg = Svg(left + CELL * (4 + 2 * pad) + 10, 10 + 30 * len(MODES))
    for row, mode in enumerate(MODES):
        y = 10 + 30 * row
        svg.text(8, y + CELL - 6, mode)
        numbers = applied(
            f"pad1d in=4 pads={pad} border={mode} value=9", np.float32([[[0], [1], [2], [3]]])
        )
        for place, number in enumerate(numbers.ravel()):
            inside = pad <= place < pad + 4
            letter = "v" if number == 9 else "abcd"[int(number)]
            colour = INSIDE if inside else NOTHING if letter == "v" else OUTSIDE
            svg.cell(left + CELL * place, y, colour, letter)
        svg.frame(left + CELL * pad, y, 4)
    return svg.write()


def windows(size, kernel, stride, requests):
    """The axis, and a bar for each window, for each request: a label and its options of `selvage window`.

    Requests with the same answer share one drawing.
    """
    labels = {}
    for label, options in requests.items():
        shape = ["--size", size, "--kernel", kernel, "--stride", stride]
        answer = json.loads(selvage("window", *shape, *options, "--json"))
        labels.setdefault(tuple(answer[key][0] for key in ("before", "after", "outputs")), []).append(
            label
        )
    ahead = max(before for before, _, _ in labels)
    behind = max(after for _, after, _ in labels)
    # Wide letters take 8 units of this font size.
    left = 16 + 8 * max(len(", ".join(names)) for names in labels.values())
    step = 7
    axis = left + CELL * ahead
    height = sum(CELL + 16 + step * outputs for *_, outputs in labels)
    svg = Svg(axis + CELL * (size + behind) + 100, 10 + height)
    y = 10
    for (before, after, outputs), names in labels.items():
        svg.text(8, y + CELL - 6, ", ".join(names))
        for place in range(-before, size + after):
            inside = 0 <= place < size
            svg.cell(
                axis + CELL * place, y, INSIDE if inside else OUTSIDE, str(place) if inside else ""
            )
        svg.frame(axis, y, size)
        svg.text(axis + CELL * (size + behind) + 10, y + CELL - 6, f"{outputs} outputs", colour=GREY)
        for output in range(outputs):
            svg.bar(axis + CELL * (stride * output - before), y + CELL + 4 + step * output, kernel)
        y += CELL + 16 + step * outputs
    return svg.write()


def photograph():
    """A small picture without symmetries: an F on a slope of colours."""
    rows, columns = np.mgrid[0:32, 0:32]
    picture = np.stack([60 + 5 * columns, 60 + 4 * rows, 200 - 3 * columns - 2 * rows], axis=-1).astype(
        np.uint8
    )
    for top, left, bottom, right in ((6, 8, 26, 12), (6, 8, 10, 24), (14, 8, 18, 20)):
        picture[top:bottom, left:right] = 255
    return picture


def corners():
    """The picture with 24 pixels more on each side, in each mode."""
    picture, zoom, gap = photograph(), 2, 8
    panels = []
    for mode in MODES:
        panel = applied(f"pad2d c=3 in=32x32 pads=24 type=u8 value=200 border={mode}", picture[None])[0]
        panel = panel.repeat(zoom, 0).repeat(zoom, 1)
        edge, far = 24 * zoom - 1, 56 * zoom
        panel[edge : far + 1, [edge, far]] = panel[[edge, far], edge : far + 1] = 0
        panels += [panel, np.full((len(panel), gap, 3), 255, np.uint8)]
    return np.concatenate(panels[:-1], axis=1)


def pictures():
    return {
        "modes.svg": modes(),
        "modes.png": corners(),
        "same-stride.svg": windows(8, 3, 2, CONVENTIONS),
        "same-even.svg": windows(6, 4, 1, CONVENTIONS),
        "phases.svg": windows(
            6, 3, 2, {"pads=1 phase=0": ["--pads", 1], "pads=1 phase=1": ["--pads", 1, "--phase", 1]}
        ),
    }


# --- Files ---------------------------------------------------------------------------------------


def write(path, picture):
    if isinstance(picture, str):
        path.write_text(picture)
    else:
        Image.fromarray(picture).save(path, optimize=True)


def equal(path, picture):
    if not path.exists():
        return False
    if isinstance(picture, str):
        return path.read_text() == picture
    return np.array_equal(np.asarray(Image.open(io.BytesIO(path.read_bytes()))), picture)


def main():
    programs, *options = sys.argv[1:] or sys.exit(__doc__)
    if options not in ([], ["--check"]):
        sys.exit(__doc__)
    os.environ["PATH"] = f"{pathlib.Path(programs).resolve()}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = pictures()
    if options:
        stale = [name for name, picture in made.items() if not equal(IMAGES / name, picture)]
        print(
            *(f"docs/images/{name} is not what pictures.py makes" for name in stale),
            f"{len(made)} pictures",
            sep="\n",
        )
        return bool(stale)
    for name, picture in made.items():
        write(IMAGES / name, picture)


if __name__ == "__main__":
    sys.exit(main())
