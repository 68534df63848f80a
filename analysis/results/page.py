"""The page of results: everything in words, so that the template only places it."""

from typing import Any

from analysis import stats
from analysis.charts.words import (
    UNKNOWN,
    between,
    decimal,
    p_value,
    p_words,
    points,
    points_interval,
    share,
    share_interval,
    spread,
    with_minus,
)
from studies.head_counts import HeadCount
from studies.models import Study
from teaching.teachers import teacher_title

from .analysis import Analysis, analyse, size_notes
from .figures import FIGURES, FORMS
from .numbers import Numbers, gather

WHAT_GAIN_REWARDS = (
    "Teaching gain is evaluation accuracy minus accuracy on first-seen teaching images. It also grows when a teacher "
    "shows what a worker gets wrong, so the best gain need not be the best evaluation: read the two together."
)


def results_page(study: Study, purpose: str = "live") -> dict[str, Any]:
    numbers = gather(study, purpose)
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
    return [attrition_row(arm, head_count) for arm, head_count in numbers.head_counts.items()]


def attrition_row(arm: str, head_count: HeadCount) -> dict[str, Any]:
    return {
        "title": teacher_title(arm) if arm else "before assignment",
        "joined": head_count.joined,
        "done": head_count.done if arm else UNKNOWN,
        "going": head_count.under_way,
        "abandoned": head_count.abandoned,
        "withdrawn": head_count.withdrawn,
        "declined": head_count.declined if not arm else UNKNOWN,
        "excluded": head_count.excluded,
        "lost": share(head_count.lost, places=0),
    }


def arm_rows(numbers: Numbers, gain: Analysis, evaluation: Analysis) -> list[dict[str, str]]:
    return [
        {
            "title": teacher_title(arm),
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
    reference = teacher_title(analysis.reference or "")
    return {
        "measure": measure,
        "reference": reference,
        "welch": welch_words(analysis.welch),
        "kruskal": kruskal_words(analysis.kruskal),
        "rows": [
            comparison_words(f"{reference} − {teacher_title(arm)}", pair)
            for arm, pair in analysis.comparisons.items()
        ],
    }


def welch_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return "not possible: it needs two teachers with enough participants, and some variation within each."
    return f"F({test.df:.0f}, {test.df2:.1f}) = {test.statistic:.2f}, {p_words(test.p)}"


def kruskal_words(test: stats.HypothesisTest | None) -> str:
    if test is None:
        return (
            "not possible: it needs two teachers with enough participants, and values that differ."
        )
    return f"H({test.df:.0f}) = {test.statistic:.2f}, {p_words(test.p)}"


def comparison_words(title: str, pair: stats.PairwiseComparison) -> dict[str, str]:
    test = pair.test
    return {
        "title": title,
        "difference": points(pair.difference),
        "interval": points_interval(pair.interval),
        "t": with_minus(f"{test.statistic:.2f} ({test.df:.1f})") if test else UNKNOWN,
        "p": p_value(test.p) if test else UNKNOWN,
        "p_holm": UNKNOWN if pair.p_holm is None else p_value(pair.p_holm),
        "g": decimal(pair.g, 2),
        "g_interval": between(pair.g_interval, lambda value: decimal(value, 2)),
    }
