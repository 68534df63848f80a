"""The summary of a study in words: hand-worked sentences and minutes, and what always holds."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.models import Study
from studies.summary import RULE, seconds, summarise

PAPER = {20, 30, 40}


def study(**settings) -> Study:
    return Study(**settings)


def test_the_paper_in_words():
    summary = summarise(study(), PAPER)
    assert summary.sentence == (
        "Each worker sees up to 24 memory rounds, 20–40 teaching images and 100 evaluation images, "
        "about 16 minutes."
    )
    assert summary.advice == "Workers are told 20 minutes, which fits."


def test_the_minutes_follow_the_stated_rule():
    """Worked by hand: 120 s of reading, one practice round of 12 s, three trials of n = 2 … 6 at
    (n + 1) + (3 + 1.5 n) + 3 = 7 + 2.5 n seconds, 30 images at 7 s, 100 images at 3.5 s."""
    trial = sum(7 + 2.5 * n for n in range(2, 7))
    assert trial == 85
    assert seconds(study(), PAPER) == 120 + 12 + 3 * trial + 30 * 7 + 100 * 3.5 == 947


@pytest.mark.parametrize(
    ("settings", "lengths", "words"),
    [
        ({}, {30}, ", 30 teaching images and"),
        ({}, {1}, ", 1 teaching image and"),
        ({"memory_trials": 2, "memory_max_length": 3}, PAPER, "up to 4 memory rounds,"),
        ({"memory_min_length": 9}, PAPER, "up to 3 memory rounds,"),
        ({"attention_checks": 1}, PAPER, "100 evaluation images with 1 attention check among them"),
        ({"attention_checks": 3}, PAPER, "with 3 attention checks among them, about 16 minutes."),
    ],
)
def test_numbers_are_spoken_as_people_speak(settings, lengths, words):
    assert words in summarise(study(**settings), lengths).sentence


@pytest.mark.parametrize(
    ("minutes", "verdict"), [(9, "too short"), (13, "too short"), (14, "fits"), (26, "fits"), (27, "more than")]
)  # fmt: skip
def test_what_workers_are_told_is_compared_with_the_estimate(minutes, verdict):
    assert verdict in summarise(study(minutes=minutes), PAPER).advice


def test_pay_is_told_by_the_hour():
    advice = summarise(study(reward=Decimal("2.40"), currency="EUR"), PAPER).advice
    assert advice.endswith("2.40 EUR for it is about 9.00 EUR an hour.")


def test_the_rule_names_its_numbers():
    for number in ("2 minutes", "5 pictures", "3 s plus 1.5 s", "3.5 s for each answer"):
        assert number in RULE


numbers = st.integers(1, 200)


@given(numbers, numbers, st.integers(0, 10), st.integers(2, 9), st.integers(0, 20_000))
def test_more_to_do_never_takes_less_time(images, evaluation, checks, longest, look):
    less = study(evaluation_size=evaluation, memory_max_length=longest, min_look_ms=look)
    more = study(
        evaluation_size=evaluation + checks,
        attention_checks=checks,
        memory_max_length=longest + 1,
        min_look_ms=look + 1000,
    )
    assert seconds(more, {images, images + checks}) >= seconds(less, {images})
