"""Numbers and names as the desk writes them."""

import math
from collections.abc import Iterable

UNKNOWN = "–"


def share(value: float | None, places: int = 1) -> str:
    return UNKNOWN if value is None else f"{100 * value:.{places}f}\N{NO-BREAK SPACE}%"


def points(value: float | None) -> str:
    return UNKNOWN if value is None else with_minus(f"{100 * value:+.1f}\N{NO-BREAK SPACE}points")


def seconds(milliseconds: float | None) -> str:
    return UNKNOWN if milliseconds is None else f"{milliseconds / 1000:.2f}\N{NO-BREAK SPACE}s"


def decimal(value: float | None, places: int) -> str:
    return UNKNOWN if value is None else with_minus(f"{value:.{places}f}")


def places_for(values: Iterable[float]) -> int:
    """Decimals that show the largest of these with four digits."""
    largest = max((abs(value) for value in values), default=0.0)
    return max(0, min(9, 3 - math.floor(math.log10(largest)))) if largest > 0 else 2


def with_minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
