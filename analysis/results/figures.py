"""Every figure of a study: its drawing, caption, sample, and the table behind it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from analysis import stats
from analysis.charts import accuracies, distributions, formatting
from analysis.charts.shapes import Drawing, with_caption, with_watermark
from analysis.charts.svg import svg, svg_file
from analysis.exports.formats import csv_text
from studies.models import Outcome, Study
from studies.version_groups import VersionChoice
from teaching.teachers import teacher_title

from .data import (
    FILE_MARKS,
    ONE_OF,
    TIME_CLASS_MS,
    WATERMARKS,
    StudyResults,
    answers_words,
    describe_sample,
    spans_and_values,
)

STAGES = ("teaching", "evaluation")
OUTCOME_KEYS = {Outcome.GAIN: "gain", Outcome.EVALUATION: "evaluation"}
"""The keys of figures in ids and file names."""
DECAY_MEASURES = ("memory_span", "beta", "beta_fitted")
Cell = str | int | float | None


@dataclass(frozen=True)
class StudyFigure:
    key: str
    caption: str
    drawing: Drawing
    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    sample: str
    """A description of the participants: part of the caption, and a column of the table."""
    purpose: str
    """The purpose of the sessions. Pictures, tables and file names distinguish bots from people."""

    @property
    def title(self) -> str:
        return self.picture.title

    @property
    def picture(self) -> Drawing:
        """The drawing, with a watermark if its sessions do not count."""
        words = WATERMARKS.get(self.purpose)
        return with_watermark(self.drawing, words) if words else self.drawing

    @property
    def has_people(self) -> bool:
        """Whether its table has a row for each participant."""
        return "participant" in self.header

    def file_name(self, study: Study, versions: VersionChoice, form: str) -> str:
        mark = FILE_MARKS.get(self.purpose, "")
        return f"{study.slug}-{self.key}{mark}{versions.mark}.{form}"

    def svg(self) -> str:
        return svg(self.picture)

    def file(self, form: str) -> bytes:
        if form == "csv":
            # Columns, because many programs do not read comments in a CSV.
            rows = ([*row, self.purpose, self.sample] for row in self.rows)
            return csv_text((*self.header, "purpose", "sample"), rows).encode()
        drawing = with_caption(self.picture, f"{self.title}. {self.caption} {self.sample}")
        if form == "svg":
            return svg_file(drawing).encode()
        # Loads ReportLab and its fonts, so only when needed.
        from analysis.charts.pdf import pdf

        return pdf(drawing)


FORMS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
}


def arm_values(results: StudyResults, measure: str) -> list[distributions.ArmValues]:
    return [
        distributions.ArmValues(teacher_title(arm), values, stats.summarise(values))
        for arm in results.arms
        for values in [results.values(arm, measure)]
    ]


def person_table(results: StudyResults, *measures: str) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Header and rows of some measures of every participant."""
    rows = [
        [person.code, person.arm, person.version, *(getattr(person, name) for name in measures)]
        for person in results.people
    ]
    return ("participant", "arm", "study_version", *measures), rows


def accuracy_figure(results: StudyResults) -> StudyFigure:
    arms = [
        accuracies.ArmAccuracies(
            teacher_title(arm),
            stats.summarise(results.values(arm, "first_seen_accuracy")),
            stats.summarise(results.values(arm, "evaluation_accuracy")),
        )
        for arm in results.arms
    ]
    header = (
        "arm", "n", "first_seen_accuracy", "first_seen_low", "first_seen_high", "evaluation_accuracy",
        "evaluation_low", "evaluation_high",
    )  # fmt: skip
    rows = [
        [key, arm.evaluation.n, *with_limits(arm.first_seen), *with_limits(arm.evaluation)]
        for key, arm in zip(results.arms, arms, strict=True)
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
        describe_sample(results, "first_seen_accuracy", "evaluation_accuracy"),
        results.purpose,
    )


def with_limits(summary: stats.SampleSummary) -> list[Cell]:
    interval = summary.interval
    limits = [interval.low, interval.high] if interval else [None, None]
    return [summary.mean, *limits]


def curve_figure(results: StudyResults) -> StudyFigure:
    classes = len(results.dataset.class_names)
    arms = [
        accuracies.ArmCurves(
            teacher_title(arm), curve(results, arm), curve(results, arm, only_first=True)
        )
        for arm in results.arms
    ]
    rows: list[list[Cell]] = [
        [arm, name, point.step, point.n, point.share, point.interval.low, point.interval.high]
        for arm, curves in zip(results.arms, arms, strict=True)
        for name, points in (("all", curves.every), ("first_seen", curves.first_seen))
        for point in points
    ]
    return StudyFigure(
        "curves",
        f"Right answers by step of teaching with Wilson’s 95 % intervals; steps with fewer than {stats.TOO_FEW} "
        "answers are only in the CSV. Late steps are those of workers with a longer memory. Dashed line: guessing "
        f"among {classes} classes. {answers_words(results)}".rstrip(),
        accuracies.curve_plot("Learning curves", arms, chance=1 / classes),
        ("arm", "images", "step", "n", "accuracy", "low", "high"),
        rows,
        describe_sample(results),
        results.purpose,
    )


