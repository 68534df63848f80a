"""Templates that people can read: named ends, short lines, fragments marked as such, and none without a use."""

import re
from collections.abc import Iterator
from pathlib import Path

import django
import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "templates"
LONGEST_LINE = 140
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
# Django looks for these by name.
ERROR_PAGES = {"400.html", "403.html", "403_csrf.html", "404.html", "500.html"}

BLOCK_TAG = re.compile(r"{% *(block|endblock) *([\w-]*) *%}")
NAMED_TEMPLATE = re.compile(r"""{% *(extends|include) +["']([^"']+)["']""")
STYLE_SHEETS = re.compile(r"{% block styles %}(.*?){% endblock styles %}")
QUOTED_TEMPLATE = re.compile(r"""["']([\w/-]+\.html)["']""")


def text_of(name: str) -> str:
    return (FOLDER / name).read_text()


def named_by_templates(tag: str) -> Iterator[tuple[str, str]]:
    """Every template with each of our own templates that it includes or extends."""
    for name in TEMPLATES:
        for found, target in NAMED_TEMPLATE.findall(text_of(name)):
            if found == tag and target in TEMPLATES:
                yield name, target


def named_by_code() -> set[str]:
    packages = (path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests")
    modules = (module for package in packages for module in package.rglob("*.py"))
    return {name for module in modules for name in QUOTED_TEMPLATE.findall(module.read_text())}


def replaces_one_of_djangos(name: str) -> bool:
    apps = Path(django.__file__).parent / "contrib"
    return any((app / "templates" / name).exists() for app in apps.iterdir())


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_end_of_every_block_is_named_after_its_beginning(name):
    open_blocks = []
    for tag, block in BLOCK_TAG.findall(text_of(name)):
        if tag == "block":
            open_blocks.append(block)
        else:
            assert block == open_blocks.pop()
    assert not open_blocks


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_line_fits_on_a_screen(name):
    lines = enumerate(text_of(name).splitlines(), start=1)
    assert [number for number, line in lines if len(line) > LONGEST_LINE] == []


def test_what_is_included_is_named_as_a_fragment_and_what_is_extended_is_not():
    included = {target for _, target in named_by_templates("include")}
    extended = {target for _, target in named_by_templates("extends")}
    assert included and extended
    assert [name for name in included if not Path(name).name.startswith("_")] == []
    assert [name for name in extended if Path(name).name.startswith("_")] == []


def test_every_template_is_used():
    by_others = {
        target
        for tag in ("include", "extends")
        for name, target in named_by_templates(tag)
        if name != target
    }
    used = by_others | named_by_code() | ERROR_PAGES
    unused = [name for name in TEMPLATES if name not in used and not replaces_one_of_djangos(name)]
    assert unused == []


def test_every_style_sheet_that_a_page_names_exists():
    named = {
        sheet
        for name in TEMPLATES
        for found in STYLE_SHEETS.findall(text_of(name))
        for sheet in found.split()
    }
    assert named
    assert [
        sheet for sheet in named if not (ROOT / "static" / "css" / f"{sheet}.css").exists()
    ] == []
