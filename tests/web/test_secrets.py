"""What a browser must not learn too early, looked for in every byte of every reply."""

import itertools
import json
import re

import pytest
from django.test import Client

from evaluation.models import EvaluationItem
from studies.models import digest_of
from studies.stages import image_key
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

# Class names that occur nowhere else, so that a single byte of them is found.
CLASSES = ("zqnegative", "zqpositive")
# Names of what the server knows and the browser must not.
SECRET_NAMES = re.compile(
    rb'"(arm|teacher|beta|memory_span|p|f|score|diversity|usefulness|learning_rate|ticket|seed|pool_index|example|'
    rb'example_id|split|is_random|is_first_showing|true_label|truth|pictures|first_seen_accuracy|teaching_gain|pk|id)"'
)
TEACHERS = re.compile(rb"\b(jedi|imt|eer|random|harmonic)\b", re.IGNORECASE)


@pytest.fixture
def study():
    return make_study(
        dataset=make_dataset(teaching=12, evaluation=10, classes=CLASSES), title="A study"
    )


class Listener(Client):
    """Keeps every reply, with its headers."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, bytes, bytes]] = []

    def request(self, **request):
        response = super().request(**request)
        headers = "\n".join(f"{name}: {value}" for name, value in response.items()).encode()
        content = b"".join(response) if response.streaming else response.content
        self.heard.append((request["PATH_INFO"], headers, content))
        return response


def without_what_is_public(reply: dict) -> dict:
    """The reply without the two button names, what was just answered, and the words of the memory pictures."""
    public = json.loads(json.dumps(reply))
    public["session"].pop("classes")
    public.pop("feedback", None)
    public["task"].pop("last_feedback", None)
    public["task"].pop("images", None)
    if public["task"]["kind"] == "done":
        public["task"].pop("score")
    return public


def test_no_reply_of_a_whole_session_tells_a_secret_before_the_answer(study):
    client = Listener()
    worker = Worker(study, client=client)
    client.get(f"/s/{study.slug}/")
    client.get(f"/w/{worker.token}/")
    state = worker.get().json()
    answered = 0
    while True:
        for _, headers, content in client.heard:
            assert not TEACHERS.search(headers)
            assert b"zq" not in headers
            if content[:1] == b"{":
                reply = json.loads(content)
                content = json.dumps(
                    without_what_is_public(reply) if "task" in reply else reply
                ).encode()
            assert b"zq" not in content, content
            assert not SECRET_NAMES.search(content), content
            # The product's own name is on every page, whoever teaches.
            assert not TEACHERS.search(content.replace(b"JEDI Web", b"")), content
        client.heard.clear()
        if state["task"]["kind"] == "done":
            break
        if "image" in state["task"]:
            client.get(state["task"]["image"]["url"])
        worker.get()
        reply = worker.answer_task(state)
        assert_feedback_is_of_the_past(reply.json())
        state = reply.json()
        answered += 1
    assert answered > 12


def assert_feedback_is_of_the_past(reply: dict) -> None:
    """Feedback speaks of the answered image only, and evaluation has none."""
    feedback, task = reply["feedback"], reply["task"]
    if feedback and feedback["kind"] == "teaching":
        assert feedback["position"] < task.get("position", 10**6)
        if task["kind"] in {"teaching", "evaluation"}:
            assert task["last_feedback"]["position"] == feedback["position"]
    if task["kind"] in {"evaluation", "done"} and feedback:
        assert feedback["kind"] == "teaching"
    if task["kind"] == "evaluation":
        assert set(task) == {
            "kind", "position", "item", "items", "image", "instruction", "prefetch", "last_feedback",
        }  # fmt: skip
        # The feedback of the last teaching step comes with the first image, and none with the others.
        assert (task["last_feedback"] is None) == (task["item"] > 1)
    if task["kind"] == "teaching":
        assert set(task) == {"kind", "position", "step", "steps", "image", "last_feedback"}


def test_replies_to_right_and_wrong_evaluation_answers_cannot_be_told_apart(study):
    worker = Worker(study)
    worker.go_to("evaluation")
    for _ in range(3):
        item = EvaluationItem.objects.get(
            participant__token_digest=digest_of(worker.token), position=worker.task()["position"]
        )
        name = study.dataset.class_names
        reply = worker.answer(position=item.position, label=name[item.example.label])
        wrong = worker.answer(position=item.position + 1, label=name[1 - item.example.label])
        assert reply.json()["feedback"] is None
        assert wrong.json()["feedback"] is None
        assert set(reply.json()) == set(wrong.json())


def test_the_order_of_a_memory_round_comes_in_the_display_only(study):
    worker = Worker(study)
    position = worker.go_to("memory")["position"]
    assert "order" not in worker.task()
    shown = worker.expose(position).json()["task"]
    for reply in (worker.get(), worker.get()):
        task = reply.json()["task"]
        assert task["phase"] == "recall"
        assert "order" not in task
        assert task["images"] == shown["images"]


def test_pictures_come_back_in_an_order_that_says_nothing(study):
    """The shuffled list is not always the true one, and not always another one either."""
    is_true_order = set()
    for _ in range(12):
        worker = Worker(study)
        task = worker.go_to("memory")
        worker.expose(task["position"])
        images = [image["id"] for image in task["images"]]
        is_true_order.add(images == worker.orders[task["position"]])
    assert is_true_order == {True, False}


def key_of(address: str) -> str:
    return address.rpartition("/")[2]


def status_of(worker: Worker, key: str) -> int:
    return worker.client.get(f"/w/{worker.token}/images/{key}").status_code


def served(worker: Worker, examples) -> set[int]:
    """The examples that the server gives this worker, whatever their key."""
    me = worker.participant
    return {e.pk for e in examples if status_of(worker, image_key(me, e)) == 200}


def test_only_assigned_images_are_served(study):
    worker, other = Worker(study), Worker(study)
    examples = list(study.dataset.examples.all())
    assert served(worker, examples) == set()

    memory = worker.go_to("memory")
    mine = {image["id"] for image in memory["images"]}
    assert {status_of(worker, name) for name in mine} == {200}
    assert {status_of(other, name) for name in mine} == {404}
    assert status_of(worker, next(n for n in ("umbrella", "key", "cup") if n not in mine)) == 404

    worker.go_to("teaching")
    for _ in range(3):
        steps = TeachingStep.objects.of(worker.participant)
        assert served(worker, examples) == set(steps.values_list("example_id", flat=True))
        assert served(other, examples) == set()
        worker.answer_current()


def test_the_same_image_has_another_address_for_another_worker(study):
    worker, other = Worker(study), Worker(study)
    task = worker.go_to("teaching")
    other.go_to("teaching")
    example = TeachingStep.objects.of(worker.participant).get().example
    mine, others = (image_key(w.participant, example) for w in (worker, other))
    assert key_of(task["image"]["url"]) == mine != others
    assert example.key not in (mine, others)
    assert status_of(worker, others) == status_of(worker, example.key) == 404


def test_evaluation_images_beyond_the_next_one_are_not_served(study):
    worker = Worker(study)
    task = worker.go_to("evaluation")
    me = worker.participant
    keys = [image_key(me, item.example) for item in EvaluationItem.objects.of(me)]
    for place in range(3):
        is_served = [status_of(worker, key) == 200 for key in keys]
        assert is_served == [True] * (place + 2) + [False] * (len(keys) - place - 2)
        assert key_of(task["image"]["url"]) == keys[place]
        assert [key_of(url) for url in task["prefetch"]] == [keys[place + 1]]
        task = worker.answer_current().json()["task"]


def test_an_image_address_leads_nowhere_else(study):
    worker = Worker(study)
    worker.go_to("teaching")
    for key in ("..", "../../db.sqlite3", "%2e%2e%2fsecret_key", "umbrella.svg", "x" * 5000, "%00"):
        assert status_of(worker, key) == 404


def test_images_have_opaque_names_and_no_names_in_their_headers(study):
    worker = Worker(study)
    task = worker.go_to("teaching")
    assert re.fullmatch(r"[0-9a-f]{24}", key_of(task["image"]["url"]))
    reply = worker.client.get(task["image"]["url"])
    assert reply["Content-Type"] == "image/jpeg"
    assert "private" in reply["Cache-Control"]
    assert not {"Last-Modified", "ETag"} & set(reply.headers)
    assert task["image"]["alt"] == "Image to classify"


def test_the_pool_has_no_order_that_tells_a_class():
    dataset = make_dataset(teaching=60)
    rows = dataset.examples.filter(split="teaching").order_by("pool_index")
    labels = list(rows.values_list("label", flat=True))
    changes = sum(a != b for a, b in itertools.pairwise(labels))
    assert changes > 15


def test_buttons_are_counterbalanced_between_workers_and_fixed_for_one(study):
    orders = set()
    for _ in range(16):
        worker = Worker(study)
        first = worker.get().json()["session"]["classes"]
        assert first == worker.get().json()["session"]["classes"]
        orders.add(tuple(first))
    assert orders == {("zqnegative", "zqpositive"), ("zqpositive", "zqnegative")}
