"""Problems of an import: each has the name of the file, the reason and the remedy."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

MAX_NAME_LENGTH = 120
MAX_LISTED = 20
ZIP_AGAIN = "Make the zip again from the plain folder with your system's own tool, and upload that."


def printable(name: str) -> str:
    """An untrusted name without control characters, which could move the cursor or reverse the text."""
    safe = "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        else character
        for character in name
    )
    return safe if len(safe) <= MAX_NAME_LENGTH else f"…{safe[-MAX_NAME_LENGTH:]}"


def plural(count: int, noun: str) -> str:
    """1 image, 2 images."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(lines: Sequence[str]) -> str:
    """The first of many, and how many more there are."""
    rest = len(lines) - MAX_LISTED
    more = [f"and {rest} more"] if rest > 0 else []
    return "; ".join([*lines[:MAX_LISTED], *more])


class ImportProblem(Exception):
    """A problem with a source. Reason and remedy are whole sentences."""

    def __init__(self, *, file: str, reason: str, remedy: str) -> None:
        self.file, self.reason, self.remedy = printable(file), reason, remedy
        super().__init__(f"{self.file}: {reason} {remedy}")


class BadSource(ImportProblem):
    """The folder or file as a whole cannot be read as a data set."""

    classes: dict[str, int] | None = None
    """the classes of the source and their sizes, if they are the problem"""


class BadArchive(BadSource):
    """The zip is broken, hostile or too large."""


def unusable_zip(path: Path, reason: str) -> BadArchive:
    return BadArchive(file=path.name, reason=reason, remedy=ZIP_AGAIN)


class BadName(BadSource):
    """A name that could lead out of the folder, or that is not text."""


class DuplicateName(BadSource):
    """Two files have the same name on some file systems."""


class WrongClasses(BadSource):
    """There are too few or too many classes, or a requested one is missing."""


class TooFewImages(BadSource):
    """A class is too small for teaching and evaluation."""


class BadManifest(BadSource):
    """The CSV with files, labels and splits is not valid."""


class BadFeatures(BadSource):
    """The precomputed features do not fit the images."""


class BadSplit(BadSource):
    """The images cannot be divided into a teaching pool and an evaluation set as asked."""


class DuplicatesAcrossSplit(BadSplit):
    """The same picture would be in the teaching pool and in the evaluation set."""

    def __init__(self, *, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = tuple(pairs)
        names = listed([f"{printable(first)} and {printable(second)}" for first, second in pairs])
        super().__init__(
            file="duplicates",
            reason=f"The teaching pool and the evaluation set share {plural(len(pairs), 'picture')}: {names}.",
            remedy="Remove one of each pair, or choose to keep duplicates together on one side.",
        )


class BadImage(ImportProblem):
    """One image cannot be used; it may be skipped if the researcher allows it."""


def too_long(name: str, size: int, limit: int) -> BadImage:
    return BadImage(
        file=name,
        reason=f"The file has {size:,} bytes; at most {limit:,} are read.",
        remedy="Save it smaller, or remove it.",
    )


class BadImages(ImportProblem):
    """Some images cannot be used, and the researcher has not allowed skipping them."""

    def __init__(self, problems: Sequence[BadImage]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            file=plural(len(problems), "bad image"),
            reason=listed([str(problem) for problem in problems]),
            remedy="Repair or remove them, or choose to skip bad images.",
        )
