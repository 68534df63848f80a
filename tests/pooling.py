"""A crowd that pools what it saw: the labels of the evaluation images, from nothing but random answers and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear


@dataclass(frozen=True)
class Pooled:
    """What one session brings in: which images it had, as far as they can be told apart, its answers (−1 or 1) and
    the share of right ones, if it was told."""

    images: Sequence[str]
    answers: Sequence[int]
    score: float | None


def guessed_labels(sessions: Sequence[Pooled]) -> dict[str, int]:
    """The likeliest class of every image, −1 or 1, or 0 where nothing is known: a score says how the labels add up
    under the answers' signs, and every session has equally many images of both classes."""
    names = sorted({name for session in sessions for name in session.images})
    places = {name: place for place, name in enumerate(names)}
    rows, sums = [], []
    for session in sessions:
        drawn = [places[name] for name in session.images]
        rows.append(signs(drawn, np.ones(len(drawn)), len(names)))
        sums.append(0.0)
        if session.score is not None:
            rows.append(signs(drawn, np.asarray(session.answers, float), len(names)))
            sums.append(len(drawn) * (2 * session.score - 1))
    found = lsq_linear(np.array(rows), np.array(sums), bounds=(-1, 1)).x
    return {name: int(np.sign(round(found[place], 6))) for name, place in places.items()}


def signs(drawn: Sequence[int], values: np.ndarray, size: int) -> np.ndarray:
    row = np.zeros(size)
    row[list(drawn)] = values
    return row


def share_known(guessed: dict[str, int], labels: dict[str, int]) -> float:
    """How many labels the crowd has right; where it knows nothing, it guesses right half of the time."""
    points = {1: 1.0, 0: 0.5, -1: 0.0}
    return float(np.mean([points[guessed.get(name, 0) * label] for name, label in labels.items()]))
