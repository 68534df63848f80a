"""How many images of each class an import found, on either side of the split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .imports.examination import Examined

TEACHING, EVALUATION = "teaching pool", "evaluation set"


def counts_of(examined: Examined) -> dict[str, int]:
    """By class and side, in one text: “wild, teaching pool”."""
    sides = {TEACHING: examined.teaching, EVALUATION: examined.evaluation}
    return {
        f"{label}, {side}": sum(image.label == label for image in images)
        for label in examined.source.classes
        for side, images in sides.items()
    }


def count_rows(counts: Mapping[str, int]) -> Sequence[tuple[str, int, int]]:
    """The same as rows of a table: a class, its teaching images, its evaluation images."""
    rows: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in counts.items():
        label, side = name.rsplit(", ", 1)
        rows[label][side] = count
    return [(label, row.get(TEACHING, 0), row.get(EVALUATION, 0)) for label, row in rows.items()]
