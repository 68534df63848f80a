"""What every page of a study shows."""

from typing import Any

from django import template
from django.urls import reverse

from desk.pages import PAGES
from studies.models import Study

register = template.Library()


@register.inclusion_tag("admin/desk/menu.html")
def study_menu(study: Study, here: str = "") -> dict[str, Any]:
    """The study's pages, the open one marked."""
    people = reverse("admin:studies_participant_changelist") + f"?study__id__exact={study.pk}"
    rows = [
        ("Set-up", reverse("admin:studies_study_change", args=[study.pk])),
        ("Participants", people),
        *((page.title, reverse(page.url_name, args=[study.pk])) for page in PAGES if page.title),
    ]
    items = [{"title": title, "url": url, "is_here": title == here} for title, url in rows]
    return {"study": study, "items": items}
