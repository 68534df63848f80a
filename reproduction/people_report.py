"""The report on people: who predicts the next answer how well, by set, and what is fitted to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from analysis.charts.figures.distributions import ArmPoints, histogram, scatter
from analysis.charts.words import UNKNOWN, plain, with_minus
from analysis.modelcheck.beliefs import Bin, calibration
from analysis.modelcheck.figures import ArmBins, calibration_plot
from analysis.stats import spearman, summarise
from teaching.decay import BETAS
from teaching.engine.bank import FAMILIES

from . import people_scores as scores
from .experiment import Results
from .figures import Dots, convergence_plot, dot_plot
from .people_models import single_models
from .people_scores import CONSTANT, CURVE, Scored
from .report import Data, Figure, ReportTable, Section
from .summaries import mean_curve, with_interval

if TYPE_CHECKING:
    from .people import People

WAYS = {
    "harmonic": "harmonic",
    "mended": "harmonic, mended",
    "tracked": "tracked",
    "running": "running accuracy",
    CURVE: "learning curve of others",
    CONSTANT: "best constant",
}
SINGLES = {family.name: f"{family.name}: {family.title}" for family in FAMILIES}
PHASE = 10

ABOUT = (
    "Each way says before every answer how probable each class is; the loss is −log of the probability of what was "
    "said, kept within 1 and 99 %, in nats. Means are over answers, then tasks, then people, with 95 % intervals over "
    "people. Harmonic is the paper's estimate; the mended one has guesses, a prior and what the person was told. "
    "Tracked is the mixture of all learner models of the bank. The running accuracy knows how often this person was "
    "right so far, with one guess at each class to begin with, and says the "
    "true class with that probability. The learning curve and the best constant know everybody but the person. Below "
    "them, every family of models by itself, and every single model. Intervals of calibration errors come from drawing "
    "people again."
)
ABOUT_FEATURES = (
    "Features are centred over all items. Up to twelve, each is measured in its own standard deviation; of more the "
    "scales are kept. Labels, answers and the order of trials have no part in it."
)


def sections(experiment: People, results: Results) -> list[Section]:
    found = [Scored(one, results.of(one.name)) for one in experiment.sets]
    return [_summary(experiment, found), *(_set(one) for one in found)]


def _summary(experiment: People, found: Sequence[Scored]) -> Section:
    sentences = [
        f"The first {experiment.answers} answers of every person in every task. {ABOUT}",
        ABOUT_FEATURES,
    ]
    rows = [
        [title, *(with_interval(one.loss(name), 3) for one in found)]
        for name, title in WAYS.items()
    ]
    better = [with_interval(one.less_running("tracked"), 3) for one in found]
    rows.append(["tracked is better than running accuracy by", *better])
    errors = [with_interval(one.error_summary("tracked"), 3) for one in found]
    rows.append(["calibration error of tracked", *errors])
    data = Data(
        "people-summary",
        ["set", "way", "people", "loss", "less_running", "calibration_error"],
        [
            [
                one.data.name,
                name,
                one.data.people,
                one.loss(name).mean,
                one.less_running(name).mean,
                one.error(name),
            ]
            for one in found
            for name in [*WAYS, *SINGLES]
        ],
    )
    header = ["", *(one.data.name for one in found)]
    caption = "Log loss of the next answer, in nats, with 95 % intervals over people."
    table = ReportTable("The next answer", header, rows, caption, data)
    return Section("In short", sentences, [table])


def _set(found: Scored) -> Section:
    data = found.data
    sentence = (
        f"{data.people} people in {len(data.sessions)} tasks, {len(data.classes)} classes, {len(data.features)} items "
        f"with {data.features.shape[1]} features. A guess has a loss of {np.log(len(data.classes)):.3f}."
    )
    tables = [_losses(found), single_models(found), _fitting(found), _fits(found), _group(found)]
    figures = [_by_answers(found), _calibration(found), _dots(found), _betas(found)]
    if found.data.memory:
        figures.append(_memory(found))
    if any("tests" in row for row in found.rows):
        tables.append(_tests(found))
    return Section(data.name, [sentence], tables, figures)


def _losses(found: Scored) -> ReportTable:
    every = {**WAYS, **SINGLES}
    people = list(found.people["tracked"])
    return ReportTable(
        title="Every way to predict the next answer",
        header=["", "log loss", "better than running accuracy by", "calibration error"],
        rows=[
            [
                title,
                with_interval(found.loss(name), 3),
                UNKNOWN if name == "running" else with_interval(found.less_running(name), 3),
                with_interval(found.error_summary(name), 3),
            ]
            for name, title in every.items()
        ],
        caption="In nats, with 95 % intervals over people. The calibration error is the mean distance between "
        "predicted and observed shares over ten bins, of class 1 where there are two classes and of all otherwise.",
        data=Data(
            f"people-{found.data.name}-losses",
            ["person", *every],
            [[one, *(found.people[name][one] for name in every)] for one in people],
        ),
    )


def _fitting(found: Scored) -> ReportTable:
    """Which family the answers of each task speak for in the end."""
    leading = Counter(max(row["families"], key=row["families"].__getitem__) for row in found.rows)
    weights = {
        name: float(np.mean([row["families"][name] for row in found.rows])) for name in SINGLES
    }
    return ReportTable(
        title="Which learner the answers speak for",
        header=["", "likeliest in tasks", "mean probability"],
        rows=[
            [title, str(leading[name]), f"{100 * weights[name]:.0f} %"]
            for name, title in SINGLES.items()
        ],
        caption="After the last of the answers. Families that predict alike share the probability.",
        data=Data(
            f"people-{found.data.name}-families",
            ["person", "task", *SINGLES],
            [
                [row["person"], row["task"], *(row["families"][name] for name in SINGLES)]
                for row in found.rows
            ],
        ),
    )


def _fits(found: Scored) -> ReportTable:
    """β and η₀ of the paper's learner in every person, and how they go with memory."""
    betas = {person: one.beta for person, one in found.betas.items()}
    rates = scores.by_person(found.rows, [float(np.log(row["rate"])) for row in found.rows])
    memory = found.data.memory
    silent = sum(one.tells_nothing for one in found.betas.values())
    return ReportTable(
        title="The paper's learner, fitted to each person",
        header=["", "median", "quartiles", "rank correlation with memory"],
        rows=[
            ["memory decay β", *_quartiles(list(betas.values())), _rank(betas, memory)],
            [
                "learning rate η₀, examples of length 1",
                *_quartiles([float(np.exp(one)) for one in rates.values()]),
                _rank(rates, memory),
            ],
        ],
        caption="One β for all tasks of a person, as the mean by how probable each β makes the answers, with any "
        "learning rate and some guessing; η₀ is the geometric mean over the tasks. The correlation is Spearman's, with "
        "its 95 % interval and p-value, where the set has memory scores. "
        f"The answers of {silent} of {len(betas)} people say nothing about β.",
        data=Data(
            f"people-{found.data.name}-fits",
            ["person", "beta", "beta_low", "beta_high", "log_rate", "memory"],
            [
                [person, one.beta, one.low, one.high, rates[person], memory.get(person, "")]
                for person, one in found.betas.items()
            ],
        ),
    )


