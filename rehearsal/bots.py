"""Bots: simulated workers that learn and forget, and take part through the session API."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from studies.models import Dataset, Example, Participant
from studies.stages import image_key
from teaching import pools
from teaching.choice import load_pool
from teaching.engine import SimulatedWorker
from teaching.engine.arrays import FloatArray

from .http import Client, Json, Session

# To put one picture in its place.
RESTORING_MS = 900.0
# To read the consent text, and to look at the label after an answer.
READING_MS = 4000
LOOKING_MS = 1200


class NoFeatures(Exception):
    """The data set has no features of its evaluation images."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(
            f"{dataset} was made before the features of evaluation images were kept. "
            "Import its images again: the new version can be rehearsed."
        )


class FeatureLookup:
    """The features of every image of a data set, which are what a simulated learner sees."""

    def __init__(self, dataset: Dataset) -> None:
        unseen = pools.evaluation_features(dataset)
        if unseen is None:
            raise NoFeatures(dataset)
        self.class_names = dataset.class_names
        teaching = load_pool(dataset)
        self.pool = teaching.pool
        rows = dict(zip(teaching.example_ids, self.pool.features, strict=True)) | unseen
        examples = Example.objects.filter(dataset=dataset).only("pk", "key")
        self.features = {example.key: rows[example.pk] for example in examples}

    def for_participant(self, token: str) -> Mapping[str, FloatArray]:
        """By the image names that one participant gets."""
        who = Participant().with_link(token)
        return {image_key(who, Example(key=key)): x for key, x in self.features.items()}


@dataclass
class Bot:
    """Takes one session from the link to the last page, or drops out."""

    client: Client
    worker: SimulatedWorker
    features: FeatureLookup
    is_paced: bool = False
    sleep: Callable[[float], object] = time.sleep
    before_each_request: Callable[[], None] = lambda: None

    def take_part(self, slug: str, invitation: str) -> bool:
        """Takes the whole session; returns whether the bot finished."""
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
        feedback = self.session.answer(ANSWERS[task["kind"]](self, task))
        if feedback and "label" in feedback:
            self.learn(task["image"], feedback["label"])
            self.wait(LOOKING_MS)

    def see_order(self) -> list[str]:
        return self.session.begin_exposure()

    def restore(self, order: list[str], trial: int) -> tuple[list[str], float]:
        thinking = sum(self.worker.think_ms() for _ in order) / 2 + RESTORING_MS * len(order)
        return self.worker.restore(order, trial), thinking

    def classify(self, image: Json) -> tuple[str, float]:
        response = self.worker.respond(self.look(image))
        return self.features.class_names[response.answer], response.response_ms

    def learn(self, image: Json, class_name: str) -> None:
        label = self.features.class_names.index(class_name)
        self.worker.learn(self.look(image), label)

    def wait(self, milliseconds: float) -> None:
        if self.is_paced:
            self.sleep(milliseconds / 1000)

    def look(self, image: Json) -> FloatArray:
        return np.asarray(self.seen[image["url"].rpartition("/")[2]])


def agree(bot: Bot, task: Json) -> Json:
    bot.wait(READING_MS)
    return {"agree": True}


def restore_order(bot: Bot, task: Json) -> Json:
    shown_ms = task["exposure_ms"]
    restored, response_ms = bot.restore(bot.see_order(), task["trial"])
    bot.wait(shown_ms + response_ms)
    return {"order": restored, "shown_ms": shown_ms, "response_ms": response_ms}


def classify(bot: Bot, task: Json) -> Json:
    # Reference pictures of the classes are shown before the first image.
    for reference in task.get("references", ()):
        bot.learn(reference["image"], reference["name"])
        bot.wait(LOOKING_MS)
    label, response_ms = bot.classify(task["image"])
    bot.wait(response_ms)
    # An attention check says what to answer.
    return {"label": task.get("instruction") or label, "response_ms": response_ms}


# How a bot answers the tasks of each stage, with human response times.
ANSWERS: dict[str, Callable[[Bot, Json], Json]] = {
    Participant.Stage.CONSENT: agree,
    Participant.Stage.MEMORY: restore_order,
    Participant.Stage.TEACHING: classify,
    Participant.Stage.EVALUATION: classify,
}
