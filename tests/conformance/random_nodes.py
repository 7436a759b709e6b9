"""Random ONNX nodes and their inputs: every operator that the library shares with ONNX.

Data are integers, small enough for every sum to be exact in any order.
"""

import numpy as np

LARGEST = {1: 40, 2: 18, 3: 8}  # axes of the input by their number, which keeps all cases cheap


class Random:
    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def between(self, low, high):
        """A whole number among low..high, both included."""
        return int(self.generator.integers(low, high + 1))

    def one_in(self, n):
        return self.between(1, n) == 1

    def pick(self, *values):
        return values[self.between(0, len(values) - 1)]

    def integers(self, shape, low, high, dtype=np.float32):
        return self.generator.integers(low, high + 1, shape).astype(dtype)


def window_axis(random, rank):
    """Kernel, stride, dilation, and the elements from the first tap to the last."""
    kernel = random.between(1, 3 if rank == 3 else 5)
    dilation = random.pick(1, 1, 2, 3)
    return kernel, random.pick(1, 1, 2, 3, 4), dilation, dilation * (kernel - 1) + 1


def sliding_windows(random, rank, pads_below_kernel):
    """The input's axes and the attributes of windows of which at least one fits on each."""
    auto_pad = random.pick("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    same = auto_pad.startswith("SAME")
    plain = same and not random.one_in(5)  # what onnxruntime can do with SAME
    size, kernels, strides, dilations, begin, end = [], [], [], [], [], []
    for _ in range(rank):
        kernel, stride, dilation, extent = window_axis(random, rank)
        if plain:
            stride, dilation, extent = min(stride, kernel), 1, kernel
        most = kernel - 1 if pads_below_kernel else extent + 1
        pads = [random.between(0, most) if auto_pad == "NOTSET" else 0 for _ in range(2)]
        least = 1 if same else max(1, extent - sum(pads))
        size.append(random.between(least, max(least, LARGEST[rank])))
        kernels.append(kernel)
        strides.append(stride)
        dilations.append(dilation)
        begin.append(pads[0])
        end.append(pads[1])
    attributes = {"kernel_shape": kernels, "strides": strides, "dilations": dilations}
    if auto_pad == "NOTSET":
        attributes["pads"] = begin + end
    else:
        attributes["auto_pad"] = auto_pad
    return size, attributes


def some_channels(random):
    """Mostly few, now and then more than the longest vectors have lanes."""
    return random.between(1, 80) if random.one_in(6) else random.between(1, 9)


def channels(random):
    """Groups, and the input and output channels of each."""
    if random.one_in(4):  # depthwise
        return 1 + some_channels(random), 1, random.pick(1, 1, 2)
    groups = random.pick(1, 1, 2, 3)
    return groups, some_channels(random), some_channels(random)


def image_shape(random, channels, size):
    return [1 if len(size) == 3 else random.between(1, 2), channels, *size]


def convolution_inputs(random, size, channels, weights, outputs):
    """Images, weights of a shape, and half of the time a bias."""
    x = random.integers(image_shape(random, channels, size), -4, 4)
    bias = random.integers([outputs], -9, 9) if random.one_in(2) else None
    return [x, random.integers(weights, -3, 3), bias]


def conv(random, rank):
    size, attributes = sliding_windows(random, rank, pads_below_kernel=False)
    groups, inputs, outputs = channels(random)
    attributes["group"] = groups
    weights = [groups * outputs, inputs, *attributes["kernel_shape"]]
    arrays = convolution_inputs(random, size, groups * inputs, weights, groups * outputs)
    return "Conv", attributes, arrays


def conv_transpose(random, rank):
    how = random.pick("pads", "pads", "auto_pad", "output_shape")
    plain = how == "auto_pad" and not random.one_in(5)  # what onnxruntime can do with SAME
    dilation_counts = random.one_in(5)  # for output_padding, which then may exceed the stride
    size, kernels, strides, dilations, begin, end = [], [], [], [], [], []
    output_padding, output_shape = [], []
    for _ in range(rank):
        kernel, stride, dilation, extent = window_axis(random, rank)
        if plain:
            stride = min(stride, kernel)
        size.append(random.between(1, LARGEST[rank] // 2))
        kernels.append(kernel)
        strides.append(stride)
        dilations.append(dilation)
        full = (size[-1] - 1) * stride + extent  # outputs that input elements reach
        begin.append(random.between(0, min(extent, full - 1)))
        end.append(random.between(0, min(extent, full - 1 - begin[-1])))
        below = max(stride, dilation) if dilation_counts else stride
        output_padding.append(random.between(0, below - 1))
        output_shape.append(random.between(max(1, full - extent), full))
    groups, inputs, outputs = channels(random)
    attributes = {"kernel_shape": kernels, "strides": strides, "dilations": dilations}
    attributes["group"] = groups
    if how == "pads":
        attributes["pads"] = begin + end
        if random.one_in(2):
            attributes["output_padding"] = output_padding
    elif how == "output_shape":
        attributes["output_shape"] = output_shape
        attributes["auto_pad"] = random.pick("NOTSET", "SAME_UPPER", "SAME_LOWER")
    else:
        attributes["auto_pad"] = random.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    weights = [groups * inputs, outputs, *kernels]
    arrays = convolution_inputs(random, size, groups * inputs, weights, groups * outputs)
    return "ConvTranspose", attributes, arrays


def pool_input(random, size, dtype=np.float32):
    shape = image_shape(random, some_channels(random), size)
    low, high = (-9, 9) if dtype == np.float32 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return random.integers(shape, low, high, dtype)


def max_pool(random, rank):
    size, attributes = sliding_windows(random, rank, pads_below_kernel=not random.one_in(10))
    attributes["ceil_mode"] = random.between(0, 1)
    attributes["storage_order"] = random.between(0, 1)
    x = pool_input(random, size, random.pick(np.float32, np.float32, np.uint8, np.int8))
    if x.dtype == np.float32 and random.one_in(10):
        x[random.generator.random(x.shape) < 0.2] = random.pick(np.nan, -np.inf)
    return "MaxPool", attributes, [x]


def average_pool(random, rank):
    size, attributes = sliding_windows(random, rank, pads_below_kernel=not random.one_in(10))
    attributes["ceil_mode"] = random.between(0, 1)
    attributes["count_include_pad"] = random.between(0, 1)
    return "AveragePool", attributes, [pool_input(random, size)]


def lp_pool(random, rank):
    size, attributes = sliding_windows(random, rank, pads_below_kernel=not random.one_in(10))
    attributes["ceil_mode"] = random.between(0, 1)
    attributes["p"] = random.between(1, 4)
    return "LpPool", attributes, [pool_input(random, size)]


def global_pool(random, rank):
    size = [random.between(1, LARGEST[rank]) for _ in range(rank)]
    operator = random.pick("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
    attributes = {"p": random.between(1, 4)} if operator == "GlobalLpPool" else {}
    return operator, attributes, [pool_input(random, size)]


def pad(random, rank):
    mode = random.pick("constant", "edge", "reflect", "wrap")
    size = [random.between(1, LARGEST[rank]) for _ in range(rank)]
    x = pool_input(random, size, random.pick(np.float32, np.float32, np.uint8, np.int8))
    begin, end = ([random.between(-1 if n > 2 else 0, 5) for n in size] for _ in range(2))
    value = random.integers([], 0, 9, x.dtype) if mode == "constant" else None
    return "Pad", {"mode": mode}, [x, np.array([0, 0, *begin, 0, 0, *end]), value]


OPERATORS = (
    *(conv, conv, conv_transpose, conv_transpose),
    *(max_pool, average_pool, lp_pool, global_pool, pad),
)


def random_node(seed):
    """Operator, attributes, and inputs in the order of ONNX, None for one left out."""
    random = Random(seed)
    rank = random.pick(1, 2, 2, 3)
    return random.pick(*OPERATORS)(random, rank)
