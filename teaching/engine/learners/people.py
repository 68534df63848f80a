"""People to rehearse with: a learner with habits, a memory and a clock.

A `SimulatedWorker` takes any `Learner` and adds what answers need beside a concept: guesses and lapses, time to
think, a memory span for the memory test, and the moment to leave. Everything is drawn from the worker's own
seed, with one stream for each purpose: asking for a response time moves no answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..classes import contrasts
from ..errors import BadSetting
from ..pool import Pool
from .paper import Learner, LearningRate, SimulatedLearner, check_beta

T = TypeVar("T")
Seed = int | Sequence[int]

# The paper's memory test: three trials, of which the shortest does not count.
MEMORY_TRIALS = 3
# More than enough to tell two floating-point numbers between 0 and 1 apart.
HALVINGS = 60
# The streams of a worker's seed.
HABITS, TIMES, LEAVING, MEMORY, LEARNING, START = range(6)


@dataclass(frozen=True, kw_only=True)
class ResponseTime:
    """Shifted lognormal times in milliseconds; an unsure answer takes longer.

    An answer given in doubt takes fastest_ms + (typical_ms − fastest_ms)·h·exp(spread·z), where z is standard
    normal and h = 1 + hesitation·doubt: from 1 for a worker who is sure to 1 + hesitation for one who cannot tell.
    """

    fastest_ms: float = 350.0
    typical_ms: float = 1400.0
    spread: float = 0.45
    hesitation: float = 0.6

    def __post_init__(self) -> None:
        if not 0 <= self.fastest_ms < self.typical_ms < math.inf:
            raise BadSetting("Response times need 0 ≤ fastest < typical, in milliseconds.")
        if not (0 <= self.spread < math.inf and 0 <= self.hesitation < math.inf):
            raise BadSetting("The spread and the hesitation of response times are 0 or above.")

    def __call__(self, doubts: npt.ArrayLike, z: npt.ArrayLike) -> FloatArray:
        """Times (…) for answers given in doubts (…) from 0 to 1, with standard normal z (…)."""
        slowing = 1 + self.hesitation * np.asarray(doubts, dtype=np.float64)
        beyond = (self.typical_ms - self.fastest_ms) * slowing
        return np.asarray(self.fastest_ms + beyond * np.exp(self.spread * np.asarray(z)))


def doubt(probabilities: FloatArray) -> float:
    """From 0, all on one of the classes, to 1, alike for all k: (1 − Σ P²)·k/(k−1), 4p(1−p) of two."""
    k = len(probabilities)
    return float((1 - probabilities @ probabilities) * k / (k - 1))


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How a worker answers, apart from what the worker knows.

    guess: the chance to press any button instead of looking. lapse: the chance to hit another button than the one
    meant. drop_out: the chance to leave for good before any one answer. With P_c the chance of class c by concept
    alone, an answer is c with probability guess/k + (1 − guess)·((1 − lapse)·P_c + lapse·(1 − P_c)/(k − 1)).
    """

    guess: float = 0.0
    lapse: float = 0.0
    drop_out: float = 0.0
    response_time: ResponseTime = field(default_factory=ResponseTime)

    def __post_init__(self) -> None:
        for name in ("guess", "lapse", "drop_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadSetting(f"The chance {name} is {getattr(self, name)}; it lies in [0, 1].")


@dataclass(frozen=True)
class Response:
    """An answer and the time that it took."""

    answer: int
    response_ms: float


class SimulatedWorker:
    """A learner with habits, a memory span and a seed of its own.

    The span is n̄ = 1/(1−β), what the memory test would have to measure for its β̂ = 1 − 1/n̄ to be right.
    """

    def __init__(
        self,
        learner: Learner,
        *,
        beta: float,
        habits: Habits | None = None,
        seed: Seed = 0,
    ) -> None:
        check_beta(beta)
        self.learner = learner
        self.beta = beta
        self.habits = habits or Habits()
        self._seed = seed
        self._habit_draws = stream(seed, HABITS)
        self._time_draws = stream(seed, TIMES)
        self._leaving_draws = stream(seed, LEAVING)

    @property
    def span(self) -> float:
        """n̄, how many pictures the worker can put back into order."""
        return 1 / (1 - self.beta)

    def probabilities(self, features: FloatArray) -> FloatArray:
        """P(the worker says each class), shape (…, k), by the learner's P and the habits."""
        guess, lapse, p = self.habits.guess, self.habits.lapse, self.learner.probabilities(features)
        k = p.shape[-1]
        return np.asarray(guess / k + (1 - guess) * ((1 - lapse) * p + lapse * (1 - p) / (k - 1)))

    def answer(self, x: FloatArray) -> int:
        """Name the class of one example (d,), habits included."""
        meant = self.learner.answer(x)
        # All three are drawn for every answer: a change of one chance moves no other draw.
        guess, side, slip = self._habit_draws.random(3)
        is_guess, is_slip = guess < self.habits.guess, slip < self.habits.lapse
        if not (is_guess or is_slip):
            return meant
        k = len(self.learner.probabilities(x))
        if is_guess:
            return k - 1 - int(k * side)
        # What led to the slip is, below its limit, a uniform number again: it picks the other button.
        return (meant + 1 + int((k - 1) * slip / self.habits.lapse)) % k

    def learn(self, x: FloatArray, label: int) -> None:
        """Take one example (d,) with its revealed class."""
        self.learner.learn(x, label)

    def respond(self, x: FloatArray) -> Response:
        """Name the class of one example (d,) and say how long that took."""
        return Response(self.answer(x), self.think_ms(doubt(self.learner.probabilities(x))))

    def answers(self, features: FloatArray) -> IntArray:
        """Name the classes of many examples (m, d) in turn, without feedback."""
        return np.array([self.answer(x) for x in features], dtype=np.intp)

    def think_ms(self, doubts: float = 1.0) -> float:
        """The time for a decision taken in doubt, from 0 to 1."""
        return float(self.habits.response_time(doubts, self._time_draws.standard_normal()))

    def leaves(self) -> bool:
        """Whether the worker leaves now; to be asked once before every answer."""
        return bool(self._leaving_draws.random() < self.habits.drop_out)

    def memory_length(self, trial: int) -> int:
        """How many pictures the worker remembers in a trial: always the same for the same trial."""
        whole = math.floor(self.span)
        extra = extra_picture_chance(self.span - whole, MEMORY_TRIALS)
        return whole + int(stream(self._seed, MEMORY, trial).random() < extra)

    def restore(self, order: Sequence[T], trial: int) -> list[T]:
        """Put the pictures of a memory round back into order, as far as they are remembered.

        Up to the memory length of the trial the order is right. Beyond it the last ones are turned round: one
        more of them in its place, and the order would be right after all.
        """
        length = self.memory_length(trial)
        if len(order) <= length:
            return list(order)
        known, lost = order[: length - 1], order[length - 1 :]
        shift = int(stream(self._seed, MEMORY, trial, len(order)).integers(1, len(lost)))
        return [*known, *lost[shift:], *lost[:shift]]


def stream(seed: Seed, *purpose: int) -> np.random.Generator:
    """The generator of one purpose under a seed."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=purpose))


def extra_picture_chance(share: float, trials: int = MEMORY_TRIALS) -> float:
    """The chance q of one more picture in a trial, such that the test measures `share` more on average.

    The test takes the mean of all trials but the shortest. If each of m trials has one more with chance q, their
    sum has m·q more, and the shortest one more with chance q^m: (m·q − q^m)/(m − 1) = share.
    """
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        q = (low + high) / 2
        measured = q if trials < 2 else (trials * q - q**trials) / (trials - 1)
        low, high = (q, high) if measured < share else (low, q)
    return low


def make_worker(
    pool: Pool,
    *,
    beta: float,
    learning_rate: LearningRate,
    seed: Seed,
    conviction: float = 1.0,
    noise: float = 0.0,
    bernoulli: bool = False,
    habits: Habits | None = None,
) -> SimulatedWorker:
    """A worker of the paper's kind before its first lesson, for a pool.

    The first concept has a random direction, and such a length that the margins between two classes, wᵀx of two,
    have the root mean square `conviction` over the pool: opinions as firm in a pool of any scale, and as often wrong
    as right.
    """
    k = pool.class_count
    start = stream(seed, START).standard_normal((k - 1, pool.dimensions))
    margins = float(np.sqrt(np.mean((pool.features @ start.T) ** 2)))
    learner = SimulatedLearner(
        contrasts(k) @ start * (conviction / margins if margins > 0 else 1.0),
        beta=beta,
        learning_rate=learning_rate,
        noise=noise,
        answers="bernoulli" if bernoulli else "deterministic",
        rng=stream(seed, LEARNING),
    )
    return SimulatedWorker(learner, beta=beta, habits=habits, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Population:
    """Workers of the paper's kind who differ in memory and in what they believe at first.

    Memory spans n̄ are normal with mean `span` and deviation `span_sd`, kept within [shortest, longest]. First
    concepts have a random direction, with margins between two classes of root mean square `conviction` over the pool.
    """

    span: float = 5.5
    span_sd: float = 1.5
    shortest: float = 2.0
    longest: float = 9.0
    conviction: float = 0.3
    bernoulli: bool = False
    habits: Habits = field(default_factory=lambda: Habits(lapse=0.02))

    def worker(self, pool: Pool, rate: LearningRate, seed: Sequence[int]) -> SimulatedWorker:
        """The worker of a seed, before its first lesson."""
        drawn = np.random.default_rng([*seed, 1]).normal(self.span, self.span_sd)
        span = float(np.clip(drawn, self.shortest, self.longest))
        return make_worker(
            pool,
            beta=1 - 1 / span,
            learning_rate=rate,
            seed=[*seed, 2],
            conviction=self.conviction,
            bernoulli=self.bernoulli,
            habits=self.habits,
        )
