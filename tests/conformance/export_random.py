"""Writes random problems with the answers of onnxruntime as cases (see cases.py).

    export_random.py OUT_DIR [--seed N] [--count N]

Each case has a seed of its own, N, N+1 and so on, so `--seed N --count 1` repeats one alone.
Without a seed one is taken from the clock. Earlier cases in OUT_DIR go.

Where onnxruntime is known to be wrong or to refuse (FAULTS) it is not asked: the case goes without
an answer, and the tests' own oracle gives it. A refusal that is not listed ends the program.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.helper import np_dtype_to_tensor_dtype

from cases import clear, write_case
from random_nodes import random_node

# The newest of which onnxruntime has all operators.
OPSET, IR_VERSION = 21, 10

# --- What onnxruntime is not asked ---------------------------------------------------------------

POOLS = ("MaxPool", "AveragePool", "LpPool")


def same(attributes):
    return attributes.get("auto_pad", "NOTSET").startswith("SAME")


def kernel_below_stride(attributes):
    return any(k < s for k, s in zip(attributes["kernel_shape"], attributes["strides"]))


def same_with_dilation(operator, attributes, arrays):
    return operator in ("Conv", *POOLS) and same(attributes) and max(attributes["dilations"]) > 1


def same_below_stride(operator, attributes, arrays):
    return operator in ("Conv", *POOLS) and same(attributes) and kernel_below_stride(attributes)


def transposed_same_below_stride(operator, attributes, arrays):
    unsized = operator == "ConvTranspose" and "output_shape" not in attributes
    return unsized and same(attributes) and kernel_below_stride(attributes)


def pool_pads(operator, attributes, arrays):
    kernel = attributes.get("kernel_shape", []) * 2
    pads = attributes.get("pads", [])
    return operator in POOLS and any(p >= k for p, k in zip(pads, kernel))


def large_output_padding(operator, attributes, arrays):
    padding = attributes.get("output_padding", [])
    return any(p >= s for p, s in zip(padding, attributes.get("strides", [])))


def long_reflection(operator, attributes, arrays):
    if attributes.get("mode") != "reflect":
        return False
    left = np.array(arrays[0].shape) + np.minimum(arrays[1].reshape(2, -1), 0).sum(axis=0)
    return bool((arrays[1].reshape(2, -1) >= left).any())


def not_finite(operator, attributes, arrays):
    return operator == "MaxPool" and not np.isfinite(arrays[0]).all()


def taps_around_the_input(operator, attributes, arrays):
    sizes = arrays[0].shape[2:]
    return operator == "MaxPool" and any(d > n for d, n in zip(attributes["dilations"], sizes))


# The class, and what onnxruntime does there.
FAULTS = {
    same_with_dilation: "SAME with dilation: Conv refuses, pools leave the dilation out",
    same_below_stride: "SAME with a kernel below the stride: MaxPool refuses, others shift windows",
    transposed_same_below_stride: "ConvTranspose, SAME, a kernel below the stride: gives less than "
    "size*stride",
    pool_pads: "pads of a pool that reach its kernel: refuses",
    large_output_padding: "output_padding that reaches the stride, below the dilation: refuses",
    long_reflection: "reflection beyond the far end: refuses",
    taps_around_the_input: "MaxPool of a window of padding only: -3.4e38 for -inf",
    not_finite: "MaxPool of NaN or -inf: passes over NaN, -3.4e38 for -inf",
}


def known_fault(operator, attributes, arrays):
    """What onnxruntime does wrong here, or None."""
    for applies, text in FAULTS.items():
        if applies(operator, attributes, arrays):
            return text
    return None


# --- Asking onnxruntime --------------------------------------------------------------------------


def make_node(operator, attributes, arrays, with_indices):
    inputs = [f"input{i}" if array is not None else "" for i, array in enumerate(arrays)]
    outputs = ["output"]
    if operator == "MaxPool" and with_indices:
        outputs.append("indices")
    return helper.make_node(operator, inputs, outputs, **attributes)


def answer(node, arrays):
    """The node's outputs."""
    inputs = {name: array for name, array in zip(node.input, arrays) if array is not None}
    types = {name: np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    types.update(output=types["input0"], indices=TensorProto.INT64)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "case",
        [info(name, types[name], array.shape) for name, array in inputs.items()],
        [info(name, types[name], None) for name in node.output],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, too
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=2000)
    arguments = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, seed {arguments.seed}")
    clear(arguments.out)
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        operator, attributes, arrays = random_node(seed)
        node = make_node(operator, attributes, arrays, with_indices=seed % 2 == 0)
        fault = known_fault(operator, attributes, arrays)
        try:
            results = answer(node, arrays) if fault is None else []
        except Exception as error:  # onnxruntime has no narrower class
            text = f"--seed {seed} --count 1: {operator} {attributes}: {error}"
            raise SystemExit(text) from error
        origin = f"export_random.py DIR --seed {seed} --count 1 && conformance DIR"
        write_case(arguments.out / str(seed), node, arrays, results, origin, fault)


if __name__ == "__main__":
    main()
