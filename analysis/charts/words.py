"""Numbers as people read them."""

from collections.abc import Callable, Sequence

from analysis import stats

from . import figures

UNKNOWN = "–"


def in_words(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def decimal(value: float | None, places: int) -> str:
    return UNKNOWN if value is None else figures.with_minus(f"{value:.{places}f}")


def points(value: float | None) -> str:
    return UNKNOWN if value is None else figures.signed_points(value)


def spread(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def share(value: float | None, places: int = 1) -> str:
    return UNKNOWN if value is None else f"{100 * value:.{places}f}\N{NO-BREAK SPACE}%"


def between(interval: stats.Interval | None, show: Callable[[float], str]) -> str:
    return UNKNOWN if interval is None else f"{show(interval.low)} to {show(interval.high)}"


def points_interval(interval: stats.Interval | None) -> str:
    return between(interval, points)


def share_interval(interval: stats.Interval | None) -> str:
    return between(interval, lambda value: f"{100 * value:.1f}")


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    return (f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}").replace(
        " ", "\N{NO-BREAK SPACE}"
    )
