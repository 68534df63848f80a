"""Nonsense at every stage: each kind gets its own status and a message, and nothing changes."""

import json
from copy import copy
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from studies import stages
from studies.models import Participant, Study
from tests.builders import database_snapshot, make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

STAGES = ["consent", "memory", "teaching", "evaluation"]
JSON = "application/json"


@pytest.fixture
def study() -> Study:
    return small_study()


def small_study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=6))


@pytest.fixture(params=STAGES, scope="module")
def arrived(request, make_once) -> Worker:
    """A worker at each stage, one after the other; a memory round is already on show."""
    return make_once(lambda: worker_at(request.param, small_study()))


def worker_at(stage: str, study: Study) -> Worker:
    worker = Worker(study)
    task = worker.go_to(stage)
    if stage == "memory":
        worker.expose(task["position"])
    return worker


@pytest.fixture
def worker(arrived) -> Worker:
    """One whom no other test has led anywhere."""
    same = copy(arrived)
    same.client, same.orders = Client(), dict(arrived.orders)
    return same


def good_answer(worker: Worker) -> dict:
    state = worker.get().json()
    return {"position": state["task"]["position"], **worker.obvious(state)}


def assert_refused(reply, status: int, code: str, *fields: str) -> str:
    """The one form of every error; returns the message for people."""
    assert reply.status_code == status, reply.content
    assert reply["Content-Type"] == JSON
    assert set(reply.json()) == {"error"}
    error = reply.json()["error"]
    assert (error["code"], set(error["fields"])) == (code, set(fields))
    assert error["message"].endswith((".", "!"))
    return error["message"]


def assert_nothing_changes(send, status: int, code: str, *fields: str) -> str:
    before = database_snapshot()
    message = assert_refused(send(), status, code, *fields)
    assert database_snapshot() == before
    return message


def raw(worker: Worker, body: str | bytes, content_type: str = JSON, call: str = "answers"):
    return worker.client.post(f"/api/sessions/{worker.token}/{call}/", body, content_type)


# Cases are walked inside a test: bringing a worker to a stage costs more than refusing a request.
NO_JSON = [
    "{",
    "nonsense",
    '{"position": }',
    '{"position": NaN}',
    '{"position": 1, "response_ms": Infinity}',
    b"\xff\xfe",
    "[" * 8000,
    '{"a":' * 3000,
    "1" * 5000,
]
NO_OBJECT = ["[]", "null", '"position"', "7", "[[1, 2]]", "true"]
NO_POSITION = [
    *(None, "", "one", 1.5, -1, 0, 10**7, 10**400, True, [], [1], {}, {"a": 1}),
    *("1e3", "\x00", "٣.٥"),
]
NO_TIME = [
    *("-1", "-0.001", "1e13", "1e999", "-1e999", "1" * 400, '"nan"', '"inf"', '"-Infinity"'),
    *('"soon"', "null", "[]", "[1]", "{}", '""'),
]
OTHER_TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]


def test_a_body_that_is_no_json_is_refused(worker):
    for body in NO_JSON:
        message = assert_nothing_changes(lambda body=body: raw(worker, body), 400, "invalid")
        assert message == "The body is not valid JSON."


def test_json_that_is_no_object_is_refused(worker):
    for body in NO_OBJECT:
        assert_nothing_changes(
            lambda body=body: raw(worker, body), 400, "invalid", "non_field_errors"
        )


def test_a_position_that_is_no_whole_number_is_refused(worker):
    answer = good_answer(worker)
    for position in NO_POSITION:
        body = answer | {"position": position}
        for call in ("answers", "exposures"):
            assert_nothing_changes(
                lambda call=call, body=body: worker.post(call, body), 400, "invalid", "position"
            )


def test_a_time_that_is_no_time_is_refused(worker):
    answer = good_answer(worker)
    stage = stages.by_name()[worker.participant.stage]
    times = [
        name
        for name, field in stage.answer().fields.items()
        if isinstance(field, stages.Milliseconds)
    ]
    for number in NO_TIME:
        for field in times:
            good = {name: value for name, value in answer.items() if name != field}
            body = f'{json.dumps(good)[:-1]}, "{field}": {number}}}'
            assert_nothing_changes(lambda body=body: raw(worker, body), 400, "invalid", field)


