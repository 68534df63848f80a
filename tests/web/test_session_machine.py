"""Everything that can happen to sessions, in any order, against a small pure model of them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies.models import Participant, Study, digest_of
from studies.services import expire_sessions
from teaching.models import TeachingStep
from tests.builders import SHORT, make_dataset, make_study

Json = dict[str, Any]


@dataclass
class Model:
    """A session as the journey describes it: a position, what was answered, and where that leads."""

    external_id: str
    token: str
    stage: str = "consent"
    position: int = 1
    trial: int = 1
    length: int = 2
    unit: int = 0
    is_exposed: bool = False
    is_overdue: bool = False
    # Position to the answer that was taken and the feedback that it got.
    taken: dict[int, tuple[Json, Json | None]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.stage in {"done", "declined"} or self.is_overdue

    def take(self, answer: Json, feedback: Json | None, *, is_right: bool) -> None:
        """An accepted answer moves the session on by one position."""
        self.taken[self.position] = (answer, feedback)
        self.position += 1
        getattr(self, f"after_{self.stage}")(answer, is_right)

    def after_consent(self, answer: Json, is_right: bool) -> None:
        self.stage = "memory" if answer["agree"] else "declined"

    def after_memory(self, answer: Json, is_right: bool) -> None:
        self.is_exposed = False
        if is_right and self.length < SHORT["memory_max_length"]:
            self.length += 1
        else:
            self.trial, self.length = self.trial + 1, 2
        if self.trial > SHORT["memory_trials"]:
            self.stage = "teaching"

    def after_teaching(self, answer: Json, is_right: bool) -> None:
        self.unit += 1
        if self.unit == SHORT["other_steps"]:
            self.stage, self.unit = "evaluation", 0

    def after_evaluation(self, answer: Json, is_right: bool) -> None:
        self.unit += 1
        if self.unit == SHORT["evaluation_size"]:
            self.stage = "done"


class Sessions(RuleBasedStateMachine):
    sessions = Bundle("sessions")
    study: Study
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Sessions.runs += 1
        # Every run is another day: yesterday's joins do not count against today's limit.
        cache.clear()
        self.models: dict[str, Model] = {}
        self.tabs = [Client(), Client()]

    def call(self, model: Model, tab: int, name: str, body: Json | None = None) -> Any:
        address = f"/api/sessions/{model.token}/{name}"
        client = self.tabs[tab]
        if body is None:
            return client.get(address)
        return client.post(address, body, content_type="application/json")

    @rule(target=sessions, name=st.sampled_from("ab"), tab=st.integers(0, 1))
    def join(self, name: str, tab: int) -> Any:
        """The same person always comes to the same session."""
        external_id = f"{name}-{Sessions.runs}"
        reply = self.tabs[tab].post(
            f"/api/studies/{self.study.slug}/sessions/",
            {"PROLIFIC_PID": external_id},
            content_type="application/json",
        )
        if external_id in self.models:
            assert reply.status_code == 200
            assert reply.json()["token"] == self.models[external_id].token
            return multiple()
        assert reply.status_code == 201
        model = self.models[external_id] = Model(external_id, reply.json()["token"])
        return model

    @rule(model=sessions, tab=st.integers(0, 1))
    def reload(self, model: Model, tab: int) -> None:
        reply = self.call(model, tab, "")
        if model.is_overdue:
            assert reply.status_code == 410
            return
        task, session = reply.json()["task"], reply.json()["session"]
        assert session["stage"] == model.stage
        if model.is_over:
            assert task["kind"] == "done"
            return
        assert (task["kind"], task["position"]) == (model.stage, model.position)
        if model.stage == "memory":
            phase = "recall" if model.is_exposed else "ready"
            assert (task["trial"], task["length"], task["phase"]) == (
                model.trial, model.length, phase,
            )  # fmt: skip
            assert "order" not in task
        elif model.stage != "consent":
            assert task.get("step", task.get("item")) == model.unit + 1
            assert self.call(model, tab, "").json()["task"]["image"] == task["image"]

    @rule(model=sessions, tab=st.integers(0, 1))
    def expose(self, model: Model, tab: int) -> None:
        reply = self.call(model, tab, "exposures/", {"position": model.position})
        if model.is_over:
            assert reply.status_code == 410
        elif model.stage != "memory":
            assert reply.status_code == 409
        else:
            assert sorted(reply.json()["task"]["order"]) == sorted(
                image["id"] for image in reply.json()["task"]["images"]
            )
            model.is_exposed = True

    @rule(model=sessions, tab=st.integers(0, 1), is_right=st.booleans())
    def answer(self, model: Model, tab: int, is_right: bool) -> None:
        body = {"position": model.position} | self.answer_for(model, is_right)
        reply = self.call(model, tab, "answers/", body)
        if model.is_over:
            assert reply.status_code == 410
        elif model.stage == "memory" and not model.is_exposed:
            assert (reply.status_code, reply.json()["error"]["code"]) == (409, "not_shown")
        else:
            assert reply.status_code == 200, reply.content
            feedback = reply.json()["feedback"]
            if model.stage in {"memory", "teaching"}:
                assert feedback["is_correct"] == is_right
            else:
                assert feedback is None
            del body["position"]
            model.take(body, feedback, is_right=is_right)
            self.assert_state_is(model, reply.json())

    @rule(model=sessions, steps=st.integers(2, 9))
    def go_on(self, model: Model, steps: int) -> None:
        """A diligent stretch, so that many runs come to the later stages."""
        for step in range(steps):
            if model.stage == "memory":
                self.expose(model, 0)
            self.answer(model, 0, is_right=step % 3 > 0)

    def answer_for(self, model: Model, is_right: bool) -> Json:
        """An answer that fits the task, right or wrong, by a look at the stored truth."""
        here = {"participant__token_digest": digest_of(model.token), "position": model.position}
        if model.stage == "memory":
            order = MemoryRound.objects.get(**here).pictures
            return {"order": order if is_right else order[::-1]}
        if model.stage in {"teaching", "evaluation"}:
            table = TeachingStep if model.stage == "teaching" else EvaluationItem
            example = table.objects.select_related("example__dataset").get(**here).example
            label = example.label if is_right else 1 - example.label
            return {"label": example.dataset.class_names[label], "response_ms": 5}
        return {"agree": True}

    def assert_state_is(self, model: Model, reply: Json) -> None:
        assert reply["session"]["stage"] == model.stage
        if not model.is_over:
            assert reply["task"]["position"] == model.position

    @rule(model=sessions, tab=st.integers(0, 1))
    def decline(self, model: Model, tab: int) -> None:
        """Only at the beginning; later it is another answer to an answered position."""
        reply = self.call(model, tab, "answers/", {"position": 1, "agree": False})
        if model.is_overdue:
            assert reply.status_code == 410
        elif model.position == 1:
            assert reply.status_code == 200
            model.take({"agree": False}, None, is_right=True)
        else:
            was_declined = not model.taken[1][0]["agree"]
            assert reply.status_code == (200 if was_declined else 409)

    @rule(model=sessions, tab=st.integers(0, 1), data=st.data())
    def repeat_same(self, model: Model, tab: int, data: st.DataObject) -> None:
        if not model.taken:
            return
        position = data.draw(st.sampled_from(sorted(model.taken)))
        answer, feedback = model.taken[position]
        reply = self.call(model, tab, "answers/", {"position": position, **answer})
        if model.is_overdue:
            assert reply.status_code == 410
            return
        assert reply.status_code == 200
        assert reply.json()["feedback"] == feedback
        self.assert_state_is(model, reply.json())

    @rule(model=sessions, tab=st.integers(0, 1), data=st.data())
    def repeat_different(self, model: Model, tab: int, data: st.DataObject) -> None:
        if not model.taken:
            return
        position = data.draw(st.sampled_from(sorted(model.taken)))
        answer = dict(model.taken[position][0])
        if "agree" in answer:
            answer["agree"] = not answer["agree"]
        elif "order" in answer:
            answer["order"] = answer["order"][::-1]
        else:
            answer["label"] = {"wild": "domestic", "domestic": "wild"}[answer["label"]]
        reply = self.call(model, tab, "answers/", {"position": position, **answer})
        assert reply.status_code == (410 if model.is_overdue else 409)

    @rule(model=sessions, tab=st.integers(0, 1), ahead=st.integers(1, 3))
    def answer_the_future(self, model: Model, tab: int, ahead: int) -> None:
        body = {"position": model.position + ahead, "label": "wild", "agree": True, "order": []}
        reply = self.call(model, tab, "answers/", body)
        assert reply.status_code == (410 if model.is_over else 409)

    @rule(model=sessions)
    def abandon(self, model: Model) -> None:
        """Nobody was seen for longer than the study allows."""
        long_ago = timezone.now() - timedelta(hours=25)
        Participant.objects.with_token(model.token).update(last_seen_at=long_ago)
        model.is_overdue = model.is_overdue or model.stage not in {"done", "declined"}

    @rule()
    def mark_abandoned(self) -> None:
        expire_sessions(self.study)

    @invariant()
    def the_stored_rows_say_what_the_model_says(self) -> None:
        for model in self.models.values():
            participant = Participant.objects.with_token(model.token).get()
            assert participant.position == model.position
            stored = "abandoned" if participant.stage == "abandoned" else model.stage
            assert participant.stage == stored
            assert stored != "abandoned" or model.is_overdue
            assert self.stored_answers(participant) == {
                position: answer.get("label") or answer.get("order")
                for position, (answer, _) in model.taken.items()
                if "agree" not in answer
            }

    def stored_answers(self, participant: Participant) -> Json:
        rounds = participant.memoryrounds.filter(answered_at__isnull=False)
        answers: Json = {row.position: row.restored for row in rounds}
        for table in (TeachingStep, EvaluationItem):
            rows = table.objects.of(participant).filter(answered_at__isnull=False)
            answers |= {row.position: row.example.dataset.class_names[row.answer] for row in rows}
        return answers


@pytest.mark.django_db
def test_sessions_do_what_the_model_does():
    Sessions.study = make_study(
        dataset=make_dataset(teaching=12, evaluation=8), short_steps=6, medium_steps=6, long_steps=6
    )
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=20,
            stateful_step_count=35,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_the_machine_reaches_the_end_of_a_session():
    """The model's path from joining to the end, so that the machine is known to walk the right way."""
    Sessions.study = make_study(short_steps=6, medium_steps=6, long_steps=6)
    machine = Sessions()
    machine.join("a", 0)
    [model] = machine.models.values()
    for _ in range(20):
        machine.expose(model, 0)
        machine.reload(model, 1)
        machine.answer(model, 1, is_right=True)
        machine.the_stored_rows_say_what_the_model_says()
    assert model.stage == "done"
    assert model.position == 1 + 1 + 2 * 2 + 6 + 6
