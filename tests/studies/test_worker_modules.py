"""The modules of the worker's page: all of them are preloaded, and a release never mixes with cached old ones."""

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import Client

from studies import stages
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

MODULES = re.compile(
    r'<(?:link rel="modulepreload" href|script type="module" src)="/static/([^"]+)"'
)


def modules_of_the_page() -> list[str]:
    text = Client().get(f"/w/{Worker(make_study()).token}/").content.decode()
    return MODULES.findall(text)


def imported_by(path: str, source: str) -> list[str]:
    folder = posixpath.dirname(path)
    found = re.findall(r'\bfrom "([^"]+)";', source)
    return [posixpath.normpath(posixpath.join(folder, name)) for name in found]


def with_imports(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported_by(path, Path(str(finders.find(path))).read_text())
    return found


def test_the_page_preloads_every_module_that_it_needs_once():
    modules = modules_of_the_page()
    entries = ["js/worker/main.js", *(stage.script for stage in stages.flow())]
    assert sorted(modules) == sorted(with_imports(entries))


def test_collected_modules_import_each_other_by_their_hashed_names(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = site_settings.STORAGES | {
        "staticfiles": {"BACKEND": "jedi_web.storage.ModuleManifestStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    modules = modules_of_the_page()
    hashed = {staticfiles_storage.stored_name(path) for path in with_imports(["js/worker/main.js"])}
    assert hashed <= set(modules)
    for path in modules:
        assert re.search(r"\.[0-9a-f]{12}\.js$", path)
        imported = imported_by(path, (tmp_path / path).read_text())
        assert set(imported) <= set(modules)