def test_a_body_of_another_type_is_refused(worker):
    for content_type in OTHER_TYPES:
        assert_nothing_changes(
            lambda content_type=content_type: raw(worker, "position=1", content_type),
            415,
            "unsupported_media_type",
        )


def test_a_huge_body_is_refused_before_it_is_read(worker):
    # The last one is larger than what Django itself would read.
    for size in (20_000, 1_100_000, 3_000_000):
        body = '{"position": 1, "label": "' + "x" * size + '"}'
        for call in ("answers", "exposures"):
            assert_nothing_changes(
                lambda body=body, call=call: raw(worker, body, call=call), 413, "too_large"
            )


def test_a_wrong_method_is_refused(worker):
    address = f"/api/sessions/{worker.token}/"
    calls = [(address + call, method) for call in ("answers/", "exposures/") for method in
             ("GET", "PUT", "PATCH", "DELETE")]  # fmt: skip
    calls += [(address, method) for method in ("POST", "PUT", "PATCH", "DELETE")]
    for path, method in calls:
        assert_nothing_changes(
            lambda path=path, method=method: worker.client.generic(method, path),
            405,
            "method_not_allowed",
        )


FIELD_OF = {"consent": "agree", "memory": "order", "teaching": "label", "evaluation": "label"}
FIELDS = {"agree": True, "order": ["umbrella", "key"], "label": "wild"}


def test_an_answer_for_another_stage_is_refused(worker):
    needed = FIELD_OF[worker.task()["kind"]]
    position = worker.task()["position"]
    for field, value in FIELDS.items():
        body = {"position": position, field: value}
        if field != needed:
            assert_nothing_changes(lambda body=body: worker.answer(**body), 400, "invalid", needed)


NO_ANSWER = [
    *(None, {}, [[]], "maybe", 7, [None], ["\x00"], "\x00", "x" * 61, ["x" * 61]),
    *(["a"] * 21, "\ud800"),
]


def test_an_answer_of_the_wrong_kind_is_refused(worker):
    task = worker.task()
    field = FIELD_OF[task["kind"]]
    for value in NO_ANSWER:
        body = {"position": task["position"], field: value}
        assert_nothing_changes(lambda body=body: worker.answer(**body), 400, "invalid", field)


def test_a_position_that_is_still_to_come_is_refused(worker):
    body = good_answer(worker)
    for ahead in (1, 2, 50):
        later = body | {"position": body["position"] + ahead}
        assert_nothing_changes(lambda later=later: worker.answer(**later), 409, "not_current")


def test_another_answer_to_an_answered_position_is_refused(study):
    worker = Worker(study)
    given = []
    state = worker.get().json()
    while state["task"]["kind"] != "done":
        if state["task"]["kind"] == "memory":
            worker.expose(state["task"]["position"])
        body = {"position": state["task"]["position"], **worker.obvious(state)}
        given.append(body)
        state = worker.answer(**body).json()
    other_class = {"wild": "domestic", "domestic": "wild"}
    for body in given:
        if "label" in body:
            other = body | {"label": other_class[body["label"]]}
        else:
            other = body | ({"agree": False} if "agree" in body else {"order": body["order"][::-1]})
        message = assert_nothing_changes(
            lambda other=other: worker.answer(**other), 409, "already_answered"
        )
        assert "stands" in message


def test_an_unknown_class_is_refused_with_the_names_of_the_classes(study):
    worker = Worker(study)
    for stage in ("teaching", "evaluation"):
        position = worker.go_to(stage)["position"]
        for label in ("Wild", "cat", "+1", "1", "-1"):
            reply = worker.answer(position=position, label=label)
            assert_refused(reply, 400, "invalid", "label")
            [why] = reply.json()["error"]["fields"]["label"]
            assert "'wild'" in why
            assert "'domestic'" in why


