"""The memory test as a stage: which rounds follow each other, what is shown when, and what it leaves."""

import itertools
from typing import Any

import pytest

from memorytest.models import MemoryRound
from memorytest.stage import MemoryStage, new_round
from studies.errors import InvalidAnswer, NotShown
from studies.head_counts import progress_in
from studies.models import Participant
from tests.builders import make_dataset, make_participant, make_study

pytestmark = pytest.mark.django_db
STAGE = MemoryStage()


@pytest.fixture(scope="module")
def study(make_once):
    return make_once(
        lambda: make_study(
            dataset=make_dataset(teaching=12, evaluation=6),
            memory_trials=3,
            memory_min_length=2,
            memory_max_length=5,
            memory_practice=True,
            memory_extra_seconds=1.5,
        )
    )


@pytest.fixture
def participant(study) -> Participant:
    person = make_participant(study)
    person.stage, person.position = "memory", 2
    return person


def play(participant: Participant, *outcomes: bool) -> list[tuple[int, int]]:
    """Answers round after round, right or wrong; returns the trial and the length of each."""
    played = []
    for is_right in outcomes:
        this = MemoryRound.objects.get(participant=participant, position=participant.position)
        this.begin_exposure()
        this.save()
        order = this.pictures if is_right else this.pictures[::-1]
        following = answer(participant, order)
        played.append((this.trial, this.length))
        if following:
            following.save()
            participant.position += 1
    return played


def answer(participant: Participant, order: list[str]) -> MemoryRound | None:
    """Stores an answer to the current round; returns the round that follows."""
    this = STAGE.get_task(participant, participant.position)
    cleaned = STAGE.validate(participant, this, {"order": order})
    this.set_answer(cleaned)
    following = STAGE.next_task(participant, this)
    STAGE.save_answer(participant, this, cleaned)
    return following


def results(participant: Participant) -> dict[str, Any]:
    last = MemoryRound.objects.filter(participant=participant).order_by("position").last()
    return STAGE.results(participant, last)


def test_a_practice_round_of_the_shortest_length_comes_first(participant):
    STAGE.begin(participant)
    assert play(participant, False, True) == [(0, 2), (1, 2)]


def test_without_practice_the_first_trial_begins_at_once(participant):
    participant.study.memory_practice = False
    STAGE.begin(participant)
    assert play(participant, True) == [(1, 2)]


def test_rounds_grow_until_a_mistake_or_the_longest_and_then_a_new_trial_begins(participant):
    STAGE.begin(participant)
    outcomes = [True, *(True, True, False), *(True, True, True, True), *(True, False)]
    assert play(participant, *outcomes) == [
        (0, 2), *[(1, 2), (1, 3), (1, 4)], *[(2, 2), (2, 3), (2, 4), (2, 5)], *[(3, 2), (3, 3)],
    ]  # fmt: skip
    last = STAGE.get_task(participant, participant.position)
    assert (last.trial, last.length, last.is_answered) == (3, 3, True)
    assert STAGE.next_task(participant, last) is None


def test_finishing_leaves_lengths_span_and_decay(participant):
    STAGE.begin(participant)
    play(participant, False, *(True, True, False), *(True, True, True, True), *(False,))
    found = results(participant)
    assert found["memory_lengths"] == [3, 5, 1]
    assert (found["memory_span"], found["beta"]) == (4.0, 0.75)


def test_no_picture_comes_twice_in_a_trial(participant):
    STAGE.begin(participant)
    play(participant, True, *(True, True, True, True))
    rounds = MemoryRound.objects.filter(participant=participant, trial=1)
    shown = [name for pictures in rounds.values_list("pictures", flat=True) for name in pictures]
    assert len(shown) == len(set(shown)) == 2 + 3 + 4 + 5


