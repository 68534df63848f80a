"""The session API for the worker's page, bots and other front ends."""

from collections.abc import Mapping
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import ScopedRateThrottle
from rest_framework.views import APIView

from studies import services, sessions, stages, withdrawal
from studies.answers import record_answer
from studies.events import MAX_EVENTS, MAX_EVENTS_PER_CALL, PAGE_EVENTS, PageEvent, note_events
from studies.models import MAX_CLASSES, MIN_CLASSES, Participant, Study
from studies.recruitment import Recruitment
from studies.stages import Milliseconds

from . import examples
from .errors import BodyTooLarge, error_body
from .throttling import CacheTolerantThrottle

MAX_POSITION = 1_000_000
MAX_BODY_BYTES = 16 * 1024


class NestedJSONParser(JSONParser):
    """Refuses thousands of nested brackets, which fit into a small body."""

    def parse(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        try:
            return super().parse(*arguments, **options)
        except RecursionError as error:
            raise ParseError from error


class JsonView(APIView):
    """The base of every call of our APIs: JSON of at most 16 KiB."""

    parser_classes = [NestedJSONParser]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """There is one format: reply with it, whatever the client accepts."""
        return super().perform_content_negotiation(request, force=True)

    def initial(self, request: Request, *arguments: Any, **options: Any) -> None:
        """Refuse a large body before it is read."""
        super().initial(request, *arguments, **options)
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
            raise BodyTooLarge


class JoinRequest(serializers.Serializer[Any]):
    """The recruitment parameters of the link; all of them may be left out."""

    PROLIFIC_PID = serializers.CharField(required=False, allow_blank=True, max_length=120)
    STUDY_ID = serializers.CharField(required=False, allow_blank=True, max_length=120)
    SESSION_ID = serializers.CharField(required=False, allow_blank=True, max_length=120)
    workerId = serializers.CharField(required=False, allow_blank=True, max_length=120)  # noqa: N815
    assignmentId = serializers.CharField(required=False, allow_blank=True, max_length=120)  # noqa: N815
    hitId = serializers.CharField(required=False, allow_blank=True, max_length=120)  # noqa: N815
    turkSubmitTo = serializers.CharField(required=False, allow_blank=True, max_length=200)  # noqa: N815
    invitation = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=300,
        help_text="signed by the server, for previews and rehearsals, which never count",
    )

    def to_internal_value(self, data: Any) -> Any:
        """Strings, or integers, which are kept digit by digit: 1e999999 is the float inf to a JSON parser."""
        if isinstance(data, Mapping):
            floats = [name for name in data.keys() & self.fields if isinstance(data[name], float)]
            if floats:
                raise serializers.ValidationError(
                    {name: ["Send it as a JSON string."] for name in floats}
                )
        return super().to_internal_value(data)


class JoinReply(serializers.Serializer[Any]):
    token = serializers.CharField()
    url = serializers.CharField(help_text="The worker's page of this session.")


class PositionRequest(serializers.Serializer[Any]):
    position = serializers.IntegerField(min_value=1, max_value=MAX_POSITION)


POSITION = PositionRequest()


class AnswerRequest(PositionRequest):
    """One answer. Which of the fields are needed depends on the kind of the current task."""

    def get_fields(self) -> dict[str, Any]:
        """For the schema only: the fields of all stages. The stage that is answered validates its own."""
        fields = super().get_fields()
        for stage in stages.flow():
            for name, field in stage.answer().get_fields().items():
                field.required = False
                fields[name] = field
        return fields


