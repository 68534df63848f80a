"""The versions of a study: when its settings changed, what changed, and how many people have each."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from desk.base.pages import Page, study_page
from studies.models import Participant, Study, StudyVersion

from .differences import differences, settings_in_words


def versions(request: HttpRequest, study: Study) -> HttpResponse:
    context = {"rows": rows_of(study)}
    return study_page(request, study, "admin/desk/versions/page.html", "Versions", context)


def rows_of(study: Study) -> list[dict[str, Any]]:
    """Each version with what it changed and all of its settings, the newest first; nothing came before the first."""
    live = Q(participants__purpose=Participant.Purpose.LIVE)
    found = list(
        StudyVersion.objects.filter(study=study)
        .select_related("created_by")
        .annotate(
            live=Count("participants", filter=live), others=Count("participants", filter=~live)
        )
        .order_by("number")
    )
    rows = []
    for before, version in zip([None, *found], found, strict=False):
        new = version.configuration
        changes = differences(before.configuration, new) if before else None
        rows.append({"version": version, "changes": changes, "settings": settings_in_words(new)})
    return rows[::-1]


PAGES = (Page("versions", "versions/", versions, title="Versions"),)
