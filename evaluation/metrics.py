"""How much a worker learned: pure functions over answers."""

from collections.abc import Sequence


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
