"""The files of a study: what is in them, who may have them, and that they are of one moment."""

import base64
import csv
import hashlib
import io
import itertools
import json
import zipfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from analysis.exports import files
from analysis.exports.column import ColumnKind
from analysis.exports.datasheet import codebook_csv, codebook_markdown
from analysis.exports.files import Selection, archive_chunks, archive_name, table_chunks, table_name
from analysis.exports.formats import FORMATS, cell, json_value
from analysis.exports.tables import TABLES
from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import AuditEntry, Participant, SessionEvent, Study, StudyShare, StudyVersion
from studies.software import software_version
from teaching.models import TeachingStep
from tests.builders import make_study
from tests.site import ROOT
from tests.worker import Worker

DICTIONARY = ROOT / "docs" / "data-dictionary.md"
FORMULA = '=HYPERLINK("http://evil","pay")'

WHOSE = {
    "study": "participant__study__slug",
    "participant": "participant__code",
    "arm": "participant__arm",
    "purpose": "participant__purpose",
    "is_excluded": "participant__is_excluded",
    "study_version": "participant__version__number",
    "configuration_hash": "participant__version__hash",
    "software_version": "participant__software_version",
    "participant_seed": "participant__seed",
}
IMAGE = {"example": "example__key", "pool_index": "example__pool_index"}
SHRUNKEN_BY = ("people", "mean", "within", "between", "weight", "shrunken_span")
# Where the values of a table are stored, for columns that are not called as their field is.
STORED: dict[str, tuple[Any, dict[str, str]]] = {
    "participants": (
        Participant,
        {
            "study": "study__slug",
            "participant": "code",
            "joined_at": "created_at",
            "participant_seed": "seed",
            "study_title": "study__title",
            "study_seed": "study__seed",
            "study_version": "version__number",
            "configuration_hash": "version__hash",
            "dataset": "study__dataset__name",
            "dataset_version": "study__dataset__version",
            **{f"beta_{name}": f"beta_inputs__{name}" for name in SHRUNKEN_BY},
        },
    ),
    "teaching": (TeachingStep, WHOSE | IMAGE),
    "evaluation": (EvaluationItem, WHOSE | IMAGE),
    "memory": (MemoryRound, WHOSE),
    "events": (SessionEvent, WHOSE),
}
WORKED_OUT = {
    "participants": {
        "status", "memory_length_1", "memory_length_2", "duration_s", "first_button", "buttons",
    },
    "teaching": {"label", "true_class", "answer", "answer_class"},
    "evaluation": {
        "label", "true_class", "answer", "answer_class", "instructed_label", "is_passed",
    },
    "memory": {"is_practice"},
    "events": set(),
}  # fmt: skip


@pytest.fixture(scope="module")
def made_study(make_once) -> Study:
    return make_once(make_study_in_full_swing)


def make_study_in_full_swing() -> Study:
    """Somebody finished, somebody is teaching, somebody is in the evaluation, somebody declined."""
    study = make_study(completion_code="C0DE", memory_practice=True, beta_mapping="shrunken")
    Worker(study, PROLIFIC_PID=FORMULA, STUDY_ID="'study", SESSION_ID='né, "Ω"').go_to("done")
    for stage in ("teaching", "evaluation"):
        worker = Worker(study)
        worker.go_to(stage)
        worker.answer_current()
        note_events(worker.participant)
    Worker(study).answer(position=1, agree=False)
    Worker(make_study(dataset=study.dataset)).go_to("teaching")
    return study


def note_events(participant: Participant) -> None:
    """As a page may send them: not in the order in which they happened."""
    for minute, (kind, detail) in enumerate([("shown", ""), ("error", "=1+1"), ("opened", "né")]):
        SessionEvent.objects.create(
            participant=participant,
            kind=kind,
            detail=detail,
            position=minute + 1,
            client_ms=minute / 7,
            at=participant.created_at - timedelta(minutes=minute),
        )


def text_of(study: Study, table: str, extension: str, identifiable: bool = True) -> str:
    return b"".join(table_chunks(Selection(study, identifiable), table, extension)).decode()


def rows_of(
    study: Study, table: str, extension: str, identifiable: bool = True
) -> list[dict[str, Any]]:
    """A table, read back with nothing but what the codebook tells."""
    text = text_of(study, table, extension, identifiable)
    kinds = {c.name: c.kind for c in TABLES[table].columns(study, identifiable=True)}
    if extension == "csv":
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        return [{name: from_csv(kinds[name], row[name]) for name in row} for row in rows]
    rows = [json.loads(line) for line in text.splitlines()]
    return [{name: from_json(kinds[name], row[name]) for name in row} for row in rows]


