"""The memory decay of a study's people: what the memory test found, what teachers assumed, and what the answers of the
teaching speak for."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import stats
from analysis.charts import words
from analysis.charts.figures import distributions
from analysis.charts.tables import Table, number_columns, row_names
from teaching.decay import says_nothing
from teaching.population import population
from teaching.teachers import teacher_title

from .numbers import Numbers, Person
from .sample import ONE_OF
from .study_figure import StudyFigure, person_table, sample_of

MEDIAN = ("median", words.INTERVAL_95)
MEAN = ("mean", words.INTERVAL_95)
COLUMNS = (
    row_names("Teacher"),
    *number_columns("n"),
    *number_columns(*MEDIAN, group="Memory span n̄"),
    *number_columns(*MEDIAN, group="β that teachers assumed"),
    *number_columns(*MEAN, strong=["mean"], group="β that fits the group’s answers"),
    *number_columns(
        "ρ", words.INTERVAL_95, strong=["ρ"], group="Rank correlation of n̄ and fitted β"
    ),
    *number_columns("Answers say nothing"),
)
TESTED = ("memory_span", "beta")
MEASURES = (*TESTED, "beta_fitted")


def decay_table(numbers: Numbers) -> Table | None:
    """By teacher and pooled; None while nobody has a fitted β."""
    if not any(person.beta_fitted is not None for person in numbers.people):
        return None
    rows = [decay_row(teacher_title(arm), numbers, numbers.of(arm)) for arm in numbers.arms]
    if len(rows) > 1:
        everybody = [person for person in numbers.people if person.arm]
        rows.append(decay_row("all teachers", numbers, everybody))
    note = sample_of(numbers, *MEASURES)
    return Table("Memory decay by teacher", COLUMNS, rows, note=note)


def decay_row(name: str, numbers: Numbers, people: Sequence[Person]) -> list[str | int]:
    fitted = [person for person in people if person.beta_fitted is not None]
    silent = sum(tells_nothing(person) for person in fitted)
    return [
        name,
        len(fitted),
        *(cell for measure in TESTED for cell in median_cells(fitted, measure)),
        *group_cells(numbers, fitted),
        *correlation_cells(fitted),
        f"{silent} of {len(fitted)}",
    ]


def median_cells(people: Sequence[Person], measure: str) -> tuple[str, str]:
    values = stats.known(getattr(person, measure) for person in people)
    return two_places(stats.median(values)), words.between(
        stats.median_interval(values), two_places
    )


def group_cells(numbers: Numbers, people: Sequence[Person]) -> tuple[str, str]:
    """The mean of β in the group and its interval, from what everybody's answers say together."""
    surfaces = [[numbers.surfaces[one.code]] for one in people if one.code in numbers.surfaces]
    if not surfaces:
        return words.UNKNOWN, words.UNKNOWN
    group = population(surfaces)
    return two_places(group.mean), words.between(group.interval, two_places)


def correlation_cells(people: Sequence[Person]) -> tuple[str, str]:
    found = correlation(people)
    if found is None:
        return words.UNKNOWN, words.UNKNOWN
    return two_places(found.statistic), words.between(found.interval, two_places)


def correlation(people: Sequence[Person]) -> stats.RankCorrelation | None:
    points = spans_and_fits(people)
    return stats.spearman([span for span, _ in points], [beta for _, beta in points])


def spans_and_fits(people: Sequence[Person]) -> list[tuple[float, float]]:
    pairs = ((person.memory_span, person.beta_fitted) for person in people)
    return [(span, beta) for span, beta in pairs if span is not None and beta is not None]


def tells_nothing(person: Person) -> bool:
    low, high = person.beta_fitted_low, person.beta_fitted_high
    return low is not None and high is not None and says_nothing(low, high)


def two_places(value: float | None) -> str:
    return words.decimal(value, 2)


def decay_figure(numbers: Numbers) -> StudyFigure:
    arms = [
        distributions.ArmPoints(teacher_title(arm), spans_and_fits(numbers.of(arm)))
        for arm in numbers.arms
    ]
    caption = (
        f"Every mark is a {ONE_OF[numbers.purpose]}, shifted a little sideways: β as the answers of the teaching have "
        "it, for the learner of the paper, against the memory span. Dashed: 1 − 1/n̄, the paper’s β. "
        "Single fits of about thirty answers lean towards the middle of the range, so marks may lie below the line "
        "though the group does not: its mean, in the table, comes from all answers together. "
        + correlation_words(numbers)
    )
    return StudyFigure(
        "decay",
        caption,
        distributions.scatter(
            "Fitted memory decay against memory",
            "memory span (mean length restored)",
            "β that fits the answers",
            arms,
            show_tick=words.plain,
            has_zero=False,
            reference=[(span / 4, 1 - 4 / span) for span in range(4, 37)],
        ),
        *person_table(numbers, *MEASURES, "beta_fitted_low", "beta_fitted_high"),
        sample_of(numbers, "memory_span", "beta_fitted"),
        numbers.purpose,
    )


def correlation_words(numbers: Numbers) -> str:
    found = correlation([person for person in numbers.people if person.arm])
    if found is None:
        return "There are too few participants, or too little variation, for a correlation."
    limits = found.interval
    within = f" ({words.between(limits, two_places)})" if limits else ""
    rho = two_places(found.statistic)
    return f"Rank correlation, all teachers pooled: ρ = {rho}{within}, {words.p_words(found.p)}."
