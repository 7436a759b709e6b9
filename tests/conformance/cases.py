"""A case: one problem, its numbers and the result that is expected, in a folder of plain files.

    case.txt      lines `name value`:
                      problem   the problem text
                      operator  the ONNX operator
                      origin    where the case comes from
                      fault     optional: why `output` is not to be trusted; it is absent then,
                                and the tests' own oracle says what is right
    input.npy     n x c x depth x rows x columns, or fewer axes
    weights.npy   as ONNX orders them; convolutions only
    bias.npy      k; where the problem has one
    output.npy    as the input
    indices.npy   of a max pool, where the problem asks for them

All arrays are float32, whatever the problem's type: the types of the library fit, and others are
converted where that is exact.
"""

import shutil

import numpy as np
from onnx import helper

SAME = {"SAME_UPPER": "onnx-upper", "SAME_LOWER": "onnx-lower", "VALID": "valid"}
MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
TYPES = {"float32": "f32", "uint8": "u8", "int8": "i8"}


def attributes(node):
    """The attributes of a node by name, with texts as str."""
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}


def sizes(numbers):
    return "x".join(str(n) for n in numbers)


def sides(numbers):
    return ",".join(str(n) for n in numbers)


class Translation:
    """An ONNX node and its inputs in the words of a problem text.

    `arrays` are the node's inputs in order, None for one left out. `text` is the problem, `files`
    the arrays of the case by their names. Raises NotImplementedError for what a problem cannot say.
    """

    def __init__(self, node, arrays):
        self.node = node
        self.arrays = list(arrays) + [None] * (4 - len(arrays))
        self.attributes = attributes(node)
        self.input = self.arrays[0]
        self.spatial = self.input.shape[2:]
        if len(self.spatial) not in (1, 2, 3):
            raise NotImplementedError(f"{len(self.spatial)} axes")
        self.files = {"input": self.input}
        operator = node.op_type
        if operator in ("Conv", "ConvTranspose"):
            name, fields = self.convolution()
        elif operator == "Pad":
            name, fields = self.pad()
        elif operator.startswith("Global"):
            name, fields = self.pool(operator[len("Global") :], global_pool=True)
        else:
            name, fields = self.pool(operator, global_pool=False)
        n, c = self.input.shape[:2]
        shape = [f"n={n}", f"c={c}", f"in={sizes(self.spatial)}"]
        self.text = " ".join([f"{name}{len(self.spatial)}d", *shape, *fields, "layout=nchw"])

    def windows(self, kernel):
        """Kernel, stride, dilation and pads: the attributes that all windows have."""
        a = self.attributes
        ones = [1] * len(self.spatial)
        yield f"kernel={sizes(kernel)}"
        yield f"stride={sizes(a.get('strides', ones))}"
        yield f"dilation={sizes(a.get('dilations', ones))}"
        if a.get("auto_pad", "NOTSET") != "NOTSET":
            yield f"same={SAME[a['auto_pad']]}"
        elif "pads" in a and "output_shape" not in a:
            yield f"pads={sides(a['pads'])}"

    def convolution(self):
        a = self.attributes
        weights, bias = self.arrays[1:3]
        groups = a.get("group", 1)
        transposed = self.node.op_type == "ConvTranspose"
        outputs = weights.shape[1] * groups if transposed else weights.shape[0]
        depthwise = not transposed and groups == self.input.shape[1] > 1
        fields = [f"k={outputs}"]
        if not depthwise:
            fields.append(f"g={groups}")
        fields += self.windows(weights.shape[2:])
        if transposed and "output_shape" in a:
            fields.append(f"output_shape={sizes(a['output_shape'])}")
        if transposed and "output_padding" in a:
            fields.append(f"output_padding={sides(a['output_padding'])}")
        self.files["weights"] = weights
        if bias is not None:
            fields.append("bias=1")
            self.files["bias"] = bias
        return "conv_transpose" if transposed else "depthwise" if depthwise else "conv", fields

    def pool(self, operator, global_pool):
        a = self.attributes
        if global_pool:
            fields = ["adaptive=1"]
        else:
            fields = list(self.windows(a["kernel_shape"]))
            fields.append(f"ceil={a.get('ceil_mode', 0)}")
        if operator == "MaxPool":
            fields.append(self.type())
            if len(self.node.output) == 2:
                order = "column" if a.get("storage_order", 0) else "row"
                fields.append(f"indices=tensor order={order}")
            return "max_pool", fields
        if operator == "AveragePool":
            if not global_pool:
                fields.append(f"include_pad={a.get('count_include_pad', 0)}")
            return "avg_pool", fields
        return "lp_pool", [*fields, f"p={a.get('p', 2)}"]

    def pad(self):
        a = self.attributes
        rank = self.input.ndim
        amounts, value, axes = self.arrays[1:4]
        if amounts is None:  # attributes before opset 11
            amounts, value = a["pads"], a.get("value", 0.0)
        axes = range(rank) if axes is None else [int(axis) % rank for axis in axes]
        begin, end = [0] * rank, [0] * rank
        for i, axis in enumerate(axes):
            begin[axis], end[axis] = int(amounts[i]), int(amounts[len(axes) + i])
        if any(begin[:2] + end[:2]):
            raise NotImplementedError("pads of images or channels")
        mode = MODES[a.get("mode", "constant")]
        fields = [f"pads={sides(begin[2:] + end[2:])}", f"border={mode}", self.type()]
        if mode == "constant" and value is not None:
            fields.append(f"value={float(value):.9g}")
        return "pad", fields

    def type(self):
        return f"type={TYPES.get(self.input.dtype.name, 'f32')}"


def exact_float32(array):
    result = np.ascontiguousarray(array, np.float32)
    if not np.array_equal(result.astype(array.dtype), array, equal_nan=True):
        raise NotImplementedError(f"{array.dtype} values that float32 cannot hold")
    return result


def clear(directory):
    """Removes the cases of a directory, and nothing else."""
    for file in directory.glob("*/case.txt"):
        shutil.rmtree(file.parent)


def write_case(folder, node, arrays, results, origin, fault=None):
    """Writes one case. `results` are the node's outputs; with a fault they are left out."""
    translation = Translation(node, arrays)
    files = dict(translation.files)
    if fault is None:
        files.update(zip(("output", "indices"), results))
    folder.mkdir(parents=True)
    lines = [f"problem {translation.text}", f"operator {node.op_type}", f"origin {origin}"]
    if fault is not None:
        lines.append(f"fault {fault}")
    (folder / "case.txt").write_text("\n".join(lines) + "\n")
    for name, array in files.items():
        np.save(folder / f"{name}.npy", exact_float32(array))
