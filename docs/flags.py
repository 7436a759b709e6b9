"""Holds the table of flags in borders.md to the libraries that it names, and to this one.

Each row of the table has a library, a call there and a problem text here, both of them code. Usage:

    flags.py answers          runs the calls of every library that this Python has, and keeps what they
                              give in flag_answers.json beside this file (with the library's version)
    flags.py check PROGRAMS   fails where `selvage apply`, found in the folder PROGRAMS, answers otherwise
                              than flag_answers.json, or a row has no answer there

In a row `x` is the input and `w` the kernel, of as many axes as the problem; `K` stands for the taps of a
kernel of one axis, `H` and `W` for those of two. Numbers are whole, and multiples of 60, so that averages
of up to six are whole too.
"""

import contextlib
import importlib
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
ANSWERS = FOLDER / "flag_answers.json"
ROW = re.compile(
    r"^\| (?P<library>[\w.]+) \| `(?P<there>[^`]+)` \| `(?P<here>[^`]+)`(?P<flipped>, `w` flipped)? \|$"
)
NOT_RUN = {"oneDNN", "XNNPACK"}  # no calls in Python
TABLE = "| library | there | here |"

# Of one axis and of two: pairs of input and kernel.
SHAPES = {
    1: [((7,), (3,)), ((8,), (3,)), ((7,), (4,)), ((8,), (4,))],
    2: [((5, 6), (3, 4)), ((6, 5), (4, 3))],
}


def rows():
    """The rows of the table, as matches of ROW."""
    lines = iter((FOLDER / "borders.md").read_text().splitlines())
    table = itertools.takewhile(
        lambda line: line.startswith("|"), itertools.dropwhile(TABLE.__ne__, lines)
    )
    for line in list(table)[2:]:
        row = ROW.match(line)
        if not row:
            sys.exit(f"borders.md: not a row of code: {line}")
        if row["library"] not in NOT_RUN:
            yield row


def cases(row):
    """Input, kernel and the letters that stand for its taps."""
    rank = int(re.match(r"[a-z_]+(\d)d", row["here"])[1])
    for shape, kernel in SHAPES[rank]:
        x = np.float32([60 * ((7 * i * i + 3 * i) % 23 - 5) for i in range(math.prod(shape))]).reshape(
            shape
        )
        w = np.float32([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37][: math.prod(kernel)]).reshape(
            kernel
        )
        yield x, w, dict(zip("K" if rank == 1 else "HW", kernel))


# --- There ---------------------------------------------------------------------------------------


def plain(array):
    return array


def channels_first(array):
    return array[None, None]


def numpy_names():
    return {"np": np}, plain, plain, np.__version__


def scipy_names():
    return (
        {
            "signal": importlib.import_module("scipy.signal"),
            "ndimage": importlib.import_module("scipy.ndimage"),
        },
        plain,
        plain,
        importlib.import_module("scipy").__version__,
    )


def opencv_names():
    cv2 = importlib.import_module("cv2")
    return {"cv2": cv2, "np": np}, plain, plain, cv2.__version__


def torch_names():
    torch = importlib.import_module("torch")

    def tensor(array):
        return torch.from_numpy(channels_first(array).copy())

    return {"torch": torch, "F": torch.nn.functional}, tensor, tensor, torch.__version__


def tensorflow_names():
    tf = importlib.import_module("tensorflow")
    return (
        {"tf": tf, "keras": tf.keras},
        lambda x: tf.constant(x[None, ..., None]),
        lambda w: tf.constant(w[..., None, None]),
        tf.__version__,
    )


def jax_names():
    jax = importlib.import_module("jax")
    return {"lax": jax.lax}, channels_first, channels_first, jax.__version__


def onnx_names():
    onnx = importlib.import_module("onnx")
    onnxruntime = importlib.import_module("onnxruntime")

    def operator(name):
        def call(*inputs, **attributes):
            names = [f"i{i}" for i in range(len(inputs))]
            arrays = [np.asarray(i) for i in inputs]
            node = onnx.helper.make_node(name, names, ["y"], **attributes)
            graph = onnx.helper.make_graph(
                [node],
                "row",
                [
                    onnx.helper.make_tensor_value_info(
                        n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape
                    )
                    for n, a in zip(names, arrays)
                ],
                [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
            )
            model = onnx.helper.make_model(
                graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9
            )
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), providers=["CPUExecutionProvider"]
            )
            return session.run(None, dict(zip(names, arrays)))[0]

        return call

    names = {
        name: operator(name) for name in ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "Pad")
    }
    return names, channels_first, channels_first, f"onnxruntime {onnxruntime.__version__}"


