"""Whether features read a shortcut: is the concept right less often where the shortcut misleads?

Images of one class are compared with each other. If the features see the concept alone, it makes no difference to
them whether, say, the brightness of an image points to its class or away from it.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from studies.shortcuts import Shortcuts

from .shortcuts import BoolArray, CueReport
from .target import Accuracy

# As many standard errors as in a 95 % interval.
STANDARD_ERRORS = 2
# Where a shortcut misleads about fewer images than this, nobody can tell what else the features see.
FEWEST = 5


@dataclass(frozen=True)
class Reading:
    """What a concept makes of one shortcut."""

    cue: str
    title: str
    where_right: float | None
    """the concept's share of right answers where the cue is right; None without such images"""
    where_misleading: float | None
    misled: int
    """the number of images about which the cue misleads"""
    is_read: bool

    @property
    def is_known(self) -> bool:
        return self.misled >= FEWEST


def readings_of(
    accuracy: Accuracy, cues: CueReport, shortcuts: Shortcuts, labels: npt.ArrayLike
) -> list[Reading]:
    """One for each shortcut that was found; labels (n,)."""
    y = np.asarray(labels)
    right = accuracy.right(y)
    return [
        Reading(
            cue.name,
            cue.title,
            _share(right[cues.right[cue.name]]),
            _share(right[~cues.right[cue.name]]),
            int(np.count_nonzero(~cues.right[cue.name])),
            is_read(right, cues.right[cue.name], y),
        )
        for cue in shortcuts.found
    ]


def is_read(right: BoolArray, cue_right: BoolArray, labels: npt.NDArray[np.generic]) -> bool:
    """Whether being right goes with the cue's being right, class by class: by Mantel and Haenszel's test."""
    if np.count_nonzero(~cue_right) < FEWEST:
        return True
    return bool(mantel_haenszel(right, cue_right, labels) >= STANDARD_ERRORS)


def mantel_haenszel(
    right: BoolArray, cue_right: BoolArray, labels: npt.NDArray[np.generic]
) -> float:
    """How many standard errors more often both are right than they would be if one told nothing of the other."""
    surplus = variance = 0.0
    for label in np.unique(labels):
        mine = labels == label
        n, first, second = (
            float(np.count_nonzero(some)) for some in (mine, right & mine, cue_right & mine)
        )
        surplus += np.count_nonzero(right & cue_right & mine) - first * second / n
        if n > 1:
            variance += first * second * (n - first) * (n - second) / (n * n * (n - 1))
    return surplus / math.sqrt(variance) if variance > 0 else 0.0


def _share(right: BoolArray) -> float | None:
    return float(right.mean()) if len(right) else None
