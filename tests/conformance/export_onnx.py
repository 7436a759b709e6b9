"""Writes the tests that the onnx package carries for our operators as cases (see cases.py).

    export_onnx.py OUT_DIR

There are two collections: the backend node tests, and the layers that were converted from PyTorch.
A test that cannot be written ends the program: none is left out in silence. Earlier cases in
OUT_DIR go.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from cases import attributes, clear, write_case

OPERATORS = (
    "Conv ConvTranspose MaxPool AveragePool LpPool GlobalMaxPool GlobalAveragePool GlobalLpPool Pad"
).split()

# Tests whose expected values are wrong, and what is wrong with them.
FAULTS = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad": "values rounded to four decimals",
}


def node_tests():
    """Name, model, inputs and outputs of every generated test of any operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflows that tests of casts want
        for test in collect_testcases():
            for inputs, outputs in test.data_sets:
                yield test.name, test.model, inputs, outputs


def converted_tests():
    """The same of the models that were converted from PyTorch."""
    data = Path(onnx.__file__).parent / "backend" / "test" / "data"

    def arrays(folder, kind):
        count = len(list(folder.glob(f"{kind}_*.pb")))
        paths = [folder / f"{kind}_{i}.pb" for i in range(count)]
        return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]

    for path in sorted(data.glob("pytorch-*/*/model.onnx")):
        for folder in sorted(path.parent.glob("test_data_set_*")):
            inputs, outputs = arrays(folder, "input"), arrays(folder, "output")
            yield path.parent.name, onnx.load(path), inputs, outputs


def single_node(graph):
    """The node of ours that a graph consists of, and the axes that are added around it.

    PyTorch's 1-D average pool came out as Unsqueeze, a 2-D pool and Squeeze. (None, []) for graphs
    that are anything else.
    """
    types = [node.op_type for node in graph.node]
    if len(types) == 1 and types[0] in OPERATORS:
        return graph.node[0], []
    if len(types) == 3 and (types[0], types[2]) == ("Unsqueeze", "Squeeze"):
        return graph.node[1], attributes(graph.node[0])["axes"]
    return None, []


def write(folder, origin, model, inputs, outputs):
    """Writes the case if the model is one of ours, and tells whether it was."""
    node, axes = single_node(model.graph)
    if node is None:
        return False
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values.update(zip((i.name for i in model.graph.input if i.name not in values), inputs))
    arrays = [values.get(name) for name in node.input]
    if axes:
        arrays = [np.expand_dims(values[model.graph.node[0].input[0]], tuple(axes))]
        outputs = [np.expand_dims(outputs[0], tuple(axes))]
    write_case(folder, node, arrays, outputs, origin, FAULTS.get(folder.name))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    clear(out)
    count = 0
    for origin, tests in (("node", node_tests()), ("pytorch", converted_tests())):
        for name, model, inputs, outputs in tests:
            try:
                count += write(out / name, origin, model, inputs, outputs)
            except NotImplementedError as error:
                raise SystemExit(f"{name}: {error}") from error
    print(f"{count} cases of onnx {onnx.__version__} in {out}")


if __name__ == "__main__":
    main()
