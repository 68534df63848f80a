"""Dividing the images into a teaching pool and an evaluation set.

Both come in an order that is drawn by the seed, so that it says nothing about the class.
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
Policy = Literal["refuse", "keep_together"]

EVALUATION_PER_CLASS = 50
# Teaching starts with five images of both classes, and the concept is cross-validated fivefold.
LEAST_TEACHING_PER_CLASS = 5


@dataclass(frozen=True)
class Split:
    """Places in the list of images, each on exactly one side."""

    teaching: tuple[int, ...]
    evaluation: tuple[int, ...]
    moved: tuple[int, ...]
    """images that the manifest wanted in the evaluation set and that follow a copy into the pool"""
    mixed_groups: tuple[tuple[int, ...], ...]
    """copies with different labels: at least one of the labels is wrong"""


def split_by_seed(
    labels: Sequence[str],
    names: Sequence[str],
    *,
    seed: int,
    evaluation_per_class: int | None = None,
    groups: Sequence[Sequence[int]] = (),
    policy: Policy = "keep_together",
) -> Split:
    """A balanced evaluation set drawn by the seed; all the rest is the teaching pool.

    By default 50 of each class, or half of the smaller class where that is less: a pool that is
    smaller than its own test teaches little. `groups` are duplicates; a group that spans both
    classes never goes into the evaluation set, where a wrong label would be counted as truth.
    """
    rng = np.random.default_rng(seed)
    wanted = _evaluation_size(labels, evaluation_per_class)
    units = _units(len(labels), groups if policy == "keep_together" else ())
    pure = {
        label: [unit for unit in units if all(labels[place] == label for place in unit)]
        for label in sorted(set(labels))
    }
    shuffled = {
        label: [some[i] for i in rng.permutation(len(some))] for label, some in pure.items()
    }
    evaluation = _balanced(shuffled, wanted, may_shrink=evaluation_per_class is None)
    sides: list[Side] = [
        "evaluation" if place in evaluation else "teaching" for place in range(len(labels))
    ]
    return split_as_given(sides, labels, names, seed=rng, groups=groups, policy=policy)


def split_as_given(
    sides: Sequence[Side],
    labels: Sequence[str],
    names: Sequence[str],
    *,
    seed: int | np.random.Generator,
    groups: Sequence[Sequence[int]] = (),
    policy: Policy = "keep_together",
) -> Split:
    """The researcher's own split. Duplicates that lie across it are refused or follow into the pool."""
    final = list(sides)
    torn = [group for group in groups if len({final[place] for place in group}) > 1]
    if torn and policy == "refuse":
        raise DuplicatesAcrossSplit(pairs=_torn_pairs(torn, final, names))
    moved = [place for group in torn for place in group if final[place] == "evaluation"]
    for place in moved:
        final[place] = "teaching"
    _check_both_sides(final, labels)
    order = np.random.default_rng(seed).permutation(len(final)).tolist()
    return Split(
        teaching=tuple(place for place in order if final[place] == "teaching"),
        evaluation=tuple(place for place in order if final[place] == "evaluation"),
        moved=tuple(sorted(moved)),
        mixed_groups=tuple(
            tuple(group) for group in groups if len({labels[place] for place in group}) > 1
        ),
    )


def _evaluation_size(labels: Sequence[str], asked: int | None) -> int:
    counts = Counter(labels)
    smallest = min(counts, key=lambda label: (counts[label], label))
    if asked is None:
        return min(EVALUATION_PER_CLASS, counts[smallest] // 2)
    if asked < 1 or asked + LEAST_TEACHING_PER_CLASS > counts[smallest]:
        raise BadSplit(
            file="evaluation set",
            reason=(
                f"{asked} images of each class were asked for, but “{smallest}” has "
                f"{counts[smallest]}, and {LEAST_TEACHING_PER_CLASS} must be left for teaching."
            ),
            remedy="Ask for fewer, or add images.",
        )
    return asked


def _units(count: int, groups: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Everything that goes to one side as a whole: groups of duplicates, and single images."""
    grouped = {place for group in groups for place in group}
    single = [(place,) for place in range(count) if place not in grouped]
    return [tuple(group) for group in groups] + single


def _balanced(
    shuffled: Mapping[str, Sequence[tuple[int, ...]]], wanted: int, *, may_shrink: bool
) -> set[int]:
    """Equally many of each class. Large groups may leave fewer: that is said if a number was asked."""
    drawn = {label: _drawn(units, wanted) for label, units in shuffled.items()}
    shortest = min(drawn, key=lambda label: len(drawn[label]))
    if len(drawn[shortest]) == wanted:
        return {place for places in drawn.values() for place in places}
    if may_shrink:
        return _balanced(shuffled, len(drawn[shortest]), may_shrink=True)
    raise BadSplit(
        file="evaluation set",
        reason=f"Because duplicates stay together, fewer than {wanted} images of “{shortest}” are left.",
        remedy="Ask for fewer, or remove duplicates.",
    )


def _drawn(units: Sequence[tuple[int, ...]], wanted: int) -> list[int]:
    """`wanted` places, or a few less where whole groups do not fit.

    Single images come first: a test with copies in it tells less than its size promises.
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
        if counts["teaching", label] < LEAST_TEACHING_PER_CLASS:
            raise _too_few("teaching pool", label, counts["teaching", label])
        if not counts["evaluation", label]:
            raise _too_few("evaluation set", label, 0)


def _too_few(side: str, label: str, count: int) -> BadSplit:
    least = LEAST_TEACHING_PER_CLASS if side == "teaching pool" else 1
    return BadSplit(
        file=side,
        reason=f"It would have {count} images of “{label}”; at least {least} are needed.",
        remedy="Move or add images of that class, or remove its duplicates.",
    )


def _torn_pairs(
    torn: Sequence[Sequence[int]], sides: Sequence[Side], names: Sequence[str]
) -> list[tuple[str, str]]:
    return [
        (names[first], names[second])
        for group in torn
        for first, second in combinations(group, 2)
        if sides[first] != sides[second]
    ]
