"""The teaching of finished participants as arrays, and what the Tracked teacher infers from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from studies.models import Participant, Study
from studies.version_groups import VersionChoice
from teaching.choice import learning_rate_of, load_pool
from teaching.decay import SessionFit, fit_decay
from teaching.engine import LearningRate, Pool, Shown, Tracked
from teaching.engine.arrays import FloatArray, IntArray
from teaching.engine.bank import FAMILIES, Observations
from teaching.models import TeachingStep

FAMILY_TITLES = {family.name: family.title for family in FAMILIES}
# Above this a family is more probable than all others together.
CLEAR_MAJORITY = 0.5


@dataclass(frozen=True, eq=False)
class TaughtSession:
    """One participant's teaching: examples and answers (t,), and the teacher's probability of each class (t, k)."""

    code: str
    arm: str
    memory_span: float | None
    beta: float
    rate: LearningRate
    pool: Pool
    examples: IntArray
    answers: IntArray
    probabilities: FloatArray

    @property
    def classes(self) -> int:
        return self.pool.class_count

    @property
    def labels(self) -> IntArray:
        return np.asarray(self.pool.labels[self.examples])

    @property
    def right(self) -> FloatArray:
        """1 where the answer was right, (t,)."""
        return np.asarray(self.answers == self.labels, dtype=np.float64)


@dataclass(frozen=True)
class LearnerEstimate:
    """The Tracked teacher's view of a session: P of all classes before each answer (t, k), and of each family of
    learner models after the last."""

    expected: FloatArray
    families: dict[str, float]

    @cached_property
    def likeliest(self) -> str:
        return max(self.families, key=self.families.__getitem__)

    @property
    def probability(self) -> float:
        """Of the likeliest family."""
        return self.families[self.likeliest]

    @property
    def is_clear(self) -> bool:
        return self.probability > CLEAR_MAJORITY


def load_sessions(
    study: Study, purpose: str, versions: VersionChoice, limit: int
) -> list[TaughtSession]:
    """The newest finished sessions of some versions, each with the settings that it began with."""
    people = versions.people(study.participants.counted(purpose).completed())
    newest = people.select_related("version", "study__dataset").order_by("-pk")[:limit]
    settings: dict[int, Study] = {}
    by_pk = {}
    for person in newest:
        settings.setdefault(person.version_id, person.study_as_joined)
        person.study_as_joined = settings[person.version_id]
        by_pk[person.pk] = person
    return list(_with_steps(by_pk))


def _with_steps(people: dict[int, Participant]) -> Iterator[TaughtSession]:
    steps = (
        TeachingStep.objects.filter(participant__in=people, answer__isnull=False)
        .order_by("participant_id", "position")
        .values_list("participant_id", "example__pool_index", "answer", "probabilities")
    )
    for pk, rows in groupby(steps, key=lambda row: row[0]):
        person = people[pk]
        _, examples, answers, probabilities = zip(*rows, strict=True)
        study = person.study_as_joined
        yield TaughtSession(
            code=person.code,
            arm=person.arm,
            memory_span=person.memory_span,
            beta=person.beta or 0.0,
            rate=learning_rate_of(study),
            pool=load_pool(study.dataset).pool,
            examples=np.array(examples, dtype=np.intp),
            answers=np.array(answers, dtype=np.intp),
            probabilities=np.array(probabilities, dtype=np.float64),
        )


def fit(session: TaughtSession) -> SessionFit:
    """β fitted to the answers."""
    return fit_decay(
        Observations(
            session.pool,
            session.examples,
            session.labels,
            session.answers,
            session.beta,
            session.rate,
        )
    )


def track(session: TaughtSession) -> LearnerEstimate:
    """Runs Tracked's learner models through a session, whichever teacher taught it."""
    teacher = Tracked(beta=session.beta, learning_rate=session.rate)
    rows = zip(session.examples, session.answers, session.probabilities, strict=True)
    shown = [Shown(int(example), int(answer), p.tolist()) for example, answer, p in rows]
    mixture = teacher.mixture(session.pool, shown)
    return LearnerEstimate(mixture.predicted_answers(), mixture.family_weights())
