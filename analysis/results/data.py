"""The data behind the results of a study, and a description of the participants in it.

A handful of queries load everything. Only participants who finished count, except in the table of attrition.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import Count, F, Q, Value
from django.db.models.functions import Coalesce, Round

from analysis import stats
from analysis.charts.formatting import UNKNOWN, in_words
from evaluation.models import EvaluationItem
from studies.head_counts import HeadCount, by_arm, outcome_groups
from studies.models import (
    MAX_CLASSES,
    Dataset,
    LabelTask,
    Participant,
    ParticipantQuerySet,
    Study,
)
from studies.version_groups import VersionChoice, choose_versions, versions_in_words
from teaching.assignment import teaching_length
from teaching.models import TeachingStep

Purpose = Participant.Purpose
KINDS: dict[str, str] = {
    Purpose.LIVE: "live participants",
    Purpose.PILOT: "pilots",
    Purpose.REHEARSAL: "bots of a rehearsal",
}
ONE_OF: dict[str, str] = {
    Purpose.LIVE: "participant",
    Purpose.PILOT: "pilot",
    Purpose.REHEARSAL: "bot",
}
# Figures of sessions that do not count have these words across their middle and in their file names.
WATERMARKS: dict[str, str] = {Purpose.PILOT: "pilots", Purpose.REHEARSAL: "bots, not people"}
FILE_MARKS: dict[str, str] = {Purpose.PILOT: "-pilots", Purpose.REHEARSAL: "-bots"}
# The database counts response times in classes of this width, so that a million answers become a few rows.
TIME_CLASS_MS = 50
# The class of answers without a time.
NO_TIME = -1.0


@dataclass(frozen=True)
class ParticipantResult:
    """A participant who finished."""

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
    """Counts of the answers of finished participants to the images of one data set.

    `steps` counts (arm, step, is first showing) as (right, answered), `confusion` (arm, true class, answer).
    """

    steps: dict[tuple[str, int, bool], tuple[int, int]]
    confusion: dict[tuple[str, int, int], int]
    times: dict[tuple[str, str], tuple[tuple[float, int], ...]]


@dataclass(frozen=True)
class StudyResults:
    """Everything that the page and the figures need."""

    study: Study
    purpose: str
    versions: VersionChoice
    arms: tuple[str, ...]
    people: tuple[ParticipantResult, ...]
    head_counts: dict[str, HeadCount]
    """By arm; "" are those before assignment."""
    answers: AnswerCounts
    settings: dict[int, Study]
    """By version number: the study with the settings of that version."""
    at_unequal_steps: int = 0
    """How many finished but are left out, because teachers would have shown them unequal numbers of images."""

    @property
    def dataset(self) -> Dataset:
        """That of the newest version; only answers about its images are counted."""
        return newest_dataset(self.study, self.settings)

    @cached_property
    def surfaces(self) -> dict[str, list[int]]:
        """The log likelihood of β (`teaching.decay`) by participant code.

        They are long and only one table needs them, so they are loaded on access.
        """
        finished = Finished(self.study.pk, self.purpose, self.versions.numbers, self.dataset.pk)
        rows = finished.people.values_list("code", "beta_likelihood")
        return {code: surface for code, surface in rows if surface}

    @property
    def has_unequal_steps(self) -> bool:
        return len({person.teaching_steps for person in self.people if person.arm}) > 1

    def in_arm(self, arm: str) -> list[ParticipantResult]:
        return [person for person in self.people if person.arm == arm]

    def values(self, arm: str, measure: str) -> tuple[float, ...]:
        return stats.known(getattr(person, measure) for person in self.in_arm(arm))


def load_results(
    study: Study, purpose: str = Participant.Purpose.LIVE, version: str = ""
) -> StudyResults:
    """Of the given versions; by default, of the newest that may be analysed together."""
    versions = choose_versions(study, study.participants.filter(purpose=purpose), version)
    frozen = study.versions.filter(number__in=versions.numbers)
    settings = {version.number: study.as_of(version) for version in frozen}
    dataset = newest_dataset(study, settings)
    finished = Finished(study.pk, purpose, versions.numbers, dataset.pk)
    people = finished_people(finished)
    head_counts = by_arm(study, outcome_groups(study, purpose, versions.numbers))
    arms = tuple(arm for arm in head_counts if arm)
    answers = answers_of(finished, people)
    return StudyResults(study, purpose, versions, arms, people, head_counts, answers, settings)


def newest_dataset(study: Study, settings: dict[int, Study]) -> Dataset:
    then = settings[max(settings)] if settings else study
    return then.dataset


@dataclass(frozen=True)
class Finished:
    """Selects participants who finished a study for one purpose with some versions of its settings."""

    study: int
    purpose: str
    versions: tuple[int, ...]
    dataset: int
    """Only answers to its images are counted, because another data set has other classes."""

    @property
    def people(self) -> ParticipantQuerySet:
        counted = Participant.objects.counted(self.purpose).completed().filter(study=self.study)
        return counted.filter(version__number__in=self.versions)

    @property
    def answers(self) -> Q:
        own = Q(example__dataset=self.dataset)
        return own & Q(participant__in=self.people, is_correct__isnull=False)


# Answers of finished participants never change, so the counts are valid while the same people have finished.
@lru_cache(maxsize=16)
def answers_of(finished: Finished, people: tuple[ParticipantResult, ...]) -> AnswerCounts:
    confusion: Counter[tuple[str, int, int]] = Counter()
    evaluation_times: Counter[tuple[str, float | None]] = Counter()
    for arm, truth, answer, time, count in evaluation_counts(finished):
        confusion[arm, truth, answer] += count
        evaluation_times[arm, time] += count
    times = time_classes("teaching", teaching_times(finished))
    times |= time_classes("evaluation", evaluation_times)
    return AnswerCounts(step_counts(finished), dict(confusion), times)


def finished_people(finished: Finished) -> tuple[ParticipantResult, ...]:
    fields = (
        "code", "arm", "version__number", "teaching_steps", "memory_span", "beta", "beta_fitted",
        "beta_fitted_low", "beta_fitted_high", "unique_examples", "first_seen_accuracy",
        "evaluation_accuracy", "evaluation_kappa", "teaching_gain",
    )  # fmt: skip
    return tuple(
        ParticipantResult(*row) for row in finished.people.order_by("pk").values_list(*fields)
    )


def step_counts(finished: Finished) -> dict[tuple[str, int, bool], tuple[int, int]]:
    counts = count_answers(TeachingStep, finished, "step", "is_first_showing")
    rows = counts.annotate(right=Count("pk", filter=Q(is_correct=True)))
    return {(arm, step, is_first): (right, n) for arm, step, is_first, n, right in rows}


def count_answers(tasks: type[LabelTask], finished: Finished, *kind: Any) -> Any:
    """(arm, *kind, count) for every kind of answer, counted by the database."""
    rows = tasks._default_manager.filter(finished.answers).order_by()
    return rows.values_list("participant__arm", *kind).annotate(n=Count("pk"))


def teaching_times(finished: Finished) -> Counter[tuple[str, float | None]]:
    rows = count_answers(TeachingStep, finished, Round(F("response_ms") / TIME_CLASS_MS))
    return Counter({(arm, time): count for arm, time, count in rows})


def evaluation_counts(finished: Finished) -> Iterator[tuple[str, int, int, float | None, int]]:
    """(arm, true class, answer, time class, count), by one pass over the largest table.

    The three values are packed into one number, which the database groups faster than three columns.
    """
    known = Coalesce(F("response_ms"), Value(NO_TIME * TIME_CLASS_MS))
    classes = MAX_CLASSES * F("example__label") + F("answer")
    kind = MAX_CLASSES**2 * Round(known / TIME_CLASS_MS) + classes
    for arm, number, count in count_answers(EvaluationItem, finished, kind):
        time, pair = divmod(number, MAX_CLASSES**2)
        truth, answer = divmod(int(pair), MAX_CLASSES)
        yield arm, truth, answer, None if time == NO_TIME else time, count


def time_classes(
    stage: str, counts: Counter[tuple[str, float | None]]
) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
    """(arm, stage) to sorted (middle of the class in ms, count), without unknown times."""
    classes: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for (arm, time), count in counts.items():
        if time is not None:
            classes.setdefault((arm, stage), []).append((float(time) * TIME_CLASS_MS, count))
    return {key: tuple(sorted(rows)) for key, rows in classes.items()}


def at_equal_steps(results: StudyResults) -> StudyResults:
    """Only participants to whom every teacher would have shown the same number of images.

    A teacher whose length depends on memory shows more images to those who remember more. Adjusting the outcome for the
    number of images would confound it with memory. But memory is measured before the assignment: among participants
    with a memory for which all teachers show equally many images, assignment is still random, and only the teacher
    differs.
    """

    def is_equal(person: ParticipantResult) -> bool:
        if person.memory_span is None:
            return False
        study = results.settings[person.version]
        lengths = {teaching_length(study, arm, person.memory_span) for arm in study.arm_names}
        return lengths == {person.teaching_steps}

    equal = tuple(person for person in results.people if is_equal(person))
    others = len(results.people) - len(equal)
    return replace(results, people=equal, at_unequal_steps=others)


def describe_sample(results: StudyResults, *measures: str) -> str:
    """The participants that a table or figure of some measures is about, and who is left out."""
    kind = KINDS.get(results.purpose, UNKNOWN)
    versions = results.versions
    own = f" of {versions.words}" if len(versions.everywhere) > 1 else ""
    left_out = ", ".join(left_out_words(results)) or "nobody"
    sentences = [
        f"{len(results.people)} {kind}{own} who finished.",
        f"Left out: {left_out}.",
        versions.pooling,
        missing_words(results, *measures),
    ]
    return " ".join(filter(None, sentences))


def spans_and_values(
    people: Iterable[ParticipantResult], measure: str
) -> list[tuple[float, float]]:
    """The memory span and a measure of the participants who have both."""
    pairs = ((person.memory_span, getattr(person, measure)) for person in people)
    return [(span, value) for span, value in pairs if span is not None and value is not None]


def left_out_words(results: StudyResults) -> Iterator[str]:
    counts = results.head_counts.values()
    unfinished = sum(count.joined - count.done - count.excluded for count in counts)
    excluded = sum(count.excluded for count in counts)
    if unfinished:
        yield f"{unfinished} who did not finish, or not yet"
    if excluded:
        yield f"{excluded} excluded"
    if results.at_unequal_steps:
        yield f"{results.at_unequal_steps} whom some teacher would have shown another number of images"
    if others := results.versions.left_out:
        people = sum(version.joined for version in others)
        yield f"{people} of {versions_in_words([version.number for version in others])}"


def missing_words(results: StudyResults, *measures: str) -> str:
    """How many of those who finished lack one of the measures or a teacher; empty if none."""
    missing = sum(
        not person.arm or any(getattr(person, measure) is None for measure in measures)
        for person in results.people
    )
    if not missing:
        return ""
    names = " or ".join(measure.replace("_", " ") for measure in measures)
    return f"{missing} of them without {names} or without a teacher: not shown."


def answers_words(results: StudyResults) -> str:
    """Which answers are counted, if versions with several data sets are pooled; otherwise empty."""
    if len({then.dataset.pk for then in results.settings.values()}) < 2:
        return ""
    return f"Only answers to images of {results.dataset}."


def describe_sessions(n: int, purpose: str, versions: VersionChoice, *, limit: int) -> str:
    """The same for a page that reads whole sessions, and only the newest of them."""
    kind = KINDS.get(purpose, UNKNOWN)
    own = f" of {versions.words}" if len(versions.everywhere) > 1 else ""
    left_out = ["people who did not finish", "people who were excluded"]
    if n == limit:
        left_out.append("people who finished before them")
    if versions.left_out:
        left_out.append(f"people of {versions_in_words([one.number for one in versions.left_out])}")
    sentences = [
        f"{n} {kind}{own} who finished, each judged by the settings of their own session.",
        f"Left out: {in_words(left_out)}.",
        versions.pooling,
    ]
    return " ".join(filter(None, sentences))
