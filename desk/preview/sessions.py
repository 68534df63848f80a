"""Sessions to look at: any stage with any teacher at once, and the clearing of everything that was tried."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from memorytest.scoring import memory_decay
from studies import audit, stages
from studies.models import AuditEntry, Participant, Study
from studies.services import Recruitment, join
from teaching.assignment import assign

Stage, Purpose = Participant.Stage, Participant.Purpose

# What earlier stages would have left, for sessions that begin in the middle.
TYPICAL_SPAN = 5
TYPICAL_ACCURACY = 0.8

STAGES: dict[str, str] = {
    Stage.CONSENT: "Your consent text, then everything that follows.",
    Stage.MEMORY: "The device check, the introduction and the first round.",
    Stage.TEACHING: f"The first image, for a memory span n̄ of {TYPICAL_SPAN}.",
    Stage.EVALUATION: "The first evaluation image.",
    Stage.DONE: f"The last page, with a score of {TYPICAL_ACCURACY:.0%}.",
}
# Everything but the study itself.
TRIED = (Purpose.PILOT, Purpose.PREVIEW, Purpose.REHEARSAL)


def teachers_for(study: Study) -> list[str]:
    """The study's own teachers first, then the others that can serve its pool."""
    # The engine is loaded with the page, not with the server, which should start at once.
    from teaching.engine import TEACHERS
    from teaching.stage import size_of_pool

    size = size_of_pool(study)
    able = [name for name, kind in TEACHERS.items() if (kind.largest_pool or size) >= size]
    return [*study.arm_names, *(name for name in able if name not in study.arm_names)]


def open_preview(*, study: Study, stage: str, arm: str) -> Participant:
    """Somebody who stands at a stage as if the earlier ones were done, and who counts nowhere."""
    if stage in Participant.STAGES_UNDER_WAY:
        stages.named(stage).warm_up(study)
    with transaction.atomic():
        invited = Recruitment(purpose=Purpose.PREVIEW)
        participant, _ = join(study=study, recruitment=invited)
        participant.arm = arm
        stand_in(participant, stage)
        participant.save()
    return participant


def stand_in(participant: Participant, stage: str) -> None:
    """Leaves what the stages before this one would have left, and begins it."""
    now, places = timezone.now(), list(STAGES)
    place = places.index(stage)
    participant.stage = stage
    if place > places.index(Stage.CONSENT):
        participant.position, participant.consented_at = 2, now
    if place > places.index(Stage.MEMORY):
        leave_memory(participant)
    if place > places.index(Stage.TEACHING):
        assign(participant)
        participant.teaching_started_at = now
    if place > places.index(Stage.EVALUATION):
        participant.evaluation_started_at = participant.finished_at = now
        participant.evaluation_accuracy = TYPICAL_ACCURACY
    else:
        stages.named(stage).begin(participant)


def leave_memory(participant: Participant) -> None:
    settings = participant.study_as_joined
    span = min(TYPICAL_SPAN, settings.memory_max_length)
    participant.memory_lengths = [span] * settings.memory_trials
    participant.memory_span, participant.beta = float(span), memory_decay(span)


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
        rows = study.participants.filter(purpose__in=chosen)
        number = rows.count()
        rows.delete()
        detail = f"Cleared {number} sessions that never counted ({' and '.join(chosen)})."
        audit.record(AuditEntry.Action.DELETE, detail, study=study, actor=actor)
    return number
