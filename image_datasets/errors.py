"""What can be wrong with an import: every problem names the file, the reason and the remedy."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_SHOWN_NAME = 120
MOST_LISTED = 20
ZIP_AGAIN = "Make the zip again from the plain folder with your system's own tool, and upload that."


def shown(name: str) -> str:
    """A stranger's name as it may be printed: nothing in it moves a cursor or turns the text around."""
    safe = "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        else character
        for character in name
    )
    return safe if len(safe) <= LONGEST_SHOWN_NAME else f"…{safe[-LONGEST_SHOWN_NAME:]}"


def plural(count: int, noun: str) -> str:
    """1 image, 2 images."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(lines: Sequence[str]) -> str:
    """The first of many, and how many more there are."""
    rest = len(lines) - MOST_LISTED
    more = [f"and {rest} more"] if rest > 0 else []
    return "; ".join([*lines[:MOST_LISTED], *more])


class ImportProblem(Exception):
    """Something in a source stands in the way. Reason and remedy are whole sentences."""

    def __init__(self, *, file: str, reason: str, remedy: str) -> None:
        self.file, self.reason, self.remedy = shown(file), reason, remedy
        super().__init__(f"{self.file}: {reason} {remedy}")


class BadSource(ImportProblem):
    """The folder or file as a whole cannot be read as a data set."""

    classes: dict[str, int] | None = None
    """the classes that there are and their sizes, if they are the problem"""


class BadArchive(BadSource):
    """The zip is broken, hostile or too large."""


def unusable_zip(path: Path, reason: str) -> BadArchive:
    return BadArchive(file=path.name, reason=reason, remedy=ZIP_AGAIN)


class BadName(BadSource):
    """A name that could lead out of the folder, or that is not text."""


class DuplicateName(BadSource):
    """Two files have the same name on some computers."""


class WrongClasses(BadSource):
    """There are too few classes or too many, or not those that are wanted."""


class TooFewImages(BadSource):
    """A class is too small to teach and to test with."""


class BadManifest(BadSource):
    """The CSV that names files, labels and splits does not fit."""


class BadFeatures(BadSource):
    """The precomputed features do not fit the images."""


class BadSplit(BadSource):
    """The images cannot be divided into a teaching pool and an evaluation set as asked."""


class DuplicatesAcrossSplit(BadSplit):
    """The same picture would be taught and tested."""

    def __init__(self, *, pairs: Sequence[tuple[str, str]]) -> None:
        self.pairs = tuple(pairs)
        names = listed([f"{shown(first)} and {shown(second)}" for first, second in pairs])
        super().__init__(
            file="duplicates",
            reason=f"The teaching pool and the evaluation set share {plural(len(pairs), 'picture')}: {names}.",
            remedy="Remove one of each pair, or choose to keep duplicates together on one side.",
        )


class BadImage(ImportProblem):
    """One image cannot be used; the others can, if the researcher says so."""


def too_long(name: str, size: int, limit: int) -> BadImage:
    return BadImage(
        file=name,
        reason=f"The file has {size:,} bytes; at most {limit:,} are read.",
        remedy="Save it smaller, or remove it.",
    )


class BadImages(ImportProblem):
    """Some images cannot be used, and nobody has said that they may be left out."""

    def __init__(self, problems: Sequence[BadImage]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            file=plural(len(problems), "bad image"),
            reason=listed([str(problem) for problem in problems]),
            remedy="Repair or remove them, or choose to skip bad images.",
        )


@dataclass
class Problems:
    """The bad images of one import, collected so that all of them are reported at once."""

    found: list[BadImage] = field(default_factory=list)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Takes down a bad image and goes on; every other problem stops the import."""
        try:
            yield
        except BadImage as problem:
            self.found.append(problem)

    def add(self, more: Problems) -> None:
        """Those of another look at the same images; a file is listed once."""
        known = {problem.file for problem in self.found}
        self.found += [problem for problem in more.found if problem.file not in known]

    def check(self, *, skip_bad: bool) -> None:
        """Call after the last image: raises `BadImages` unless the bad ones may be skipped."""
        if self.found and not skip_bad:
            raise BadImages(sorted(self.found, key=lambda problem: problem.file))