def test_an_order_that_is_no_permutation_of_the_rounds_images_is_refused(study):
    worker = Worker(study)
    position = worker.go_to("memory")["position"]
    worker.expose(position)
    first, second = worker.orders[position]
    foreign = "umbrella" if "umbrella" not in (first, second) else "key"
    for order in ([], [first], [first, first], [first, foreign], [first, second, first],
                  [first, second, foreign], [first, "no such picture"]):  # fmt: skip
        reply = assert_nothing_changes(
            lambda order=order: worker.answer(position=position, order=order),
            400, "invalid", "order",
        )  # fmt: skip
        assert "Correct the fields" in reply


def test_a_memory_answer_before_the_display_is_refused(study):
    worker = Worker(study)
    task = worker.go_to("memory")
    body = {"position": task["position"], "order": [image["id"] for image in task["images"]]}
    message = assert_nothing_changes(lambda: worker.answer(**body), 409, "not_shown")
    assert "Start their display" in message


def test_a_display_can_be_started_for_the_current_memory_round_only(worker):
    task = worker.task()
    wrong = {1, task["position"] - 1, task["position"] + 1}
    if task["kind"] != "memory":
        wrong.add(task["position"])
    for position in wrong - {0}:
        assert_nothing_changes(
            lambda position=position: worker.expose(position), 409, "not_current"
        )


def test_the_image_cannot_be_chosen_by_the_client(study):
    """The image is the server's: naming another one changes nothing about what is answered."""
    worker = Worker(study)
    task = worker.go_to("teaching")
    shown = worker.participant.teachingsteps.get(position=task["position"]).example
    other = study.dataset.examples.exclude(pk=shown.pk).filter(label=1 - shown.label).first()
    reply = worker.answer(
        position=task["position"],
        label="wild",
        image=other.key,
        example=other.pk,
        example_id=other.pk,
    )
    step = worker.participant.teachingsteps.get(position=task["position"])
    assert step.example == shown
    truth = study.dataset.class_names[shown.label]
    assert reply.json()["feedback"]["label"] == truth
    assert step.is_correct == (truth == "wild")


def test_unknown_tokens_get_404(study):
    client = Client()
    for token in ("nobody", "x" * 2000, "%00", "a%00b", "%ed%a0%80", "..%2f", "'--", "日本"):
        for send in (
            lambda token=token: client.get(f"/api/sessions/{token}/"),
            lambda token=token: client.post(f"/api/sessions/{token}/answers/", {}, JSON),
            lambda token=token: client.post(f"/api/sessions/{token}/exposures/", {}, JSON),
        ):
            reply = send()
            assert reply.status_code == 404, token
        assert client.get(f"/w/{token}/").status_code == 404
        assert client.get(f"/w/{token}/images/umbrella").status_code == 404


def test_an_unknown_token_is_told_so_in_the_one_form_of_errors(study):
    assert_nothing_changes(lambda: Client().get("/api/sessions/nobody/"), 404, "not_found")


def test_an_expired_session_takes_nothing_more(worker):
    body = good_answer(worker)
    long_ago = timezone.now() - timedelta(hours=25)
    Participant.objects.with_token(worker.token).update(last_seen_at=long_ago)
    for send in (
        worker.get,
        lambda: worker.answer(**body),
        lambda: worker.expose(body["position"]),
    ):
        message = assert_nothing_changes(send, 410, "session_over")
        assert message


def test_a_finished_session_takes_nothing_more(study):
    worker = Worker(study)
    worker.go_to("done")
    position = worker.participant.position
    for send in (
        lambda: worker.answer(position=position, label="wild"),
        lambda: worker.answer(position=position + 5, label="wild"),
        lambda: worker.expose(position),
        lambda: worker.expose(2),
    ):
        assert_nothing_changes(send, 410, "session_over")
    assert worker.task()["kind"] == "done"


def test_a_declined_session_takes_nothing_more_and_keeps_no_answers(study):
    worker = Worker(study)
    reply = worker.answer(position=1, agree=False)
    assert reply.json()["task"] == {
        "kind": "done", "outcome": "declined", "keeps_answers": False, "score": None, "score_follows": False,
        "comparison": None, "bonus": None, "completion_code": None, "return_url": None, "submission": None,
    }  # fmt: skip
    assert worker.answer(position=1, agree=False).json() == reply.json()
    assert_nothing_changes(lambda: worker.answer(position=1, agree=True), 409, "already_answered")
    assert_nothing_changes(lambda: worker.answer(position=2, agree=True), 410, "session_over")
    participant = worker.participant
    assert not participant.memoryrounds.exists()
    assert not participant.teachingsteps.exists()
    assert participant.consented_at is None


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_a_study_that_is_not_open_takes_nobody(study, state):
    Study.objects.update(state=state)
    message = assert_nothing_changes(lambda: join(study), 403, "study_not_open")
    assert "not open" in message


