"""Rule learners: they decide by one feature at a time and try another one when it fails.

A hidden Markov chain over the features. The answers tell which feature a learner uses; after feedback it switches,
rarely after a right answer and often after a wrong one, to a feature in proportion to how well it has predicted labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Examples, FloatArray, IntArray
from .agreement import Agreement
from .base import (
    GUESSING_STYLES,
    Family,
    Observations,
    Predictions,
    Style,
    combined,
    described,
    of_labels,
)
from .single_features import attention

# The inverse temperature of answers given the feature; the probabilities to switch after a right and a wrong answer;
# and how strongly the new feature depends on its record.
INVERSE_TEMPERATURES = (1.0, 4.0)
SWITCHES = ((0.02, 0.1), (0.05, 0.5))
TRUSTS = (0.3, 1.0)
GRID = combined(INVERSE_TEMPERATURES, range(len(SWITCHES)), TRUSTS)
# Gains leave out features that are less probable than this share of the likeliest, and all but so many of the rest.
MIN_SHARE = 0.02
MAX_FEATURES = 6


@dataclass(frozen=True)
class RulePredictions(Predictions):
    """`temperatures` (m,) and `switches` (m, 2) of the models.

    `used` and `next_used` (m, s) are the distributions of the feature now, and after a switch.
    """

    observed: Observations
    temperatures: FloatArray
    switches: FloatArray
    used: FloatArray
    next_used: FloatArray
    logits: FloatArray

    @property
    def names(self) -> list[str]:
        right, wrong = self.switches.T
        return described(
            inverse_temperature=self.temperatures,
            switches_when_right=right,
            when_wrong=wrong,
            trust=GRID[2],
        )

    def logits_at(self, examples: Examples) -> FloatArray:
        single = self.observed.single_features
        chances = single.chances_at(examples, np.arange(single.count))
        answered = [
            np.tensordot(self.used[self.temperatures == one], sharpened(chances, one), 1)
            for one in INVERSE_TEMPERATURES
        ]
        return np.asarray(np.log(np.concatenate(answered)))

    def gains(self, models: IntArray) -> FloatArray:
        """Σ_f used_f m_f(x) (S' − S_f): the chance m_f(x) to switch, the agreement S_f of f, and S' after a switch."""
        pool, truth = self.observed.pool, self.observed.spaces.truth
        kept = likely(self.used[models] + self.next_used[models]) > 0
        features = np.flatnonzero(kept.any(axis=0))
        used = (kept * self.used[models])[:, features]
        next_used = (kept * self.next_used[models])[:, features]
        chances = self.observed.single_features.chances_at(slice(None), features).swapaxes(1, 2)
        temperatures = self.temperatures[models]
        agreement = Agreement.of(np.log(chances), truth).scaled(temperatures[:, None]).value
        after = np.vecdot(next_used, agreement) / next_used.sum(axis=1)
        rises = used / used.sum(axis=1, keepdims=True) * (after[:, None] - agreement)
        gains = np.empty((models.size, pool.n))
        for one in {*temperatures.tolist()}:
            own = temperatures == one
            right = of_labels(sharpened(chances, one, axis=1), pool.labels)
            when_right, when_wrong = self.switches[models[own]].T[:, :, None]
            total = rises[own].sum(axis=1, keepdims=True)
            gains[own] = when_wrong * total - (when_wrong - when_right) * (rises[own] @ right)
        return gains


class Rule(Family):
    name: ClassVar[str] = "rule"
    title: ClassVar[str] = "goes by one feature at a time"
    styles: ClassVar[tuple[Style, ...]] = GUESSING_STYLES

    def predict(self, observed: Observations) -> RulePredictions:
        temperatures, which, trusts = GRID
        switches, single, t = np.array(SWITCHES)[which], observed.single_features, len(observed)
        next_used = attention(single.validity[:, None], np.array(TRUSTS)[:, None])
        next_used = next_used[:, np.arange(trusts.size) % len(TRUSTS)]
        # Models of the same temperature are adjacent, (m, s, t, k).
        chances = np.repeat(
            np.stack([sharpened(single.chances, one) for one in INVERSE_TEMPERATURES]),
            temperatures.size // len(INVERSE_TEMPERATURES),
            axis=0,
        )
        answered = chances[:, :, np.arange(t), observed.answers].transpose(2, 0, 1)
        switch = switches.T[(observed.answers != observed.labels).astype(np.intp)][..., None]
        used = features_used(answered, switch, next_used)
        logits = np.log(np.einsum("tms,mstk->mtk", used[:-1], chances))
        return RulePredictions(observed, temperatures, switches, used[-1], next_used[-1], logits)


def features_used(answered: FloatArray, switch: FloatArray, next_used: FloatArray) -> FloatArray:
    """The distribution of the used feature before each step and now, (t+1, m, s); uniform at first.

    `answered` (t, m, s) are the probabilities of the answers by each feature, `switch` (t, m, 1) the probabilities to
    switch, and `next_used` (t+1, m, s) the distributions after a switch.
    """
    used = np.empty(next_used.shape)
    used[0] = 1 / next_used.shape[-1]
    for step, likelihood in enumerate(answered):
        posterior = used[step] * likelihood
        posterior /= posterior.sum(axis=-1, keepdims=True)
        used[step + 1] = (1 - switch[step]) * posterior + switch[step] * next_used[step + 1]
    return used


def likely(weights: FloatArray) -> FloatArray:
    """Weights (m, s) of features, with 0 for those that gains leave out."""
    kept = np.where(weights >= MIN_SHARE * weights.max(axis=-1, keepdims=True), weights, 0.0)
    rest = np.argsort(-weights, axis=-1, kind="stable")[:, MAX_FEATURES:]
    np.put_along_axis(kept, rest, 0.0, axis=-1)
    return kept


def sharpened(chances: FloatArray, inverse_temperature: float, axis: int = -1) -> FloatArray:
    powers = chances**inverse_temperature
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))
