"""Why a teacher showed an image: what it believed, how it judged every image, and what others would have shown.

Numbers only, worked out again from the stored history: nothing of this is kept, and nothing of it reaches a worker.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from studies.models import Participant
from teaching import services
from teaching.choice import choose, history_of, load_pool, teacher_of
from teaching.engine import TEACHERS, Choice, EngineError, Explanation, Pool, Shown, Teacher
from teaching.engine.arrays import BoolArray, FloatArray
from teaching.engine.history import Past
from teaching.engine.learners.paper import error_probability
from teaching.engine.teachers.base import Interval, Judgement
from teaching.models import TeachingStep


def class_of_p(classes: int, label: int) -> int:
    """Whose probability p is: of two classes always the second's, of more that of the image's own class."""
    return 1 if classes == 2 else label


def p_of(probabilities: Sequence[float], label: int) -> float:
    return probabilities[class_of_p(len(probabilities), label)]


@dataclass(frozen=True)
class JudgedImage:
    """One image of the pool as a teacher saw it. Where chance decides there is no score and no rank."""

    example: int
    label: int
    probabilities: tuple[float, ...]
    f: float
    score: float | None
    rank: int | None
    """1 for the best of those allowed; for others, where they would have stood among them"""
    diversity: float | None
    usefulness: float | None
    interval: Interval | None
    """where p lies nine times out of ten, if the teacher knows"""
    shown_at: tuple[int, ...]
    """the steps, from 1, that showed it before"""

    @property
    def p(self) -> float:
        return p_of(self.probabilities, self.label)


@dataclass(frozen=True)
class Reason:
    """What a teacher made of the pool at one step."""

    teacher: Teacher
    pool: Pool
    past: Past
    choice: Choice
    judgement: Judgement
    """of every image, allowed or not"""

    @property
    def step(self) -> int:
        return len(self.past) + 1

    @property
    def is_by_chance(self) -> bool:
        return self.choice.is_cold_start or self.teacher.draws_at_random

    @property
    def has_parts(self) -> bool:
        """Whether the score is diversity less usefulness."""
        return self.judgement.diversity is not None

    @property
    def explanation(self) -> Explanation:
        """The teacher's own words and numbers."""
        return self.judgement.explanation

    @cached_property
    def allowed(self) -> BoolArray:
        return np.isfinite(self.choice.scores)

    @cached_property
    def errors(self) -> FloatArray:
        """f of every image, (n,)."""
        return error_probability(self.judgement.probabilities, self.pool.labels)

    @property
    def window(self) -> int | None:
        """How many of the last steps were left out; None where no image is shown twice."""
        if self.teacher.never_repeats or self.choice.is_cold_start:
            return None
        given = self.teacher.repeat_window
        return self.teacher.default_window() if given is None else given

    @property
    def believed_accuracy(self) -> float:
        return float(1 - self.errors.mean())

    def judged(self, example: int) -> JudgedImage:
        label = int(self.pool.labels[example])
        return JudgedImage(
            example=example,
            label=label,
            probabilities=tuple(self.judgement.probabilities[example].tolist()),
            f=float(self.errors[example]),
            score=None if self.is_by_chance else float(self.judgement.scores[example]),
            rank=None if self.is_by_chance else self.rank(example),
            diversity=entry(self.judgement.diversity, example),
            usefulness=entry(self.judgement.usefulness, example),
            interval=self.explanation.interval(
                example, of=class_of_p(self.pool.class_count, label)
            ),
            shown_at=tuple(int(s) + 1 for s in np.flatnonzero(self.past.examples == example)),
        )

    def rank(self, example: int) -> int:
        return 1 + int((self.choice.scores < self.judgement.scores[example]).sum())

    def rank_in_pool(self, example: int) -> int:
        """Its place if nothing had been left out."""
        return 1 + int((self.judgement.scores < self.judgement.scores[example]).sum())

    def best(self, count: int) -> list[JudgedImage]:
        """The leading images of those allowed; none where chance decides."""
        if self.is_by_chance:
            return []
        return [self.judged(example) for example, _ in self.choice.top(count)]

    def left_out(self) -> list[JudgedImage]:
        """The images that might not be shown: the best first if the window kept them out, else the newest."""
        places = np.flatnonzero(~self.allowed)
        last_shown = {int(example): s for s, example in enumerate(self.past.examples)}
        newest = sorted(places.tolist(), key=lambda one: -last_shown.get(one, -1))
        if self.window is not None:
            newest.sort(key=lambda one: float(self.judgement.scores[one]))
        return [self.judged(example) for example in newest]


def entry(values: FloatArray | None, example: int) -> float | None:
    return None if values is None else float(values[example])


def reason_of(
    participant: Participant, history: Sequence[Shown], choice: Choice | None = None
) -> Reason:
    """What the participant's teacher makes of the pool after a history; `choice` if it is known already."""
    teacher = teacher_of(participant)
    pool = load_pool(participant.study_as_joined.dataset).pool
    past = Past.read(history, pool)
    choice = choice or choose(participant, history)
    judge = teacher.judge_cold if choice.is_cold_start else teacher.judge
    return Reason(teacher, pool, past, choice, judge(pool, past))


def as_taught_by(participant: Participant, teacher: str) -> Participant:
    """The same worker with the same seeds, had another teacher come after the same history. Not to be saved."""
    other = copy.copy(participant)
    other.arm = teacher
    return other


def other_reasons(
    participant: Participant, history: Sequence[Shown]
) -> dict[str, Reason | EngineError]:
    """What each other teacher makes of the same history, or why it cannot serve here."""
    names = [name for name in TEACHERS if name != participant.arm]
    return {name: _reason_or_refusal(as_taught_by(participant, name), history) for name in names}


def _reason_or_refusal(participant: Participant, history: Sequence[Shown]) -> Reason | EngineError:
    try:
        return reason_of(participant, history)
    except EngineError as refusal:
        return refusal


@dataclass(frozen=True)
class Standing:
    """How a shown image stood when it was chosen, by today's calculation. No rank where chance decides."""

    matches: bool
    rank: int | None
    allowed: int
    rank_in_pool: int | None
    pool_size: int


def standings(participant: Participant) -> list[tuple[TeachingStep, Standing]]:
    """Every step of a session beside its standing, each from the history that was stored before it."""
    replayed = services.replay(participant)
    history = history_of(step.stored for step in replayed)
    return [
        (step.stored, _standing(step, reason_of(participant, history[:place], step.choice)))
        for place, step in enumerate(replayed)
    ]


def _standing(step: services.ReplayedStep, reason: Reason) -> Standing:
    shown = step.stored.example.pool_index or 0
    by_chance = reason.is_by_chance
    return Standing(
        matches=step.matches,
        rank=None if by_chance else reason.rank(shown),
        allowed=int(reason.allowed.sum()),
        rank_in_pool=None if by_chance else reason.rank_in_pool(shown),
        pool_size=reason.pool.n,
    )
