"""The versions of a study: when its settings changed, what changed, and how many participants have each."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from studies.models import Participant, Study, StudyVersion
from teaching.teachers import teacher_title

from .page import Page, study_page

# A setting that the software did not have when the version was made.
MISSING = object()


@dataclass(frozen=True)
class TextLine:
    """One line of a text."""

    kind: str
    """`added`, `removed`, `same` or `gap`, for the lines that are not shown."""
    text: str


@dataclass(frozen=True)
class Difference:
    """One setting before and after, or the changed lines of a long text."""

    name: str
    old: str
    new: str
    lines: tuple[TextLine, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: revised" if self.lines else f"{self.name}: {self.old} → {self.new}"


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """The settings that differ, in their order."""
    changes = []
    for name in [*new, *(name for name in old if name not in new)]:
        before, after = old.get(name, MISSING), new.get(name, MISSING)
        if before != after:
            is_text = isinstance(field_of(name), models.TextField)
            has_lines = is_text and MISSING not in (before, after)
            lines = tuple(changed_lines(before, after)) if has_lines else ()
            title = setting_title(name)
            changes.append(
                Difference(title, format_value(name, before), format_value(name, after), lines)
            )
    return changes


def changed_lines(old: str, new: str) -> Iterator[TextLine]:
    """The lines that differ, with one line of context."""
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    # Skip the file names and the first "@@"; every other "@@" starts a new hunk.
    lines = list(diff)[3:]
    kinds = {"+": "added", "-": "removed", " ": "same"}
    for line in lines:
        yield TextLine("gap", "…") if line.startswith("@@") else TextLine(kinds[line[0]], line[1:])
    if not lines:
        yield TextLine("gap", "Only line endings changed.")


def field_of(name: str) -> models.Field[Any, Any] | None:
    try:
        field = Study._meta.get_field(name)
    except FieldDoesNotExist:
        return None
    return field if isinstance(field, models.Field) else None


def setting_title(name: str) -> str:
    field = field_of(name)
    return str(field.verbose_name) if field else name.replace("_", " ")


def format_value(name: str, value: Any) -> str:
    """A value as the form would show it."""
    match value:
        case _ if value is MISSING:
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


def versions(request: HttpRequest, study: Study) -> HttpResponse:
    context = {"rows": version_rows(study)}
    return study_page(request, study, "admin/desk/versions.html", "Versions", context)


def version_rows(study: Study) -> list[dict[str, Any]]:
    """Each version with its changes and all of its settings, the newest first."""
    live = Q(participants__purpose=Participant.Purpose.LIVE)
    numbered = list(
        StudyVersion.objects.filter(study=study)
        .select_related("created_by")
        .annotate(
            live=Count("participants", filter=live), others=Count("participants", filter=~live)
        )
        .order_by("number")
    )
    rows = []
    for before, version in zip([None, *numbered], numbered, strict=False):
        new = version.configuration
        rows.append(
            {
                "version": version,
                "changes": differences(before.configuration, new) if before else None,
                "settings": [(setting_title(name), format_value(name, new[name])) for name in new],
            }
        )
    return rows[::-1]


PAGES = (Page("versions", "versions/", versions, title="Versions"),)
