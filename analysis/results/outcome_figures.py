"""The figures of an outcome: by teacher, and against memory. Every outcome has the same two."""

from collections.abc import Iterable, Sequence

from analysis import stats
from analysis.charts import words
from analysis.charts.figures import distributions
from analysis.charts.figures.outcomes import LOOKS, outcome_plot
from studies.models import Outcome
from teaching.teachers import teacher_title

from .numbers import Numbers, Person
from .sample import ONE_OF
from .study_figure import StudyFigure, arm_values, person_table, sample_of

KEYS = {Outcome.GAIN: "gain", Outcome.EVALUATION: "evaluation"}
"""What the figures and their files are called."""


def outcome_figure(outcome: Outcome, numbers: Numbers) -> StudyFigure:
    caption = (
        f"Every mark is a {ONE_OF[numbers.purpose]}. The box holds the middle half with the median, whiskers reach to "
        "1.5 interquartile ranges; the diamond is the mean with its 95 % interval, and the number below the name is "
        "its value."
    )
    title = f"{outcome.heading} by teacher: {numbers.study.role_of(outcome)}"
    return StudyFigure(
        KEYS[outcome],
        " ".join(filter(None, [caption, beside_gain(outcome, numbers)])),
        outcome_plot(outcome, title, arm_values(numbers, outcome.value)),
        *person_table(
            numbers,
            "first_seen_accuracy",
            "evaluation_accuracy",
            "evaluation_kappa",
            "teaching_gain",
        ),
        sample_of(numbers, outcome.value),
        numbers.purpose,
    )


def beside_gain(outcome: Outcome, numbers: Numbers) -> str:
    """The evaluation accuracies that belong beside a gain, in a picture that may leave the page; empty for others."""
    if outcome != Outcome.GAIN:
        return ""
    means = {
        teacher_title(arm): stats.mean(numbers.values(arm, Outcome.EVALUATION.value))
        for arm in numbers.arms
    }
    accuracies = ", ".join(f"{name} {words.share(mean)}" for name, mean in means.items())
    return f"A low first-seen accuracy also makes for a large gain. Mean evaluation accuracy: {accuracies}."


def by_memory_figure(outcome: Outcome, numbers: Numbers) -> StudyFigure:
    look = LOOKS[outcome]
    arms = [
        distributions.ArmPoints(teacher_title(arm), spans_and_values(numbers.of(arm), outcome))
        for arm in numbers.arms
    ]
    caption = (
        f"Every mark is a {ONE_OF[numbers.purpose]}, shifted a little sideways where many share a span. "
        + correlation_words([point for arm in arms for point in arm.points])
    )
    return StudyFigure(
        f"{KEYS[outcome]}-by-memory",
        " ".join(filter(None, [caption, beside_gain(outcome, numbers)])),
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
        numbers.purpose,
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
