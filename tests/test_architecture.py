"""The arrows between the packages, proved from their imports."""

import ast
import os
import subprocess
import sys

import pytest

from tests.architecture import (
    LAYERS,
    PAGE,
    ROOT,
    current_page,
    files_of,
    imported_modules,
    package_of,
    sentence_of,
)

WEB_LIBRARIES = {"django", "rest_framework", "drf_spectacular"}
NUMERICS = {"numpy", "scipy"}
# Without a web framework: usable in a notebook.
PURE = ("teaching.engine", "analysis.stats", "analysis.charts")


def libraries_of(path):
    return {module.split(".")[0] for module in imported_modules(path)}


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down_only(package):
    for path in files_of(package):
        imported = {package_of(module) for module in imported_modules(path)} - {None, package}
        allowed = LAYERS[package]
        assert imported <= allowed, f"{path.relative_to(ROOT)} imports {imported - allowed}"


@pytest.mark.parametrize("package", LAYERS)
def test_no_arrow_is_allowed_that_nobody_uses(package):
    used = {package_of(module) for path in files_of(package) for module in imported_modules(path)}
    assert LAYERS[package] <= used, LAYERS[package] - used


@pytest.mark.parametrize("package", PURE)
def test_the_pure_packages_know_no_django(package):
    assert files_of(package)
    for path in files_of(package):
        assert not libraries_of(path) & WEB_LIBRARIES, path


def test_every_package_with_code_has_its_layer():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert {name for name in LAYERS if "." not in name} == packages


def test_every_package_says_in_a_sentence_what_lives_there():
    for path in ROOT.glob("*/**/__init__.py"):
        names = path.relative_to(ROOT).parts[:-1]
        if names[0] in {"tests", ".venv", "var"} or {"migrations", "management", "templatetags"} & {
            *names
        }:
            continue
        assert sentence_of(".".join(names)).endswith((".", ":")), path


def test_the_docs_show_the_layers_as_they_are():
    assert PAGE.read_text(encoding="utf-8") == current_page(), "run python -m tests.architecture"


def is_a_view(path):
    """Whoever takes a request: views, API calls, admin classes and the pages of the desk."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return bool(names & {"HttpRequest", "Request", "APIView"})


def views():
    return [path for package in LAYERS for path in files_of(package) if is_a_view(path)]


def test_views_know_no_mathematics():
    for path in views():
        assert not libraries_of(path) & NUMERICS, path


def test_the_rule_about_views_sees_all_of_them():
    seen = {str(path.relative_to(ROOT)) for path in views()}
    pages = {
        str(path.relative_to(ROOT))
        for path in ROOT.glob("desk/*.py")
        if "\nPAGES = (" in path.read_text(encoding="utf-8")
    }
    assert len(pages) > 10
    assert pages | {"studies/views.py", "studies/api/views.py", "memorytest/api.py"} <= seen
    assert {"desk/api/views.py", "desk/admin.py", "image_datasets/admin/imports.py"} <= seen


def test_an_arrow_that_points_up_is_seen(tmp_path):
    (tmp_path / "studies").mkdir()
    bad = tmp_path / "studies" / "bad.py"
    bad.write_text("from teaching import pools\n")
    assert package_of("teaching") in {package_of(m) for m in imported_modules(bad, tmp_path)}


def test_commands_start_without_numerics_and_the_web_server_loads_the_engine_at_once(tmp_path):
    code = (
        "import sys, django; django.setup()\n"
        "from django.urls import get_resolver; get_resolver().url_patterns\n"
        "loaded = lambda: print([name for name in ('numpy', 'PIL', 'reportlab') if name in sys.modules])\n"
        "loaded()\n"
        "import jedi_web.wsgi\n"
        "loaded()\n"
    )
    # WhiteNoise warns if there is none.
    (tmp_path / "static").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ
        | {"JEDI_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "jedi_web.settings"},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("[]\n['numpy']\n", "")
