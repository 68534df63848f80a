"""The live monitor of a study: how the study is going, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from desk.base.filter_links import query_of
from desk.base.pages import Page, address, may_edit, study_page
from studies import places
from studies.errors import StateNotAllowed
from studies.models import Study
from teaching.teachers import teacher_title

from .content import choice_of, chosen_in, live_context


def monitor(request: HttpRequest, study: Study) -> HttpResponse:
    context = live_context(study, request.GET) | {"path": address(study, "monitor")}
    return study_page(request, study, "admin/desk/monitor/page.html", "Monitor", context)


def news(request: HttpRequest, study: Study) -> HttpResponse:
    """What of the page changes, for the page itself to put in its place."""
    page = {"study": study, "may_edit": may_edit(request, study), "path": address(study, "monitor")}
    context = live_context(study, request.GET) | page
    response = TemplateResponse(request, "admin/desk/monitor/_live.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


def _run_and_return(request: HttpRequest, study: Study, action: Callable[[], str]) -> HttpResponse:
    """Does what a button says, shows how it went, and returns to the monitor with the same filters."""
    try:
        messages.success(request, action())
    except StateNotAllowed as refusal:
        messages.error(request, refusal.message)
    return HttpResponseRedirect(
        address(study, "monitor") + query_of(chosen_in(choice_of(study, request.GET)))
    )


def close_arm(request: HttpRequest, study: Study, arm: str) -> HttpResponse:
    def action() -> str:
        places.close_arm(study, arm, request.user)
        return f"{teacher_title(arm)} is closed to new workers. Those who have it continue."

    return _run_and_return(request, study, action)


def open_arm(request: HttpRequest, study: Study, arm: str) -> HttpResponse:
    def action() -> str:
        places.reopen_arm(study, arm, request.user)
        return f"{teacher_title(arm)} is open to new workers again."

    return _run_and_return(request, study, action)


def add_places(request: HttpRequest, study: Study) -> HttpResponse:
    text = request.POST.get("more", "")
    more = int(text) if text.isdecimal() and len(text) < 7 else 0

    def action() -> str:
        return f"There are {places.add_places(study, more, request.user)} places now."

    return _run_and_return(request, study, action)


PAGES = (
    Page("monitor", "monitor/", monitor, title="Monitor", is_often_opened=True),
    Page("monitor_news", "monitor/news/", news),
    Page("close_arm", "monitor/arms/<slug:arm>/close/", close_arm, edits=True, posts=True),
    Page("open_arm", "monitor/arms/<slug:arm>/open/", open_arm, edits=True, posts=True),
    Page("add_places", "monitor/places/", add_places, edits=True, posts=True),
)
