#!/usr/bin/env python3
"""8-bit image filters against OpenCV's filter2D, sepFilter2D, dilate and erode, one thread.

Each case is one picture of bytes under one border. Both results are compared before they are timed: minima and
maxima must be equal, sums may differ by 1 where OpenCV rounds otherwise. Then both take turns, and a ratio is
the median of the turns' ratios. A minimum is the complement of the maximum of complements, so erode gets the
complement of the picture that max_pool gets; taking it is not in the time of either.
"""

import argparse
import ctypes
import json
import math
import pathlib
import re
import statistics
import sys
import time

import cv2
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALIGNMENT = 64
BORDERS = {
    "reflect": cv2.BORDER_REFLECT_101,
    "replicate": cv2.BORDER_REPLICATE,
    "constant": cv2.BORDER_CONSTANT,
}
# What a picture is filtered with, on each axis.
SIZES = (3, 5, 7)
# OpenCV's Gaussian kernels of these sizes are whole multiples of 1 / 2^SHIFT (its sigma 0).
GAUSSIAN_SHIFT = 6
# General weights are multiples of this, so that all sums are exact and rounding alone can differ.
WEIGHT_UNIT = 1 / 256


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 500)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int)]
    _fields_ += [(name, ctypes.c_int64) for name in "ndhwc"]
    _fields_ += [("stride_" + name, ctypes.c_int64) for name in "ndhwc"]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("isa", ctypes.c_char_p),
        ("schedule", ctypes.c_char_p),
        ("adjacent_pixels", ctypes.c_int),
        ("threads", ctypes.c_int),
        ("table", ctypes.c_void_p),
        ("accuracy", ctypes.c_char_p),
        ("device", ctypes.c_void_p),
        ("cpu_fallback", ctypes.c_int),
        ("separable", ctypes.c_int),
    ]


def load(path):
    """The library, with the types of what does not return an int."""
    library = ctypes.CDLL(path)
    for name in ("plan_packed_bytes", "plan_scratch_bytes"):
        getattr(library, "selvage_" + name).restype = ctypes.c_size_t
    library.selvage_plan_kernel.restype = ctypes.c_char_p
    for name in ("plan_input", "plan_output"):
        function = getattr(library, "selvage_" + name)
        function.restype, function.argtypes = Tensor, [ctypes.c_void_p, ctypes.c_void_p]
    return library


def aligned(size):
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    return memory[-memory.ctypes.data % ALIGNMENT :][:size]


class Ours:
    """A plan with weights (float, or whole ones of 16 bits) packed, and the memory that it needs."""

    def __init__(self, library, problem, isa, separable, weights, x, y):
        self.library, self.status, self.plan = library, Status(), ctypes.c_void_p()
        options = Options(
            ctypes.sizeof(Options), isa.encode(), adjacent_pixels=1, separable=separable
        )
        self.call("plan_create", problem.encode(), ctypes.byref(options), ctypes.byref(self.plan))
        self.packed = aligned(library.selvage_plan_packed_bytes(self.plan))
        self.scratch = aligned(library.selvage_plan_scratch_bytes(self.plan))
        if weights is not None:
            pack = "plan_pack_fixed" if weights.dtype == np.int16 else "plan_pack"
            self.call(pack, self.plan, *self.packing(weights))
        self.arrays = x, y  # kept alive
        self.input = library.selvage_plan_input(self.plan, x.ctypes.data)
        self.output = library.selvage_plan_output(self.plan, y.ctypes.data)
        self.kernel = library.selvage_plan_kernel(self.plan).decode()

    def packing(self, weights):
        memory = ctypes.c_void_p(self.packed.ctypes.data)
        if weights.dtype == np.int16:
            return weights.ctypes, 0, memory
        return weights.ctypes, 0, None, memory

    def call(self, name, *arguments):
        if getattr(self.library, "selvage_" + name)(*arguments, ctypes.byref(self.status)) != 0:
            raise RuntimeError(f"{name}: {self.status.text.decode()}")

    def run(self):
        self.call(
            "plan_run",
            self.plan,
            ctypes.byref(self.input),
            ctypes.c_void_p(self.packed.ctypes.data),
            ctypes.byref(self.output),
            None,
            ctypes.c_void_p(self.scratch.ctypes.data),
            ctypes.c_size_t(self.scratch.size),
            None,
        )


class Case:
    """One filter under one border: the problem that is ours, the call that is OpenCV's."""

    def __init__(self, name, border, text, weights, peer, tolerance, complement=False, separable=False):
        self.name, self.text, self.weights = f"{name}/{border}", text, weights
        self.peer, self.tolerance, self.complement = peer, tolerance, complement
        self.separable = separable


def each_channel(taps, channels):
    return np.ascontiguousarray(np.broadcast_to(taps, (channels, *taps.shape)))


