"""Statements that are built once write what saving a model writes, and keep the database's rules."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, models, transaction
from django.db.models import Model
from django.test.utils import isolate_apps
from django.utils import timezone

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import rows
from studies.models import Example, LabelTask, Participant, Task
from teaching.models import TeachingStep
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db

TASKS = [TeachingStep, EvaluationItem, MemoryRound]


@pytest.fixture(scope="module")
def worker(make_once: Any) -> Worker:
    return make_once(finished_worker)


def finished_worker() -> Worker:
    worker = Worker(make_study())
    worker.go_to("done")
    return worker


def test_a_session_writes_its_tasks_in_no_other_way(monkeypatch):
    def refuse(row: Task, *args: Any, **options: Any) -> None:
        pytest.fail(f"{row!r} was saved by its model.")

    monkeypatch.setattr(Task, "save", refuse)
    worker = Worker(make_study())
    position = worker.go_to("memory")["position"]
    worker.expose(position)
    # A disturbed display is played again, in a row of its own.
    worker.post("displays", {"position": position, "is_interrupted": True})
    worker.go_to("done")
    assert sum(model.objects.filter(participant=worker.participant).count() for model in TASKS) > 9


def insert_alike(row: Task) -> None:
    own = row.position, row.created_at
    row.position, row.created_at = 0, timezone.now()
    rows.insert_alike(row, ("position", "created_at"), [own])


@pytest.mark.parametrize("write", [rows.insert, insert_alike])
@pytest.mark.parametrize("model", TASKS)
def test_an_inserted_row_is_the_one_that_saving_writes(
    worker: Worker, model: type[Task], write: Callable[[Task], None]
) -> None:
    row = model._default_manager.filter(participant=worker.participant).latest("position")
    stored = model._default_manager.filter(participant=worker.participant, position=row.position)
    saved = stored.values().get()
    stored.delete()
    row.pk = None
    write(row)
    assert stored.values().get() | {"id": saved["id"]} == saved


def model_with(**defaults: Any) -> type[Model]:
    """A model of one column that has these."""

    class Meta:
        app_label = "quiz"

    members = {"column": models.IntegerField(**defaults), "Meta": Meta, "__module__": __name__}
    with isolate_apps("tests.quiz"):
        return type("Made", (Model,), members)


def test_python_s_default_is_written_beside_one_of_the_database() -> None:
    written = []

    def note(execute: Any, sql: str, values: Any, many: bool, context: Any) -> None:
        written.append((sql, values))

    with connection.execute_wrapper(note):
        rows.insert(model_with(default=1, db_default=2)())
    assert written == [('INSERT INTO "quiz_made" ("column") VALUES (%s)', [1])]


def test_a_default_that_only_the_database_knows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"quiz.Made.column has a db_default alone"):
        rows.insert(model_with(db_default=2)())


@pytest.mark.parametrize("model", [TeachingStep, EvaluationItem])
def test_changed_columns_are_those_that_saving_writes(
    worker: Worker, model: type[LabelTask]
) -> None:
    row = model._default_manager.filter(participant=worker.participant).latest("position")
    row.answer, row.is_correct, row.response_ms, row.digest = 1, None, 12.5, "f" * 64
    rows.save(row, model.ANSWER_FIELDS)
    written = model._default_manager.get(pk=row.pk)
    row.save(update_fields=model.ANSWER_FIELDS)
    saved = model._default_manager.get(pk=row.pk)
    assert vars(written) | {"_state": None} == vars(saved) | {"_state": None}
    assert (written.answer, written.response_ms) == (1, 12.5)


def test_only_rows_at_which_everything_holds_are_changed(worker: Worker) -> None:
    person = worker.participant
    here = {"participant": person.pk, "position": person.position - 1}
    assert rows.change(EvaluationItem, {"response_ms": 7.0}, here) == 1
    elsewhere = here | {"position": 10_000}
    assert rows.change(EvaluationItem, {"response_ms": 8.0}, elsewhere) == 0
    assert set(
        EvaluationItem.objects.filter(response_ms__in=(7.0, 8.0)).values_list("position")
    ) == {(person.position - 1,)}


def test_a_row_that_is_gone_is_not_written_in_silence(worker: Worker) -> None:
    row = EvaluationItem.objects.filter(participant=worker.participant).latest("position")
    EvaluationItem.objects.filter(pk=row.pk).delete()
    with pytest.raises(DatabaseError, match=f"no EvaluationItem {row.pk}"):
        rows.save(row, EvaluationItem.ANSWER_FIELDS)


def test_the_rules_of_the_database_hold(worker: Worker) -> None:
    row = EvaluationItem.objects.filter(participant=worker.participant).latest("position")
    row.answer = -5
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.save(row, EvaluationItem.ANSWER_FIELDS)
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.insert(row)


@pytest.mark.parametrize("model", [*TASKS, Participant, Example])
def test_what_is_read_is_what_the_models_read(worker: Worker, model: type[Model]) -> None:
    fields = model._meta.concrete_fields
    names = tuple(field.attname for field in fields)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    statement = f'SELECT {columns}, 7 FROM "{model._meta.db_table}" ORDER BY id'
    found = rows.read(model, names, statement, [])
    expected = list(model._default_manager.order_by("pk"))
    assert expected
    assert [rest for _, rest in found] == [(7,)] * len(expected)
    for (row, _), saved in zip(found, expected, strict=True):
        assert vars(row) | {"_state": None} == vars(saved) | {"_state": None}
        assert not row._state.adding


def test_columns_that_are_not_read_are_read_when_asked_for(worker: Worker) -> None:
    statement = "SELECT id, step FROM teaching_teachingstep WHERE participant_id = %s"
    found = rows.read(TeachingStep, ("id", "step"), statement, [worker.participant.pk])
    row, rest = found[0]
    assert rest == ()
    assert row.get_deferred_fields() >= {"position", "probabilities"}
    assert row.probabilities == TeachingStep.objects.get(pk=row.pk).probabilities


def test_columns_in_another_order_than_the_model_s_are_refused() -> None:
    with pytest.raises(ValueError, match="another order"):
        rows.read(TeachingStep, ("step", "id"), "SELECT step, id FROM teaching_teachingstep", [])


def test_a_document_that_is_a_text_stays_one(worker: Worker) -> None:
    row = TeachingStep.objects.filter(participant=worker.participant).latest("position")
    row.probabilities = "a text"
    rows.save(row, ["probabilities"])
    assert TeachingStep.objects.get(pk=row.pk).probabilities == "a text"