def join(study: Study, body="{}", content_type=JSON, **parameters):
    return Client().post(f"/api/studies/{study.slug}/sessions/", parameters or body, content_type)


def test_a_full_study_takes_nobody_but_those_who_are_in_it(study):
    Study.objects.update(max_participants=1)
    first = join(study, PROLIFIC_PID="one")
    message = assert_nothing_changes(lambda: join(study, PROLIFIC_PID="two"), 403, "study_full")
    assert "taken" in message
    again = join(study, PROLIFIC_PID="one")
    assert (again.status_code, again.json()) == (200, first.json())


def test_a_place_becomes_free_when_its_worker_declines_or_expires(study):
    Study.objects.update(max_participants=1)
    first = Worker(study)
    assert join(study).status_code == 403
    first.answer(position=1, agree=False)
    second = Worker(study)
    assert join(study).status_code == 403
    long_ago = timezone.now() - timedelta(hours=25)
    Participant.objects.with_token(second.token).update(last_seen_at=long_ago)
    assert join(study).status_code == 201


@pytest.mark.parametrize(
    "parameters",
    [
        {"workerId": "A1", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"},
        {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {"assignmentId": "3C4D"},
    ],
)
def test_a_preview_starts_no_session(study, parameters):
    message = assert_nothing_changes(lambda: join(study, **parameters), 403, "preview")
    assert "Accept the task" in message


@pytest.mark.parametrize(
    "value", [None, [], {}, True, "x" * 121, "\x00", "a\x00b", "\ud800"], ids=ascii
)
def test_a_recruitment_parameter_that_is_no_text_is_refused(study, value):
    for name in ("PROLIFIC_PID", "STUDY_ID", "workerId", "hitId"):
        assert_nothing_changes(lambda name=name: join(study, **{name: value}), 400, "invalid", name)


@pytest.mark.parametrize(
    "number", ["1e999999", "-1e999999", "1.0", "1e3", "12345678901234567890.5"]
)
@pytest.mark.parametrize("name", ["PROLIFIC_PID", "SESSION_ID", "workerId", "assignmentId"])
def test_an_id_that_is_a_float_is_refused(study, name, number):
    def ask():
        return join(study, body=f'{{"{name}": {number}}}')

    assert_nothing_changes(ask, 400, "invalid", name)


def test_an_id_that_is_an_integer_is_kept_digit_by_digit(study):
    number = 123456789012345678901234567890
    assert join(study, body=f'{{"PROLIFIC_PID": {number}}}').status_code == 201
    assert Participant.objects.get(study=study).external_id == str(number)


@pytest.mark.parametrize("body", ["[]", "null", "7", "{", "[" * 8000])
def test_joining_with_nonsense_is_refused(study, body):
    before = database_snapshot()
    reply = join(study, body=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "invalid"
    assert database_snapshot() == before


def test_joining_an_unknown_study_gets_404(study):
    reply = Client().post("/api/studies/no-such-study/sessions/", {}, JSON)
    assert_refused(reply, 404, "not_found")


def test_too_many_joins_from_one_place_are_told_to_wait(study):
    client = Client()
    for _ in range(240):
        client.post("/api/studies/none/sessions/", {}, JSON)
    reply = client.post(f"/api/studies/{study.slug}/sessions/", {}, JSON)
    assert_refused(reply, 429, "throttled")
    assert int(reply["Retry-After"]) > 0


@pytest.mark.parametrize(
    "path", ["/s/{}/extra/", "/x/s/{}/", "/s/{}x/", "/s/{}/../", "/w/{}/", "/s/", "/api/", "/api/studies/{}/"]
)  # fmt: skip
def test_addresses_are_anchored_at_both_ends(study, path):
    assert Client().get(path.format(study.slug)).status_code == 404
