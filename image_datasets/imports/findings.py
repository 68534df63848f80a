"""What the page of an import tells, as plain numbers and words."""

from __future__ import annotations

from typing import Any

from image_datasets.checks.reading import Reading
from image_datasets.checks.target import Candidate
from image_datasets.counts import counts_of
from image_datasets.extractors.registry import EXTRACTORS
from image_datasets.remedy import NO_REMEDY
from image_datasets.trials import trial_of

from .examination import Examined
from .measurement import Measured

# Images of each class that the page shows.
SAMPLES = 3


def findings_of(examined: Examined) -> dict[str, Any]:
    names = [image.name for image in examined.images]
    measured = examined.measured
    return {
        "counts": counts_of(examined),
        "remedy": str(examined.remedy),
        "samples": samples_of(examined),
        "classes": examined.source.found,
        "notes": list(examined.source.notes),
        "duplicates": [[names[place] for place in group] for group in examined.duplicates],
        "warnings": warnings_of(examined),
        "candidates": [
            _described(candidate, measured) for candidate in measured.comparison.candidates
        ],
        "recommended": measured.recommended,
        "all_read_a_shortcut": measured.recommended is None,
    }


def trials_of(examined: Examined) -> list[dict[str, Any]]:
    """What was measured without the remedy and, if there is one, with it."""
    before = [trial_of(NO_REMEDY, examined.before)] if examined.before else []
    return [*before, trial_of(examined.remedy, examined.measured)]


def samples_of(examined: Examined) -> list[dict[str, Any]]:
    """A few images of each class, by their place in the source."""
    return [
        {"row": image.row, "label": label}
        for label in examined.source.classes
        for image in [image for image in examined.teaching if image.label == label][:SAMPLES]
    ]


def warnings_of(examined: Examined) -> list[str]:
    names = [image.name for image in examined.images]
    warnings = [
        "The same picture has different labels: " + ", ".join(names[place] for place in group) + "."
        for group in examined.split.mixed_groups
    ]
    if examined.split.moved:
        moved = ", ".join(names[place] for place in examined.split.moved)
        warnings.append(f"Moved to the teaching pool, because a copy is there: {moved}.")
    measured = examined.measured
    return warnings + measured.shortcuts(measured.best).warnings


def _described(candidate: Candidate, measured: Measured) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": candidate.name,
        "title": candidate.title,
        "description": EXTRACTORS[candidate.name].description,
        "missing": candidate.missing,
    }
    if candidate.accuracy:
        row["accuracy"] = {
            f"{part}_percent": _percent(getattr(candidate.accuracy, part))
            for part in ("mean", "low", "high")
        }
        read = [reading for reading in measured.readings(candidate.name) if reading.is_read]
        row["reads"] = [sentence_about(reading) for reading in read]
        if candidate.accuracy.likeness:
            row["neighbours_percent"] = _percent(candidate.accuracy.likeness.neighbours.mean)
    return row


def sentence_about(reading: Reading) -> str:
    """Why features are taken to read a shortcut."""
    if reading.where_right is None or reading.where_misleading is None or not reading.is_known:
        return f"These may read {reading.title}, which nearly always gives the class away: nobody can tell."
    return (
        f"These seem to read {reading.title}: the concept is right about {_percent(reading.where_right)} % of the "
        f"images where it points to their class, and about {_percent(reading.where_misleading)} % where it misleads."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
