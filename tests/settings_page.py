"""The page about a study's settings, written from the settings themselves: `python -m tests.settings_page`."""

import os
from pathlib import Path
from typing import Any

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()

from studies.models.settings import GROUPS, StudySettings, names_in

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
LEAD = """# Settings of a study

All settings by subject, in the order of the form, with the names that `manage.py create_study --set`, the
[API](api.md#the-researchers-api) and the datasheet use. The defaults are the paper's values where the paper has one.
*Paper settings* in the form sets all of these, and switches off what the paper's page did not have.

Settings marked with ¹ are no part of a [version](researchers.md#versions): a change applies to everybody at once.
Versions that differ only in settings marked with ² are analysed together, because these leave an outcome as it is.
"""


def current_page() -> str:
    return "\n".join([LEAD, *(section(group) for group in GROUPS)])


def section(group: type[StudySettings]) -> str:
    lines = [f"## {group.group.heading}", ""]
    if group.group.description:
        lines += [group.group.description, ""]
    lines += ["| setting | name | default | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(row(group, name) for name in names_in(group)), ""])


def row(group: type[StudySettings], name: str) -> str:
    field: Any = group._meta.get_field(name)
    marks = ("¹" if name in group.group.outside_sessions else "") + (
        "²" if name in group.group.harmless else ""
    )
    meaning = " ".join(str(field.help_text).split()).replace("|", "\\|")
    return f"| {field.verbose_name}{marks} | `{name}` | {default_of(field)} | {meaning} |"


def default_of(field: Any) -> str:
    if field.has_default() and callable(field.default):
        return "drawn for each study"
    value = field.get_default()
    if value in (None, ""):
        return "empty"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    PAGE.write_text(current_page(), encoding="utf-8")
