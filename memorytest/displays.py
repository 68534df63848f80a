"""How a timed display went on the worker's device, and whether it can count: pure values and one rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db import models

# Shown for longer or shorter than planned by more than this, a display measures something else.
TOLERANCE_MS = 100


class Disturbance(models.TextChoices):
    """Why a display does not measure what it should."""

    INTERRUPTED = "interrupted", "the page was left or reloaded during the display"
    HIDDEN = "hidden", "the page was out of sight during the display"
    MISTIMED = "mistimed", "shown for more than 100 ms too long or too short"


class Pointer(models.TextChoices):
    FINE = "fine", "a mouse or a pen"
    COARSE = "coarse", "a finger"
    NONE = "none", "none"


@dataclass(frozen=True)
class Report:
    """What a page says about a display when it is over."""

    is_interrupted: bool = False
    shown_ms: float | None = None
    dropped_frames: int | None = None
    hidden_ms: float | None = None
    unfocused_ms: float | None = None
    picture_px: float | None = None
    window_width: int | None = None
    window_height: int | None = None
    pixel_ratio: float | None = None
    pointer: str = ""

    def values(self) -> dict[str, Any]:
        """The columns of a round that it fills."""
        return {name: value for name, value in asdict(self).items() if name != "is_interrupted"}

    def disturbance(self, planned_ms: float) -> str:
        if self.is_interrupted or self.shown_ms is None:
            return Disturbance.INTERRUPTED
        if self.hidden_ms:
            return Disturbance.HIDDEN
        is_off = abs(self.shown_ms - planned_ms) > TOLERANCE_MS
        return Disturbance.MISTIMED if is_off else ""