def curve(
    results: StudyResults, arm: str, *, only_first: bool = False
) -> list[accuracies.StepAccuracy]:
    totals: dict[int, tuple[int, int]] = {}
    for (owner, step, is_first), (right, n) in results.answers.steps.items():
        if owner == arm and (is_first or not only_first):
            right_before, n_before = totals.get(step, (0, 0))
            totals[step] = (right_before + right, n_before + n)
    return [
        accuracies.StepAccuracy(step, n, right / n, interval)
        for step, (right, n) in sorted(totals.items())
        if (interval := stats.wilson_interval(right, n))
    ]


def memory_figure(results: StudyResults) -> StudyFigure:
    spans = stats.known(person.memory_span for person in results.people if person.arm)
    halves = Counter(round(2 * span) for span in spans)
    # With the empty classes between the shortest and the longest.
    places = range(min(halves), max(halves) + 1) if halves else range(0)
    counts = [(place / 2, halves[place]) for place in places]
    return StudyFigure(
        "memory",
        f"The memory span n̄ of those who finished, all teachers pooled, to the nearest half{mean_words(spans)}.",
        distributions.histogram("Memory length", "memory span (mean length restored)", counts),
        ("memory_span", "participants"),
        counts,
        describe_sample(results, "memory_span"),
        results.purpose,
    )


def mean_words(spans: Sequence[float]) -> str:
    summary = stats.summarise(spans)
    if summary.mean is None:
        return ""
    return f": mean {summary.mean:.2f}" + ("" if summary.sd is None else f", SD {summary.sd:.2f}")


def unique_figure(results: StudyResults) -> StudyFigure:
    return StudyFigure(
        "unique-examples",
        f"How many different images each {ONE_OF[results.purpose]} saw: fewer than the number of steps where images "
        "were repeated.",
        distributions.box_plot(
            title="Different images shown in teaching",
            axis="different images",
            arms=arm_values(results, "unique_examples"),
            show_tick=formatting.plain,
            show_mean=lambda value: f"{value:.1f}",
        ),
        *person_table(results, "unique_examples", "teaching_steps"),
        describe_sample(results, "unique_examples"),
        results.purpose,
    )


def confusion_figure(results: StudyResults) -> StudyFigure:
    names = results.dataset.class_names
    arms = [
        accuracies.ArmConfusion(teacher_title(arm), confusion_counts(results, arm))
        for arm in results.arms
    ]
    rows: list[list[Cell]] = [
        [key, names[truth], names[answer], count]
        for key, arm in zip(results.arms, arms, strict=True)
        for truth, answers in enumerate(arm.counts)
        for answer, count in enumerate(answers)
    ]
    caption = (
        "Shares within a true class in %, and counts of answers where there is room. Unequal errors show a bias "
        f"towards one answer. {answers_words(results)}"
    )
    return StudyFigure(
        "confusion",
        caption.rstrip(),
        accuracies.confusion_plot("Confusion in the evaluation", names, arms),
        ("arm", "true_class", "answer", "answers"),
        rows,
        describe_sample(results),
        results.purpose,
    )


def confusion_counts(results: StudyResults, arm: str) -> list[list[int]]:
    """`counts[true class][answer]` of an arm."""
    labels = range(len(results.dataset.class_names))
    counts = results.answers.confusion
    return [[counts.get((arm, truth, answer), 0) for answer in labels] for truth in labels]


def times_figure(results: StudyResults) -> StudyFigure:
    rows = [
        distributions.ArmTimes(
            teacher_title(arm), stage, time_box(results.answers.times.get((arm, stage), ()))
        )
        for arm in results.arms
        for stage in STAGES
    ]
    lines: list[list[Cell]] = [
        [arm, stage, max(0.0, middle - TIME_CLASS_MS / 2), middle + TIME_CLASS_MS / 2, count]
        for (arm, stage), classes in sorted(results.answers.times.items())
        for middle, count in classes
    ]
    return StudyFigure(
        "response-times",
        "Middle half with the median, which the number gives; whiskers from the 5 % to the 95 % quantile of all "
        f"answers, counted in bins of {TIME_CLASS_MS} ms. {answers_words(results)}".rstrip(),
        distributions.times_plot("Response times", rows),
        ("arm", "stage", "from_ms", "to_ms", "answers"),
        lines,
        describe_sample(results),
        results.purpose,
    )


