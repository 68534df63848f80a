"""The worker's page in two files: its modules as one script, and its style sheets as one.

Both are made when static files are collected, so that a page on a slow line asks for two files instead of thirty. The
sources stay plain modules and sheets that a browser could load as they are; no other program is needed to join them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.storage import FileSystemStorage

from . import stages

SCRIPT = "js/worker.bundle.js"
STYLES = "css/worker.bundle.css"
MAIN = "js/worker/main.js"
SHEETS = (
    "css/tokens.css",
    "css/base.css",
    "css/cover.css",
    *(
        f"css/worker/{name}.css"
        for name in ("frame", "entry", "tiles", "memory", "classify", "feedback", "done", "dialogs")
    ),
)

# Of modules: single names by name, which is all that ours use.
IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function\*?|const|let|class) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default ((?:async )?function) (\w+)", re.MULTILINE)
LEFT_OVER = re.compile(r"^(import|export)\b.*$|\bimport\(", re.MULTILINE)
# Comments on lines of their own.
COMMENT = re.compile(r"^[ \t]*(/\*.*?\*/[ \t]*|//[^\n]*)\n", re.MULTILINE | re.DOTALL)


class CannotBundle(Exception):
    """A module has something that the bundle does not know."""


def script() -> str:
    """Every module as a function that returns what it exports, behind those that it imports; then the page starts."""
    entries = {stage.name: stage.script for stage in stages.flow()}
    names = list(
        dict.fromkeys(name for entry in [MAIN, *entries.values()] for name in _with_imports(entry))
    )
    places = {name: f"m{place}" for place, name in enumerate(names)}
    tasks = ", ".join(f'"{stage}": {places[entry]}.default' for stage, entry in entries.items())
    modules = [_module(name, places) for name in names]
    return "".join([*modules, f"{places[MAIN]}.start({{ {tasks} }});\n"])


def styles() -> str:
    return "".join(COMMENT.sub("", _source(name)) for name in SHEETS)


def _source(name: str) -> str:
    found = finders.find(name)
    if not isinstance(found, str):
        raise CannotBundle(f"There is no static file {name}.")
    return Path(found).read_text(encoding="utf-8")


def _with_imports(name: str, above: tuple[str, ...] = ()) -> list[str]:
    """A module behind everything that it imports."""
    if name in above:
        raise CannotBundle(f"{name} imports itself, by way of {', '.join(above)}.")
    imported = [_target(name, path) for _, path in IMPORT.findall(_source(name))]
    found = [one for other in imported for one in _with_imports(other, (*above, name))]
    return [*dict.fromkeys(found), name]


def _target(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _module(name: str, places: dict[str, str]) -> str:
    text = COMMENT.sub("", _source(name))
    exports = [*(found[2] for found in EXPORT.finditer(text))]
    exports += [f"default: {found[2]}" for found in DEFAULT.finditer(text)]
    text = IMPORT.sub(lambda found: _constants(found, name, places), text)
    text = EXPORT.sub(r"\1 \2", DEFAULT.sub(r"\1 \2", text))
    if left := LEFT_OVER.search(text):
        raise CannotBundle(f"{name} has “{left[0].strip()}”. Import and export single names only.")
    return f"const {places[name]} = (() => {{\n{text}return {{ {', '.join(exports)} }};\n}})();\n"


def _constants(found: re.Match[str], name: str, places: dict[str, str]) -> str:
    parts = [part.strip() for part in found[1].split(",") if part.strip()]
    wanted = ", ".join(part.replace(" as ", ": ") for part in parts)
    return f"const {{ {wanted} }} = {places[_target(name, found[2])]};\n"


class BundleFinder(finders.BaseFinder):
    """Finds the two files, which it writes whenever their sources say something else."""

    made = {SCRIPT: script, STYLES: styles}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.folder = Path(settings.JEDI_DATA_DIR) / "bundles"
        self.storage = FileSystemStorage(self.folder)

    def find(self, path: str, find_all: bool = False, **options: Any) -> Any:
        if path not in self.made:
            return []
        self.write(path)
        found = str(self.folder / path)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        for path in self.made:
            self.write(path)
            yield path, self.storage

    def write(self, path: str) -> None:
        """By content, not by time: another release may be older than the bundle that was made of this one."""
        file, text = self.folder / path, self.made[path]()
        if file.exists() and file.read_text(encoding="utf-8") == text:
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
