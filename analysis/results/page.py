"""The page of results: everything in words, so that the template only places it."""

from collections.abc import Sequence
from typing import Any

from analysis import stats
from analysis.charts import words
from analysis.charts.tables import Column, Table, number_columns, row_names
from evaluation import metrics
from studies.head_counts import HeadCount
from studies.models import Outcome, Study
from studies.rates import rate_sentence
from studies.version_groups import versions_in_words
from teaching.ceiling import ceiling_sentence
from teaching.teachers import teacher_title

from .analysis import Analysis, analyse, size_notes
from .decay import decay_table
from .equal_steps import at_equal_steps, has_unequal_steps
from .figures import confusion_counts, figures_in_order
from .numbers import Numbers, gather
from .sample import ONE_OF, answers_words
from .study_figure import FORMS, sample_of

WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a teacher "
    "shows what a worker gets wrong, so the best gain need not be the best evaluation: read the two together."
)

SAMPLE = ("mean", "SD", words.INTERVAL_95)
UNITS = {Outcome.GAIN: "points", Outcome.EVALUATION: "%"}
IMAGES = number_columns("mean", words.INTERVAL_95, strong=["mean"], group="Images shown")
COMPARISONS = (
    row_names("Comparison"),
    *number_columns("Difference, points", words.INTERVAL_95, "Welch’s t (df)", "p"),
    *number_columns("p, Holm", "Hedges’ g", strong=["p, Holm", "Hedges’ g"]),
    *number_columns(words.INTERVAL_95),
)
ATTRITION = (
    row_names("Teacher"),
    *number_columns("Joined", "Finished", "Under way", "Abandoned", "Withdrew", "Declined"),
    *number_columns("Share lost", "Excluded"),
)


def results_page(study: Study, purpose: str = "live", version: str = "") -> dict[str, Any]:
    numbers = gather(study, purpose, version)
    page = {
        "study": study,
        "versions": numbers.versions,
        "finished": len(numbers.people),
        "kind": ONE_OF[numbers.purpose],
        "attrition": attrition_table(numbers),
        "ceiling": ceiling_sentence(numbers.dataset),
    }
    if not numbers.people:
        return page
    return page | {
        "what_gain_rewards": WHAT_GAIN_REWARDS,
        "arms": arm_table(numbers),
        "notes": size_notes(numbers, study.primary_outcome) + changed_outcome(numbers),
        "analyses": [analysis_words(outcome, numbers) for outcome in study.outcomes],
        "equal_steps": equal_steps(numbers),
        "rates": rates_in_words(numbers.settings),
        "recalls": recall_table(numbers),
        "decay": decay_table(numbers),
        "figures": [draw(numbers) for draw in figures_in_order(study)],
        "forms": [*FORMS],
        "few": stats.FEW,
        "resamples": f"{stats.RESAMPLES:,}",
    }


def rates_in_words(settings: dict[int, Study]) -> str:
    """The learning rate that teachers assumed; where it was not always the same, by version."""
    sentences = {number: rate_sentence(then) for number, then in settings.items()}
    if len(set(sentences.values())) == 1:
        return next(iter(sentences.values()))
    return " ".join(f"Version {number}: {words}" for number, words in sorted(sentences.items()))


def changed_outcome(numbers: Numbers) -> list[str]:
    primary = numbers.study.primary_outcome
    earlier = [
        number for number, then in numbers.settings.items() if then.primary_outcome != primary
    ]
    if not earlier:
        return []
    joined = versions_in_words(earlier)
    return [
        f"The primary outcome was another one when people of {joined} joined: report that it changed."
    ]


def equal_steps(numbers: Numbers) -> dict[str, Any]:
    """The comparison of those whom every teacher would have shown equally many images; empty if all were."""
    if not has_unequal_steps(numbers):
        return {}
    alike = at_equal_steps(numbers)
    return {
        "people": len(alike.people),
        "arms": arm_table(alike, "Numbers by teacher at equal steps"),
        "analyses": [
            analysis_words(outcome, alike, " at equal steps") for outcome in alike.study.outcomes
        ],
    }


def attrition_table(numbers: Numbers) -> Table:
    rows = [attrition_row(arm, head_count) for arm, head_count in numbers.head_counts.items()]
    versions = numbers.versions
    only = f"Of {versions.words} only." if versions.left_out else ""
    return Table("Who was lost", ATTRITION, rows, note=versions.pooling or only)


def attrition_row(arm: str, head_count: HeadCount) -> list[Any]:
    return [
        teacher_title(arm) if arm else "before assignment",
        head_count.joined,
        head_count.done if arm else words.UNKNOWN,
        head_count.under_way,
        head_count.abandoned,
        head_count.withdrawn,
        head_count.declined if not arm else words.UNKNOWN,
        words.share(head_count.lost, places=0),
        head_count.excluded,
    ]


