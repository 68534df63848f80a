"""Studies in the admin: their settings, and the way to all their pages."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.html import format_html

from desk.pages import PAGES
from studies.models import Participant, Study

from .sharing import OwnedStudies, ShareInline


@admin.register(Study)
class StudyAdmin(OwnedStudies):
    change_form_template = "admin/desk/study.html"
    list_display = ["title", "state", "dataset", "joined", "completed"]
    list_filter = ["state"]
    list_select_related = ["dataset"]
    prepopulated_fields = {"slug": ["title"]}
    readonly_fields = ["link"]
    inlines = [ShareInline]
    fieldsets = [
        (None, {"fields": ["title", "slug", "dataset", "state", "link"]}),
        (
            "What workers read and get",
            {
                "fields": ["welcome", "consent", "minutes", "shows_score", "completion_code", "return_url"],
            },
        ),
        ("Taking part", {"fields": ["max_participants", "target_per_arm", "session_hours", "on_withdrawal", "seed"]}),
        ("Pay", {"fields": ["reward", "currency", "bonus_share"]}),
        (
            "Module 1: memory test",
            {
                "fields": [
                    "memory_trials", "memory_min_length", "memory_max_length", "memory_extra_seconds",
                    "memory_practice",
                ],
            },
        ),
        (
            "Module 2: teaching",
            {
                "fields": [
                    "arms", "assignment", "cold_start", "short_steps", "medium_steps", "long_steps",
                    "short_memory_up_to", "medium_memory_up_to", "other_steps",
                    "learning_rate", "learning_rate_decay", "repeat_window", "min_look_ms",
                ],
            },
        ),
        ("Module 3: evaluation", {"fields": ["evaluation_size", "attention_checks"]}),
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        live = Q(participants__purpose=Participant.Purpose.LIVE)
        done = live & Q(participants__stage=Participant.Stage.DONE)
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.visible_to(request.user).annotate(  # type: ignore[attr-defined,no-any-return]
            joined_count=Count("participants", filter=live),
            done_count=Count("participants", filter=done),
        )

    def get_urls(self) -> list[URLPattern]:
        return [*(page.url(self.admin_site) for page in PAGES), *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Study, form: Any, change: bool) -> None:
        if not change:
            obj.owner = request.user  # type: ignore[assignment]
        super().save_model(request, obj, form, change)

    def joined(self, study: Any) -> int:
        return int(study.joined_count)

    def completed(self, study: Any) -> int:
        return int(study.done_count)

    @admin.display(description="workers' link")
    def link(self, study: Study) -> str:
        if study._state.adding:
            return "The link appears when the study is saved."
        return format_html('<a href="{0}">{0}</a>', study.public_url)
