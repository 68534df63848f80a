"""The stored version names the commit, wherever the software was installed from."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from studies import software
from studies.models import Participant
from studies.software import commit_of, software_version
from tests.builders import make_participant

ROOT = Path(__file__).resolve().parent.parent.parent
NOBODY = {
    f"GIT_{role}_{what}": "x@y.example"
    for role in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def git(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=clean | NOBODY,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("COMMIT", ".gitattributes"):
        shutil.copy(ROOT / name, folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Begin")
    git(folder, "tag", "v9")
    return folder


@pytest.fixture
def commit(checkout) -> str:
    return git(checkout, "rev-parse", "HEAD")[:12]


@pytest.fixture
def no_git(monkeypatch) -> None:
    monkeypatch.setattr(software, "DESCRIBE", ("no-such-program",))


def test_a_checkout_names_its_commit_and_whether_it_was_changed(checkout, commit):
    assert commit_of(checkout) == commit
    (checkout / ".gitattributes").write_text("")
    assert commit_of(checkout) == f"{commit}.dirty"


@pytest.mark.usefixtures("no_git")
def test_a_checkout_names_its_commit_without_git(checkout, commit, tmp_path):
    assert commit_of(checkout) == commit
    git(checkout, "pack-refs", "--all")
    assert commit_of(checkout) == commit
    git(checkout, "worktree", "add", "-q", "-b", "other", str(tmp_path / "worktree"))
    assert commit_of(tmp_path / "worktree") == commit
    git(checkout, "checkout", "-q", "--detach")
    assert commit_of(checkout) == commit


def test_a_container_has_enough_of_git_to_name_the_commit(checkout, commit, tmp_path):
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert ".git" in lines
    inside = tmp_path / "container"
    (inside / ".git").mkdir(parents=True)
    shutil.copy(checkout / "COMMIT", inside)
    for name in copied:
        if (checkout / name).is_dir():
            shutil.copytree(checkout / name, inside / name)
        elif (checkout / name).exists():
            shutil.copy(checkout / name, inside / name)
    assert commit_of(inside) == commit


def test_an_archive_names_its_commit(checkout, commit, tmp_path):
    git(checkout, "archive", "-o", str(tmp_path / "archive.zip"), "HEAD")
    shutil.unpack_archive(tmp_path / "archive.zip", tmp_path / "archive")
    assert not (tmp_path / "archive" / ".git").exists()
    assert commit_of(tmp_path / "archive") == commit


@pytest.mark.parametrize("content", ["", "gitdir: nowhere", "nonsense", "\udcff"])
def test_a_version_without_a_commit_is_no_failure(checkout, content):
    shutil.rmtree(checkout / ".git")
    assert commit_of(checkout) == ""
    (checkout / ".git").write_text(content, errors="surrogateescape")
    assert commit_of(checkout) == ""
    (checkout / "COMMIT").unlink()
    assert commit_of(checkout) == ""


def test_a_folder_inside_another_repository_has_no_commit(checkout):
    inside = checkout / "jedi"
    inside.mkdir()
    shutil.copy(checkout / "COMMIT", inside)
    assert commit_of(inside) == ""
    (inside / ".git").mkdir()
    assert commit_of(inside) == ""


@pytest.mark.django_db
def test_the_version_with_its_commit_is_stored_with_a_session():
    stored = make_participant().software_version
    assert stored == software_version()
    version, _, commit = stored.partition("+")
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    assert re.fullmatch(r"[0-9a-f]{12}(\.dirty)?", commit)
    longest = f"{version}+{'f' * software.DIGITS}.dirty"
    assert len(longest) <= Participant._meta.get_field("software_version").max_length
