"""A study's files: the page that lists them, and each table and archive, streamed."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from analysis.exports import files
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES
from desk.base.files import download
from desk.base.filter_links import (
    FilterLinks,
    filter_links,
    query_of,
    version_links,
    versions_that_exist,
)
from desk.base.pages import Page, may_edit, study_page
from studies.head_counts import Enrolment, enrolment
from studies.models import Participant, Study

IDS_ARE_FOR_EDITORS = "Recruiters’ ids are for those who may change the study. It is shared with you for reading only."


def downloads(request: HttpRequest, study: Study) -> HttpResponse:
    """Every file, of those who count or of everyone, with or without recruiters' ids."""
    wanted = selection(request, study)
    with versions_that_exist():
        versions = wanted.versions
    people = enrolment(study, versions=versions.numbers)
    chosen = chosen_of(wanted)
    context = {
        "tables": TABLES.values(),
        "formats": FORMATS.values(),
        "wanted": wanted,
        "versions": versions,
        "query": query_of(chosen),
        "gain_query": query_of({"version": versions.value}),
        "filters": [
            filter_links("Whose rows", "everyone", titles_of_people(people), chosen),
            *id_links(request, study, chosen),
            *version_links(versions, chosen),
        ],
        "left_out": left_out(people, wanted),
    }
    return study_page(request, study, "admin/desk/downloads/page.html", "Downloads", context)


def chosen_of(wanted: files.Selection) -> dict[str, str]:
    ticked = {"everyone": wanted.everyone, "identifiable": wanted.identifiable}
    marks = {name: "1" if on else "" for name, on in ticked.items()}
    return marks | {"version": wanted.versions.value}


def titles_of_people(people: Enrolment) -> dict[str, str]:
    return {
        "": f"Those who count ({people.counted})",
        "1": f"Everyone ({people.joined.total()})",
    }


def id_links(request: HttpRequest, study: Study, chosen: dict[str, str]) -> list[FilterLinks]:
    if not may_edit(request, study):
        return []
    return [filter_links("Recruiters’ ids", "identifiable", {"": "Without", "1": "With"}, chosen)]


def left_out(people: Enrolment, wanted: files.Selection) -> str:
    """Who is in none of the files as they are chosen, in words; empty if nobody is."""
    live, *others = Participant.Purpose
    counts = {} if wanted.everyone else {"excluded": people.excluded[live]}
    if not wanted.everyone:
        counts |= {purpose.value: people.joined[purpose] for purpose in others}
    counts |= {f"version {one.number}": one.joined for one in wanted.versions.left_out}
    return ", ".join(f"{count} ({title})" for title, count in counts.items() if count)


def gain(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The teaching gain of a study as a streamed CSV file."""
    wanted = files.Selection(study, version=request.GET.get("version", ""))
    with versions_that_exist():
        name = files.gain_name(wanted)
    chunks = (line.encode() for line in files.gain_csv(wanted))
    return download(request, study, chunks, name, "text/csv; charset=utf-8")


def table(request: HttpRequest, study: Study, table: str, extension: str) -> HttpResponseBase:
    with versions_that_exist():
        return table_file(request, selection(request, study), table, extension)


def table_file(
    request: HttpRequest, wanted: files.Selection, table: str, extension: str
) -> HttpResponseBase:
    """One table of a study, streamed."""
    if table not in TABLES or extension not in FORMATS:
        raise Http404
    chunks = files.table_chunks(wanted, table, extension)
    name = files.table_name(wanted, table, extension)
    return download(request, wanted.study, chunks, name, FORMATS[extension].content_type)


def archive(request: HttpRequest, study: Study) -> HttpResponseBase:
    with versions_that_exist():
        return archive_file(request, selection(request, study))


def archive_file(request: HttpRequest, wanted: files.Selection) -> HttpResponseBase:
    """All tables of a study with their codebook, streamed as one zip."""
    name = files.archive_name(wanted)
    return download(request, wanted.study, files.archive_chunks(wanted), name, "application/zip")


def selection(request: HttpRequest, study: Study) -> files.Selection:
    """What the address asks for. Recruiters' ids are for those who may change the study."""
    asked = request.GET
    identifiable, everyone = (asked.get(name) == "1" for name in ("identifiable", "everyone"))
    if identifiable and not may_edit(request, study):
        raise PermissionDenied(IDS_ARE_FOR_EDITORS)
    return files.Selection(study, identifiable, everyone, asked.get("version", ""))


PAGES = (
    Page("downloads", "downloads/", downloads, title="Downloads", is_often_opened=True),
    Page("gain_csv", "downloads/teaching-gain.csv", gain),
    Page("export_zip", "downloads/everything.zip", archive),
    Page("export_table", "downloads/<slug:table>.<slug:extension>", table),
)
