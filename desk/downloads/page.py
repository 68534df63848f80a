"""A study's files: the page that lists them, and each table and archive, streamed."""

from collections.abc import Iterator

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from analysis.exports import files
from analysis.exports.archive import archive_chunks
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from desk.base.filter_links import filter_links, query_of
from desk.base.pages import Page, study_page
from studies import audit
from studies.head_counts import Enrolment, enrolment
from studies.models import AuditEntry, Participant, Study

# What a file can hold beyond the rows of those who count.
CHOICES = ("everyone", "identifiable")


def downloads(request: HttpRequest, study: Study) -> HttpResponse:
    """Every file, of those who count or of everyone, with or without recruiters' ids."""
    people = enrolment(study)
    chosen = {name: "1" for name in CHOICES if request.GET.get(name) == "1"}
    context = {
        "tables": TABLES.values(),
        "formats": FORMATS.values(),
        "wanted": selection(request, study),
        "query": query_of(chosen),
        "filters": [
            filter_links("Whose rows", "everyone", titles_of_people(people), chosen),
            filter_links("Recruiters’ ids", "identifiable", {"": "Without", "1": "With"}, chosen),
        ],
        "left_out": left_out(people),
    }
    return study_page(request, study, "admin/desk/downloads/page.html", "Downloads", context)


def titles_of_people(people: Enrolment) -> dict[str, str]:
    return {
        "": f"Those who count ({people.counted})",
        "1": f"Everyone ({people.joined.total()})",
    }


def left_out(people: Enrolment) -> str:
    """Who is only in the files of everyone, in words; empty if nobody is."""
    live, *others = Participant.Purpose
    counts = {"excluded": people.excluded[live]}
    counts |= {purpose.value: people.joined[purpose] for purpose in others}
    return ", ".join(f"{count} ({title})" for title, count in counts.items() if count)


def gain(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The teaching gain of a study as a streamed CSV file."""
    name = files.gain_name(study)
    chunks = (line.encode() for line in files.gain_csv(study))
    return download(request, study, chunks, name, "text/csv; charset=utf-8")


def table(request: HttpRequest, study: Study, table: str, extension: str) -> HttpResponseBase:
    """One table of a study, streamed."""
    if table not in TABLES or extension not in FORMATS:
        raise Http404
    wanted = selection(request, study)
    chunks = files.table_chunks(wanted, table, extension)
    name = files.table_name(wanted, table, extension)
    return download(request, study, chunks, name, FORMATS[extension].content_type)


def archive(request: HttpRequest, study: Study) -> HttpResponseBase:
    """All tables of a study with their codebook, streamed as one zip."""
    wanted = selection(request, study)
    return download(
        request, study, archive_chunks(wanted), files.archive_name(wanted), "application/zip"
    )


def selection(request: HttpRequest, study: Study) -> files.Selection:
    return files.Selection(study, **{name: request.GET.get(name) == "1" for name in CHOICES})


def download(
    request: HttpRequest, study: Study, chunks: Iterator[bytes], name: str, content_type: str
) -> HttpResponseBase:
    """The file. The download is recorded, with who took it and when."""
    audit.record(AuditEntry.Action.EXPORT, f"Downloaded {name}.", study=study, actor=request.user)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    # No cache may keep what participants did.
    headers["Cache-Control"] = "private, no-store"
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)


PAGES = (
    Page("downloads", "downloads/", downloads, title="Downloads", is_often_opened=True),
    Page("gain_csv", "downloads/teaching-gain.csv", gain),
    Page("export_zip", "downloads/everything.zip", archive),
    Page("export_table", "downloads/<slug:table>.<slug:extension>", table),
)
