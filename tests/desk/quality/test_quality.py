"""Quality flags by hand-worked numbers, read from rows by few queries, on a page that explains them."""

import itertools
from datetime import datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from desk import quality
from desk.models import Decision
from desk.quality_flags import (
    RULES,
    Behaviour,
    Pace,
    ReportedTime,
    RoundTimes,
    chance_of_at_least,
    chance_of_at_most,
    chance_of_stretch,
    flags_of,
    gaps,
    hidden_times,
    longest_run,
    streaks,
)
from evaluation.models import EvaluationItem
from studies import summary
from studies.models import Example, Participant, Study
from tests.builders import make_dataset, make_study
from tests.people import study_address, text_of
from tests.worker import Worker

from .odd_sessions import START, add, at, take_part

# A hundred answers between two classes, as somebody gives them.
MIXED = [int(digit) for digit in f"{0x5C3A96D1E47B28F0C5936AE1D:0100b}"]


def flags(**numbers) -> dict[str, str]:
    found = flags_of(Behaviour(**numbers))
    return {flag.rule.key: flag.numbers.replace("\N{NO-BREAK SPACE}", " ") for flag in found}


# The flags, in numbers


def test_a_session_without_anything_odd_has_no_flag():
    assert flags() == {}
    assert flags(
        times_ms=[900.0] * 130,
        answers=MIXED,
        gaps_s=[3.0] * 150,
        hidden_s=[20.0],
        rounds=[RoundTimes(planned=3000, took=8000, shown=3004)],
        reported=[ReportedTime(900, 2100)] * 130,
        taught=[False, True, True] * 10,
        tested=[True, True, True, False] * 25,
        pace=Pace(taken=400, expected=840),
        checks=[True, True],
    ) == {}  # fmt: skip


@pytest.mark.parametrize(
    ("times", "numbers"),
    [
        ([200.0] * 9 + [800.0] * 91, None),
        ([200.0] * 10 + [800.0] * 90, "10 of 100 answers within 300 ms (10 %); median 800 ms."),
        ([299.9, 300.0], "1 of 2 answers within 300 ms (50 %); median 300 ms."),
        ([300.0] * 50, None),
    ],
)
def test_too_fast_is_a_tenth_of_the_answers_within_300_ms(times, numbers):
    assert flags(times_ms=times).get("fast") == numbers


def test_the_same_key_is_flagged_when_chance_hardly_ever_does_it():
    # In 100 flips, 16 equal ones in a row come in 1.3 of 1,000 tests, and 17 in 0.6.
    assert flags(answers=[1] * 16 + MIXED[:84]) == {}
    found = flags(answers=[1] * 17 + MIXED[:83])
    assert found == {
        "run": "17 identical answers in a row, of 100; chance with 2 keys at random 0.0006."
    }
    everything = flags(answers=[1] * 100)["run"]
    assert everything.endswith("chance with 2 keys at random below one in a million.")
    # In a short test even one key all the time is no surprise; with more keys it sooner is.
    assert flags(answers=[1] * 6) == {}
    assert flags(answers=[1] * 6, keys=5) == {
        "run": "6 identical answers in a row, of 6; chance with 5 keys at random 0.0003."
    }


def test_keys_in_turn_are_flagged_and_one_key_all_the_time_is_no_pattern():
    assert flags(answers=[0, 1] * 50) == {
        "pattern": "100 in a row, of 100, alternating between two answers; chance with 2 keys at random below one in a "
        "million."
    }
    round_and_round = flags(answers=[0, 1, 2] * 7 + [0, 0, 1, 2, 2, 1, 0], keys=3)
    assert round_and_round["pattern"].startswith("22 in a row, of 28, the same 3 answers in turn;")
    assert "pattern" in flags(answers=[3, 17] * 10, keys=20)
    # As many in turn as among two keys would be odd is not among a few answers more.
    assert flags(answers=[0, 1] * 5 + MIXED) == {}
    assert flags(answers=[4] * 30, keys=5).keys() == {"run"}


def streaks_by_hand(answers, lag: int) -> list[int]:
    """The length of every piece in which each answer repeats the one `lag` before."""
    return [
        end - start
        for start in range(len(answers))
        for end in range(start + lag + 1, len(answers) + 1)
        if all(answers[place] == answers[place - lag] for place in range(start + lag, end))
    ]


