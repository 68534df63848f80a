"""What the learners say about the tracked teacher: how far it goes, and whether the bars hold."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.stats import SampleSummary, summarise

from .conditions import SEPARATOR
from .experiment import Results
from .kinds import FITS, OFF, LearnerKind
from .shares import DistanceCovered, share_of_way

# The share of the way from JEDI to the omniscient teacher that was asked for before anything was run.
BARS = {FITS: 0.8, OFF: 0.65}


@dataclass(frozen=True)
class Verdict:
    """One kind of learner on one material; differences are in percentage points, learner by learner."""

    kind: LearnerKind
    share: DistanceCovered | None
    over_rt: SampleSummary
    over_jedi: SampleSummary

    @property
    def bar(self) -> float | None:
        return BARS.get(self.kind.group)

    @property
    def is_missed(self) -> bool:
        """Whether the bar on the share is missed; where there is no way to go, none is."""
        return self.bar is not None and self.share is not None and self.share.value < self.bar

    @property
    def is_worse_than_rt(self) -> bool:
        return is_below_zero(self.over_rt)

    @property
    def is_worse_than_jedi(self) -> bool:
        return is_below_zero(self.over_jedi)

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
    rt, jedi, tracked, best = (
        results.values(cell_name(material, kind.name, teacher), "evaluation")
        for teacher in ("rt", "jedi", "tracked", "omniscient")
    )
    return Verdict(
        kind,
        share_of_way(jedi, tracked, best) if best else None,
        summarise(points(tracked, rt)),
        summarise(points(tracked, jedi)),
    )


def points(values: list[float], others: list[float]) -> list[float]:
    """Differences in percentage points."""
    return [100 * (a - b) for a, b in zip(values, others, strict=True)]


def is_below_zero(difference: SampleSummary) -> bool:
    """Whether a difference is below zero beyond its interval."""
    return difference.interval is not None and difference.interval.high < 0


def cell_name(material: str, kind: str, teacher: str) -> str:
    """The name of a condition."""
    return SEPARATOR.join((material, kind, teacher))
