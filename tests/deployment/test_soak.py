"""The arithmetic of the long run under load: what counts as growing, and what as noise."""

import random

import pytest

from bench.soak import Sample, Trend, minutes_of, report


def samples_of(minutes: int, leak_mb: float = 0.0, slower_ms: float = 0.0) -> list[Sample]:
    """Samples every ten seconds of a server that is noisy, and takes so much more every minute."""
    rng = random.Random(3)
    return [
        Sample(
            seconds,
            200 + leak_mb * seconds / 60 + rng.gauss(0, 1),
            tuple(20 + slower_ms * seconds / 60 + rng.expovariate(1 / 5) for _ in range(40)),
        )
        for seconds in (10.0 * place + 0.02 for place in range(1, 6 * minutes + 1))
    ]


def test_a_trend_is_the_slope_of_the_line_whatever_single_points_do():
    minutes = [float(minute) for minute in range(31)]
    values = [100 + 0.5 * minute for minute in minutes]
    values[7] = 900.0
    trend = Trend.of(minutes, values)
    assert trend.per_hour == pytest.approx(30)
    assert trend.hours == 0.5
    assert trend.low <= trend.per_hour <= trend.high
    # 15 MB of 107.5 over the half hour.
    assert trend.grows(0.13)
    assert not trend.grows(0.15)


def test_minutes_count_their_answers_errors_and_lines():
    samples = [
        Sample(10.0 * place + 0.02, 100.0 + place, (float(place), 9.0), place % 2, 1)
        for place in range(1, 13)
    ]
    first, second = minutes_of(samples)
    assert (first.number, first.answers, first.errors, first.log_lines) == (0, 12, 3, 6)
    assert (first.memory_mb, second.memory_mb) == (106.0, 112.0)
    assert first.p50 == 7.5
    assert second.p95 == pytest.approx(12.0, abs=0.5)


def test_a_steady_server_holds_and_one_that_leaks_or_slows_down_does_not():
    assert report(samples_of(30), warm_up=3)[1]
    for growing, name in (({"leak_mb": 0.6}, "memory"), ({"slower_ms": 0.4}, "p50")):
        told, holds = report(samples_of(30, **growing), warm_up=3)
        assert not holds
        assert next(line.split()[0] for line in told if line.endswith("GROWS")) == name


def test_what_grows_only_while_caches_fill_is_flat():
    samples = [
        Sample(one.seconds, min(one.memory_mb, 200 + one.seconds), one.answers_ms)
        for one in samples_of(30)
    ]
    assert report(samples, warm_up=3)[1]


def test_errors_and_a_chatty_log_are_told():
    samples = samples_of(10)
    samples[20] = Sample(samples[20].seconds, 200.0, (20.0,), errors=1, log_lines=11)
    told, holds = report(samples, warm_up=3)
    assert not holds
    assert told[-2:] == ["errors          1", "log            11 lines: NOISE"]
    assert not report(samples_of(4), warm_up=3)[1]
