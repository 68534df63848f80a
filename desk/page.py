"""What a page of a study is: its address, who may open it, and how menus and lists show it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from studies import audit
from studies.models import AuditEntry, Study
from studies.version_groups import UnknownVersion

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, kw_only=True)
class MenuEntry(ABC):
    """What menus and lists need to know about a page."""

    title: str = ""
    """The page's name in the study's menu. Pages without a title are not listed there."""
    is_often_opened: bool = False
    """Whether lists of studies link to the page."""

    @abstractmethod
    def address(self, study: Study) -> str:
        """Return the URL that the menu links to."""


@dataclass(frozen=True)
class AdminPage(MenuEntry):
    """A page of Django's admin that is also in a study's menu."""

    find_address: Callable[[Study], str]

    def address(self, study: Study) -> str:
        return self.find_address(study)


@dataclass(frozen=True)
class Page(MenuEntry):
    """One URL below a study's. Its view is called with (request, study, **URL arguments)."""

    name: str
    """The URL name is `admin:study_<name>`."""
    path: str
    view: View
    edits: bool = False
    """Whether the page requires permission to change the study."""
    posts: bool = False
    """Whether the page only accepts POST, because it changes something."""

    def address(self, study: Study) -> str:
        return address(study, self.name)

    def url(self, site: admin.AdminSite) -> URLPattern:
        return path(f"<int:pk>/{self.path}", site.admin_view(self.open), name=f"study_{self.name}")

    def open(self, request: HttpRequest, pk: int, **arguments: Any) -> HttpResponseBase:
        study = visible_study(request.user, pk=pk)
        if self.edits and not may_edit(request, study):
            raise PermissionDenied
        if self.posts and request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            return self.view(request, study, **arguments)
        except UnknownVersion as error:
            raise Http404(str(error)) from error


def visible_study(user: Any, **lookup: Any) -> Study:
    """Return a study that the user may see, or raise Http404."""
    studies = Study.objects.visible_to(user).select_related("dataset")
    study = studies.defer("dataset__insight").filter(**lookup).first()
    if study is None or not user.has_perm("studies.view_study"):
        raise Http404
    return study


def may_edit(request: HttpRequest, study: Study) -> bool:
    """Whether the user may change the study. Queried once per request."""
    known: dict[int, bool] = request.__dict__.setdefault("editable_studies", {})
    if study.pk not in known:
        is_editor = Study.objects.editable_by(request.user).filter(pk=study.pk).exists()
        known[study.pk] = is_editor and request.user.has_perm("studies.change_study")
    return known[study.pk]


def study_page(
    request: HttpRequest, study: Study, template: str, title: str, context: Mapping[str, Any]
) -> HttpResponse:
    """Render a page of the admin about a study. The template extends `admin/desk/base.html`."""
    frame = {
        **admin.site.each_context(request),
        "title": f"{title}: {study.title}",
        "page_title": title,
        "opts": Study._meta,
        "study": study,
        "may_edit": may_edit(request, study),
    }
    return TemplateResponse(request, template, frame | dict(context))


def address(study: Study, name: str, *arguments: Any) -> str:
    return reverse(f"admin:study_{name}", args=[study.pk, *arguments])


def download(
    request: HttpRequest, study: Study, chunks: Iterator[bytes], name: str, content_type: str
) -> HttpResponseBase:
    """Stream a file, and record the download in the audit log."""
    audit.record(AuditEntry.Action.EXPORT, f"Downloaded {name}.", study=study, actor=request.user)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        # Participant data must not stay in a cache.
        "Cache-Control": "private, no-store",
    }
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)


# Table cells


def participant_link(pk: Any, code: str) -> SafeString:
    url = reverse("admin:studies_participant_change", args=[pk])
    return format_html('<a href="{}">{}</a>', url, code)


def format_date(at: datetime) -> str:
    return f"{timezone.localtime(at):%-d %b %Y, %H:%M}"


def format_minute(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}"


def format_second(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}"
