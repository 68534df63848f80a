"""From restored orders to the memory decay β: pure functions over numbers."""

import math
from collections.abc import Callable, Sequence

# What the paper uses for a memory of one example, where 1 − 1/n̄ would be no memory at all.
BETA_OF_ONE_EXAMPLE = math.exp(-1)


def memory_length(rounds: Sequence[tuple[int, bool]], min_length: int = 2) -> int:
    """The memory length of a trial: the largest n that was restored.

    `rounds` holds (n, restored) in the order played. If even the shortest round failed, the length is one less.
    """
    return max((length for length, is_restored in rounds if is_restored), default=min_length - 1)


def memory_span(lengths: Sequence[int]) -> float:
    """n̄: the mean over the trials, without the one with the smallest length (one of them, on a tie)."""
    kept = sorted(lengths)[1:]
    return sum(kept) / len(kept)


def memory_decay(span: float) -> float:
    """β = 1 − 1/n̄."""
    return BETA_OF_ONE_EXAMPLE if span <= 1 else 1 - 1 / span


def span_by_test(
    restore: Callable[[Sequence[int], int], Sequence[int]], shortest: int, longest: int, trials: int
) -> float:
    """n̄ of a worker who restores orders by a rule, given the order and the number of the trial from 1."""
    return memory_span(lengths_by_test(restore, shortest, longest, trials))


def lengths_by_test(
    restore: Callable[[Sequence[int], int], Sequence[int]], shortest: int, longest: int, trials: int
) -> list[int]:
    """The memory length of every trial of such a worker."""

    def length_of(trial: int) -> int:
        rounds: list[tuple[int, bool]] = []
        for length in range(shortest, longest + 1):
            order = list(range(length))
            rounds.append((length, list(restore(order, trial)) == order))
            if not rounds[-1][1]:
                break
        return memory_length(rounds, shortest)

    return [length_of(trial) for trial in range(1, trials + 1)]
