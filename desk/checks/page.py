"""The check list of a study: what to look at before it opens, and the button that opens it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.base.pages import Page, study_page
from studies.models import Study
from studies.services import STATE_MEANINGS, STATE_MOVES

from .finding import Grade
from .table import Line, check_list


def checks(request: HttpRequest, study: Study) -> HttpResponse:
    lines = check_list(study)
    context = {
        "lines": lines,
        "in_words": how_many(lines),
        "can_run": all(line.grade != Grade.OBSTACLE for line in lines),
        "moves": [move for move in STATE_MOVES[study.state] if move.state in Study.TAKES_PART],
        "meaning": STATE_MEANINGS[study.state],
    }
    return study_page(request, study, "admin/desk/checks/page.html", "Check list", context)


def how_many(lines: list[Line]) -> str:
    """What the list comes to, in one sentence."""
    counts = {grade: sum(line.grade == grade for line in lines) for grade in Grade}
    if counts[Grade.OBSTACLE]:
        return "The study cannot run yet."
    doubts = counts[Grade.QUESTION] + counts[Grade.NOTE]
    if not doubts:
        return f"All {len(lines)} checks are fine."
    verb = "asks" if doubts == 1 else "ask"
    return f"{counts[Grade.FINE]} of {len(lines)} checks are fine, {doubts} {verb} for a look."


PAGES = (Page("checks", "checks/", checks, title="Check list"),)
