"""Sessions to look at: any stage with any teacher at once, and the clearing of everything that was tried."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from memorytest.decay import measure
from studies import audit, chain, stages
from studies.answers import set_columns
from studies.models import AuditEntry, Participant, Study
from studies.recruitment import Recruitment
from studies.services import join
from studies.summary import TYPICAL_ACCURACY, TYPICAL_SPAN
from teaching.assignment import assign
from teaching.teachers import known_teachers

Stage, Purpose = Participant.Stage, Participant.Purpose

# Everything but the study itself.
TRIED = (Purpose.PILOT, Purpose.PREVIEW, Purpose.REHEARSAL)


def teachers_for(study: Study) -> list[str]:
    """The study's own teachers first, then the others that can serve its pool."""
    # The engine is loaded with the page, not with the server, which should start at once.
    from teaching.stage import size_of_pool

    size = size_of_pool(study)
    able = [name for name, teacher in known_teachers().items() if teacher.serves(size)]
    return [*study.arm_names, *(name for name in able if name not in study.arm_names)]


def places() -> dict[str, str]:
    """Where a preview may begin, and what is shown there."""
    last_page = f"The last page. Where scores are told at once, it shows {TYPICAL_ACCURACY:.0%}."
    return {stage.name: stage.preview for stage in stages.flow()} | {Stage.DONE: last_page}


def usual_place() -> str:
    """The stage that assigns a teacher, which the choice of one is for; the first where none does."""
    assigning = (stage for stage in stages.flow() if stage.assigns_arm)
    return next(assigning, stages.flow()[0]).name


def open_preview(*, study: Study, stage: str, arm: str) -> Participant:
    """A participant placed at a stage as if the earlier ones were done, who is left out of all results."""
    if stage != Stage.DONE:
        stages.by_name()[stage].prepare(study)
    with transaction.atomic():
        invited = Recruitment(purpose=Purpose.PREVIEW)
        participant, _ = join(study=study, recruitment=invited)
        participant.arm = arm
        move_to(participant, stage)
        participant.save()
        chain.seal(participant.pk)
    return participant


def move_to(participant: Participant, name: str) -> None:
    """Leave what the stages before this one would have left, and begin it."""
    for stage in stages.flow():
        if stage.name == name:
            participant.stage = name
            set_columns(participant, stage.begin(participant))
            return
        if skip := SKIP.get(stage.name):
            set_columns(participant, skip(participant))
    participant.stage, participant.finished_at = Stage.DONE, timezone.now()


def skip_memory(participant: Participant) -> dict[str, Any]:
    study = participant.study_as_joined
    span = min(TYPICAL_SPAN, study.memory_max_length)
    return measure(participant, [span] * study.memory_trials, others={})


# What a typical participant leaves in each stage, as columns. Other stages leave nothing.
SKIP: dict[str, Callable[[Participant], dict[str, Any]]] = {
    Stage.CONSENT: lambda participant: {"position": 2, "consented_at": timezone.now()},
    Stage.MEMORY: skip_memory,
    Stage.TEACHING: lambda participant: (
        assign(participant) | {"teaching_started_at": timezone.now()}
    ),
    Stage.EVALUATION: lambda participant: {
        "evaluation_started_at": timezone.now(),
        "evaluation_accuracy": TYPICAL_ACCURACY,
    },
}


def tried_out(study: Study) -> list[dict[str, Any]]:
    """What was tried, by purpose: how many sessions, how many of them finished, and the last of them."""
    done = Count("pk", filter=Q(stage=Stage.DONE))
    rows = study.participants.order_by().values("purpose")
    counts = rows.annotate(sessions=Count("pk"), finished=done, last=Max("created_at"))
    by_purpose = {row["purpose"]: row for row in counts}
    return [
        {"title": purpose.label, **by_purpose[purpose]}
        for purpose in TRIED
        if purpose in by_purpose
    ]


def clear_tried(*, study: Study, purposes: Collection[str], actor: Any) -> int:
    """Deletes sessions that never counted, with everything in them. Live ones are out of its reach."""
    chosen = [purpose for purpose in TRIED if purpose in purposes]
    with transaction.atomic():
        number = chain.remove_participants(study.participants.filter(purpose__in=chosen))
        detail = f"Cleared {number} sessions that never counted ({' and '.join(chosen)})."
        audit.record(AuditEntry.Action.DELETE, detail, study=study, actor=actor)
    return number
