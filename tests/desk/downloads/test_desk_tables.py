"""Flags, exclusions and payments as tables of an export: with those who were excluded, and why."""

import json

import pytest

from analysis.exports.files import Selection, table_chunks
from desk.bonus import record_payments, undo_payments
from desk.models import Payment
from desk.quality import decide
from studies.models import Study
from tests.builders import make_dataset, make_study
from tests.desk.quality.odd_sessions import add, take_part

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    dataset = make_dataset(teaching=12, evaluation=60)
    return make_study(dataset=dataset, attention_checks=1, reward=2, bonus_share=1)


def rows_of(study: Study, table: str, **options: bool) -> list[dict]:
    text = b"".join(table_chunks(Selection(study, **options), table, "jsonl")).decode()
    return [json.loads(line) for line in text.splitlines()]


def test_flags_have_a_row_each_with_strength_and_numbers(study, admin_user):
    person, pilot = add(study), add(study, purpose="pilot")
    add(study)
    for odd in (person, pilot):
        take_part(odd)
    decide(person, excludes=True, reason="One key.", actor=admin_user)
    rows = rows_of(study, "flags")
    assert {row["participant"] for row in rows} == {person.code}
    assert {row["is_excluded"] for row in rows} == {1}
    found = {row["flag"]: (row["strength"], row["numbers"]) for row in rows}
    assert list(found) == ["run", "absence", "exposure", "checks"]
    assert found["checks"] == ("look at", "1 of 1 failed.")
    assert found["exposure"][1].endswith("shown for 4.60 s instead of 3.00 s.")
    everyone = {row["participant"] for row in rows_of(study, "flags", everyone=True)}
    assert everyone == {person.code, pilot.code}


def test_exclusions_have_every_decision_with_reason_name_and_time(study, admin_user):
    person = add(study)
    decide(person, excludes=True, reason="=One key.", actor=admin_user)
    decide(person, excludes=False, reason="It was another.", actor=admin_user)
    decide(person, excludes=True, reason="It was not.", actor=admin_user)
    rows = rows_of(study, "exclusions")
    assert [(row["decision"], row["reason"], row["decided_by"]) for row in rows] == [
        ("excluded", "=One key.", "admin"),
        ("included again", "It was another.", "admin"),
        ("excluded", "It was not.", "admin"),
    ]
    times = [row["decided_at"] for row in rows]
    assert times == sorted(times)
    assert all((row["participant"], row["is_excluded"]) == (person.code, 1) for row in rows)


def test_payments_have_what_was_paid_what_was_undone_and_what_is_due(study, admin_user):
    paid, undone, due = (add(study) for _ in range(3))
    for person in (undone, paid):
        record_payments(study, [person.code], amount=study.reward, actor=admin_user)
    undo_payments(study, Payment.objects.get(participant=undone).batch, actor=admin_user)
    decide(paid, excludes=True, reason="Found out later.", actor=admin_user)
    found = [
        (row["participant"], row["state"], row["amount"], row["currency"], row["recorded_by"])
        for row in rows_of(study, "payments")
    ]
    assert found == [
        (paid.code, "paid", 2.0, "GBP", "admin"),
        (undone.code, "undone", 2.0, "GBP", "admin"),
        (undone.code, "due", 2.0, "GBP", ""),
        (due.code, "due", 2.0, "GBP", ""),
    ]
    Study.objects.update(reward=None)
    assert {row["state"] for row in rows_of(study, "payments")} == {"paid", "undone"}
