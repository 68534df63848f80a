"""The table of memory decay: the memory test, the β that teachers assumed, and the β that fits the teaching answers."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import stats
from analysis.charts import formatting
from analysis.charts.tables import Table, number_columns, row_names
from teaching.decay import estimate_group, spans_grid
from teaching.teachers import teacher_title

from .data import ParticipantResult, StudyResults, describe_sample, spans_and_values

MEDIAN = ("median", formatting.INTERVAL_95)
MEAN = ("mean", formatting.INTERVAL_95)
COLUMNS = (
    row_names("Teacher"),
    *number_columns("n"),
    *number_columns(*MEDIAN, group="Memory span n̄"),
    *number_columns(*MEDIAN, group="β that teachers assumed"),
    *number_columns(*MEAN, strong=["mean"], group="β that fits the group’s answers"),
    *number_columns(
        "ρ", formatting.INTERVAL_95, strong=["ρ"], group="Rank correlation of n̄ and fitted β"
    ),
    *number_columns("Answers say nothing"),
)
TESTED = ("memory_span", "beta")
MEASURES = (*TESTED, "beta_fitted")


def decay_table(results: StudyResults) -> Table | None:
    """By teacher and pooled; None if nobody has a fitted β."""
    if not any(person.beta_fitted is not None for person in results.people):
        return None
    rows = [decay_row(teacher_title(arm), results, results.in_arm(arm)) for arm in results.arms]
    if len(rows) > 1:
        everybody = [person for person in results.people if person.arm]
        rows.append(decay_row("all teachers", results, everybody))
    note = describe_sample(results, *MEASURES)
    return Table("Memory decay by teacher", COLUMNS, rows, note=note)


def decay_row(
    name: str, results: StudyResults, people: Sequence[ParticipantResult]
) -> list[str | int]:
    fitted = [person for person in people if person.beta_fitted is not None]
    silent = sum(is_uninformative(person) for person in fitted)
    points = spans_and_values(fitted, "beta_fitted")
    rank = stats.spearman([span for span, _ in points], [beta for _, beta in points])
    correlation = (
        (two_places(rank.statistic), formatting.between(rank.interval, two_places))
        if rank
        else (formatting.UNKNOWN, formatting.UNKNOWN)
    )
    return [
        name,
        len(fitted),
        *(cell for measure in TESTED for cell in median_cells(fitted, measure)),
        *group_cells(results, fitted),
        *correlation,
        f"{silent} of {len(fitted)}",
    ]


def median_cells(people: Sequence[ParticipantResult], measure: str) -> tuple[str, str]:
    values = stats.known(getattr(person, measure) for person in people)
    return two_places(stats.median(values)), formatting.between(
        stats.median_interval(values), two_places
    )


def group_cells(results: StudyResults, people: Sequence[ParticipantResult]) -> tuple[str, str]:
    """The mean of β in the group and its interval, from all answers together."""
    surfaces = [[results.surfaces[one.code]] for one in people if one.code in results.surfaces]
    if not surfaces:
        return formatting.UNKNOWN, formatting.UNKNOWN
    group = estimate_group(surfaces)
    return two_places(group.mean), formatting.between(
        stats.Interval(group.low, group.high), two_places
    )


def is_uninformative(person: ParticipantResult) -> bool:
    low, high = person.beta_fitted_low, person.beta_fitted_high
    return low is not None and high is not None and spans_grid(low, high)


def two_places(value: float | None) -> str:
    return formatting.decimal(value, 2)
