"""The results of a study: its numbers by a handful of queries, then statistics, figures and the files behind them.

Only participants who finished count, everywhere but in the table of who was lost.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import Count, F, Q
from django.db.models.functions import Round

from studies.models import Participant, Study
from teaching.models import TeachingStep

from . import figures
from . import statistics as stats
from .drawing import Drawing, svg, svg_file
from .exports import cell
from .models import EvaluationItem
from .pdf import pdf

Cell = str | int | float | None

REFERENCE = "jedi"
# Response times are counted in classes of this width, so that a million answers come as a few rows.
TIME_CLASS_MS = 50
STAGES = ("teaching", "evaluation")
WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a teacher "
    "shows what a worker gets wrong, so the best gain need not be the best evaluation: read the two together."
)
UNKNOWN = "–"


@dataclass(frozen=True)
class Person:
    """One who finished."""

    code: str
    arm: str
    memory_span: float | None
    unique_examples: int | None
    first_seen_accuracy: float | None
    evaluation_accuracy: float | None
    teaching_gain: float | None


@dataclass(frozen=True)
class Answers:
    """What the finished answered. `steps` counts (arm, step, is first showing) as (right, answered)."""

    steps: dict[tuple[str, int, bool], tuple[int, int]]
    confusion: dict[tuple[str, int, int], int]
    times: dict[tuple[str, str], tuple[tuple[float, int], ...]]


@dataclass(frozen=True)
class Numbers:
    """Everything the page needs."""

    study: Study
    arms: tuple[str, ...]
    people: tuple[Person, ...]
    stages: dict[tuple[str, str], int]
    answers: Answers

    def of(self, arm: str) -> list[Person]:
        return [person for person in self.people if person.arm == arm]

    def values(self, arm: str, measure: str) -> tuple[float, ...]:
        return stats.known(getattr(person, measure) for person in self.of(arm))


def gather(study: Study) -> Numbers:
    people = finished_people(study)
    stages = stage_counts(study)
    # Arms of the settings come first, in their order; an arm that only rows know is not lost.
    seen = [*study.arm_names, *sorted({arm for arm, _ in stages if arm})]
    return Numbers(study, tuple(dict.fromkeys(seen)), people, stages, answers_of(study.pk, people))


# An answer of somebody who finished never changes: while the same people have finished, the counts stand.
@lru_cache(maxsize=16)
def answers_of(study: int, people: tuple[Person, ...]) -> Answers:
    confusion: Counter[tuple[str, int, int]] = Counter()
    evaluation_times: Counter[tuple[str, float | None]] = Counter()
    for arm, answer, is_right, time, count in evaluation_counts(study):
        confusion[arm, answer if is_right else -answer, answer] += count
        evaluation_times[arm, time] += count
    times = time_classes("teaching", teaching_times(study))
    times |= time_classes("evaluation", evaluation_times)
    return Answers(step_counts(study), dict(confusion), times)


def finished_people(study: Study) -> tuple[Person, ...]:
    fields = (
        "code", "arm", "memory_span", "unique_examples", "first_seen_accuracy",
        "evaluation_accuracy", "teaching_gain",
    )  # fmt: skip
    rows = study.participants.counted().completed().order_by("pk").values_list(*fields)
    return tuple(Person(*row) for row in rows)


def stage_counts(study: Study) -> dict[tuple[str, str], int]:
    """How many of an arm ("" before assignment) are done, under way, abandoned or declined."""
    late = Count("pk", filter=Q(last_seen_at__lt=study.cutoff))
    rows = (
        study.participants.counted()
        .order_by()
        .values_list("arm", "stage")
        .annotate(total=Count("pk"), late=late)
    )
    counts: Counter[tuple[str, str]] = Counter()
    for arm, stage, total, overdue in rows:
        if stage in Participant.STAGES_UNDER_WAY:
            counts[arm, "under way"] += total - overdue
            counts[arm, "abandoned"] += overdue
        else:
            counts[arm, stage] += total
    return dict(counts)


def answers_of_the_finished(study: int) -> Q:
    return Q(
        participant__in=Participant.objects.counted().completed().filter(study=study),
        is_correct__isnull=False,
    )


def step_counts(study: int) -> dict[tuple[str, int, bool], tuple[int, int]]:
    rows = (
        TeachingStep.objects.filter(answers_of_the_finished(study))
        .order_by()
        .values_list("participant__arm", "step", "is_first_showing")
        .annotate(right=Count("pk", filter=Q(is_correct=True)), n=Count("pk"))
    )
    return {(arm, step, is_first): (right, n) for arm, step, is_first, right, n in rows}


def time_class() -> Round:
    return Round(F("response_ms") / TIME_CLASS_MS)


def teaching_times(study: int) -> Counter[tuple[str, float | None]]:
    rows = (
        TeachingStep.objects.filter(answers_of_the_finished(study))
        .order_by()
        .values_list("participant__arm", time_class())
        .annotate(n=Count("pk"))
    )
    return Counter({(arm, time): count for arm, time, count in rows})


def evaluation_counts(study: int) -> Iterable[tuple[str, int, bool, float | None, int]]:
    """One pass over the largest table serves the confusion and the times. The truth follows from the answer."""
    return (
        EvaluationItem.objects.filter(answers_of_the_finished(study))
        .order_by()
        .values_list("participant__arm", "answer", "is_correct", time_class())
        .annotate(n=Count("pk"))
    )


def time_classes(
    stage: str, counts: Counter[tuple[str, float | None]]
) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
    """(arm, stage) to (middle of the class in ms, how many), in rising order; unknown times are left out."""
    classes: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for (arm, time), count in counts.items():
        if time is not None:
            classes.setdefault((arm, stage), []).append((float(time) * TIME_CLASS_MS, count))
    return {key: tuple(sorted(rows)) for key, rows in classes.items()}


def title_of(arm: str) -> str:
    return arm.upper() if len(arm) <= 4 else arm


# Statistics


@dataclass(frozen=True)
class Analysis:
    """One measure compared over the arms that have enough participants."""

    summaries: dict[str, stats.Summary]
    reference: str | None
    welch: stats.Test | None
    kruskal: stats.Test | None
    comparisons: dict[str, stats.Comparison]


def analyse(numbers: Numbers, measure: str) -> Analysis:
    values = {arm: numbers.values(arm, measure) for arm in numbers.arms}
    large = [arm for arm in numbers.arms if len(values[arm]) >= stats.TOO_FEW]
    reference = REFERENCE if REFERENCE in numbers.arms else next(iter(numbers.arms), None)
    return Analysis(
        summaries={arm: stats.summarise(values[arm]) for arm in numbers.arms},
        reference=reference,
        welch=stats.welch_anova([values[arm] for arm in large]),
        kruskal=stats.kruskal_wallis([values[arm] for arm in large]),
        comparisons=compare_with(reference, large, values),
    )


def compare_with(
    reference: str | None, arms: Sequence[str], values: dict[str, tuple[float, ...]]
) -> dict[str, stats.Comparison]:
    """The reference against each other arm, corrected over all of these comparisons."""
    if reference is None or reference not in arms:
        return {}
    pairs = {arm: stats.compare(values[reference], values[arm]) for arm in arms if arm != reference}
    done = {arm: pair for arm, pair in pairs.items() if pair}
    corrected = stats.holm([pair.test.p if pair.test else None for pair in done.values()])
    return {
        arm: replace(pair, p_holm=p) for (arm, pair), p in zip(done.items(), corrected, strict=True)
    }


def size_notes(numbers: Numbers) -> list[str]:
    """What the numbers of participants allow to say, quietly."""
    sizes = {arm: len(numbers.values(arm, "teaching_gain")) for arm in numbers.arms}
    notes = []
    few = [title_of(arm) for arm, n in sizes.items() if n < stats.TOO_FEW]
    if few:
        notes.append(
            f"Fewer than {stats.TOO_FEW} finished with {in_words(few)}: shown, but too few for an interval or a test."
        )
    smallest = min((n for n in sizes.values() if n >= stats.TOO_FEW), default=0)
    effect = stats.detectable_effect(smallest)
    if effect is not None:
        rough = "intervals and p values are rough, and " if smallest < stats.FEW else ""
        notes.append(
            f"With {smallest} in the smallest arm that is tested, {rough}a difference below about {effect:.1f} "
            "standard deviations would be missed more than one time in five."
        )
    missing = len(numbers.people) - sum(sizes.values())
    if missing:
        notes.append(f"{missing} finished without a gain or an arm and are left out.")
    return notes


def in_words(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


# Figures


@dataclass(frozen=True)
class Figure:
    key: str
    title: str
    caption: str
    drawing: Drawing
    header: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]

    def svg(self) -> str:
        return svg(self.drawing)

    def file(self, form: str) -> bytes:
        if form == "csv":
            return self.csv().encode()
        return pdf(self.drawing) if form == "pdf" else svg_file(self.drawing).encode()

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(self.header)
        writer.writerows([cell(value) for value in row] for row in self.rows)
        return text.getvalue()


FORMS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
}


def arm_values(numbers: Numbers, measure: str) -> list[figures.ArmValues]:
    return [
        figures.ArmValues(title_of(arm), values, stats.summarise(values))
        for arm in numbers.arms
        for values in [numbers.values(arm, measure)]
    ]


def person_rows(numbers: Numbers, *fields: str) -> list[list[Cell]]:
    return [[getattr(person, field) for field in fields] for person in numbers.people]


def gain_figure(numbers: Numbers) -> Figure:
    title = "Teaching gain by teacher"
    fields = ("code", "arm", "first_seen_accuracy", "evaluation_accuracy", "teaching_gain")
    return Figure(
        "gain",
        title,
        "Every mark is a participant. The box holds the middle half with the median, whiskers reach to 1.5 "
        "interquartile ranges; the diamond is the mean with its 95 % interval, and the signed number its value.",
        figures.box_plot(
            title=title,
            axis="teaching gain, points",
            arms=arm_values(numbers, "teaching_gain"),
            show_tick=figures.signed_tick,
            show_mean=figures.signed_points,
            has_zero=True,
        ),
        ("participant", *fields[1:]),
        person_rows(numbers, *fields),
    )


def accuracy_figure(numbers: Numbers) -> Figure:
    title = "First-seen and evaluation accuracy"
    arms = [
        figures.ArmAccuracies(
            title_of(arm),
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
    caption = "Means with 95 % intervals; the way from the upper to the lower mark is the gain."
    return Figure("accuracy", title, caption, figures.accuracy_plot(title, arms), header, rows)


def with_limits(summary: stats.Summary) -> list[Cell]:
    interval = summary.interval
    limits = [interval.low, interval.high] if interval else [None, None]
    return [summary.mean, *limits]


def curve_figure(numbers: Numbers) -> Figure:
    title = "Learning curves"
    arms = [
        figures.ArmCurves(title_of(arm), curve(numbers, arm), curve(numbers, arm, only_first=True))
        for arm in numbers.arms
    ]
    rows: list[list[Cell]] = [
        [arm, name, point.step, point.n, point.share, point.interval.low, point.interval.high]
        for arm, curves in zip(numbers.arms, arms, strict=True)
        for name, points in (("all", curves.every), ("first_seen", curves.first_seen))
        for point in points
    ]
    return Figure(
        "curves",
        title,
        f"Right answers by step of teaching with Wilson’s 95 % intervals; steps with fewer than {stats.TOO_FEW} "
        "answers are only in the CSV. Late steps belong to workers with a longer memory. Broken line: guessing.",
        figures.curve_plot(title, arms),
        ("arm", "images", "step", "n", "accuracy", "low", "high"),
        rows,
    )


def curve(numbers: Numbers, arm: str, *, only_first: bool = False) -> list[figures.StepAccuracy]:
    totals: dict[int, tuple[int, int]] = {}
    for (owner, step, is_first), (right, n) in numbers.answers.steps.items():
        if owner == arm and (is_first or not only_first):
            right_before, n_before = totals.get(step, (0, 0))
            totals[step] = (right_before + right, n_before + n)
    return [
        figures.StepAccuracy(step, n, right / n, interval)
        for step, (right, n) in sorted(totals.items())
        if (interval := stats.wilson_interval(right, n))
    ]


def memory_figure(numbers: Numbers) -> Figure:
    title = "Memory length"
    spans = stats.known(person.memory_span for person in numbers.people)
    halves = Counter(round(2 * span) for span in spans)
    # Empty classes between the shortest and the longest are part of the distribution.
    places = range(min(halves), max(halves) + 1) if halves else range(0)
    counts = [(place / 2, halves[place]) for place in places]
    return Figure(
        "memory",
        title,
        f"The memory span n̄ of those who finished, to the nearest half{mean_words(spans)}.",
        figures.histogram(title, "memory span (mean length restored)", counts),
        ("memory_span", "participants"),
        counts,
    )


def mean_words(spans: Sequence[float]) -> str:
    middle, spread = stats.mean(spans), stats.standard_deviation(spans)
    if middle is None:
        return ""
    return f": mean {middle:.2f}" + ("" if spread is None else f", SD {spread:.2f}")


def gain_by_memory_figure(numbers: Numbers) -> Figure:
    title = "Teaching gain against memory"
    arms = [
        figures.ArmPoints(title_of(arm), spans_and_gains(numbers.of(arm))) for arm in numbers.arms
    ]
    fields = ("code", "arm", "memory_span", "teaching_gain")
    return Figure(
        "gain-by-memory",
        title,
        "Every mark is a participant, moved a little sideways where many share a span. "
        + correlation_words([point for arm in arms for point in arm.points]),
        figures.scatter(title, "memory span (mean length restored)", "teaching gain, points", arms),
        ("participant", *fields[1:]),
        person_rows(numbers, *fields),
    )


def spans_and_gains(people: Iterable[Person]) -> list[tuple[float, float]]:
    return [
        (person.memory_span, person.teaching_gain)
        for person in people
        if person.memory_span is not None and person.teaching_gain is not None
    ]


def correlation_words(points: Sequence[tuple[float, float]]) -> str:
    test = stats.spearman([x for x, _ in points], [y for _, y in points])
    if test is None:
        return "Too few or too equal for a correlation."
    rho = figures.with_minus(f"{test.statistic:.2f}")
    return f"Spearman’s rank correlation over all teachers: ρ = {rho}, {p_words(test.p)}."


def unique_figure(numbers: Numbers) -> Figure:
    title = "Different images shown in teaching"
    fields = ("code", "arm", "unique_examples")
    return Figure(
        "unique-examples",
        title,
        "How many different images each participant saw; with repetitions, fewer than there were steps.",
        figures.box_plot(
            title=title,
            axis="different images",
            arms=arm_values(numbers, "unique_examples"),
            show_tick=figures.plain,
            show_mean=lambda value: f"{value:.1f}",
        ),
        ("participant", *fields[1:]),
        person_rows(numbers, *fields),
    )


def confusion_figure(numbers: Numbers) -> Figure:
    title = "Confusion in the evaluation"
    dataset = numbers.study.dataset
    labels = (-1, 1)

    def count(arm: str, truth: int, answer: int) -> int:
        return numbers.answers.confusion.get((arm, truth, answer), 0)

    def row(arm: str, truth: int) -> tuple[int, int]:
        return count(arm, truth, -1), count(arm, truth, 1)

    arms = [
        figures.ArmConfusion(title_of(arm), (row(arm, -1), row(arm, 1))) for arm in numbers.arms
    ]
    rows: list[list[Cell]] = [
        [arm, dataset.class_name(truth), dataset.class_name(answer), count(arm, truth, answer)]
        for arm in numbers.arms
        for truth in labels
        for answer in labels
    ]
    names = (dataset.negative_class, dataset.positive_class)
    return Figure(
        "confusion",
        title,
        "Shares within a true class, and counts of answers. Unequal errors show a lean towards one answer.",
        figures.confusion_plot(title, names, arms),
        ("arm", "true_class", "answer", "answers"),
        rows,
    )


def times_figure(numbers: Numbers) -> Figure:
    title = "Response times"
    rows = [
        figures.ArmTimes(
            title_of(arm), stage, time_box(numbers.answers.times.get((arm, stage), ()))
        )
        for arm in numbers.arms
        for stage in STAGES
    ]
    lines: list[list[Cell]] = [
        [arm, stage, max(0.0, middle - TIME_CLASS_MS / 2), middle + TIME_CLASS_MS / 2, count]
        for (arm, stage), classes in sorted(numbers.answers.times.items())
        for middle, count in classes
    ]
    return Figure(
        "response-times",
        title,
        "Middle half with the median, which the number gives; whiskers from the 5 % to the 95 % quantile of all "
        f"answers, counted in classes of {TIME_CLASS_MS} ms.",
        figures.times_plot(title, rows),
        ("arm", "stage", "from_ms", "to_ms", "answers"),
        lines,
    )


def time_box(classes: Sequence[tuple[float, int]]) -> stats.Box | None:
    """In seconds."""
    marks = [stats.quantile_of_classes(classes, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    known = [mark / 1000 for mark in marks if mark is not None]
    return stats.Box(*known) if len(known) == len(marks) else None


FIGURES: dict[str, Callable[[Numbers], Figure]] = {
    "gain": gain_figure,
    "accuracy": accuracy_figure,
    "curves": curve_figure,
    "gain-by-memory": gain_by_memory_figure,
    "memory": memory_figure,
    "unique-examples": unique_figure,
    "confusion": confusion_figure,
    "response-times": times_figure,
}


# The page: everything in words, so that the template only places it


def results_page(study: Study) -> dict[str, Any]:
    numbers = gather(study)
    page = {
        "study": study,
        "finished": len(numbers.people),
        "attrition": attrition_rows(numbers),
    }
    if not numbers.people:
        return page
    gain, evaluation = (analyse(numbers, m) for m in ("teaching_gain", "evaluation_accuracy"))
    return page | {
        "what_gain_rewards": WHAT_GAIN_REWARDS,
        "arms": arm_rows(numbers, gain, evaluation),
        "notes": size_notes(numbers),
        "analyses": [
            analysis_words("Teaching gain", gain),
            analysis_words("Evaluation accuracy", evaluation),
        ],
        "figures": [draw(numbers) for draw in FIGURES.values()],
        "forms": [*FORMS],
        "resamples": f"{stats.RESAMPLES:,}",
    }


def attrition_rows(numbers: Numbers) -> list[dict[str, Any]]:
    return [
        attrition_row(numbers, arm, title_of(arm) if arm else "before assignment")
        for arm in (*numbers.arms, "")
    ]


def attrition_row(numbers: Numbers, arm: str, title: str) -> dict[str, Any]:
    kinds = ("done", "under way", "abandoned", "declined")
    done, going, abandoned, declined = (numbers.stages.get((arm, kind), 0) for kind in kinds)
    ended = done + abandoned + declined
    return {
        "title": title,
        "joined": ended + going,
        "done": done if arm else UNKNOWN,
        "going": going,
        "abandoned": abandoned,
        "declined": declined if not arm else UNKNOWN,
        "lost": f"{100 * (abandoned + declined) / ended:.0f} %" if ended else UNKNOWN,
    }


def arm_rows(numbers: Numbers, gain: Analysis, evaluation: Analysis) -> list[dict[str, str]]:
    return [
        {
            "title": title_of(arm),
            "n": str(gain.summaries[arm].n),
            "gain": points(gain.summaries[arm].mean),
            "gain_sd": spread(gain.summaries[arm].sd),
            "gain_interval": points_interval(gain.summaries[arm].interval),
            "first_seen": share(stats.mean(numbers.values(arm, "first_seen_accuracy"))),
            "evaluation": share(evaluation.summaries[arm].mean),
            "evaluation_sd": spread(evaluation.summaries[arm].sd),
            "evaluation_interval": share_interval(evaluation.summaries[arm].interval),
            "span": decimal(stats.mean(numbers.values(arm, "memory_span")), 2),
            "unique": decimal(stats.mean(numbers.values(arm, "unique_examples")), 1),
        }
        for arm in numbers.arms
    ]


def analysis_words(measure: str, analysis: Analysis) -> dict[str, Any]:
    reference = title_of(analysis.reference or "")
    return {
        "measure": measure,
        "reference": reference,
        "welch": welch_words(analysis.welch),
        "kruskal": kruskal_words(analysis.kruskal),
        "rows": [
            comparison_words(f"{reference} − {title_of(arm)}", pair)
            for arm, pair in analysis.comparisons.items()
        ],
    }


def welch_words(test: stats.Test | None) -> str:
    if test is None:
        return "not possible: it needs two teachers with enough participants, and spread in each."
    return f"F({test.df:.0f}, {test.df2:.1f}) = {test.statistic:.2f}, {p_words(test.p)}"


def kruskal_words(test: stats.Test | None) -> str:
    if test is None:
        return (
            "not possible: it needs two teachers with enough participants, and values that differ."
        )
    return f"H({test.df:.0f}) = {test.statistic:.2f}, {p_words(test.p)}"


def comparison_words(title: str, pair: stats.Comparison) -> dict[str, str]:
    test = pair.test
    return {
        "title": title,
        "difference": points(pair.difference),
        "interval": points_interval(pair.interval),
        "t": figures.with_minus(f"{test.statistic:.2f} ({test.df:.1f})") if test else UNKNOWN,
        "p": p_value(test.p) if test else UNKNOWN,
        "p_holm": UNKNOWN if pair.p_holm is None else p_value(pair.p_holm),
        "g": decimal(pair.g, 2),
        "g_interval": between(pair.g_interval, lambda value: decimal(value, 2)),
    }


def decimal(value: float | None, places: int) -> str:
    return UNKNOWN if value is None else figures.with_minus(f"{value:.{places}f}")


def points(value: float | None) -> str:
    return UNKNOWN if value is None else figures.signed_points(value)


def spread(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f} %"


def between(interval: stats.Interval | None, show: Callable[[float], str]) -> str:
    return UNKNOWN if interval is None else f"{show(interval.low)} to {show(interval.high)}"


def points_interval(interval: stats.Interval | None) -> str:
    return between(interval, points)


def share_interval(interval: stats.Interval | None) -> str:
    return between(interval, lambda value: f"{100 * value:.1f}")


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    return (f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}").replace(
        " ", "\N{NO-BREAK SPACE}"
    )
