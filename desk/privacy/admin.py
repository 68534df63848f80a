"""The record of exports, deletions and decisions, for reading only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from desk.access.sharing import VisibleFilter, VisibleRows
from studies.models import AuditEntry
from studies.read_only import ReadOnly


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly, VisibleRows):
    list_display = ["when", "who", "action", "study_name", "detail"]
    list_display_links = None
    list_filter = ["action", ("study", VisibleFilter)]
    search_fields = ["detail", "actor_name"]

    class Media:
        css = {"all": ["css/desk/access.css"]}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = {"title": "The record", "subtitle": None}
        return super().changelist_view(request, title | (extra_context or {}))

    @admin.display(ordering="at")
    def when(self, entry: AuditEntry) -> str:
        return f"{entry.at:%Y-%m-%d %H:%M}"

    @admin.display(ordering="actor_name")
    def who(self, entry: AuditEntry) -> str:
        return entry.actor_name
