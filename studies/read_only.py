"""Admin pages for what the server writes and nobody edits."""

from typing import Any

from django.http import HttpRequest


class ReadOnly:
    """A mixin before `ModelAdmin`: rows are seen, never added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
