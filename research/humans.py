"""The human experiment with simulated workers: memory test, teaching, evaluation, teaching gain."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from analysis.charts.accuracies import ArmAccuracies, accuracy_plot
from analysis.charts.distributions import ArmValues, box_plot
from analysis.charts.formatting import signed_points, signed_tick
from analysis.stats import SampleSummary, summarise
from evaluation.metrics import accuracy, first_seen, teaching_gain
from memorytest import scoring
from teaching import engine

from .data import (
    EVALUATION_PER_CLASS,
    Labelled,
    Material,
    TaughtExperiment,
    drawn_from_each_class,
)
from .experiment import ResultRow, Results
from .report import (
    Data,
    Figure,
    ReportTable,
    Section,
    limits,
    points_between,
    with_interval,
    with_limits,
)
from .teachers import (
    PLAIN,
    READINGS,
    WHY_WINDOW,
    WINDOW,
    Condition,
    OmniscientJEDI,
    cell_of,
    split_cell,
)

MEMORY_TRIALS, SHORTEST, LONGEST = 3, 2, 9
# JEDI's number of images by the measured span: up to 4.5, up to 6.5, above. The others show 30.
LENGTHS = ((4.5, 20), (6.5, 30), (float("inf"), 40))
OTHER_STEPS = 30

# The omniscient teacher, which no study can have, shows how much a better estimate could still gain.
JEDI = Condition("jedi", reading=WINDOW)
ORACLE = Condition("omniscient")
DEFAULT = (
    Condition("rt"),
    Condition("eer"),
    Condition("imt", reading=WINDOW),
    JEDI,
)
AS_PRINTED = (
    Condition("rt"),
    Condition("eer"),
    Condition("imt", reading=PLAIN),
    Condition("jedi", reading=PLAIN),
)
ARMS = tuple(dict.fromkeys([*DEFAULT, ORACLE, *AS_PRINTED]))


@dataclass(frozen=True, kw_only=True)
class Humans(TaughtExperiment):
    """Spans n̄ are drawn from a normal distribution of mean `span` and standard deviation `span_sd`, within 2 and 9."""

    name: ClassVar[str] = "humans"
    title: ClassVar[str] = "The human experiment with simulated workers"

    span: float = 5.5
    span_sd: float = 1.5
    conviction: float = 0.3
    bernoulli: bool = False
    guess: float = 0.0
    lapse: float = 0.02

    @staticmethod
    def add_arguments(parser: ArgumentParser) -> None:
        TaughtExperiment.add_arguments(parser)
        parser.add_argument(
            "--bernoulli", action="store_true", help="answers are drawn by belief, not by its side"
        )
        parser.add_argument("--span", type=float, help="mean memory span n̄ (5.5)")
        parser.add_argument("--guess", type=float, help="share of answers that are guessed (0)")
        parser.add_argument("--lapse", type=float, help="share of answers that are slips (0.02)")

    def cells(self) -> Sequence[str]:
        return [cell_of(one.title, arm) for one in self.materials for arm in ARMS]

    def run(self, cell: str, seed: int) -> ResultRow:
        """One worker with one teacher, from the memory test to the evaluation."""
        title, arm = split_cell(cell, ARMS)
        pool, evaluation = self.material(title).load()
        worker = self.worker(pool, seed)
        span = measured_span(worker)
        steps = teaching_length(arm.teacher, span)
        teacher = self.teacher(arm, worker, scoring.memory_decay(span), pool)
        history = engine.teach(
            teacher, pool, worker, steps=steps, rng=np.random.default_rng([seed, 3])
        )
        seen = first_seen([(s.example, s.answer == pool.labels[s.example]) for s in history])
        examined = evaluation_answers(worker, evaluation, seed)
        return {
            "beta": worker.beta,
            "span": span,
            "steps": steps,
            "unique": len(seen),
            "first_seen": accuracy(seen),
            "evaluation": accuracy(examined),
            "gain": teaching_gain(accuracy(examined), accuracy(seen)),
        }

    def worker(self, pool: engine.Pool, seed: int) -> engine.SimulatedWorker:
        """The worker of a seed, the same for every teacher."""
        population = engine.Population(
            span=self.span,
            span_sd=self.span_sd,
            shortest=SHORTEST,
            longest=LONGEST,
            conviction=self.conviction,
            bernoulli=self.bernoulli,
            habits=engine.Habits(guess=self.guess, lapse=self.lapse),
        )
        return population.worker(pool, self.rate(pool), [seed])

    def teacher(
        self, arm: Condition, worker: engine.SimulatedWorker, beta: float, pool: engine.Pool
    ) -> engine.Teacher:
        """A teacher that knows the measured β, or the omniscient one."""
        if arm.teacher == "omniscient" and isinstance(worker.learner, engine.SimulatedLearner):
            return OmniscientJEDI(
                learner=worker.learner,
                beta=worker.beta,
                learning_rate=self.rate(pool),
                cold_start=5,
            )
        window = None if arm.reading == WINDOW else 0
        return engine.make_teacher(
            arm.teacher, beta=beta, learning_rate=self.rate(pool), repeat_window=window
        )

    def report(self, results: Results) -> list[Section]:
        return sections(self, results)


def measured_span(worker: engine.SimulatedWorker) -> float:
    """n̄ by the memory test."""
    return scoring.span_by_test(worker.restore, SHORTEST, LONGEST, MEMORY_TRIALS)


def teaching_length(teacher: str, span: float) -> int:
    """The number of images: by the span for JEDI, 30 for the others."""
    if teacher not in ("jedi", "omniscient"):
        return OTHER_STEPS
    return next(steps for longest, steps in LENGTHS if span <= longest)


def evaluation_answers(worker: engine.SimulatedWorker, examples: Labelled, seed: int) -> list[bool]:
    """Which of up to 50 images of each class are answered correctly."""
    rng = np.random.default_rng([seed, 4])
    shown = rng.permutation(drawn_from_each_class(examples.labels, EVALUATION_PER_CLASS, rng))
    answers = worker.answers(examples.features[shown])
    return [bool(right) for right in answers == examples.labels[shown]]


# The report: the teaching gain by teacher, as in the paper's figure

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
            WHY_WINDOW,
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
    """The ranking of our teachers, by both measures."""
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
    """The teacher and, if it has two, the reading."""
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
    """JEDI minus another teacher, worker by worker, in percentage points."""
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
