"""Which versions of a study may be analysed together, and which of them a page or a file is about.

Sessions of two versions are alike if the versions differ in nothing that can change an outcome. Versions that do differ
are kept apart unless a researcher decides to pool them, and whatever shows them pooled says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Q

from .models import Participant, ParticipantQuerySet, Study, StudyVersion
from .models.settings import HARMLESS

POOLED = "all"
"""The value that pools all versions, in URLs and commands."""


class UnknownVersion(Exception):
    """A page or a file was asked for with a version that the study does not have."""


@dataclass(frozen=True)
class VersionPeople:
    """How many people have a version of the settings, and how many of them finished and count."""

    number: int
    joined: int
    finished: int


@dataclass(frozen=True)
class VersionGroup:
    """Versions that differ in nothing that matters, with those of their people that were asked about."""

    versions: tuple[VersionPeople, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(version.number for version in self.versions)

    @property
    def finished(self) -> int:
        return sum(version.finished for version in self.versions)


@dataclass(frozen=True)
class VersionChoice:
    """The versions that a page or a file is about, among all versions that have people."""

    numbers: tuple[int, ...]
    groups: tuple[VersionGroup, ...]
    """The newest first."""
    default: tuple[int, ...]
    differing: tuple[str, ...] = ()
    """The settings in which the groups differ, as the form calls them."""

    @property
    def everywhere(self) -> tuple[int, ...]:
        """Every version that has people."""
        return tuple(sorted(number for group in self.groups for number in group.numbers))

    @property
    def is_mixed(self) -> bool:
        """Whether versions are pooled that differ in something that matters."""
        chosen = set(self.numbers)
        return sum(bool(chosen & set(group.numbers)) for group in self.groups) > 1

    @property
    def left_out(self) -> tuple[VersionPeople, ...]:
        everybody = (version for group in self.groups for version in group.versions)
        others = [version for version in everybody if version.number not in self.numbers]
        return tuple(sorted(others, key=lambda version: version.number))

    @property
    def value(self) -> str:
        """The query value that chooses these versions; empty for the default."""
        return "" if self.numbers == self.default else value_of(self.numbers, self.everywhere)

    @property
    def mark(self) -> str:
        """The part of a file name that names its versions; empty if there is only one group."""
        numbers = "-".join(map(str, self.numbers))
        if self.is_mixed:
            return f"-pooled-versions-{numbers}"
        if not self.left_out:
            return ""
        return f"-version{'s' if len(self.numbers) > 1 else ''}-{numbers}"

    def people(self, participants: ParticipantQuerySet) -> ParticipantQuerySet:
        return participants.filter(version__number__in=self.numbers)

    @property
    def words(self) -> str:
        return versions_in_words(self.numbers)

    @property
    def pooling(self) -> str:
        """The sentence that goes with pooled versions; empty if none are."""
        if not self.is_mixed:
            return ""
        names = ", ".join(self.differing)
        return f"{self.words.capitalize()} are pooled by choice, although they differ in: {names}."


def value_of(numbers: Sequence[int], everywhere: Sequence[int]) -> str:
    return POOLED if tuple(numbers) == tuple(everywhere) else ",".join(map(str, numbers))


def versions_in_words(numbers: Sequence[int]) -> str:
    *others, last = [str(number) for number in numbers] or ["none"]
    return f"versions {', '.join(others)} and {last}" if others else f"version {last}"


def choose_versions(study: Study, people: ParticipantQuerySet, asked: str = "") -> VersionChoice:
    """The versions of some people that were asked for.

    By default they are the newest group in which somebody has finished, or, if nobody has, in which somebody joined.
    """
    counts = people_by_version(people)
    versions = (
        StudyVersion.objects.using(people.db).filter(pk__in=counts) if len(counts) > 1 else ()
    )
    configurations = {version.pk: what_matters(version.configuration) for version in versions}
    groups = grouped(counts, configurations)
    default = next((group for group in groups if group.finished), next(iter(groups), None))
    numbers = default.numbers if default else ()
    choice = VersionChoice(numbers, groups, numbers, differing(configurations))
    return replace(choice, numbers=numbers_of(asked, study, choice)) if asked else choice


def people_by_version(people: ParticipantQuerySet) -> dict[int, VersionPeople]:
    done = Q(stage=Participant.Stage.DONE, is_excluded=False)
    rows = people.order_by().values_list("version", "version__number")
    counted = rows.annotate(joined=Count("pk"), finished=Count("pk", filter=done))
    return {pk: VersionPeople(*numbers) for pk, *numbers in counted}


def what_matters(configuration: dict[str, Any]) -> dict[str, Any]:
    """The settings that can change an outcome; one that the version did not know yet was as in the paper."""
    names = [name for name in Study.CONFIGURATION if name not in HARMLESS]
    values = {name: configuration.get(name, Study.paper_value_of(name)) for name in names}
    # The order of the teachers decides who gets which, and not what they do.
    return values | {"arms": sorted(part.strip() for part in values["arms"].split(","))}


def grouped(
    counts: dict[int, VersionPeople], configurations: dict[int, dict[str, Any]]
) -> tuple[VersionGroup, ...]:
    groups: dict[str, list[VersionPeople]] = {}
    for pk, version in sorted(counts.items(), key=lambda item: item[1].number):
        key = json.dumps(configurations.get(pk), sort_keys=True)
        groups.setdefault(key, []).append(version)
    found = [VersionGroup(tuple(versions)) for versions in groups.values()]
    return tuple(sorted(found, key=lambda group: group.numbers[-1], reverse=True))


def differing(configurations: dict[int, dict[str, Any]]) -> tuple[str, ...]:
    def is_same(name: str) -> bool:
        return len({json.dumps(one[name], sort_keys=True) for one in configurations.values()}) <= 1

    names = next(iter(configurations.values()), {})
    return tuple(title_of(name) for name in names if not is_same(name))


def title_of(name: str) -> str:
    field: Any = Study._meta.get_field(name)
    return str(field.verbose_name)


def numbers_of(asked: str, study: Study, choice: VersionChoice) -> tuple[int, ...]:
    if asked == POOLED:
        return choice.everywhere
    known = set(study.versions.values_list("number", flat=True))
    parts = [part.strip() for part in asked.split(",")]
    numbers = {int(part) for part in parts if part.isascii() and part.isdecimal()}
    if len(numbers) != len(set(parts)) or not numbers <= known:
        raise UnknownVersion(remedy(asked, known))
    return tuple(sorted(numbers))


def remedy(asked: str, known: Iterable[int]) -> str:
    numbers = ", ".join(map(str, sorted(known))) or "none yet"
    return (
        f"There is no version {asked[:40]!r} of this study. Its versions: {numbers}. Give one, several separated by "
        f"commas, or “{POOLED}”, which pools them."
    )
