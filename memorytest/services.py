"""The one verb of the memory test beside answering."""

from django.db import transaction

from studies.errors import NotCurrent, SessionOver
from studies.models import Participant
from studies.services import lock, session_state
from studies.stages import Json

from .models import MemoryRound


def begin_exposure(*, participant: Participant, position: int) -> Json:
    """Starts the timed display of the current round: the state, with the true order in this reply only."""
    if participant.has_expired or not participant.is_under_way:
        raise SessionOver
    with transaction.atomic():
        is_here = lock(participant) and participant.position == position
        this = MemoryRound.objects.filter(
            participant=participant, position=position, answered_at__isnull=True
        ).first()
        if this is None or not is_here:
            raise NotCurrent
        this.begin_exposure()
        this.save(update_fields=["exposed_at", "exposures"])
    state = session_state(participant)
    state["task"]["order"] = this.pictures
    return state
