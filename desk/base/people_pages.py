"""A page about the people of one purpose and of some versions, as its address asks for them."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from studies.models import Study

from .filter_links import filters, people_of, versions_that_exist
from .pages import study_page


def people_page(
    request: HttpRequest,
    study: Study,
    template: str,
    title: str,
    read: Callable[[Study, str, str], dict[str, Any]],
) -> HttpResponse:
    """`read` takes the study, the purpose and the versions; what it finds names the versions that it is about."""
    purpose, version = people_of(request)
    with versions_that_exist():
        found = read(study, purpose, version)
    return study_page(request, study, template, title, found | filters(purpose, found["versions"]))
