"""Which teacher a worker gets, and for how many images."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from studies.models import Participant, Study
from teaching.assignment import assign, draw_arm, emptiest_arm, take_ticket, teaching_length
from tests.builders import make_dataset, make_participant, make_study

LIVE, PILOT = Participant.Purpose.LIVE, Participant.Purpose.PILOT
ARMS = "jedi,imt,rt"


def study_of(**fields) -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=6), **({"arms": ARMS} | fields))


def somebody(study: Study, arm: str, stage: str = "done", **fields) -> Participant:
    participant = make_participant(study)
    for name, value in {"arm": arm, "stage": stage, **fields}.items():
        setattr(participant, name, value)
    participant.save()
    return participant


# How long teaching lasts


@pytest.mark.parametrize(
    ("span", "steps"),
    [
        (1.0, 20), (4.0, 20), (4.0001, 30), (5.5, 30), (6.9999, 30), (7.0, 30), (7.0001, 40), (10.0, 40),
    ],
)  # fmt: skip
def test_the_length_follows_the_memory_and_a_limit_belongs_to_the_shorter_side(span, steps):
    study = Study(
        short_memory_up_to=4, medium_memory_up_to=7, short_steps=20, medium_steps=30, long_steps=40
    )
    assert teaching_length(study, "jedi", span) == steps


@pytest.mark.parametrize("arm", ["imt", "eer", "rt", "tracked", "a teacher of long ago"])
@pytest.mark.parametrize("span", [1.0, 5.0, 10.0])
def test_other_teachers_have_a_fixed_length(arm, span):
    assert teaching_length(Study(other_steps=33), arm, span) == 33


@pytest.mark.django_db
def test_who_has_no_memory_span_gets_the_shortest_teaching():
    participant = make_participant(study_of(arms="jedi"))
    assign(participant)
    assert (participant.arm, participant.teaching_steps) == ("jedi", participant.study.short_steps)


# Which teacher


@pytest.mark.django_db
def test_round_robin_gives_the_arms_in_turn():
    study = study_of()
    people = [make_participant(study) for _ in range(7)]
    for participant in people:
        draw_arm(participant)
    assert [one.ticket for one in people] == list(range(7))
    assert [one.arm for one in people] == ["jedi", "imt", "rt", "jedi", "imt", "rt", "jedi"]


@pytest.mark.django_db
def test_a_closed_arm_is_given_to_nobody():
    study = study_of()
    Study.objects.update(closed_arms=["imt"])
    study.refresh_from_db()
    arms = set()
    for _ in range(4):
        participant = make_participant(study)
        draw_arm(participant)
        arms.add(participant.arm)
    assert arms == {"jedi", "rt"}


@pytest.mark.django_db
def test_who_has_a_teacher_already_keeps_it_and_takes_no_ticket():
    study = study_of()
    participant = make_participant(study)
    participant.arm = "rt"
    assign(participant)
    study.refresh_from_db()
    assert (participant.arm, participant.ticket, study.next_ticket) == ("rt", None, 0)
    assert participant.teaching_steps == study.other_steps


@pytest.mark.django_db
def test_pilots_count_tickets_of_their_own():
    study = study_of()
    assert [take_ticket(study, PILOT), take_ticket(study, PILOT), take_ticket(study, LIVE)] == [
        0,
        1,
        0,
    ]


@pytest.mark.django_db
def test_filling_gaps_gives_the_arm_with_the_fewest_people_and_the_first_of_equals():
    study = study_of(assignment=Study.Assignment.FILL_GAPS)
    assert emptiest_arm(study, LIVE) == "jedi"
    somebody(study, "jedi")
    assert emptiest_arm(study, LIVE) == "imt"
    somebody(study, "imt", stage="teaching")
    assert emptiest_arm(study, LIVE) == "rt"
    somebody(study, "rt")
    assert emptiest_arm(study, LIVE) == "jedi"


@pytest.mark.django_db
def test_filling_gaps_counts_neither_who_left_nor_who_is_excluded_nor_pilots():
    study = study_of(assignment=Study.Assignment.FILL_GAPS)
    somebody(study, "jedi", is_excluded=True)
    assert emptiest_arm(study, LIVE) == "jedi"
    somebody(study, "jedi", stage="withdrawn")
    somebody(study, "jedi", stage="teaching", last_seen_at=timezone.now() - timedelta(days=9))
    somebody(study, "jedi", purpose=PILOT)
    assert emptiest_arm(study, LIVE) == "jedi"
    assert emptiest_arm(study, PILOT) == "imt"


@pytest.mark.django_db
def test_filling_gaps_evens_the_arms_out():
    study = study_of(assignment=Study.Assignment.FILL_GAPS)
    for arm in ("jedi", "jedi", "rt"):
        somebody(study, arm)
    for _ in range(6):
        participant = make_participant(study)
        draw_arm(participant)
        participant.stage = "teaching"
        participant.save()
    assert Counter(study.participants.values_list("arm", flat=True)) == {
        "jedi": 3,
        "imt": 3,
        "rt": 3,
    }