def time_box(classes: Sequence[tuple[float, int]]) -> stats.Box | None:
    """Quantiles in seconds, of (middle of a class in ms, count)."""
    marks = [stats.quantile_of_classes(classes, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    known = [mark / 1000 for mark in marks if mark is not None]
    return stats.Box(*known) if len(known) == len(marks) else None


def outcome_figure(outcome: Outcome, results: StudyResults) -> StudyFigure:
    caption = (
        f"Every mark is a {ONE_OF[results.purpose]}. The box holds the middle half with the median, whiskers reach to "
        "1.5 interquartile ranges; the diamond is the mean with its 95 % interval, and the number below the name is "
        "its value."
    )
    title = f"{outcome.heading} by teacher: {results.study.role_of(outcome)}"
    return StudyFigure(
        OUTCOME_KEYS[outcome],
        " ".join(filter(None, [caption, beside_gain(outcome, results)])),
        distributions.outcome_plot(outcome, title, arm_values(results, outcome.value)),
        *person_table(
            results,
            "first_seen_accuracy",
            "evaluation_accuracy",
            "evaluation_kappa",
            "teaching_gain",
        ),
        describe_sample(results, outcome.value),
        results.purpose,
    )


def beside_gain(outcome: Outcome, results: StudyResults) -> str:
    """Mean evaluation accuracies, which belong beside a gain even where the picture is shown alone."""
    if outcome != Outcome.GAIN:
        return ""
    means = {
        teacher_title(arm): stats.mean(results.values(arm, Outcome.EVALUATION.value))
        for arm in results.arms
    }
    accuracies = ", ".join(f"{name} {formatting.share(mean)}" for name, mean in means.items())
    return f"A low first-seen accuracy also makes for a large gain. Mean evaluation accuracy: {accuracies}."


def by_memory_figure(outcome: Outcome, results: StudyResults) -> StudyFigure:
    style = distributions.OUTCOME_STYLES[outcome]
    arms = [
        distributions.ArmPoints(
            teacher_title(arm), spans_and_values(results.in_arm(arm), outcome.value)
        )
        for arm in results.arms
    ]
    caption = (
        f"Every mark is a {ONE_OF[results.purpose]}, shifted a little sideways where many share a span. "
        + correlation_words([point for arm in arms for point in arm.points])
    )
    return StudyFigure(
        f"{OUTCOME_KEYS[outcome]}-by-memory",
        " ".join(filter(None, [caption, beside_gain(outcome, results)])),
        distributions.scatter(
            f"{outcome.heading} against memory",
            "memory span (mean length restored)",
            style.axis,
            arms,
            show_tick=style.show_tick,
            has_zero=style.has_zero,
        ),
        *person_table(results, "memory_span", "evaluation_accuracy", "teaching_gain"),
        describe_sample(results, "memory_span", outcome.value),
        results.purpose,
    )


def correlation_words(points: Sequence[tuple[float, float]]) -> str:
    test = stats.spearman([x for x, _ in points], [y for _, y in points])
    if test is None:
        return "There are too few participants, or too little variation, for a correlation."
    rho = formatting.decimal(test.statistic, 2)
    interval = formatting.between(test.interval, lambda value: formatting.decimal(value, 2))
    within = f" ({interval})" if test.interval else ""
    return (
        f"Spearman’s rank correlation, all teachers pooled: ρ = {rho}{within}, "
        f"{formatting.p_words(test.p)}."
    )


def decay_figure(results: StudyResults) -> StudyFigure:
    arms = [
        distributions.ArmPoints(
            teacher_title(arm), spans_and_values(results.in_arm(arm), "beta_fitted")
        )
        for arm in results.arms
    ]
    assigned = [person for person in results.people if person.arm]
    points = spans_and_values(assigned, "beta_fitted")
    caption = (
        f"Every mark is a {ONE_OF[results.purpose]}, shifted a little sideways: β as the answers of the teaching have "
        "it, for the learner of the paper, against the memory span. Dashed: 1 − 1/n̄, the paper’s β. "
        "Single fits of about thirty answers lean towards the middle of the range, so marks may lie below the line "
        "though the group does not: its mean, in the table, comes from all answers together. "
        + correlation_words(points)
    )
    return StudyFigure(
        "decay",
        caption,
        distributions.scatter(
            "Fitted memory decay against memory",
            "memory span (mean length restored)",
            "β that fits the answers",
            arms,
            show_tick=formatting.plain,
            has_zero=False,
            reference=[(span / 4, 1 - 4 / span) for span in range(4, 37)],
        ),
        *person_table(results, *DECAY_MEASURES, "beta_fitted_low", "beta_fitted_high"),
        describe_sample(results, "memory_span", "beta_fitted"),
        results.purpose,
    )


FIGURES: dict[str, Callable[[StudyResults], StudyFigure]] = {
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


def figures_in_order(study: Study) -> list[Callable[[StudyResults], StudyFigure]]:
    """Every figure; those of the primary outcome come before those of the other."""
    order = [*FIGURES]
    if study.primary_outcome == Outcome.EVALUATION:
        for first, second in (("gain", "evaluation"), ("gain-by-memory", "evaluation-by-memory")):
            place = order.index(first)
            order[place : place + 2] = [second, first]
    return [FIGURES[key] for key in order]
