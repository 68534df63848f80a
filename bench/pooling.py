"""How many labels a crowd learns that pools scores: `python -m bench.pooling`.

Sessions of random answers to 100 of 160 evaluation images, as in the demo study, and what the last page could tell
about them: the exact score, a rounded one, whether it was among the best fifth, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.pooling import Pooled, guessed_labels, share_known

IMAGES, SIZE = 160, 100
SESSIONS = (45, 60, 87, 150, 300, 600, 1200)
REPEATS = 5
# Of random answers, 54 and more right ones are among the best fifth.
BEST = 0.54

TOLD: dict[str, Callable[[float], float | None]] = {
    "exact": lambda score: score,
    "rounded to 10 %": lambda score: round(10 * score) / 10,
    "rounded to 25 %": lambda score: round(4 * score) / 4,
    "best fifth or not": lambda score: 0.57 if score >= BEST else 0.48,
    "nothing": lambda score: None,
}


def main() -> None:
    print("| told | " + " | ".join(f"{count} sessions" for count in SESSIONS) + " |")
    print("| --- |" + " --- |" * len(SESSIONS))
    for name, tell in TOLD.items():
        shares = [known(count, tell) for count in SESSIONS]
        print(
            f"| {name} | "
            + " | ".join(f"{share:.0%}".replace("%", " %") for share in shares)
            + " |"
        )


def known(count: int, tell: Callable[[float], float | None]) -> float:
    """The share of labels that so many sessions bring to light, averaged over several crowds."""
    return float(np.mean([known_to_one(count, tell, seed) for seed in range(REPEATS)]))


def known_to_one(count: int, tell: Callable[[float], float | None], seed: int) -> float:
    rng = np.random.default_rng(seed)
    labels = {str(image): 1 if image < IMAGES // 2 else -1 for image in range(IMAGES)}
    sessions = [session_of(labels, tell, rng) for _ in range(count)]
    return share_known(guessed_labels(sessions), labels)


def session_of(
    labels: dict[str, int], tell: Callable[[float], float | None], rng: np.random.Generator
) -> Pooled:
    halves = np.split(np.array(list(labels)), 2)
    drawn = [str(name) for half in halves for name in rng.choice(half, SIZE // 2, replace=False)]
    answers = [int(answer) for answer in rng.choice([-1, 1], SIZE)]
    right = [labels[name] == answer for name, answer in zip(drawn, answers, strict=True)]
    return Pooled(drawn, answers, tell(float(np.mean(right))))


if __name__ == "__main__":
    main()
