"""The report on people: how well each method predicts answers, by set, and the fits to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.charts.formatting import UNKNOWN, with_minus
from analysis.stats import Interval, SampleSummary, spearman

from .experiment import Results
from .people_figures import figures_of, mean_beta
from .people_scores import EVERY, FAMILY_NAMES, SINGLES, WAYS, Answered, Scored
from .report import (
    Data,
    ReportTable,
    Section,
    limits,
    mean_curve,
    with_interval,
    with_limits,
)

if TYPE_CHECKING:
    from .people import People

ABOUT = (
    "Each way says before every answer how probable each class is; the loss is −log of the probability of what was "
    "said, kept within 1 and 99 %, in nats. Means are over answers, then tasks, then people, with 95 % intervals over "
    "people. Harmonic is the paper's estimate; the regularised one adds guesses, a prior and the labels that people "
    "were told. Tracked is the mixture of all learner models of the bank. The running accuracy knows how often this "
    "person was right so far, with one guess at each class to begin with, and says the true class with that "
    "probability. The learning curve and the best constant know everybody but the person. Below them, every family "
    "of models by itself, and every single model."
)
ABOUT_ERRORS = (
    "The calibration error is the mean distance between predicted and observed shares over ten bins, of the second "
    "class where there are two and of all otherwise. Its interval comes from drawing people again. Distances have no "
    "sign, so chance makes them larger: what it adds is taken off the interval, and an error that chance alone may "
    "bring about has one from 0."
)
ABOUT_FEATURES = (
    "Features are centred over all items. Up to twelve, each is measured in its own standard deviation; of more the "
    "scales are kept. Labels, answers and the order of trials have no part in it."
)
# The columns of every method in a CSV file, each with both ends of its interval.
NUMBERS = ("loss", "less_running", "calibration_error")
ENDS = ("", "_low", "_high")


def sections(experiment: People, results: Results) -> list[Section]:
    found = [Scored(one, results.of(one.name)) for one in experiment.sets]
    return [_summary(experiment, found), *(_set(one) for one in found)]


def _summary(experiment: People, found: Sequence[Scored]) -> Section:
    sentences = [
        f"The first {experiment.answers} answers of every person in every task. {ABOUT}",
        ABOUT_ERRORS,
        ABOUT_FEATURES,
    ]
    rows = [
        [title, *(with_interval(one.next.loss(name), 3) for one in found)]
        for name, title in WAYS.items()
    ]
    better = [with_interval(one.next.less_running("tracked"), 3) for one in found]
    rows.append(["tracked is better than running accuracy by", *better])
    errors = [with_interval(one.next.error("tracked"), 3) for one in found]
    rows.append(["calibration error of tracked", *errors])
    data = Data(
        "people-summary",
        ["set", "way", "people", *(f"{name}{end}" for name in NUMBERS for end in ENDS)],
        [
            [one.data.name, name, one.data.people, *_numbers(one.next, name)]
            for one in found
            for name in EVERY
        ],
    )
    header = ["", *(one.data.name for one in found)]
    caption = "Log loss of the next answer, in nats, with 95 % intervals over people."
    table = ReportTable("The next answer", header, rows, caption, data)
    return Section("In short", sentences, [table])


def _numbers(answered: Answered, name: str) -> list[object]:
    parts = (answered.loss(name), answered.less_running(name), answered.error(name))
    return [cell for part in parts for cell in with_limits(part)]


def _set(found: Scored) -> Section:
    data = found.data
    parts = [
        counted(data.people, "person", "people") + " in " + counted(len(data.sessions), "task"),
        counted(len(data.classes), "class", "classes"),
        counted(len(data.features), "item") + " with " + counted(data.features.shape[1], "feature"),
    ]
    guess = f"A guess has a loss of {np.log(len(data.classes)):.3f}."
    tables = [
        _losses("Every way to predict the next answer", found.next, f"people-{data.name}-losses"),
        single_models("Single models", found.next, found.models, f"people-{data.name}-models"),
        *(_fitting(found), _fits(found), _group(found)),
        *_tests(found),
    ]
    sentence = f"{', '.join(parts)}. {guess}"
    return Section(data.name, [sentence], tables, figures_of(found), max_columns=2)


def counted(count: int, one: str, several: str = "") -> str:
    """1 feature, 2 features."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def _losses(title: str, answered: Answered, file: str, more: str = "") -> ReportTable:
    return ReportTable(
        title=title,
        header=["", "log loss", "better than running accuracy by", "calibration error"],
        rows=[
            [
                words,
                with_interval(answered.loss(name), 3),
                UNKNOWN if name == "running" else with_interval(answered.less_running(name), 3),
                with_interval(answered.error(name), 3),
            ]
            for name, words in EVERY.items()
        ],
        caption=f"In nats, with 95 % intervals over people.{more} The file has the loss of every person.",
        data=Data(
            file,
            ["person", *EVERY],
            [
                [person, *(answered.people[name][person] for name in EVERY)]
                for person in answered.persons
            ],
        ),
    )


