"""Services of the memory test besides answering: starting a display, and reporting how it went."""

from django.db import transaction
from django.utils import timezone

from studies.errors import AlreadyShown, NotCurrent, SessionOver
from studies.models import Participant
from studies.sessions import session_state
from studies.stages import Json

from .displays import Report
from .models import MemoryRound
from .stage import new_round


def begin_exposure(*, participant: Participant, position: int) -> Json:
    """Start the timed display of the current round. Only this reply contains the true order."""
    refuse_if_over(participant)
    with transaction.atomic():
        this = lock_current_round(participant, position)
        if this.reported_at:
            raise AlreadyShown
        this.begin_exposure()
        this.save(update_fields=("exposed_at", "exposures"))
    state = session_state(participant, this)
    state["task"]["order"] = this.pictures
    return state


def end_exposure(*, participant: Participant, position: int, report: Report) -> Json:
    """Store how the display of a round went, once. A disturbed round is played again with other pictures, once."""
    refuse_if_over(participant)
    with transaction.atomic():
        # The first report stands; a page that lost the reply to it sends it again.
        this = MemoryRound.objects.filter(
            participant=participant.pk, position=position, reported_at__isnull=False
        ).first()
        if this is None:
            this = lock_current_round(participant, position)
            if this.exposed_at is None:
                raise NotCurrent
            this.take_report(report)
            this.save(update_fields=MemoryRound.REPORT_FIELDS)
            if this.is_replaced:
                replace_round(participant, this)
    return {"feedback": this.disturbed_feedback()} | session_state(participant)


def refuse_if_over(participant: Participant) -> None:
    if participant.has_expired or not participant.is_under_way:
        raise SessionOver


def lock_current_round(participant: Participant, position: int) -> MemoryRound:
    """The round at the participant's position. The update locks the participant's row until the transaction ends."""
    unmoved = Participant.objects.filter(
        pk=participant.pk, stage=participant.stage, position=participant.position
    )
    if not unmoved.update(last_seen_at=timezone.now()) or participant.position != position:
        raise NotCurrent
    this = MemoryRound.objects.filter(
        participant=participant.pk, position=position, answered_at=None
    ).first()
    if this is None:
        raise NotCurrent
    this.participant = participant
    return this


def replace_round(participant: Participant, this: MemoryRound) -> None:
    """Insert the same round with other pictures after the disturbed one."""
    participant.position += 1
    again = new_round(
        participant, participant.position, this.trial, this.length, repeats=this.position
    )
    again.save(force_insert=True)
    Participant.objects.filter(pk=participant.pk).update(
        position=participant.position, last_seen_at=timezone.now()
    )
