"""Where a participant finds an image."""

from __future__ import annotations

from functools import lru_cache

from django.urls import get_script_prefix, reverse

from .models import Participant


def address_of(participant: Participant, name: str) -> str:
    """Of the image that has this name for the participant."""
    before, between = _around_token(get_script_prefix())
    return f"{before}{participant.token}{between}{name}"


@lru_cache
def _around_token(prefix: str) -> tuple[str, str]:
    """What an image's address has before the token, and between it and the name, where all pages are under a prefix:
    looked up once, because that takes longer than all else about an address."""
    before, _, rest = reverse("image", args=["TOKEN", "NAME"]).rpartition("TOKEN")
    return before, rest.removesuffix("NAME")
