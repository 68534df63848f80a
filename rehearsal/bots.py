"""A bot: a simulated worker that takes part through the session API, and learns and forgets on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from studies import stages
from studies.labels import image_key
from studies.models import Dataset, Example, Participant
from teaching import pools
from teaching.engine import SimulatedWorker
from teaching.engine.arrays import FloatArray

from .http import Client, Json, Session

# To put one picture back into its place.
RESTORING_MS = 900.0


class NoFeatures(Exception):
    """A data set whose evaluation images no learner can see."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"{dataset} was made before the features of evaluation images were kept. "
            "Import its images again: the new version can be rehearsed."
        )


class FeatureLookup:
    """The features of every image of a data set: what a simulated learner sees in it."""

    def __init__(self, dataset: Dataset) -> None:
        unseen = pools.evaluation_features(dataset)
        if unseen is None:
            raise NoFeatures(dataset)
        self.positive_class = dataset.positive_class
        teaching = pools.load(dataset)
        self.pool = teaching.pool
        rows = dict(zip(teaching.example_ids, self.pool.features, strict=True)) | unseen
        examples = Example.objects.filter(dataset=dataset).only("pk", "key")
        self.features = {example.key: rows[example.pk] for example in examples}

    def for_participant(self, token: str) -> Mapping[str, FloatArray]:
        """By the names that images have for one participant."""
        who = Participant(token=token)
        return {image_key(who, Example(key=key)): x for key, x in self.features.items()}


@dataclass
class Bot:
    """Takes one session from the link to the last page, or leaves on the way."""

    client: Client
    worker: SimulatedWorker
    features: FeatureLookup
    is_paced: bool = False
    sleep: Callable[[float], object] = time.sleep
    before_each_request: Callable[[], None] = lambda: None

    def take_part(self, slug: str, invitation: str) -> bool:
        """The whole session; whether the bot stayed to its end."""
        self.session = Session(
            self.client, slug, {"invitation": invitation}, before_each_post=self.before_each_request
        )
        self.seen = self.features.for_participant(self.session.token)
        while not self.session.is_over:
            if self.worker.leaves():
                return False
            self.answer_current()
        return True

    def answer_current(self) -> None:
        task = self.session.task
        feedback = self.session.answer(self.answer_to(task))
        if feedback and "label" in feedback:
            self.learn(task, feedback)

    def answer_to(self, task: Json) -> Json:
        """By the bot's own model of a stage, or by what the stage says that anybody might answer."""
        answer = getattr(self, f"answer_to_{task['kind']}", None)
        return dict(answer(task) if answer else stages.named(task["kind"]).simulated_answer(task))

    def answer_to_consent(self, task: Json) -> Json:
        self.wait(4000)
        return {"agree": True}

    def answer_to_memory(self, task: Json) -> Json:
        order = self.session.begin_exposure()
        thinking = sum(self.worker.think_ms() for _ in order) / 2 + RESTORING_MS * len(order)
        self.wait(task["exposure_ms"] + thinking)
        restored = self.worker.restore(order, task["trial"])
        return {"order": restored, "shown_ms": task["exposure_ms"], "response_ms": thinking}

    def answer_to_teaching(self, task: Json) -> Json:
        response = self.worker.respond(self.look(task))
        self.wait(response.response_ms)
        return {"label": self.name(response.answer), "response_ms": response.response_ms}

    def answer_to_evaluation(self, task: Json) -> Json:
        answer = self.answer_to_teaching(task)
        instruction = task.get("instruction")
        return answer | ({"label": instruction} if instruction else {})

    def learn(self, task: Json, feedback: Json) -> None:
        label = self.label(feedback["label"])
        self.worker.learn(self.look(task), label)
        self.wait(1200)

    def look(self, task: Json) -> FloatArray:
        return np.asarray(self.seen[task["image"]["url"].rpartition("/")[2]])

    def name(self, label: int) -> str:
        return next(name for name in self.session.classes if self.label(name) == label)

    def label(self, name: str) -> int:
        return 1 if name == self.features.positive_class else -1

    def wait(self, milliseconds: float) -> None:
        if self.is_paced:
            self.sleep(milliseconds / 1000)
