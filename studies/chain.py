"""What makes tampering visible: the chain of answers, the seal of the results and the roster of a study.

- Every answered task keeps a digest of the answer and of all answers before it; the participant keeps the head of this
  chain, which follows from the last digest and cannot be computed from the other rows.
- The participant's row has a seal: a digest of what decides the analysis (arm, β, outcomes, exclusion and so on).
- Participants of a study are numbered from 1, and the study keeps the signed count, so that a deleted row leaves a gap.
  A deletion by the product keeps a signed record of the number.

All of them are keyed, so a person who can write the database but does not have the server's secret key cannot make
them fit. This module writes them; `studies/verification.py` checks them.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from .keys import key_for
from .models import Participant, ParticipantQuerySet, RemovedParticipant, Study, Task

# Digests of answers written before there were versions are plain hexadecimal.
DIGEST_V2 = "v2"
DIGEST_LENGTH = 64

# What a seal covers, besides whether and when the session was completed. Seals are compared with what is stored, so
# a column can only be added together with a new format of the seal.
SEAL_FORMAT = "v1"
SEALED = (
    "study_id", "roster_number", "code", "purpose", "version_id", "software_version", "seed", "created_at",
    "is_excluded", "memory_lengths", "memory_span", "beta", "beta_mapping", "beta_inputs", "ticket", "arm",
    "teaching_steps", "unique_examples", "first_seen_accuracy", "evaluation_accuracy", "evaluation_macro_recall",
    "evaluation_kappa", "teaching_gain",
)  # fmt: skip


def link(participant: Participant, task: Task) -> str:
    """Give an answered task its digest, before both are saved; return the participant's new head."""
    key = signing_keys()[0]
    task.digest = answer_digest(key, participant.chain_head, participant, task)
    return head_of(key, task.digest)


def answer_digest(
    key: bytes, head: str, participant: Participant, task: Task, *, is_v1: bool = False
) -> str:
    """The digest of an answer behind a head. Version 2 covers the label of the image, too."""
    values = [_plain(getattr(task, name)) for name in task.CHAINED]
    row = [participant.code, task._meta.label_lower, *values]
    if is_v1:
        message = head.encode() + b" " + _json(row, sort_keys=False)
        return hmac.digest(key, message, "sha256").hex()
    message = b"2 " + head.encode() + b" " + _json([*row, *task.chained_facts()])
    return (DIGEST_V2 + hmac.digest(key, message, "sha256").hex())[:DIGEST_LENGTH]


def head_of(key: bytes, digest: str) -> str:
    """The head behind a digest; a chain without answers has none."""
    return hmac.digest(key, b"head " + digest.encode(), "sha256").hex() if digest else ""


def seal(participant_id: int) -> None:
    """Sign what is stored in a participant's row. The caller has changed the row in this transaction: it is locked."""
    row = Participant.objects.only(*SEALED, "position", "stage", "finished_at", "chain_head").get(
        pk=participant_id
    )
    Participant.objects.filter(pk=row.pk).update(seal=seal_of(signing_keys()[0], row, row.position))


def seal_of(key: bytes, row: Any, position: int) -> str:
    """The seal of a participant's row that was written at a position, which the seal names."""
    values = [_plain(getattr(row, name)) for name in SEALED]
    # Other stages may change without a new seal: sessions are marked as abandoned and opened again.
    is_done = row.stage == Participant.Stage.DONE
    end = [row.finished_at, row.chain_head] if is_done else None
    content = _json(["seal", position, *values, end])
    return f"{SEAL_FORMAT} {position} {hmac.digest(key, content, 'sha256').hex()}"


class Roster(NamedTuple):
    """How many participants a study has ever had."""

    joined: int = 0
    """The last number that was given out."""
    earlier: int = 0
    """The participants up to this number began before there was a chain of answers."""


def sign_roster(key: bytes, study_id: int, roster: Roster) -> str:
    content = _json(["roster", study_id, *roster])
    return f"{roster.joined} {roster.earlier} {hmac.digest(key, content, 'sha256').hex()}"


def read_roster(study: Study) -> Roster | None:
    """The roster of a study; None if somebody else has written it."""
    if not study.roster:
        return Roster()
    try:
        joined, earlier, _ = study.roster.split(" ")
        roster = Roster(int(joined), int(earlier))
    except ValueError:
        return None
    is_signed = study.roster in [sign_roster(key, study.pk, roster) for key in signing_keys()]
    return roster if is_signed else None


def take_roster_number(study: Study) -> int | None:
    """The number of the next participant. The caller has locked the study's row.

    A roster that was tampered with stays as it is, as evidence; who joins then gets no number.
    """
    roster = read_roster(study)
    taken = study.participants.filter(roster_number__gt=roster.joined if roster else 0)
    if roster is None or taken.exists():
        return None
    roster = roster._replace(joined=roster.joined + 1)
    signed = sign_roster(signing_keys()[0], study.pk, roster)
    Study.objects.filter(pk=study.pk).update(roster=signed)
    return roster.joined


def remove_participants(people: ParticipantQuerySet) -> int:
    """Delete participants with everything that belongs to them. Only signed records of their numbers stay."""
    rows = list(people.values_list("pk", "study_id", "roster_number"))
    key = signing_keys()[0]
    RemovedParticipant.objects.bulk_create(
        (
            RemovedParticipant(
                study_id=study_id, number=number, digest=removal_digest(key, study_id, number)
            )
            for _, study_id, number in rows
            if number
        ),
        ignore_conflicts=True,  # somebody else deletes the same participant
    )
    Participant.objects.filter(pk__in=[pk for pk, *_ in rows]).delete()
    return len(rows)


def removal_digest(key: bytes, study_id: int, number: int) -> str:
    return hmac.digest(key, _json(["removed", study_id, number]), "sha256").hex()


def signing_keys() -> list[bytes]:
    """The key that signs, and those of earlier secret keys of the server."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [key_for("chain of answers", secret) for secret in secrets]


def _json(row: Sequence[Any], *, sort_keys: bool = True) -> bytes:
    """Values in one form, whatever the database makes of its columns."""
    text = json.dumps(
        row, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, default=_text
    )
    return text.encode()


def _plain(value: Any) -> Any:
    """A whole number of milliseconds comes back from the database with a fraction."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_whole else value


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
