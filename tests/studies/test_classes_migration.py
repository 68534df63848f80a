"""Studies from the time of two columns and of labels −1 and +1 go on, and lose nothing."""

import csv
import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps as django_apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from analysis.exports.files import Selection, table_chunks
from evaluation.models import EvaluationItem
from studies.models import Dataset, Example, ImageClass, Participant, Study
from teaching.models import TeachingStep
from teaching.services import replay
from tests.own_database import migrate, own_database
from tests.studies.old_software import BEFORE, INSIGHT, ITEMS, STEPS, OldSoftware
from tests.worker import Worker

Numbers = list[tuple[Any, ...]]
STEP_FIELDS = ("participant", "position", "answer", "is_correct", "p", "f", "score", "diversity")
ITEM_FIELDS = ("participant", "position", "answer", "is_correct", "instructed_label")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.faults)])
def database(
    request: pytest.FixtureRequest, tmp_path: Any, django_db_blocker: Any
) -> Iterator[None]:
    is_postgres = request.param == "postgres"
    url = request.getfixturevalue("postgres").create_database("classes") if is_postgres else ""
    with own_database(tmp_path, url, django_db_blocker):
        yield


def migrate_back() -> Any:
    executor = MigrationExecutor(connection)
    return executor.migrate(BEFORE).apps


def numbers_in(apps: Any) -> tuple[Numbers, Numbers]:
    steps = apps.get_model("teaching.TeachingStep").objects.order_by("participant", "position")
    items = apps.get_model("evaluation.EvaluationItem").objects.order_by("participant", "position")
    return list(steps.values_list(*STEP_FIELDS)), list(items.values_list(*ITEM_FIELDS))


def exported(table: str) -> list[dict[str, str]]:
    text = b"".join(table_chunks(Selection(Study.objects.get()), table, "csv")).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def same(written: Any, read: str) -> bool:
    return read == ("" if written is None else str(written))


def test_old_studies_go_on_replay_and_export_the_same_numbers(database):
    old_apps = migrate(*BEFORE)
    old = OldSoftware(old_apps)
    people = [old.taught(seed=1), old.tested(seed=2)]
    steps, items = numbers_in(old_apps)
    migrate()

    [dataset] = Dataset.objects.all()
    assert dataset.class_names == ["wild", "domestic"]
    labels = Example.objects.filter(split="teaching").order_by("pool_index")
    signs = [2 * label - 1 for label in labels.values_list("label", flat=True)]
    assert signs == old.labels
    assert dataset.insight["map"]["label"] == [0, 1]
    assert [dataset.insight[part][0]["label"] for part in ("hardest", "ambiguous")] == [0, 1]
    for step in TeachingStep.objects.all():
        assert step.probabilities == [1 - step.p, step.p]
        assert step.is_correct == (
            None if step.answer is None else step.answer == step.example.label
        )

    for written, row in zip(steps, exported("teaching"), strict=True):
        fields = ("answer", "p", "f", "score", "diversity")
        assert all(same(written[STEP_FIELDS.index(name)], row[name]) for name in fields)
    for written, row in zip(items, exported("evaluation"), strict=True):
        fields = ("answer", "instructed_label")
        assert all(same(written[ITEM_FIELDS.index(name)], row[name]) for name in fields)
        assert row["true_class"] == {"-1": "wild", "1": "domestic"}[row["label"]]

    for person, classes in zip(people, (["wild", "domestic"], ["domestic", "wild"]), strict=True):
        worker = Worker.resuming(person.token)
        assert worker.get().json()["session"]["classes"] == classes
        worker.go_to("done")
        participant = Participant.objects.with_study().get(pk=person.pk)
        assert len(replay(participant)) == STEPS
        assert all(step.matches for step in replay(participant))
        assert participant.teaching_gain is not None
    assert EvaluationItem.objects.filter(answer=None).count() == 0
    assert len(exported("evaluation")) == 2 * (ITEMS + 1)

    new_steps, new_items = numbers_in(migrate_back())
    answered = [row for row in steps if row[2] is not None]
    assert set(answered) <= set(new_steps)
    assert {row for row in items if row[2] is not None} <= set(new_items)
    assert {row[2] for row in (*new_steps, *new_items)} <= {-1, 1}
    back = old_apps.get_model("studies.Dataset").objects.get()
    assert (back.negative_class, back.positive_class, back.insight) == ("wild", "domestic", INSIGHT)
    assert {row.label for row in old_apps.get_model("studies.Example").objects.all()} == {-1, 1}


@pytest.mark.django_db
def test_more_than_two_classes_cannot_go_back():
    dataset = Dataset.objects.create(name="Moths", learning_rate=0.1)
    ImageClass.objects.bulk_create(ImageClass.numbered(dataset, ("a", "b", "c")))
    migration = import_module("studies.migrations.0010_classes")
    with pytest.raises(ValueError, match="“Moths” has 3 classes"):
        migration.name_columns(django_apps, connection.schema_editor())
