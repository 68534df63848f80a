"""The memory test's own call of the session API."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studies.api import examples
from studies.api.views import PositionRequest, StateReply, error_responses, participant_or_404

from . import services


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
        return Response(services.begin_exposure(participant=participant, position=position))
