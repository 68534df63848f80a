"""What a crowd can learn about evaluation images by pooling everything that its sessions were sent."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from desk.preview import create_preview
from evaluation.models import EvaluationItem
from studies.models import Study
from tests.builders import make_dataset, make_study
from tests.pooling import Pooled, guessed_labels, share_known
from tests.worker import Worker

pytestmark = pytest.mark.django_db

SESSIONS = 10
CLASSES = ("wild", "domestic")


class Anonymous(Worker):
    """Comes to the evaluation at once, and keeps the fingerprint of every image it is shown."""

    def __init__(self, study: Study, rng: np.random.Generator) -> None:
        self.__dict__ |= vars(
            Worker.resuming(create_preview(study=study, stage="evaluation", arm="rt").token)
        )
        self.images: list[str] = []
        self.answers: list[int] = []
        self.rng = rng

    def choose(self, task: dict[str, Any]) -> dict[str, Any]:
        content = self.client.get(task["image"]["url"]).content
        self.images.append(hashlib.sha256(content).hexdigest())
        self.answers.append(int(self.rng.choice([-1, 1])))
        return {"label": CLASSES[(1 + self.answers[-1]) // 2]}

    def pooled(self) -> Pooled:
        score = self.task()["score"]
        return Pooled(self.images, self.answers, score and score["evaluation_accuracy"])

    def told(self) -> Iterator[str]:
        """All that it is sent at the end, without what is its own name."""
        state = self.get().json()
        me = self.participant
        state["session"].pop("classes")
        yield json.dumps(state).replace(me.code, "CODE").replace(me.token, "TOKEN")
        page = self.client.get(f"/w/{me.token}/")
        yield page.content.decode().replace(me.code, "CODE").replace(me.token, "TOKEN")
        door = self.client.get(f"/s/{me.study.slug}/", headers={"Cookie": cookie_of(self)})
        yield door.content.decode().replace(me.code, "CODE").replace(me.token, "TOKEN")


def cookie_of(worker: Worker) -> str:
    return f"jedi_session_{worker.participant.study_id}={worker.token}"


def true_labels(study: Study) -> dict[str, int]:
    """By the fingerprints of the images."""
    return {
        hashlib.sha256(study.dataset.image_path(example).read_bytes()).hexdigest(): 2
        * example.label
        - 1
        for example in study.dataset.examples.filter(split="evaluation")
    }


def test_scores_give_every_label_away_and_the_last_page_of_an_open_study_gives_none():
    study = make_study(dataset=make_dataset(teaching=12, evaluation=8))
    labels = true_labels(study)
    assert len(labels) == 8, "the images can be told apart"
    rng = np.random.default_rng(1)
    crowd = [Anonymous(study, rng) for _ in range(SESSIONS)]
    for one in crowd:
        one.go_to("done", one.choose)
    accuracies = {one.participant.evaluation_accuracy for one in crowd}
    assert len(accuracies) > 1

    assert len({tuple(one.told()) for one in crowd}) == 1
    assert share_known(guessed_labels([one.pooled() for one in crowd]), labels) == 0.5

    Study.objects.update(score_told="at_once")
    assert len({tuple(one.told()) for one in crowd}) == len(accuracies)
    assert share_known(guessed_labels([one.pooled() for one in crowd]), labels) == 1


def test_a_score_is_told_once_the_study_has_closed_and_nobody_takes_part_any_more():
    study = make_study(dataset=make_dataset(teaching=12, evaluation=6), shows_comparison=True)
    worker, last = Worker(study), Worker(study)
    assert worker.go_to("done")["score_follows"]
    for state in ("paused", "closed", "open", "closed"):
        Study.objects.update(state=state)
        task = worker.task()
        assert (task["score"], task["comparison"], task["score_follows"]) == (None, None, True)
    accuracy = last.go_to("done")["score"]
    assert accuracy == {"evaluation_accuracy": last.participant.evaluation_accuracy}
    task = worker.task()
    assert task["score"] == {"evaluation_accuracy": worker.participant.evaluation_accuracy}
    assert not task["score_follows"]


def test_who_left_a_session_open_does_not_keep_the_scores_from_others():
    study = make_study(dataset=make_dataset(teaching=12, evaluation=6))
    worker, away = Worker(study), Worker(study)
    worker.go_to("done")
    Study.objects.update(state="closed")
    assert worker.task()["score"] is None
    study.participants.with_token(away.token).update(last_seen_at="2020-01-01T00:00Z")
    assert worker.task()["score"] is not None


def test_a_score_waits_for_other_studies_of_the_same_images():
    dataset = make_dataset(teaching=12, evaluation=6)
    study, other, draft, stranger = (
        make_study(dataset=dataset),
        make_study(dataset=make_dataset(teaching=12, evaluation=6, name=dataset.name)),
        make_study(dataset=dataset, state="draft"),
        make_study(dataset=make_dataset(teaching=12, evaluation=6)),
    )
    worker, last = Worker(study), Worker(other)
    worker.go_to("done")
    Study.objects.filter(pk=study.pk).update(state="closed")
    for state in ("open", "paused", "pilot", "closed"):
        Study.objects.filter(pk=other.pk).update(state=state)
        assert (worker.task()["score"], worker.task()["score_follows"]) == (None, True), state
    last.go_to("done")
    assert worker.task()["score"] is not None
    assert (draft.state, stranger.state) == ("draft", "open")


def test_no_evaluation_image_is_ever_taught():
    study = make_study(dataset=make_dataset(teaching=12, evaluation=6), attention_checks=2)
    worker = Worker(study)
    worker.go_to("done")
    taught = set(worker.participant.teachingsteps.values_list("example__split", flat=True))
    tested = EvaluationItem.objects.of(worker.participant).counted()
    assert taught == {"teaching"}
    assert set(tested.values_list("example__split", flat=True)) == {"evaluation"}
