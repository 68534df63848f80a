"""What the numbers say: every measure compared over the arms, and what their sizes allow to say."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis import stats
from analysis.charts.words import in_words
from teaching.teachers import known_teachers, teacher_title

from .numbers import Numbers

ALPHA = 1 - stats.CONFIDENCE


@dataclass(frozen=True)
class Analysis:
    """One measure compared over the arms that have enough participants."""

    summaries: dict[str, stats.SampleSummary]
    reference: str | None
    welch: stats.HypothesisTest | None
    kruskal: stats.HypothesisTest | None
    comparisons: dict[str, stats.PairwiseComparison]


def analyse(numbers: Numbers, measure: str) -> Analysis:
    values = {arm: numbers.values(arm, measure) for arm in numbers.arms}
    large = [arm for arm in numbers.arms if len(values[arm]) >= stats.TOO_FEW]
    reference = reference_of(numbers.arms)
    return Analysis(
        summaries={arm: stats.summarise(values[arm]) for arm in numbers.arms},
        reference=reference,
        welch=stats.welch_anova([values[arm] for arm in large]),
        kruskal=stats.kruskal_wallis([values[arm] for arm in large]),
        comparisons=compare_with(reference, large, values),
    )


def reference_of(arms: Sequence[str]) -> str | None:
    """The arm that the others are compared with: a teacher that is meant for it, or else the first arm."""
    teachers = known_teachers()
    meant = (arm for arm in arms if arm in teachers and teachers[arm].is_reference)
    return next(meant, next(iter(arms), None))


def compare_with(
    reference: str | None, arms: Sequence[str], values: dict[str, tuple[float, ...]]
) -> dict[str, stats.PairwiseComparison]:
    """The reference against each other arm, corrected over all of these comparisons."""
    if reference is None or reference not in arms:
        return {}
    pairs = {arm: stats.compare(values[reference], values[arm]) for arm in arms if arm != reference}
    done = {arm: pair for arm, pair in pairs.items() if pair}
    corrected = stats.holm([pair.test.p if pair.test else None for pair in done.values()])
    return {
        arm: replace(pair, p_holm=p) for (arm, pair), p in zip(done.items(), corrected, strict=True)
    }


def size_notes(numbers: Numbers, measure: str) -> list[str]:
    """What the numbers of participants allow to say about a measure, quietly."""
    sizes = {arm: len(numbers.values(arm, measure)) for arm in numbers.arms}
    notes = []
    few = [teacher_title(arm) for arm, n in sizes.items() if n < stats.TOO_FEW]
    if few:
        notes.append(
            f"Fewer than {stats.TOO_FEW} finished with {in_words(few)}: shown, but too few for an interval or a test."
        )
    smallest = min((n for n in sizes.values() if n >= stats.TOO_FEW), default=0)
    return [*notes, *detectable_notes(smallest)]


def detectable_notes(smallest: int) -> list[str]:
    """Which difference the smallest arm can miss, at the full level and at that of one outcome of two."""
    alone, of_two = (stats.detectable_effect(smallest, alpha) for alpha in (ALPHA, ALPHA / 2))
    if alone is None or of_two is None:
        return []
    rough = "intervals and p values are rough, and " if smallest < stats.FEW else ""
    return [
        f"With {smallest} in the smallest arm that is tested, {rough}a difference below {alone:.2f} standard "
        "deviations would be missed more than one time in five at the level of 5\N{NO-BREAK SPACE}%, and one below "
        f"{of_two:.2f} at 2.5\N{NO-BREAK SPACE}%, which is the level of each outcome if both are tested."
    ]
