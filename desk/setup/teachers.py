"""The field in which a study's teachers are chosen: a box for each, an order, and what each of them does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from teaching.teachers import known_teachers, teacher_title

# Behind all others: a row that came without a place.
NOWHERE = 1_000


class TeacherChoice(forms.Widget):
    """Reads and writes the comma list that a study keeps. Works by numbers alone; a script adds arrows."""

    def render(
        self, name: str, value: Any, attrs: Mapping[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        chosen = names_in(value or "")
        rows = [*chosen, *(teacher for teacher in known_teachers() if teacher not in chosen)]
        context = {
            "name": name,
            "rows": [
                row_of(teacher, place, teacher in chosen) for place, teacher in enumerate(rows, 1)
            ],
        }
        return render_to_string("admin/desk/setup/_teachers.html", context)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        """The ticked names by their places; rows of the same place as they came."""
        ticked = [one for text in data.getlist(name) for one in names_in(text)]
        return ",".join(
            sorted(ticked, key=lambda teacher: place_of(data.get(f"{name}-place-{teacher}")))
        )

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        # A form without a single tick names no teacher; that is an answer, and a wrong one.
        return False

    def id_for_label(self, id_: str) -> str:
        return ""


def names_in(value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]


def place_of(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 4 else NOWHERE


def row_of(name: str, place: int, is_chosen: bool) -> dict[str, Any]:
    teacher = known_teachers().get(name)
    return {
        "name": name,
        "title": teacher_title(name),
        "place": place,
        "is_chosen": is_chosen,
        "description": teacher.description if teacher else "This server has no such teacher.",
    }
