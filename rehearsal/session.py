"""A session over the API: joining, showing, answering. Bots and benchmarks take part by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .http import Client

Json = dict[str, Any]


class Session:
    """One session, and what the server said about it last."""

    def __init__(
        self,
        client: Client,
        slug: str,
        parameters: Json,
        before_each_post: Callable[[], None] = lambda: None,
    ) -> None:
        self.client = client
        self.before_each_post = before_each_post
        self.token: str = self._post(f"/api/studies/{slug}/sessions/", parameters)["token"]
        self.address = f"/api/sessions/{self.token}/"
        self.state = client.get(self.address)

    @property
    def task(self) -> Json:
        return dict(self.state["task"])

    @property
    def classes(self) -> list[str]:
        return list(self.state["session"]["classes"])

    @property
    def is_over(self) -> bool:
        return bool(self.task["kind"] == "done")

    def begin_exposure(self) -> list[str]:
        """Starts the display of a memory round; returns the true order, which is sent once."""
        body = {"position": self.task["position"]}
        return list(self._post(self.address + "exposures/", body)["task"]["order"])

    def answer(self, answer: Json) -> Json | None:
        """Answers the current task; returns the feedback."""
        body = {"position": self.task["position"], **answer}
        self.state = self._post(self.address + "answers/", body)
        return self.state["feedback"]  # type: ignore[no-any-return]

    def _post(self, path: str, body: Json) -> Json:
        self.before_each_post()
        return self.client.post(path, body)
