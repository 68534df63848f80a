"""What the server has stored, read from the database file itself."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from studies.models import digest_of
from tests.site import Site


@dataclass(frozen=True)
class Answered:
    """One stored task: what was answered, and whether it was right."""

    position: int
    answer: Any
    is_correct: bool | None
    response_ms: float | None
    server_ms: float | None
    image: str = ""
    label: str = ""
    is_first_showing: bool = True


@dataclass(frozen=True)
class Round:
    position: int
    pictures: list[str]
    restored: list[str] | None
    is_correct: bool | None
    exposure_ms: int
    shown_ms: float | None
    exposures: int
    disturbance: str
    is_replaced: bool
    picture_px: float | None
    pointer: str


SERVER_MS = "(julianday(t.answered_at) - julianday(t.created_at)) * 86400000.0"
LABELS = """
    SELECT t.position,
           said.display_name,
           t.is_correct, t.response_ms, {server_ms}, e.key,
           own.display_name, {first}
    FROM {table} t
    JOIN studies_participant p ON p.id = t.participant_id
    JOIN studies_example e ON e.id = t.example_id
    JOIN studies_imageclass own ON own.dataset_id = e.dataset_id AND own."index" = e.label
    LEFT JOIN studies_imageclass said ON said.dataset_id = e.dataset_id AND said."index" = t.answer
    WHERE p.token_digest = %s ORDER BY t.position
"""


def teaching_steps(site: Site, token: str) -> list[Answered]:
    sql = LABELS.format(
        server_ms=SERVER_MS, table="teaching_teachingstep", first="t.is_first_showing"
    )
    return [Answered(*row) for row in site.rows(sql, digest_of(token))]


def evaluation_items(site: Site, token: str) -> list[Answered]:
    sql = LABELS.format(server_ms=SERVER_MS, table="evaluation_evaluationitem", first="1")
    return [Answered(*row) for row in site.rows(sql, digest_of(token))]


def memory_rounds(site: Site, token: str) -> list[Round]:
    rows = site.rows(
        "SELECT t.position, t.pictures, t.restored, t.is_correct, t.exposure_ms, t.shown_ms, t.exposures, "
        "t.disturbance, t.is_replaced, t.picture_px, t.pointer "
        "FROM memorytest_memoryround t JOIN studies_participant p ON p.id = t.participant_id "
        "WHERE p.token_digest = %s ORDER BY t.position",
        digest_of(token),
    )
    return [
        Round(position, json.loads(pictures), json.loads(restored) if restored else None, *others)
        for position, pictures, restored, *others in rows
    ]


def given_labels(site: Site, token: str) -> dict[int, str]:
    """Every class that is stored as an answer, by position."""
    rows = [*teaching_steps(site, token), *evaluation_items(site, token)]
    return {row.position: row.answer for row in rows if row.answer is not None}


def participant(site: Site, token: str, *columns: str) -> tuple[Any, ...]:
    names = ", ".join(columns)
    return site.rows(
        f"SELECT {names} FROM studies_participant WHERE token_digest = %s", digest_of(token)
    )[0]


def gain_row(site: Site, slug: str, token: str) -> dict[str, str]:
    """The participant's line of the CSV that a researcher gets."""
    table = csv.DictReader(io.StringIO(site.python("manage.py", "export_gain", slug)))
    (code,) = participant(site, token, "code")
    return next(row for row in table if row["participant"] == code)


def expire_session(site: Site, token: str) -> None:
    """Sets the clock of a session back, as if nobody had been there for a year."""
    with closing(sqlite3.connect(site.data_dir / "db.sqlite3", timeout=20)) as database, database:
        database.execute(
            "UPDATE studies_participant SET last_seen_at = datetime('now', '-1 year') WHERE token_digest = ?",
            [digest_of(token)],
        )


def looks(site: Site, token: str) -> list[float | None]:
    """For how long the feedback to each teaching step was in sight."""
    rows = site.rows(
        "SELECT t.feedback_ms FROM teaching_teachingstep t "
        "JOIN studies_participant p ON p.id = t.participant_id WHERE p.token_digest = %s ORDER BY t.position",
        digest_of(token),
    )
    return [ms for (ms,) in rows]
