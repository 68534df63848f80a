"""The report of the human experiment: the teaching gain by teacher, as in the paper's figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.charts.figures.accuracies import ArmAccuracies, accuracy_plot
from analysis.charts.figures.distributions import ArmValues, box_plot
from analysis.charts.words import signed_points, signed_tick
from analysis.stats import SampleSummary, summarise

from . import conditions
from .conditions import ARMS, AS_PRINTED, DEFAULT, JEDI, PLAIN, READINGS, WINDOW, Condition, cell_of
from .experiment import Results
from .material import Material
from .report import Data, Figure, ReportTable, Section
from .summaries import limits, points_between, with_interval, with_limits

if TYPE_CHECKING:
    from .humans import Humans

MEASURES = ("beta", "span", "steps", "unique", "first_seen", "evaluation", "gain")
PAPER_ORDER = (
    "The paper reports 58 people and gives no table. In its figure the teachers rank JEDI, IMT, then EER and RT on "
    "both data sets, and on the cats JEDI alone has a positive gain."
)
WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a "
    "teacher shows what the learner gets wrong: the omniscient teacher has the largest gain partly because its "
    "learners are wrong so often while they are taught. So the evaluation accuracy is shown beside it."
)
NOT_PEOPLE = (
    "The workers are simulated: logistic learners with momentum, as the paper assumes people to be. Their order "
    "says what the teachers do to such learners, not what they do to people. The Oracle is JEDI with an omniscient "
    "teacher, who reads the learner's concept instead of estimating it: what a better estimate could still gain."
)


def sections(experiment: Humans, results: Results) -> list[Section]:
    about = Section(
        "What is compared",
        [
            f"{experiment.seeds} workers, the same ones for every teacher. Each takes the memory test (three trials, "
            "the shortest dropped), which gives n̄ and β = 1 − 1/n̄; is taught 20, 30 or 40 images by JEDI as n̄ is "
            "up to 4.5, up to 6.5 or more, and 30 by the others, five random ones first; and labels 100 images of "
            "the evaluation set.",
            NOT_PEOPLE,
            PAPER_ORDER,
            WHAT_GAIN_REWARDS,
            conditions.WHY_WINDOW,
        ],
    )
    return [about, *(_material(experiment, results, one) for one in experiment.materials)]


def _material(experiment: Humans, results: Results, material: Material) -> Section:
    return Section(
        material.title,
        [*experiment.about(material), _order(results, material)],
        [_table(results, material), _differences(results, material)],
        [
            _gain_figure(results, material, DEFAULT, WINDOW),
            _gain_figure(results, material, AS_PRINTED, PLAIN),
            _accuracy_figure(results, material),
        ],
    )


def _summary(results: Results, material: Material, arm: Condition, name: str) -> SampleSummary:
    return results.summary(cell_of(material.title, arm), name)


def _order(results: Results, material: Material) -> str:
    """How our teachers rank, by both measures."""
    ranked = {
        name: ", ".join(
            arm.title
            for arm in sorted(
                DEFAULT,
                key=lambda one: -(_summary(results, material, one, name).mean or 0.0),
            )
        )
        for name in ("gain", "evaluation")
    }
    return (
        f"From best to worst with the window, by teaching gain: {ranked['gain']}; by evaluation accuracy: "
        f"{ranked['evaluation']}. Where intervals overlap, the order may be chance."
    )


def _table(results: Results, material: Material) -> ReportTable:
    return ReportTable(
        title="Accuracies and teaching gain",
        header=["", "reading", "images", "different", "first seen", "evaluation", "teaching gain"],
        rows=[_row(results, material, arm) for arm in ARMS],
        caption="Means over the workers, in percent, with 95 % intervals.",
        data=results.data(
            f"humans-{material.slug}",
            {cell_of(material.title, arm) for arm in ARMS},
            MEASURES,
            whose="worker",
        ),
    )


def _row(results: Results, material: Material, arm: Condition) -> list[str]:
    cell = cell_of(material.title, arm)
    counts = [f"{_summary(results, material, arm, name).mean:.1f}" for name in ("steps", "unique")]
    shares = [
        with_interval(results.summary(cell, name, factor=100), 1)
        for name in ("first_seen", "evaluation", "gain")
    ]
    return [*_named(arm), *counts, *shares]


def _named(arm: Condition) -> list[str]:
    """The teacher and, where there are two, which reading."""
    return [arm.title, READINGS[arm.reading] if arm.teacher in ("imt", "jedi") else ""]


def _differences(results: Results, material: Material) -> ReportTable:
    others = [arm for arm in ARMS if arm != JEDI]
    return ReportTable(
        title="JEDI with the window, less each of the others",
        header=["", "reading", "evaluation", "teaching gain"],
        rows=[
            [
                *_named(arm),
                *(
                    with_interval(summarise(_less(results, material, arm, name)), 1)
                    for name in ("evaluation", "gain")
                ),
            ]
            for arm in others
        ],
        caption="Mean differences for the same worker, in percentage points, with 95 % intervals.",
        data=Data(
            f"humans-{material.slug}-differences",
            ["condition", "worker", "evaluation_points", "gain_points"],
            [
                [arm.cell, worker, *pair]
                for arm in others
                for worker, pair in enumerate(
                    zip(
                        _less(results, material, arm, "evaluation"),
                        _less(results, material, arm, "gain"),
                        strict=True,
                    )
                )
            ],
        ),
    )


def _less(results: Results, material: Material, arm: Condition, name: str) -> list[float]:
    """JEDI less another, worker by worker, in percentage points."""
    jedi, other = (results.values(cell_of(material.title, one), name) for one in (JEDI, arm))
    return points_between(jedi, other)


def _gain_figure(
    results: Results, material: Material, arms: Sequence[Condition], reading: str
) -> Figure:
    values = {arm: results.values(cell_of(material.title, arm), "gain") for arm in arms}
    return Figure(
        box_plot(
            title=f"Teaching gain, {READINGS[reading]}",
            axis="teaching gain, percentage points",
            arms=[ArmValues(arm.title, gains, summarise(gains)) for arm, gains in values.items()],
            show_tick=signed_tick,
            show_mean=signed_points,
            has_zero=True,
        ),
        "Each mark is a worker; box and whiskers by Tukey; beside them the mean with its 95 % interval.",
        Data(
            f"humans-{material.slug}-gain-{reading}",
            ["teacher", "worker", "gain"],
            [[arm.title, w, gain] for arm, gains in values.items() for w, gain in enumerate(gains)],
        ),
    )


def _accuracy_figure(results: Results, material: Material) -> Figure:
    arms = [
        ArmAccuracies(
            arm.title,
            _summary(results, material, arm, "first_seen"),
            _summary(results, material, arm, "evaluation"),
        )
        for arm in DEFAULT
    ]
    return Figure(
        accuracy_plot("First-seen and evaluation accuracy", arms),
        "Means with 95 % intervals; the way from one to the other is the teaching gain.",
        Data(
            f"humans-{material.slug}-accuracies",
            ["teacher", *limits("first_seen"), *limits("evaluation")],
            [
                [arm.name, *with_limits(arm.first_seen), *with_limits(arm.evaluation)]
                for arm in arms
            ],
        ),
    )