def from_csv(kind: str, text: str) -> Any:
    if kind == ColumnKind.TEXT:
        return text.removeprefix("'")
    if text == "":
        return None
    return {
        ColumnKind.WHOLE: int,
        ColumnKind.NUMBER: float,
        ColumnKind.YES_NO: {"0": False, "1": True}.__getitem__,
        ColumnKind.TIME: datetime.fromisoformat,
        ColumnKind.LIST: json.loads,
    }[kind](text)


def from_json(kind: str, value: Any) -> Any:
    if value is not None and kind == ColumnKind.TIME:
        return datetime.fromisoformat(value)
    if value is not None and kind == ColumnKind.YES_NO:
        return {0: False, 1: True}[value]
    return value


def unpacked(study: Study, identifiable: bool = False) -> dict[str, bytes]:
    content = b"".join(archive_chunks(Selection(study, identifiable)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.django_db
def test_a_file_reads_back_to_exactly_what_is_stored(study):
    for table, extension in itertools.product(STORED, FORMATS):
        names = [c.name for c in TABLES[table].columns(study, identifiable=True)]
        stored = [name for name in names if name not in WORKED_OUT[table]]
        rows = rows_of(study, table, extension)
        assert [list(row) for row in rows] == [names] * len(rows)
        found = [tuple(row[name] for name in stored) for row in rows]
        assert found == stored_values(study, table, stored)
        assert len(found) > 3


def stored_values(study: Study, table: str, names: list[str]) -> list[tuple[Any, ...]]:
    model, paths = STORED[table]
    if model is Participant:
        rows = model.objects.filter(study=study).order_by("pk")
    else:
        rows = model.objects.filter(participant__study=study)
        order = ("at", "pk") if model is SessionEvent else ("position",)
        rows = rows.order_by("participant_id", *order)
    return list(rows.values_list(*(paths.get(name, name) for name in names)))


@pytest.mark.django_db
def test_what_is_worked_out_follows_from_what_is_stored(study):
    for extension in FORMATS:
        people = rows_of(study, "participants", extension)
        for row, person in zip(people, study.participants.order_by("pk"), strict=True):
            lengths = [row["memory_length_1"], row["memory_length_2"]]
            assert [n for n in lengths if n is not None] == person.memory_lengths
            assert row["status"] == person.stage
            assert row["first_button"] == person.classes[0]
            assert row["buttons"] == person.classes
            assert row["software_version"] == software_version()
        took = people[0]["finished_at"] - people[0]["consented_at"]
        assert people[0]["duration_s"] == pytest.approx(took.total_seconds(), abs=0.001)
        names = {-1: "wild", 1: "domestic", None: ""}
        for row in [
            row for t in ("teaching", "evaluation") for row in rows_of(study, t, extension)
        ]:
            # Files of two classes have always had these signs.
            assert row["true_class"] == names[row["label"]]
            assert row["answer_class"] == names[row["answer"]]
        rounds = rows_of(study, "memory", extension)
        assert {row["is_practice"] for row in rounds} == {True, False}
        assert all(row["is_practice"] == (row["trial"] == 0) for row in rounds)


def test_every_field_of_a_task_is_in_its_table():
    kept_elsewhere = {"id", "participant", "example"}
    for table in ("teaching", "evaluation", "memory", "events"):
        names = {c.name for c in TABLES[table].columns(Study(), identifiable=False)}
        fields = {field.name for field in STORED[table][0]._meta.concrete_fields}
        assert fields - kept_elsewhere <= names


@pytest.mark.parametrize("table", TABLES)
def test_no_column_has_a_name_twice(table):
    names = [c.name for c in TABLES[table].columns(Study(), identifiable=True)]
    assert len(set(names)) == len(names)


@given(st.text())
def test_every_text_can_be_read_back(text):
    written = cell(text)
    assert not str(written).lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert from_csv(ColumnKind.TEXT, str(written)) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_missing(value):
    assert json_value(value) is None


def test_times_are_utc_whatever_zone_they_come_in():
    moment = datetime.fromisoformat("2026-03-01T13:00:00+05:30")
    assert cell(moment) == json_value(moment) == "2026-03-01T07:30:00+00:00"
    assert cell(moment.astimezone(UTC)) == cell(moment)


@pytest.mark.django_db
def test_a_workers_formula_is_text_in_the_csv_and_itself_in_json(study):
    [row, *_] = csv.DictReader(io.StringIO(text_of(study, "participants", "csv")))
    assert row["external_id"] == "'" + FORMULA
    assert rows_of(study, "participants", "jsonl")[0]["external_id"] == FORMULA


@pytest.mark.django_db
def test_who_took_part_is_in_no_file_unless_asked_for(study):
    secrets = [FORMULA, "HYPERLINK", "'study", "external_"]
    links = [person.token for person in study.participants.all()]
    secrets += links
    texts = [text_of(study, t, f, identifiable=False) for t in TABLES for f in FORMATS]
    texts += [content.decode() for content in unpacked(study).values()]
    for text in texts:
        assert not any(secret in text for secret in secrets)
    with_ids = "".join(content.decode() for content in unpacked(study, identifiable=True).values())
    assert "HYPERLINK" in with_ids
    assert not any(link in with_ids for link in links)


@pytest.mark.django_db
def test_the_name_of_a_file_says_that_it_names_people():
    study = make_study(slug="cats")
    plain, marked = Selection(study), Selection(study, identifiable=True)
    assert table_name(plain, "participants", "csv") == "cats-participants.csv"
    assert table_name(marked, "participants", "csv") == "cats-participants-identifiable.csv"
    assert table_name(marked, "teaching", "jsonl") == "cats-teaching.jsonl"
    assert archive_name(plain) == "cats-export.zip"
    assert archive_name(marked) == "cats-export-identifiable.zip"


def registry(identifiable: bool) -> list[list[str]]:
    return [
        [table.name, c.name, str(c.kind), c.meaning, str(int(c.identifiable))]
        for table in TABLES.values()
        for c in table.columns(Study(), identifiable=identifiable)
    ]


@pytest.mark.parametrize("identifiable", [False, True])
def test_the_codebook_has_exactly_the_columns_of_the_registry(identifiable):
    header, *rows = csv.reader(io.StringIO(codebook_csv(Study(), identifiable=identifiable)))
    assert header == ["table", "column", "kind", "meaning", "identifiable"]
    assert rows == registry(identifiable)
    markdown = codebook_markdown(Study(), identifiable=identifiable)
    columns = [line.split("`")[1] for line in markdown.splitlines() if line.startswith("| `")]
    assert columns == [row[1] for row in registry(identifiable)]


def test_the_data_dictionary_ends_with_the_codebook():
    text = DICTIONARY.read_text(encoding="utf-8")
    assert text.endswith("\n\n" + codebook_markdown(Study(), identifiable=True))


@pytest.mark.django_db
def test_the_zip_has_all_tables_with_their_codebook_and_a_datasheet(study):
    content = unpacked(study)
    assert list(content) == [
        "participants.csv", "teaching.csv", "evaluation.csv", "memory.csv", "events.csv",
        "flags.csv", "exclusions.csv", "payments.csv", "codebook.md", "codebook.csv", "datasheet.json",
    ]  # fmt: skip
    for table in TABLES:
        assert content[f"{table}.csv"].decode() == text_of(study, table, "csv", False)
    assert content["codebook.csv"].decode() == codebook_csv(study, identifiable=False)
    assert codebook_markdown(study, identifiable=False) in content["codebook.md"].decode()
    assert "participants-identifiable.csv" in unpacked(study, identifiable=True)


@pytest.mark.django_db
def test_the_datasheet_tells_versions_settings_counts_and_checksums(study):
    content = unpacked(study)
    sheet = json.loads(content["datasheet.json"])
    assert sheet["software"] == {"name": "JEDI Web", "version": software_version()}
    assert (sheet["study"]["slug"], sheet["study"]["seed"]) == (study.slug, study.seed)
    assert sheet["study"]["cold_start"] == study.cold_start
    assert sheet["dataset"]["version"] == study.dataset.version
    assert sheet["dataset"]["images"] == {"teaching": 40, "evaluation": 20}
    people = rows_of(study, "participants", "csv")
    assert sheet["participants"]["total"] == len(people)
    assert sheet["participants"]["by_status"] == Counter(row["status"] for row in people)
    counts = {(row["arm"] or "unassigned", row["status"]) for row in people}
    by_arm = sheet["participants"]["by_arm"]
    assert {(arm, status) for arm in by_arm for status in by_arm[arm]} == counts
    for entry in sheet["tables"]:
        assert entry["sha256"] == hashlib.sha256(content[entry["file"]]).hexdigest()
        assert entry["rows"] == len(rows_of(study, entry["table"], "csv"))
    assert "C0DE" not in content["datasheet.json"].decode(), "it would pay whoever reads it"


@pytest.mark.django_db
def test_an_empty_study_has_files_too():
    study = make_study()
    assert rows_of(study, "teaching", "csv") == rows_of(study, "teaching", "jsonl") == []
    assert text_of(study, "teaching", "csv").startswith("study,participant,arm,position,step,")
    assert json.loads(unpacked(study)["datasheet.json"])["participants"]["total"] == 0


@pytest.mark.django_db
def test_a_table_is_at_most_five_statements_however_many_rows_there_are(study):
    for _ in range(2):
        for table in STORED:
            with CaptureQueriesContext(connection) as sent:
                text_of(study, table, "csv")
            # Tables without a class need no names of classes.
            assert len(sent) == 4 + (table not in ("memory", "events"))
        with CaptureQueriesContext(connection) as sent:
            unpacked(study, identifiable=True)
        assert len(sent) == 26
        Worker(study).go_to("done")


@pytest.mark.django_db
def test_rows_are_sent_while_more_are_read(study, monkeypatch):
    """A table that never ends: whoever gathers it first never sends anything."""
    step = TeachingStep.objects.select_related("participant__study__dataset", "example").first()
    endless = replace(TABLES["teaching"], rows_of=lambda source: itertools.repeat(step))
    monkeypatch.setitem(TABLES, "teaching", endless)
    for extension in FORMATS:
        chunks = table_chunks(Selection(study), "teaching", extension)
        sizes = [len(chunk) for chunk in itertools.islice(chunks, 3)]
        assert max(sizes) < 2 * files.CHUNK_SIZE
    zipped = archive_chunks(Selection(study))
    assert b"teaching.csv" in b"".join(itertools.islice(zipped, 3))
    zipped.close()


FILES = [f"{table}.{extension}" for table in TABLES for extension in FORMATS] + ["everything.zip"]


def addresses_of(study):
    return [f"/admin/studies/study/{study.pk}/downloads/{name}" for name in FILES]


@pytest.mark.django_db
def test_the_files_are_for_those_who_may_see_the_study():
    staff = User.objects.create_user("assistant", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="view_study"))
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    study = make_study()
    addresses = addresses_of(study)
    assert {Client().get(address).status_code for address in addresses} == {302}
    assert {client.get(address).status_code for address in addresses} == {404}
    assert not AuditEntry.objects.exists()
    StudyShare.objects.create(study=study, user=staff)
    assert {client.get(address).status_code for address in addresses} == {200}


@pytest.mark.django_db
def test_what_there_is_not_is_not_found(researcher):
    study = make_study()
    base = "/admin/studies/study"
    for name in (
        f"{study.pk}/downloads/secrets.csv",
        f"{study.pk}/downloads/teaching.exe",
        "987/downloads/everything.zip",
    ):
        assert researcher.get(f"{base}/{name}").status_code == 404


@pytest.mark.django_db
def test_the_admin_streams_a_table_and_keeps_who_took_it(researcher, admin_user, study):
    address = f"/admin/studies/study/{study.pk}/downloads/participants.csv"
    reply = researcher.get(address)
    assert reply.streaming
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert reply["Content-Disposition"] == f'attachment; filename="{study.slug}-participants.csv"'
    assert "no-store" in reply["Cache-Control"]
    assert b"".join(reply).decode() == text_of(study, "participants", "csv", identifiable=False)
    marked = researcher.get(address, {"identifiable": "1"})
    assert b"HYPERLINK" in b"".join(marked)
    taken = AuditEntry.objects.filter(actor=admin_user, study=study, action="export")
    assert [entry.detail for entry in taken.order_by("pk")] == [
        f"Downloaded {study.slug}-participants.csv.",
        f"Downloaded {study.slug}-participants-identifiable.csv.",
    ]


@pytest.mark.django_db
def test_the_page_of_downloads_offers_every_file(researcher):
    study = make_study()
    page = researcher.get(f"/admin/studies/study/{study.pk}/downloads/").content.decode()
    for address in addresses_of(study):
        assert f'href="{address}"' in page


@pytest.mark.django_db
def test_the_command_writes_what_the_admin_sends(study, tmp_path):
    screen = io.StringIO()
    call_command("export_study", study.slug, table="teaching", format="jsonl", stdout=screen)
    assert screen.getvalue() == text_of(study, "teaching", "jsonl")
    call_command("export_study", study.slug, "--table=memory", f"--output={tmp_path / 'm.csv'}")
    assert (tmp_path / "m.csv").read_bytes().decode() == text_of(study, "memory", "csv")
    call_command("export_study", study.slug, "--zip", "--identifiable", f"--output={tmp_path}")
    with zipfile.ZipFile(tmp_path / f"{study.slug}-export-identifiable.zip") as archive:
        assert archive.testzip() is None
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.django_db
def test_the_command_says_what_to_do_instead(tmp_path):
    study = make_study()
    quiet = tmp_path / "people.csv"
    with pytest.raises(CommandError, match=study.slug):
        call_command("export_study", "nothing-like-it", "--zip")
    with pytest.raises(CommandError, match="--output"):
        call_command("export_study", study.slug, "--zip")
    with pytest.raises(CommandError, match="required"):
        call_command("export_study", study.slug)
    with pytest.raises(CommandError, match="no folder"):
        call_command("export_study", study.slug, "--zip", f"--output={tmp_path / 'a' / 'b.zip'}")
    with pytest.raises(CommandError, match="participants-identifiable"):
        call_command(
            "export_study",
            study.slug,
            "--table=participants",
            "--identifiable",
            f"--output={quiet}",
        )
    assert not quiet.exists()


@pytest.mark.django_db
def test_a_file_that_was_cut_off_is_not_left_behind(tmp_path, monkeypatch):
    study = make_study()

    def broken(source: Any) -> Any:
        study = source.study
        yield Participant(study=study, version=StudyVersion(study=study, number=1))
        raise RuntimeError("the database went away")

    monkeypatch.setitem(TABLES, "participants", replace(TABLES["participants"], rows_of=broken))
    with pytest.raises(RuntimeError, match="went away"):
        call_command("export_study", study.slug, "--zip", f"--output={tmp_path}")
    assert list(tmp_path.iterdir()) == []


# Exports before, during and after what others write; says when it is in the middle, and goes on at a line.
# Then tries to write through a snapshot, and looks whether its connection is still known.
THREE_EXPORTS = """
import base64, sys
import django
django.setup()
from django.db import DatabaseError, connections
from analysis.exports.files import archive_chunks
from analysis.exports.files import Selection
from analysis.exports.files import snapshot
from studies.models import AuditEntry, Participant, Study, StudyShare, StudyVersion

def say(word):
    print(word, flush=True)

wanted = Selection(Study.objects.get(slug=sys.argv[1]))
before = b"".join(archive_chunks(wanted))
chunks = archive_chunks(wanted)
during = next(chunks)
say("begun")
sys.stdin.readline()
during += b"".join(chunks)
for content in (before, during, b"".join(archive_chunks(wanted))):
    say(base64.b64encode(content).decode())
with snapshot() as using:
    Study.objects.using(using).count()
    try:
        Participant.objects.using(using).update(arm="none")
    except DatabaseError:
        say("read-only")
say(hasattr(connections._connections, using))
"""


def tables_in(encoded: str) -> dict[str, list[dict[str, str]]]:
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(encoded))) as archive:
        texts = {table: archive.read(f"{table}.csv").decode() for table in TABLES}
    return {table: list(csv.DictReader(io.StringIO(text))) for table, text in texts.items()}


def test_an_export_is_of_one_moment_and_keeps_nobody_waiting(site):
    slug = site.make_study(arms="rt")
    worker = Worker(slug, site.client())
    worker.go_to("teaching")
    with site.conversation("-c", THREE_EXPORTS, slug) as export:
        assert export.stdout.readline() == "begun\n"
        # Every write of a journey, a new participant's too, while the export is in the middle of its work.
        worker.go_to("done")
        Worker(slug, site.client()).go_to("memory")
        output, _ = export.communicate("go on\n", timeout=60)
    *contents, can_write, is_known = output.split()
    before, during, after = map(tables_in, contents)
    assert during == before
    assert [len(tables["participants"]) for tables in (before, after)] == [1, 2]
    assert [len(tables["evaluation"]) for tables in (before, after)] == [0, 6]
    assert (can_write, is_known) == ("read-only", "False")
