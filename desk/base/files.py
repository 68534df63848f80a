"""Files as replies: each is a download, and what is about single people is on the study's record."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from desk.base.filter_links import people_of, versions_that_exist
from studies import audit
from studies.models import AuditEntry, Study


def download(
    request: HttpRequest, study: Study, chunks: Iterator[bytes], name: str, content_type: str
) -> HttpResponseBase:
    """The file. The download is recorded, with who took it and when."""
    audit.record(AuditEntry.Action.EXPORT, f"Downloaded {name}.", study=study, actor=request.user)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    # No cache may keep what participants did.
    headers["Cache-Control"] = "private, no-store"
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)


def figure_file(
    request: HttpRequest,
    study: Study,
    figures: Mapping[str, Callable[[Any], Any]],
    key: str,
    form: str,
    read: Callable[[Study, str, str], Any],
) -> HttpResponseBase:
    """SVG or PDF, or the numbers behind it as CSV. They are read only for figures that exist."""
    from analysis.results.figures import FORMS

    if key not in figures or form not in FORMS:
        raise Http404
    with versions_that_exist():
        found = read(study, *people_of(request))
    figure = figures[key](found)
    name = figure.file_name(study, found.versions, form)
    if form == "csv" and figure.has_people:
        return download(request, study, iter([figure.file(form)]), name, FORMS[form])
    response = HttpResponse(figure.file(form), content_type=FORMS[form])
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
