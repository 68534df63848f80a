"""The admin's front page: what researchers work with comes first."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest


class ResearchSite(admin.AdminSite):
    site_header = "JEDI Web"
    site_title = "JEDI Web"
    index_title = "Your studies"
    # Tables of results need the width more than a second menu does.
    enable_nav_sidebar = False

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        apps = super().get_app_list(request, app_label)
        # The queue's own table is for those who look after the server, by the command line.
        apps = [app for app in apps if app["app_label"] != "django_tasks_db"]
        return sorted(apps, key=lambda app: app["app_label"] == "auth")


class ResearchAdminConfig(AdminConfig):
    default_site = "jedi_web.admin_site.ResearchSite"
