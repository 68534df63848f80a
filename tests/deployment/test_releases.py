"""A site that a release wrote goes on under the newest version: no row is lost, and everybody comes to the end."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from evaluation.models import EvaluationItem
from jedi_web.backup import rows
from jedi_web.backup.archive import Manifest, open_archive
from jedi_web.backup.services import restore_files, saved_rows
from memorytest.models import MemoryRound
from studies.models import Participant, Task
from teaching.models import TeachingStep
from teaching.services import fit_earlier_sessions
from tests.deployment.release_site import BOTS, FOLDER, LINKS, SQL, STUDY
from tests.own_database import migrate, own_database
from tests.worker import Worker

RELEASES = sorted(FOLDER.glob("*.zip"))
TASKS: tuple[type[Task], ...] = (MemoryRound, TeachingStep, EvaluationItem)
Release = tuple[ZipFile, Manifest]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.faults)])
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=RELEASES, ids=lambda path: path.stem)
def release(
    request: Any, database: str, tmp_path: Path, settings: Any, django_db_blocker: Any
) -> Iterator[Release]:
    """Its rows in tables as they were then, and its files."""
    settings.JEDI_DATA_DIR = tmp_path
    url = ""
    with open_archive(request.param) as (archive, manifest):
        restore_files(archive, manifest)
        if database == "sqlite":
            with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as new:
                new.executescript(archive.read(SQL).decode())
        else:
            server = request.getfixturevalue("postgres")
            url = server.create_database(f"release-{request.param.stem}")
        with own_database(tmp_path, url, django_db_blocker):
            if url:
                rows.load(saved_rows(archive, manifest), tables_of(manifest))
            yield archive, manifest


def tables_of(manifest: Manifest) -> Any:
    """Makes the tables of a release; returns the models that it had."""
    newest = dict(sorted(name.split(".", 1) for name in manifest.migrations))
    return MigrationExecutor(connection).migrate(list(newest.items())).apps


def stored(model: type[models.Model]) -> dict[int, dict[str, Any]]:
    """The rows as they are now, by number."""
    return {row["id"]: row for row in map(json.loads, rows.lines(model, DEFAULT_DB_ALIAS))}


def said(command: str, *arguments: str) -> str:
    output = StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()


def test_a_site_of_every_release_goes_on_and_loses_nothing(release, tmp_path):
    archive, manifest = release
    assert rows.migrations(DEFAULT_DB_ALIAS) == manifest.migrations
    migrate()

    kept = [model for model in rows.tables() if model._meta.db_table in manifest.rows]
    assert {model._meta.db_table: model._base_manager.count() for model in kept} == manifest.rows
    saved = {table: [json.loads(line) for line in lines] for table, lines in saved_rows(*release)}
    for model in TASKS:
        now = stored(model)
        for row in saved[model._meta.db_table]:
            fixed = {name: row[name] for name in model.CHAINED}
            assert now[row["id"]].items() >= fixed.items()

    # As `prepare` does.
    fit_earlier_sessions()
    # The workers were here a moment ago.
    Participant.objects.filter(finished_at=None).update(last_seen_at=timezone.now())
    links = json.loads(archive.read(LINKS))
    for link in links.values():
        Worker.resuming(link).go_to("done")
    people = Participant.objects.filter(purpose="live")
    assert set(people.values_list("stage", flat=True)) == {"done"}
    assert people.filter(beta_likelihood=None).count() == 0
    answers = sum(model._base_manager.exclude(answered_at=None).count() for model in TASKS)
    everybody = len(links) + BOTS
    assert f"answers of {everybody} participants are as they were given" in said("verify_log")
    for code in Participant.objects.values_list("code", flat=True):
        assert "choices match" in said("replay_session", code)
    for table in ("memory", "teaching", "evaluation", "participants"):
        said("export_study", STUDY, "--table", table, "--everyone", "--output", str(tmp_path))
    lines = [len(path.read_text().splitlines()) - 1 for path in tmp_path.glob("*.csv")]
    assert sum(lines) == answers + everybody
