"""Every figure of a study: what is drawn, what is said below it, and the table behind it."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from analysis import stats
from analysis.charts import words
from analysis.charts.figures import accuracies, confusion, distributions
from studies.models import Outcome, Study
from teaching.teachers import teacher_title

from .decay import decay_figure
from .numbers import TIME_CLASS_MS, Numbers
from .outcome_figures import by_memory_figure, outcome_figure
from .sample import ONE_OF, answers_words
from .study_figure import Cell, StudyFigure, arm_values, person_table, sample_of

STAGES = ("teaching", "evaluation")


def accuracy_figure(numbers: Numbers) -> StudyFigure:
    arms = [
        accuracies.ArmAccuracies(
            teacher_title(arm),
            stats.summarise(numbers.values(arm, "first_seen_accuracy")),
            stats.summarise(numbers.values(arm, "evaluation_accuracy")),
        )
        for arm in numbers.arms
    ]
    header = (
        "arm", "n", "first_seen_accuracy", "first_seen_low", "first_seen_high", "evaluation_accuracy",
        "evaluation_low", "evaluation_high",
    )  # fmt: skip
    rows = [
        [key, arm.evaluation.n, *with_limits(arm.first_seen), *with_limits(arm.evaluation)]
        for key, arm in zip(numbers.arms, arms, strict=True)
    ]
    caption = (
        "Means with 95 % intervals; the distance from the upper to the lower mark is the gain."
    )
    return StudyFigure(
        "accuracy",
        caption,
        accuracies.accuracy_plot("First-seen and evaluation accuracy", arms),
        header,
        rows,
        sample_of(numbers, "first_seen_accuracy", "evaluation_accuracy"),
        numbers.purpose,
    )


def with_limits(summary: stats.SampleSummary) -> list[Cell]:
    interval = summary.interval
    limits = [interval.low, interval.high] if interval else [None, None]
    return [summary.mean, *limits]


def curve_figure(numbers: Numbers) -> StudyFigure:
    classes = len(numbers.dataset.class_names)
    arms = [
        accuracies.ArmCurves(
            teacher_title(arm), curve(numbers, arm), curve(numbers, arm, only_first=True)
        )
        for arm in numbers.arms
    ]
    rows: list[list[Cell]] = [
        [arm, name, point.step, point.n, point.share, point.interval.low, point.interval.high]
        for arm, curves in zip(numbers.arms, arms, strict=True)
        for name, points in (("all", curves.every), ("first_seen", curves.first_seen))
        for point in points
    ]
    return StudyFigure(
        "curves",
        f"Right answers by step of teaching with Wilson’s 95 % intervals; steps with fewer than {stats.TOO_FEW} "
        "answers are only in the CSV. Late steps are those of workers with a longer memory. Dashed line: guessing "
        f"among {classes} classes. {answers_words(numbers)}".rstrip(),
        accuracies.curve_plot("Learning curves", arms, chance=1 / classes),
        ("arm", "images", "step", "n", "accuracy", "low", "high"),
        rows,
        sample_of(numbers),
        numbers.purpose,
    )


def curve(numbers: Numbers, arm: str, *, only_first: bool = False) -> list[accuracies.StepAccuracy]:
    totals: dict[int, tuple[int, int]] = {}
    for (owner, step, is_first), (right, n) in numbers.answers.steps.items():
        if owner == arm and (is_first or not only_first):
            right_before, n_before = totals.get(step, (0, 0))
            totals[step] = (right_before + right, n_before + n)
    return [
        accuracies.StepAccuracy(step, n, right / n, interval)
        for step, (right, n) in sorted(totals.items())
        if (interval := stats.wilson_interval(right, n))
    ]


def memory_figure(numbers: Numbers) -> StudyFigure:
    spans = stats.known(person.memory_span for person in numbers.people if person.arm)
    halves = Counter(round(2 * span) for span in spans)
    # Empty classes between the shortest and the longest are part of the distribution.
    places = range(min(halves), max(halves) + 1) if halves else range(0)
    counts = [(place / 2, halves[place]) for place in places]
    return StudyFigure(
        "memory",
        f"The memory span n̄ of those who finished, all teachers pooled, to the nearest half{mean_words(spans)}.",
        distributions.histogram("Memory length", "memory span (mean length restored)", counts),
        ("memory_span", "participants"),
        counts,
        sample_of(numbers, "memory_span"),
        numbers.purpose,
    )


def mean_words(spans: Sequence[float]) -> str:
    middle, spread = stats.mean(spans), stats.standard_deviation(spans)
    if middle is None:
        return ""
    return f": mean {middle:.2f}" + ("" if spread is None else f", SD {spread:.2f}")


def unique_figure(numbers: Numbers) -> StudyFigure:
    return StudyFigure(
        "unique-examples",
        f"How many different images each {ONE_OF[numbers.purpose]} saw: fewer than the number of steps where images "
        "were repeated.",
        distributions.box_plot(
            title="Different images shown in teaching",
            axis="different images",
            arms=arm_values(numbers, "unique_examples"),
            show_tick=words.plain,
            show_mean=lambda value: f"{value:.1f}",
        ),
        *person_table(numbers, "unique_examples", "teaching_steps"),
        sample_of(numbers, "unique_examples"),
        numbers.purpose,
    )


def confusion_figure(numbers: Numbers) -> StudyFigure:
    names = numbers.dataset.class_names
    arms = [
        confusion.ArmConfusion(teacher_title(arm), confusion_counts(numbers, arm))
        for arm in numbers.arms
    ]
    rows: list[list[Cell]] = [
        [key, names[truth], names[answer], count]
        for key, arm in zip(numbers.arms, arms, strict=True)
        for truth, answers in enumerate(arm.counts)
        for answer, count in enumerate(answers)
    ]
    caption = (
        "Shares within a true class in %, and counts of answers where there is room. Unequal errors show a bias "
        f"towards one answer. {answers_words(numbers)}"
    )
    return StudyFigure(
        "confusion",
        caption.rstrip(),
        confusion.confusion_plot("Confusion in the evaluation", names, arms),
        ("arm", "true_class", "answer", "answers"),
        rows,
        sample_of(numbers),
        numbers.purpose,
    )


def confusion_counts(numbers: Numbers, arm: str) -> list[list[int]]:
    """`counts[truth][answer]` of an arm."""
    labels = range(len(numbers.dataset.class_names))
    counts = numbers.answers.confusion
    return [[counts.get((arm, truth, answer), 0) for answer in labels] for truth in labels]


def times_figure(numbers: Numbers) -> StudyFigure:
    rows = [
        distributions.ArmTimes(
            teacher_title(arm), stage, time_box(numbers.answers.times.get((arm, stage), ()))
        )
        for arm in numbers.arms
        for stage in STAGES
    ]
    lines: list[list[Cell]] = [
        [arm, stage, max(0.0, middle - TIME_CLASS_MS / 2), middle + TIME_CLASS_MS / 2, count]
        for (arm, stage), classes in sorted(numbers.answers.times.items())
        for middle, count in classes
    ]
    return StudyFigure(
        "response-times",
        "Middle half with the median, which the number gives; whiskers from the 5 % to the 95 % quantile of all "
        f"answers, counted in bins of {TIME_CLASS_MS} ms. {answers_words(numbers)}".rstrip(),
        distributions.times_plot("Response times", rows),
        ("arm", "stage", "from_ms", "to_ms", "answers"),
        lines,
        sample_of(numbers),
        numbers.purpose,
    )


def time_box(classes: Sequence[tuple[float, int]]) -> stats.Box | None:
    """In seconds."""
    marks = [stats.quantile_of_classes(classes, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    known = [mark / 1000 for mark in marks if mark is not None]
    return stats.Box(*known) if len(known) == len(marks) else None


FIGURES: dict[str, Callable[[Numbers], StudyFigure]] = {
    "gain": partial(outcome_figure, Outcome.GAIN),
    "evaluation": partial(outcome_figure, Outcome.EVALUATION),
    "accuracy": accuracy_figure,
    "curves": curve_figure,
    "gain-by-memory": partial(by_memory_figure, Outcome.GAIN),
    "evaluation-by-memory": partial(by_memory_figure, Outcome.EVALUATION),
    "memory": memory_figure,
    "decay": decay_figure,
    "unique-examples": unique_figure,
    "confusion": confusion_figure,
    "response-times": times_figure,
}


def figures_in_order(study: Study) -> list[Callable[[Numbers], StudyFigure]]:
    """Every figure, that of the primary outcome before that of the other."""
    order = [*FIGURES]
    if study.primary_outcome == Outcome.EVALUATION:
        for first, second in (("gain", "evaluation"), ("gain-by-memory", "evaluation-by-memory")):
            place = order.index(first)
            order[place : place + 2] = [second, first]
    return [FIGURES[key] for key in order]
