"""The memory test's own call of the session API."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studies.api import examples
from studies.api.views import PositionRequest, StateReply, error_responses, participant_or_404
from studies.errors import NotCurrent, SessionOver
from studies.models import Participant
from studies.services import lock, session_state
from studies.stages import Json

from .models import MemoryRound


class Exposures(APIView):
    @extend_schema(
        operation_id="begin_exposure",
        request=PositionRequest,
        responses={200: StateReply, **error_responses(400, 404, 409, 410, 413, 415)},
        examples=examples.EXPOSURE,
    )
    def post(self, request: Request, token: str) -> Response:
        """Start the timed display of the current memory round; the order is in this reply only."""
        participant = participant_or_404(token)
        form = PositionRequest(data=request.data)
        form.is_valid(raise_exception=True)
        position = form.validated_data["position"]
        return Response(begin_exposure(participant=participant, position=position))


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
