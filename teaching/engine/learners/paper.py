"""The learner of the paper: logistic loss, gradient descent with a decaying memory."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from ..arrays import FloatArray
from ..errors import BadSetting
from ..pool import Pool

# One-sided histories give p of exactly 0 or 1, where the loss is not finite. Anywhere
# between 1e-3 and 1e-10 the choice does not depend on this number.
P_CLIP = 1e-6


@dataclass(frozen=True, slots=True)
class LearningRate:
    """η_t = η₀·c/(c+t) with η₀ = `initial` and c = `decay`; an infinite decay keeps η₀."""

    initial: float = 0.03
    decay: float = 20

    def __post_init__(self) -> None:
        if not (math.isfinite(self.initial) and self.initial > 0):
            raise BadSetting(f"The initial learning rate is {self.initial}; give one above 0.")
        if not self.decay > 0:
            raise BadSetting(f"The decay of the learning rate is {self.decay}; give one above 0.")

    def __call__(self, t: float) -> float:
        """The rate of step t, counted from 1."""
        return self.initial / (1 + t / self.decay)


def check_beta(beta: float) -> None:
    """Refuse a memory decay rate outside [0, 1)."""
    if not 0 <= beta < 1:
        raise BadSetting(f"The memory decay rate β is {beta}; it lies in [0, 1).")


def clipped(p: npt.ArrayLike) -> FloatArray:
    """p kept away from 0 and 1, so that every loss is finite."""
    return np.minimum(np.maximum(p, P_CLIP), 1 - P_CLIP)


def error_probability(p: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
    """f = P(the learner is wrong): 1 − p where the label is +1, p where it is −1."""
    chance = clipped(p)
    return np.where(np.asarray(labels) > 0, 1 - chance, chance)


class Learner(Protocol):
    """Anyone who can be taught: what `teach` and the simulated workers ask of a learner of any kind."""

    def probability(self, x: FloatArray) -> float:
        """P(the learner says +1) for one example (d,)."""
        ...

    def answer(self, x: FloatArray) -> int:
        """Label one example (d,) with −1 or +1."""
        ...

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed label."""
        ...


class SimulatedLearner:
    """A learner that answers and learns as the paper assumes.

    v_t = β v_{t−1} + g_t and w_t = w_{t−1} − η_t v_t, where g_t is the gradient of the
    logistic loss at w_{t−1}. `concept` is w, shape (d,); `momentum` is v, shape (d,), in
    the sign of the gradient; `t` counts the examples learned so far.
    """

    def __init__(
        self,
        concept: npt.ArrayLike,
        *,
        beta: float = 0.0,
        learning_rate: LearningRate | None = None,
        noise: float = 0.0,
        answers: Literal["deterministic", "bernoulli"] = "deterministic",
        rng: np.random.Generator | None = None,
    ) -> None:
        """Start at a concept of shape (d,).

        After each update, Gaussian noise of standard deviation `noise` falls on every entry
        of the concept. Noise and Bernoulli answers draw from `rng`.
        """
        check_beta(beta)
        if answers not in ("deterministic", "bernoulli"):
            raise BadSetting(f"Answers are deterministic or bernoulli, not {answers!r}.")
        if not (math.isfinite(noise) and noise >= 0):
            raise BadSetting(f"The concept noise is {noise}; give 0 or a standard deviation.")
        self.concept: FloatArray = np.array(concept, dtype=np.float64)
        if self.concept.ndim != 1 or not np.isfinite(self.concept).all():
            raise BadSetting("A learner's concept is a vector (d,) of finite numbers.")
        self.momentum: FloatArray = np.zeros_like(self.concept)
        self.beta = beta
        self.learning_rate = learning_rate or LearningRate()
        self.noise = noise
        self.answers = answers
        self.t = 0
        self._rng = rng or np.random.default_rng(0)

    def probability(self, x: FloatArray) -> float:
        """p = P(the learner says +1) for one example (d,)."""
        return float(expit(x @ self.concept))

    def answer(self, x: FloatArray) -> int:
        """Label one example (d,) with −1 or +1; a tie answers +1."""
        if self.answers == "bernoulli":
            return 1 if self.draw() < self.probability(x) else -1
        return 1 if x @ self.concept >= 0 else -1

    def slopes(self, margins: npt.ArrayLike, labels: npt.ArrayLike) -> FloatArray:
        """The derivative of the loss by the margin wᵀx, shapes as given: −y f for the logistic loss."""
        y = np.asarray(labels)
        return np.asarray(-y * expit(-y * np.asarray(margins)))

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed label: the learner's update."""
        self.t += 1
        gradient = self.slopes(x @ self.concept, label) * x
        self.momentum = self.beta * self.momentum + gradient
        self.concept = self.concept - self.learning_rate(self.t) * self.momentum
        if self.noise:
            self.concept = self.concept + self.draw_noise()

    def draw(self) -> float:
        """A uniform number of the learner's own, for a Bernoulli answer."""
        return float(self._rng.random())

    def draw_noise(self) -> FloatArray:
        """What falls on the concept after an update, shape (d,)."""
        return self._rng.normal(0, self.noise, self.concept.shape)


def suggest_learning_rate(pool: Pool, steps: int = 30, decay: float = 20) -> float:
    """η₀ at which the way from no concept to the target is as long as `steps` full steps.

    A learner without a concept is wrong with f = ½, so its step t has length η_t‖x‖/2. If all
    steps went straight at the target they would have to add up to ‖w*‖:

        η₀ = ‖w*‖ / (½ · rms‖x‖ · Σ_t c/(c+t)).

    Far below it nobody gets anywhere within the session; far above it each example overturns
    what was learned from the others. Features should be centred first: a common offset in all
    examples lengthens steps without moving the learner towards the target.
    """
    if steps < 1:
        raise BadSetting(f"A session of {steps} steps teaches nothing; give 1 or more.")
    schedule = LearningRate(1.0, decay)
    step_length = 0.5 * float(np.sqrt(pool.squared_norms.mean()))
    path = step_length * sum(schedule(t) for t in range(1, steps + 1))
    distance = float(np.linalg.norm(pool.target))
    if not (path > 0 and distance > 0):
        # Nothing can be learned from such a pool at any rate.
        return LearningRate().initial
    return distance / path
