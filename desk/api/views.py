"""The calls of the researchers' API: load or 404, validate, one service call, respond."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.pagination import PageNumberPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle

from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from desk import downloads
from desk.api import examples
from desk.api.serializers import (
    ChangedState,
    CheckLine,
    ParticipantFilter,
    ParticipantRow,
    StateRequest,
    StudyDetail,
    StudyRequest,
    StudySummary,
    create_study,
)
from desk.checks import check_list
from desk.models import AccessToken
from desk.page import may_edit, visible_study
from studies.api.throttling import CacheTolerantThrottle
from studies.api.views import JsonView, error_responses
from studies.errors import SessionError
from studies.models import Participant, Study
from studies.services import change_state
from studies.version_groups import UnknownVersion

HOW = "Send “Authorization: Bearer …” with an access token. You can create one in the admin, under Access tokens."


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer jedi_…`: acts for the researcher who made the token."""

    def authenticate(self, request: Request) -> tuple[User, AccessToken] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = AccessToken.objects.for_secret(secret.strip()).first()
        if token is None:
            raise exceptions.AuthenticationFailed(
                f"This token is unknown, expired or revoked. {HOW}"
            )
        token.touch()
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="JEDI Web"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The security scheme in the published schema."""

    target_class = TokenAuthentication
    name = "access token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": HOW}


class ResearcherThrottle(CacheTolerantThrottle, UserRateThrottle):
    scope = "researchers"


class ResearcherView(JsonView):
    """A call of the researchers' API."""

    authentication_classes = [TokenAuthentication]
    permission_classes = [IsAuthenticated]
    throttle_classes = [ResearcherThrottle]

    def permission_denied(
        self, request: Request, message: str | None = None, code: str | None = None
    ) -> NoReturn:
        raise exceptions.NotAuthenticated(f"This call needs an access token. {HOW}")

    def study(self, slug: str, *, edits: bool = False) -> Study:
        """The study, or 404 if the user may not see it, or 403 if they may not edit it."""
        study = visible_study(self.request.user, slug=slug)
        if edits and not may_edit(self.request._request, study):
            raise exceptions.PermissionDenied("This study is shared with you for reading only.")
        return study


problems = partial(error_responses, errors=examples.ERRORS)


class InvalidRequest(SessionError):
    message = "The request cannot be used. Correct the fields that are named and send it again."


def validated(form: serializers.Serializer[Any]) -> dict[str, Any]:
    if not form.is_valid():
        raise InvalidRequest(fields=form.errors)
    return dict(form.validated_data)


class Pages(PageNumberPagination):
    page_size = 100
    max_page_size = 1000
    page_size_query_param = "page_size"


def page_of(name: str, row: type[serializers.BaseSerializer[Any]]) -> Any:
    """The schema of one page of rows."""
    fields = {
        "count": serializers.IntegerField(help_text="of the rows on all pages"),
        "next": serializers.CharField(allow_null=True, help_text="the address of the next page"),
        "previous": serializers.CharField(allow_null=True),
        "results": row(many=True),
    }
    return type(name, (serializers.Serializer,), fields)


PAGING = [
    OpenApiParameter("page", int, description="from 1"),
    OpenApiParameter("page_size", int, description=f"at most {Pages.max_page_size}"),
]


class PagedView(ResearcherView):
    """A call that replies with many rows, page by page."""

    def page(self, rows: QuerySet[Any], row: type[Any], context: Any = None) -> Response:
        pages = Pages()
        page = pages.paginate_queryset(rows, self.request, self)
        return pages.get_paginated_response(row(page, many=True, context=context or {}).data)


class Studies(PagedView):
    @extend_schema(
        operation_id="list_studies",
        parameters=PAGING,
        responses={200: page_of("StudyPage", StudySummary), **problems(401, 404, 429)},
        examples=examples.STUDIES,
    )
    def get(self, request: Request) -> Response:
        """Your studies and those that are shared with you, newest first."""
        user: Any = request.user
        studies = Study.objects.visible_to(user)
        rows = studies if user.has_perm("studies.view_study") else studies.none()
        return self.page(rows.order_by("-created_at", "-pk"), StudySummary, context_of(request))

    @extend_schema(
        operation_id="create_study",
        request=StudyRequest,
        responses={201: StudyDetail, **problems(400, 401, 403, 404, 413, 415, 429)},
        examples=examples.NEW_STUDY,
    )
    def post(self, request: Request) -> Response:
        """A new study, as a draft. Settings that are left out have the paper's values."""
        user: Any = request.user
        if not user.has_perm("studies.add_study"):
            raise exceptions.PermissionDenied("Your account may not create studies.")
        try:
            study = create_study(validated(StudyRequest(data=request.data)), user)
        except ValidationError as error:
            raise InvalidRequest(fields=error.message_dict) from error
        return Response(StudyDetail(study, context=context_of(request)).data, status=201)


