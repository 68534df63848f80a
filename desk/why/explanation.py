"""Why a teacher showed an image: what it believed, how it judged every image, and what others would have shown.

Numbers only, worked out again from the stored history: nothing of this is kept, and nothing of it reaches a worker.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from studies.models import Participant
from teaching import pools, services
from teaching.engine import TEACHERS, Choice, EngineError, Pool, Shown, Teacher
from teaching.engine.arrays import BoolArray, FloatArray
from teaching.engine.history import Past
from teaching.engine.learners.paper import error_probability
from teaching.engine.teachers.base import Judgement
from teaching.models import TeachingStep


class Ground(StrEnum):
    """What decided a choice."""

    COLD_START = "cold start"
    CHANCE = "chance"
    SPLIT = "diversity and usefulness"
    RISK = "risk"
    LIKENESS = "likeness"
    SCORE = "score"


# Teachers whose scores mean something else than JEDI's. Any other is known by whether it splits them.
GROUNDS = {"rt": Ground.CHANCE, "eer": Ground.RISK}


@dataclass(frozen=True)
class Candidate:
    """One image of the pool as a teacher saw it. Where chance decides there is no score and no rank."""

    example: int
    label: int
    p: float
    f: float
    score: float | None
    rank: int | None
    """1 for the best of those allowed; for others, where they would have stood among them"""
    diversity: float | None
    usefulness: float | None
    p_low: float | None
    p_high: float | None
    shown_at: tuple[int, ...]
    """the steps, from 1, that showed it before"""


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
    def ground(self) -> Ground:
        if self.choice.is_cold_start:
            return Ground.COLD_START
        if (self.judgement.likeness or 0.0) > 0.5:
            return Ground.LIKENESS
        by_default = Ground.SCORE if self.judgement.diversity is None else Ground.SPLIT
        return GROUNDS.get(self.teacher.name, by_default)

    @property
    def is_by_chance(self) -> bool:
        return self.ground in (Ground.COLD_START, Ground.CHANCE)

    @cached_property
    def allowed(self) -> BoolArray:
        return np.isfinite(self.choice.scores)

    @cached_property
    def errors(self) -> FloatArray:
        """f of every image, (n,)."""
        return error_probability(self.judgement.p, self.pool.labels)

    @property
    def window(self) -> int | None:
        """How many of the last steps were left out; None for a teacher with a rule of its own."""
        if type(self.teacher).allowed is not Teacher.allowed or self.choice.is_cold_start:
            return None
        given = self.teacher.repeat_window
        return self.teacher.default_window() if given is None else given

    @property
    def risk_before(self) -> float:
        """How many of the images that may still be shown the worker was believed to get wrong."""
        return float(self.errors[self.allowed].sum())

    @property
    def believed_accuracy(self) -> float:
        return float(1 - self.errors.mean())

    def candidate(self, example: int) -> Candidate:
        return Candidate(
            example=example,
            label=int(self.pool.labels[example]),
            p=float(self.judgement.p[example]),
            f=float(self.errors[example]),
            score=None if self.is_by_chance else float(self.judgement.scores[example]),
            rank=None if self.is_by_chance else self.rank(example),
            diversity=entry(self.judgement.diversity, example),
            usefulness=entry(self.judgement.usefulness, example),
            p_low=entry(self.judgement.p_low, example),
            p_high=entry(self.judgement.p_high, example),
            shown_at=tuple(int(s) + 1 for s in np.flatnonzero(self.past.examples == example)),
        )

    def rank(self, example: int) -> int:
        return 1 + int((self.choice.scores < self.judgement.scores[example]).sum())

    def rank_in_pool(self, example: int) -> int:
        """Its place if nothing had been left out."""
        return 1 + int((self.judgement.scores < self.judgement.scores[example]).sum())

    def best(self, count: int) -> list[Candidate]:
        """The leading images of those allowed; none where chance decides."""
        if self.is_by_chance:
            return []
        return [self.candidate(example) for example, _ in self.choice.top(count)]

    def left_out(self) -> list[Candidate]:
        """The images that might not be shown: the best first if the window kept them out, else the newest."""
        places = np.flatnonzero(~self.allowed)
        last_shown = {int(example): s for s, example in enumerate(self.past.examples)}
        newest = sorted(places.tolist(), key=lambda one: -last_shown.get(one, -1))
        if self.window is not None:
            newest.sort(key=lambda one: float(self.judgement.scores[one]))
        return [self.candidate(example) for example in newest]


def entry(values: FloatArray | None, example: int) -> float | None:
    return None if values is None else float(values[example])


def reason_of(
    participant: Participant, history: Sequence[Shown], choice: Choice | None = None
) -> Reason:
    """What the participant's teacher makes of the pool after a history; `choice` if it is known already."""
    teacher = services.teacher_of(participant)
    pool = pools.load(participant.study_as_joined.dataset).pool
    past = Past.read(history, pool.n)
    choice = choice or services.choose(participant, history)
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
    history = pools.history(step.stored for step in replayed)
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
