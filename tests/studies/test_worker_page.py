"""What the worker's page shows beside the tasks: on where the study wants it, and all off as in the paper."""

import itertools

import pytest

from desk.setup import paper_settings
from studies.models import Participant, Study
from studies.models.settings import IN_THE_PAPER
from studies.recruitment import turk_origin
from studies.worker_page import bonus_words, comparison, offer_of
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Worker

ALL_ON = dict.fromkeys(IN_THE_PAPER, True)


@pytest.fixture(scope="module")
def study(make_once):
    return make_once(
        lambda: make_study(
            dataset=make_dataset(teaching=12, evaluation=6),
            minutes=20,
            reward=2,
            memory_max_length=3,
            **ALL_ON,
        )
    )


@pytest.mark.django_db
def test_minutes_only_fall_and_progress_moves_with_every_answer(study):
    worker = Worker(study)
    states = [worker.get().json()["session"]]
    while states[-1]["stage"] != "done":
        states.append(worker.answer_current().json()["session"])
    minutes = [state["page"]["minutes_left"] for state in states]
    assert (minutes[0], minutes[-1]) == (20, 0)
    assert minutes == sorted(minutes, reverse=True)

    def filled(state):
        return sum((row["done"] + row["part"]) / (row["total"] or 6) for row in state["stages"])

    bars = [filled(state) for state in states[1:]]
    assert all(later > earlier for earlier, later in itertools.pairwise(bars))


@pytest.mark.django_db
def test_the_score_of_the_learning_counts_right_answers_and_those_in_a_row(study):
    worker = Worker(study)
    worker.go_to("teaching")
    right = in_a_row = answers = 0
    while (state := worker.get().json())["task"]["kind"] == "teaching":
        feedback = worker.answer_task(state).json()["feedback"]
        is_right = feedback["is_correct"]
        right, in_a_row, answers = right + is_right, (in_a_row + 1) * is_right, answers + 1
        expected = {"right": right, "answers": answers, "in_a_row": in_a_row}
        assert feedback["score"] == expected
        assert (worker.task()["last_feedback"] or {"score": expected})["score"] == expected
    # Nothing of the kind in the test.
    assert "score" not in state["task"]
    assert worker.answer_task(state).json()["feedback"] is None


def test_the_paper_switches_everything_off(db):
    paper = paper_settings()
    assert IN_THE_PAPER.keys() <= paper.keys()
    assert not any(paper[name] for name in IN_THE_PAPER)
    study = make_study(dataset=make_dataset(teaching=12, evaluation=6), reward=2, **IN_THE_PAPER)
    worker = Worker(study)
    assert offer_of(study) is None
    session = worker.get().json()["session"]
    assert session["page"] == {
        "answer_keys": True, "minutes_left": None, "shows_effort": False, "offers_breaks": False,
    }  # fmt: skip
    worker.go_to("teaching")
    assert worker.answer_current().json()["feedback"]["score"] is None
    done = worker.go_to("done")
    assert (done["comparison"], done["bonus"]) == (None, None)


def test_a_version_from_before_these_settings_goes_on_without_them(db):
    study = make_study(dataset=make_dataset(teaching=12, evaluation=6), **ALL_ON)
    person = make_participant(study)
    version = person.version
    version.configuration = {
        k: v for k, v in version.configuration.items() if k not in IN_THE_PAPER
    }
    version.save()
    study.title = "Another title, and more places"
    study.minutes += 1
    study.save()
    person = Participant.objects.select_related("study__dataset").get(pk=person.pk)
    assert not any(getattr(person.study_as_joined, name) for name in IN_THE_PAPER)


@pytest.mark.django_db
def test_a_score_is_compared_once_ten_others_have_finished(study):
    person = make_participant(study)
    Participant.objects.filter(pk=person.pk).update(stage="done", evaluation_accuracy=0.5)
    person.refresh_from_db()
    for number in range(10):
        assert comparison(person) is None
        other = make_participant(study)
        Participant.objects.filter(pk=other.pk).update(
            stage="done", evaluation_accuracy=0.4 if number < 7 else 0.5
        )
    assert comparison(person) == {"others": 10, "below": 7}


@pytest.mark.parametrize(
    ("reward", "share", "words"),
    [
        (None, 0.2, ""),
        (2, 0, ""),
        (2, 0.2, "The best 20 % in the test are paid double."),
        (2, 0.125, "The best 12.5 % in the test are paid double."),
        (2, 1, "Everyone who finishes is paid double."),
    ],
)
def test_the_rule_of_the_bonus_is_said_as_it_is(reward, share, words):
    assert bonus_words(Study(reward=reward, bonus_share=share)) == words


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://www.mturk.com", "https://www.mturk.com"),
        ("https://workersandbox.mturk.com/", "https://workersandbox.mturk.com"),
        ("https://WWW.MTurk.com/anything?else", "https://www.mturk.com"),
        ("http://www.mturk.com", ""),
        ("https://www.mturk.com:8443", ""),
        ("https://mturk.com.evil.example", ""),
        ("https://evilmturk.com", ""),
        ("https://evil.example/#.mturk.com", ""),
        ("https://www.mturk.com@evil.example", ""),
        ("https://evil@www.mturk.com", ""),
        ("https://a;script-src *.mturk.com", ""),
        ("javascript:alert(1)//www.mturk.com", ""),
        ("https://[::1", ""),
        ("", ""),
    ],
)
def test_a_task_is_handed_in_to_mechanical_turk_alone(address, origin):
    assert turk_origin(address) == origin


def form_targets(reply) -> str:
    """Where the policy of a page lets forms be sent; its parts come in any order."""
    parts = [part.split(maxsplit=1) for part in reply["Content-Security-Policy"].split(";")]
    return dict(parts)["form-action"].strip()


@pytest.mark.django_db
def test_the_last_page_hands_in_the_newest_assignment_and_its_policy_allows_just_that(
    study, client
):
    who = {"workerId": "w", "hitId": "h", "turkSubmitTo": "https://workersandbox.mturk.com"}
    worker = Worker(study, assignmentId="first", **who)
    address = worker.participant.get_absolute_url()
    assert form_targets(client.get(address)) == "'self' https://workersandbox.mturk.com"
    client.post(
        f"/s/{study.slug}/?workerId=w&hitId=h&assignmentId=second&turkSubmitTo=https://www.mturk.com"
    )
    assert form_targets(client.get(address)) == "'self' https://www.mturk.com"
    assert worker.task().get("submission") is None
    assert worker.go_to("done")["submission"] == {
        "url": "https://www.mturk.com/mturk/externalSubmit",
        "fields": {"assignmentId": "second", "participant": worker.participant.code},
    }
    other = Worker(
        study, workerId="v", assignmentId="a", hitId="h", turkSubmitTo="https://evil.example"
    )
    assert other.participant.submission is None
    reply = client.get(other.participant.get_absolute_url())
    assert form_targets(reply) == "'self'"
