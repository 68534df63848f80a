"""Participants in the admin: where everybody stands, what came out, and the whole history, read-only."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.html import format_html

from memorytest.models import MemoryRound
from studies.admin import ReadOnly
from studies.models import Participant, Study
from teaching.models import TeachingStep

from .exports import (
    FORMATS,
    TABLES,
    Selection,
    archive_chunks,
    archive_name,
    gain_csv,
    table_chunks,
    table_name,
)
from .models import EvaluationItem
from .results_pages import ResultsPages


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


@admin.register(Participant)
class ParticipantAdmin(ResultsPages, ReadOnly, admin.ModelAdmin):
    list_display = [
        "code", "study", "stage", "arm", "span", "decay", "first_seen", "evaluated", "gain",
        "created_at", "last_seen_at",
    ]  # fmt: skip
    list_filter = ["study", "stage", "arm"]
    search_fields = ["code"]
    list_select_related = ["study"]
    change_form_template = "admin/evaluation/participant.html"
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

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export_gain)
        return [
            path("gain/<slug:slug>.csv", export, name="gain_csv"),
            *self.download_urls(),
            *super().get_urls(),
        ]

    def export_gain(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """The teaching gain of a study as a streamed CSV file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        study = get_object_or_404(Study, slug=slug)
        response = StreamingHttpResponse(gain_csv(study), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{study.slug}-teaching-gain.csv"'
        return response

    def download_urls(self) -> list[URLPattern]:
        table = self.admin_site.admin_view(self.export_table)
        archive = self.admin_site.admin_view(self.export_zip)
        return [
            path("exports/<slug:slug>/<slug:table>.<slug:extension>", table, name="export_table"),
            path("exports/<slug:slug>.zip", archive, name="export_zip"),
        ]

    def export_table(
        self, request: HttpRequest, slug: str, table: str, extension: str
    ) -> HttpResponseBase:
        """One table of a study, streamed."""
        wanted = self.selection(request, slug)
        if table not in TABLES or extension not in FORMATS:
            raise Http404
        name = table_name(wanted, table, extension)
        chunks = table_chunks(wanted, table, extension)
        return self.download(request, wanted, chunks, name, FORMATS[extension].content_type)

    def export_zip(self, request: HttpRequest, slug: str) -> HttpResponseBase:
        """All tables of a study with their codebook, streamed as one zip."""
        wanted = self.selection(request, slug)
        name = archive_name(wanted)
        return self.download(request, wanted, archive_chunks(wanted), name, "application/zip")

    def selection(self, request: HttpRequest, slug: str) -> Selection:
        if not self.has_view_permission(request):
            raise PermissionDenied
        study = get_object_or_404(Study, slug=slug)
        return Selection(study, identifiable=request.GET.get("identifiable") == "1")

    def download(
        self,
        request: HttpRequest,
        wanted: Selection,
        chunks: Iterator[bytes],
        name: str,
        content_type: str,
    ) -> HttpResponseBase:
        """The file; that it was taken, by whom and when, stays in the study's history."""
        self.log_change(request, wanted.study, f"Downloaded {name}.")
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        # What a study's people did is for nobody's cache.
        headers["Cache-Control"] = "private, no-store"
        return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)


def history_of(participant: Participant) -> dict[str, Any]:
    return {
        "memory_rounds": MemoryRound.objects.filter(participant=participant).order_by("position"),
        "teaching_steps": TeachingStep.objects.of(participant).with_class_names(),
        "evaluation_items": EvaluationItem.objects.of(participant).with_class_names(),
    }
