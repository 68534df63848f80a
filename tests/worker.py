"""A worker who takes part through the session API, as a browser or a bot would."""

from collections.abc import Callable
from typing import Any, cast

from django.test import Client

from rehearsal.bots import ANSWERS, Bot
from studies.models import Participant, Study

Json = dict[str, Any]


class Worker:
    """Joins a study and answers its tasks. How it answers can be changed task by task."""

    def __init__(self, study: Study | str, client: Any = None, **parameters: str) -> None:
        """`study` may be a link name, and `client` anything that gets and posts as Django's test client does."""
        self.client = client or Client()
        slug = study if isinstance(study, str) else study.slug
        self.joined = self.client.post(
            f"/api/studies/{slug}/sessions/", parameters, content_type="application/json"
        )
        self.token: str = self.joined.json()["token"]
        # The true orders of memory rounds, from the replies that carried them.
        self.orders: dict[int, list[str]] = {}

    @classmethod
    def resuming(cls, token: str) -> "Worker":
        """Goes on with a session that exists."""
        worker = cls.__new__(cls)
        worker.client, worker.token, worker.orders = Client(), token, {}
        return worker

    @property
    def participant(self) -> Participant:
        rows = Participant.objects.select_related("study__dataset")
        return rows.with_token(self.token).get().with_link(self.token)

    def get(self) -> Any:
        return self.client.get(f"/api/sessions/{self.token}/")

    def post(self, call: str, body: Any) -> Any:
        return self.client.post(
            f"/api/sessions/{self.token}/{call}/", body, content_type="application/json"
        )

    def task(self) -> Json:
        return self.get().json()["task"]

    def answer(self, **body: Any) -> Any:
        return self.post("answers", body)

    def expose(self, position: int) -> Any:
        reply = self.post("exposures", {"position": position})
        if reply.status_code == 200:
            self.orders[position] = reply.json()["task"]["order"]
        return reply

    def answer_current(self, choose: Callable[[Json], Json] | None = None) -> Any:
        """Answers the current task: everything right in the memory test, the first class elsewhere."""
        state = self.get().json()
        return self.answer_task(state, choose)

    def answer_task(self, state: Json, choose: Callable[[Json], Json] | None = None) -> Any:
        """Answers the task of a state that was read before."""
        task = state["task"]
        if task["kind"] == "memory" and task["phase"] == "ready":
            self.expose(task["position"])
        body = choose(task) if choose else self.obvious(state)
        return self.answer(position=task["position"], **body)

    def restored(self, task: Json, lengths: list[int]) -> list[str]:
        """The right order in practice and up to the length given for the trial, a wrong one beyond."""
        order = self.orders[task["position"]]
        is_right = task["is_practice"] or task["length"] <= lengths[task["trial"] - 1]
        return order if is_right else order[::-1]

    def obvious(self, state: Json) -> Json:
        task = state["task"]
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            shuffled = [image["id"] for image in task["images"]]
            order = self.orders.get(task["position"], shuffled)
            return {"order": order, "response_ms": 900.0, "shown_ms": 3000.0}
        if "image" in task:
            return {"label": state["session"]["classes"][0], "response_ms": 700.0}
        # A made-up stage of a test.
        return ANSWERS[task["kind"]](cast(Bot, self), task)

    def wait(self, milliseconds: float) -> None:
        """Nobody waits in a test."""

    def go_to(self, stage: str, choose: Callable[[Json], Json] | None = None) -> Json:
        """Answers until the session is at a stage ("done" for all of it); returns the task there."""
        state = self.get().json()
        for _ in range(1000):
            if state["task"]["kind"] == stage:
                return state["task"]
            reply = self.answer_task(state, choose)
            assert reply.status_code == 200, reply.content
            state = reply.json()
        raise AssertionError(f"The session never came to {stage}.")
