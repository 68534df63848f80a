"""What the learners say about a teacher: beside RT and JEDI, and of Tracked how far it goes and if the bars hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats import BOOTSTRAP_SEED, CONFIDENCE, Interval, SampleSummary, summarise

from .conditions import SEPARATOR
from .experiment import Results
from .kinds import FITS, OFF, LearnerKind
from .summaries import points_between

# The share of the way from JEDI to the omniscient teacher that is asked for. Before any run the first was 0.8.
BARS = {FITS: 0.85, OFF: 0.65}
RESAMPLES = 2000
# A way shorter than this, in accuracy, is too short to be divided by.
SHORTEST_WAY = 0.01


@dataclass(frozen=True)
class DistanceCovered:
    """The share of the way from one mean to another, and its bootstrap interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class Comparison:
    """A teacher of one kind of learner on one material; differences are in percentage points, learner by learner."""

    kind: LearnerKind
    over_rt: SampleSummary
    over_jedi: SampleSummary

    @property
    def is_worse_than_rt(self) -> bool:
        """Whether it is, beyond the interval."""
        return self.over_rt.interval is not None and self.over_rt.interval.high < 0

    @property
    def is_worse_than_jedi(self) -> bool:
        return self.over_jedi.interval is not None and self.over_jedi.interval.high < 0


@dataclass(frozen=True)
class Verdict(Comparison):
    """The tracked teacher, for which bars were set."""

    share: DistanceCovered | None

    @property
    def bar(self) -> float | None:
        return BARS.get(self.kind.group)

    @property
    def is_missed(self) -> bool:
        """Whether the bar on the share is missed; where there is no way to go, none is."""
        return self.bar is not None and self.share is not None and self.share.value < self.bar

    @property
    def words(self) -> str:
        if self.is_worse_than_rt:
            return "worse than RT"
        if self.bar is None or self.share is None:
            return "not worse than RT"
        if self.is_missed:
            return "missed"
        return "holds" if self.share.interval.low >= self.bar else "holds on average"


def verdict(results: Results, material: str, kind: LearnerKind) -> Verdict:
    """What the evaluation accuracies of one kind of learner say."""
    jedi, tracked, best = (
        accuracies(results, material, kind, teacher)
        for teacher in ("jedi", "tracked", "omniscient")
    )
    beside = comparison(results, material, kind, "tracked")
    share = share_of_way(jedi, tracked, best) if best else None
    return Verdict(kind, beside.over_rt, beside.over_jedi, share)


def comparison(results: Results, material: str, kind: LearnerKind, teacher: str) -> Comparison:
    """What they say about a teacher beside RT and JEDI."""
    own, rt, jedi = (accuracies(results, material, kind, name) for name in (teacher, "rt", "jedi"))
    return Comparison(
        kind, summarise(points_between(own, rt)), summarise(points_between(own, jedi))
    )


def accuracies(results: Results, material: str, kind: LearnerKind, teacher: str) -> list[float]:
    """Evaluation accuracies, learner by learner; none of a teacher that such learners do not have."""
    return results.values(cell_name(material, kind.name, teacher), "evaluation")


def share_of_way(
    start: Sequence[float], reached: Sequence[float], end: Sequence[float]
) -> DistanceCovered | None:
    """(mean reached − mean start)/(mean end − mean start), learner by learner; None of no way at all."""
    covered = np.subtract(reached, start)
    way = np.subtract(end, start)
    if way.mean() < SHORTEST_WAY:
        return None
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    drawn = rng.integers(0, len(way), (RESAMPLES, len(way)))
    ways = way[drawn].mean(axis=1)
    # Where the way all but vanishes the ratio means nothing; its sign is kept.
    ratios = covered[drawn].mean(axis=1) / np.maximum(ways, SHORTEST_WAY / 10)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return DistanceCovered(float(covered.mean() / way.mean()), Interval(float(low), float(high)))


def cell_name(material: str, kind: str, teacher: str) -> str:
    """The name of a condition."""
    return SEPARATOR.join((material, kind, teacher))