def test_what_comes_back_is_a_permutation_and_any_order_may_come(study):
    orders = set()
    for seed in range(40):
        person = make_participant(study)
        person.seed, person.position = seed, 2
        STAGE.begin(person)
        this = MemoryRound.objects.get(participant=person)
        assert sorted(this.shuffled) == sorted(this.pictures)
        orders.add(this.shuffled == this.pictures)
    assert orders == {True, False}


def test_the_same_seed_shows_the_same_pictures(study):
    shown = []
    for seed in (3, 3, 4):
        person = make_participant(study)
        person.seed, person.position = seed, 2
        STAGE.begin(person)
        this = MemoryRound.objects.get(participant=person)
        shown.append((this.pictures, this.shuffled))
    assert shown[0] == shown[1] != shown[2]


def test_pictures_are_shown_for_a_second_each_and_the_extra_time(participant):
    STAGE.begin(participant)
    play(participant, True, True)
    times = dict(MemoryRound.objects.values_list("length", "exposure_ms"))
    assert times == {2: 3500, 3: 4500}


def test_a_task_never_tells_the_true_order(participant):
    STAGE.begin(participant)
    this = MemoryRound.objects.get(participant=participant)
    MemoryRound.objects.filter(pk=this.pk).update(shuffled=this.pictures[::-1])
    task = STAGE.describe(participant, STAGE.get_task(participant, this.position), None)
    assert [image["id"] for image in task["images"]] == this.pictures[::-1]
    assert "order" not in task
    assert task["phase"] == "ready"


def test_an_answer_before_the_display_is_refused(participant):
    STAGE.begin(participant)
    this = MemoryRound.objects.get(participant=participant)
    with pytest.raises(NotShown):
        answer(participant, this.pictures)


def test_an_order_must_name_each_picture_once(participant):
    STAGE.begin(participant)
    this = MemoryRound.objects.get(participant=participant)
    this.begin_exposure()
    this.save()
    first, second = this.pictures
    for order in ([], [first], [first, first], [first, second, second], [first, "moon"]):
        with pytest.raises(InvalidAnswer):
            answer(participant, order)
    for order in itertools.permutations(this.pictures):
        assert STAGE.validate(participant, this, {"order": list(order)}) == {"order": list(order)}


def test_a_picture_is_served_once_a_round_has_it(participant):
    STAGE.begin(participant)
    this = MemoryRound.objects.get(participant=participant)
    assert STAGE.picture(participant, this.pictures[0]).content_type == "image/svg+xml"
    other = next(n for n in ("umbrella", "key", "anchor") if n not in this.pictures)
    assert STAGE.picture(participant, other) is None
    assert STAGE.picture(participant, "../secret") is None


def test_progress_counts_trials_that_are_over_and_no_practice(participant):
    STAGE.begin(participant)
    assert progress_in(STAGE, [participant])[participant.pk].done == 0
    play(participant, True)
    assert progress_in(STAGE, [participant])[participant.pk].done == 0
    play(participant, False)
    assert progress_in(STAGE, [participant])[participant.pk].done == 1
    assert STAGE.get_task(participant, participant.position).units_done == 1
    assert progress_in(STAGE, []) == {}


# Displays that do not count


def test_a_trial_with_every_round_played_again_still_has_pictures_and_none_repeats_at_once(study):
    person = make_participant(study)
    person.position = 2
    for length in range(2, 10):
        first = new_round(person, person.position, 1, length)
        first.save()
        again = new_round(person, person.position + 1, 1, length, repeats=person.position)
        again.save()
        person.position += 2
        assert len({*first.pictures, *again.pictures}) == 2 * length


def test_a_round_that_was_replaced_counts_in_no_length(participant):
    STAGE.begin(participant)
    play(participant, False)
    MemoryRound.objects.filter(participant=participant, trial=1).update(is_replaced=True)
    participant.position += 1
    position = participant.position
    new_round(participant, position, 1, 2, repeats=position - 1).save()
    play(participant, *(True, False), *(False,), *(False,))
    assert results(participant)["memory_lengths"] == [2, 1, 1]
