"""The C API from Python: follows demos/numpy/README.md, and holds what only another language sees (layout
of structs, results by value, hooks, strides of NumPy's views) to NumPy.

usage: ctypes_test.py FOLDER [unittest arguments]

FOLDER holds a shared libselvage.so.
"""

import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
DEMO = ROOT / "demos" / "numpy"

sys.path.insert(0, str(ROOT / "docs"))
from check_examples import Page  # noqa: E402

F32, U8, I8, I64 = range(4)
SIZES = ("n", "d", "h", "w", "c")


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 500)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int)]
    _fields_ += [(name, ctypes.c_int64) for name in SIZES]
    _fields_ += [("stride_" + name, ctypes.c_int64) for name in SIZES]


class Range(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_int64), ("size", ctypes.c_int64)]


class Region(ctypes.Structure):
    _fields_ = [(name, Range) for name in "zyx"]


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


TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)
RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TASK, ctypes.c_void_p, ctypes.c_int)


class Parallel(ctypes.Structure):
    _fields_ = [("run", RUN), ("context", ctypes.c_void_p)]


selvage = ctypes.CDLL(FOLDER / "libselvage.so")
selvage.selvage_version.restype = ctypes.c_char_p
selvage.selvage_isa.restype = ctypes.c_char_p
selvage.selvage_isa.argtypes = [ctypes.c_size_t]
selvage.selvage_layer_plan.restype = ctypes.c_void_p
selvage.selvage_layer_plan.argtypes = [ctypes.c_void_p]
for function in (selvage.selvage_plan_input, selvage.selvage_plan_output):
    function.restype = Tensor
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
selvage.selvage_plan_output_region.restype = Region
selvage.selvage_plan_output_region.argtypes = [ctypes.c_void_p]
selvage.selvage_layer_free.argtypes = [ctypes.c_void_p]


