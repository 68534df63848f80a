"""Numbers as text, for pages, charts and reports. It does not import NumPy or SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.stats import Interval

UNKNOWN = "–"
NBSP = "\N{NO-BREAK SPACE}"
INTERVAL_95 = f"95{NBSP}% interval"


def in_words(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def with_minus(text: str) -> str:
    """With minus signs instead of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")


# On axes and beside marks, where the axis title has the unit.


def plain(value: float) -> str:
    return with_minus(f"{value:g}")


def percent(share: float) -> str:
    """0.123 as 12."""
    return f"{100 * share:.0f}"


def signed_points(share: float) -> str:
    """0.123 as +12.3, in percentage points; never −0."""
    return with_minus(f"{round(100 * share, 1) + 0:+.1f}")


def signed_tick(share: float) -> str:
    return with_minus(f"{100 * share:+.0f}") if share else "0"


# In sentences and tables, where None is a dash.


def decimal(value: float | None, places: int) -> str:
    """A value that rounds to zero has no minus sign."""
    return UNKNOWN if value is None else with_minus(f"{value:z.{places}f}")


def places_for(values: Iterable[float]) -> int:
    """The number of decimals that shows the largest value with four digits."""
    largest = max((abs(value) for value in values), default=0.0)
    return max(0, min(9, 3 - math.floor(math.log10(largest)))) if largest > 0 else 2


def points(value: float | None) -> str:
    return UNKNOWN if value is None else signed_points(value)


def points_with_unit(value: float | None) -> str:
    return UNKNOWN if value is None else f"{signed_points(value)}{NBSP}points"


def spread(value: float | None) -> str:
    """A standard deviation in percentage points, without a sign."""
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def share(value: float | None, places: int = 1) -> str:
    """0.9375 as 93.8 %."""
    return UNKNOWN if value is None else f"{100 * value:.{places}f}{NBSP}%"


def seconds(milliseconds: float | None) -> str:
    return UNKNOWN if milliseconds is None else f"{milliseconds / 1000:.2f}{NBSP}s"


def duration(time: timedelta) -> str:
    minutes, seconds = divmod(round(time.total_seconds()), 60)
    return f"{minutes}{NBSP}min {seconds:02d}{NBSP}s"


def between(interval: Interval | None, show: Callable[[float], str]) -> str:
    return UNKNOWN if interval is None else f"{show(interval.low)} to {show(interval.high)}"


def points_interval(interval: Interval | None) -> str:
    return between(interval, points)


def share_interval(interval: Interval | None) -> str:
    """Without %, which is in the heading of the column."""
    return between(interval, spread)


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    text = f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"
    return text.replace(" ", NBSP)
