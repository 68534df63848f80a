"""The statements of a step, written as SQL.

An answer needs five statements for which the ORM takes 5 to 8 times the CPU, because building a query costs more than
running it. Everything else goes through the ORM.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection
from django.utils import timezone

from .models import Example, LabelTask, Participant

# What a step needs of a participant, in the order of the model's fields. Other fields are loaded on access.
PARTICIPANT_COLUMNS = (
    "id", "study_id", "version_id", "purpose", "code", "seed", "stage", "position", "chain_head", "last_seen_at",
    "beta", "arm", "teaching_steps",
)  # fmt: skip
# The study's columns are those that no version freezes.
SESSION = """\
SELECT p.id, p.study_id, p.version_id, p.purpose, p.code, p.seed, p.stage, p.position, p.chain_head, p.last_seen_at,
       p.beta, p.arm, p.teaching_steps, v.hash, s.title, s.session_hours
FROM studies_participant p
JOIN studies_study s ON s.id = p.study_id
JOIN studies_studyversion v ON v.id = p.version_id
"""
SESSION_BY_TOKEN = f"{SESSION} WHERE p.token_digest = %s"
SESSION_BY_ID = f"{SESSION} WHERE p.id = %s"
LABEL_TASKS = """\
SELECT {columns} FROM {table} WHERE participant_id = %s AND position BETWEEN %s AND %s ORDER BY position
"""
IMAGE_KEYS = """\
SELECT e.key FROM {table} t JOIN studies_example e ON e.id = t.example_id
WHERE t.participant_id = %s AND t.position <= %s ORDER BY t.position DESC
"""
TEACHING_HISTORY = """\
SELECT e.pool_index, t.answer, t.probabilities, t.is_correct
FROM teaching_teachingstep t JOIN studies_example e ON e.id = t.example_id
WHERE t.participant_id = %s AND t.position <= %s ORDER BY t.position
"""
ADVANCE = """\
UPDATE studies_participant SET position = position + 1, last_seen_at = %s, chain_head = %s
WHERE id = %s AND stage = %s AND position = %s
"""
LABEL_ANSWER = """\
UPDATE {table} SET answer = %s, is_correct = %s, answered_at = %s, response_ms = %s, digest = %s
WHERE id = %s AND answer IS NULL
"""

MAX_EXAMPLES = 10_000

AnyLabelTask = TypeVar("AnyLabelTask", bound=LabelTask)


class Conflict(Exception):
    """A row has changed since it was read: another tab was faster, or the participant withdrew."""


def read_session(statement: str, value: Any) -> tuple[Participant, str, str, int] | None:
    """A participant for one step, the hash of its version, and the study's current title and session hours."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [value])
        row = cursor.fetchone()
    if row is None:
        return None
    *columns, version_hash, title, session_hours = row
    participant = Participant.from_db(connection.alias, PARTICIPANT_COLUMNS, columns)
    if participant.last_seen_at.tzinfo is None:
        # SQLite stores UTC without a time zone.
        participant.last_seen_at = participant.last_seen_at.replace(tzinfo=UTC)
    return participant, version_hash, title, session_hours


def read_label_tasks(
    model: type[AnyLabelTask], participant_id: int, first: int, last: int
) -> list[AnyLabelTask]:
    """A participant's tasks from one position to another; at least one."""
    columns, table = ", ".join(model.STEP_COLUMNS), model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            LABEL_TASKS.format(columns=columns, table=table), [participant_id, first, last]
        )
        rows = cursor.fetchall()
    if not rows:
        raise model.DoesNotExist
    return [model.from_db(connection.alias, model.STEP_COLUMNS, row) for row in rows]


@lru_cache(maxsize=MAX_EXAMPLES)
def get_example(example_id: int, dataset_key: str) -> Example:
    """An example never changes. The key is here because a data set may be made again under the same id."""
    return Example.objects.get(pk=example_id, dataset__key=dataset_key)


def image_keys(model: type[LabelTask], participant_id: int, last: int) -> Iterator[str]:
    """The keys of the images of a participant's tasks up to a position, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(IMAGE_KEYS.format(table=model._meta.db_table), [participant_id, last])
        for (key,) in cursor:
            yield key


def read_teaching_history(participant_id: int, last: int) -> list[Any]:
    """Pool index, answer, probabilities (as JSON) and verdict of each teaching step up to a position."""
    with connection.cursor() as cursor:
        cursor.execute(TEACHING_HISTORY, [participant_id, last])
        return list(cursor.fetchall())


def advance(participant: Participant, chain_head: str) -> None:
    """Move to the next position. This UPDATE is the lock: of two requests only one finds the row."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(
            ADVANCE, [now, chain_head, participant.pk, participant.stage, participant.position]
        )
        if cursor.rowcount != 1:
            raise Conflict
    participant.position += 1
    participant.chain_head = chain_head


def save_label_answer(task: LabelTask) -> None:
    answered_at = connection.ops.adapt_datetimefield_value(task.answered_at)
    values = [task.answer, task.is_correct, answered_at, task.response_ms, task.digest, task.pk]
    with connection.cursor() as cursor:
        cursor.execute(LABEL_ANSWER.format(table=task._meta.db_table), values)
        if cursor.rowcount != 1:
            raise Conflict