def arm_table(numbers: Numbers, label: str = "Numbers by teacher") -> Table:
    outcomes = numbers.study.outcomes
    measures = [outcome.value for outcome in outcomes]
    rows = [arm_row(arm, numbers) for arm in numbers.arms]
    return Table(label, arm_columns(numbers.study), rows, note=sample_of(numbers, *measures))


def arm_columns(study: Study) -> tuple[Column, ...]:
    """The primary outcome first."""
    groups = [
        number_columns(*SAMPLE, strong=["mean"], group=group_title(outcome, study))
        for outcome in study.outcomes
    ]
    return (
        row_names("Teacher"),
        *number_columns("n"),
        *(column for group in groups for column in group),
        *number_columns("κ", "First seen"),
        *IMAGES,
        *number_columns("Different images", "Mean n̄"),
    )


def group_title(outcome: Outcome, study: Study) -> str:
    return f"{outcome.heading}, {UNITS[outcome]} ({study.role_of(outcome)})"


def arm_row(arm: str, numbers: Numbers) -> list[Any]:
    outcomes = numbers.study.outcomes
    steps = stats.summarise(numbers.values(arm, "teaching_steps"))
    return [
        teacher_title(arm),
        len(numbers.of(arm)),
        *(cell for outcome in outcomes for cell in outcome_cells(outcome, arm, numbers)),
        words.decimal(stats.mean(numbers.values(arm, "evaluation_kappa")), 2),
        words.share(stats.mean(numbers.values(arm, "first_seen_accuracy"))),
        words.decimal(steps.mean, 1),
        words.between(steps.interval, lambda value: words.decimal(value, 1)),
        words.decimal(stats.mean(numbers.values(arm, "unique_examples")), 1),
        words.decimal(stats.mean(numbers.values(arm, "memory_span")), 2),
    ]


def outcome_cells(outcome: Outcome, arm: str, numbers: Numbers) -> Sequence[str]:
    summary = stats.summarise(numbers.values(arm, outcome.value))
    spread = words.spread(summary.sd)
    if outcome == Outcome.GAIN:
        return words.points(summary.mean), spread, words.points_interval(summary.interval)
    return words.share(summary.mean), spread, words.share_interval(summary.interval)


def recall_table(numbers: Numbers) -> Table:
    names = numbers.dataset.class_names
    columns = (
        row_names("Teacher"),
        *number_columns(*names),
        *number_columns("Macro recall", strong=["Macro recall"]),
    )
    rows = [recall_row(arm, numbers) for arm in numbers.arms]
    note = " ".join(filter(None, [sample_of(numbers), answers_words(numbers)]))
    return Table("Right answers by class", columns, rows, note=note)


def recall_row(arm: str, numbers: Numbers) -> list[str]:
    counts = confusion_counts(numbers, arm)
    shares = [*metrics.recalls(counts), metrics.macro_recall(counts)]
    return [teacher_title(arm), *(words.share(share) for share in shares)]


def analysis_words(outcome: Outcome, numbers: Numbers, where: str = "") -> dict[str, Any]:
    analysis = analyse(numbers, outcome.value)
    reference = teacher_title(analysis.reference or "")
    return {
        "measure": outcome.heading,
        "role": numbers.study.role_of(outcome),
        "reference": reference,
        "welch": welch_words(analysis.welch),
        "kruskal": kruskal_words(analysis.kruskal),
        "comparisons": comparison_table(outcome, numbers, analysis, reference, where),
    }


def comparison_table(
    outcome: Outcome, numbers: Numbers, analysis: Analysis, reference: str, where: str
) -> Table:
    rows = [
        comparison_row(f"{reference} − {teacher_title(arm)}", pair)
        for arm, pair in analysis.comparisons.items()
    ]
    label = f"{outcome.heading}{where}: comparisons with {reference}"
    return Table(label, COMPARISONS, rows, note=sample_of(numbers, outcome.value))


def welch_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return "not possible: it needs two teachers with enough participants, and some variation within each."
    return f"F({test.df:.0f}, {test.df2:.1f}) = {test.statistic:.2f}, {words.p_words(test.p)}"


def kruskal_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return (
            "not possible: it needs two teachers with enough participants, and values that differ."
        )
    return f"H({test.df:.0f}) = {test.statistic:.2f}, {words.p_words(test.p)}"


def comparison_row(title: str, pair: stats.PairwiseComparison) -> list[str]:
    test = pair.test
    return [
        title,
        words.points(pair.difference),
        words.points_interval(pair.interval),
        words.with_minus(f"{test.statistic:.2f} ({test.df:.1f})") if test else words.UNKNOWN,
        words.p_value(test.p) if test else words.UNKNOWN,
        words.UNKNOWN if pair.p_holm is None else words.p_value(pair.p_holm),
        words.decimal(pair.g, 2),
        words.between(pair.g_interval, lambda value: words.decimal(value, 2)),
    ]
