"""Checks of what `studies/chain.py` signs: the answers and results of a participant, and the roster of a study."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import chain, stages
from .models import LabelTask, Participant, Study, Task

SEAL = re.compile(rf"{chain.SEAL_FORMAT} (\d+) [0-9a-f]{{64}}")


@dataclass(frozen=True)
class Finding:
    """Something stored that is not what the server wrote."""

    code: str
    problem: str
    position: int = 0
    """The position of an answer; 0 for the participant's row."""

    def __str__(self) -> str:
        return f"Position {self.position}: {self.problem}" if self.position else self.problem


@dataclass(frozen=True)
class ParticipantCheck:
    linked: int
    """How many answers are part of the chain."""
    earlier: int
    """How many were stored by a version of the software that had no chain."""
    is_sealed: bool
    """Whether the results are covered; they are not if a server of an earlier release has stored them."""
    findings: tuple[Finding, ...]


def check_participant(participant: Participant) -> ParticipantCheck:
    """Check all answers and the results of a participant."""
    answered, positions = _answered(participant)
    first = next((place for place, task in enumerate(answered) if task.digest), len(answered))
    if not _may_be_unlinked(participant):
        first = 0
    linked = answered[first:]
    misfits = list(_misfits(participant, linked, positions))
    findings = [
        *_gaps(linked, positions, participant.position),
        *misfits,
        *_changed_labels(linked),
        *_loose_end(participant, linked, positions),
    ]
    findings.sort(key=lambda finding: finding.position)
    is_sealed = _has_valid_seal(participant)
    if not is_sealed and not _is_excused(participant, linked, misfits):
        problem = (
            "the arm, the results, the exclusion or other facts about the participant were changed."
        )
        findings.append(Finding("results", problem[0].upper() + problem[1:]))
    return ParticipantCheck(len(linked), first, is_sealed, tuple(findings))


def check_roster(study: Study) -> Iterator[Finding]:
    """Participants who were deleted, but not by the product."""
    roster = chain.read_roster(study)
    people = study.participants.all()
    numbers = {number for number in people.values_list("roster_number", flat=True) if number}
    if roster is None or max(numbers, default=0) > roster.joined:
        yield Finding("roster", "the signed number of its participants was changed.")
        return
    # The first participant freezes a version, and takes the first number.
    if not study.roster and study.current_version_id:
        yield Finding("roster", "the signed number of its participants was removed.")
    removed = {
        row.number
        for row in study.removed_participants.all()
        if row.digest
        in [chain.removal_digest(key, study.pk, row.number) for key in chain.signing_keys()]
    }
    for number in sorted(set(range(1, roster.joined + 1)) - numbers - removed):
        problem = f"participant number {number} was deleted, and JEDI Web did not do it."
        yield Finding("deleted", problem)


def _may_be_unlinked(participant: Participant) -> bool:
    """Whether the session began before there was a chain. The migration that numbered the participants decided it."""
    roster = chain.read_roster(participant.study)
    number = participant.roster_number
    return roster is not None and number is not None and number <= roster.earlier


def _answered(participant: Participant) -> tuple[list[Task], set[int]]:
    """The answered tasks of all stages in order, and the positions of all tasks."""
    models = [stage.task_model for stage in stages.flow() if stage.task_model]
    rows: list[Task] = []
    for model in models:
        tasks: Any = model._default_manager.filter(participant=participant).order_by("position")
        rows += tasks.select_related("example") if issubclass(model, LabelTask) else tasks
    answered = sorted((task for task in rows if task.answered_at), key=lambda task: task.position)
    return answered, {task.position for task in rows}


def _gaps(linked: Sequence[Task], positions: set[int], end: int) -> Iterator[Finding]:
    """Positions behind the participant at which there is no task at all."""
    if linked:
        for position in range(linked[0].position, end):
            if position not in positions:
                yield Finding("missing", "there is no answer, but there was one.", position)


def _misfits(
    participant: Participant, linked: Sequence[Task], positions: set[int]
) -> Iterator[Finding]:
    """Answers that their digests do not fit. An answer that fits behind another one is as it was given, and something
    beside it is wrong; one behind a missing answer cannot be judged."""
    digests = ["", *(task.digest for task in linked)]
    all_heads = [head for digest in digests for head in _heads(digest)]
    for before, task in zip(digests, linked, strict=False):
        fits = _fits(participant, task, _heads(before)) or _fits(participant, task, all_heads)
        is_behind_gap = task is not linked[0] and task.position - 1 not in positions
        if not task.digest:
            yield Finding("digest", "the digest of the answer was removed.", task.position)
        elif not fits and not is_behind_gap:
            problem = "the answer or its image was changed, or the answer was inserted or moved."
            also = "" if before else " Or the answers before it are gone."
            yield Finding("answer", problem + also, task.position)


def _fits(participant: Participant, task: Task, heads: Sequence[str]) -> bool:
    """Whether the digest of a task is that of its content behind one of these heads."""
    return any(
        task.digest == chain.answer_digest(key, head, participant, task, is_v1=_is_v1(task))
        for key in chain.signing_keys()
        for head in heads
    )


def _is_v1(task: Task) -> bool:
    return bool(task.digest) and not task.digest.startswith(chain.DIGEST_V2)


def _changed_labels(linked: Sequence[Task]) -> Iterator[Finding]:
    """Digests of version 1 cover whether the answer was correct, from which the label often follows."""
    for task in linked:
        if not isinstance(task, LabelTask) or not _is_v1(task) or task.is_correct is None:
            continue
        if task.is_correct != (task.answer == task.example.label):
            yield Finding("label", "the true class of the image was changed.", task.position)


def _loose_end(
    participant: Participant, linked: Sequence[Task], positions: set[int]
) -> Iterator[Finding]:
    """The head reveals answers that were removed from the end, where neither a gap nor a later answer does."""
    last = linked[-1].digest if linked else ""
    is_gap = bool(linked) and participant.position - 1 not in positions
    if not is_gap and participant.chain_head not in _heads(last):
        problem = "the answers before it were removed or replaced."
        yield Finding("end", problem, participant.position)


def _heads(digest: str) -> list[str]:
    """What the head behind a digest may be: the secret key of the server may have changed since."""
    return [chain.head_of(key, digest) for key in chain.signing_keys()]


def _has_valid_seal(participant: Participant) -> bool:
    if not (match := SEAL.fullmatch(participant.seal)):
        return False
    position = int(match[1])
    return participant.seal in [
        chain.seal_of(key, participant, position) for key in chain.signing_keys()
    ]


def _is_excused(
    participant: Participant, linked: Sequence[Task], misfits: Sequence[Finding]
) -> bool:
    """Whether a server of an earlier release, which writes no seals, has served the session: either the participant
    joined there, or it has signed an answer after the seal."""
    if not participant.seal:
        has_ended_there = participant.stage != Participant.Stage.DONE or all(map(_is_v1, linked))
        return participant.roster_number is None and has_ended_there
    if not (match := SEAL.fullmatch(participant.seal)):
        return False
    misfitting = {finding.position for finding in misfits}
    return any(
        _is_v1(task) and task.position >= int(match[1]) and task.position not in misfitting
        for task in linked
    )
