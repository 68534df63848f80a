"""Whose rows are in a file: those who count, or everyone; and what the datasheet tells of the others."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.exports.files import (
    Selection,
    archive_chunks,
    archive_name,
    gain_name,
    table_chunks,
    table_name,
)
from analysis.exports.tables import TABLES
from studies.models import AuditEntry, Participant, SessionEvent, Study
from studies.models.versions import configuration_hash
from tests.builders import make_dataset, make_study
from tests.people import study_address, text_of
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made_study(make_once) -> Study:
    return make_once(make_study_of_all_kinds)


# The desk's tables say whom researchers excluded and why; tests/desk/downloads looks into them.
ABOUT_THE_EXCLUDED = ("flags", "exclusions", "payments")


def make_study_of_all_kinds() -> Study:
    """Somebody who counts, somebody who is excluded, a pilot and a rehearsing bot, all in the test."""
    study = make_study(arms="rt", dataset=make_dataset(teaching=12, evaluation=8))
    fields = ({}, {"is_excluded": True}, {"purpose": "pilot"}, {"purpose": "rehearsal"})
    for number, changes in enumerate(fields):
        worker = Worker(study)
        worker.go_to("evaluation")
        Participant.objects.with_token(worker.token).update(**changes, ticket=number)
        SessionEvent.objects.create(participant=worker.participant, kind="opened", position=1)
    return study


def rows_of(study: Study, table: str, **options: Any) -> list[dict[str, str]]:
    text = b"".join(table_chunks(Selection(study, **options), table, "csv")).decode()
    return list(csv.DictReader(io.StringIO(text)))


def datasheet_of(study: Study, **options: Any) -> dict:
    content = b"".join(archive_chunks(Selection(study, **options)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return json.loads(archive.read("datasheet.json"))


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ABOUT_THE_EXCLUDED])
def test_only_those_who_count_are_in_a_file_unless_everyone_is_asked_for(study, table):
    counted = {(row["purpose"], row["is_excluded"]) for row in rows_of(study, table)}
    assert counted == {("live", "0")}
    everyone = {
        (row["purpose"], row["is_excluded"]) for row in rows_of(study, table, everyone=True)
    }
    assert everyone == {("live", "0"), ("live", "1"), ("pilot", "0"), ("rehearsal", "0")}
    assert len(rows_of(study, table, everyone=True)) == 4 * len(rows_of(study, table))


def test_the_name_of_a_file_says_that_everyone_is_in_it():
    study = make_study(slug="cats")
    assert (
        table_name(Selection(study, everyone=True), "events", "csv") == "cats-events-everyone.csv"
    )
    both = Selection(study, identifiable=True, everyone=True)
    assert table_name(both, "participants", "csv") == "cats-participants-everyone-identifiable.csv"
    assert archive_name(both) == "cats-export-everyone-identifiable.zip"


def test_the_datasheet_counts_who_is_excluded_and_who_is_left_out(study):
    sheet = datasheet_of(study)
    assert (sheet["everyone"], sheet["participants"]["total"]) == (False, 1)
    assert sheet["people"] == {
        "joined": {"live": 2, "pilot": 1, "preview": 0, "rehearsal": 1},
        "excluded": {"live": 1, "pilot": 0, "preview": 0, "rehearsal": 0},
        "left_out": 3,
    }
    everyone = datasheet_of(study, everyone=True)
    assert (everyone["everyone"], everyone["participants"]["total"]) == (True, 4)
    assert everyone["people"] == sheet["people"] | {"left_out": 0}


def test_the_datasheet_has_every_version_with_its_hash(study):
    study.cold_start = 4
    study.save()
    Worker(study)
    sheet = datasheet_of(study, version="all")
    assert [version["number"] for version in sheet["versions"]] == [1, 2]
    assert [v["configuration"]["cold_start"] for v in sheet["versions"]] == [3, 4]
    for version in sheet["versions"]:
        assert version["configuration_hash"] == configuration_hash(version["configuration"])
    assert sheet["participants"]["by_version"] == {"1": 1, "2": 1}
    rows = rows_of(study, "participants", version="all")
    hashes = {row["configuration_hash"] for row in rows}
    assert hashes == {version["configuration_hash"] for version in sheet["versions"]}


def make_second_version(study: Study, **settings: Any) -> None:
    """Changes the settings, and lets somebody join with them and finish."""
    for name, value in settings.items():
        setattr(study, name, value)
    study.save()
    Worker(study).go_to("done")


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ABOUT_THE_EXCLUDED])
def test_a_file_has_one_test_unless_somebody_decides_to_pool_versions(study, table):
    make_second_version(study, evaluation_size=4)

    def versions(**options: Any) -> set[str]:
        return {row["study_version"] for row in rows_of(study, table, **options)}

    # Nothing was reported about the page of the second.
    newest = set() if table == "events" else {"2"}
    assert versions() == versions(everyone=True) == newest
    assert versions(version="1") == {"1"}
    assert versions(version="all") == {"1"} | newest


def test_names_and_datasheet_say_which_versions_are_in_the_files(study):
    make_second_version(study, evaluation_size=4)
    assert archive_name(Selection(study)) == f"{study.slug}-export-version-2.zip"
    assert gain_name(Selection(study, version="1")) == f"{study.slug}-teaching-gain-version-1.csv"
    pooled = Selection(study, version="all")
    name = f"{study.slug}-memory-pooled-versions-1-2.csv"
    assert table_name(pooled, "memory", "csv") == name
    sheet = datasheet_of(study)
    assert sheet["versions_in_files"] == {
        "numbers": [2], "left_out": {"1": 2}, "is_pooled": False, "differing_settings": [],
    }  # fmt: skip
    assert (sheet["participants"]["total"], sheet["people"]["left_out"]) == (1, 4)
    assert datasheet_of(study, version="all")["versions_in_files"] == {
        "numbers": [1, 2], "left_out": {}, "is_pooled": True,
        "differing_settings": ["evaluation images"],
    }  # fmt: skip


def test_versions_that_differ_in_nothing_that_matters_are_one_file(study):
    make_second_version(study, consent="Do you agree? Really?")
    assert archive_name(Selection(study)) == f"{study.slug}-export.zip"
    assert len(rows_of(study, "participants")) == 2


def test_the_page_of_downloads_says_which_versions_it_offers(researcher, study):
    make_second_version(study, evaluation_size=4)
    page = text_of(researcher, study_address(study, "downloads/"))
    assert "This page is about version 2 only" in page
    assert "2 (version 1)" in page
    pooled = text_of(researcher, study_address(study, "downloads/?version=all"))
    assert "are pooled by choice, although they differ in: evaluation images" in pooled
    assert 'downloads/teaching-gain.csv?version=all"' in pooled
    for file in ("teaching-gain.csv", "memory.csv", "everything.zip", ""):
        unknown = study_address(study, f"downloads/{file}?version=9")
        assert researcher.get(unknown).status_code == 404


def test_the_commands_take_versions_and_a_pooled_file_says_so_in_its_name(study, tmp_path):
    make_second_version(study, evaluation_size=4)
    screen = io.StringIO()
    call_command("export_gain", study.slug, "--versions", "1", stdout=screen)
    assert len(screen.getvalue().splitlines()) == 2
    for command in (["export_gain"], ["export_study", "--table", "memory"]):
        name, *options = command
        with pytest.raises(CommandError, match="There is no version 'seven'"):
            call_command(name, study.slug, *options, "--versions", "seven")
        with pytest.raises(CommandError, match=r"must say so: --output .*-pooled-versions-1-2"):
            quiet = str(tmp_path / "quiet.csv")
            call_command(name, study.slug, *options, "--versions", "all", "--output", quiet)
        call_command(name, study.slug, *options, "--versions=all", "--output", str(tmp_path))
    assert len(list(tmp_path.glob("*-pooled-versions-1-2.csv"))) == 2


def test_the_datasheet_tells_the_pay_and_no_secret():
    study = make_study(
        reward="2.50", webhook_url="https://example.org/told", completion_code="C0DE"
    )
    sheet = datasheet_of(study)
    assert (sheet["study"]["reward"], sheet["study"]["currency"]) == (2.5, "GBP")
    text = json.dumps(sheet)
    for secret in (study.webhook_secret, study.webhook_url, "C0DE"):
        assert secret not in text


def test_the_page_switches_to_everyone_and_back(researcher, study):
    page = f"/admin/studies/study/{study.pk}/downloads/"
    plain = researcher.get(page).content.decode()
    assert "Analysis sample (1)" in plain
    assert "Not included: 1 (excluded), 1 (pilot), 1 (rehearsal)." in plain
    assert f'href="{page}?everyone=1"' in plain
    chosen = researcher.get(page, {"everyone": "1", "identifiable": "1"}).content.decode()
    assert f'href="{page}events.jsonl?everyone=1&amp;identifiable=1"' in chosen
    assert f'href="{page}?identifiable=1"' in chosen
    assert "Do not analyse them as results" in chosen
    reply = researcher.get(f"{page}memory.csv", {"everyone": "1"})
    assert f'"{study.slug}-memory-everyone.csv"' in reply["Content-Disposition"]
    rows = csv.DictReader(io.StringIO(b"".join(reply).decode()))
    assert {row["purpose"] for row in rows} == {"live", "pilot", "rehearsal"}


def test_what_is_written_at_the_command_line_is_on_record(study, tmp_path):
    call_command("export_study", study.slug, "--zip", "--everyone", f"--output={tmp_path}")
    call_command("export_study", study.slug, "--table=events", stdout=io.StringIO())
    call_command("export_gain", study.slug, stdout=io.StringIO())
    assert (tmp_path / f"{study.slug}-export-everyone.zip").is_file()
    entries = AuditEntry.objects.filter(study=study, action="export").order_by("pk")
    assert [(entry.actor_name, entry.detail) for entry in entries] == [
        ("command line", f"Wrote {study.slug}-export-everyone.zip."),
        ("command line", f"Wrote {study.slug}-events.csv."),
        ("command line", f"Wrote {study.slug}-teaching-gain.csv."),
    ]


def test_a_name_that_does_not_say_everyone_is_refused(study, tmp_path):
    place = tmp_path / "rows.csv"
    with pytest.raises(CommandError, match="events-everyone"):
        call_command(
            "export_study", study.slug, "--table=events", "--everyone", f"--output={place}"
        )
    assert not place.exists()
    assert not AuditEntry.objects.exists()
