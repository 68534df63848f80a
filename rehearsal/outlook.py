"""What a forecast tells a researcher: expected results by teacher, and how many workers are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis import stats
from analysis.charts import words
from analysis.charts.figures.distributions import ArmValues, box_plot
from analysis.charts.svg import svg
from analysis.charts.tables import Table, number_columns, row_names
from analysis.stats.power import Question, needed_by_drawing, needed_by_formula, pooled_sd
from studies.models import Study
from studies.models.versions import configuration_hash
from studies.rates import rate_words
from teaching.teachers import teacher_title

from .models import Rehearsal

ASSUMPTIONS = (
    "Workers learn by the paper's rule with the study's learning rate, and forget according to the memory span that "
    "the memory test finds: spans have mean 5.5 and standard deviation 1.5, between 2 and 9.",
    "They begin with opinions in a random direction, give the answer that they consider more likely, and press the "
    "wrong button in 2 % of the answers. What they see in an image is exactly its features in the data set.",
    "Real people differ from each other more than this. Spreads in real studies are larger, so treat the numbers of "
    "workers as a minimum; a rehearsal does not promise which teacher will be best.",
    "The formula is that of the two-sided t test with the pooled standard deviation of all teachers. The simulation "
    "repeats Welch's t test 1,000 times on workers drawn from the simulated ones, with the means shifted so that they "
    "differ by the effect.",
    "Both are for a single comparison. With several, divide α by their number to be on the safe side.",
)

GAIN, EVALUATION = "Teaching gain, points", "Evaluation"
EXPECTED = (
    row_names("Teacher"),
    *number_columns("Workers", GAIN, words.INTERVAL_95, "First seen", EVALUATION, words.INTERVAL_95,
                    strong=[GAIN, EVALUATION]),
)  # fmt: skip
WAYS_TO_COUNT = ("By formula, per teacher", "By simulation, per teacher")
NEEDED = (row_names("Comparison"), *number_columns(*WAYS_TO_COUNT, strong=WAYS_TO_COUNT))


def outlook(study: Study, forecast: Rehearsal, question: Question) -> dict[str, Any]:
    """Everything that the page shows of a forecast."""
    gains = {arm: column(rows, "gain") for arm, rows in forecast.results.items()}
    sd = pooled_sd(list(gains.values()))
    expected = [expected_row(arm, rows) for arm, rows in forecast.results.items()]
    needed = [needed_row(arm, gains, question, sd) for arm in list(gains)[1:]]
    return {
        "expected": Table("Expected results by teacher", EXPECTED, expected),
        "figure": svg(gain_plot(gains)),
        "needed": Table("Workers per teacher", NEEDED, needed),
        "sd": words.spread(sd) if sd is not None else "",
        "is_outdated": forecast.configuration_hash != configuration_hash(study.configuration()),
        "assumptions": ASSUMPTIONS,
        "rate": simulated_rate(study, forecast),
    }


def simulated_rate(study: Study, forecast: Rehearsal) -> str:
    """The rate that it was simulated with; empty for a forecast that did not keep it."""
    rate = forecast.learning_rate
    return "" if rate is None else rate_words(rate, study.dataset.learning_rate)


def column(rows: Sequence[dict[str, Any]], name: str) -> tuple[float, ...]:
    return stats.known(row[name] for row in rows)


def expected_row(arm: str, rows: Sequence[dict[str, Any]]) -> list[Any]:
    gain, seen, evaluated = (
        stats.summarise(column(rows, name)) for name in ("gain", "first_seen", "evaluation")
    )
    return [
        teacher_title(arm),
        gain.n,
        words.points(gain.mean),
        words.points_interval(gain.interval),
        words.share(seen.mean),
        words.share(evaluated.mean),
        words.between(evaluated.interval, words.share),
    ]


def gain_plot(gains: dict[str, tuple[float, ...]]) -> Any:
    return box_plot(
        title="Expected teaching gain by teacher",
        axis="teaching gain, points",
        arms=[
            ArmValues(teacher_title(arm), values, stats.summarise(values))
            for arm, values in gains.items()
        ],
        show_tick=words.signed_tick,
        show_mean=words.signed_points,
        has_zero=True,
    )


def needed_row(
    arm: str, gains: dict[str, tuple[float, ...]], question: Question, sd: float | None
) -> list[str]:
    first = next(iter(gains))
    return [
        f"{teacher_title(first)} − {teacher_title(arm)}",
        in_words(needed_by_formula(question, sd) if sd else None),
        in_words(needed_by_drawing(question, gains[first], gains[arm])),
    ]


def in_words(workers: int | None) -> str:
    return words.UNKNOWN if workers is None else str(workers)
