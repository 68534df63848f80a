"""The browser tests run beside all others: both decide how the run ends, and both end when it is ended early."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests import site
from tests.own_database import filled
from tests.processes import until
from tests.side_by_side import BROWSER, FIRST_TRY, PYTEST, REST, SECOND_TRY
from tests.site import ROOT, SHARED

RUN = (
    "import json, sys; from tests.side_by_side import run; sys.exit(run(*json.loads(sys.argv[1])))"
)
# Meets the other part, so that neither ends before the other has begun.
PART = """
import sys
from pathlib import Path
from tests.processes import until

name, other, code = sys.argv[1:]
Path(name).touch()
until(Path(other).exists)
print(f"{name} begins")
print(f"{name} fails" if int(code) else f"{name} passes")
Path(f"{name} is over").touch()
sys.exit(int(code))
"""
# Has seen both parts end before it begins.
SECOND = """
import sys
from pathlib import Path

assert Path("rest is over").exists() and Path("browsers is over").exists()
print("second try")
sys.exit(int(sys.argv[1]))
"""
# Cleans up when it is interrupted, as pytest does.
ENDLESS = """
import sys, threading
from pathlib import Path

try:
    Path(sys.argv[1]).touch()
    threading.Event().wait(60)
except KeyboardInterrupt:
    Path(f"{sys.argv[1]} cleaned up").touch()
    raise
"""


def python(*arguments: str) -> list[str]:
    return [sys.executable, "-c", *arguments]


def start(folder: Path, *commands: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        python(RUN, json.dumps(commands)),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("rest", "first", "second", "code"),
    [(0, 0, 9, 0), (1, 0, 9, 1), (0, 1, 0, 0), (0, 1, 1, 1), (1, 1, 0, 1), (1, 1, 1, 1)],
)
def test_the_run_passes_when_the_rest_does_and_the_browser_tests_at_one_of_two_tries(
    rest: int, first: int, second: int, code: int, tmp_path: Path
) -> None:
    parts = start(
        tmp_path,
        python(PART, "rest", "browsers", str(rest)),
        python(PART, "browsers", "rest", str(first)),
        python(SECOND, str(second)),
    )
    said = parts.communicate()[0].splitlines()
    assert parts.returncode == code
    assert said == [
        "rest begins",
        "rest fails" if rest else "rest passes",
        "browsers begins",
        "browsers fails" if first else "browsers passes",
        *(["second try"] if first else []),
    ]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_both_parts_clean_up_when_the_run_is_ended_early(
    ending: signal.Signals, tmp_path: Path
) -> None:
    names = ["rest", "browsers"]
    parts = start(tmp_path, *(python(ENDLESS, name) for name in names), python(SECOND, "0"))
    until(lambda: all((tmp_path / name).exists() for name in names))
    parts.send_signal(ending)
    said = parts.communicate()[0]
    assert parts.returncode == 128 + ending
    assert all((tmp_path / f"{name} cleaned up").exists() for name in names)
    assert "second try" not in said


def test_all_parts_share_a_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    tell = python(
        f"import os; print(os.environ[{SHARED!r}], os.path.isdir(os.environ[{SHARED!r}]))"
    )
    fail = [*tell[:-1], f"{tell[-1]}; raise SystemExit(1)"]
    said = start(tmp_path, tell, fail, tell).communicate()[0].splitlines()
    assert len(said) == 3
    ((folder, was_there),) = {tuple(line.split()) for line in said}
    assert was_there == "True"
    assert not Path(folder).exists()


def test_what_processes_share_is_made_once_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path] = []

    def prepare_at_the_second_try(place: str) -> Path:
        tried.append(Path(place, str(len(tried))))
        tried[-1].mkdir()
        if len(tried) == 1:
            raise RuntimeError("no migration")
        (tried[-1] / "db").touch()
        return tried[-1]

    monkeypatch.setattr(site, "prepare_in", prepare_at_the_second_try)
    with pytest.raises(RuntimeError, match="no migration"):
        site.prepared_among_processes(tmp_path)
    folders = site.at_once([lambda: site.prepared_among_processes(tmp_path)] * 4)
    assert folders == [tmp_path / "prepared"] * 4
    assert (tmp_path / "prepared" / "db").exists()
    assert len(tried) == 2


def test_a_database_in_memory_begins_with_the_tables_of_a_prepared_site_and_with_nobody(
    tmp_path: Path,
) -> None:
    prepared = tmp_path / "db.sqlite3"
    with closing(sqlite3.connect(prepared)) as made, made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE auth_user (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)")
        made.execute("CREATE TABLE django_migrations (name TEXT)")
        made.execute("INSERT INTO auth_user (name) VALUES ('researcher')")
        made.execute("INSERT INTO django_migrations VALUES ('0001_initial')")
    name = f"file:{tmp_path.name}?mode=memory&cache=shared"
    with filled(name, prepared), closing(sqlite3.connect(name, uri=True)) as memory, memory:
        assert memory.execute("SELECT * FROM django_migrations").fetchall() == [("0001_initial",)]
        memory.execute("INSERT INTO auth_user (name) VALUES ('first')")
        assert memory.execute("SELECT * FROM auth_user").fetchall() == [(1, "first")]
    assert list(tmp_path.iterdir()) == [prepared]


def test_the_second_try_remembers_what_the_first_wrote_and_nobody_else_writes_there() -> None:
    assert FIRST_TRY[: len(BROWSER)] == SECOND_TRY[: len(BROWSER)] == BROWSER
    (memory,) = (option for option in BROWSER if option.startswith("cache_dir="))
    assert memory not in REST


def test_every_test_is_in_one_of_the_two_parts() -> None:
    place = REST.index(PYTEST[0])
    assert REST[place : place + len(PYTEST)] == BROWSER[: len(PYTEST)] == PYTEST
    assert "--ignore=tests/browser" in REST
    assert "tests/browser" in BROWSER
