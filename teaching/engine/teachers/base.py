"""What all teachers share: settings, cold start, repeat window, and the shape of a choice."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import BoolArray, Examples, FloatArray
from ..classes import folded
from ..errors import BadSetting, PoolExhausted
from ..harmonic import harmonic
from ..history import Past, Shown
from ..learners.paper import LearningRate, check_beta, error_probability
from ..pool import Pool
from . import cold_start

# A label and a value, both as a researcher reads them.
Fact = tuple[str, str]
# A lower and an upper limit.
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a teacher says about its choice when a researcher asks why: the words and numbers of one judgement.

    A teacher that has more to say extends this class.

    text: how it chose, in sentences.
    score_name: what the score measures, as a label; smaller is better.
    baseline: a label, and the score of showing nothing at all, where there is such a number.
    """

    text: str = ""
    score_name: str = "score"
    baseline: tuple[str, float] | None = None

    def advantage(self, score: float) -> str:
        """What the image with the best score has that no other has."""
        return f"the lowest {self.score_name}"

    def facts(self) -> list[Fact]:
        """What the teacher has found out about the learner, beside what it was given."""
        return []

    def interval(self, example: int, of: int = 1) -> Interval | None:
        """Between which limits P(class `of`) of an example lies nine times out of ten, if the teacher knows."""
        return None


