"""The figures of an outcome: by teacher, and against memory. Every outcome has the same two."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from analysis import stats
from analysis.charts import words
from analysis.charts.figures import distributions
from studies.models import Outcome, Study
from teaching.teachers import teacher_title

from .numbers import Numbers, Person
from .study_figure import StudyFigure, arm_values, person_table, sample_of


@dataclass(frozen=True)
class Look:
    """How the values of an outcome are shown."""

    key: str
    axis: str
    show_tick: Callable[[float], str]
    show_mean: Callable[[float], str]
    has_zero: bool
    note: str = ""


LOOKS = {
    Outcome.GAIN: Look(
        "gain",
        "teaching gain, points",
        words.signed_tick,
        words.signed_points,
        has_zero=True,
        note="A low first-seen accuracy makes a large gain too: see the evaluation accuracy beside it.",
    ),
    Outcome.EVALUATION: Look(
        "evaluation",
        "evaluation accuracy, %",
        words.percent,
        lambda value: f"{100 * value:.1f}",
        has_zero=False,
    ),
}


def role_of(outcome: Outcome, study: Study) -> str:
    return "primary outcome" if study.primary_outcome == outcome else "secondary outcome"


def outcome_figure(outcome: Outcome, numbers: Numbers) -> StudyFigure:
    look = LOOKS[outcome]
    caption = (
        "Every mark is a participant. The box holds the middle half with the median, whiskers reach to 1.5 "
        "interquartile ranges; the diamond is the mean with its 95 % interval, and the number below the name its value."
    )
    return StudyFigure(
        look.key,
        " ".join(filter(None, [caption, look.note])),
        distributions.box_plot(
            title=f"{outcome.heading} by teacher: {role_of(outcome, numbers.study)}",
            axis=look.axis,
            arms=arm_values(numbers, outcome.value),
            show_tick=look.show_tick,
            show_mean=look.show_mean,
            has_zero=look.has_zero,
        ),
        *person_table(numbers, "first_seen_accuracy", "evaluation_accuracy", "teaching_gain"),
        sample_of(numbers, outcome.value),
    )


def by_memory_figure(outcome: Outcome, numbers: Numbers) -> StudyFigure:
    look = LOOKS[outcome]
    arms = [
        distributions.ArmPoints(teacher_title(arm), spans_and_values(numbers.of(arm), outcome))
        for arm in numbers.arms
    ]
    return StudyFigure(
        f"{look.key}-by-memory",
        "Every mark is a participant, shifted a little sideways where many share a span. "
        + correlation_words([point for arm in arms for point in arm.points]),
        distributions.scatter(
            f"{outcome.heading} against memory",
            "memory span (mean length restored)",
            look.axis,
            arms,
            show_tick=look.show_tick,
            has_zero=look.has_zero,
        ),
        *person_table(numbers, "memory_span", "evaluation_accuracy", "teaching_gain"),
        sample_of(numbers, "memory_span", outcome.value),
    )


def spans_and_values(people: Iterable[Person], outcome: Outcome) -> list[tuple[float, float]]:
    pairs = ((person.memory_span, getattr(person, outcome.value)) for person in people)
    return [(span, value) for span, value in pairs if span is not None and value is not None]


def correlation_words(points: Sequence[tuple[float, float]]) -> str:
    test = stats.spearman([x for x, _ in points], [y for _, y in points])
    if test is None:
        return "There are too few participants, or too little variation, for a correlation."
    rho = words.decimal(test.statistic, 2)
    return f"Spearman’s rank correlation, all teachers pooled: ρ = {rho}, {words.p_words(test.p)}."
