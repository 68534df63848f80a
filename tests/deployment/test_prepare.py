"""`manage.py prepare` collects the static files of the release that runs it."""

import os

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def test_after_a_rollback_the_older_files_are_served(settings, tmp_path):
    sheet, collected = tmp_path / "release" / "page.css", tmp_path / "collected"
    sheet.parent.mkdir()
    collected.mkdir()
    settings.STATICFILES_DIRS = [sheet.parent]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = collected
    manifest = {"BACKEND": "jedi_web.storage.ModuleManifestStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": manifest}

    def served() -> bytes:
        call_command("prepare", "--no-demo")
        return (collected / staticfiles_storage.stored_name("page.css")).read_bytes()

    sheet.write_bytes(b"a { color: red }")
    assert served() == b"a { color: red }"
    # rsync -a keeps the time of the older release.
    sheet.write_bytes(b"a { color: blue }")
    os.utime(sheet, (1e9, 1e9))
    assert served() == b"a { color: blue }"