class StageField(serializers.ChoiceField):
    """Where a session is: in a stage that the settings name, or at its end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=(), **options)

    def bind(self, field_name: str, parent: Any) -> None:
        """The stages are read when they are needed, not with the module: they load the engine."""
        self.choices = stages.labels() | {end.value: str(end.label) for end in Participant.ENDS}
        super().bind(field_name, parent)


class StageProgress(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    done = serializers.IntegerField()
    part = serializers.FloatField(help_text="how much of the current unit is done, from 0 to 1")
    total = serializers.IntegerField(allow_null=True)


class PageInfo(serializers.Serializer[Any]):
    """What the study wants of the page beside the tasks."""

    answer_keys = serializers.BooleanField(help_text="whether bare digits and letters answer")
    minutes_left = serializers.IntegerField(allow_null=True)
    shows_effort = serializers.BooleanField(help_text="friendly words in the course of the test")
    offers_breaks = serializers.BooleanField()


class SessionInfo(serializers.Serializer[Any]):
    code = serializers.CharField()
    study = serializers.CharField()
    classes = serializers.ListField(
        child=serializers.CharField(), min_length=MIN_CLASSES, max_length=MAX_CLASSES
    )
    stage = StageField()
    stages = StageProgress(many=True)
    page = PageInfo()


class StateReply(serializers.Serializer[Any]):
    session = SessionInfo()
    task = serializers.DictField(
        help_text="`kind` says which: the name of the current stage, or done."
    )


class AnswerReply(StateReply):
    feedback = serializers.DictField(allow_null=True)


class WithdrawalReply(serializers.Serializer[Any]):
    deletes = serializers.BooleanField(
        help_text="Whether a withdrawal deletes what was answered, or keeps it. Tell the worker before."
    )


class EventEntry(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=PAGE_EVENTS)
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
    events = EventEntry(many=True, help_text=f"the first {MAX_EVENTS_PER_CALL} are kept")


class EventsReply(serializers.Serializer[Any]):
    kept = serializers.IntegerField(
        help_text=f"how many were kept; a session keeps {MAX_EVENTS}, and a finished one keeps none"
    )


class ErrorDetail(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField()  # type: ignore[assignment]


class ErrorReply(serializers.Serializer[Any]):
    error = ErrorDetail()


def error_responses(
    *statuses: int, errors: Mapping[int, tuple[str, str]] = examples.ERRORS
) -> dict[int, OpenApiResponse]:
    """The refusals of a call, in the form that every error of the API has; `errors` has the code and words of each."""
    return {status: _error_response(status, *errors[status]) for status in statuses}


def _error_response(status: int, code: str, message: str) -> OpenApiResponse:
    example = examples.example_response(code, error_body(code, message), status)
    return OpenApiResponse(ErrorReply, examples=[example])


class JoinThrottle(CacheTolerantThrottle, ScopedRateThrottle):
    pass


class Join(JsonView):
    throttle_classes = [JoinThrottle]
    throttle_scope = "join"

    @extend_schema(
        operation_id="join_study",
        request=JoinRequest,
        responses={201: JoinReply, 200: JoinReply, **error_responses(400, 403, 404, 413, 415, 429)},
        examples=examples.JOIN,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Join a study, or resume: the same external id gets the same session."""
        study = get_object_or_404(Study, slug=slug)
        form = JoinRequest(data=request.data)
        form.is_valid(raise_exception=True)
        recruitment = Recruitment.from_parameters(form.validated_data).invited(
            study, form.validated_data.get("invitation", "")
        )
        participant, is_new = services.join(study=study, recruitment=recruitment)
        body = {"token": participant.token, "url": reverse("session", args=[participant.token])}
        return Response(body, status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


class Session(JsonView):
    @extend_schema(
        operation_id="get_session",
        responses={200: StateReply, **error_responses(404, 410)},
        examples=examples.STATES,
    )
    def get(self, request: Request, token: str) -> Response:
        """The current task. Repeatable; writes nothing but "last seen"."""
        participant = sessions.find(token)
        sessions.touch(participant)
        return Response(sessions.session_state(participant))


class Answers(JsonView):
    @extend_schema(
        operation_id="answer",
        request=AnswerRequest,
        responses={200: AnswerReply, **error_responses(400, 404, 409, 410, 413, 415)},
        examples=[*examples.ANSWERS, *examples.ANSWER_REPLIES],
    )
    def post(self, request: Request, token: str) -> Response:
        """Answer a position; the reply has the feedback and the next task. The same answer again is a no-op."""
        participant = sessions.find(token)
        position = POSITION.run_validation(request.data)["position"]
        return Response(record_answer(participant, position, request.data))


class Withdrawal(JsonView):
    @extend_schema(
        operation_id="get_withdrawal",
        responses={200: WithdrawalReply, **error_responses(404)},
        examples=examples.WITHDRAWAL,
    )
    def get(self, request: Request, token: str) -> Response:
        """What a withdrawal would do, by the study's settings."""
        return Response({"deletes": withdrawal.deletes(sessions.find(token))})

    @extend_schema(
        operation_id="withdraw",
        request=None,
        responses={200: StateReply, **error_responses(404, 410)},
        examples=examples.WITHDRAWN,
    )
    def post(self, request: Request, token: str) -> Response:
        """Leave the study for good. Again is a no-op; a session that has ended otherwise cannot be left."""
        participant = sessions.find(token)
        withdrawal.withdraw(participant)
        return Response(sessions.session_state(sessions.reload(participant)))


class Events(JsonView):
    @extend_schema(
        operation_id="note_events",
        request=EventsRequest,
        responses={200: EventsReply, **error_responses(400, 404, 413, 415)},
        examples=examples.EVENTS,
    )
    def post(self, request: Request, token: str) -> Response:
        """Report events on the page. Nothing depends on them: those beyond the limit are silently dropped."""
        participant = sessions.find(token)
        form = EventsRequest(data=request.data)
        form.is_valid(raise_exception=True)
        reported = [PageEvent(**entry) for entry in form.validated_data["events"]]
        sent_ms = form.validated_data.get("sent_ms")
        return Response({"kept": note_events(participant, reported, sent_ms)})
