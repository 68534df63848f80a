"""The cut-off of the bonus: the top share of some accuracies, and the sentence that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal


@dataclass(frozen=True)
class Cutoff:
    """Where the top ends. `accuracy` is that of the last place; None if there is no place."""

    people: int
    share: Decimal
    exact: Decimal
    places: int
    accuracy: float | None
    paid: int
    tied: int
    """How many have the accuracy of the last place."""

    def includes(self, accuracy: float) -> bool:
        return self.accuracy is not None and accuracy >= self.accuracy


def find_cutoff(accuracies: Sequence[float], share: Decimal) -> Cutoff:
    """The top share of some accuracies. Fractions of a place are rounded up, and ties with the last place are in:
    so a person is in exactly if fewer than this share of all did better."""
    ranked = sorted(accuracies, reverse=True)
    exact = share * len(ranked)
    places = int(exact.to_integral_value(ROUND_CEILING))
    last = ranked[places - 1] if places else None
    top = [accuracy for accuracy in ranked if last is not None and accuracy >= last]
    tied = sum(accuracy == last for accuracy in top)
    return Cutoff(len(ranked), share, exact, places, last, len(top), tied)


def explain(cutoff: Cutoff) -> str:
    """The cut-off in a sentence, with the ties that made the top larger."""
    if not cutoff.people:
        return "Nobody has finished yet, so there is nobody to pay."
    counted = f"{percent(cutoff.share)} of {people(cutoff.people)} is {plain(cutoff.exact)}"
    if not cutoff.places or cutoff.accuracy is None:
        return f"{counted}, so nobody gets the bonus."
    rounded = "" if cutoff.exact == cutoff.places else f", rounded up to {cutoff.places}"
    return f"{counted}{rounded}; {_outcome(cutoff, accuracy_words(cutoff.accuracy))}."


def _outcome(cutoff: Cutoff, accuracy: str) -> str:
    if cutoff.paid == cutoff.places:
        return f"the cut-off is {accuracy}, and {are(cutoff.paid)} paid"
    who = "all of them" if cutoff.tied == cutoff.people else people(cutoff.tied)
    return f"{who} are tied for the last place at {accuracy}, so {are(cutoff.paid)} paid"


def accuracy_words(accuracy: float) -> str:
    return percent(Decimal(str(round(accuracy, 3))))


def percent(share: Decimal) -> str:
    return f"{plain(100 * share)}\N{NO-BREAK SPACE}%"


def plain(number: Decimal) -> str:
    """Without trailing zeros and without an exponent."""
    return f"{number.normalize():f}"


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def are(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"
