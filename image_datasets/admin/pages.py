"""What the admin pages of data sets and of imports share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse


class PageAdmin(admin.ModelAdmin):
    """Every row has a page of its own, with more than its fields; nothing is done to several rows at once."""

    def page_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """What the template of the page shows beside the fields."""
        raise NotImplementedError

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        obj = self.get_object(request, object_id)
        page = self.page_context(request, obj) if obj else {}
        return super().change_view(request, object_id, form_url, (extra_context or {}) | page)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        # Rows are deleted one at a time, each with its own check.
        return {}
