"""What a column is: what it is called, what it means, where it comes from, and whether it names a person."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from studies.models import Participant

# What may stand in a cell. A list is a list of names.
Cell = str | int | float | bool | datetime | list[Any] | None
Row = TypeVar("Row", contravariant=True)


class ColumnKind(StrEnum):
    """How to read a column back, in the words of the codebook."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "0 or 1"
    TIME = "time"
    LIST = "list"


@dataclass(frozen=True)
class Column(Generic[Row]):
    name: str
    kind: ColumnKind
    description: str | Callable[[], str]
    value: Callable[[Row], Cell]
    identifiable: bool = False

    @property
    def meaning(self) -> str:
        """The description; one that names teachers is made when it is read, because the server starts without them."""
        return self.description if isinstance(self.description, str) else self.description()


Columns = tuple[Column[Any], ...]


def origin(whose: Callable[[Any], Participant]) -> Columns:
    """Where a row comes from, in every table alike: what it takes to repeat the session."""
    return (
        Column(
            "purpose",
            ColumnKind.TEXT,
            "What the session is for: live, pilot, preview or rehearsal.",
            lambda row: whose(row).purpose,
        ),
        Column(
            "is_excluded",
            ColumnKind.YES_NO,
            "Whether a researcher has excluded the participant. Such rows are only in files of everyone.",
            lambda row: whose(row).is_excluded,
        ),
        Column(
            "study_version",
            ColumnKind.WHOLE,
            "The version of the study's settings that the session was made of.",
            lambda row: whose(row).version.number,
        ),
        Column(
            "configuration_hash",
            ColumnKind.TEXT,
            "SHA-256 of those settings; the datasheet of an export has them in full.",
            lambda row: whose(row).version.hash,
        ),
        Column(
            "software_version",
            ColumnKind.TEXT,
            "The version of JEDI Web in which the session began.",
            lambda row: whose(row).software_version,
        ),
        Column(
            "participant_seed",
            ColumnKind.WHOLE,
            "Every random draw of the session follows from it and the study's seed.",
            lambda row: whose(row).seed,
        ),
    )
