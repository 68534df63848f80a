"""Trying a study out: any stage with any teacher, and what was tried so far, to be cleared."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis.charts.tables import Column, Table, number_columns, row_names
from desk.base.cells import moment
from desk.base.pages import Page, address, study_page
from studies import stages
from studies.models import Participant, Study
from teaching.teachers import teacher_title

from . import sessions as previews

TRIED = (
    row_names("Kind"),
    *number_columns("Sessions", "Finished"),
    Column("Last begun"),
    Column("People"),
)


def preview(request: HttpRequest, study: Study) -> HttpResponse:
    context = {
        "stages": stage_choices(),
        "teachers": teacher_choices(study),
        "tried": tried_table(study),
    }
    return study_page(request, study, "admin/desk/preview/page.html", "Preview", context)


def tried_table(study: Study) -> Table:
    rows = [
        [
            row["title"],
            row["sessions"],
            row["finished"],
            moment(row["last"]),
            people_link(study, row),
        ]
        for row in previews.tried_out(study)
    ]
    return Table("Trial sessions so far", TRIED, rows)


def people_link(study: Study, row: dict[str, Any]) -> SafeString:
    people = reverse("admin:studies_participant_changelist")
    query = f"?study__id__exact={study.pk}&purpose__exact={row['purpose']}"
    link = '<a href="{}" aria-label="View the sessions of kind {}">View</a>'
    return format_html(link, people + query, row["title"])


def stage_choices() -> list[dict[str, Any]]:
    labels = {**stages.labels(), Participant.Stage.DONE: Participant.Stage.DONE.label}
    return [
        {
            "name": name,
            "title": labels[name].capitalize(),
            "help": words,
            "is_chosen": name == previews.usual_place(),
        }
        for name, words in previews.places().items()
    ]


def teacher_choices(study: Study) -> list[dict[str, Any]]:
    return [
        {"name": name, "title": teacher_title(name), "is_own": name in study.arm_names}
        for name in previews.teachers_for(study)
    ]


def open_preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Makes a session that stands at the stage, and goes to it."""
    stage, arm = request.POST.get("stage", ""), request.POST.get("teacher", "")
    if stage not in previews.places() or arm not in ["", *previews.teachers_for(study)]:
        raise Http404
    participant = previews.open_preview(study=study, stage=stage, arm=arm)
    return HttpResponseRedirect(participant.get_absolute_url())


def clear(request: HttpRequest, study: Study) -> HttpResponse:
    """Asks first; a POST deletes what was tried for the purposes that are ticked."""
    tried = previews.tried_out(study)
    if request.method != "POST":
        context = {"tried": tried}
        return study_page(
            request, study, "admin/desk/preview/clear.html", "Clear trial sessions", context
        )
    purposes = [name for name in request.POST.getlist("purpose") if name in previews.TRIED]
    if purposes:
        number = previews.clear_tried(study=study, purposes=purposes, actor=request.user)
        sessions = "1 session is" if number == 1 else f"{number} sessions are"
        messages.success(request, f"{sessions} cleared. Nothing that counts was touched.")
    else:
        messages.warning(request, "Nothing was ticked, so nothing was cleared.")
    return HttpResponseRedirect(address(study, "preview"))


PAGES = (
    Page("preview", "preview/", preview, title="Preview"),
    Page("preview_open", "preview/open/", open_preview, edits=True, posts=True),
    Page("preview_clear", "preview/clear/", clear, edits=True),
)
