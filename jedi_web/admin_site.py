"""The admin site: what researchers work with comes first."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, path


class ResearchSite(admin.AdminSite):
    site_header = "JEDI Web"
    site_title = "JEDI Web"
    index_title = "Your studies"
    # Tables of results need the width more than a second menu would.
    enable_nav_sidebar = False

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        apps = super().get_app_list(request, app_label)
        # The task queue is for operators, on the command line.
        apps = [app for app in apps if app["app_label"] != "django_tasks_database"]
        return sorted(apps, key=lambda app: app["app_label"] == "auth")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # The same pattern as Django's, so that no request reaches Django's view.
        address = "r/<path:content_type_id>/<path:object_id>/"
        view = self.admin_view(self.view_on_site)
        return [path(address, view, name="view_on_site"), *super().get_urls()]

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        from desk.accounts import ChangeOwnPassword

        context = self.each_context(request) | (extra_context or {})
        return ChangeOwnPassword.as_view(extra_context=context)(request)

    def view_on_site(
        self, request: HttpRequest, content_type_id: str, object_id: str
    ) -> HttpResponseBase:
        """Check permissions: Django's view redirects all staff to any object, and a participant's URL is secret."""
        from django.contrib.contenttypes.models import ContentType
        from django.contrib.contenttypes.views import shortcut

        number = int(content_type_id) if content_type_id.isdecimal() else 0
        kind = ContentType.objects.filter(pk=number).first()
        page = self._registry.get(kind.model_class()) if kind else None  # type: ignore[arg-type]
        if page is None or not page.view_on_site or not page.has_view_permission(request):
            raise Http404
        if not page.get_object(request, object_id):
            raise Http404
        return shortcut(request, number, object_id)


class ResearchAdminConfig(AdminConfig):
    default_site = "jedi_web.admin_site.ResearchSite"
