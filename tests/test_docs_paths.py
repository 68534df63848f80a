"""Every file and folder that the documentation names in backticks exists."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "research/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

FENCED = re.compile(r"^\s*```.*?^\s*```", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"`([a-z_][\w.<>/-]*)`")
SOURCE = (".py", ".js", ".css", ".html")
PLACEHOLDER = re.compile(r"<\w+>")

# A call of the API, and folders of data.
NOT_IN_THE_REPOSITORY = {"answers/", "var/", "var/research/<experiment>"}


def paths_named_in(page: Path) -> set[str]:
    quoted = set(QUOTED.findall(FENCED.sub("", page.read_text(encoding="utf-8"))))
    named = {text for text in quoted if "/" in text or text.endswith(SOURCE)}
    return {path.rstrip("/") for path in named - NOT_IN_THE_REPOSITORY}


@cache
def folders() -> frozenset[str]:
    found = (path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
    return frozenset(path.name for path in found)


@cache
def paths() -> tuple[str, ...]:
    """Every file and folder of the project, from its root."""
    return tuple(
        found.relative_to(ROOT).as_posix()
        for folder in folders()
        for found in (ROOT / folder, *(ROOT / folder).rglob("*"))
    )


def exists(named: str) -> bool:
    """A path that begins with a folder of the root is complete; any other may be the end of a longer one."""
    pattern = "[^/]+".join(map(re.escape, PLACEHOLDER.split(named)))
    start = "" if named.split("/")[0] in folders() else "(.+/)?"
    return any(re.fullmatch(start + pattern, path) for path in paths())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_in_the_docs_exists(page):
    assert [named for named in sorted(paths_named_in(page)) if not exists(named)] == []


@pytest.mark.parametrize(
    ("named", "is_there"),
    [
        ("studies/stages.py", True),
        ("teachers/jedi.py", True),
        ("teaching/engine/teachers/<name>.py", True),
        ("teaching/teachers/jedi.py", False),
        ("desk/<page>/jedi.py", False),
        ("teachers/yoda.py", False),
    ],
)
def test_a_path_that_leads_nowhere_is_detected(named, is_there):
    assert exists(named) == is_there


def test_the_pages_name_paths_at_all():
    assert "studies/answers.py" in paths_named_in(ROOT / "docs" / "architecture.md")
