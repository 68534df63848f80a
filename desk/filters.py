"""Filters in the query string of a page. Each is shown as a row of links with the selected one marked.

Two filters are shared by several pages: the purpose of the sessions (live, unless the URL names another) and the
versions of the settings (by default the newest that may be analysed together).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from studies.models import Participant, Study
from studies.version_groups import POOLED, VersionChoice, value_of, versions_in_words

from .page import download, study_page

LIVE = Participant.Purpose.LIVE
# Previews show single pages and have no results.
PURPOSES = (LIVE, Participant.Purpose.PILOT, Participant.Purpose.REHEARSAL)


@dataclass(frozen=True)
class FilterLink:
    title: str
    query: str
    """The query string; empty for the unfiltered page."""
    is_selected: bool


@dataclass(frozen=True)
class FilterLinks:
    """One filter: its name, and a link for each of its values."""

    title: str
    links: tuple[FilterLink, ...]


def filter_links(
    title: str, name: str, titles: Mapping[str, str], selected: Mapping[str, str]
) -> FilterLinks:
    """A link for each value; "" is the default. Links keep the values of the other filters."""
    return FilterLinks(
        title,
        tuple(
            FilterLink(
                label, query_string({**selected, name: value}), selected.get(name, "") == value
            )
            for value, label in titles.items()
        ),
    )


def query_string(selected: Mapping[str, str]) -> str:
    """The query string for these filters, without those at their default."""
    given = {name: value for name, value in selected.items() if value}
    return f"?{urlencode(given)}" if given else ""


def requested_purpose(request: HttpRequest) -> str:
    requested = request.GET.get("purpose", "")
    return requested if requested in PURPOSES else LIVE


def purpose_query(purpose: str) -> dict[str, str]:
    return {"purpose": "" if purpose == LIVE else purpose}


def purpose_links(purpose: str) -> FilterLinks:
    titles = {"": "Live"} | {str(p): p.label.capitalize() for p in PURPOSES if p != LIVE}
    return filter_links("People", "purpose", titles, purpose_query(purpose))


def version_links(versions: VersionChoice, selected: Mapping[str, str]) -> list[FilterLinks]:
    """A link for each group of versions and for each version; none if there is only one version."""
    if len(versions.everywhere) < 2:
        return []
    titles = {"": versions_in_words(versions.default).capitalize()}
    groups = [group.numbers for group in versions.groups]
    for numbers in [*groups, *((number,) for number in versions.everywhere)]:
        if numbers != versions.default:
            titles[value_of(numbers, versions.everywhere)] = versions_in_words(numbers).capitalize()
    if len(versions.groups) > 1:
        titles[POOLED] = "All versions, pooled"
    return [filter_links("Settings", "version", titles, {**selected, "version": versions.value})]


def filtered_page(
    request: HttpRequest,
    study: Study,
    template: str,
    title: str,
    read: Callable[[Study, str, str], dict[str, Any]],
) -> HttpResponse:
    """A page about the sessions of one purpose and of some versions.

    `read` takes the study, the purpose and the requested versions; the context it returns has the selected "versions".
    """
    purpose = requested_purpose(request)
    context = read(study, purpose, request.GET.get("version", ""))
    versions = context["versions"]
    selected = purpose_query(purpose)
    filters = {
        "purpose": purpose,
        "filters": [purpose_links(purpose), *version_links(versions, selected)],
        "query": query_string({**selected, "version": versions.value}),
    }
    return study_page(request, study, template, title, context | filters)


def figure_file(
    request: HttpRequest,
    study: Study,
    figures: Mapping[str, Callable[[Any], Any]],
    key: str,
    form: str,
    read: Callable[[Study, str, str], Any],
) -> HttpResponseBase:
    """A figure of such a page as SVG or PDF, or its data as CSV."""
    from analysis.results.figures import FORMS

    if key not in figures or form not in FORMS:
        raise Http404
    data = read(study, requested_purpose(request), request.GET.get("version", ""))
    figure = figures[key](data)
    name = figure.file_name(study, data.versions, form)
    if form == "csv" and figure.has_people:
        return download(request, study, iter([figure.file(form)]), name, FORMS[form])
    response = HttpResponse(figure.file(form), content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
