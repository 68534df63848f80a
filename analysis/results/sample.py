"""Whom a table or a figure is about, in words: who is in it, who is left out and why, and which versions are pooled."""

from collections.abc import Iterator

from analysis.charts.words import UNKNOWN, in_words
from studies.models import Participant
from studies.version_groups import VersionChoice, VersionPeople, versions_in_words

from .numbers import Numbers

Purpose = Participant.Purpose
KINDS: dict[str, str] = {
    Purpose.LIVE: "live participants",
    Purpose.PILOT: "pilots",
    Purpose.REHEARSAL: "bots of a rehearsal",
}


ONE_OF: dict[str, str] = {
    Purpose.LIVE: "participant",
    Purpose.PILOT: "pilot",
    Purpose.REHEARSAL: "bot",
}
# What a picture of people who do not count says across its middle, and the name of every file about them.
WATERMARKS: dict[str, str] = {Purpose.PILOT: "pilots", Purpose.REHEARSAL: "bots, not people"}
FILE_MARKS: dict[str, str] = {Purpose.PILOT: "-pilots", Purpose.REHEARSAL: "-bots"}


def sample_words(numbers: Numbers) -> str:
    """Who is in the numbers of those who finished, and who is not."""
    kind = KINDS.get(numbers.purpose, UNKNOWN)
    own = f" of {numbers.versions.words}" if has_versions(numbers) else ""
    left_out = ", ".join(left_out_words(numbers)) or "nobody"
    sentences = [
        f"{len(numbers.people)} {kind}{own} who finished.",
        f"Left out: {left_out}.",
        numbers.versions.pooling,
    ]
    return " ".join(filter(None, sentences))


def has_versions(numbers: Numbers) -> bool:
    return len(numbers.versions.everywhere) > 1


def left_out_words(numbers: Numbers) -> Iterator[str]:
    counts = numbers.head_counts.values()
    unfinished = sum(count.joined - count.done - count.excluded for count in counts)
    excluded = sum(count.excluded for count in counts)
    if unfinished:
        yield f"{unfinished} who did not finish, or not yet"
    if excluded:
        yield f"{excluded} excluded"
    if numbers.at_unequal_steps:
        yield f"{numbers.at_unequal_steps} whom some teacher would have shown another number of images"
    if numbers.versions.left_out:
        yield version_words(numbers.versions.left_out)


def version_words(versions: tuple[VersionPeople, ...]) -> str:
    people = sum(version.joined for version in versions)
    return f"{people} of {versions_in_words([version.number for version in versions])}"


def missing_words(numbers: Numbers, *measures: str) -> str:
    """How many who finished lack one of these values or a teacher, and are therefore not drawn; empty if none."""
    missing = sum(
        not person.arm or any(getattr(person, measure) is None for measure in measures)
        for person in numbers.people
    )
    if not missing:
        return ""
    names = " or ".join(measure.replace("_", " ") for measure in measures)
    return f"{missing} of them without {names} or without a teacher: not shown."


def answers_words(numbers: Numbers) -> str:
    """Said of answers where versions with several data sets are pooled; empty otherwise."""
    if len({then.dataset.pk for then in numbers.settings.values()}) < 2:
        return ""
    return f"Only answers to images of {numbers.dataset}."


def sessions_in_words(n: int, purpose: str, versions: VersionChoice, *, most: int) -> str:
    """The same of a page that reads whole sessions, and therefore only so many of them."""
    kind = KINDS.get(purpose, UNKNOWN)
    own = f" of {versions.words}" if len(versions.everywhere) > 1 else ""
    left_out = ["people who did not finish", "people who were excluded"]
    if n == most:
        left_out.append("people who finished before them")
    if versions.left_out:
        left_out.append(f"people of {versions_in_words([one.number for one in versions.left_out])}")
    sentences = [
        f"{n} {kind}{own} who finished, each judged by the settings of their own session.",
        f"Left out: {in_words(left_out)}.",
        versions.pooling,
    ]
    return " ".join(filter(None, sentences))
