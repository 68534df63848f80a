"""Back-up and restore: taken while workers answer, brought into an empty place on the other database."""

import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from threading import Event

import pytest
from django.core.management import CommandError, call_command

from jedi_web.backup.archive import BadBackup
from jedi_web.backup.services import place_of
from tests.site import Site
from tests.worker import Worker

STAGES = ["consent", "memory", "teaching", "evaluation"]


@pytest.fixture
def other_place(site, postgres, tmp_path) -> Site:
    """An empty place on the database that the site does not use."""
    url = "" if site.database_url else postgres.create_database(f"restored_{tmp_path.name}")
    folder = tmp_path / "data"
    environment = site.environment | {"DATABASE_URL": url, "JEDI_DATA_DIR": str(folder)}
    return replace(site, data_dir=folder, database_url=url, environment=environment)


@contextmanager
def answering(workers: list[Worker], newcomer: Callable[[], Worker]):
    """The workers, and newcomers in the place of those who are done, answer for as long as the context lasts."""
    over = Event()

    def go_on(worker: Worker) -> None:
        while not over.is_set():
            if worker.task()["kind"] == "done":
                worker = newcomer()
            worker.answer_current()

    with ThreadPoolExecutor(len(workers)) as threads:
        running = [threads.submit(go_on, worker) for worker in workers]
        try:
            yield
        finally:
            over.set()
    for thread in running:
        thread.result()


@pytest.mark.parametrize(
    "site", ["sqlite", pytest.param("postgres", marks=pytest.mark.faults)], indirect=True
)
def test_a_site_comes_back_on_the_other_database_and_its_sessions_go_on(
    site, other_place, tmp_path
):
    slug = site.make_study(evaluation_size=20)

    def newcomer() -> Worker:
        return Worker(slug, site.client())

    busy, resting = ([newcomer() for _ in STAGES] for _ in range(2))
    for workers in (busy, resting):
        for worker, stage in zip(workers, STAGES, strict=True):
            worker.go_to(stage)
    backup = tmp_path / "site.zip"

    with answering(busy, newcomer):
        site.python("manage.py", "backup", str(backup))
    resting[-1].answer_current()
    other_place.python("manage.py", "restore", str(backup))

    assert "holds the same rows" in other_place.python("manage.py", "verify", str(backup))
    with pytest.raises(RuntimeError, match=r"Tables that differ from this site: .*participant"):
        site.python("manage.py", "verify", str(backup))
    tokens = [worker.token for worker in resting]
    assert other_place.python("-m", "tests.finish_sessions", *tokens).split() == ["done"] * 4
    with pytest.raises(RuntimeError, match=r"in use: .* have rows. Restore into an empty one"):
        other_place.python("manage.py", "restore", str(backup))


@pytest.fixture
def backup(db, tmp_path, settings):
    """A small backup, and an empty data folder."""
    settings.JEDI_DATA_DIR = tmp_path / "data"
    file = tmp_path / "site.zip"
    call_command("backup", str(file), stdout=StringIO())
    return file


def test_a_backup_is_for_its_owner_only_and_never_half_there(backup, tmp_path):
    assert backup.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [backup]
    with pytest.raises(CommandError, match=r"exists\. Name a new file"):
        call_command("backup", str(backup))


def with_part(backup, part, content):
    """The backup with one part that says something else."""
    copy = backup.with_name("changed.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(copy, "w") as new:
        for name in {*old.namelist(), part}:
            new.writestr(name, content if name == part else old.read(name))
    return copy


@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        ("rows/auth_user.jsonl", b"{}", r"damaged: rows/auth_user\.jsonl"),
        ("manifest.json", b"{}", "no manifest"),
        (
            "manifest.json",
            b'{"software":"9","created_at":"","migrations":[],"format":9}',
            "format 9",
        ),
        (
            "manifest.json",
            b'{"software":"0.0.1","created_at":"","migrations":["studies.0001"],"format":1}',
            r"made by JEDI Web 0\.0\.1 with other tables",
        ),
    ],
)
def test_a_backup_that_cannot_be_used_is_refused_with_the_reason(backup, part, content, problem):
    with pytest.raises(CommandError, match=problem):
        call_command("restore", str(with_part(backup, part, content)))


def test_a_backup_that_was_cut_off_or_is_missing_is_refused(backup):
    backup.write_bytes(backup.read_bytes()[:-2000])
    for command in ("restore", "verify"):
        with pytest.raises(CommandError, match="cut off"):
            call_command(command, str(backup))
        with pytest.raises(CommandError, match="cannot be read"):
            call_command(command, str(backup.with_name("missing.zip")))


@pytest.mark.parametrize("part", ["files/../outside", "files//etc/passwd", "files/static/x.js"])
def test_no_part_of_a_backup_is_written_outside_its_folders(part):
    with pytest.raises(BadBackup, match="does not belong"):
        place_of(part)
