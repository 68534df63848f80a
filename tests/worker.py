"""A worker who takes part through the session API, as a browser or a bot would."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from memorytest.models import MemoryRound
from studies.models import Participant, Study

Json = dict[str, Any]


class Worker:
    """Joins a study and answers its tasks. How it answers can be changed task by task."""

    def __init__(self, study: Study, client: Client | None = None, **parameters: str) -> None:
        self.client = client or Client()
        self.joined = self.client.post(
            f"/api/studies/{study.slug}/sessions/", parameters, content_type="application/json"
        )
        self.token: str = self.joined.json()["token"]

    @property
    def participant(self) -> Participant:
        return Participant.objects.select_related("study__dataset").get(token=self.token)

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
        return self.post("exposures", {"position": position})

    def answer_current(self, choose: Callable[[Json], Json] | None = None) -> Any:
        """Answers the current task: everything right in the memory test, the first class elsewhere."""
        task = self.task()
        if task["kind"] == "memory" and task["phase"] == "ready":
            self.expose(task["position"])
        body = (choose or self.obvious)(task)
        return self.answer(position=task["position"], **body)

    def obvious(self, task: Json) -> Json:
        if task["kind"] == "consent":
            return {"agree": True}
        if task["kind"] == "memory":
            shown = MemoryRound.objects.get(
                participant__token=self.token, position=task["position"]
            )
            return {"order": shown.pictures, "response_ms": 900.0, "shown_ms": 3000.0}
        return {"label": self.get().json()["session"]["classes"][0], "response_ms": 700.0}

    def go_to(self, stage: str, choose: Callable[[Json], Json] | None = None) -> Json:
        """Answers until the session is at a stage ("done" for all of it); returns the task there."""
        for _ in range(1000):
            task = self.task()
            if task["kind"] == stage:
                return task
            reply = self.answer_current(choose)
            assert reply.status_code == 200, reply.content
        raise AssertionError(f"The session never came to {stage}.")
