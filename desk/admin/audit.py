"""The record of exports, deletions and decisions, for reading only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from studies.admin import ReadOnly
from studies.models import AuditEntry

from .sharing import VisibleFilter


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["at", "actor_name", "action", "study_name", "detail"]
    list_display_links = None
    list_filter = ["action", ("study", VisibleFilter), "at"]
    search_fields = ["detail", "actor_name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).visible_to(request.user)  # type: ignore[attr-defined,no-any-return]
