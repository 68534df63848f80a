"""Confounds: whether something other than the target concept predicts the classes of a data set.

The numbers are measured when images are imported and kept with the data set (`Dataset.insight`). They are judged here,
when they are read, so that every page says the same and older data sets are judged by the same rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .models import Dataset

# A cue beats guessing if it is this many standard errors above chance: there are a dozen cues, and cross-validated
# accuracies vary more than a binomial proportion.
STANDARD_ERRORS = 3
# The part of the concept's lead over guessing at which a cue is a shortcut.
PART = 0.5
# The lead over guessing that is a shortcut whatever the concept achieves, at the lower end of the cue's interval.
LEAD = 0.1
RULE = (
    "A cue counts as a shortcut if it clearly beats guessing, by at least half as much as the target concept does, "
    "or if it beats guessing by clearly more than ten points."
)

BACKGROUND = (
    "photograph all classes against the same backgrounds, crop the images, or mask their border"
)
COLLECTION = "take all classes from the same source, or save all originals in the same way first"
LIGHT = "take all classes in the same light, or equalise the brightness"
# What to do about a cue, by its name.
REMEDIES = {
    "border": BACKGROUND,
    "corners": BACKGROUND,
    "sharpness": "take all classes with the same kind of camera",
    "brightness": LIGHT,
    "contrast": LIGHT,
    "shape": "crop all images to one shape",
    "pixels": COLLECTION,
    "bytes": COLLECTION,
    "compression": COLLECTION,
    "format": COLLECTION,
}


@dataclass(frozen=True)
class Judged:
    """One cue, or all of them together, compared with the target concept."""

    name: str
    title: str
    mean: float
    low: float
    high: float
    part: float | None
    """of the concept's lead over guessing; None if the concept has none"""
    is_shortcut: bool

    @property
    def sentence(self) -> str:
        """What is the matter, and what to do about it."""
        interval = f"{_percent(self.low)} to {_percent(self.high)}"
        tells = f"tell{'' if self.name == 'together' else 's'} the class of {_percent(self.mean)} of the images"
        return f"{self.title[:1].upper()}{self.title[1:]} alone {tells} ({interval}){self._beside}. {self._remedy}"

    @property
    def _beside(self) -> str:
        if self.part is None:
            return ", where the target concept does no better than guessing"
        if self.part >= 1:
            return ", as much as the target concept achieves"
        return f", {_percent(self.part)} of the target concept’s lead over guessing"

    @property
    def _remedy(self) -> str:
        remedy = REMEDIES.get(self.name, "look at the cues one by one, and change what differs")
        return f"People and teachers may use that instead of the concept: {remedy}."


@dataclass(frozen=True)
class Shortcuts:
    """All cues together, each by itself (the most telling first), and what they are compared with."""

    together: Judged
    each: tuple[Judged, ...]
    chance: float
    concept: float

    @property
    def found(self) -> tuple[Judged, ...]:
        """The single cues that are shortcuts; if none is, all together if they are."""
        single = tuple(cue for cue in self.each if cue.is_shortcut)
        return single or ((self.together,) if self.together.is_shortcut else ())

    @property
    def warnings(self) -> list[str]:
        return [cue.sentence for cue in self.found]


def shortcuts_of(dataset: Dataset) -> Shortcuts | None:
    """None for a data set that was never searched for them."""
    insight = dataset.insight
    if not all(insight.get(part) for part in ("shortcuts", "accuracy", "counts")):
        return None
    return judged(insight["shortcuts"], insight["accuracy"]["mean"], sum(insight["counts"]))


def shortcut_warnings(dataset: Dataset) -> list[str]:
    """Sentences for a person who is about to use the data set; none if nothing was found or nobody looked."""
    shortcuts = shortcuts_of(dataset)
    return shortcuts.warnings if shortcuts else []


def judged(measured: Mapping[str, Any], concept: float, n: int) -> Shortcuts:
    """Cues as they were measured on n images, beside the accuracy of the concept on the same images."""
    chance = measured["chance"]

    def judge(cue: Mapping[str, Any]) -> Judged:
        return Judged(
            **{key: cue[key] for key in ("name", "title", "mean", "low", "high")},
            part=(cue["mean"] - chance) / (concept - chance) if concept > chance else None,
            is_shortcut=is_shortcut(cue["mean"], cue["low"], concept, chance, n),
        )

    each = tuple(judge(cue) for cue in measured["each"])
    return Shortcuts(judge(measured["together"]), each, chance, concept)


def is_shortcut(mean: float, low: float, concept: float, chance: float, n: int) -> bool:
    """The rule that RULE says in words."""
    lead = mean - chance
    beats_guessing = lead > STANDARD_ERRORS * math.sqrt(chance * (1 - chance) / n)
    return (beats_guessing and lead >= PART * (concept - chance)) or low > chance + LEAD


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
