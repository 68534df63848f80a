"""Participants in the admin: where everybody stands, what came out, and the whole history, read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.html import format_html

from memorytest.models import MemoryRound
from studies.admin import ReadOnly
from studies.models import Participant, Study
from teaching.models import TeachingStep

from .exports import gain_csv
from .models import EvaluationItem


class History(ReadOnly, admin.TabularInline):
    extra = 0
    can_delete = False
    show_change_link = False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields

    def truth(self, row: TeachingStep | EvaluationItem) -> str:
        return row.example.class_name

    def given(self, row: TeachingStep | EvaluationItem) -> str:
        return row.example.dataset.class_name(row.answer) if row.answer else "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return rows.select_related("example__dataset") if hasattr(self.model, "example") else rows


class MemoryHistory(History):
    model = MemoryRound
    readonly_fields = [
        "position", "trial", "length", "pictures", "restored", "is_correct",
        "exposure_ms", "shown_ms", "response_ms", "answered_at",
    ]  # fmt: skip


class TeachingHistory(History):
    model = TeachingStep
    readonly_fields = [
        "position", "step", "image", "truth", "given", "is_correct", "is_first_showing", "is_random",
        "p", "f", "score", "learning_rate", "choice_ms", "response_ms", "answered_at",
    ]  # fmt: skip

    def image(self, row: TeachingStep) -> str:
        return row.example.key


class EvaluationHistory(History):
    model = EvaluationItem
    readonly_fields = [
        "position",
        "item",
        "truth",
        "given",
        "is_correct",
        "response_ms",
        "answered_at",
    ]


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


@admin.register(Participant)
class ParticipantAdmin(ReadOnly, admin.ModelAdmin):
    list_display = [
        "code", "study", "stage", "arm", "span", "decay", "first_seen", "evaluated", "gain",
        "created_at", "last_seen_at",
    ]  # fmt: skip
    list_filter = ["study", "stage", "arm"]
    search_fields = ["code"]
    list_select_related = ["study"]
    inlines = [MemoryHistory, TeachingHistory, EvaluationHistory]
    exclude = ["token"]

    @admin.display(description="n̄", ordering="memory_span")
    def span(self, participant: Participant) -> str:
        return "–" if participant.memory_span is None else f"{participant.memory_span:g}"

    @admin.display(description="β", ordering="beta")
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
        return "–" if value is None else format_html("<b>{}</b>", f"{100 * value:+.1f} pts")

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export_gain)
        return [path("gain/<slug:slug>.csv", export, name="gain_csv"), *super().get_urls()]

    def export_gain(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """The teaching gain of a study as a streamed CSV file."""
        study = get_object_or_404(Study, slug=slug)
        response = StreamingHttpResponse(gain_csv(study), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-teaching-gain.csv"'
        return response
