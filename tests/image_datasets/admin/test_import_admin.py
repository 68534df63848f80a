"""The import form and page: hostile files are refused by name, and only those who may see or do something."""

import io
import re
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from image_datasets.imports import services
from image_datasets.models import Import
from tests.image_datasets.drawn_files import plain
from tests.image_datasets.made_imports import (
    carry_out_orders,
    folders_of,
    made_import,
    nothing_was_made,
    npz_files,
    source_folder,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir", "no_extra")]

ADD = "/admin/datasets/import/add/"


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    return entry


def good_zip(more=()):
    return zipped(npz_files() | dict(more))


# What is dropped, under its name: who is named in the answer, and what is to be done.
HOSTILE = {
    "a bomb": (
        lambda: zipped({"cat/zeros.png": bytes(300 << 20)}),
        "cat/zeros.png",
        "Leave it out",
    ),
    "a way out": (lambda: zipped({"../../evil.png": plain()}), "../../evil.png", "Rename it"),
    "a root": (lambda: zipped({"/etc/evil.png": plain()}), "/etc/evil.png", "Rename it"),
    "a link": (lambda: zipped({link("cat/a.png"): b"/etc/passwd"}), "cat/a.png", "zip again"),
    "a nest": (lambda: zipped({"cat/more.zip": good_zip()}), "cat/more.zip", "Unpack it"),
    "a long name": (lambda: zipped({"cat/" + "n" * 5000 + ".png": plain()}), "nnn", "Rename it"),
    "twins": (lambda: zipped({"cat/a.png": plain(), "cat/A.png": plain()}), "cat/", "Rename one"),
    "a stump": (lambda: good_zip()[:-40], "dropped.zip", "zip again"),
    "nothing inside": (lambda: zipped({}), "dropped.zip", "zip again"),
    "one picture": (lambda: zipped({"a.png": plain()}), "dropped.zip", "one folder for each"),
    "an empty image": (lambda: good_zip({"round/003.png": b""}), "round/003.png", "remove it"),
    "a page as image": (
        lambda: good_zip({"round/003.png": b"<html><script>alert(1)</script>"}),
        "round/003.png",
        "save it as JPEG or PNG",
    ),
    "a name with a tag": (
        lambda: zipped({"<script>alert(1)<!--/../a.png": plain()}),
        "&lt;script&gt;",
        "Rename it",
    ),
}


def dropped(client, name, content, **fields):
    form = {"name": "Shapes", "extractor": "best", "duplicates": "keep_together"} | fields
    return client.post(ADD, form | {"archive": SimpleUploadedFile(name, content)}, follow=True)


def all_files(folder):
    return {path for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_upload_is_refused_by_name(kind, researcher, tmp_path, data_dir):
    content, named, remedy = HOSTILE[kind]
    before = all_files(tmp_path)
    reply = dropped(researcher, "dropped.zip", content())
    assert reply.status_code == 200
    job = Import.objects.get()
    carry_out_orders()
    page = researcher.get(f"/admin/datasets/import/{job.pk}/change/")
    assert page.status_code == 200
    shown = re.search(r'<div class="errornote">(.*?)</div>', page.content.decode(), re.DOTALL)[1]
    assert named in shown
    assert remedy in shown
    assert "<script>" not in shown
    assert nothing_was_made()
    inside = data_dir / "imports" / job.key
    assert all(path.is_relative_to(inside) for path in all_files(tmp_path) - before)
    services.discard(Import.objects.get())
    assert all_files(tmp_path) == before


NO_ZIPS = {
    "empty.zip": (lambda: b"", "The file is empty. Make the zip again"),
    "photo.jpg": (plain, "It is not a zip. Zip the folder"),
    "two-in-one.zip": (lambda: b"GIF89a" + good_zip(), "It is not a zip. Zip the folder"),
}


@pytest.mark.parametrize("name", NO_ZIPS)
def test_what_cannot_be_a_zip_is_refused_on_the_form(name, researcher):
    content, message = NO_ZIPS[name]
    page = dropped(researcher, name, content())
    assert page.status_code == 200
    assert f"{name}: {message}" in page.content.decode()
    assert not Import.objects.exists()
    assert folders_of("imports") == set()


@pytest.mark.django_db(transaction=True)
def test_the_name_of_an_upload_leads_nowhere(researcher, data_dir):
    name = "../../" + "x" * 400 + ".zip"
    dropped(researcher, name, good_zip())
    job = Import.objects.get()
    assert len(job.file_name) <= 200
    assert "/" not in job.file_name
    assert [path.name for path in all_files(data_dir)] == ["source.zip"]
    assert Path(job.source).parent == job.folder


@pytest.mark.django_db(transaction=True)
def test_a_full_disk_is_told_and_leaves_nothing(researcher, monkeypatch):
    def full(self, mode):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    page = dropped(researcher, "images.zip", good_zip())
    assert "images.zip: The server could not keep the file (No space left on device)" in (
        page.content.decode().replace("&#x27;", "'")
    )
    assert Import.objects.get().state == Import.State.FAILED
    assert folders_of("imports") == set()


@pytest.fixture
def job(tmp_path):
    return made_import(source_folder(tmp_path / "images", npz_files()))


@pytest.fixture
def pages(job):
    return {
        "form": ADD,
        "list": "/admin/datasets/import/",
        "page": f"/admin/datasets/import/{job.pk}/change/",
        "state": reverse("admin:import_state", args=[job.pk]),
        "order": reverse("admin:import_order", args=[job.pk, "cancel"]),
        "delete": f"/admin/datasets/import/{job.pk}/delete/",
    }


def staff(*permissions, **options):
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    # What is theirs, so that nothing but rights can be missing.
    Import.objects.update(created_by=user)
    client = Client(**options)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_strangers_are_sent_to_the_log_in(pages, client):
    for address in pages.values():
        for reply in (client.get(address), client.post(address)):
            assert reply.status_code == 302
            assert reply["Location"].startswith("/admin/login/")
    assert Import.objects.get().state == Import.State.WAITING


def test_opening_the_form_renews_the_sign_in_for_longer_than_an_upload_takes(researcher):
    session = Session.objects.get()
    Session.objects.update(expire_date=timezone.now() + timedelta(minutes=1))
    assert researcher.get(ADD).status_code == 200
    left = Session.objects.get(pk=session.pk).expire_date - timezone.now()
    assert left > timedelta(days=13)


def test_staff_without_permission_see_and_do_nothing(pages):
    client = staff()
    for name, address in pages.items():
        assert client.post(address).status_code == 403, name
        if name != "order":
            assert client.get(address).status_code == 403, name
    assert dropped(client, "images.zip", good_zip()).status_code == 403
    assert Import.objects.get().state == Import.State.WAITING


def test_those_who_may_only_look_can_watch_but_not_steer(pages):
    client = staff("view_import")
    assert client.get(pages["page"]).status_code == 200
    assert client.get(pages["state"]).json()["state"] == "waiting"
    assert client.post(pages["order"]).status_code == 403
    assert client.get(pages["form"]).status_code == 403
    assert client.post(pages["delete"], {"post": "yes"}).status_code == 403
    assert Import.objects.get().state == Import.State.WAITING


def test_a_forged_request_is_refused(pages):
    client = staff("view_import", "add_import", "delete_import", enforce_csrf_checks=True)
    assert dropped(client, "images.zip", good_zip()).status_code == 403
    assert client.post(pages["order"]).status_code == 403
    assert client.post(pages["delete"], {"post": "yes"}).status_code == 403
    assert Import.objects.get().state == Import.State.WAITING


def test_those_who_may_import_can_cancel(pages):
    client = staff("view_import", "add_import")
    assert client.post(pages["order"]).status_code == 302
    assert Import.objects.get().state == Import.State.CANCELLED


def test_an_order_is_never_given_by_looking(pages, researcher):
    assert researcher.get(pages["order"]).status_code == 405
    assert Import.objects.get().state == Import.State.WAITING


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("explode", "There is no such action."),
        ("choose", "Choose one of the kinds of features"),
        ("resume", "does not need to be resumed"),
        ("skip", "does not need to be resumed"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(order, message, job, researcher):
    reply = researcher.post(reverse("admin:import_order", args=[job.pk, order]), follow=True)
    assert message in reply.content.decode()
    assert Import.objects.get().state == Import.State.WAITING


def test_features_that_were_not_measured_cannot_be_chosen(job, researcher):
    Import.objects.update(
        state=Import.State.CHOOSING,
        findings={"candidates": [{"name": "deep", "title": "Deep", "missing": "make deep"}]},
    )
    address = reverse("admin:import_order", args=[job.pk, "choose"])
    reply = researcher.post(address, {"extractor": "deep"}, follow=True)
    assert "Choose one of the kinds of features" in reply.content.decode()
    assert Import.objects.get().state == Import.State.CHOOSING


def test_an_import_that_is_not_there_is_not_found(researcher):
    assert researcher.get(reverse("admin:import_state", args=[99])).status_code == 404
    assert researcher.post(reverse("admin:import_order", args=[99, "cancel"])).status_code == 404


def test_an_import_is_removed_unless_it_is_worked_on(
    pages, job, researcher, django_capture_on_commit_callbacks
):
    assert job.claim()
    assert researcher.post(pages["delete"], {"post": "yes"}).status_code == 403
    Import.objects.update(state=Import.State.CANCELLED)
    job.folder.mkdir(parents=True)
    with django_capture_on_commit_callbacks(execute=True):
        assert researcher.post(pages["delete"], {"post": "yes"}).status_code == 302
    assert not Import.objects.exists()
    assert folders_of("imports") == set()


def test_the_list_shows_how_far_each_import_is(pages, researcher, django_assert_max_num_queries):
    Import.objects.update(progress=0.42)
    with django_assert_max_num_queries(8):
        assert "42 %" in researcher.get(pages["list"]).content.decode()
