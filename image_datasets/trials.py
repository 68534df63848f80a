"""What was measured under each remedy that was tried, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .remedy import Remedy

if TYPE_CHECKING:
    from .imports.measurement import Measured


def trial_of(remedy: Remedy, measured: Measured) -> dict[str, Any]:
    """The concepts and the cues under a remedy, as plain numbers; cues are judged against the best concept."""
    shortcuts = measured.shortcuts(measured.best)
    concepts = [
        {"title": f"target concept: {candidate.title}", **_numbers(candidate.accuracy)}
        for candidate in measured.comparison.candidates
        if candidate.accuracy
    ]
    cues = sorted(shortcuts.each, key=lambda cue: cue.title)
    return {
        "remedy": str(remedy),
        "concepts": concepts,
        "cues": [
            {"title": cue.title, "is_shortcut": cue.is_shortcut, **_numbers(cue)}
            for cue in (shortcuts.together, *cues)
        ],
    }


def _numbers(found: Any) -> dict[str, float]:
    return {part: round(getattr(found, part), 4) for part in ("mean", "low", "high")}


def with_trials(
    earlier: list[dict[str, Any]], latest: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Trials in the order in which they were made first; what was measured again replaces what was."""
    newest = {trial["remedy"]: trial for trial in latest}
    kept = [newest.pop(trial["remedy"], trial) for trial in earlier]
    return kept + list(newest.values())


def trial_table(trials: list[dict[str, Any]]) -> dict[str, Any] | None:
    """One row for each concept and cue, one column for each trial; None without any."""
    if not trials:
        return None
    cells: dict[str, list[Any]] = {}
    for place, trial in enumerate(trials):
        for row in (*trial["concepts"], *trial["cues"]):
            cells.setdefault(row["title"], [None] * len(trials))[place] = row
    return {
        "remedies": [trial["remedy"] for trial in trials],
        "rows": [{"title": title, "cells": row} for title, row in cells.items()],
    }
