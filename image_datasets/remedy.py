"""Remedies for shortcuts: what is done to every image alike, and the numbers under each remedy that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

# Per cent of the width or height on each side, so that at least a fifth is left.
MAX_CROP = 40
MAX_BORDER = 40


@dataclass(frozen=True)
class Remedy:
    """The fields of an import with these names; the defaults change nothing."""

    crop_left: int = 0
    """per cent of the width"""
    crop_top: int = 0
    """per cent of the height"""
    crop_right: int = 0
    crop_bottom: int = 0
    crops_to_square: bool = False
    border: str = ""
    """"mask", "blur" or nothing"""
    border_width: int = 10
    """per cent of the width at the sides, of the height at the top and the bottom"""
    equalises_brightness: bool = False

    def __bool__(self) -> bool:
        return any(self._parts())

    def __str__(self) -> str:
        """Completes the sentence “the images were …”."""
        return ", ".join(self._parts()) or "used as they are"

    @property
    def key(self) -> str:
        """Part of file names: equal for remedies with the same result."""
        values = asdict(self if self.border else Remedy(**asdict(self) | {"border_width": 0}))
        return "-".join(str(int(v) if isinstance(v, bool) else v or 0) for v in values.values())

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def kept_share(self) -> float:
        """The smaller of the shares of width and height that are left after cropping."""
        width = 100 - self.crop_left - self.crop_right
        height = 100 - self.crop_top - self.crop_bottom
        return min(width, height) / 100

    def _parts(self) -> Iterator[str]:
        cuts = {
            "left": self.crop_left,
            "top": self.crop_top,
            "right": self.crop_right,
            "bottom": self.crop_bottom,
        }
        if any(cuts.values()):
            sides = " and ".join(f"{cut} % at the {side}" for side, cut in cuts.items() if cut)
            yield f"cropped by {sides}"
        if self.crops_to_square:
            yield "cropped to a square in the middle"
        if self.border:
            word = "masked" if self.border == "mask" else "blurred"
            yield f"{word} along a border of {self.border_width} %"
        if self.equalises_brightness:
            yield "brought to the same brightness and contrast"


NO_REMEDY = Remedy()
REMEDY_FIELDS = tuple(field.name for field in fields(Remedy))


def merge_trials(
    earlier: list[dict[str, Any]], latest: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Trials in the order of their first measurement; a new measurement replaces an earlier one."""
    newest = {trial["remedy"]: trial for trial in latest}
    kept = [newest.pop(trial["remedy"], trial) for trial in earlier]
    return kept + list(newest.values())


def trial_table(trials: list[dict[str, Any]]) -> dict[str, Any] | None:
    """One row for each concept and cue, one column for each trial; None without any."""
    if not trials:
        return None
    cells: dict[str, list[Any]] = {}
    for column, trial in enumerate(trials):
        for row in (*trial["concepts"], *trial["cues"]):
            cells.setdefault(row["title"], [None] * len(trials))[column] = row
    return {
        "remedies": [trial["remedy"] for trial in trials],
        "rows": [{"title": title, "cells": row} for title, row in cells.items()],
    }
