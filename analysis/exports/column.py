"""A column of an export: its name, kind, description, source, and whether it identifies a participant."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from studies.models import Participant

Cell = str | int | float | bool | datetime | list[Any] | None
Row = TypeVar("Row", contravariant=True)


class ColumnKind(StrEnum):
    """The type of a column, as the codebook calls it."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "0 or 1"
    TIME = "time"
    LIST = "list"


TEXT, WHOLE, NUMBER, YES_NO, TIME, LIST = ColumnKind


@dataclass(frozen=True)
class Column(Generic[Row]):
    name: str
    kind: ColumnKind
    description: str | Callable[[], str]
    source: str | Callable[[Row], Cell] = ""
    """An attribute of the row (dotted for related objects) or a function of the row. Default: the attribute with the
    column's name."""
    identifiable: bool = False

    @cached_property
    def value(self) -> Callable[[Row], Cell]:
        return self.source if callable(self.source) else attrgetter(self.source or self.name)

    def through(self, relation: str) -> "Column[Any]":
        """The same column for rows that have this kind of row as an attribute."""
        return replace(self, source=f"{relation}.{self.source or self.name}")

    @property
    def meaning(self) -> str:
        """The description. One that names teachers is computed lazily, because start-up does not load them."""
        return self.description if isinstance(self.description, str) else self.description()


Columns = tuple[Column[Any], ...]

# In every table: what is needed to repeat a participant's session.
ORIGIN: tuple[Column[Participant], ...] = (
    Column("purpose", TEXT, "What the session is for: live, pilot, preview or rehearsal."),
    Column(
        "is_excluded",
        YES_NO,
        "Whether a researcher has excluded the participant. Such rows appear only in files of everyone, and in the "
        "tables of flags, exclusions and payments.",
    ),
    Column(
        "study_version",
        WHOLE,
        "The version of the study's settings that the session uses. Versions that differ in what can change an outcome "
        "are in one file only if a researcher chose to pool them; its name then says so.",
        "version.number",
    ),
    Column(
        "configuration_hash",
        TEXT,
        "SHA-256 of those settings; the datasheet of an export lists them in full.",
        "version.hash",
    ),
    Column(
        "software_version",
        TEXT,
        "The version of JEDI Web with which the session began, with its commit.",
    ),
    Column(
        "participant_seed",
        WHOLE,
        "Together with the study's seed, determines every random draw of the session.",
        "seed",
    ),
)