@dataclass(frozen=True)
class Judgement:
    """What a teacher makes of every example: probabilities (n, k) and scores (n,), smaller ones first.

    `estimate` are the probabilities, or what works them out for some examples: a choice needs those of
    one. A teacher whose score has two parts gives them too: score = diversity − usefulness. What else
    it has to say stands in its own kind of `Explanation`.
    """

    estimate: FloatArray | Callable[[Examples], FloatArray] = field(repr=False)
    scores: FloatArray
    diversity: FloatArray | None = None
    usefulness: FloatArray | None = None
    explanation: Explanation = field(default_factory=Explanation)

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(the learner says each class) for every example, shape (n, k)."""
        return self.estimate(slice(None)) if callable(self.estimate) else self.estimate

    def believed(self, example: int) -> FloatArray:
        """The same for one example, (k,)."""
        if callable(self.estimate):
            return np.asarray(self.estimate(np.array([example]))[0])
        return np.asarray(self.estimate[example])

    @property
    def p(self) -> FloatArray:
        """P(class 1) of every example, shape (n,), of two classes; (n, k) of more."""
        return folded(self.probabilities)


@dataclass(frozen=True)
class Choice:
    """The example to show next, and why.

    `probabilities` are the estimates that the learner says each of the k classes, to be stored with
    the step; `f` = 1 − P_y the estimate that the learner is wrong; `score` what the rule in force gave
    it, smaller being better: the teacher's own, or 0 where chance alone decides (RT and the cold
    start). Where the score has two parts, score = diversity − usefulness. `judgement` is the teacher's
    judgement of every example, allowed or not; `scores` (n,) are infinite where not allowed.
    """

    example: int
    probabilities: tuple[float, ...]
    f: float
    score: float
    learning_rate: float
    is_cold_start: bool
    teacher_version: int
    diversity: float | None = None
    usefulness: float | None = None
    judgement: Judgement = field(repr=False, compare=False, kw_only=True)
    scores: FloatArray = field(repr=False, compare=False, kw_only=True)

    @property
    def explanation(self) -> Explanation:
        return self.judgement.explanation

    @property
    def p(self) -> float:
        """P(the learner says class 1): of two classes, all there is to know."""
        return self.probabilities[1]

    def answered(self, answer: int) -> Shown:
        """The step that this choice is, once answered with a class."""
        is_binary = len(self.probabilities) == 2
        return Shown(self.example, answer, self.p if is_binary else self.probabilities)

    def top(self, count: int) -> list[tuple[int, float]]:
        """The best examples that were allowed, as (example, score), best first."""
        order = np.argsort(self.scores, kind="stable")[:count]
        return [(int(i), float(self.scores[i])) for i in order if np.isfinite(self.scores[i])]


@dataclass(frozen=True, kw_only=True)
class Teacher(ABC):
    """A rule that picks the next example: a pure function of pool, history and generator.

    beta: the learner's memory decay rate in [0, 1), for the teachers that use one.
    learning_rate: the learner's, called with t counted from 1.
    repeat_window: leave out what this many of the last steps showed; None for the teacher's own
    rule, 0 for none.
    cold_start: how many examples are drawn at random before the teacher's rule takes over.
    """

    # What everybody else needs to know about a teacher: forms, pages, files and figures read it here.

    name: ClassVar[str]
    """as studies and files name it"""
    title: ClassVar[str]
    """as people read it"""
    description: ClassVar[str]
    """a sentence about how it chooses, for a researcher who sets up a study"""
    version: ClassVar[int] = 1
    """raised when the same history gives another choice, so that replays do not compare different rules"""
    is_reference: ClassVar[bool] = False
    """whether the results compare the other teachers with this one"""
    length_follows_memory: ClassVar[bool] = False
    """whether it shows as many images as suit the learner's memory span, not a fixed number"""
    draws_at_random: ClassVar[bool] = False
    """whether chance alone decides, so that scores and ranks mean nothing"""
    never_repeats: ClassVar[bool] = False
    """whether it shows no example twice, whatever the repeat window"""
    largest_pool: ClassVar[int | None] = None
    """how many examples a pool of this teacher may have; None if any number"""

    beta: float = 0.0
    learning_rate: LearningRate = field(default_factory=LearningRate)
    repeat_window: int | None = None
    cold_start: int = 5

    def __post_init__(self) -> None:
        check_beta(self.beta)
        if not isinstance(self.learning_rate, LearningRate):
            raise BadSetting(
                f"The learning rate is {self.learning_rate!r}; give it as LearningRate(initial, decay)."
            )
        for what, count in (("repeat window", self.repeat_window), ("cold start", self.cold_start)):
            if count is not None and not _is_count(count):
                raise BadSetting(f"The {what} is {count!r}; give a whole number of steps from 0.")

    @classmethod
    def serves(cls, n: int) -> bool:
        """Whether a pool of n examples is not too large for this teacher."""
        return cls.largest_pool is None or n <= cls.largest_pool

    # What a teacher defines: `judge`, and what else it does its own way.

    def probabilities(self, pool: Pool, past: Past) -> FloatArray:
        """P(the learner says each class) for every example, shape (n, k)."""
        return harmonic(pool, past)

    @abstractmethod
    def judge(self, pool: Pool, past: Past) -> Judgement:
        """Score every example, allowed or not, once the cold start is over."""

    def judge_cold(self, pool: Pool, past: Past) -> Judgement:
        """What is believed while chance decides; every score is 0."""
        return Judgement(self.probabilities(pool, past), np.zeros(pool.n))

    def default_window(self) -> int:
        """The repeat window when none is set."""
        return 0

    def allowed(self, pool: Pool, past: Past) -> BoolArray:
        """Which examples may be shown now, shape (n,): those outside the repeat window."""
        return self._unseen(pool, past) if self.never_repeats else self._outside_window(pool, past)

    def _unseen(self, pool: Pool, past: Past) -> BoolArray:
        unseen = np.ones(pool.n, dtype=np.bool_)
        unseen[past.taught] = False
        if not unseen.any():
            raise PoolExhausted(
                f"{self.title} never repeats and has shown all {pool.n} examples; "
                "end the session or use a larger pool."
            )
        return unseen

    def _outside_window(self, pool: Pool, past: Past) -> BoolArray:
        window = self.default_window() if self.repeat_window is None else self.repeat_window
        # However long the window, one example is left to be shown.
        recent = min(window, pool.n - 1)
        outside = np.ones(pool.n, dtype=np.bool_)
        outside[past.examples[max(len(past) - recent, 0) :]] = False
        return outside

    def pick(self, scores: FloatArray, rng: np.random.Generator) -> int:
        """The best example; of equals the first."""
        return int(np.argmin(scores))

    # What a caller uses.

    def estimate(self, pool: Pool, past: Past) -> FloatArray:
        """P(the learner says class 1) for every example, shape (n,), of two classes; (n, k) of more."""
        return folded(self.probabilities(pool, past))

    def scores(self, pool: Pool, history: Sequence[Shown]) -> FloatArray:
        """The scores that decide the next choice, shape (n,); infinite where not allowed."""
        judgement, allowed, _ = self._decide(pool, Past.read(history, pool))
        return _restricted(judgement.scores, allowed)

    def choose(self, pool: Pool, history: Sequence[Shown], rng: np.random.Generator) -> Choice:
        """Pick the example for step t, given the t−1 steps so far."""
        past = Past.read(history, pool)
        judgement, allowed, chances = self._decide(pool, past)
        scores = _restricted(judgement.scores, allowed)
        is_cold = chances is not None
        example = int(rng.choice(pool.n, p=chances) if is_cold else self.pick(scores, rng))
        believed = judgement.believed(example)

        def of_example(values: FloatArray | None) -> float | None:
            return None if values is None else float(values[example])

        return Choice(
            example=example,
            probabilities=tuple(believed.tolist()),
            f=float(error_probability(believed[None], pool.labels[[example]])[0]),
            score=float(scores[example]),
            learning_rate=self.learning_rate(len(past) + 1),
            is_cold_start=is_cold,
            teacher_version=self.version,
            diversity=of_example(judgement.diversity),
            usefulness=of_example(judgement.usefulness),
            judgement=judgement,
            scores=scores,
        )

    def _decide(self, pool: Pool, past: Past) -> tuple[Judgement, BoolArray, FloatArray | None]:
        """The judgement of every example, which may be shown (n,), and in the cold start their probabilities (n,)."""
        cold_steps = min(self.cold_start, pool.n) - len(past)
        if cold_steps > 0:
            chances = cold_start.chances(pool.labels, past.taught, cold_steps, pool.class_count)
            return self.judge_cold(pool, past), chances > 0, chances
        allowed = self.allowed(pool, past)
        return self.judge(pool, past), allowed, None


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and bool(value >= 0)


def _restricted(scores: FloatArray, allowed: BoolArray) -> FloatArray:
    """The scores, infinite where an example is not allowed."""
    return np.where(allowed, scores, np.inf)
