"""The memory test's own call of the session API."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from studies import sessions
from studies.api import examples
from studies.api.views import (
    AnswerReply,
    JsonView,
    PositionRequest,
    StateReply,
    error_responses,
)
from studies.stages import Measured, Milliseconds

from . import services
from .displays import Pointer, Report

# No window is larger, and the columns hold it.
MOST = 1_000_000


class Exposures(JsonView):
    @extend_schema(
        operation_id="begin_exposure",
        request=PositionRequest,
        responses={200: StateReply, **error_responses(400, 404, 409, 410, 413, 415)},
        examples=examples.EXPOSURE,
    )
    def post(self, request: Request, token: str) -> Response:
        """Start the timed display of the current memory round; the order is in this reply only."""
        participant = sessions.find(token)
        form = PositionRequest(data=request.data)
        form.is_valid(raise_exception=True)
        position = form.validated_data["position"]
        return Response(services.begin_exposure(participant=participant, position=position))


class DisplayRequest(PositionRequest):
    """How a display went. All but the position may be left out; without `shown_ms` it counts as interrupted."""

    is_interrupted = serializers.BooleanField(
        default=False, help_text="the page was left or reloaded before the display was over"
    )
    shown_ms = Milliseconds(
        required=False, help_text="from the first painted frame to the last, by the client's clock"
    )
    dropped_frames = serializers.IntegerField(
        required=False, min_value=0, max_value=MOST, help_text="frames that were not painted"
    )
    hidden_ms = Milliseconds(required=False, help_text="how long the page was out of sight")
    unfocused_ms = Milliseconds(required=False, help_text="how long the page was not in focus")
    picture_px = Measured(required=False, help_text="the side of a picture in CSS pixels")
    window_width = serializers.IntegerField(required=False, min_value=0, max_value=MOST)
    window_height = serializers.IntegerField(required=False, min_value=0, max_value=MOST)
    pixel_ratio = Measured(required=False, help_text="`devicePixelRatio`")
    pointer = serializers.ChoiceField(required=False, choices=Pointer.choices)


class Displays(JsonView):
    @extend_schema(
        operation_id="end_exposure",
        request=DisplayRequest,
        responses={200: AnswerReply, **error_responses(400, 404, 409, 410, 413, 415)},
        examples=examples.DISPLAY,
    )
    def post(self, request: Request, token: str) -> Response:
        """Say how the timed display went. A disturbed round is played again with other pictures, once; then `feedback`
        says so and the task is the new round."""
        participant = sessions.find(token)
        form = DisplayRequest(data=request.data)
        form.is_valid(raise_exception=True)
        values: dict[str, Any] = dict(form.validated_data)
        position = values.pop("position")
        return Response(
            services.end_exposure(
                participant=participant, position=position, report=Report(**values)
            )
        )
