"""The learning rate and memory decay of a person, fitted from the answers: the paper's learner, profiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from teaching.engine.arrays import FloatArray
from teaching.engine.bank import Seen
from teaching.engine.bank.base import GIVEN, softmax
from teaching.engine.bank.concept import Grid, follow_grid

BETAS = np.round(np.arange(0, 0.9501, 0.05), 3)
# Learning rates η₀ where examples have the length 1.
RATES = np.geomspace(0.05, 50, 13)
GUESSES = (0.02, 0.1, 0.3)


@dataclass(frozen=True)
class DecayFit:
    """The likeliest η₀ and β of a person, and how much better they explain the answers than chance does, in nats."""

    rate: float
    beta: float
    gain: float


def fit_learner(seen: Seen) -> DecayFit:
    """The best of a grid of learners as the paper assumes them, each with some guessing."""
    rates, betas = (axis.ravel() for axis in np.meshgrid(RATES, BETAS, indexing="ij"))
    grid = Grid(rates, betas, np.full(rates.size, GIVEN), np.full(rates.size, 1 / rates.size))
    chances = softmax(follow_grid(seen, grid).logits)
    said = chances[:, np.arange(len(seen)), seen.answers]
    best = _profile(said, seen.k)
    place = int(best.argmax())
    chance = -len(seen) * float(np.log(seen.k))
    return DecayFit(float(rates[place]), float(betas[place]), float(best[place]) - chance)


def _profile(said: FloatArray, k: int) -> FloatArray:
    """The log likelihood (m,) of chances (m, t) with the amount of guessing that suits each best."""
    sums = [np.log(guess / k + (1 - guess) * said).sum(axis=1) for guess in GUESSES]
    return np.asarray(np.max(sums, axis=0))
