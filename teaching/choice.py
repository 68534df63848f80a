"""The teacher's choice: the pool and the history as arrays, the teacher of a participant, and the next step."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from studies import database
from studies.errors import FilesLost
from studies.models import Dataset, Example, Participant, Study
from studies.models.settings import JediEstimator

from .engine import BadPoolFolder, Choice, LearningRate, Pool, Shown, Teacher, make_teacher
from .engine.teachers.jedi import JEDI, Estimator
from .models import TeachingStep
from .references import references_of

# The numbers of a choice that a step stores under the same names.
SCORED = ("f", "score", "diversity", "usefulness", "learning_rate")


class PoolLost(FilesLost, BadPoolFolder):
    """A participant is asked for patience; researchers read what the engine found."""

    def __str__(self) -> str:
        return str(self.__cause__ or self.message)


@dataclass(frozen=True)
class TeachingPool:
    """A data set's pool as the engine sees it, with the id of the example in every row."""

    pool: Pool
    example_ids: Sequence[int]


def load_pool(dataset: Dataset) -> TeachingPool:
    """The pool of a data set, shared by all threads. Its arrays are memory-mapped, so that processes share pages."""
    return _load_pool(dataset.pk, dataset.key)


@lru_cache(maxsize=8)
def _load_pool(dataset_id: int, key: str) -> TeachingPool:
    # The key is part of the cache key because a data set may be made again under the same id.
    dataset = Dataset.objects.get(pk=dataset_id, key=key)
    rows = dataset.examples.filter(split=Example.Split.TEACHING).order_by("pool_index")
    try:
        pool = Pool.load(dataset.folder / "pool")
    except BadPoolFolder as damage:
        raise PoolLost from damage
    return TeachingPool(pool, list(rows.values_list("pk", flat=True)))


class Answered(NamedTuple):
    """A step as the engine reads it, and whether its answer was correct."""

    shown: Shown
    is_correct: bool


def read_history(step: TeachingStep) -> list[Answered]:
    """The steps of a session up to an answered one, whose answer need not be stored yet."""
    rows = database.read_teaching_history(step.participant_id, step.position)
    if not rows:
        raise database.Conflict
    # One parse of all lists takes a third of the time of one parse for each.
    probabilities = json.loads(f"[{','.join(row[2] for row in rows)}]")
    history = [
        Answered(Shown(example=example, answer=answer, p=p), bool(is_correct))
        for (example, answer, _, is_correct), p in zip(rows, probabilities, strict=True)
    ]
    last = Shown(example=rows[-1][0], answer=step.answer or 0, p=probabilities[-1])
    return [*history[:-1], Answered(last, bool(step.is_correct))]


def history_of(steps: Iterable[TeachingStep]) -> list[Shown]:
    """The answered steps as the engine reads them."""
    return [
        Shown(example=pool_index(step.example), answer=step.answer, p=step.probabilities)
        for step in steps
        if step.answer is not None
    ]


def pool_index(example: Example) -> int:
    if example.pool_index is None:
        raise ValueError(f"Example {example.key} is not in the teaching pool.")
    return example.pool_index


def teacher_of(participant: Participant) -> Teacher:
    study = participant.study_as_joined
    return make_teacher(
        participant.arm,
        beta=participant.beta or 0.0,
        learning_rate=learning_rate_of(study),
        repeat_window=study.repeat_window,
        cold_start=study.cold_start,
        estimator=estimator_of(study, participant.arm),
    )


def estimator_of(study: Study, arm: str) -> Estimator:
    """Which belief estimator the arm uses (configurable for JEDI only)."""
    if arm == JEDI.name and study.jedi_estimator == JediEstimator.REGULARISED:
        return "regularised"
    return "paper"


def learning_rate_of(study: Study) -> LearningRate:
    """The rate that the teachers of a study assume and simulated participants follow."""
    return LearningRate(initial=study.effective_learning_rate, decay=study.learning_rate_decay)


def choose(participant: Participant, history: Sequence[Shown]) -> Choice:
    """The teacher's choice: a function of the study's seed, the participant and the history alone."""
    pool = load_pool(participant.study_as_joined.dataset).pool
    rng = participant.generator("teaching", len(history) + 1)
    return teacher_of(participant).choose(pool, history, rng)


def choose_step(participant: Participant, position: int, history: Sequence[Shown]) -> TeachingStep:
    """The next step, not yet stored. It takes no lock and may compute as long as it needs."""
    started = time.perf_counter()
    choice = choose(participant, history)
    elapsed_ms = 1000 * (time.perf_counter() - started)
    study = participant.study_as_joined
    example_id = load_pool(study.dataset).example_ids[choice.example]
    # An image that was shown as the reference picture of its class has been seen.
    seen = {one.pk for one in references_of(study.dataset)} if study.shows_references else set()
    kinds = learner_kinds(choice)
    kind = max(kinds, key=kinds.__getitem__, default="")
    return TeachingStep(
        participant=participant,
        position=position,
        step=len(history) + 1,
        example=database.get_example(example_id, study.dataset.key),
        is_random=choice.is_cold_start,
        is_first_showing=example_id not in seen
        and all(shown.example != choice.example for shown in history),
        probabilities=list(choice.probabilities),
        p=probability_of_second(choice),
        **{name: getattr(choice, name) for name in SCORED},
        learner_kind=kind,
        learner_kind_p=kinds.get(kind),
        teacher_version=choice.teacher_version,
        choice_ms=elapsed_ms,
    )


def learner_kinds(choice: Choice) -> dict[str, float]:
    """How probable each kind of learner was; empty for a teacher that weighs no kinds."""
    kinds: dict[str, float] = getattr(choice.explanation, "families", {})
    return kinds


def probability_of_second(choice: Choice) -> float | None:
    """P of class 1 if there are two classes."""
    return choice.p if len(choice.probabilities) == 2 else None
