"""The page of results: statistical comparisons, tables and figures, ready for the template."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis import stats
from analysis.charts import formatting
from analysis.charts.formatting import in_words
from analysis.charts.tables import Column, Table, number_columns, row_names
from evaluation import metrics
from studies.head_counts import HeadCount
from studies.models import Outcome, Study
from studies.rates import rate_sentence
from studies.version_groups import versions_in_words
from teaching.ceiling import ceiling_sentence
from teaching.teachers import known_teachers, teacher_title

from .data import (
    ONE_OF,
    StudyResults,
    answers_words,
    at_equal_steps,
    describe_sample,
    load_results,
)
from .decay import decay_table
from .figures import FORMS, confusion_counts, figures_in_order

WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a teacher "
    "shows what a worker gets wrong, so the best gain need not be the best evaluation: read the two together."
)

SAMPLE = ("mean", "SD", formatting.INTERVAL_95)
UNITS = {Outcome.GAIN: "points", Outcome.EVALUATION: "%"}
IMAGES = number_columns("mean", formatting.INTERVAL_95, strong=["mean"], group="Images shown")
COMPARISONS = (
    row_names("Comparison"),
    *number_columns("Difference, points", formatting.INTERVAL_95, "Welch’s t (df)", "p"),
    *number_columns("p, Holm", "Hedges’ g", strong=["p, Holm", "Hedges’ g"]),
    *number_columns(formatting.INTERVAL_95),
)
ATTRITION = (
    row_names("Teacher"),
    *number_columns("Joined", "Finished", "Under way", "Abandoned", "Withdrew", "Declined"),
    *number_columns("Share lost", "Excluded"),
)
ALPHA = 1 - stats.CONFIDENCE


@dataclass(frozen=True)
class Analysis:
    """One measure compared over the arms that have enough participants."""

    summaries: dict[str, stats.SampleSummary]
    reference: str | None
    welch: stats.HypothesisTest | None
    kruskal: stats.HypothesisTest | None
    comparisons: dict[str, stats.PairwiseComparison]


def analyse(results: StudyResults, measure: str) -> Analysis:
    values = {arm: results.values(arm, measure) for arm in results.arms}
    large = [arm for arm in results.arms if len(values[arm]) >= stats.TOO_FEW]
    reference = reference_of(results.arms)
    return Analysis(
        summaries={arm: stats.summarise(values[arm]) for arm in results.arms},
        reference=reference,
        welch=stats.welch_anova([values[arm] for arm in large]),
        kruskal=stats.kruskal_wallis([values[arm] for arm in large]),
        comparisons=compare_with(reference, large, values),
    )


def reference_of(arms: Sequence[str]) -> str | None:
    """The arm that the others are compared with: the first that is meant as a reference, or else the first."""
    teachers = known_teachers()
    references = (arm for arm in arms if arm in teachers and teachers[arm].is_reference)
    return next(references, next(iter(arms), None))


def compare_with(
    reference: str | None, arms: Sequence[str], values: dict[str, tuple[float, ...]]
) -> dict[str, stats.PairwiseComparison]:
    """The reference against each other arm, with p values corrected over all of these comparisons."""
    if reference is None or reference not in arms:
        return {}
    pairs = {arm: stats.compare(values[reference], values[arm]) for arm in arms if arm != reference}
    tested = {arm: pair for arm, pair in pairs.items() if pair}
    corrected = stats.holm([pair.test.p if pair.test else None for pair in tested.values()])
    return {
        arm: replace(pair, p_holm=p)
        for (arm, pair), p in zip(tested.items(), corrected, strict=True)
    }


def size_notes(results: StudyResults, measure: str) -> list[str]:
    """What the sample sizes allow to conclude about a measure."""
    sizes = {arm: len(results.values(arm, measure)) for arm in results.arms}
    notes = []
    few = [teacher_title(arm) for arm, n in sizes.items() if n < stats.TOO_FEW]
    if few:
        notes.append(
            f"Fewer than {stats.TOO_FEW} finished with {in_words(few)}: shown, but too few for an interval or a test."
        )
    smallest = min((n for n in sizes.values() if n >= stats.TOO_FEW), default=0)
    return [*notes, *detectable_notes(smallest)]


def detectable_notes(smallest: int) -> list[str]:
    """The differences that the smallest arm would miss, at the full level and at half of it."""
    alone, of_two = (stats.detectable_effect(smallest, alpha) for alpha in (ALPHA, ALPHA / 2))
    if alone is None or of_two is None:
        return []
    rough = "intervals and p values are rough, and " if smallest < stats.FEW else ""
    return [
        f"With {smallest} in the smallest arm that is tested, {rough}a difference below {alone:.2f} standard "
        "deviations would be missed more than one time in five at the level of 5\N{NO-BREAK SPACE}%, and one below "
        f"{of_two:.2f} at 2.5\N{NO-BREAK SPACE}%, which is the level of each outcome if both are tested."
    ]


def results_page(study: Study, purpose: str = "live", version: str = "") -> dict[str, Any]:
    results = load_results(study, purpose, version)
    page = {
        "study": study,
        "versions": results.versions,
        "finished": len(results.people),
        "kind": ONE_OF[results.purpose],
        "attrition": attrition_table(results),
        "ceiling": ceiling_sentence(results.dataset),
    }
    if not results.people:
        return page
    return page | {
        "what_gain_rewards": WHAT_GAIN_REWARDS,
        "arms": arm_table(results),
        "notes": size_notes(results, study.primary_outcome) + changed_outcome(results),
        "analyses": [analysis_words(outcome, results) for outcome in study.outcomes],
        "equal_steps": equal_steps(results),
        "rates": rates_in_words(results.settings),
        "recalls": recall_table(results),
        "decay": decay_table(results),
        "figures": [draw(results) for draw in figures_in_order(study)],
        "forms": [*FORMS],
        "few": stats.FEW,
        "resamples": f"{stats.RESAMPLES:,}",
    }


def rates_in_words(settings: dict[int, Study]) -> str:
    """The learning rate that teachers assumed, by version if it differs."""
    sentences = {number: rate_sentence(then) for number, then in settings.items()}
    if len(set(sentences.values())) == 1:
        return next(iter(sentences.values()))
    return " ".join(f"Version {number}: {words}" for number, words in sorted(sentences.items()))


def changed_outcome(results: StudyResults) -> list[str]:
    primary = results.study.primary_outcome
    earlier = [
        number for number, then in results.settings.items() if then.primary_outcome != primary
    ]
    if not earlier:
        return []
    joined = versions_in_words(earlier)
    return [
        f"The primary outcome was another one when people of {joined} joined: report that it changed."
    ]


def equal_steps(results: StudyResults) -> dict[str, Any]:
    """The comparison at equal steps; empty if all participants had equally many."""
    if not results.has_unequal_steps:
        return {}
    alike = at_equal_steps(results)
    return {
        "people": len(alike.people),
        "arms": arm_table(alike, "Numbers by teacher at equal steps"),
        "analyses": [
            analysis_words(outcome, alike, " at equal steps") for outcome in alike.study.outcomes
        ],
    }


def attrition_table(results: StudyResults) -> Table:
    rows = [attrition_row(arm, head_count) for arm, head_count in results.head_counts.items()]
    versions = results.versions
    only = f"Of {versions.words} only." if versions.left_out else ""
    return Table("Who was lost", ATTRITION, rows, note=versions.pooling or only)


def attrition_row(arm: str, head_count: HeadCount) -> list[Any]:
    return [
        teacher_title(arm) if arm else "before assignment",
        head_count.joined,
        head_count.done if arm else formatting.UNKNOWN,
        head_count.under_way,
        head_count.abandoned,
        head_count.withdrawn,
        head_count.declined if not arm else formatting.UNKNOWN,
        formatting.share(head_count.lost, places=0),
        head_count.excluded,
    ]


def arm_table(results: StudyResults, label: str = "Numbers by teacher") -> Table:
    outcomes = results.study.outcomes
    measures = [outcome.value for outcome in outcomes]
    rows = [arm_row(arm, results) for arm in results.arms]
    return Table(label, arm_columns(results.study), rows, note=describe_sample(results, *measures))


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


def arm_row(arm: str, results: StudyResults) -> list[Any]:
    outcomes = results.study.outcomes
    steps = stats.summarise(results.values(arm, "teaching_steps"))
    return [
        teacher_title(arm),
        len(results.in_arm(arm)),
        *(cell for outcome in outcomes for cell in outcome_cells(outcome, arm, results)),
        formatting.decimal(stats.mean(results.values(arm, "evaluation_kappa")), 2),
        formatting.share(stats.mean(results.values(arm, "first_seen_accuracy"))),
        formatting.decimal(steps.mean, 1),
        formatting.between(steps.interval, lambda value: formatting.decimal(value, 1)),
        formatting.decimal(stats.mean(results.values(arm, "unique_examples")), 1),
        formatting.decimal(stats.mean(results.values(arm, "memory_span")), 2),
    ]


def outcome_cells(outcome: Outcome, arm: str, results: StudyResults) -> Sequence[str]:
    summary = stats.summarise(results.values(arm, outcome.value))
    spread = formatting.spread(summary.sd)
    if outcome == Outcome.GAIN:
        return formatting.points(summary.mean), spread, formatting.points_interval(summary.interval)
    return formatting.share(summary.mean), spread, formatting.share_interval(summary.interval)


def recall_table(results: StudyResults) -> Table:
    names = results.dataset.class_names
    columns = (
        row_names("Teacher"),
        *number_columns(*names),
        *number_columns("Macro recall", strong=["Macro recall"]),
    )
    rows = [recall_row(arm, results) for arm in results.arms]
    note = " ".join(filter(None, [describe_sample(results), answers_words(results)]))
    return Table("Right answers by class", columns, rows, note=note)


def recall_row(arm: str, results: StudyResults) -> list[str]:
    counts = confusion_counts(results, arm)
    shares = [*metrics.recalls(counts), metrics.macro_recall(counts)]
    return [teacher_title(arm), *(formatting.share(share) for share in shares)]


def analysis_words(outcome: Outcome, results: StudyResults, where: str = "") -> dict[str, Any]:
    analysis = analyse(results, outcome.value)
    reference = teacher_title(analysis.reference or "")
    return {
        "measure": outcome.heading,
        "role": results.study.role_of(outcome),
        "reference": reference,
        "welch": welch_words(analysis.welch),
        "kruskal": kruskal_words(analysis.kruskal),
        "comparisons": comparison_table(outcome, results, analysis, reference, where),
    }


def comparison_table(
    outcome: Outcome, results: StudyResults, analysis: Analysis, reference: str, where: str
) -> Table:
    rows = [
        comparison_row(f"{reference} − {teacher_title(arm)}", pair)
        for arm, pair in analysis.comparisons.items()
    ]
    label = f"{outcome.heading}{where}: comparisons with {reference}"
    return Table(label, COMPARISONS, rows, note=describe_sample(results, outcome.value))


def welch_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return "not possible: it needs two teachers with enough participants, and some variation within each."
    return f"F({test.df:.0f}, {test.df2:.1f}) = {test.statistic:.2f}, {formatting.p_words(test.p)}"


def kruskal_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return (
            "not possible: it needs two teachers with enough participants, and values that differ."
        )
    return f"H({test.df:.0f}) = {test.statistic:.2f}, {formatting.p_words(test.p)}"


def comparison_row(title: str, pair: stats.PairwiseComparison) -> list[str]:
    test = pair.test
    return [
        title,
        formatting.points(pair.difference),
        formatting.points_interval(pair.interval),
        formatting.with_minus(f"{test.statistic:.2f} ({test.df:.1f})")
        if test
        else formatting.UNKNOWN,
        formatting.p_value(test.p) if test else formatting.UNKNOWN,
        formatting.UNKNOWN if pair.p_holm is None else formatting.p_value(pair.p_holm),
        formatting.decimal(pair.g, 2),
        formatting.between(pair.g_interval, lambda value: formatting.decimal(value, 2)),
    ]
