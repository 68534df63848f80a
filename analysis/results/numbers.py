"""The numbers of a study, by a handful of queries. Only participants who finished count, except in attrition."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import Count, F, Q, Value
from django.db.models.functions import Coalesce, Round

from analysis import stats
from evaluation.models import EvaluationItem
from studies.head_counts import HeadCount, by_arm, outcome_groups
from studies.models import (
    MOST_CLASSES,
    Dataset,
    LabelTask,
    Participant,
    ParticipantQuerySet,
    Study,
)
from studies.version_groups import VersionChoice, choose_versions
from teaching.models import TeachingStep

# Response times are counted in classes of this width, so that a million answers come as a few rows.
TIME_CLASS_MS = 50
# The class of answers without a time.
NO_TIME = -1.0


@dataclass(frozen=True)
class Person:
    """One who finished."""

    code: str
    arm: str
    version: int
    teaching_steps: int | None
    memory_span: float | None
    beta: float | None
    beta_fitted: float | None
    beta_fitted_low: float | None
    beta_fitted_high: float | None
    unique_examples: int | None
    first_seen_accuracy: float | None
    evaluation_accuracy: float | None
    evaluation_kappa: float | None
    teaching_gain: float | None


@dataclass(frozen=True)
class AnswerCounts:
    """What the finished answered about the images of one data set.

    `steps` counts (arm, step, is first showing) as (right, answered), `confusion` (arm, true class, answer).
    """

    steps: dict[tuple[str, int, bool], tuple[int, int]]
    confusion: dict[tuple[str, int, int], int]
    times: dict[tuple[str, str], tuple[tuple[float, int], ...]]


@dataclass(frozen=True)
class Numbers:
    """Everything the page needs."""

    study: Study
    purpose: str
    versions: VersionChoice
    arms: tuple[str, ...]
    people: tuple[Person, ...]
    head_counts: dict[str, HeadCount]
    """By arm, with "" for those who have none."""
    answers: AnswerCounts
    settings: dict[int, Study]
    """The study as it was in each of the versions."""
    at_unequal_steps: int = 0
    """How many others finished, who are left out because teachers would have shown them unequal numbers of images."""

    @property
    def dataset(self) -> Dataset:
        """Of the newest of the versions: evaluation answers are about its images, and about no other's."""
        return newest_dataset(self.study, self.settings)

    @cached_property
    def surfaces(self) -> dict[str, list[int]]:
        """What the answers of the teaching say about β (`teaching.decay`), by the code of whoever has a fit.

        They are long, and one table needs them: they are read for it alone and kept no longer than the page.
        """
        finished = Finished(self.study.pk, self.purpose, self.versions.numbers, self.dataset.pk)
        rows = finished.people.values_list("code", "beta_likelihood")
        return {code: surface for code, surface in rows if surface}

    def of(self, arm: str) -> list[Person]:
        return [person for person in self.people if person.arm == arm]

    def values(self, arm: str, measure: str) -> tuple[float, ...]:
        return stats.known(getattr(person, measure) for person in self.of(arm))


def gather(study: Study, purpose: str = Participant.Purpose.LIVE, version: str = "") -> Numbers:
    """Of the versions that were asked for; by default, of the newest that may be analysed together."""
    versions = choose_versions(study, study.participants.filter(purpose=purpose), version)
    settings = settings_by_version(study, versions.numbers)
    dataset = newest_dataset(study, settings)
    finished = Finished(study.pk, purpose, versions.numbers, dataset.pk)
    people = finished_people(finished)
    head_counts = by_arm(study, outcome_groups(study, purpose, versions.numbers))
    arms = tuple(arm for arm in head_counts if arm)
    answers = answers_of(finished, people)
    return Numbers(study, purpose, versions, arms, people, head_counts, answers, settings)


def settings_by_version(study: Study, numbers: Collection[int]) -> dict[int, Study]:
    versions = study.versions.filter(number__in=numbers)
    return {version.number: study.as_of(version) for version in versions}


