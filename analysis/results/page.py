"""The page of results: everything in words, so that the template only places it."""

from typing import Any

from analysis import stats
from analysis.charts import words
from analysis.charts.tables import Table, number_columns, row_names
from studies.head_counts import HeadCount
from studies.models import Study
from teaching.ceiling import ceiling_sentence
from teaching.teachers import teacher_title

from .analysis import Analysis, analyse, size_notes
from .figures import FIGURES, FORMS
from .numbers import Numbers, gather

WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a teacher "
    "shows what a worker gets wrong, so the best gain need not be the best evaluation: read the two together."
)

SAMPLE = ("mean", "SD", words.INTERVAL_95)
ARMS = (
    row_names("Teacher"),
    *number_columns("n"),
    *number_columns(*SAMPLE, strong=["mean"], group="Teaching gain, points"),
    *number_columns("First seen"),
    *number_columns(*SAMPLE, strong=["mean"], group="Evaluation accuracy"),
    *number_columns("Mean n̄", "Different images"),
)
COMPARISONS = (
    row_names("Comparison"),
    *number_columns("Difference, points", words.INTERVAL_95, "Welch’s t (df)", "p"),
    *number_columns("p, Holm", "Hedges’ g", strong=["p, Holm", "Hedges’ g"]),
    *number_columns(words.INTERVAL_95),
)
ATTRITION = (
    row_names("Teacher"),
    *number_columns("Joined", "Finished", "Under way", "Abandoned", "Withdrew", "Declined"),
    *number_columns("Lost of those who ended", "Excluded"),
)


def results_page(study: Study, purpose: str = "live") -> dict[str, Any]:
    numbers = gather(study, purpose)
    page = {
        "study": study,
        "finished": len(numbers.people),
        "attrition": attrition_table(numbers),
        "ceiling": ceiling_sentence(study.dataset),
    }
    if not numbers.people:
        return page
    gain, evaluation = (analyse(numbers, m) for m in ("teaching_gain", "evaluation_accuracy"))
    return page | {
        "what_gain_rewards": WHAT_GAIN_REWARDS,
        "arms": arm_table(numbers, gain, evaluation),
        "notes": size_notes(numbers),
        "analyses": [
            analysis_words("Teaching gain", gain),
            analysis_words("Evaluation accuracy", evaluation),
        ],
        "figures": [draw(numbers) for draw in FIGURES.values()],
        "forms": [*FORMS],
        "few": stats.FEW,
        "resamples": f"{stats.RESAMPLES:,}",
    }


def attrition_table(numbers: Numbers) -> Table:
    rows = [attrition_row(arm, head_count) for arm, head_count in numbers.head_counts.items()]
    return Table("Who was lost", ATTRITION, rows)


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


def arm_table(numbers: Numbers, gain: Analysis, evaluation: Analysis) -> Table:
    rows = [
        arm_row(arm, numbers, gain.summaries[arm], evaluation.summaries[arm])
        for arm in numbers.arms
    ]
    return Table("Numbers by teacher", ARMS, rows)


def arm_row(
    arm: str, numbers: Numbers, gain: stats.SampleSummary, evaluation: stats.SampleSummary
) -> list[Any]:
    return [
        teacher_title(arm),
        gain.n,
        words.points(gain.mean),
        words.spread(gain.sd),
        words.points_interval(gain.interval),
        words.share(stats.mean(numbers.values(arm, "first_seen_accuracy"))),
        words.share(evaluation.mean),
        words.spread(evaluation.sd),
        words.share_interval(evaluation.interval),
        words.decimal(stats.mean(numbers.values(arm, "memory_span")), 2),
        words.decimal(stats.mean(numbers.values(arm, "unique_examples")), 1),
    ]


def analysis_words(measure: str, analysis: Analysis) -> dict[str, Any]:
    reference = teacher_title(analysis.reference or "")
    rows = [
        comparison_row(f"{reference} − {teacher_title(arm)}", pair)
        for arm, pair in analysis.comparisons.items()
    ]
    return {
        "measure": measure,
        "reference": reference,
        "welch": welch_words(analysis.welch),
        "kruskal": kruskal_words(analysis.kruskal),
        "comparisons": Table(f"{measure}: comparisons with {reference}", COMPARISONS, rows),
    }


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
