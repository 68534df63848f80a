"""Which teacher a worker gets, and for how many images."""

import math
from collections import Counter
from typing import Any

from django.db.models import F

from studies.models import Participant, Study

from .teachers import known_teachers


def assign(participant: Participant) -> dict[str, Any]:
    """Give the participant an arm and a number of images that fits the memory; return the columns that changed.

    Runs inside a transaction.
    """
    # A preview of one arm has it already.
    if not participant.arm:
        draw_arm(participant)
    participant.teaching_steps = teaching_length(
        participant.study_as_joined, participant.arm, participant.memory_span or 1.0
    )
    return {name: getattr(participant, name) for name in ("ticket", "arm", "teaching_steps")}


def draw_arm(participant: Participant) -> None:
    """Give the participant a ticket and with it an arm: exact under any concurrency."""
    study = participant.study_as_joined
    participant.ticket = take_ticket(study, participant.purpose)
    if study.assignment == Study.Assignment.FILL_GAPS:
        participant.arm = emptiest_arm(study, participant.purpose)
    else:
        participant.arm = study.open_arms[participant.ticket % len(study.open_arms)]


def take_ticket(study: Study, purpose: str) -> int:
    """The next number, 0 first. The update locks the study's row until the transaction ends, so nobody else
    can take a ticket, or count the arms, in between."""
    counter = "next_ticket" if purpose == Participant.Purpose.LIVE else "next_pilot_ticket"
    Study.objects.filter(pk=study.pk).update(**{counter: F(counter) + 1})
    return int(Study.objects.values_list(counter, flat=True).get(pk=study.pk)) - 1


def emptiest_arm(study: Study, purpose: str) -> str:
    """The arm with the fewest completed and active workers; the first of them on a tie."""
    alike = study.participants.filter(purpose=purpose, is_excluded=False)
    taken = Counter(alike.occupying(study.cutoff).values_list("arm", flat=True))
    return min(study.open_arms, key=lambda arm: taken[arm])


def teaching_lengths(study: Study) -> set[int]:
    """Of every teacher of the study, for a short, a medium and a long memory."""
    spans = (study.short_memory_up_to, study.medium_memory_up_to, math.inf)
    return {teaching_length(study, arm, span) for arm in study.arm_names for span in spans}


def teaching_length(study: Study, arm: str, memory_span: float) -> int:
    """By the memory span for a teacher whose length follows it, for any other a fixed number of images."""
    teacher = known_teachers().get(arm)
    if teacher is None or not teacher.length_follows_memory:
        return study.other_steps
    if memory_span <= study.short_memory_up_to:
        return study.short_steps
    if memory_span <= study.medium_memory_up_to:
        return study.medium_steps
    return study.long_steps