def context_of(request: Request) -> dict[str, Any]:
    user: Any = request.user
    editable = set(Study.objects.editable_by(user).values_list("pk", flat=True))
    return {"request": request, "editable": editable}


class StudyInfo(ResearcherView):
    @extend_schema(
        operation_id="get_study",
        responses={200: StudyDetail, **problems(401, 404, 429)},
        examples=examples.STUDY,
    )
    def get(self, request: Request, slug: str) -> Response:
        """A study: its settings, its state, and how far its participants are."""
        return Response(StudyDetail(self.study(slug), context=context_of(request)).data)


class StudyState(ResearcherView):
    @extend_schema(
        operation_id="change_state",
        request=StateRequest,
        responses={200: ChangedState, **problems(400, 401, 403, 404, 409, 413, 415, 429)},
        examples=examples.STATE,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Open, pilot, pause or close a study. Asking for the state that it is in changes nothing."""
        study = self.study(slug, edits=True)
        state = validated(StateRequest(data=request.data))["state"]
        if state != study.state:
            change_state(study, state, request.user)
        return Response(ChangedState(study, context=context_of(request)).data)


class StudyChecks(ResearcherView):
    @extend_schema(
        operation_id="list_checks",
        responses={200: CheckLine(many=True), **problems(401, 404, 429)},
        examples=examples.CHECKS,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What to look at before a study opens and while it runs, as on its check list."""
        return Response(CheckLine(check_list(self.study(slug)), many=True).data)


class Participants(PagedView):
    @extend_schema(
        operation_id="list_participants",
        parameters=[*PAGING, ParticipantFilter],
        responses={
            200: page_of("ParticipantPage", ParticipantRow),
            **problems(400, 401, 404, 429),
        },
        examples=examples.PARTICIPANTS,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The participants of a study in the order of joining. Nothing in it identifies a person."""
        study = self.study(slug)
        wanted = validated(ParticipantFilter(data=request.query_params))
        lookups = {name: value for name, value in wanted.items() if value is not None}
        people = study.participants.filter(**{"purpose": Participant.Purpose.LIVE} | lookups)
        return self.page(people.select_related("version").order_by("pk"), ParticipantRow)


WANTED = [
    OpenApiParameter(
        "identifiable",
        bool,
        description="1: with platform ids, for those who may change the study",
    ),
    OpenApiParameter(
        "everyone",
        bool,
        description="1: also pilots, previews, rehearsals and excluded participants",
    ),
    OpenApiParameter(
        "version",
        str,
        description="versions of the settings: one, several separated by commas, or all, which pools them; "
        "by default the newest that may be analysed together",
    ),
]


@contextmanager
def refusals() -> Iterator[None]:
    """Turn the exceptions of an export into errors of the API."""
    try:
        yield
    except UnknownVersion as problem:
        raise InvalidRequest(fields={"version": [str(problem)]}) from problem
    except PermissionDenied as refusal:
        raise exceptions.PermissionDenied(str(refusal)) from refusal


class TableExport(ResearcherView):
    @extend_schema(
        operation_id="export_table",
        parameters=[
            OpenApiParameter("table", str, OpenApiParameter.PATH, enum=list(TABLES)),
            OpenApiParameter("extension", str, OpenApiParameter.PATH, enum=list(FORMATS)),
            *WANTED,
        ],
        responses={
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/jsonl"): OpenApiTypes.STR,
            **problems(400, 401, 403, 404, 429),
        },
    )
    def get(self, request: Request, slug: str, table: str, extension: str) -> HttpResponseBase:
        """One table of a study, streamed from one snapshot. The download is recorded."""
        with refusals():
            wanted = downloads.selection(request._request, self.study(slug))
            return downloads.table_file(request._request, wanted, table, extension)


class ArchiveExport(ResearcherView):
    @extend_schema(
        operation_id="export_archive",
        parameters=WANTED,
        responses={
            (200, "application/zip"): OpenApiTypes.BINARY,
            **problems(400, 401, 403, 404, 429),
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """All tables of a study with codebook and datasheet as one zip, streamed. The download is recorded."""
        with refusals():
            wanted = downloads.selection(request._request, self.study(slug))
            return downloads.archive_file(request._request, wanted)
