"""Groups of a study's settings: everything else that has to know of a setting follows from its field."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db import models


@dataclass(frozen=True)
class SettingsGroup:
    """What the settings of a group have in common, and those that are exceptions."""

    heading: str
    description: str = ""
    outside_sessions: Set[str] = frozenset()
    """What no session is made of: a change makes no version."""
    harmless: Set[str] = frozenset()
    """What leaves the outcome of a session as it is: versions that differ in it are analysed together."""
    in_the_paper: Mapping[str, Any] = field(default_factory=dict)
    """What the paper has, of settings whose default is something else."""


class StudySettings(models.Model):
    """A group of settings, as fields of a study.

    A field that is added to a group stands at its place in the study form, in the documentation of the settings and
    among the differences between versions; versions that differ in it are kept apart.
    """

    group: ClassVar[SettingsGroup]

    class Meta:
        abstract = True


def names_in(group: type[StudySettings]) -> list[str]:
    """The settings of a group, in the order of the form."""
    return [field.name for field in group._meta.local_fields if field.editable]


def session_names_in(group: type[StudySettings]) -> list[str]:
    """Those that sessions are made of."""
    return [name for name in names_in(group) if name not in group.group.outside_sessions]
