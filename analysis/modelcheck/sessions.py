"""The teaching of finished workers as arrays, with what their teachers predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from studies.models import Participant, Study
from studies.version_groups import VersionChoice
from teaching.choice import learning_rate_of, load_pool
from teaching.engine import LearningRate, Pool
from teaching.engine.arrays import FloatArray, IntArray
from teaching.models import TeachingStep


@dataclass(frozen=True, eq=False)
class TaughtSession:
    """One worker's teaching: examples and answers (t,), and what the teacher gave each class before, (t, k)."""

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


def sessions_of(
    study: Study, purpose: str, versions: VersionChoice, most: int
) -> list[TaughtSession]:
    """The newest finished sessions of some versions, each taught by the settings that it began with."""
    people = versions.people(study.participants.counted(purpose).completed())
    newest = people.select_related("version", "study__dataset").order_by("-pk")[:most]
    settings: dict[int, Study] = {}
    by_pk = {}
    for person in newest:
        settings.setdefault(person.version_id, person.study_as_joined)
        person.study_as_joined = settings[person.version_id]
        by_pk[person.pk] = person
    return list(taught_sessions(by_pk))


def taught_sessions(people: dict[int, Participant]) -> Iterator[TaughtSession]:
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
