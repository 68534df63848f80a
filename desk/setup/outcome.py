"""The field in which a study names its primary outcome: the choice, three sentences about it, and a picture."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString


class OutcomeChoice(forms.Select):
    def render(self, *args: Any, **options: Any) -> SafeString:
        return super().render(*args, **options) + render_to_string("admin/desk/setup/_outcome.html")