class Layer:
    """A layer, and the failure of a call as an exception."""

    def __init__(self, problem, weights=None, threads=0):
        self.handle, self.status = ctypes.c_void_p(), Status()
        options = Options(ctypes.sizeof(Options), threads=threads)
        self.call(
            selvage.selvage_layer_create,
            problem.encode(),
            ctypes.byref(options),
            None if weights is None else weights.ctypes,
            0,
            None,
            ctypes.byref(self.handle),
        )
        self.plan = selvage.selvage_layer_plan(self.handle)

    def __del__(self):
        selvage.selvage_layer_free(self.handle)

    def call(self, function, *arguments):
        if function(*arguments, ctypes.byref(self.status)) != 0:
            raise ValueError(self.status.text.decode())

    def run(self, x, y, parallel=None):
        self.call(selvage.selvage_layer_run, self.handle, x.ctypes, y.ctypes, None, parallel)

    def run_views(self, x, y):
        views = [self.view(selvage.selvage_plan_input, x), self.view(selvage.selvage_plan_output, y)]
        self.call(
            selvage.selvage_layer_run_views,
            self.handle,
            *(ctypes.byref(view) for view in views),
            None,
            None,
        )

    def view(self, function, array):
        """The plan's tensor with the strides of an array of images, rows, columns, channels."""
        tensor = function(self.plan, array.ctypes.data)
        if (tensor.n, tensor.h, tensor.w, tensor.c) != array.shape:
            raise ValueError("the array has another shape than the problem")
        for name, stride in zip("nhwc", array.strides):
            setattr(tensor, "stride_" + name, stride // array.itemsize)
        return tensor


def numbers(*shape):
    """Small whole numbers, all of whose sums are exact."""
    return np.float32((np.arange(np.prod(shape)) * 7 % 23).reshape(shape) - 11)


def convolved(x, w):
    """NHWC images by OIHW weights, nothing outside."""
    rows, columns = x.shape[1] - w.shape[2] + 1, x.shape[2] - w.shape[3] + 1
    return sum(
        x[:, i : i + rows, j : j + columns] @ w[:, :, i, j].T
        for i in range(w.shape[2])
        for j in range(w.shape[3])
    )


class Ctypes(unittest.TestCase):
    def test_readme(self):
        readme = DEMO / "README.md"
        example = (DEMO / "convolve.py").read_text()
        self.assertIn(f"```python\n{example}```\n", readme.read_text())
        self.assertEqual(len(example.splitlines()), 10)
        path = [str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]
        os.environ["PATH"] = os.pathsep.join(path)
        os.environ["LD_LIBRARY_PATH"] = str(FOLDER)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page = Page(readme)
            self.assertTrue(page.check(), "demos/numpy/README.md; what differs is above")
            self.assertEqual(page.tried, 1)

    def test_a_failure_is_told(self):
        example = (DEMO / "convolve.py").read_text().replace("kernel=3x2", "kernel=0x2")
        result = subprocess.run(
            [sys.executable, "-c", example],
            env={**os.environ, "LD_LIBRARY_PATH": str(FOLDER)},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn("kernel 0 is less than 1", result.stdout)
        self.assertNotIn("equal: True", result.stdout)

    def test_version_and_instruction_sets(self):
        self.assertRegex(selvage.selvage_version().decode(), r"^\d+\.\d+\.\d+$")
        self.assertEqual(selvage.selvage_isa(0), b"sse41")
        self.assertIsNone(selvage.selvage_isa(99))

    def test_structs_by_value(self):
        layer = Layer("max_pool2d n=2 c=3 in=5x8 kernel=2 stride=1x2 pads=1,0,2,1 type=u8")
        tensor = selvage.selvage_plan_output(layer.plan, 4096)
        self.assertEqual(tensor.data, 4096)
        self.assertEqual(tensor.type, U8)
        self.assertEqual([getattr(tensor, name) for name in SIZES], [2, 1, 7, 4, 3])
        strides = [getattr(tensor, "stride_" + name) for name in SIZES]
        self.assertEqual(strides, [84, 84, 12, 3, 1])
        region = selvage.selvage_plan_output_region(layer.plan)
        ranges = [(r.begin, r.size) for r in (region.z, region.y, region.x)]
        self.assertEqual(ranges, [(0, 1), (0, 7), (0, 4)])

    def test_dense_arrays(self):
        x, w = numbers(2, 6, 9, 4), numbers(5, 4, 3, 2)
        y = np.full((2, 4, 8, 5), np.nan, np.float32)
        Layer("conv2d n=2 c=4 k=5 in=6x9 kernel=3x2", w).run(x, y)
        np.testing.assert_array_equal(y, convolved(x, w))

    def test_views(self):
        """Channels 2 to 5 of a rectangle, into a rectangle of another array; no copies."""
        x, w = numbers(2, 10, 12, 8), numbers(5, 4, 3, 2)
        y = np.full((2, 7, 9, 6), -1, np.float32)
        part, inner = x[:, 2:8, 3:12, 2:6], y[:, 1:5, :8, 1:]
        Layer("conv2d n=2 c=4 k=5 in=6x9 kernel=3x2", w).run_views(part, inner)
        expected = np.full_like(y, -1)
        expected[:, 1:5, :8, 1:] = convolved(part, w)
        np.testing.assert_array_equal(y, expected)

    def test_wrong_strides_are_refused(self):
        layer = Layer("max_pool2d c=4 in=6x9 kernel=3x2")
        y = np.zeros((1, 4, 8, 4), np.float32)
        with self.assertRaisesRegex(ValueError, "stride of -"):
            layer.run_views(numbers(1, 6, 9, 4)[:, ::-1], y)
        with self.assertRaisesRegex(ValueError, "2 elements apart along its channels"):
            layer.run_views(numbers(1, 6, 9, 8)[..., ::2], y)

    def test_threads_of_python(self):
        """A pool of Python's runs the shares; the bits are those of one thread."""
        x, w = numbers(1, 40, 41, 8), numbers(16, 8, 3, 3)
        one, many = np.full((2, 1, 38, 39, 16), np.nan, np.float32)
        problem = "conv2d c=8 k=16 in=40x41 kernel=3"
        Layer(problem, w).run(x, one)
        shares = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:

            def run(_, task, data, count):
                shares.append(count)
                list(pool.map(lambda index: task(data, index), range(count)))

            hook = Parallel(RUN(run), None)
            Layer(problem, w, threads=3).run(x, many, ctypes.byref(hook))
        self.assertEqual(shares, [3])
        np.testing.assert_array_equal(one, convolved(x, w))
        np.testing.assert_array_equal(many, one)

    def test_each_thread_its_layer(self):
        x, w = numbers(1, 40, 41, 8), numbers(16, 8, 3, 3)

        def compute(_):
            y = np.full((1, 38, 39, 16), np.nan, np.float32)
            Layer("conv2d c=8 k=16 in=40x41 kernel=3", w).run(x, y)
            return y

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for y in pool.map(compute, range(8)):
                np.testing.assert_array_equal(y, convolved(x, w))


if __name__ == "__main__":
    unittest.main()