def _group(found: Scored) -> ReportTable:
    """β among the people, from all answers together."""
    group = found.group
    within = f"[{group.interval.low:.2f}, {group.interval.high:.2f}]"
    single = f"{np.mean([one.beta for one in found.betas.values()]):.2f}"
    return ReportTable(
        title="Memory decay among these people",
        header=["people", "mean β", "standard deviation", "mean of the single fits"],
        rows=[[str(group.people), f"{group.mean:.2f} {within}", f"{group.sd:.2f}", single]],
        caption="From the answers of all people together, with one distribution of β and one of learning rates, and "
        "the 95 % interval of the mean. Single fits lean towards the middle of the range, where nothing is known.",
        data=Data(
            f"people-{found.data.name}-decay",
            ["people", "mean", "low", "high", "sd", "mean_of_single_fits"],
            [
                [
                    group.people,
                    group.mean,
                    group.interval.low,
                    group.interval.high,
                    group.sd,
                    float(np.mean([one.beta for one in found.betas.values()])),
                ]
            ],
        ),
    )


def _betas(found: Scored) -> Figure:
    """How the decays of people distribute."""
    people, shares = found.group.people, np.array(found.group.shares).reshape(10, -1).sum(axis=1)
    counts = [
        (round(tenth / 10 + 0.05, 2), round(people * share)) for tenth, share in enumerate(shares)
    ]
    return Figure(
        histogram("Memory decay of the paper's learner", "β", counts),
        "How many people are expected at which β, in tenths, from the answers of all of them together.",
        Data(
            f"people-{found.data.name}-betas",
            ["beta", "share"],
            [list(one) for one in zip(BETAS.tolist(), found.group.shares, strict=True)],
        ),
    )


def _memory(found: Scored) -> Figure:
    """Fitted decays beside memory scores, by rank, as the correlation has them."""
    betas = {person: one.beta for person, one in found.betas.items()}
    people = [person for person in betas if person in found.data.memory]
    ranks = rankdata([found.data.memory[person] for person in people]).tolist()
    points = list(zip(ranks, [betas[person] for person in people], strict=True))
    arms = [ArmPoints(found.data.name, points)]
    return Figure(
        scatter("Decay and memory", "rank of the memory score", "fitted β", arms, show_tick=plain),
        "Every person with a memory score.",
        Data(
            f"people-{found.data.name}-memory",
            ["person", "memory", "memory_rank", "beta"],
            [
                [person, found.data.memory[person], rank, beta]
                for person, (rank, beta) in zip(people, points, strict=True)
            ],
        ),
    )


