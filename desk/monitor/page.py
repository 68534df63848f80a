"""The live monitor of a study: how the study is going, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from desk.base.filter_links import query_of
from desk.base.pages import Page, View, address, may_edit, study_page
from studies import services
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


def button(action: Callable[..., str]) -> View:
    """A view that does what a button says, shows how it went, and returns to the monitor with the same filters."""

    @wraps(action)
    def view(request: HttpRequest, study: Study, **parts: str) -> HttpResponse:
        try:
            messages.success(request, action(request, study, **parts))
        except StateNotAllowed as refusal:
            messages.error(request, refusal.message)
        filters = query_of(chosen_in(choice_of(study, request.GET)))
        return redirect(address(study, "monitor") + filters)

    return view


@button
def close_arm(request: HttpRequest, study: Study, arm: str) -> str:
    services.close_arm(study, arm, request.user)
    return f"{teacher_title(arm)} is closed to new workers. Those who have it continue."


@button
def open_arm(request: HttpRequest, study: Study, arm: str) -> str:
    services.reopen_arm(study, arm, request.user)
    return f"{teacher_title(arm)} is open to new workers again."


@button
def add_places(request: HttpRequest, study: Study) -> str:
    text = request.POST.get("more", "")
    more = int(text) if text.isdecimal() and len(text) < 7 else 0
    return f"There are {services.add_places(study, more, request.user)} places now."


PAGES = (
    Page("monitor", "monitor/", monitor, title="Monitor", is_often_opened=True),
    Page("monitor_news", "monitor/news/", news),
    Page("close_arm", "monitor/arms/<slug:arm>/close/", close_arm, edits=True, posts=True),
    Page("open_arm", "monitor/arms/<slug:arm>/open/", open_arm, edits=True, posts=True),
    Page("add_places", "monitor/places/", add_places, edits=True, posts=True),
)
