"""Back-up and restore: taken while workers answer, brought into an empty place on the other database."""

import json
import stat
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO
from threading import Event

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tests.own_database import own_database
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


@pytest.mark.django_db
def test_only_the_newest_backups_of_a_folder_are_kept(tmp_path, monkeypatch):
    other = tmp_path / "site.zip"
    other.touch()
    for hour in range(4):
        moment = datetime(2026, 11, 17, hour, tzinfo=UTC)
        monkeypatch.setattr(timezone, "now", lambda moment=moment: moment)
        call_command("backup", str(tmp_path), "--keep", "2", stdout=StringIO())
    names = ["jedi-20261117T020000Z.zip", "jedi-20261117T030000Z.zip", "site.zip"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for arguments in ((tmp_path, "--keep", "0"), (other, "--keep", "2")):
        with pytest.raises(CommandError, match="--keep needs a folder"):
            call_command("backup", *map(str, arguments))


def rewritten(backup, parts, manifest=None, links=()):
    """The backup with these parts added or replaced, and with these fields of its manifest; links are symbolic ones."""
    copy = backup.with_name("changed.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(copy, "w") as new:
        said = json.loads(old.read("manifest.json"))
        for name in old.namelist():
            if name != "manifest.json" and name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            info = zipfile.ZipInfo(name)
            if name in links:
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            new.writestr(info, content)
        if manifest is not None:
            said |= manifest
            new.writestr("manifest.json", json.dumps(said))
    return copy


def with_files(backup, files, links=()):
    """The backup with these files, and with their hashes, as only an attacker would write it."""
    with zipfile.ZipFile(backup) as archive:
        hashes = json.loads(archive.read("manifest.json"))["hashes"]
    hashes |= {part: sha256(content).hexdigest() for part, content in files.items()}
    return rewritten(backup, files, {"hashes": hashes}, links)


OTHER_RELEASE = {"software": "9", "migrations": ["studies.0001_initial", "studies.9999_later"]}


@pytest.mark.parametrize(
    ("parts", "manifest", "problem"),
    [
        ({"rows/auth_user.jsonl": b"{}"}, {}, r"damaged: rows/auth_user\.jsonl"),
        ({}, {"hashes": {}}, r"damaged: rows/"),
        ({}, {"hashes": {"files/secret_key": "0"}}, r"damaged: files/secret_key"),
        ({}, None, "no manifest"),
        ({"manifest.json": b"{}"}, None, "no manifest"),
        ({}, {"format": 9, "software": "9"}, r"format 9.* with JEDI Web 9\."),
        ({}, OTHER_RELEASE, "JEDI Web 9 made the backup with other tables"),
    ],
)  # fmt: skip
def test_a_backup_that_cannot_be_used_is_refused_with_the_reason(backup, parts, manifest, problem):
    with pytest.raises(CommandError, match=problem):
        call_command("restore", str(rewritten(backup, parts, manifest)))


def test_a_backup_of_a_later_release_is_refused_by_an_empty_database(
    backup, tmp_path, django_db_blocker
):
    later = rewritten(backup, {}, OTHER_RELEASE)
    with (
        own_database(tmp_path, "", django_db_blocker),
        pytest.raises(CommandError, match=r"does not know \(studies\.9999_later\)"),
    ):
        call_command("restore", str(later))


def test_a_backup_of_another_release_is_whole_but_not_compared(backup):
    with pytest.raises(CommandError, match="is whole, but JEDI Web 9"):
        call_command("verify", str(rewritten(backup, {}, OTHER_RELEASE)))


def test_a_backup_that_was_cut_off_or_is_missing_is_refused(backup):
    backup.write_bytes(backup.read_bytes()[:-2000])
    for command in ("restore", "verify"):
        with pytest.raises(CommandError, match="cut off"):
            call_command(command, str(backup))
        with pytest.raises(CommandError, match="cannot be read"):
            call_command(command, str(backup.with_name("missing.zip")))


UNSAFE = [
    "files/../outside",
    "files/datasets/../../outside",
    "files/datasets/..",
    "files//etc/passwd",
    "files/datasets//../../outside",
    "files/./../outside",
    "files/",
    "files/.",
    "files/datasets",
    "files/imports/",
    "files/secret_key/below",
    "files/static/x.js",
    "files/db.sqlite3",
    "files/datasets-other/x",
    "files/C:/windows",
    "files/C:\\windows",
    "files/datasets\\..\\..\\outside",
    "files/datasets/..\\..\\outside",
    "files/\\\\server\\share",
    "files/datasets/a\0b",
]


@pytest.mark.parametrize("command", ["restore", "verify"])
@pytest.mark.parametrize("part", UNSAFE)
def test_no_file_of_a_backup_leaves_the_folders_of_a_site(backup, tmp_path, command, part):
    with zipfile.ZipFile(backup) as archive:
        hashes = json.loads(archive.read("manifest.json"))["hashes"]
    hostile = rewritten(backup, {}, {"hashes": {"files/datasets/a/x": "0"} | hashes | {part: "0"}})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CommandError, match="does not belong"):
        call_command(command, str(hostile))
    assert sorted(tmp_path.rglob("*")) == before


def restored(hostile, settings):
    """Into the empty database of the test, and a new folder."""
    settings.JEDI_DATA_DIR = hostile.with_name("new")
    call_command("restore", str(hostile), stdout=StringIO())
    return settings.JEDI_DATA_DIR


def test_a_symbolic_link_in_a_backup_becomes_a_file(backup, settings, tmp_path):
    (tmp_path / "outside").mkdir()
    files = {"files/datasets/link": str(tmp_path / "outside").encode(), "files/secret_key": b"key"}
    hostile = with_files(backup, files, links=["files/datasets/link"])
    folder = restored(hostile, settings)
    link = folder / "datasets/link"
    assert not link.is_symlink()
    assert link.read_bytes() == files["files/datasets/link"]
    assert (folder / "secret_key").stat().st_mode & 0o777 == 0o600
    assert call_command("verify", str(hostile), stdout=StringIO()) is None


def test_nothing_is_written_below_a_link_of_the_same_backup(backup, settings, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    link = {"files/datasets/link": str(outside).encode(), "files/datasets/link/x": b"hostile"}
    hostile = with_files(backup, link, links=["files/datasets/link"])
    with pytest.raises(CommandError, match="exists"):
        restored(hostile, settings)
    assert list(outside.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_parts_with_the_same_name_only_the_one_with_the_hash_is_restored(backup, settings):
    part, good = "files/imports/1/x", b"good"
    double = with_files(backup, {part: good})
    with zipfile.ZipFile(double, "a") as archive:
        archive.writestr(part, b"hostile")
    with pytest.raises(CommandError, match="damaged: files/imports/1/x"):
        restored(double, settings)
    assert not (settings.JEDI_DATA_DIR / "imports").exists()
    with zipfile.ZipFile(double, "a") as archive:
        archive.writestr(part, good)
    folder = restored(double, settings)
    assert (folder / "imports/1/x").read_bytes() == good


def test_a_file_that_is_there_already_is_not_replaced(backup, settings):
    place = settings.JEDI_DATA_DIR / "datasets/a"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"mine")
    with pytest.raises(CommandError, match=r"in use|exists already"):
        call_command("restore", str(with_files(backup, {"files/datasets/a": b"theirs"})))
    assert place.read_bytes() == b"mine"