MODELS_HEADER = [
    *("family", "model", "loss", "low", "high"),
    *limits("less_running"),
    *limits("calibration_error"),
]


def single_models(title: str, answered: Answered, models: Sequence[str], file: str) -> ReportTable:
    """The range of losses of each family's models; the file has every model."""
    losses = {name: _summary_by_student([*answered.people[name].values()]) for name in models}
    columns = ("models", "best", "median", "worst", "calibration error of the best", "the best")
    return ReportTable(
        title=title,
        header=["", *columns],
        rows=[_family_row(answered, family, losses) for family in FAMILY_NAMES],
        caption="Each model by itself, with its styles of answering mixed by evidence: log loss in nats. The file has "
        "every model with intervals over people, how much better than the running accuracy it is, and its calibration.",
        data=Data(
            file,
            MODELS_HEADER,
            [_model_row(answered, name, loss) for name, loss in losses.items()],
        ),
    )


def _family_row(answered: Answered, family: str, losses: dict[str, SampleSummary]) -> Sequence[str]:
    own = sorted(
        (loss.mean or 0.0, name)
        for name, loss in losses.items()
        if name.partition(": ")[0] == family
    )
    (best, name), (worst, _) = own[0], own[-1]
    median = float(np.median([loss for loss, _ in own]))
    numbers = [f"{one:.3f}" for one in (best, median, worst, answered.error(name).mean)]
    return [family, str(len(own)), *numbers, name.partition(": ")[2]]


def _model_row(answered: Answered, name: str, loss: SampleSummary) -> list[object]:
    own, running = answered.people[name], answered.people["running"]
    less = _summary_by_student([running[person] - own[person] for person in own])
    numbers = [*with_limits(loss), *with_limits(less), *with_limits(answered.error(name))]
    family, _, model = name.partition(": ")
    return [family, model, *numbers]


def _summary_by_student(values: Sequence[float]) -> SampleSummary:
    """The mean with Student's interval. For hundreds of models, resampling would take half a minute."""
    curve = mean_curve("", [0], [[value] for value in values])
    mean, low, high = (float(part[0]) for part in (curve.mean, curve.low, curve.high))
    interval = Interval(low, high) if len(values) > 1 else None
    return SampleSummary(len(values), mean, interval=interval)


def _tests(found: Scored) -> list[ReportTable]:
    """The answers without feedback."""
    if not found.tests:
        return []
    name = f"people-{found.data.name}-tests"
    more = (
        " Each is predicted from what had been taught before it. The learning curve of the others is taken there, and "
        "the best constant from their answers without feedback."
    )
    models = single_models(
        "Single models, answers without feedback", found.tests, found.models, f"{name}-models"
    )
    return [_losses("Answers without feedback", found.tests, name, more), models]


def _fitting(found: Scored) -> ReportTable:
    """The posterior of the families after the last answer."""
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
    """β and η₀ of the paper's learner for every person, and their rank correlation with memory."""
    betas = {person: one.beta for person, one in found.betas.items()}
    rates = found.log_rates
    memory = found.data.memory
    silent = sum(one.is_uninformative for one in found.betas.values())
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
    single = f"{np.mean([one.beta for one in found.betas.values()]):.2f}"
    return ReportTable(
        title="Memory decay among these people",
        header=["people", "mean β", "standard deviation", "mean of the single fits"],
        rows=[[str(group.people), mean_beta(group), f"{group.sd:.2f}", single]],
        caption="From the answers of all people together, with one distribution of β and one of learning rates, and "
        "the 95 % interval of the mean. Single fits lean towards the middle of the range, where nothing is known.",
        data=Data(
            f"people-{found.data.name}-decay",
            ["people", "mean", "low", "high", "sd", "mean_of_single_fits"],
            [
                [
                    group.people,
                    group.mean,
                    group.low,
                    group.high,
                    group.sd,
                    float(np.mean([one.beta for one in found.betas.values()])),
                ]
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
    interval = found.interval
    within = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""
    return with_minus(f"{found.statistic:.2f}{within} (p = {found.p:.2g})")
