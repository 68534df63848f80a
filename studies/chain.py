"""The chain of a participant's answers: none can be changed, removed, inserted or moved without a trace.

Every answered task keeps a digest of the answer and of all answers before it; the participant keeps the chain's head,
which follows from the last digest and cannot be read off any earlier row. Both are keyed, so a person who can write the
database but does not have the server's secret key cannot make a chain that fits.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.conf import settings

from . import stages
from .keys import key_for
from .models import Participant, Task


@dataclass(frozen=True)
class Finding:
    """A place at which the stored answers are not those that were given."""

    position: int
    problem: str

    def __str__(self) -> str:
        return f"Position {self.position}: {self.problem}"


@dataclass(frozen=True)
class ChainCheck:
    linked: int
    """How many answers are part of the chain."""
    earlier: int
    """How many were stored by a version of the software that had no chain."""
    findings: tuple[Finding, ...]


def link(participant: Participant, task: Task) -> str:
    """Gives an answered task its digest, before both are saved: the head that the participant then has."""
    key = _key(settings.SECRET_KEY)
    task.digest = _digest(key, participant.chain_head, _content(participant, task))
    return _head(key, task.digest)


def check(participant: Participant) -> ChainCheck:
    """Reads all answers of a participant again."""
    answered, positions = _answered(participant)
    first = next((place for place, task in enumerate(answered) if task.digest), len(answered))
    linked = answered[first:]
    findings = [
        *_gaps(linked, positions, participant.position),
        *_misfits(participant, linked, positions),
        *_loose_end(participant, linked, positions),
    ]
    findings.sort(key=lambda found: found.position)
    return ChainCheck(len(linked), first, tuple(findings))


def _answered(participant: Participant) -> tuple[list[Task], set[int]]:
    """The answered tasks of all stages in order, and the positions of all tasks."""
    models = [stage.task_model for stage in stages.flow() if stage.task_model]
    rows = list(
        chain.from_iterable(
            model._default_manager.filter(participant=participant).order_by("position")
            for model in models
        )
    )
    answered = sorted((task for task in rows if task.answered_at), key=lambda task: task.position)
    return answered, {task.position for task in rows}


def _gaps(linked: Sequence[Task], positions: set[int], end: int) -> Iterator[Finding]:
    """Positions behind the participant at which there is no task at all."""
    if linked:
        for position in range(linked[0].position, end):
            if position not in positions:
                yield Finding(position, "there is no answer, but there was one.")


def _misfits(
    participant: Participant, linked: Sequence[Task], positions: set[int]
) -> Iterator[Finding]:
    """Answers that are not what their digests were made from. One that still fits behind another answer is as it was
    given, and something beside it is wrong; one behind a missing answer cannot be judged."""
    digests = ["", *(task.digest for task in linked)]
    everywhere = [head for digest in digests for head in _heads(digest)]
    for before, task in zip(digests, linked, strict=False):
        fits = _fits(participant, task, _heads(before)) or _fits(participant, task, everywhere)
        is_behind_gap = task is not linked[0] and task.position - 1 not in positions
        if not fits and not (task.digest and is_behind_gap):
            also = "" if before else " Or the answers before it are gone."
            yield Finding(task.position, f"the answer was changed, inserted or moved here.{also}")


def _fits(participant: Participant, task: Task, heads: Sequence[str]) -> bool:
    """Whether the digest of a task is that of its content behind one of these heads."""
    content = _content(participant, task)
    return any(task.digest == _digest(key, head, content) for key in _keys() for head in heads)


def _loose_end(
    participant: Participant, linked: Sequence[Task], positions: set[int]
) -> Iterator[Finding]:
    """The head tells of answers that were removed from the end, where neither a gap nor a later answer does."""
    last = linked[-1].digest if linked else ""
    is_gap = bool(linked) and participant.position - 1 not in positions
    if not is_gap and participant.chain_head not in _heads(last):
        yield Finding(participant.position, "the answers before it were removed or replaced.")


def _content(participant: Participant, task: Task) -> bytes:
    """The answer in one form, whatever the database makes of its columns."""
    values = [_plain(getattr(task, name)) for name in task.CHAINED]
    row = [participant.code, task._meta.label_lower, *values]
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_in_words).encode()


def _plain(value: Any) -> Any:
    """A whole number of milliseconds comes back from the database with a fraction."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole else value


def _in_words(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _digest(key: bytes, head: str, content: bytes) -> str:
    return hmac.digest(key, head.encode() + b" " + content, "sha256").hex()


def _head(key: bytes, digest: str) -> str:
    """Of a digest; the start of a chain has neither."""
    return hmac.digest(key, b"head " + digest.encode(), "sha256").hex() if digest else ""


def _heads(digest: str) -> list[str]:
    """What the head behind a digest may be: the secret key of the server may have changed since."""
    return [_head(key, digest) for key in _keys()]


def _keys() -> list[bytes]:
    return [_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _key(secret: str) -> bytes:
    return key_for("chain of answers", secret)