def cases(channels):
    numbers = np.random.default_rng(1)
    for border, flag in BORDERS.items():
        for size in SIZES:
            window = f"kernel={size} pads={size // 2} border={border}"

            taps = np.float32(numbers.integers(-size, 256 // size, (size, size)) * WEIGHT_UNIT)
            yield Case(
                f"filter2D_{size}x{size}",
                border,
                f"filter2d {window}",
                each_channel(taps, channels),
                lambda x, y, taps=taps, flag=flag: cv2.filter2D(x, -1, taps, y, borderType=flag),
                1,
            )

            line = cv2.getGaussianKernel(size, 0)
            whole = np.int16(np.round(line * 2**GAUSSIAN_SHIFT))
            yield Case(
                f"sepFilter2D_{size}x{size}",
                border,
                f"filter2d {window} weights=fixed:{2 * GAUSSIAN_SHIFT}",
                each_channel(whole * whole.T, channels),
                lambda x, y, line=line, flag=flag: cv2.sepFilter2D(
                    x, -1, line, line, y, borderType=flag
                ),
                1,
                separable=True,
            )

            # OpenCV's constant border never wins by default, as pads of pools never do.
            element = np.ones((size, size), np.uint8)
            for name, function in (("dilate", cv2.dilate), ("erode", cv2.erode)):
                yield Case(
                    f"{name}_{size}x{size}",
                    border,
                    f"max_pool2d type=u8 {window}",
                    None,
                    lambda x, y, element=element, function=function, flag=flag: function(
                        x, element, y, borderType=flag
                    ),
                    0,
                    name == "erode",
                )


def take_turns(works, turns, slice_seconds):
    """Seconds per call of each work in each turn: all slices are equally long, every turn begins with another
    work, and each slice with an untimed call that brings its data back to the caches. Counted is the processor
    time of this thread."""
    works, calls = list(works), []
    for work in works:
        work()
        start = time.thread_time()
        work()
        calls.append(max(1, round(slice_seconds / (time.thread_time() - start))))
    seconds = [[0.0] * turns for _ in works]
    for turn in range(turns):
        for place in range(len(works)):
            index = (turn + place) % len(works)
            works[index]()
            start = time.thread_time()
            for _ in range(calls[index]):
                works[index]()
            seconds[index][turn] = (time.thread_time() - start) / calls[index]
    return seconds


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def measure(case, library, arguments):
    height, width, channels = arguments.shape
    x = np.random.default_rng(2).integers(0, 256, arguments.shape, np.uint8)
    mine, theirs = np.zeros_like(x), np.zeros_like(x)
    problem = f"{case.text} c={channels} in={height}x{width}"
    ours = Ours(library, problem, arguments.isa, case.separable, case.weights, x, mine)
    ours.run()
    given = ~x if case.complement else x
    case.peer(given, theirs)
    expected = ~theirs if case.complement else theirs
    difference = int(np.abs(np.int16(mine) - expected).max())
    if difference > case.tolerance:
        raise RuntimeError(f"{case.name}: differs by {difference} of 255, allowed is {case.tolerance}")
    seconds = take_turns([ours.run, lambda: case.peer(given, theirs)], arguments.turns, arguments.slice)
    return {
        "case": case.name,
        "kernel": ours.kernel,
        "ours_ms": statistics.median(seconds[0]) * 1e3,
        "opencv_ms": statistics.median(seconds[1]) * 1e3,
        "speed": statistics.median(b / a for a, b in zip(*seconds)),
        "difference": difference,
    }


def shape(text):
    match = re.fullmatch(r"(\d+)x(\d+)x(\d+)", text)
    if not match or "0" in match.groups():
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTHxCHANNELS")
    return tuple(map(int, match.groups()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = ROOT / "build/release/tests/libselvage.so"
    add = parser.add_argument
    add("--library", type=pathlib.Path, default=default, help="a shared libselvage.so (default: %(default)s)")
    add("--filter", default="", help="cases whose name matches this regular expression")
    add("--shape", type=shape, default=(1080, 1920, 3), help="HEIGHTxWIDTHxCHANNELS (default: 1080x1920x3)")
    add("--isa", default="", help="measure the kernels of this instruction set")
    add("--turns", type=int, default=10, help="turns of each (default: %(default)s)")
    add("--slice", type=float, default=0.02, help="seconds that each gets in a turn (default: %(default)s)")
    add("--json", type=pathlib.Path, help="write the results to this file too")
    arguments = parser.parse_args()
    if not arguments.library.exists():
        parser.error(f"no library {arguments.library}; `./dev test -R ctypes` builds the default one")
    chosen = [case for case in cases(arguments.shape[2]) if re.search(arguments.filter, case.name)]
    if not chosen:
        parser.error(f"no case matches {arguments.filter!r}")

    cv2.setNumThreads(1)
    library = load(arguments.library)
    print(f"OpenCV {cv2.__version__}, {' x '.join(map(str, arguments.shape))} bytes, one thread\n")
    print("| case | kernel | ours ms | OpenCV ms | speed | differs by |\n|---|---|---|---|---|---|")
    rows = []
    for case in chosen:
        row = measure(case, library, arguments)
        rows.append(row)
        line = "| {case} | {kernel} | {ours_ms:.3f} | {opencv_ms:.3f} | {speed:.2f} | {difference} |"
        print(line.format(**row), flush=True)
    mean = geometric_mean([row["speed"] for row in rows])
    print(f"\ngeometric mean of OpenCV's time / ours, {len(rows)} cases: {mean:.2f}")
    if arguments.json:
        results = {"opencv": cv2.__version__, "shape": arguments.shape, "cases": rows, "geometric_mean": mean}
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(f"images.py: {error}")
