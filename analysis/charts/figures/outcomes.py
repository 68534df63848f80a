"""How the outcomes of a study are drawn, in results and forecasts alike, by the names of their columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.charts import words
from analysis.charts.shapes import Drawing

from . import distributions


@dataclass(frozen=True)
class Look:
    """How the values of an outcome are shown."""

    axis: str
    show_tick: Callable[[float], str]
    show_mean: Callable[[float], str]
    has_zero: bool


LOOKS = {
    "teaching_gain": Look(
        "teaching gain, points", words.signed_tick, words.signed_points, has_zero=True
    ),
    "evaluation_accuracy": Look(
        "evaluation accuracy, %",
        words.percent,
        lambda value: f"{100 * value:.1f}",
        has_zero=False,
    ),
}


def outcome_plot(outcome: str, title: str, arms: Sequence[distributions.ArmValues]) -> Drawing:
    look = LOOKS[outcome]
    return distributions.box_plot(
        title=title,
        axis=look.axis,
        arms=arms,
        show_tick=look.show_tick,
        show_mean=look.show_mean,
        has_zero=look.has_zero,
    )
