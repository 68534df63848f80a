"""Find pictures that are the same, or differ only in size, encoding, edges or light."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.fft import dctn
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SIDE = 32
FREQUENCIES = 16
HASH_BITS = FREQUENCIES * FREQUENCIES

# Copies that were recompressed, resized, brightened or cropped by 4 % differ in up to 50 bits.
# Among 1,200 photographs of animals, true near duplicates differ in up to 79 and unrelated pictures in at least 89.
MAX_BITS = 68
# The third nearest picture is 106 bits away in those photographs. In drawings or scans with a
# common layout it is much nearer, and the threshold for a copy has to shrink faster than that.
TYPICAL_DISTANCE = 100
CROWDING = 1.5
NEIGHBOUR = 3
SAMPLED = 400
BLOCK = 256


# Pictures by their index in a list; each group has at least two.
Groups: TypeAlias = tuple[tuple[int, ...], ...]


def perceptual_hash(image: Image.Image) -> bytes:
    """256 bits: the signs of the low frequencies of the discrete cosine transform."""
    small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    waves = dctn(np.asarray(small, dtype=np.float64), norm="ortho")[:FREQUENCIES, :FREQUENCIES]
    waves[0, 0] = 0.0  # the mean brightness
    return np.packbits(waves > 0).tobytes()


def find_duplicates(pixel_hashes: Sequence[str], perceptual_hashes: Sequence[bytes]) -> Groups:
    """Groups of exact and near copies among n pictures: the connected components of the pairs."""
    exact = _equal_groups(pixel_hashes)
    # One picture of each exact group: many copies of one file must not make n² pairs.
    copies = {index for group in exact for index in group[1:]}
    indices = [index for index in range(len(pixel_hashes)) if index not in copies]
    hashes = as_uint64([perceptual_hashes[index] for index in indices])
    links = [(group[0], other) for group in exact for other in group[1:]]
    links += [(indices[i], indices[j]) for i, j in near_pairs(hashes, copy_threshold(hashes))]
    return _joined(len(pixel_hashes), links)


def copy_threshold(hashes: NDArray[np.uint64]) -> int:
    """The distance up to which two pictures of this set count as copies.

    hashes: (n, 4). In a set where everything looks alike, a small distance proves nothing.
    """
    if len(hashes) <= 2 * NEIGHBOUR:
        return MAX_BITS
    sample = np.linspace(0, len(hashes) - 1, min(len(hashes), SAMPLED)).astype(np.intp)
    # Index 0 is the picture itself.
    nearest = [np.partition(_distances(hashes[[row]], hashes)[0], NEIGHBOUR) for row in sample]
    typical = float(np.median([row[NEIGHBOUR] for row in nearest]))
    crowding = min(1.0, typical / TYPICAL_DISTANCE)
    return round(MAX_BITS * math.pow(crowding, CROWDING))


def _equal_groups(keys: Sequence[str]) -> Groups:
    groups: dict[str, list[int]] = defaultdict(list)
    for index, key in enumerate(keys):
        groups[key].append(index)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def as_uint64(hashes: Sequence[bytes]) -> NDArray[np.uint64]:
    """(n, 4): bits are counted 64 at a time."""
    return np.frombuffer(b"".join(hashes), dtype=np.uint64).reshape(len(hashes), HASH_BITS // 64)


def _distances(some: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """(m, n): the number of bits in which each of `some` differs from each of `others`."""
    bits = np.zeros((len(some), len(others)), dtype=np.uint16)
    for word in range(some.shape[1]):
        bits += np.bitwise_count(some[:, word, None] ^ others[None, :, word])
    return bits


def near_pairs(hashes: NDArray[np.uint64], max_bits: int) -> Iterator[tuple[int, int]]:
    """The rows of (n, 4) that differ in `max_bits` or fewer, the lower number first.

    In blocks, because ten thousand pictures have fifty million pairs.
    """
    for start in range(0, len(hashes), BLOCK):
        bits = _distances(hashes[start : start + BLOCK], hashes[start:])
        rows, columns = np.nonzero(bits <= max_bits)
        later = columns > rows
        for row, column in zip(rows[later], columns[later], strict=True):
            yield start + int(row), start + int(column)


def _joined(count: int, links: Sequence[tuple[int, int]]) -> Groups:
    """The connected components with at least two pictures, in the order of their first members."""
    if not links:
        return ()
    rows, columns = np.array(links).T
    graph = coo_array((np.ones(len(links)), (rows, columns)), shape=(count, count))
    _, component = connected_components(graph, directed=False)
    return _equal_groups([str(number) for number in component])
