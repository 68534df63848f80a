"""EfficientNet-Lite0 in NumPy: images in, 1280 pooled activations out.

Plain NumPy needs no framework of hundreds of megabytes and takes some 40 ms an image on one core:
most of the work is products of matrices, which NumPy hands to BLAS. Activations have the shape
(height, width, channels). Batch normalisation is a factor and an offset per channel, so it is
folded into the kernel before it once and for all.
"""

from dataclasses import dataclass

import numpy as np

from .base import ByteArray, Float32Array

CHANNELS = 1280
BLOCKS = 16
# The blocks that halve the resolution.
HALVING = frozenset({1, 3, 5, 11})
# What batch normalisation adds to the variance, as the network was trained.
EPSILON = 1e-3
# Activations are cut off here.
CEILING = 6.0
# Numbers that a depthwise convolution works on at a time, so that they stay in a core's cache.
CACHED = 1 << 16


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
    """Widen, filter each channel separately, narrow."""

    expand: Convolution | None
    depthwise: Convolution
    project: Convolution
    stride: int


@dataclass(frozen=True)
class Network:
    """The whole network without its last layer, which names ImageNet's classes."""

    stem: Convolution
    blocks: tuple[Block, ...]
    head: Convolution

    def activations(self, image: ByteArray) -> Float32Array:
        """What the last layer but one says of an image (h, w, 3) in bytes; (CHANNELS,)."""
        x: Float32Array = np.asarray((image - 127.0) / 128.0, dtype=np.float32)
        x = capped(convolved(x, self.stem, stride=2))
        for block in self.blocks:
            x = passed(x, block)
        return np.asarray(capped(mixed(x, self.head)).mean(axis=(0, 1)), dtype=np.float32)


def build(weights: dict[str, Float32Array]) -> Network:
    """The network of a table of weights."""
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


def passed(x: Float32Array, block: Block) -> Float32Array:
    """Activations (h, w, c) after a block; it adds to them where their shape stays the same."""
    wide = x if block.expand is None else capped(mixed(x, block.expand))
    y = mixed(capped(each_convolved(wide, block.depthwise, block.stride)), block.project)
    if block.stride == 1 and y.shape == x.shape:
        y += x
    return y


def mixed(x: Float32Array, convolution: Convolution) -> Float32Array:
    """The channels of every pixel mixed: (h, w, inputs) to (h, w, outputs)."""
    y = x.reshape(-1, x.shape[2]) @ convolution.kernel
    y += convolution.offset
    return y.reshape(*x.shape[:2], -1)


def convolved(x: Float32Array, convolution: Convolution, stride: int) -> Float32Array:
    """A convolution of all channels with all: (h, w, inputs) to (h', w', outputs)."""
    k = convolution.kernel.shape[0]
    around = padded(x, k, stride)
    neighbours = [_window(around, i, j, k, stride) for i in range(k) for j in range(k)]
    flat = convolution.kernel.reshape(-1, convolution.kernel.shape[3])
    return mixed(np.concatenate(neighbours, axis=2), Convolution(flat, convolution.offset))


def each_convolved(x: Float32Array, convolution: Convolution, stride: int) -> Float32Array:
    """A convolution of each channel separately: (h, w, c) to (h', w', c)."""
    k = convolution.kernel.shape[0]
    around = padded(x, k, stride)
    height, width = (-(-extent // stride) for extent in x.shape[:2])
    # A row of kernels beside each other: NumPy then runs along whole rows of the image.
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
    """The pixels that row i and column j of a kernel of width k meet."""
    height, width = (extent - k + 1 for extent in around.shape[:2])
    return around[i : i + height : stride, j : j + width : stride]


def padded(x: Float32Array, k: int, stride: int) -> Float32Array:
    """Zeros around (h, w, c), so that a kernel of width k gives ⌈h/stride⌉ rows.

    An odd number of them has the larger part below and to the right, as the network was trained.
    """
    (top, height), (left, width) = (_padding(extent, k, stride) for extent in x.shape[:2])
    around = np.zeros((height, width, x.shape[2]), dtype=np.float32)
    around[top : top + x.shape[0], left : left + x.shape[1]] = x
    return around


def _padding(extent: int, k: int, stride: int) -> tuple[int, int]:
    """The zeros before, and the extent with all of them."""
    needed = max((-(-extent // stride) - 1) * stride + k - extent, 0)
    return needed // 2, extent + needed


def capped(x: Float32Array) -> Float32Array:
    """Activations between 0 and CEILING, in place."""
    return np.clip(x, np.float32(0), np.float32(CEILING), out=x)
