"""Finding pictures that are the same, or the same but for their size, encoding, edges or light."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
# Among 1,200 photographs of animals the true near duplicates end at 79, and strangers start at 89.
MOST_BITS = 68
# The third nearest picture is 106 bits away in those photographs. In drawings or scans with a
# common layout it is much nearer, and what counts as a copy has to shrink faster than that.
USUAL_NEIGHBOUR = 100
CROWDING = 1.5
NEIGHBOUR = 3
SAMPLED = 400
BLOCK = 256


@dataclass(frozen=True, order=True)
class NearPair:
    """Two pictures, by their places in the list, and how many of the 256 bits differ."""

    first: int
    second: int
    bits: int


@dataclass(frozen=True)
class Duplicates:
    """What was found in a list of pictures; numbers are places in that list."""

    exact: tuple[tuple[int, ...], ...]
    """groups whose pixels are equal"""
    near: tuple[NearPair, ...]
    """pairs that look the same; of exact copies only the first takes part"""
    groups: tuple[tuple[int, ...], ...]
    """exact and near copies together, joined through common members; two pictures at least"""
    most_bits: int
    """the distance up to which two pictures of this list count as near"""


def perceptual_hash(image: Image.Image) -> bytes:
    """256 bits that say how a picture looks from afar: the signs of its slow cosine waves."""
    small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    waves = dctn(np.asarray(small, dtype=np.float64), norm="ortho")[:FREQUENCIES, :FREQUENCIES]
    waves[0, 0] = 0.0  # the brightness of the whole picture
    return np.packbits(waves > 0).tobytes()


def find_duplicates(
    pixel_hashes: Sequence[str], perceptual_hashes: Sequence[bytes], *, most_bits: int | None = None
) -> Duplicates:
    """Exact and near duplicates of n pictures; `most_bits` overrides the choice made from the data."""
    exact = _equal_groups(pixel_hashes)
    # One picture for each exact group: many copies of one file must not make n² pairs.
    copies = {place for group in exact for place in group[1:]}
    places = np.array([i for i in range(len(pixel_hashes)) if i not in copies], dtype=np.intp)
    hashes = _as_words([perceptual_hashes[i] for i in places])
    if most_bits is None:
        most_bits = suggested_bits(hashes)
    near = tuple(_near_pairs(hashes, places, most_bits))
    return Duplicates(
        exact=exact,
        near=near,
        groups=_joined(len(pixel_hashes), exact, near),
        most_bits=most_bits,
    )


def suggested_bits(hashes: NDArray[np.uint64]) -> int:
    """Up to which distance two pictures of this set are copies rather than relatives.

    hashes: (n, 4). In a set where everything looks alike, being near proves nothing.
    """
    if len(hashes) <= 2 * NEIGHBOUR:
        return MOST_BITS
    sample = np.linspace(0, len(hashes) - 1, min(len(hashes), SAMPLED)).astype(np.intp)
    # Place 0 is the picture itself.
    nearest = [np.partition(_distances(hashes[[row]], hashes)[0], NEIGHBOUR) for row in sample]
    typical = float(np.median([row[NEIGHBOUR] for row in nearest]))
    crowding = min(1.0, typical / USUAL_NEIGHBOUR)
    return round(MOST_BITS * math.pow(crowding, CROWDING))


def _equal_groups(keys: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return tuple(tuple(group) for group in places.values() if len(group) > 1)


def _as_words(hashes: Sequence[bytes]) -> NDArray[np.uint64]:
    """(n, 4): 64 bits at a time are counted in one step."""
    return np.frombuffer(b"".join(hashes), dtype=np.uint64).reshape(len(hashes), HASH_BITS // 64)


def _distances(some: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """(m, n): the number of bits in which each of `some` differs from each of `others`."""
    bits = np.zeros((len(some), len(others)), dtype=np.uint16)
    for word in range(some.shape[1]):
        bits += np.bitwise_count(some[:, word, None] ^ others[None, :, word])
    return bits


def _near_pairs(
    hashes: NDArray[np.uint64], places: NDArray[np.intp], most_bits: int
) -> Iterator[NearPair]:
    """In blocks: ten thousand pictures have fifty million pairs."""
    for start in range(0, len(hashes), BLOCK):
        bits = _distances(hashes[start : start + BLOCK], hashes[start:])
        rows, columns = np.nonzero(bits <= most_bits)
        later = columns > rows
        for row, column in zip(rows[later], columns[later], strict=True):
            first, second = places[start + row], places[start + column]
            yield NearPair(int(first), int(second), int(bits[row, column]))


def _joined(
    count: int, exact: Sequence[Sequence[int]], near: Sequence[NearPair]
) -> tuple[tuple[int, ...], ...]:
    """The connected groups of two pictures and more, in the order of their first members."""
    links = [(group[0], other) for group in exact for other in group[1:]]
    links += [(pair.first, pair.second) for pair in near]
    if not links:
        return ()
    rows, columns = np.array(links).T
    graph = coo_array((np.ones(len(links)), (rows, columns)), shape=(count, count))
    _, component = connected_components(graph, directed=False)
    return _equal_groups([str(number) for number in component])