@pytest.mark.parametrize(("keys", "longest"), [(2, 9), (3, 6), (4, 5)])
def test_the_chance_of_a_stretch_is_that_of_counting_all_sequences(keys, longest):
    for length in range(1, longest + 1):
        everything = list(itertools.product(range(keys), repeat=length))
        for lag in range(1, min(length, keys) + 1):
            found = [max(streaks_by_hand(one, lag), default=lag) for one in everything]
            for stretch in range(length + 2):
                having = sum(most >= stretch for most in found)
                wanted = having / keys**length
                assert chance_of_stretch(length, stretch, lag, keys) == pytest.approx(wanted)
    assert chance_of_stretch(0, 0, 1, keys) == 1.0


@given(st.lists(st.integers(0, 2), max_size=40), st.integers(1, 4))
def test_streaks_are_the_longest_pieces_that_repeat_themselves(answers, lag):
    found = [len(stretch) for stretch in streaks(answers, lag)]
    assert max(found, default=0) == max(streaks_by_hand(answers, lag), default=0)
    assert all(
        stretch[place] == stretch[place - lag]
        for stretch in streaks(answers, lag)
        for place in range(lag, len(stretch))
    )
    if lag == 1:
        assert longest_run(answers) == max(found, default=min(len(answers), 1))


@pytest.mark.parametrize("keys", [2, 5])
def test_keys_pressed_at_random_are_hardly_ever_flagged(keys):
    rng = np.random.default_rng(keys)
    tests = rng.integers(0, keys, size=(3000, 100)).tolist()
    found = [flags(answers=answers, keys=keys) for answers in tests]
    for key in ("run", "pattern"):
        assert sum(key in one for one in found) <= 10


def test_a_long_absence_is_five_minutes_between_answers_or_out_of_view():
    assert flags(gaps_s=[299.0], hidden_s=[299.0]) == {}
    assert flags(gaps_s=[2.0, 300.0]) == {"absence": "Longest time between two answers 5.0 min."}
    assert flags(gaps_s=[330.0], hidden_s=[324.0, 6.0]) == {
        "absence": "Longest time between two answers 5.5 min; page left 2 times, longest 5.4 min."
    }


def moments(*seconds: float) -> list[datetime]:
    return [START + timedelta(seconds=second) for second in seconds]


def hidden(*events: tuple[bool, float]) -> list[float]:
    return hidden_times((is_hidden, *moments(second)) for is_hidden, second in events)


def test_gaps_are_between_neighbours():
    assert gaps(moments(1.0, 4.0, 4.5)) == [3.0, 0.5]
    assert gaps(moments(1.0)) == gaps([]) == []


def test_a_page_is_hidden_from_when_it_was_left_until_it_is_seen_again():
    assert hidden((False, 0.0), (True, 10.0), (False, 25.0)) == [15.0]
    # Left twice without a word in between: since the first time.
    assert hidden((True, 10.0), (True, 12.0), (False, 25.0), (False, 30.0)) == [15.0]
    assert hidden((True, 10.0), (False, 11.0), (True, 20.0)) == [1.0]


def test_exposure_is_odd_when_it_is_off_by_more_than_a_quarter_of_a_second():
    def shown(*times: tuple[float, float]) -> list[RoundTimes]:
        return [RoundTimes(planned, 20_000, shown) for shown, planned in times]

    assert flags(rounds=shown((3250.0, 3000), (2750.0, 3000))) == {}
    assert flags(rounds=shown((3003.0, 3000), (2700.0, 3000), (9000.0, 4000))) == {
        "exposure": "2 of 3 rounds; the worst was shown for 9.00 s instead of 4.00 s."
    }
    assert flags(rounds=[RoundTimes(3000, 20_000, 0, is_practice=True)]) == {}


def test_a_round_answered_before_its_display_can_be_over_is_flagged():
    fine, early = RoundTimes(3000, 3000, 3000), RoundTimes(3000, 2999, 3000)
    assert flags(rounds=[fine]) == {}
    assert flags(rounds=[fine, early]) == {
        "early": "1 of 2 rounds; the worst was answered 3.00 s after a display of 3.00 s began."
    }
    assert "early" in flags(rounds=[RoundTimes(3000, 40)])


