"""A classifier on everything that a browser gets before an answer: it must stay at chance."""

import json
import time
from typing import Any

import numpy as np
import pytest

from desk.preview import create_preview
from evaluation.models import EvaluationItem
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

IMAGES = 400
FOLDS = 10
# Beyond what chance gives a classifier of 400 images once in 100,000 times.
SURELY_BETTER = 0.5 + 4.3 * 0.5 / IMAGES**0.5


def numbers_in(name: str) -> list[float]:
    """A name of hexadecimal digits, bit by bit."""
    return [float(bit) for bit in f"{int(name, 16):096b}"]


def telltales(worker: Worker, reply: Any, seconds: float) -> list[float]:
    """What a reply with a task, and the image that the task names, show to whoever looks for a class in them."""
    state = reply.json()
    task = state["task"]
    start = time.perf_counter()
    image = worker.client.get(task["image"]["url"])
    fetched = time.perf_counter() - start
    key, *ahead = (
        address.rpartition("/")[2] for address in (task["image"]["url"], *task["prefetch"])
    )
    histogram = np.bincount(np.frombuffer(image.content, np.uint8), minlength=256)
    return [
        len(image.content), *histogram,
        *(len(str(part)) for part in image.items()), len(image.headers),
        *(len(str(part)) for part in reply.items()), len(reply.headers),
        len(json.dumps(state).replace(str(task["position"]), "")), len(task), len(ahead),
        *numbers_in(key), *numbers_in(ahead[0] if ahead else "0"),
        *(float(task["item"] % cycle) for cycle in range(2, 12)), task["item"],
        seconds, fetched,
    ]  # fmt: skip


def accuracy_on_unseen(features: np.ndarray, labels: np.ndarray) -> float:
    """Of least squares with a penalty as large as the features are many: features (n, d), labels (n,) of −1 and 1."""
    varying = features[:, features.std(axis=0) > 0]
    scaled = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    folds = np.arange(len(labels)) % FOLDS
    right = []
    for fold in range(FOLDS):
        known = folds != fold
        x, y = scaled[known], labels[known]
        weights = np.linalg.solve(x.T @ x + x.shape[1] * np.eye(x.shape[1]), x.T @ y)
        right.append((scaled[~known] @ weights > 0) == (labels[~known] > 0))
    return float(np.concatenate(right).mean())


def test_nothing_that_comes_before_an_answer_tells_a_class_from_the_other():
    dataset = make_dataset(teaching=12, evaluation=IMAGES, classes=("wolf", "dogs"))
    study = make_study(dataset=dataset, evaluation_size=IMAGES)
    participant = create_preview(study=study, stage="evaluation", arm="rt")
    worker, choices = Worker.resuming(participant.token), np.random.default_rng(2)
    reply, seconds, seen = worker.get(), 0.0, []
    while reply.json()["task"]["kind"] != "done":
        seen.append(telltales(worker, reply, seconds))
        position = reply.json()["task"]["position"]
        label = str(choices.choice(["wolf", "dogs"]))
        start = time.perf_counter()
        reply = worker.answer(position=position, label=label)
        seconds = time.perf_counter() - start
    items = EvaluationItem.objects.of(participant).values_list("example__label", flat=True)
    labels, features = 2 * np.array(items) - 1, np.array(seen, float)
    assert features.shape[0] == IMAGES
    assert accuracy_on_unseen(features, labels) < SURELY_BETTER

    # The classifier finds what is there: a file that is one byte longer for one of the classes.
    features[:, 0] += labels > 0
    assert accuracy_on_unseen(features, labels) > 0.9
