"""What a page of a study is: its address, who may open it, and how menus and lists show it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from studies.models import Study

View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, kw_only=True)
class MenuEntry(ABC):
    """What menus and lists need to know about a page."""

    title: str = ""
    """Its name in the study's menu; pages without a title are not in it."""
    is_often_opened: bool = False
    """Whether lists of studies link to it; the other pages are one step further."""

    @abstractmethod
    def address(self, study: Study) -> str:
        """Where the menu leads."""


@dataclass(frozen=True)
class AdminPage(MenuEntry):
    """A page of Django's admin that belongs to a study's menu too."""

    find_address: Callable[[Study], str]

    def address(self, study: Study) -> str:
        return self.find_address(study)


@dataclass(frozen=True)
class Page(MenuEntry):
    """One address below a study's. Its view gets (request, study, **what the address holds)."""

    name: str
    """The page is `admin:study_<name>`."""
    path: str
    view: View
    edits: bool = False
    """Whether it takes the right to change the study."""
    posts: bool = False
    """Whether it changes something, and therefore takes a POST."""

    def address(self, study: Study) -> str:
        return address(study, self.name)

    def url(self, site: admin.AdminSite) -> URLPattern:
        return path(f"<int:pk>/{self.path}", site.admin_view(self.open), name=f"study_{self.name}")

    def open(self, request: HttpRequest, pk: int, **parts: Any) -> HttpResponseBase:
        study = visible_study(request.user, pk=pk)
        if self.edits and not may_edit(request, study):
            raise PermissionDenied
        if self.posts and request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return self.view(request, study, **parts)


def visible_study(user: Any, **lookup: Any) -> Study:
    """The study, for those who may see it; for others it does not exist."""
    studies = Study.objects.visible_to(user).select_related("dataset")
    study = studies.defer("dataset__insight").filter(**lookup).first()
    if study is None or not user.has_perm("studies.view_study"):
        raise Http404
    return study


def may_edit(request: HttpRequest, study: Study) -> bool:
    is_editor = Study.objects.editable_by(request.user).filter(pk=study.pk).exists()
    return is_editor and request.user.has_perm("studies.change_study")


def study_page(
    request: HttpRequest, study: Study, template: str, title: str, context: Mapping[str, Any]
) -> HttpResponse:
    """A page of the admin about a study. Its template extends `admin/desk/base/page.html`."""
    frame = {
        **admin.site.each_context(request),
        "title": f"{title}: {study.title}",
        "page_title": title,
        "opts": Study._meta,
        "study": study,
        "may_edit": may_edit(request, study),
    }
    return TemplateResponse(request, template, frame | dict(context))


def address(study: Study, name: str, *parts: Any) -> str:
    return reverse(f"admin:study_{name}", args=[study.pk, *parts])