def _quartiles(values: Sequence[float]) -> list[str]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return [f"{middle:.2f}", f"{low:.2f} – {high:.2f}"]


def _rank(values: Mapping[str, float], memory: Mapping[str, float]) -> str:
    both = [person for person in values if person in memory]
    found = spearman([values[one] for one in both], [memory[one] for one in both])
    if found is None:
        return UNKNOWN
    limits = found.interval
    within = f" [{limits.low:.2f}, {limits.high:.2f}]" if limits else ""
    return with_minus(f"{found.statistic:.2f}{within} (p = {found.p:.2g})")


def _by_answers(found: Scored) -> Figure:
    """The loss by the number of answers seen."""
    starts = [window.start for window in found.windows]
    curves = {
        name: mean_curve(WAYS.get(name, name), starts, found.by_answers(name).tolist())
        for name in [*WAYS, *SINGLES, *found.models]
    }
    rows = [
        [name, window.start, *(float(part[at]) for part in (one.mean, one.low, one.high)), error]
        for name, one in curves.items()
        for at, window in enumerate(found.windows)
        for error in [found.error(name, window)]
    ]
    return Figure(
        convergence_plot(
            "Log loss by answers seen", "log loss, nats", [curves[name] for name in WAYS]
        ),
        f"Means of {scores.STRIDE} answers, from the number of answers seen before them, with 95 % intervals over "
        "people. The file has the families and single models too, with the calibration error of the same answers.",
        Data(
            f"people-{found.data.name}-by-answers",
            ["way", "answers_seen", "mean", "low", "high", "calibration_error"],
            rows,
        ),
    )


def _calibration(found: Scored) -> Figure:
    """Tracked by tens of answers seen, beside harmonic and the running accuracy."""
    shown = ("harmonic", "mended", "tracked", "running")
    arms = [ArmBins(WAYS[name], _bins(found, name)) for name in shown]
    longest = max(len(row["answers"]) for row in found.rows)
    arms += [
        ArmBins(f"tracked, from {first}", _bins(found, "tracked", slice(first, first + PHASE)))
        for first in range(0, longest, PHASE)
    ][:3]
    return Figure(
        calibration_plot("Predicted and given answers", arms),
        "Probabilities of a class in tenths beside the share of answers that named it: class 1 of two, all classes of "
        "more. The last panels are for ten answers each, from the number of answers seen before them.",
        Data(
            f"people-{found.data.name}-calibration",
            ["way", "predicted", "observed", "n"],
            [[arm.name, one.predicted, one.observed, one.n] for arm in arms for one in arm.bins],
        ),
    )


def _bins(found: Scored, name: str, part: slice = slice(None)) -> list[Bin]:
    chances = [one[part] for one in found.chances[name]]
    return calibration(*scores.class_chances(chances, [row["answers"][part] for row in found.rows]))


def _dots(found: Scored) -> Figure:
    rows = [Dots(title, [found.loss(name)]) for name, title in {**WAYS, **_short()}.items()]
    return Figure(
        dot_plot("Log loss of the next answer", "log loss, nats", ["mean"], rows),
        "Means with 95 % intervals over people.",
        Data(
            f"people-{found.data.name}-means",
            ["way", "mean"],
            [[row.name, row.means[0].mean] for row in rows],
        ),
    )


def _short() -> dict[str, str]:
    return {family.name: family.name for family in FAMILIES}


def _tests(found: Scored) -> ReportTable:
    """The answers to items that were not taught, after all that were."""
    rows = [row for row in found.rows if "tests" in row]
    losses = {
        name: scores.by_person(
            rows,
            [
                float(
                    scores.said_losses(np.asarray(row["tests"][name]), row["test_answers"]).mean()
                )
                for row in rows
            ],
        )
        for name in rows[0]["tests"]
    }
    running = losses["running"]
    return ReportTable(
        title="Items that were not taught",
        header=["", "log loss", "better than running accuracy by"],
        rows=[
            [
                {**WAYS, **SINGLES}[name],
                with_interval(summarise(list(one.values())), 3),
                UNKNOWN if name == "running" else with_interval(scores.difference(one, running), 3),
            ]
            for name, one in losses.items()
        ],
        caption="Predicted after everything that was taught, for all tests at once, with 95 % intervals over people.",
        data=Data(
            f"people-{found.data.name}-tests",
            ["person", *losses],
            [[one, *(losses[name][one] for name in losses)] for one in running],
        ),
    )
