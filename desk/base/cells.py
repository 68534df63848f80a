"""Cells that several tables of the desk have."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString


def participant_link(pk: Any, code: str) -> SafeString:
    address = reverse("admin:studies_participant_change", args=[pk])
    return format_html('<a href="{}">{}</a>', address, code)


def moment(at: datetime) -> str:
    return f"{timezone.localtime(at):%-d %b %Y, %H:%M}"


def minute(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}"


def second(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S}"
