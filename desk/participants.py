"""Participants in the admin: their list, and the URLs of the pages about one participant.

The modules of these pages load the engine, so they are imported by the views, not when the server starts.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html

from analysis.charts import formatting
from desk.page import AdminPage, Page, study_page
from desk.sharing import VisibleFilter, VisibleRows
from studies import stages
from studies.errors import StateNotAllowed
from studies.models import Participant, Study
from studies.read_only import ReadOnly
from studies.services import reopen_session
from teaching.teachers import known_teachers, teacher_title


class StudyFilter(VisibleFilter):
    def has_output(self) -> bool:
        # The admin ignores filters without output, but links to one study's participants must work.
        return True


class StageFilter(admin.SimpleListFilter):
    title = "stage"
    parameter_name = "stage__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        return [*stages.labels().items(), *((end.value, end.label) for end in Participant.ENDS)]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        stage = self.value()
        return rows if stage is None else rows.filter(stage=stage)


class TeacherFilter(admin.SimpleListFilter):
    title = "teacher"
    parameter_name = "arm"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        titles = [(name, teacher.title) for name, teacher in known_teachers().items()]
        return [*titles, ("none", "none yet")]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        arm = self.value()
        return rows if arm is None else rows.filter(arm="" if arm == "none" else arm)


@admin.register(Participant)
class ParticipantAdmin(ReadOnly, VisibleRows):
    list_display = [
        "code", "study_title", "is_for", "where", "teacher", "span", "first_seen", "evaluated", "gain", "joined",
    ]  # fmt: skip
    list_filter = [("study", StudyFilter), StageFilter, TeacherFilter, "purpose", "is_excluded"]
    search_fields = ["code"]
    search_help_text = "A participant’s code, or a part of one."
    list_select_related = ["study"]
    list_per_page = 50
    change_list_template = "admin/desk/participants.html"
    # An answer on the participant's own page would count.
    view_on_site = False

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        # The list of one study needs no column with its name.
        columns = list(self.list_display)
        if "study__id__exact" in request.GET:
            columns.remove("study_title")
        return columns

    def get_urls(self) -> list[URLPattern]:
        why = self.admin_site.admin_view(self.why_view)
        return [
            path("<int:pk>/why/<int:number>/", why, name="participant_why"),
            *super().get_urls(),
        ]

    # The list

    @admin.display(description="study", ordering="study__title")
    def study_title(self, participant: Participant) -> str:
        return participant.study.title

    @admin.display(description="purpose", ordering="purpose")
    def is_for(self, participant: Participant) -> str:
        # Without the explanation that the choices have in forms.
        return str(participant.purpose)

    @admin.display(description="stage", ordering="stage")
    def where(self, participant: Participant) -> str:
        stage = participant.get_stage_display()
        return f"{stage}, excluded" if participant.is_excluded else stage

    @admin.display(description="teacher", ordering="arm")
    def teacher(self, participant: Participant) -> str:
        return teacher_title(participant.arm) or formatting.UNKNOWN

    @admin.display(description="memory n̄", ordering="memory_span")
    def span(self, participant: Participant) -> str:
        return (
            formatting.UNKNOWN
            if participant.memory_span is None
            else f"{participant.memory_span:g}"
        )

    @admin.display(description="first seen", ordering="first_seen_accuracy")
    def first_seen(self, participant: Participant) -> str:
        return formatting.share(participant.first_seen_accuracy)

    @admin.display(description="evaluation", ordering="evaluation_accuracy")
    def evaluated(self, participant: Participant) -> str:
        return formatting.share(participant.evaluation_accuracy)

    @admin.display(description="gain", ordering="teaching_gain")
    def gain(self, participant: Participant) -> str:
        value = participant.teaching_gain
        if value is None:
            return formatting.UNKNOWN
        return format_html("<b>{}</b>", formatting.points(value))

    @admin.display(description="joined", ordering="created_at")
    def joined(self, participant: Participant) -> str:
        return f"{timezone.localtime(participant.created_at):%-d %b, %H:%M}"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list of one study has that study's menu."""
        pk = request.GET.get("study__id__exact", "")
        studies = Study.objects.visible_to(request.user)
        study = studies.filter(pk=pk).first() if pk.isdecimal() else None
        context = {"title": "Participants", "study": study}
        return super().changelist_view(request, (extra_context or {}) | context)

    # The pages of one participant

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """The page of the session, instead of the admin's form."""
        from .participant import participant_context

        participant = self.find_participant(request, object_id)
        context = participant_context(participant, replay=request.GET.get("replay") == "1")
        context["title"] = f"Participant {participant.code}"
        template = "admin/desk/participant.html"
        return study_page(request, participant.study, template, "Participants", context)

    def why_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        from .why import why_context

        participant = self.find_participant(request, str(pk))
        context = why_context(participant, number)
        if context is None:
            raise Http404
        context["title"] = f"Why was image {number} shown to {participant.code}?"
        template = "admin/desk/why.html"
        return study_page(request, participant.study, template, "Participants", context)

    def find_participant(self, request: HttpRequest, object_id: str) -> Participant:
        """The participant for a read-only page; 404 if the user may not see the study."""
        if not self.has_view_permission(request) or request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        rows = self.get_queryset(request).select_related("study__dataset", "version")
        rows = rows.defer("study__dataset__insight")
        participant: Participant | None = (
            rows.filter(pk=object_id).first() if object_id.isdecimal() else None
        )
        if participant is None:
            raise Http404
        return participant


def list_address(study: Study) -> str:
    return f"{reverse('admin:studies_participant_changelist')}?study__id__exact={study.pk}"


def reopen(request: HttpRequest, study: Study, person: int) -> HttpResponse:
    """Let a participant continue an expired session."""
    participant = get_object_or_404(study.participants, pk=person)
    try:
        reopen_session(participant, actor=request.user)
    except StateNotAllowed as error:
        messages.error(request, error.message)
    else:
        hours = study.session_hours
        messages.success(
            request, f"{participant.code} can continue with the same link within {hours} hours."
        )
    return redirect("admin:studies_participant_change", participant.pk)


PAGES = (
    Page("reopen", "people/<int:person>/reopen/", reopen, edits=True, posts=True),
    AdminPage(
        list_address,
        title="Participants",
        is_often_opened=True,
    ),
)
