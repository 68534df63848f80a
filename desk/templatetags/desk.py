"""What every page of a study shows."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse

from desk.home.overview import newest_studies
from desk.pages import PAGES
from desk.quality import page as quality
from studies.models import Participant, Study

register = template.Library()

# The pages that lists of studies lead to; the others are a step further.
OFTEN_OPENED = ("Links", "Monitor", "Participants", "Results", "Downloads")


@register.inclusion_tag("admin/desk/base/_menu.html")
def study_menu(study: Study, here: str = "") -> dict[str, Any]:
    """The study's pages, the open one marked."""
    rows = menu_of(study)
    items = [{"title": title, "url": url, "is_here": title == here} for url, title in rows]
    return {"study": study, "items": items}


def menu_of(study: Study) -> list[tuple[str, str]]:
    """(address, title) of the pages, in their order: the set-up, and the people before their results."""
    rows = [(reverse(page.url_name, args=[study.pk]), page.title) for page in PAGES if page.title]
    people = reverse("admin:studies_participant_changelist") + f"?study__id__exact={study.pk}"
    place = next(place for place, (_, title) in enumerate(rows) if title == "Results")
    rows.insert(place, (people, "Participants"))
    return [(reverse("admin:studies_study_change", args=[study.pk]), "Set-up"), *rows]


def often_opened(study: Study) -> list[tuple[str, str]]:
    return [row for row in menu_of(study) if row[1] in OFTEN_OPENED]


@register.inclusion_tag("admin/desk/home/_studies.html")
def studies_of(user: Any) -> dict[str, Any]:
    """The newest studies that a researcher may see, with the way to their pages."""
    studies, total = newest_studies(user)
    return {
        "rows": [{"study": study, "links": often_opened(study)} for study in studies],
        "total": total,
        "may_add": user.has_perms(["studies.add_study", "datasets.add_import"]),
    }


@register.inclusion_tag("admin/desk/quality/_box.html", takes_context=True)
def quality_box(context: Mapping[str, Any], participant: Participant) -> dict[str, Any]:
    """The flags of a participant and the decisions about them."""
    return quality.quality_box(participant, may_edit=context["may_edit"])
