"""Displays that were disturbed: which are, and that each is played again once, whoever asks how often."""

import pytest

from memorytest.displays import Report
from memorytest.models import MemoryRound
from memorytest.stage import MemoryStage
from studies.models import digest_of
from studies.verification import check_participant
from tests.builders import make_dataset, make_study
from tests.worker import Worker

SHOWN = {"shown_ms": 3000.0, "dropped_frames": 1, "hidden_ms": 0.0, "unfocused_ms": 12.5}
DEVICE = {
    "picture_px": 141.5, "window_width": 390, "window_height": 844, "pixel_ratio": 3.0, "pointer": "coarse",
}  # fmt: skip


@pytest.mark.parametrize(
    ("report", "disturbance"),
    [
        (Report(shown_ms=3000), ""),
        (Report(shown_ms=3100), ""),
        (Report(shown_ms=2899), "mistimed"),
        (Report(shown_ms=3101, unfocused_ms=900), "mistimed"),
        (Report(shown_ms=3000, hidden_ms=1), "hidden"),
        (Report(shown_ms=3000, unfocused_ms=900, dropped_frames=90), ""),
        (Report(shown_ms=3000, is_interrupted=True), "interrupted"),
        (Report(), "interrupted"),
    ],
)
def test_a_display_that_was_hidden_off_or_left_is_disturbed(report, disturbance):
    assert report.disturbance(planned_ms=3000) == disturbance


@pytest.fixture(scope="module")
def study(make_once):
    return make_once(
        lambda: make_study(
            dataset=make_dataset(teaching=12, evaluation=6), memory_trials=2, memory_max_length=3
        )
    )


@pytest.fixture
def worker(study, db):
    worker = Worker(study)
    worker.go_to("memory")
    return worker


def report(worker: Worker, position: int, **values):
    return worker.post("displays", {"position": position, **values})


def test_a_display_as_planned_is_kept_with_the_device_and_the_round_goes_on(worker):
    position = worker.task()["position"]
    worker.expose(position)
    reply = report(worker, position, **SHOWN, **DEVICE).json()
    assert reply["feedback"] is None
    assert (reply["task"]["position"], reply["task"]["is_reported"]) == (position, True)
    this = MemoryRound.objects.get(participant__token_digest=digest_of(worker.token))
    assert {name: getattr(this, name) for name in SHOWN | DEVICE} == SHOWN | DEVICE
    assert (this.disturbance, this.is_replaced) == ("", False)
    order = worker.orders[position]
    assert worker.answer(position=position, order=order, shown_ms=5.0).json()["feedback"]
    this.refresh_from_db()
    assert (this.shown_ms, this.is_correct) == (3000.0, True)


def test_a_disturbed_round_is_played_again_with_other_pictures_and_then_counts(worker):
    first = worker.task()
    worker.expose(first["position"])
    reply = report(worker, first["position"], is_interrupted=True).json()
    again = reply["task"]
    assert (reply["feedback"]["disturbance"], reply["feedback"]["is_replaced"]) == (
        "interrupted",
        True,
    )
    assert (again["position"], again["length"], again["trial"], again["phase"]) == (
        first["position"] + 1, first["length"], first["trial"], "ready",
    )  # fmt: skip
    assert not {image["id"] for image in again["images"]} & set(worker.orders[first["position"]])
    assert "order" not in again
    # Disturbed once more, it is marked and goes on: nobody gets a third set of pictures.
    worker.expose(again["position"])
    reply = report(worker, again["position"], **SHOWN | {"hidden_ms": 400}).json()
    assert (reply["feedback"], reply["task"]["position"]) == (None, again["position"])
    rows = MemoryRound.objects.filter(participant__token_digest=digest_of(worker.token)).order_by(
        "position"
    )
    assert list(rows.values_list("disturbance", "is_replaced", "repeats")) == [
        ("interrupted", True, None), ("hidden", False, first["position"]),
    ]  # fmt: skip
    answer = worker.answer(position=again["position"], order=worker.orders[again["position"]][::-1])
    assert answer.json()["feedback"]["trial_ended"]
    worker.go_to("teaching")
    assert worker.participant.memory_lengths[0] == 1


def test_a_report_counts_once_and_the_reply_can_be_asked_for_again(worker):
    position = worker.task()["position"]
    worker.expose(position)
    first = report(worker, position, is_interrupted=True).json()
    assert report(worker, position, **SHOWN).json() == first
    assert (
        MemoryRound.objects.filter(participant__token_digest=digest_of(worker.token)).count() == 2
    )
    # The round is over: it takes no answer, and does not show its order again.
    assert worker.answer(position=position, order=worker.orders[position]).status_code == 409
    assert worker.expose(position).status_code == 409


def test_an_answer_leaves_the_time_of_a_report_that_came_while_it_was_being_taken(
    worker, monkeypatch
):
    position = worker.task()["position"]
    order = worker.expose(position).json()["task"]["order"]
    next_task = MemoryStage.next_task

    def overtaken(stage, participant, answered):
        monkeypatch.setattr(MemoryStage, "next_task", next_task)
        assert report(worker, position, **SHOWN).status_code == 200
        return next_task(stage, participant, answered)

    monkeypatch.setattr(MemoryStage, "next_task", overtaken)
    reply = worker.answer(position=position, order=order, shown_ms=99.0)
    assert reply.status_code == 200
    assert reply.json()["task"]["position"] == position + 1
    first, _ = MemoryRound.objects.filter(participant=worker.participant).order_by("position")
    assert (first.shown_ms, first.is_correct) == (SHOWN["shown_ms"], True)
    assert first.reported_at < first.answered_at
    assert not check_participant(worker.participant).findings


def test_once_a_display_is_over_its_order_is_not_sent_again(worker):
    position = worker.task()["position"]
    assert report(worker, position, **SHOWN).status_code == 409
    worker.expose(position)
    report(worker, position, **SHOWN)
    reply = worker.expose(position)
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "already_shown")


def test_numbers_that_no_device_has_are_refused(worker):
    position = worker.task()["position"]
    worker.expose(position)
    for wrong in (
        {"pixel_ratio": -1},
        {"window_width": 1e9},
        {"pointer": "paw"},
        {"shown_ms": "long"},
    ):
        reply = report(worker, position, **SHOWN | wrong)
        assert (reply.status_code, list(reply.json()["error"]["fields"])) == (400, list(wrong))
