"""A figure of a page as a file."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpResponse

from studies.models import Study


def figure_file(
    study: Study,
    figures: Mapping[str, Callable[[Any], Any]],
    key: str,
    form: str,
    numbers: Callable[[], Any],
) -> HttpResponse:
    """SVG or PDF, or the numbers behind it as CSV. They are computed only for figures that exist."""
    from analysis.results.study_figure import FORMS

    if key not in figures or form not in FORMS:
        raise Http404
    found = numbers()
    response = HttpResponse(figures[key](found).file(form), content_type=FORMS[form])
    name = f"{study.slug}-{key}{found.versions.mark}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