LIBRARIES = {
    "NumPy": numpy_names,
    "SciPy": scipy_names,
    "OpenCV": opencv_names,
    "PyTorch": torch_names,
    "TensorFlow": tensorflow_names,
    "JAX": jax_names,
    "ONNX": onnx_names,
}


def called(row, names, input_of, kernel_of):
    """What the library answers, for each case."""
    answers = []
    for x, w, letters in cases(row):
        result = eval(row["there"], {**names, **letters, "x": input_of(x), "w": kernel_of(w)})
        answers.append(np.asarray(result).ravel().tolist())
    return answers


def written(stored):
    """JSON with a line for each call."""
    libraries = []
    for library, held in sorted(stored.items()):
        calls = [
            f"   {json.dumps(call)}: {json.dumps(there)}" for call, there in held["answers"].items()
        ]
        head = f' {json.dumps(library)}: {{"version": {json.dumps(held["version"])}, "answers": {{'
        libraries.append(head + "\n" + ",\n".join(calls) + "}}")
    return "{\n" + ",\n".join(libraries) + "\n}\n"


def answer():
    stored = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    for library, load in LIBRARIES.items():
        try:
            *names, version = load()
        except ImportError:
            print(f"{library}: not here, its answers stay")
            continue
        answers = {row["there"]: called(row, *names) for row in rows() if row["library"] == library}
        stored[library] = {"version": version, "answers": answers}
        print(f"{library} {version}: {len(answers)} rows")
    ANSWERS.write_text(written(stored))


# --- Here ----------------------------------------------------------------------------------------


def problem_text(row, x, w, letters):
    """The row's text with letters replaced by numbers, and with sizes."""

    def value(field):
        name, equals, text = field.partition("=")
        if not equals:
            return field
        return (
            name
            + "="
            + ",".join(
                str(eval(number, dict(letters))) if set(letters) & set(number) else number
                for number in text.split(",")
            )
        )

    fields = [value(field) for field in row["here"].split()]
    fields.append("in=" + "x".join(map(str, x.shape)))
    if not re.match("pad|stride_sample", row["here"]) and not re.search(
        "kernel=|adaptive=", row["here"]
    ):
        fields.append("kernel=" + "x".join(map(str, w.shape)))
    return " ".join(fields)


def applied(selvage, row, x, w, letters):
    """What this library answers, or what it says instead."""
    weights = np.flip(w) if row["flipped"] else w
    np.save("x.npy", x[None, ..., None])
    np.save("w.npy", weights[None, None])
    options = ["-w", "w.npy"] if "conv" in row["here"] else []
    command = [
        selvage,
        "apply",
        problem_text(row, x, w, letters),
        "-i",
        "x.npy",
        "-o",
        "y.npy",
        *options,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return np.load("y.npy").ravel().tolist() if result.returncode == 0 else result.stderr.strip()


def check(programs):
    selvage = str(pathlib.Path(programs).resolve() / "selvage")
    stored = json.loads(ANSWERS.read_text())
    wrong = held = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for row in rows():
            there = stored.get(row["library"], {"answers": {}})["answers"].get(row["there"])
            if there is None:
                wrong += 1
                print(f"no answer of {row['there']}; run `flags.py answers` where {row['library']} is")
                continue
            for (x, w, letters), expected in zip(cases(row), there, strict=True):
                held += 1
                found = applied(selvage, row, x, w, letters)
                if found != expected:
                    wrong += 1
                    print(
                        f"{row['there']}\n  there {expected}\n"
                        f"  {problem_text(row, x, w, letters)}\n  here  {found}"
                    )
    print(f"{held} answers compared")
    return wrong > 0 or held == 0


def main():
    if sys.argv[1:] == ["answers"]:
        return answer()
    if len(sys.argv) == 3 and sys.argv[1] == "check":
        return check(sys.argv[2])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
