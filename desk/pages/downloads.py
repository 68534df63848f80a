"""A study's files: the box of downloads, and each table and archive, streamed."""

from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from evaluation.exports import (
    FORMATS,
    TABLES,
    Selection,
    archive_chunks,
    archive_name,
    gain_csv,
    table_chunks,
    table_name,
)
from studies import audit
from studies.models import AuditEntry, Study

from .base import Page, study_page


def downloads(request: HttpRequest, study: Study) -> HttpResponse:
    context = {"tables": TABLES.values(), "formats": FORMATS.values()}
    return study_page(request, study, "admin/desk/downloads.html", "Downloads", context)


def gain(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The teaching gain of a study as a streamed CSV file."""
    name = f"{study.slug}-teaching-gain.csv"
    chunks = (line.encode() for line in gain_csv(study))
    return download(request, study, chunks, name, "text/csv; charset=utf-8")


def table(request: HttpRequest, study: Study, table: str, extension: str) -> HttpResponseBase:
    """One table of a study, streamed."""
    if table not in TABLES or extension not in FORMATS:
        raise Http404
    wanted = selection(request, study)
    chunks = table_chunks(wanted, table, extension)
    name = table_name(wanted, table, extension)
    return download(request, study, chunks, name, FORMATS[extension].content_type)


def archive(request: HttpRequest, study: Study) -> HttpResponseBase:
    """All tables of a study with their codebook, streamed as one zip."""
    wanted = selection(request, study)
    return download(request, study, archive_chunks(wanted), archive_name(wanted), "application/zip")


def selection(request: HttpRequest, study: Study) -> Selection:
    return Selection(study, identifiable=request.GET.get("identifiable") == "1")


def download(
    request: HttpRequest, study: Study, chunks: Iterator[bytes], name: str, content_type: str
) -> HttpResponseBase:
    """The file; that it was taken, by whom and when, stays on record."""
    audit.record(AuditEntry.Action.EXPORT, f"Downloaded {name}.", study=study, actor=request.user)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    # What a study's people did is for nobody's cache.
    headers["Cache-Control"] = "private, no-store"
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)


PAGES = (
    Page("downloads", "downloads/", downloads, title="Downloads"),
    Page("gain_csv", "downloads/teaching-gain.csv", gain),
    Page("export_zip", "downloads/everything.zip", archive),
    Page("export_table", "downloads/<slug:table>.<slug:extension>", table),
)
