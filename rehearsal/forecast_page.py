"""The page of a forecast: expected results by teacher, and the sample size that a difference needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis import stats
from analysis.charts import formatting
from analysis.charts.distributions import ArmValues, outcome_plot
from analysis.charts.shapes import with_watermark
from analysis.charts.svg import svg
from analysis.charts.tables import Column, Table, number_columns, row_names
from analysis.stats.power import Question, needed_by_drawing, needed_by_formula, pooled_sd
from studies.models import Outcome, Study
from studies.models.versions import configuration_hash
from studies.rates import rate_words
from teaching.teachers import teacher_title

from .models import Rehearsal

ASSUMPTIONS = (
    "Workers learn by the paper's rule with the study's learning rate, and forget according to the memory span that "
    "the memory test finds: spans have mean 5.5 and standard deviation 1.5, between 2 and 9.",
    "They begin with opinions in a random direction, give the answer that they consider most likely, and press a "
    "wrong button in 2 % of the answers. What they see in an image is exactly its features in the data set.",
    "Real people differ from each other more than this. Spreads in real studies are larger, so treat the numbers of "
    "workers as a minimum; a rehearsal does not promise which teacher will be best.",
    "The formula is that of the two-sided t test with the pooled standard deviation of all teachers. The simulation "
    "repeats Welch's t test 1,000 times on workers drawn from the simulated ones, with the means shifted so that they "
    "differ by the effect.",
    "All are for a single comparison. With several, divide α by their number to be on the safe side.",
)

Rows = Sequence[dict[str, Any]]
# The keys of outcomes in the rows of a forecast.
KEYS = {Outcome.GAIN: "gain", Outcome.EVALUATION: "evaluation"}
UNITS = {Outcome.GAIN: "points", Outcome.EVALUATION: "%"}
METHODS = ("by formula", "by simulation")


def forecast_content(study: Study, forecast: Rehearsal, question: Question) -> dict[str, Any]:
    """Everything that the page shows of a forecast, the primary outcome first."""
    results = by_teacher(study, forecast)
    expected = [expected_row(arm, rows, study) for arm, rows in results.items()]
    return {
        "expected": Table("Expected results by teacher", expected_columns(study), expected),
        "figures": [svg(expected_plot(outcome, results)) for outcome in study.outcomes],
        "needed": [sample_sizes(outcome, study, results, question) for outcome in study.outcomes],
        "halved": f"{question.alpha / 2:g}",
        "is_outdated": forecast.configuration_hash != configuration_hash(study.configuration()),
        "assumptions": ASSUMPTIONS,
        "rate": simulated_rate(study, forecast),
    }


def by_teacher(study: Study, forecast: Rehearsal) -> dict[str, Rows]:
    """The results in the order of the study's teachers, because Postgres reorders the keys of JSON objects."""
    places = {arm: place for place, arm in enumerate(study.arm_names)}
    found: dict[str, Rows] = forecast.results
    return {arm: found[arm] for arm in sorted(found, key=lambda arm: places.get(arm, len(places)))}


def simulated_rate(study: Study, forecast: Rehearsal) -> str:
    """The learning rate of the simulation; empty for forecasts of releases that did not store it."""
    rate = forecast.learning_rate
    return "" if rate is None else rate_words(rate, study.dataset.learning_rate)


def values_of(outcome: Outcome, results: dict[str, Rows]) -> dict[str, tuple[float, ...]]:
    return {arm: column(rows, KEYS[outcome]) for arm, rows in results.items()}


def column(rows: Rows, name: str) -> tuple[float, ...]:
    return stats.known(row.get(name) for row in rows)


def expected_columns(study: Study) -> tuple[Column, ...]:
    groups = [
        number_columns(
            "mean", formatting.INTERVAL_95, strong=["mean"], group=heading(outcome, study)
        )
        for outcome in study.outcomes
    ]
    return (
        row_names("Teacher"),
        *number_columns("Workers"),
        *(column for group in groups for column in group),
        *number_columns("First seen", "Images shown"),
    )


def heading(outcome: Outcome, study: Study) -> str:
    return f"{outcome.heading}, {UNITS[outcome]} ({study.role_of(outcome)})"


def expected_row(arm: str, rows: Rows, study: Study) -> list[Any]:
    cells = [
        cell
        for outcome in study.outcomes
        for cell in outcome_cells(outcome, stats.summarise(column(rows, KEYS[outcome])))
    ]
    seen, steps = (stats.mean(column(rows, name)) for name in ("first_seen", "steps"))
    return [
        teacher_title(arm),
        len(rows),
        *cells,
        formatting.share(seen),
        formatting.decimal(steps, 1),
    ]


def outcome_cells(outcome: Outcome, summary: stats.SampleSummary) -> Sequence[str]:
    if outcome == Outcome.GAIN:
        return formatting.points(summary.mean), formatting.points_interval(summary.interval)
    return formatting.share(summary.mean), formatting.share_interval(summary.interval)


def expected_plot(outcome: Outcome, results: dict[str, Rows]) -> Any:
    arms = [
        ArmValues(teacher_title(arm), values, stats.summarise(values))
        for arm, values in values_of(outcome, results).items()
    ]
    title = f"Expected {outcome.heading.lower()} by teacher"
    return with_watermark(outcome_plot(outcome, title, arms), "simulated")


def sample_sizes(
    outcome: Outcome, study: Study, results: dict[str, Rows], question: Question
) -> dict[str, Any]:
    """Participants per teacher for one outcome: at the level itself, and at half of it if both outcomes are tested."""
    values = values_of(outcome, results)
    sd = pooled_sd(list(values.values()))
    levels = [question, question.at(question.alpha / 2)]
    columns = (
        row_names("Comparison"),
        *level_columns(f"This outcome alone, α = {levels[0].alpha:g}"),
        *level_columns(f"Both outcomes, α = {levels[1].alpha:g} each"),
    )
    rows = [needed_row(arm, values, levels, sd) for arm in list(values)[1:]]
    return {
        "title": f"{outcome.heading} ({study.role_of(outcome)})",
        "table": Table(f"{outcome.heading}: workers per teacher", columns, rows),
        "sd": formatting.spread(sd) if sd is not None else "",
    }


def level_columns(title: str) -> tuple[Column, ...]:
    return number_columns(*METHODS, strong=METHODS, group=title)


def needed_row(
    arm: str, values: dict[str, tuple[float, ...]], levels: Sequence[Question], sd: float | None
) -> list[str]:
    first = next(iter(values))
    counts = [
        formatting.UNKNOWN if count is None else str(count)
        for question in levels
        for count in (
            needed_by_formula(question, sd) if sd else None,
            needed_by_drawing(question, values[first], values[arm]),
        )
    ]
    return [f"{teacher_title(first)} − {teacher_title(arm)}", *counts]
