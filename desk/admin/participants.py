"""Participants in the admin: where everybody stands, what came out, and the whole history, read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.admin import ReadOnly
from studies.models import Participant
from teaching.models import TeachingStep

from .sharing import VisibleFilter


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


@admin.register(Participant)
class ParticipantAdmin(ReadOnly, admin.ModelAdmin):
    list_display = [
        "code", "study", "stage", "arm", "span", "decay", "first_seen", "evaluated", "gain",
        "created_at", "last_seen_at",
    ]  # fmt: skip
    list_filter = [("study", VisibleFilter), "stage", "arm"]
    search_fields = ["code"]
    list_select_related = ["study"]
    change_form_template = "admin/desk/participant.html"
    # The worker's own page is the worker's: an answer given there would count.
    view_on_site = False

    fieldsets = [
        (None, {"fields": ["study", "stage", "arm", "ticket", "span", "lengths", "decay"]}),
        ("Result", {"fields": ["teaching_steps", "unique_examples", "first_seen", "evaluated", "gain"]}),
        (
            "Times",
            {
                "fields": [
                    "created_at", "consented_at", "teaching_started_at", "evaluation_started_at",
                    "finished_at", "last_seen_at",
                ],
            },
        ),
        (
            "Recruitment",
            {
                "classes": ["collapse"],
                "fields": ["recruiter", "external_id", "external_study", "external_session"],
            },
        ),
    ]  # fmt: skip
    readonly_fields = ["span", "lengths", "decay", "first_seen", "evaluated", "gain"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Participant]:
        return super().get_queryset(request).visible_to(request.user)  # type: ignore[attr-defined,no-any-return]

    @admin.display(description="memory span n̄", ordering="memory_span")
    def span(self, participant: Participant) -> str:
        return "–" if participant.memory_span is None else f"{participant.memory_span:g}"

    @admin.display(description="memory lengths")
    def lengths(self, participant: Participant) -> str:
        return ", ".join(str(length) for length in participant.memory_lengths) or "–"

    @admin.display(description="decay β", ordering="beta")
    def decay(self, participant: Participant) -> str:
        return "–" if participant.beta is None else f"{participant.beta:.3f}"

    @admin.display(description="first seen", ordering="first_seen_accuracy")
    def first_seen(self, participant: Participant) -> str:
        return percent(participant.first_seen_accuracy)

    @admin.display(description="evaluation", ordering="evaluation_accuracy")
    def evaluated(self, participant: Participant) -> str:
        return percent(participant.evaluation_accuracy)

    @admin.display(description="gain", ordering="teaching_gain")
    def gain(self, participant: Participant) -> str:
        value = participant.teaching_gain
        return "–" if value is None else format_html("<b>{}</b>", f"{100 * value:+.1f}\u00a0pts")

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        participant = self.get_object(request, object_id)
        history = history_of(participant) if participant else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | history)


def history_of(participant: Participant) -> dict[str, Any]:
    return {
        "memory_rounds": MemoryRound.objects.filter(participant=participant).order_by("position"),
        "teaching_steps": TeachingStep.objects.of(participant).with_class_names(),
        "evaluation_items": EvaluationItem.objects.of(participant).with_class_names(),
    }
