"""Filters that are part of a page's address: each is a row of links, the chosen one marked.

One of them says which sessions a page is about: those of real people, unless its address says otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest

from studies.models import Participant

LIVE = Participant.Purpose.LIVE
# Previews show single pages and have no results.
SHOWN = (LIVE, Participant.Purpose.PILOT, Participant.Purpose.REHEARSAL)


@dataclass(frozen=True)
class FilterLink:
    title: str
    query: str
    """What follows the page's path; empty for the unfiltered page."""
    is_chosen: bool


@dataclass(frozen=True)
class FilterLinks:
    """One filter: its name, and a link for each of its values."""

    title: str
    links: tuple[FilterLink, ...]


def filter_links(
    title: str, name: str, titles: Mapping[str, str], chosen: Mapping[str, str]
) -> FilterLinks:
    """A link for each value, "" being the default. Following one keeps what the other filters have chosen."""
    return FilterLinks(
        title,
        tuple(
            FilterLink(words, query_of({**chosen, name: value}), chosen.get(name, "") == value)
            for value, words in titles.items()
        ),
    )


def query_of(chosen: Mapping[str, str]) -> str:
    """The query of an address, without the filters that are at their default."""
    given = {name: value for name, value in chosen.items() if value}
    return f"?{urlencode(given)}" if given else ""


def purpose_of(request: HttpRequest) -> str:
    asked = request.GET.get("purpose", "")
    return asked if asked in SHOWN else LIVE


def purpose_links(purpose: str) -> FilterLinks:
    titles = {"": "Live"} | {str(p): p.label.capitalize() for p in SHOWN if p != LIVE}
    return filter_links(
        "People", "purpose", titles, {"purpose": "" if purpose == LIVE else purpose}
    )
