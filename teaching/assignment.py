"""Which teacher a worker gets, and for how many images."""

from collections import Counter

from django.db.models import F

from studies.models import Participant, Study

MEMORY_MATCHED_TEACHER = "jedi"


def assign(participant: Participant) -> None:
    """Gives the participant a ticket and with it a teacher. Inside a transaction; exact under any concurrency."""
    study = participant.study
    participant.ticket = take_ticket(study)
    if study.assignment == Study.Assignment.FILL_GAPS:
        participant.arm = emptiest_arm(study)
    else:
        participant.arm = study.arm_names[participant.ticket % len(study.arm_names)]
    participant.teaching_steps = teaching_length(
        study, participant.arm, participant.memory_span or 1.0
    )


def take_ticket(study: Study) -> int:
    """The next number, 0 first. The update locks the study's row until the transaction ends, so nobody else
    can take a ticket, or count the arms, in between."""
    Study.objects.filter(pk=study.pk).update(next_ticket=F("next_ticket") + 1)
    return Study.objects.values_list("next_ticket", flat=True).get(pk=study.pk) - 1


def emptiest_arm(study: Study) -> str:
    """The arm with the fewest completed and active workers; the first of them on a tie."""
    taken = Counter(study.participants.occupying(study.cutoff).values_list("arm", flat=True))
    return min(study.arm_names, key=lambda arm: taken[arm])


def teaching_length(study: Study, arm: str, memory_span: float) -> int:
    """JEDI teaches in proportion to the memory; the others for a fixed number of images."""
    if arm != MEMORY_MATCHED_TEACHER:
        return study.other_steps
    if memory_span <= study.short_memory_up_to:
        return study.short_steps
    if memory_span <= study.medium_memory_up_to:
        return study.medium_steps
    return study.long_steps
