"""Names of files that a stranger chose: nothing leads out of the folder, and people can read them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from image_datasets.errors import ZIP_AGAIN, BadName, DuplicateName, shown

LONGEST_NAME = 1_000
CLUTTER = {"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx"}


def checked_name(name: str) -> str:
    """The name, if it stays below the folder on every system. A folder's name ends with a slash."""
    reason = _name_problem(name)
    if reason:
        raise BadName(file=name, reason=reason, remedy=f"Rename it. {ZIP_AGAIN}")
    return name


def _name_problem(name: str) -> str | None:
    parts = name.removesuffix("/").split("/")
    problems = {
        "The name is empty.": not name,
        f"The name is longer than {LONGEST_NAME} characters.": len(name) > LONGEST_NAME,
        "The name has a backslash in it.": "\\" in name,
        "The name is an absolute path.": name.startswith("/")
        or re.match("[A-Za-z]:", name) is not None,
        "The name leads out of its folder.": ".." in parts,
        "The name has an empty part.": "" in parts or "." in parts,
        "The name has a control character in it.": any(
            unicodedata.category(character) == "Cc" for character in name
        )
        and not is_clutter(name),
    }
    return next((reason for reason, holds in problems.items() if holds), None)


def decoded_name(raw: bytes) -> str:
    """UTF-8 where it is that, also when the zip does not say so; otherwise the historical cp437.

    Every byte has a sign in cp437, so any name can be shown, and two different names stay
    different. A folder names a class, and people will read that: it must be real text.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        name = raw.decode("cp437")
    folder, _, _ = raw.removesuffix(b"/").rpartition(b"/")
    if not _is_utf8(raw if raw.endswith(b"/") else folder):
        raise BadName(
            file=name,
            reason="The name of its folder is not UTF-8 text, so people could not read it.",
            remedy="Rename the folder with plain letters and make the zip again.",
        )
    return name


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_clutter(name: str) -> bool:
    """What operating systems leave behind, and hidden files."""
    return any(
        part.startswith(".") or part.casefold() in CLUTTER
        for part in name.removesuffix("/").split("/")
    )


def check_distinct(names: Iterable[str]) -> None:
    """Refuses names that some file systems take for the same one."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise DuplicateName(
                file=name,
                reason=f"There is also {shown(seen[key])}; on many computers that is the same name.",
                remedy="Rename one of the two.",
            )
        seen[key] = name
