"""The verbs of the memory test beside answering: a display begins, and a display has ended."""

from django.utils import timezone

from studies import rows, turns
from studies.errors import AlreadyShown, NotCurrent, SessionOver
from studies.models import Participant
from studies.services import lock, session_state
from studies.stages import Json

from .displays import Report
from .models import MemoryRound
from .rounds import current_of, round_at


def begin_exposure(*, participant: Participant, position: int) -> Json:
    """Starts the timed display of the current round: the state, with the true order in this reply only."""
    refuse_if_over(participant)
    with turns.writing():
        this = current_round(participant, position)
        if this.reported_at:
            raise AlreadyShown
        this.begin_exposure()
        rows.save(this, ("exposed_at", "exposures"))
    state = session_state(participant, current_of(participant, this))
    state["task"]["order"] = this.pictures
    return state


def end_exposure(*, participant: Participant, position: int, report: Report) -> Json:
    """Keeps how the display of a round went, once. A disturbed round is played again with other pictures, once."""
    refuse_if_over(participant)
    with turns.writing():
        this = reported_round(participant, position)
        if this is None:
            this = current_round(participant, position)
            if this.exposed_at is None:
                raise NotCurrent
            this.take_report(report)
            rows.save(this, MemoryRound.REPORT_FIELDS)
            if this.is_replaced:
                replace(participant, this)
    return {"feedback": this.disturbed_feedback()} | session_state(participant)


def refuse_if_over(participant: Participant) -> None:
    if participant.has_expired or not participant.is_under_way:
        raise SessionOver


def current_round(participant: Participant, position: int) -> MemoryRound:
    """The round at the participant's position, held until the transaction ends."""
    if not lock(participant) or participant.position != position:
        raise NotCurrent
    try:
        this = round_at(participant, position)
    except MemoryRound.DoesNotExist:
        raise NotCurrent from None
    if this.answered_at:
        raise NotCurrent
    return this


def reported_round(participant: Participant, position: int) -> MemoryRound | None:
    """The first report stands; a page that lost the reply to it sends it again."""
    return MemoryRound.objects.filter(
        participant=participant, position=position, reported_at__isnull=False
    ).first()


def replace(participant: Participant, this: MemoryRound) -> None:
    """Writes the same round with other pictures behind the disturbed one."""
    # Here, because drawing pictures takes NumPy, and a server starts without it.
    from .stage import new_round

    participant.position += 1
    participant.last_seen_at = timezone.now()
    again = new_round(
        participant, participant.position, this.trial, this.length, repeats=this.position
    )
    rows.insert(again)
    rows.save(participant, ("position", "last_seen_at"))
