"""Filters that are part of a page's address: each is a row of links, the chosen one marked.

One of them says which sessions a page is about: those of real people, unless its address says otherwise. Another says
which versions of the settings: the newest that may be analysed together, unless its address says otherwise.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest

from studies.models import Participant
from studies.version_groups import (
    POOLED,
    UnknownVersion,
    VersionChoice,
    value_of,
    versions_in_words,
)

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


def people_of(request: HttpRequest) -> tuple[str, str]:
    """The purpose and the versions whose people an address asks for."""
    return purpose_of(request), request.GET.get("version", "")


def purpose_links(purpose: str) -> FilterLinks:
    titles = {"": "Live"} | {str(p): p.label.capitalize() for p in SHOWN if p != LIVE}
    return filter_links("People", "purpose", titles, purpose_query(purpose))


def purpose_query(purpose: str) -> dict[str, str]:
    return {"purpose": "" if purpose == LIVE else purpose}


def version_links(versions: VersionChoice, chosen: Mapping[str, str]) -> list[FilterLinks]:
    """A link for each group of versions and for each version; none if there is nothing to choose from."""
    if len(versions.everywhere) < 2:
        return []
    titles = {"": versions_in_words(versions.default).capitalize()}
    sets = [group.numbers for group in versions.groups]
    for numbers in [*sets, *((number,) for number in versions.everywhere)]:
        if numbers != versions.default:
            titles[value_of(numbers, versions.everywhere)] = versions_in_words(numbers).capitalize()
    if len(versions.groups) > 1:
        titles[POOLED] = "All versions, pooled"
    return [filter_links("Settings", "version", titles, {**chosen, "version": versions.value})]


@contextmanager
def versions_that_exist() -> Iterator[None]:
    """An address that names a version which the study does not have is not found, and says which there are."""
    try:
        yield
    except UnknownVersion as problem:
        raise Http404(str(problem)) from problem


def filters(purpose: str, versions: VersionChoice) -> dict[str, Any]:
    """What a page of one purpose and some versions needs: its two filters, and the query that keeps both."""
    chosen = purpose_query(purpose)
    return {
        "purpose": purpose,
        "filters": [purpose_links(purpose), *version_links(versions, chosen)],
        "query": query_of({**chosen, "version": versions.value}),
    }
