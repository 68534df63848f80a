"""Which sessions a page is about: those of real people, unless its address says otherwise."""

from django.http import HttpRequest

from studies.models import Participant

from .filter_links import FilterLinks, filter_links

LIVE = Participant.Purpose.LIVE
# Previews show single pages and have no results.
SHOWN = (LIVE, Participant.Purpose.PILOT, Participant.Purpose.REHEARSAL)


def purpose_of(request: HttpRequest) -> str:
    asked = request.GET.get("purpose", "")
    return asked if asked in SHOWN else LIVE


def purpose_links(purpose: str) -> FilterLinks:
    titles = {"": "Live"} | {str(p): p.label.capitalize() for p in SHOWN if p != LIVE}
    return filter_links(
        "People", "purpose", titles, {"purpose": "" if purpose == LIVE else purpose}
    )
