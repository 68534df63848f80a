"""How much a worker learned: pure functions over answers."""

from collections.abc import Iterable, Sequence


def accuracy(outcomes: Sequence[bool]) -> float | None:
    """The share of right answers; None of none."""
    return sum(outcomes) / len(outcomes) if outcomes else None


def first_seen(showings: Sequence[tuple[int, bool]]) -> list[bool]:
    """The outcomes of first presentations. `showings` holds (example, is right) in the order shown."""
    outcomes: dict[int, bool] = {}
    for example, is_right in showings:
        outcomes.setdefault(example, is_right)
    return list(outcomes.values())


def teaching_gain(
    evaluation_accuracy: float | None, first_seen_accuracy: float | None
) -> float | None:
    """Evaluation accuracy minus accuracy on first-seen teaching images."""
    if evaluation_accuracy is None or first_seen_accuracy is None:
        return None
    return evaluation_accuracy - first_seen_accuracy


Counts = Sequence[Sequence[int]]
"""`counts[true class][chosen class]`."""


def confusion(answers: Iterable[tuple[int, int]], classes: int) -> list[list[int]]:
    """How often each class was taken for which, from (true class, chosen class) of every answer."""
    counts = [[0] * classes for _ in range(classes)]
    for true, said in answers:
        counts[true][said] += 1
    return counts


def recalls(counts: Counts) -> list[float | None]:
    """The share of each class's images that were named as that class; None of a class without images."""
    return [row[label] / sum(row) if sum(row) else None for label, row in enumerate(counts)]


def macro_recall(counts: Counts) -> float | None:
    """The mean of the recalls: every class counts alike, however many images it has. None of no answers."""
    known = [recall for recall in recalls(counts) if recall is not None]
    return sum(known) / len(known) if known else None


def kappa(share_right: float | None, classes: int) -> float | None:
    """The accuracy beyond guessing, κ = (accuracy − 1/k)/(1 − 1/k): 0 for guessing and 1 for no error, whatever k."""
    if share_right is None:
        return None
    return (classes * share_right - 1) / (classes - 1)
