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
from django.db import DEFAULT_DB_ALIAS, models
from django.utils import timezone

from evaluation.models import EvaluationItem
from jedi_web import backup
from memorytest.models import MemoryRound
from studies.models import Participant, Task
from teaching.models import TeachingStep
from teaching.services import fit_earlier_sessions
from tests.deployment.release_site import BOTS, FOLDER, LINKS, SQL, STUDY
from tests.own_database import own_database
from tests.worker import Worker

RELEASES = sorted(FOLDER.glob("*.zip"))
TASKS: tuple[type[Task], ...] = (MemoryRound, TeachingStep, EvaluationItem)


@pytest.fixture(
    params=["upgraded", "restored", pytest.param("restored-postgres", marks=pytest.mark.faults)]
)
def way(request: pytest.FixtureRequest) -> str:
    """An upgrade of the release's own SQLite file, or its backup restored into either database."""
    return str(request.param)


@pytest.fixture(params=RELEASES, ids=lambda path: path.stem)
def release(
    request: Any, way: str, tmp_path: Path, settings: Any, django_db_blocker: Any
) -> Iterator[Path]:
    """Its backup, whose site is now of the newest version."""
    settings.JEDI_DATA_DIR = tmp_path
    url = ""
    if way == "restored-postgres":
        url = request.getfixturevalue("postgres").create_database(f"release-{request.param.stem}")
    if way == "upgraded":
        with (
            closing(sqlite3.connect(tmp_path / "db.sqlite3")) as new,
            ZipFile(request.param) as old,
        ):
            new.executescript(old.read(SQL).decode())
            old.extractall(tmp_path, [name for name in old.namelist() if name.startswith("files/")])
        for folder in (tmp_path / "files").iterdir():
            folder.rename(tmp_path / folder.name)
    with own_database(tmp_path, url, django_db_blocker):
        if way != "upgraded":
            call_command("restore", str(request.param), stdout=StringIO())
        call_command("migrate", verbosity=0)
        yield request.param


def stored(model: type[models.Model]) -> dict[int, dict[str, Any]]:
    """The rows as they are now, by number."""
    return {row["id"]: row for row in map(json.loads, backup.lines(model, DEFAULT_DB_ALIAS))}


def said(command: str, *arguments: str) -> str:
    output = StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()


def test_a_site_of_every_release_goes_on_and_loses_nothing(release, tmp_path):
    with backup.open_backup(release) as (archive, manifest):
        links = json.loads(archive.read(LINKS))
        saved = {
            table: [json.loads(line) for line in lines]
            for table, lines in backup.saved_rows(archive, manifest)
        }
    for model in backup.tables():
        table = model._meta.db_table
        if table in saved and model._meta.label not in backup.MADE_BY_MIGRATE:
            assert (table, model._base_manager.count()) == (table, manifest.rows[table])
    assert all(place.read_bytes() for place in manifest.files.values())
    for model in TASKS:
        now = stored(model)
        for row in saved[model._meta.db_table]:
            fixed = {name: row[name] for name in model.CHAINED}
            assert now[row["id"]].items() >= fixed.items()

    # As `prepare` does.
    fit_earlier_sessions()
    # The workers were here a moment ago.
    Participant.objects.filter(finished_at=None).update(last_seen_at=timezone.now())
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