def newest_dataset(study: Study, settings: dict[int, Study]) -> Dataset:
    then = settings[max(settings)] if settings else study
    return then.dataset


@dataclass(frozen=True)
class Finished:
    """Those who finished one study for one purpose with some versions of its settings."""

    study: int
    purpose: str
    versions: tuple[int, ...]
    dataset: int
    """Whose images the counts of evaluation answers are about: classes of another are other classes."""

    @property
    def people(self) -> ParticipantQuerySet:
        counted = Participant.objects.counted(self.purpose).completed().filter(study=self.study)
        return counted.filter(version__number__in=self.versions)

    @property
    def answers(self) -> Q:
        own = Q(example__dataset=self.dataset)
        return own & Q(participant__in=self.people, is_correct__isnull=False)


# The answers of those who finished never change: while the same people have finished, the counts are valid.
@lru_cache(maxsize=16)
def answers_of(finished: Finished, people: tuple[Person, ...]) -> AnswerCounts:
    confusion: Counter[tuple[str, int, int]] = Counter()
    evaluation_times: Counter[tuple[str, float | None]] = Counter()
    for arm, truth, answer, time, count in evaluation_counts(finished):
        confusion[arm, truth, answer] += count
        evaluation_times[arm, time] += count
    times = time_classes("teaching", teaching_times(finished))
    times |= time_classes("evaluation", evaluation_times)
    return AnswerCounts(step_counts(finished), dict(confusion), times)


def finished_people(finished: Finished) -> tuple[Person, ...]:
    fields = (
        "code", "arm", "version__number", "teaching_steps", "memory_span", "beta", "beta_fitted",
        "beta_fitted_low", "beta_fitted_high", "unique_examples", "first_seen_accuracy",
        "evaluation_accuracy", "evaluation_kappa", "teaching_gain",
    )  # fmt: skip
    return tuple(Person(*row) for row in finished.people.order_by("pk").values_list(*fields))


def step_counts(finished: Finished) -> dict[tuple[str, int, bool], tuple[int, int]]:
    counts = count_answers(TeachingStep, finished, "step", "is_first_showing")
    rows = counts.annotate(right=Count("pk", filter=Q(is_correct=True)))
    return {(arm, step, is_first): (right, n) for arm, step, is_first, n, right in rows}


def count_answers(tasks: type[LabelTask], finished: Finished, *kind: Any) -> Any:
    """(arm, *kind, how many) for every kind of answer, counted by the database."""
    rows = tasks._default_manager.filter(finished.answers).order_by()
    return rows.values_list("participant__arm", *kind).annotate(n=Count("pk"))


def teaching_times(finished: Finished) -> Counter[tuple[str, float | None]]:
    rows = count_answers(TeachingStep, finished, Round(F("response_ms") / TIME_CLASS_MS))
    return Counter({(arm, time): count for arm, time, count in rows})


def evaluation_counts(finished: Finished) -> Iterator[tuple[str, int, int, float | None, int]]:
    """(arm, true class, answer, time, how many): one pass over the largest table serves the confusion and the times.

    Time, truth and answer are counted as one number, because the database sorts by it: one is sorted faster than three.
    """
    known = Coalesce(F("response_ms"), Value(NO_TIME * TIME_CLASS_MS))
    classes = MOST_CLASSES * F("example__label") + F("answer")
    kind = MOST_CLASSES**2 * Round(known / TIME_CLASS_MS) + classes
    for arm, number, count in count_answers(EvaluationItem, finished, kind):
        time, pair = divmod(number, MOST_CLASSES**2)
        truth, answer = divmod(int(pair), MOST_CLASSES)
        yield arm, truth, answer, None if time == NO_TIME else time, count


def time_classes(
    stage: str, counts: Counter[tuple[str, float | None]]
) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
    """(arm, stage) to (middle of the class in ms, how many), in rising order; unknown times are left out."""
    classes: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for (arm, time), count in counts.items():
        if time is not None:
            classes.setdefault((arm, stage), []).append((float(time) * TIME_CLASS_MS, count))
    return {key: tuple(sorted(rows)) for key, rows in classes.items()}
