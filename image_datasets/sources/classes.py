"""Two to twenty classes, large enough, with the same names everywhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from ..errors import BadFeatures, BadName, TooFewImages, WrongClasses, listed, shown
from .features import Features
from .manifest import ManifestRow

FEWEST_CLASSES, MOST_CLASSES = 2, 20
# Up to half of them are for the evaluation, and the rest is cross-validated in five folds.
LEAST_PER_CLASS = 20
LONGEST_CLASS_NAME = 60
HOW_TO_LABEL = (
    "Make one folder for each class, or put a CSV with the columns file,label beside the images."
)
TEACH_ONLY = "Say which of them to teach, or merge some of them."


def check_classes(counts: Mapping[str, int], source: str) -> None:
    """Refuses anything but a few classes with names for people and enough images each.

    Call it again when bad images have been skipped.
    """
    if not FEWEST_CLASSES <= len(counts) <= MOST_CLASSES:
        raise WrongClasses(
            file=source,
            reason=f"There must be {FEWEST_CLASSES} to {MOST_CLASSES} classes; "
            f"found {len(counts)}: {in_words(counts)}.",
            remedy=HOW_TO_LABEL if len(counts) < FEWEST_CLASSES else TEACH_ONLY,
        )
    for label in sorted(counts):
        _check_class_name(label)
    small = [f"“{label}” has {n}" for label, n in sorted(counts.items()) if n < LEAST_PER_CLASS]
    if small:
        raise TooFewImages(
            file=source,
            reason=f"Each class needs at least {LEAST_PER_CLASS} images; {' and '.join(small)}.",
            remedy="Add images, or teach the other classes only; 100 of each are enough for a typical study.",
        )


def check_wanted(wanted: Sequence[str], counts: Mapping[str, int], source: str) -> None:
    """Refuses to teach classes that are not there."""
    unknown = [name for name in wanted if name not in counts]
    if unknown:
        raise WrongClasses(
            file=source,
            reason=f"There is no class called “{shown(unknown[0])}”; found {in_words(counts)}.",
            remedy="Write the names of the classes as the folders or labels do.",
        )


def in_words(counts: Mapping[str, int]) -> str:
    return listed([f"“{shown(label)}” ({counts[label]})" for label in sorted(counts)]) or "none"


def _check_class_name(label: str) -> None:
    strange = any(unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co"} for sign in label)
    if strange or len(label) > LONGEST_CLASS_NAME:
        raise BadName(
            file=label,
            reason=f"People will read this class name; it has {len(label)} characters"
            f"{', some of them invisible' if strange else ''}.",
            remedy=f"Use plain text of up to {LONGEST_CLASS_NAME} characters.",
        )


def in_order(counts: Mapping[str, int], numbers: Mapping[str, float]) -> tuple[str, ...]:
    """The classes in the order of their numbers: by the number in the features, then by name."""
    return tuple(sorted(counts, key=lambda label: (numbers.get(label, 0.0), label)))


def agreed_numbers(features: Features, rows: Mapping[str, ManifestRow]) -> dict[str, float]:
    """What number stands for what class in the features; nothing if they use the classes' names.

    Raises `BadFeatures` where the features say something else than the folder or the manifest.
    """
    written = [
        (name, label, rows[name].label)
        for name, label in zip(features.names, features.labels, strict=True)
        if name in rows
    ]
    numbers = {label: _number(label) for _, label, _ in written}
    by_number = {label: number for label, number in numbers.items() if number is not None}
    same_words = set(numbers) <= {given for _, _, given in written}
    if same_words or len(by_number) < len(numbers):
        _check_agreement(written, {given: given for _, _, given in written})
        return {given: by_number[given] for _, _, given in written if given in by_number}
    # The first image of each number decides, and all others must follow.
    meaning = {label: given for _, label, given in reversed(written)}
    _check_agreement(written, meaning)
    if len(set(meaning.values())) < len(meaning):
        raise BadFeatures(
            file="features",
            reason=f"Several numbers stand for one class: {', '.join(sorted(meaning))}.",
            remedy="Use one number or one name for each class.",
        )
    return {given: by_number[label] for label, given in meaning.items()}


def _number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _check_agreement(written: list[tuple[str, str, str]], meaning: Mapping[str, str]) -> None:
    for name, label, given in written:
        if meaning.get(label) != given:
            raise BadFeatures(
                file=name,
                reason=f"The features say “{shown(label)}”, the folder or manifest “{shown(given)}”.",
                remedy="Correct one of them; the same image cannot be of two classes.",
            )
