"""The call of the session API by which a page reports what happens around its tasks."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studies.answers import Milliseconds
from studies.events import MOST_EACH, MOST_PER_CALL, PageEvent, note_events
from studies.models import SessionEvent

from . import examples
from .views import MAX_POSITION, error_responses, participant_or_404


class EventEntry(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=SessionEvent.Kind.choices)
    client_ms = Milliseconds(
        required=False, help_text="since the page was opened, by the client's clock"
    )
    position = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_POSITION, help_text="the task that is shown"
    )
    detail = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="for an error; its first 300 characters are kept",
    )


class EventsRequest(serializers.Serializer[Any]):
    sent_ms = Milliseconds(
        required=False,
        help_text="the current time by the clock of `client_ms`, which tells how old the events are",
    )
    events = EventEntry(many=True, help_text=f"the first {MOST_PER_CALL} are kept")


class EventsReply(serializers.Serializer[Any]):
    kept = serializers.IntegerField(
        help_text=f"how many were kept; a session keeps {MOST_EACH}, and a finished one keeps none"
    )


class Events(APIView):
    @extend_schema(
        operation_id="note_events",
        request=EventsRequest,
        responses={200: EventsReply, **error_responses(400, 404, 413, 415)},
        examples=examples.EVENTS,
    )
    def post(self, request: Request, token: str) -> Response:
        """Report events on the page. Nothing depends on them: those beyond the limit are silently dropped."""
        participant = participant_or_404(token)
        form = EventsRequest(data=request.data)
        form.is_valid(raise_exception=True)
        reported = [PageEvent(**entry) for entry in form.validated_data["events"]]
        sent_ms = form.validated_data.get("sent_ms")
        return Response({"kept": note_events(participant, reported, sent_ms)})
