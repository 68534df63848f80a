"""Quality flags by hand-worked numbers, read from rows by few queries, on a page that explains them."""

import itertools

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from desk.models import Decision
from desk.quality import behaviour
from desk.quality.flags import (
    RULES,
    Behaviour,
    chance_of_run,
    flags_of,
    gaps,
    hidden_times,
    longest_run,
)
from evaluation.models import EvaluationItem
from studies.models import Participant, Study
from tests.builders import make_dataset, make_study
from tests.people import study_address, text_of
from tests.worker import Worker

from .odd_sessions import add, at, take_part


def flags(**numbers) -> dict[str, str]:
    found = flags_of(Behaviour(**numbers))
    return {flag.rule.key: flag.numbers.replace("\N{NO-BREAK SPACE}", " ") for flag in found}


# The flags, in numbers


def test_a_session_without_anything_odd_has_no_flag():
    assert flags() == {}
    assert flags(
        times_ms=[900.0] * 130,
        answers=[-1, 1] * 50,
        gaps_s=[3.0] * 150,
        hidden_s=[20.0],
        exposures=[(3004.0, 3000)],
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


def test_the_same_key_is_flagged_when_coins_hardly_ever_do_it():
    row = [-1, 1] * 43
    # In 100 flips, 16 equal ones in a row come in 1.3 of 1,000 tests, and 17 in 0.6.
    assert flags(answers=[1] * 16 + row[:84]) == {}
    found = flags(answers=[1] * 17 + row[:83])
    assert found == {
        "run": "17 identical answers in a row, of 100; chance with a fair coin 0.0006."
    }
    everything = flags(answers=[1] * 100)["run"]
    assert everything.endswith("chance with a fair coin below one in a million.")
    # In a short test even one key all the time is no surprise.
    assert flags(answers=[1] * 6) == {}


def test_the_chance_of_a_run_is_that_of_counting_all_sequences():
    for flips in range(1, 11):
        runs = [longest_run(flipped) for flipped in itertools.product((0, 1), repeat=flips)]
        for run in range(12):
            having = sum(longest >= run for longest in runs)
            assert chance_of_run(flips, run) == having / 2**flips
    assert chance_of_run(0, 0) == 1.0


@given(st.lists(st.sampled_from([-1, 1]), max_size=60))
def test_the_longest_run_is_the_longest_piece_of_equal_answers(answers):
    pieces = [
        end - start
        for start in range(len(answers))
        for end in range(start + 1, len(answers) + 1)
        if len(set(answers[start:end])) == 1
    ]
    assert longest_run(answers) == max(pieces, default=0)


def test_a_long_absence_is_five_minutes_between_answers_or_out_of_view():
    assert flags(gaps_s=[299.0], hidden_s=[299.0]) == {}
    assert flags(gaps_s=[2.0, 300.0]) == {"absence": "Longest time between two answers 5.0 min."}
    assert flags(gaps_s=[330.0], hidden_s=[324.0, 6.0]) == {
        "absence": "Longest time between two answers 5.5 min; page left 2 times, longest 5.4 min."
    }


def test_gaps_are_between_neighbours():
    assert gaps([1.0, 4.0, 4.5]) == [3.0, 0.5]
    assert gaps([1.0]) == gaps([]) == []


def test_a_page_is_hidden_from_when_it_was_left_until_it_is_seen_again():
    assert hidden_times([(False, 0.0), (True, 10.0), (False, 25.0)]) == [15.0]
    # Left twice without a word in between: since the first time.
    assert hidden_times([(True, 10.0), (True, 12.0), (False, 25.0), (False, 30.0)]) == [15.0]
    assert hidden_times([(True, 10.0), (False, 11.0), (True, 20.0)]) == [1.0]


def test_exposure_is_odd_when_it_is_off_by_more_than_a_quarter_of_a_second():
    assert flags(exposures=[(3250.0, 3000), (2750.0, 3000)]) == {}
    assert flags(exposures=[(3003.0, 3000), (2700.0, 3000), (9000.0, 4000)]) == {
        "exposure": "2 of 3 rounds; the worst was shown for 9.00 s instead of 4.00 s."
    }


def test_failed_checks_and_other_sessions_are_told():
    assert flags(checks=[True, False, True]) == {"checks": "1 of 3 failed."}
    assert flags(elsewhere=["its pilot", "2 other studies"]) == {
        "repeated": "Also in its pilot, 2 other studies."
    }


def test_every_flag_says_what_it_means_and_where_its_threshold_is():
    assert len({rule.key for rule in RULES}) == len(RULES) == 6
    assert all(rule.meaning.endswith(".") for rule in RULES)
    for rule, threshold in zip(RULES, ("300 ms", "1,000", "5 minutes", "250 ms"), strict=False):
        assert threshold in rule.meaning


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
    found = behaviour.behaviours(Participant.objects.filter(pk__in=[person.pk, other.pk]))
    assert list(found) == [person.pk]
    numbers = found[person.pk]
    assert numbers.times_ms == [250.0, *(500.0 + place for place in range(41))]
    assert numbers.answers == [1] * 40
    assert numbers.checks == [False]
    assert numbers.exposures == [(3001.0, 3000), (4600.0, 3000)]
    assert numbers.hidden_s == pytest.approx([60.0], abs=1e-3)
    expected = [1, 1, 8, 400, 90, *[1] * 40]
    assert numbers.gaps_s == pytest.approx(expected, abs=1e-3)
    assert set(flags(**vars(numbers))) == {"run", "absence", "exposure", "checks"}


READ_BY_ITSELF = """
import django
django.setup()
from desk.quality.behaviour import behaviours
from studies.models import Participant
(found,) = behaviours(Participant.objects.filter(study__slug="{slug}")).values()
print(len(found.answers), len(found.checks), len(found.exposures), sum(found.gaps_s))
"""


def test_the_numbers_are_read_on_postgres_too(postgres_site):
    slug = postgres_site.make_study(arms="rt", attention_checks=1)
    worker = Worker(slug, postgres_site.client())
    worker.go_to("done")
    read = postgres_site.python("-c", READ_BY_ITSELF.format(slug=slug)).split()
    ((rounds,),) = postgres_site.rows(
        "SELECT COUNT(*) FROM memorytest_memoryround r JOIN studies_participant p "
        "ON p.id = r.participant_id WHERE p.token = %s",
        worker.token,
    )
    assert [int(number) for number in read[:3]] == [6, 1, rounds]
    ((first, last),) = postgres_site.rows(
        "SELECT MIN(r.answered_at), MAX(i.answered_at) FROM memorytest_memoryround r, "
        "evaluation_evaluationitem i, studies_participant p "
        "WHERE r.participant_id = p.id AND i.participant_id = p.id AND p.token = %s",
        worker.token,
    )
    assert float(read[3]) == pytest.approx((last - first).total_seconds(), abs=1e-3)


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
    found = behaviour.elsewhere(study.participants.live())
    assert found[person.pk] == ["its pilot", "1 other study"]
    assert alone.pk not in found


def flags_read(study: Study) -> dict[int, list[str]]:
    live = study.participants.live()
    found = behaviour.flags_by_person(live, list(live))
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
    monkeypatch.setattr(behaviour, "MOST_KEYS", 1)
    behaviour._CACHED.clear()
    assert flags_read(study) == one_by_one
    monkeypatch.setattr(behaviour, "MOST_CACHED", 2)
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
    assert "Same key in a row (1)" in page
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
    assert "No flag, and nobody excluded." in page_of(researcher, study)


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
    # Session and user, the study, who may edit it; its people, their rounds, steps, images and events, other sessions
    # of the same ids; the decisions about those in sight, and the last of all.
    assert few == 12
    for _ in range(4):
        take_part(add(study))
    monkeypatch.setattr("desk.quality.page.PAGE_SIZE", 4)
    assert count() == few
    # Whoever has finished was read before.
    assert count("?page=2") == few - 4
    page = page_of(researcher, study, "?flag=run&page=2")
    assert "Page 2 of 2" in page
    assert 'href="?flag=run&amp;page=1"' in page
    assert page.count('class="who"') == 2