def test_a_page_that_was_reloaded_during_one_display_is_no_program():
    reloaded = RoundTimes(5000, 4000, 1000)
    assert list(flags(rounds=[reloaded])) == ["exposure"]
    assert list(flags(rounds=[reloaded, reloaded])) == ["early", "exposure"]


def test_times_beyond_what_the_server_saw_are_flagged_from_the_second_on():
    honest, invented = ReportedTime(700, 450), ReportedTime(900, 20)
    assert flags(reported=[honest, honest, invented]) == {}
    assert flags(reported=[honest, invented, ReportedTime(700, 449.9)]) == {
        "clock": "2 of 3 answers; the worst reports 0.90 s, but the server waited 0.02 s."
    }


def test_a_session_in_less_than_a_fifth_of_its_time_is_flagged():
    assert flags(pace=Pace(taken=168.0, expected=840)) == {}
    assert flags(pace=Pace(taken=27, expected=840)) == {
        "pace": "27 s for tasks that take about 14.0 min (3 %)."
    }


def answered(right: int, of: int) -> list[bool]:
    """Right answers spread among wrong ones, the first of them wrong."""
    return [(place * right) // of > ((place - 1) * right) // of for place in range(of)]


def test_chance_is_what_a_binomial_test_cannot_tell_from_guessing():
    # Of 130 guesses, 75 or more are right in 4.6 of 100 sessions, and 74 or more in 6.8.
    assert flags(taught=answered(17, 30), tested=answered(57, 100)) == {
        "chance": "74 of 130 correct, 57 of 100 correct in the test; chance of this with 2 keys at random 0.07."
    }
    assert flags(taught=answered(18, 30), tested=answered(57, 100)) == {}
    # A teacher may show what a learner gets wrong: then the test alone decides.
    assert flags(taught=answered(9, 30), tested=answered(59, 100)) == {}
    assert flags(taught=answered(15, 30), tested=answered(9, 19)) == {}


def test_no_error_at_all_and_a_test_far_below_chance_are_curves_that_people_hardly_have():
    assert flags(taught=[True] * 20, tested=[True] * 20) == {
        "curve": "40 of 40 correct, from the first image on: nothing was left to learn."
    }
    assert flags(taught=[False] + [True] * 19, tested=[True] * 20) == {}
    assert flags(taught=[True] * 19, tested=[True] * 20) == {}
    below = flags(taught=answered(15, 30), tested=answered(33, 100))["curve"]
    assert below == "33 of 100 correct in the test, far below guessing; chance 0.0004."
    assert "curve" not in flags(taught=answered(15, 30), tested=answered(35, 100))


def test_the_binomial_tail_is_that_of_counting_all_sequences():
    for keys, answers in itertools.product((2, 3, 4), range(7)):
        # The first key is the right one.
        rights = [one.count(0) for one in itertools.product(range(keys), repeat=answers)]
        for count in range(answers + 2):
            at_least = sum(right >= count for right in rights) / keys**answers
            at_most = sum(right <= count for right in rights) / keys**answers
            assert chance_of_at_least(count, answers, keys) == pytest.approx(at_least)
            assert chance_of_at_most(count, answers, keys) == pytest.approx(at_most)


def test_guessing_is_judged_by_the_number_of_classes():
    # A third right is guessing among three classes, far better than guessing among nine, and worse than among two.
    guesses = {"taught": answered(10, 30), "tested": answered(33, 100)}
    assert flags(**guesses, keys=3).keys() == {"chance"}
    assert "with 3 keys at random" in flags(**guesses, keys=3)["chance"]
    assert flags(**guesses, keys=9) == {}
    assert flags(**guesses, keys=2).keys() == {"chance", "curve"}


def test_failed_checks_and_other_sessions_are_told():
    assert flags(checks=[True, False, True]) == {"checks": "1 of 3 failed."}
    assert flags(elsewhere=["its pilot", "2 other studies"]) == {
        "repeated": "Also in its pilot, 2 other studies."
    }


def test_every_flag_says_what_it_means_and_where_its_threshold_is():
    assert len({rule.key for rule in RULES}) == len(RULES) == 12
    assert all(rule.meaning.endswith(".") for rule in RULES)
    thresholds = {
        "clock": "250 ms", "pace": "20 %", "fast": "300 ms", "run": "1,000", "pattern": "1,000", "chance": "5 %",
        "curve": "at least 20", "absence": "5 minutes", "exposure": "250 ms",
    }  # fmt: skip
    for rule in RULES:
        said = rule.meaning.replace("\N{NO-BREAK SPACE}", " ")
        assert thresholds.get(rule.key, "") in said


def test_only_what_no_person_can_do_on_the_page_is_strong():
    assert [rule.key for rule in RULES if rule.is_strong] == ["early", "clock", "pace"]


# The numbers, from rows

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def dataset(make_once):
    return make_once(lambda: make_dataset(teaching=12, evaluation=60))


@pytest.fixture
def study(dataset) -> Study:
    return make_study(dataset=dataset, attention_checks=1, reward=2)


def test_the_numbers_of_a_session_are_those_of_its_rows(study):
    person, other = add(study), add(study)
    take_part(person)
    found = quality.behaviours(Participant.objects.filter(pk__in=[person.pk, other.pk]))
    assert list(found) == [person.pk]
    numbers = found[person.pk]
    assert numbers.times_ms == [250.0, *(500.0 + place for place in range(41))]
    assert numbers.answers == [1] * 40
    assert numbers.checks == [False]
    assert [(one.planned, one.shown, one.is_practice) for one in numbers.rounds] == [
        (3000, 9999.0, True), (3000, 3001.0, False), (3000, 4600.0, False),
    ]  # fmt: skip
    assert [one.took for one in numbers.rounds] == pytest.approx([12_000] * 3, abs=2)
    assert numbers.taught == [True] * 2
    assert numbers.tested == [True] * 40
    # Every image that came with a time: between the answer before it, or its row, and its own answer.
    assert numbers.reported[3:6] == [
        ReportedTime(250.0, pytest.approx(1000, abs=2)),
        ReportedTime(500.0, pytest.approx(1000, abs=2)),
        ReportedTime(501.0, pytest.approx(1000, abs=2)),
    ]
    # Three rounds of two pictures, two steps and 41 images, by the rule of the study's estimate.
    assert numbers.pace == Pace(pytest.approx(560, abs=0.01), 3 * (3 + 9) + 2 * 7 + 41 * 3.5)
    assert numbers.hidden_s == pytest.approx([60.0], abs=1e-3)
    expected = [1, 1, 8, 400, 90, *[1] * 40]
    assert numbers.gaps_s == pytest.approx(expected, abs=1e-3)
    assert set(flags(**vars(numbers))) == {"run", "absence", "exposure", "checks"}


def test_an_evaluation_item_is_timed_from_the_answer_before_it(study):
    """All items are created when the evaluation begins, but each is sent with the reply to the answer before it."""
    person = add(study)
    images = list(Example.objects.filter(dataset=study.dataset, split="evaluation"))
    times = [(0, 10, 700.0), (0, 13, None), (0, 20, 900.0), (21, 25, 800.0)]
    for place, (created, answered, response) in enumerate(times):
        EvaluationItem.objects.create(
            participant=person, position=7 + place, item=1 + place, example=images[place], answer=place % 2,
            response_ms=response, is_correct=bool(place),
            created_at=START + timedelta(seconds=created), answered_at=START + timedelta(seconds=answered),
        )  # fmt: skip
    behaviour = quality.behaviours(study.participants.live())[person.pk]
    assert behaviour.reported == [
        ReportedTime(700.0, 10_000), ReportedTime(900.0, 7_000), ReportedTime(800.0, 4_000),
    ]  # fmt: skip
    assert behaviour.times_ms == [700.0, 900.0, 800.0]
    assert behaviour.gaps_s == [3, 7, 5]
    assert behaviour.pace == Pace(25, 4 * summary.ANSWERING)
    assert (behaviour.answers, behaviour.tested) == ([0, 1, 0, 1], [False, True, True, True])


def test_a_program_that_answers_at_once_is_found_by_the_servers_clock(dataset):
    study = make_study(dataset=dataset, arms="rt", evaluation_size=20)
    worker = Worker(study)
    worker.go_to("done")
    strong = [rule.key for rule in RULES if rule.is_strong]
    assert flags_read(study)[worker.participant.pk][:3] == strong


def test_who_came_before_is_found_by_recruiter_and_id(study, dataset):
    ann = {"recruiter": "prolific", "external_id": "ann"}
    person = add(study, **ann)
    add(study, **ann, purpose="pilot")
    add(study, **ann, purpose="rehearsal")
    add(make_study(dataset=dataset), **ann)
    add(make_study(dataset=dataset), **ann, consented_at=None)
    alone = add(study, recruiter="mturk", external_id="ann")
    add(study)
    add(study)
    found = quality.other_sessions(study.participants.live())
    assert found[person.pk] == ["its pilot", "1 other study"]
    assert alone.pk not in found


def flags_read(study: Study) -> dict[int, list[str]]:
    live = study.participants.live()
    found = quality.flags_by_person(live, list(live))
    return {pk: [flag.rule.key for flag in flags] for pk, flags in found.items()}


def test_what_was_read_of_a_finished_session_is_not_read_again_but_its_repetition_is(study):
    person = add(study, recruiter="prolific", external_id="ann")
    take_part(person)
    before = flags_read(study)[person.pk]
    with CaptureQueriesContext(connection) as queries:
        assert flags_read(study)[person.pk] == before
    assert len(queries) == 2
    add(study, recruiter="prolific", external_id="ann", purpose="pilot")
    assert flags_read(study)[person.pk] == [*before, "repeated"]


def test_somebody_under_way_is_looked_at_anew(study):
    person = add(study, stage="evaluation")
    take_part(person)
    EvaluationItem.objects.filter(participant=person).update(answer=None, answered_at=None)
    assert "run" not in flags_read(study)[person.pk]
    EvaluationItem.objects.filter(participant=person).update(answer=1, **at(600))
    assert "run" in flags_read(study)[person.pk]


def test_a_crowd_is_read_as_people_are(study, monkeypatch):
    for _ in range(3):
        take_part(add(study))
    one_by_one = flags_read(study)
    monkeypatch.setattr(quality, "MAX_KEYS", 1)
    quality._flags_cache.clear()
    assert flags_read(study) == one_by_one
    monkeypatch.setattr(quality, "MAX_CACHED", 2)
    assert flags_read(study) == one_by_one


# The page


def page_of(client: Client, study: Study, query: str = "") -> str:
    return text_of(client, study_address(study, f"quality/{query}"))


def test_the_page_lists_the_flagged_with_numbers_and_explains_every_flag(researcher, study):
    odd, fine, pilot = add(study), add(study), add(study, purpose="pilot")
    take_part(odd)
    take_part(pilot)
    page = page_of(researcher, study)
    assert odd.code in page
    assert fine.code not in page
    assert pilot.code not in page
    assert "40 identical answers in a row, of 40" in page
    assert "1 of 1 failed." in page
    for rule in RULES:
        assert rule.meaning in page
    assert "Straight-lining (1)" in page
    assert " style=" not in page[page.index('class="people-page"') :]


def test_the_list_can_be_narrowed_to_one_flag(researcher, study):
    take_part(odd := add(study))
    assert odd.code in page_of(researcher, study, "?flag=run")
    assert odd.code not in page_of(researcher, study, "?flag=repeated")
    assert "Nobody with this flag." in page_of(researcher, study, "?flag=repeated")
    assert odd.code in page_of(researcher, study, "?flag=nonsense")


def test_flags_exclude_nobody_by_themselves(researcher, study):
    take_part(person := add(study))
    page_of(researcher, study)
    person.refresh_from_db()
    assert not person.is_excluded
    assert not Decision.objects.exists()


def test_a_study_without_anything_odd_says_so(researcher, study):
    add(study)
    assert "No flags, and nobody is excluded." in page_of(researcher, study)


def test_the_list_is_paginated_and_asks_no_more_queries_for_more_people(
    researcher, study, monkeypatch
):
    def count(query: str = "") -> int:
        with CaptureQueriesContext(connection) as queries:
            page_of(researcher, study, query)
        return len(queries)

    for _ in range(2):
        take_part(add(study))
    few = count()
    # Session and user, the study, who may edit it; its people, their rounds, steps, images, events and numbers of
    # classes, other sessions of the same ids; the decisions about those in sight, and the last of all.
    assert few == 15
    for _ in range(4):
        take_part(add(study))
    monkeypatch.setattr("desk.quality.PAGE_SIZE", 4)
    assert count() == few
    # Whoever has finished was read before.
    assert count("?page=2") == few - 7
    page = page_of(researcher, study, "?flag=run&page=2")
    assert "Page 2 of 2" in page
    assert 'href="?flag=run&amp;page=1"' in page
    assert page.count('class="who"') == 2
