"""The field of the learning rate: a number, or nothing and the rate that the data set suggests."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString


class RateInput(forms.NumberInput):
    def render(self, *args: Any, **options: Any) -> SafeString:
        # A script says here what the data set suggests, and what is doubtful about another rate.
        return super().render(*args, **options) + render_to_string("admin/desk/setup/_rate.html")
