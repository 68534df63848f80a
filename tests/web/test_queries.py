"""How many statements a step and a list cost: pinned, and the same however many rows there are."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studies.models import Participant
from tests.builders import make_dataset, make_study
from tests.worker import Worker


def statements(action) -> list[str]:
    """Everything that was sent to the database, BEGIN and COMMIT too."""
    with CaptureQueriesContext(connection) as captured:
        action()
    return [query["sql"] for query in captured.captured_queries]


def writes(sent: list[str]) -> list[str]:
    return [sql for sql in sent if sql.split()[0] in {"INSERT", "UPDATE", "DELETE"}]


@pytest.mark.django_db(transaction=True)
def test_a_teaching_answer_costs_at_most_nine_statements():
    worker = Worker(make_study())
    worker.go_to("teaching")
    counts = []
    for _ in range(5):
        state = worker.get().json()
        body = {"position": state["task"]["position"], **worker.obvious(state)}
        sent = statements(lambda body=body: worker.answer(**body))
        assert sent.count("COMMIT") == 1
        counts.append(len(sent))
        assert len(writes(sent)) == 3
    assert max(counts) <= 9
    assert max(counts) - min(counts) <= 1, "the cost grows with the history"


@pytest.mark.django_db(transaction=True)
def test_every_kind_of_answer_has_a_small_fixed_cost():
    worker = Worker(make_study())
    state = worker.get().json()
    most: dict[str, int] = {}
    while state["task"]["kind"] != "done":
        kind = state["task"]["kind"]
        if kind == "memory":
            worker.expose(state["task"]["position"])
        body = {"position": state["task"]["position"], **worker.obvious(state)}
        replies: list = []
        sent = statements(lambda body=body, replies=replies: replies.append(worker.answer(**body)))
        most[kind] = max(most.get(kind, 0), len(sent))
        state = replies[0].json()
    # The end of a stage seals the results: one read and one update more.
    assert most["consent"] <= 11
    # The last round assigns the arm and chooses the first image, from a data set that the process has not read yet.
    assert most["memory"] <= 18
    # The last step draws the evaluation images too, reads its own feedback again for the page that shows the first of
    # them, and reads examples that the process has not met.
    assert most["teaching"] <= 19
    assert most["evaluation"] <= 13


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("stage", "most"), [("consent", 2), ("memory", 3), ("teaching", 3), ("evaluation", 4), ("done", 2)]
)  # fmt: skip
def test_reading_the_state_is_a_few_reads_and_no_write(stage, most):
    worker = Worker(make_study())
    worker.go_to(stage)
    sent = statements(worker.get)
    assert len(sent) <= most
    assert writes(sent) == []


@pytest.mark.django_db
def test_last_seen_is_all_that_a_reload_ever_writes():
    worker = Worker(make_study())
    worker.go_to("teaching")
    participant = worker.participant
    Participant.objects.update(last_seen_at=participant.last_seen_at - timedelta(minutes=1))
    [write] = writes(statements(worker.get))
    assert write.startswith('UPDATE "studies_participant" SET "last_seen_at" =')
    assert write.count("=") == 2


@pytest.mark.django_db
def test_an_image_costs_few_reads():
    worker = Worker(make_study())
    image = worker.go_to("evaluation")["image"]["url"]
    assert len(statements(lambda: worker.client.get(image))) <= 4


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["studies/study/", "studies/dataset/", "studies/participant/"]
)  # fmt: skip
def test_admin_lists_cost_the_same_however_many_rows_there_are(researcher, path):
    dataset = make_dataset(teaching=12, evaluation=6)

    def add_rows() -> None:
        for _ in range(3):
            study = make_study(dataset=dataset)
            Worker(study)
            Worker(study).go_to("memory")
        make_dataset(teaching=12, evaluation=6)

    def cost() -> int:
        replies = []
        sent = statements(lambda: replies.append(researcher.get(f"/admin/{path}")))
        assert replies[0].status_code == 200
        return len(sent)

    add_rows()
    cost()
    few = cost()
    add_rows()
    add_rows()
    assert cost() == few <= 10


@pytest.mark.django_db
def test_a_participants_history_costs_the_same_however_long_it_is(researcher):
    def cost(stage: str) -> int:
        worker = Worker(make_study(arms="rt"))
        worker.go_to(stage)
        page = f"/admin/studies/participant/{worker.participant.pk}/change/"
        researcher.get(page)
        return len(statements(lambda: researcher.get(page)))

    # What is odd about a session that has ended is worked out once.
    assert cost("done") <= cost("teaching") == cost("evaluation") <= 21


@pytest.mark.django_db
def test_the_public_pages_cost_few_reads():
    study = make_study(max_participants=5)
    client = Client()
    assert len(statements(lambda: client.get("/"))) == 0
    assert len(statements(lambda: client.get(f"/s/{study.slug}/"))) <= 2
    participant = Worker(study).participant
    assert len(statements(lambda: client.get(participant.get_absolute_url()))) == 1
