"""What changed between two sets of a study's settings, as people read it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models

from studies.models import Study
from teaching.teachers import teacher_title

# A setting that a version does not know, because the software had no such setting yet.
UNKNOWN = object()
KINDS = {"+": "added", "-": "removed", " ": "same"}


@dataclass(frozen=True)
class TextLine:
    """One line of a text: added, removed, the same, or a gap between what is shown."""

    kind: str
    text: str


@dataclass(frozen=True)
class Difference:
    """One setting, before and after. A long text has its changed lines instead."""

    name: str
    old: str
    new: str
    lines: tuple[TextLine, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: rewritten" if self.lines else f"{self.name}: {self.old} → {self.new}"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """In the order of the settings; what is the same is left out."""
    names = [*new, *(name for name in old if name not in new)]
    pairs = ((name, old.get(name, UNKNOWN), new.get(name, UNKNOWN)) for name in names)
    return [difference(*pair) for pair in pairs if pair[1] != pair[2]]


def difference(name: str, old: Any, new: Any) -> Difference:
    is_text = isinstance(field_of(name), models.TextField)
    lines = tuple(changed_lines(old, new)) if is_text and UNKNOWN not in (old, new) else ()
    return Difference(title_of(name), shown(name, old), shown(name, new), lines)


def settings_in_words(configuration: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(title_of(name), shown(name, value)) for name, value in configuration.items()]


def field_of(name: str) -> models.Field[Any, Any] | None:
    try:
        field = Study._meta.get_field(name)
    except FieldDoesNotExist:
        return None
    return field if isinstance(field, models.Field) else None


def title_of(name: str) -> str:
    field = field_of(name)
    return str(field.verbose_name) if field else name.replace("_", " ")


def shown(name: str, value: Any) -> str:
    """A value as the form would show it."""
    match value:
        case _ if value is UNKNOWN:
            return "not a setting"
        case None | "":
            return "empty"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case dict():
            return f"{value['name']}, version {value['version']}"
    if name == "arms":
        return ", ".join(teacher_title(arm.strip()) for arm in str(value).split(","))
    field = field_of(name)
    return str(dict(field.flatchoices).get(value, value) if field and field.choices else value)


def changed_lines(old: str, new: str) -> Iterator[TextLine]:
    """The lines that differ, with the one before and after."""
    compared = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    # Two lines of file names and the first "@@" are a heading; every other "@@" begins a new place.
    changes = list(compared)[3:]
    for line in changes:
        yield TextLine("gap", "…") if line.startswith("@@") else TextLine(KINDS[line[0]], line[1:])
    if not changes:
        yield TextLine("gap", "Only line endings changed.")
