"""The worker's page in two files: every module in its place, and clear words for what cannot be bundled."""

import os
import re

import pytest
from django.contrib.staticfiles import finders

from studies import bundle, stages
from tests.site import ROOT

BASE = ROOT / "templates" / "base.html"
WORKER = ROOT / "static" / "js" / "worker"


def test_the_script_has_every_module_once_behind_what_it_imports():
    text = bundle.script()
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    defined = {found[1]: found.start() for found in re.finditer(r"^const (m\d+) = \(", text, re.M)}
    assert len(defined) == len([*WORKER.glob("*.js")]) + 1, "and the clipboard"
    for used in re.finditer(r"^const \{[^}]*\} = (m\d+);$", text, re.MULTILINE):
        assert defined[used[1]] < used.start()
    start = text.splitlines()[-1]
    assert all(f'"{stage.name}": m' in start for stage in stages.flow())


def test_styles_come_in_the_order_of_the_cascade_and_none_is_forgotten():
    text = bundle.styles()
    places = [text.index(found) for found in (":root", ".button {", ".screen {", ".dialog {")]
    assert places == sorted(places)
    assert "/*" not in text
    sheets = {f"css/worker/{path.name}" for path in (ROOT / "static" / "css" / "worker").iterdir()}
    everywhere = re.search(r"{% block sheets %}(.*?){% endblock", BASE.read_text(), re.DOTALL)
    assert {*sheets, *re.findall(r"css/\w+\.css", everywhere[1])} == set(bundle.SHEETS)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('import * as dom from "./dom.js";\n', "import and export single names only"),
        ("export { one };\n", "import and export single names only"),
        ('const later = await import("./later.js");\n', "import and export single names only"),
        ('import { loop } from "./main.js";\n', "imports itself"),
        ('import { gone } from "./gone.js";\n', "there is no static file js/worker/gone.js"),
    ],
)
def test_what_cannot_be_bundled_is_said(source, problem, tmp_path, monkeypatch):
    main = tmp_path / bundle.MAIN
    main.parent.mkdir(parents=True)
    main.write_text(source)
    monkeypatch.setattr(stages, "flow", tuple)
    monkeypatch.setattr(
        finders, "find", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None
    )
    with pytest.raises(bundle.CannotBundle, match=f"(?i){problem}"):
        bundle.script()


def test_bundles_are_written_again_when_their_sources_say_something_else(tmp_path, settings):
    settings.JEDI_DATA_DIR = tmp_path
    finder = bundle.BundleFinder()
    assert [path for path, _ in finder.list([])] == [bundle.SCRIPT, bundle.STYLES]
    assert finder.find("css/base.css") == []
    found = tmp_path / "bundles" / bundle.STYLES
    os.utime(found, (0, 0))
    assert finder.find(bundle.STYLES) == str(found)
    assert found.stat().st_mtime == 0, "nothing has changed"
    found.write_text("of another release, and newer")
    assert finder.find(bundle.STYLES, find_all=True) == [str(found)]
    assert found.read_text() == bundle.styles()
