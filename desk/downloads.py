"""The downloads of a study: the page, tables and archives as streamed files, and the desk's own tables.

The desk adds its tables (flags, exclusions, payments) to the exports when the server starts, because `analysis` does
not import the desk. They include excluded participants, so that they can say why somebody was excluded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from analysis.charts.formatting import NBSP
from analysis.exports import files
from analysis.exports.column import NUMBER, TEXT, TIME, Column, Columns
from analysis.exports.formats import FORMATS
from analysis.exports.tables import TABLES as EXPORT_TABLES
from analysis.exports.tables import ExportTable, StudySnapshot, participant_rows, rows_of_people
from analysis.exports.task_columns import PERSON, TASK_ORIGIN
from studies.head_counts import Enrolment, enrolment
from studies.models import Participant, Study

from .bonus import bonus_plan
from .filters import filter_links, query_string, version_links
from .models import Decision, Payment
from .page import Page, download, may_edit, study_page
from .quality import flags_by_person
from .quality_flags import RULES, Flag

IDS_ARE_FOR_EDITORS = (
    "Platform ids are for those who may change the study. It is shared with you for reading only."
)


# The desk's own tables


@dataclass(frozen=True)
class FlagRow:
    participant: Participant
    flag: Flag


def flag_rows(source: StudySnapshot) -> Iterator[FlagRow]:
    people = list(participant_rows(source, with_excluded=True))
    flags = flags_by_person(source.people(with_excluded=True), people)
    for person in people:
        yield from (FlagRow(person, flag) for flag in flags.get(person.pk, ()))


@dataclass(frozen=True)
class DueBonus:
    """A bonus that is due and not recorded as paid. Has the attributes of a Payment."""

    participant: Participant
    amount: Decimal
    currency: str
    state: str = "due"
    recorded_at: None = None
    recorded_by: str = ""
    undone_at: None = None
    undone_by: str = ""


def payment_rows(source: StudySnapshot) -> Iterator[Payment | DueBonus]:
    """The recorded payments, then the bonuses that are due on the payment page of the same versions."""
    recorded = Payment.objects.all()
    yield from rows_of_people(recorded, ("recorded_at", "pk"), source, with_excluded=True)
    plan = bonus_plan(source.study, source.versions)
    if plan.bonus is None:
        return
    due = {payee.pk for payee in plan.top if not payee.payment}
    for person in participant_rows(source):
        if person.pk in due:
            yield DueBonus(person, plan.bonus, plan.currency)


FLAG_COLUMNS: Columns = (
    *PERSON,
    Column(
        "flag",
        TEXT,
        f"The kind of flag: {', '.join(rule.key for rule in RULES)}. The page Quality says what each means.",
        "flag.rule.key",
    ),
    Column(
        "strength",
        TEXT,
        "strong: what the participant's page does not allow, or no person can do. look at: happens to honest people "
        "too.",
        "flag.rule.strength",
    ),
    Column(
        "numbers",
        TEXT,
        "The numbers behind the flag, in words.",
        lambda row: row.flag.numbers.replace(NBSP, " "),
    ),
    *TASK_ORIGIN,
)
EXCLUSION_COLUMNS: Columns = (
    *PERSON,
    Column(
        "decision",
        TEXT,
        "excluded, or included again. The newest decision about a participant stands.",
        lambda row: "excluded" if row.excludes else "included again",
    ),
    Column("reason", TEXT, "The reason, as the researcher wrote it."),
    Column("decided_at", TIME, "When it was decided.", "at"),
    Column("decided_by", TEXT, "The user name of the researcher who decided.", "actor_name"),
    *TASK_ORIGIN,
)
PAYMENT_COLUMNS: Columns = (
    *PERSON,
    Column(
        "state",
        TEXT,
        "paid: recorded as paid. undone: that record was taken back. due: gets the bonus as the study is now, among "
        "the participants of the file's versions, and is not recorded as paid.",
    ),
    Column("amount", NUMBER, "The bonus.", lambda payment: float(payment.amount)),
    Column("currency", TEXT, "Its currency."),
    Column("recorded_at", TIME, "When it was recorded as paid. Empty if it is due."),
    Column("recorded_by", TEXT, "The user name of the researcher who recorded it."),
    Column("undone_at", TIME, "When the record was taken back."),
    Column("undone_by", TEXT, "The user name of the researcher who took it back."),
    *TASK_ORIGIN,
)
TABLES = (
    ExportTable(
        "flags",
        "Quality flags",
        "One row per flag of a participant, excluded participants included. A flag is computed from the session when "
        "the file is made, and decides nothing.",
        lambda study: FLAG_COLUMNS,
        flag_rows,
    ),
    ExportTable(
        "exclusions",
        "Exclusions",
        "One row per decision to exclude a participant or to include one again, with its reason, excluded participants "
        "included.",
        lambda study: EXCLUSION_COLUMNS,
        partial(rows_of_people, Decision.objects.all(), ("at", "pk"), with_excluded=True),
    ),
    ExportTable(
        "payments",
        "Payments",
        "One row per bonus that was recorded as paid, undone or not, and one for each that is due now. Pay for taking "
        "part goes through the recruitment platform and is not in it.",
        lambda study: PAYMENT_COLUMNS,
        payment_rows,
    ),
)


# The page


def downloads(request: HttpRequest, study: Study) -> HttpResponse:
    wanted = selection(request, study)
    versions = wanted.versions
    people = enrolment(study, versions=versions.numbers)
    selected = {
        "everyone": "1" if wanted.everyone else "",
        "identifiable": "1" if wanted.identifiable else "",
        "version": versions.value,
    }
    whose = {
        "": f"Analysis sample ({people.counted})",
        "1": f"Everyone ({people.joined.total()})",
    }
    filters = [filter_links("Whose rows", "everyone", whose, selected)]
    if may_edit(request, study):
        ids = {"": "Exclude", "1": "Include"}
        filters.append(filter_links("Platform ids", "identifiable", ids, selected))
    context = {
        "tables": EXPORT_TABLES.values(),
        "formats": FORMATS.values(),
        "wanted": wanted,
        "versions": versions,
        "query": query_string(selected),
        "gain_query": query_string({"version": versions.value}),
        "filters": [*filters, *version_links(versions, selected)],
        "left_out": left_out(people, wanted),
    }
    return study_page(request, study, "admin/desk/downloads.html", "Downloads", context)


def left_out(people: Enrolment, wanted: files.Selection) -> str:
    """The participants who are in none of the selected files, as text; empty if there are none."""
    live, *others = Participant.Purpose
    counts = {}
    if not wanted.everyone:
        counts["excluded"] = people.excluded[live]
        counts |= {purpose.value: people.joined[purpose] for purpose in others}
    counts |= {f"version {one.number}": one.joined for one in wanted.versions.left_out}
    return ", ".join(f"{count} ({title})" for title, count in counts.items() if count)


def selection(request: HttpRequest, study: Study) -> files.Selection:
    """The files that the query string selects. Platform ids require permission to change the study."""
    query = request.GET
    identifiable, everyone = (query.get(name) == "1" for name in ("identifiable", "everyone"))
    if identifiable and not may_edit(request, study):
        raise PermissionDenied(IDS_ARE_FOR_EDITORS)
    return files.Selection(study, identifiable, everyone, query.get("version", ""))


def gain(request: HttpRequest, study: Study) -> HttpResponseBase:
    """The teaching gain of every participant as a streamed CSV file."""
    wanted = files.Selection(study, version=request.GET.get("version", ""))
    name = files.gain_name(wanted)
    chunks = (line.encode() for line in files.gain_csv(wanted))
    return download(request, study, chunks, name, "text/csv; charset=utf-8")


def table(request: HttpRequest, study: Study, table: str, extension: str) -> HttpResponseBase:
    return table_file(request, selection(request, study), table, extension)


def table_file(
    request: HttpRequest, wanted: files.Selection, table: str, extension: str
) -> HttpResponseBase:
    """One table of a study, streamed."""
    if table not in EXPORT_TABLES or extension not in FORMATS:
        raise Http404
    name = files.table_name(wanted, table, extension)
    chunks = files.table_chunks(wanted, table, extension)
    return download(request, wanted.study, chunks, name, FORMATS[extension].content_type)


def archive(request: HttpRequest, study: Study) -> HttpResponseBase:
    return archive_file(request, selection(request, study))


def archive_file(request: HttpRequest, wanted: files.Selection) -> HttpResponseBase:
    """All tables of a study with their codebook, streamed as one zip."""
    name = files.archive_name(wanted)
    return download(request, wanted.study, files.archive_chunks(wanted), name, "application/zip")


PAGES = (
    Page("downloads", "downloads/", downloads, title="Downloads", is_often_opened=True),
    Page("gain_csv", "downloads/teaching-gain.csv", gain),
    Page("export_zip", "downloads/everything.zip", archive),
    Page("export_table", "downloads/<slug:table>.<slug:extension>", table),
)
