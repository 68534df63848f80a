"""The learner of the paper: logistic loss, gradient descent with a decaying memory, k classes."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..classes import (
    checked_class_count,
    concept_matrix,
    contrasts,
    less_truth,
    likeliest,
    of_class,
    softmax,
)
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


def clipped(probabilities: FloatArray) -> FloatArray:
    """Probabilities (…, k) kept away from 0 and 1, so that every loss is finite."""
    if probabilities.size == 0 or probabilities.min() >= P_CLIP:
        # If no class is next to impossible, none is next to certain.
        return probabilities
    kept = np.minimum(np.maximum(probabilities, P_CLIP), 1 - P_CLIP)
    kept /= kept.sum(axis=-1, keepdims=True)
    return kept


def error_probability(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """f = P(the learner is wrong) = 1 − P_y, shape (n,), from probabilities (n, k) and labels (n,)."""
    return np.asarray(1 - of_class(clipped(probabilities), labels))


def loss_slopes(probabilities: FloatArray, labels: IntArray) -> FloatArray:
    """δ = P − e_y, shape (n, k): the derivative of the loss log 1/P_y by the logits Wx."""
    slopes = clipped(probabilities).copy()
    slopes[np.arange(len(slopes)), labels] -= 1
    return slopes


class Learner(Protocol):
    """Anyone who can be taught: what `teach` and the simulated workers ask of a learner of any kind."""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P(the learner says each class), shape (…, k), for one example (d,) or many (n, d)."""
        ...

    def answer(self, x: FloatArray) -> int:
        """Name the class 0 … k−1 of one example (d,)."""
        ...

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed class."""
        ...


class SimulatedLearner:
    """A learner that answers and learns as the paper assumes, with any number of classes.

    With P = softmax(Wx) and δ = P − e_y at W_{t−1}, V_t = β V_{t−1} + δxᵀ and
    W_t = W_{t−1} − ½η_t V_t. `concept` is W, shape (k, d); `momentum` is V, shape (k, d), in the
    sign of the gradient; `t` counts the examples learned so far.

    η is the rate of the paper's learner of two classes, w_t = w_{t−1} − η_t v_t: with W = (−w/2, w/2)
    and V = (−v, v) that is the same learner.
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
        """Start at a concept W of shape (k, d), or w of shape (d,) for two classes.

        After each update, Gaussian noise of standard deviation `noise` falls on every difference
        between two rows of the concept, as it does on w. Noise and Bernoulli answers draw from `rng`.
        """
        check_beta(beta)
        if answers not in ("deterministic", "bernoulli"):
            raise BadSetting(f"Answers are deterministic or bernoulli, not {answers!r}.")
        if not (math.isfinite(noise) and noise >= 0):
            raise BadSetting(f"The concept noise is {noise}; give 0 or a standard deviation.")
        given = np.array(concept, dtype=np.float64)
        if given.ndim not in (1, 2) or not np.isfinite(given).all():
            raise BadSetting(
                "A learner's concept is a matrix (k, d) of finite numbers, or (d,) for two classes."
            )
        self.concept: FloatArray = concept_matrix(given)
        checked_class_count(len(self.concept))
        self.momentum: FloatArray = np.zeros_like(self.concept)
        self.beta = beta
        self.learning_rate = learning_rate or LearningRate()
        self.noise = noise
        self.answers = answers
        self.t = 0
        self._rng = rng or np.random.default_rng(0)

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P, shape (…, k), for one example (d,) or many (n, d)."""
        return softmax(features @ self.concept.T)

    def answer(self, x: FloatArray) -> int:
        """Name the class of one example (d,); of classes that tie, the last."""
        if self.answers == "bernoulli":
            return drawn_class(self.probabilities(x), self.draw())
        return int(likeliest(x @ self.concept.T))

    def slopes(self, logits: FloatArray, labels: IntArray) -> FloatArray:
        """The derivative of the loss by the logits Wx (n, k), in the same shape: P − e_y."""
        return less_truth(softmax(logits), labels)

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed class: the learner's update."""
        self.t += 1
        slopes = self.slopes(x @ self.concept.T, np.asarray(label))
        self.momentum = self.beta * self.momentum + slopes[:, None] * x
        self.concept = self.concept - self.learning_rate(self.t) / 2 * self.momentum
        if self.noise:
            self.concept = self.concept + self.draw_noise()

    def draw(self) -> float:
        """A uniform number of the learner's own, for a Bernoulli answer."""
        return float(self._rng.random())

    def draw_noise(self) -> FloatArray:
        """What falls on the concept after an update, shape (k, d)."""
        k, d = self.concept.shape
        return np.asarray(contrasts(k) @ self._rng.normal(0, self.noise, (k - 1, d)))


def drawn_class(probabilities: FloatArray, uniform: float) -> int:
    """The class that a number in [0, 1) falls on, of probabilities (k,) laid out from the last class."""
    reached = np.searchsorted(np.cumsum(probabilities[:0:-1]), uniform, side="right")
    return len(probabilities) - 1 - int(reached)


def suggest_learning_rate(pool: Pool, steps: int = 30) -> float:
    """η₀ at which the way from no concept to the target is as long as `steps` full steps.

    A learner without a concept has P = 1/k, so ‖δ‖² = 1 − 1/k, and its step t has the length
    ½η_t‖δ‖‖x‖. If all steps went straight at the target they would have to add up to ‖W*‖:

        η₀ = ‖W*‖ / (½ √(1 − 1/k) · rms‖x‖ · Σ_t c/(c+t)).

    Far below it nobody gets anywhere within the session; far above it each example overturns
    what was learned from the others. Features should be centred first: a common offset in all
    examples lengthens steps without moving the learner towards the target.
    """
    if steps < 1:
        raise BadSetting(f"A session of {steps} steps teaches nothing; give 1 or more.")
    schedule = LearningRate(1.0)
    slope = math.sqrt(1 - 1 / pool.class_count)
    step_length = 0.5 * slope * float(np.sqrt(pool.squared_norms.mean()))
    path = step_length * sum(schedule(t) for t in range(1, steps + 1))
    distance = float(np.linalg.norm(pool.target))
    if not (path > 0 and distance > 0):
        # Nothing can be learned from such a pool at any rate.
        return LearningRate().initial
    return distance / path
