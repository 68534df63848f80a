"""Divide the images into a teaching pool and an evaluation set.

The seed draws the order of both, so that it reveals nothing about the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from image_datasets.errors import BadSplit, DuplicatesAcrossSplit

Side = Literal["teaching", "evaluation"]

EVALUATION_PER_CLASS = 50
# Teaching starts with five images of both classes, and the concept is cross-validated fivefold.
MIN_TEACHING_PER_CLASS = 5


@dataclass(frozen=True)
class Split:
    """Indices of images, each on exactly one side."""

    teaching: tuple[int, ...]
    evaluation: tuple[int, ...]
    moved: tuple[int, ...]
    """images that the manifest put into the evaluation set and that follow a copy into the teaching pool"""
    mixed_groups: tuple[tuple[int, ...], ...]
    """copies with different labels: at least one of the labels is wrong"""


def split_by_seed(
    labels: Sequence[str],
    names: Sequence[str],
    *,
    seed: int,
    evaluation_per_class: int | None = None,
    groups: Sequence[Sequence[int]] = (),
    refuses_duplicates: bool = False,
) -> Split:
    """A balanced evaluation set, drawn by the seed; the rest is the teaching pool.

    By default 50 of each class, or half of the smallest class if that is less: a pool that is smaller than its own
    evaluation set teaches little. `groups` are duplicates; a group with several labels never goes into the evaluation
    set, where a wrong label would count as truth.
    """
    rng = np.random.default_rng(seed)
    wanted = _evaluation_size(labels, evaluation_per_class)
    units = _units(len(labels), () if refuses_duplicates else groups)
    pure = {
        label: [unit for unit in units if all(labels[index] == label for index in unit)]
        for label in sorted(set(labels))
    }
    shuffled = {
        label: [some[i] for i in rng.permutation(len(some))] for label, some in pure.items()
    }
    evaluation = _balanced(shuffled, wanted, may_shrink=evaluation_per_class is None)
    sides: list[Side] = [
        "evaluation" if index in evaluation else "teaching" for index in range(len(labels))
    ]
    return split_as_given(
        sides, labels, names, seed=rng, groups=groups, refuses_duplicates=refuses_duplicates
    )


def split_as_given(
    sides: Sequence[Side],
    labels: Sequence[str],
    names: Sequence[str],
    *,
    seed: int | np.random.Generator,
    groups: Sequence[Sequence[int]] = (),
    refuses_duplicates: bool = False,
) -> Split:
    """The researcher's own split. Duplicates across it are refused, or moved to the teaching pool."""
    final = list(sides)
    divided = [group for group in groups if len({final[index] for index in group}) > 1]
    if divided and refuses_duplicates:
        raise DuplicatesAcrossSplit(
            pairs=[
                (names[a], names[b])
                for group in divided
                for a, b in combinations(group, 2)
                if final[a] != final[b]
            ]
        )
    moved = [index for group in divided for index in group if final[index] == "evaluation"]
    for index in moved:
        final[index] = "teaching"
    _check_both_sides(final, labels)
    order = np.random.default_rng(seed).permutation(len(final)).tolist()
    return Split(
        teaching=tuple(index for index in order if final[index] == "teaching"),
        evaluation=tuple(index for index in order if final[index] == "evaluation"),
        moved=tuple(sorted(moved)),
        mixed_groups=tuple(
            tuple(group) for group in groups if len({labels[index] for index in group}) > 1
        ),
    )


def _evaluation_size(labels: Sequence[str], asked: int | None) -> int:
    counts = Counter(labels)
    smallest = min(counts, key=lambda label: (counts[label], label))
    if asked is None:
        return min(EVALUATION_PER_CLASS, counts[smallest] // 2)
    if asked < 1 or asked + MIN_TEACHING_PER_CLASS > counts[smallest]:
        raise BadSplit(
            file="evaluation set",
            reason=(
                f"{asked} images of each class were asked for, but “{smallest}” has "
                f"{counts[smallest]}, and {MIN_TEACHING_PER_CLASS} must be left for teaching."
            ),
            remedy="Ask for fewer, or add images.",
        )
    return asked


def _units(count: int, groups: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """What is assigned to a side as a whole: groups of duplicates, and single images."""
    grouped = {index for group in groups for index in group}
    single = [(index,) for index in range(count) if index not in grouped]
    return [tuple(group) for group in groups] + single


def _balanced(
    shuffled: Mapping[str, Sequence[tuple[int, ...]]], wanted: int, *, may_shrink: bool
) -> set[int]:
    """Equally many of each class. Large groups may leave fewer; this is an error if a number was requested."""
    drawn = {label: _drawn(units, wanted) for label, units in shuffled.items()}
    shortest = min(drawn, key=lambda label: len(drawn[label]))
    if len(drawn[shortest]) == wanted:
        return {index for indices in drawn.values() for index in indices}
    if may_shrink:
        return _balanced(shuffled, len(drawn[shortest]), may_shrink=True)
    raise BadSplit(
        file="evaluation set",
        reason=f"Because duplicates stay together, fewer than {wanted} images of “{shortest}” are left.",
        remedy="Ask for fewer, or remove duplicates.",
    )


def _drawn(units: Sequence[tuple[int, ...]], wanted: int) -> list[int]:
    """`wanted` indices, or a few less if whole groups do not fit.

    Single images come first: an evaluation set with copies in it tells less than its size promises.
    """
    single = [unit[0] for unit in units if len(unit) == 1]
    drawn: list[int] = []
    for group in sorted((unit for unit in units if len(unit) > 1), key=len):
        if len(drawn) + len(single) < wanted and len(drawn) + len(group) <= wanted:
            drawn.extend(group)
    return drawn + single[: wanted - len(drawn)]


def _check_both_sides(sides: Sequence[Side], labels: Sequence[str]) -> None:
    counts = Counter(zip(sides, labels, strict=True))
    for label in sorted(set(labels)):
        if counts["teaching", label] < MIN_TEACHING_PER_CLASS:
            raise _too_few("teaching pool", label, counts["teaching", label])
        if not counts["evaluation", label]:
            raise _too_few("evaluation set", label, 0)


def _too_few(side: str, label: str, count: int) -> BadSplit:
    least = MIN_TEACHING_PER_CLASS if side == "teaching pool" else 1
    return BadSplit(
        file=side,
        reason=f"It would have {count} images of “{label}”; at least {least} are needed.",
        remedy="Move or add images of that class, or remove its duplicates.",
    )
