"""One server to a data folder on SQLite, and one `prepare` at a time."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from jedi_web.data_folder import DataFolderInUse, lock_for_prepare, lock_for_server
from tests.site import ROOT, Site, clean_environment, free_port


def test_a_folder_is_free_again_when_its_holder_is_gone(tmp_path):
    folder = tmp_path / "made on the way"
    with (
        lock_for_server(folder),
        pytest.raises(DataFolderInUse, match=r"process \d+\). Stop that server"),
    ):
        lock_for_server(folder)
    with lock_for_server(folder), lock_for_prepare(folder):
        pass


def test_a_second_server_on_the_folder_is_refused_with_the_remedy(sqlite_site):
    second = subprocess.run(
        [sys.executable, "-m", "gunicorn", "-c", "jedi_web/gunicorn_conf.py", "jedi_web.wsgi"],
        cwd=ROOT,
        env=sqlite_site.environment | {"PORT": str(free_port())},
        capture_output=True,
        text=True,
    )
    assert second.returncode != 0
    assert f"(process {sqlite_site.server_pid}). Stop that server first" in second.stderr
    assert "Traceback" not in second.stderr
    assert sqlite_site.client().get("/healthz").status_code == 200


@pytest.mark.faults
def test_two_who_prepare_an_empty_folder_at_once_both_succeed(tmp_path):
    site = Site(0, tmp_path, "", clean_environment(tmp_path))
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(site.python, "manage.py", "prepare", "--no-demo") for _ in range(2)]
    assert all("Sign in as a researcher" in one.result() for one in both)
