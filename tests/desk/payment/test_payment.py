"""The bonus: the rule by hand-worked examples, the recruiters' files, and a record that pays nobody twice."""

import csv
import io
import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from desk.bonus import (
    bonus_of,
    bonus_plan,
    bonus_share_of,
    count_payments,
    explain,
    find_cutoff,
    record_payments,
    undo_payments,
)
from desk.models import Payment
from studies.models import AuditEntry, Participant, Study, StudyVersion
from tests.builders import make_dataset, make_study
from tests.people import browser_of, make_researcher, share, study_address, text_of

# The rule


def ninety_eight() -> list[float]:
    """19 above the cut-off, three on it, the rest below."""
    return [0.9] * 19 + [0.84] * 3 + [0.7] * 76


@pytest.mark.parametrize(
    ("accuracies", "share", "places", "accuracy", "paid", "sentence"),
    [
        (ninety_eight(), "0.2", 20, 0.84, 22,
         "20 % of 98 people is 19.6, rounded up to 20; 3 people are tied for the last place at 84 %, so 22 are paid."),
        ([0.9, 0.8, 0.7, 0.6, 0.5], "0.2", 1, 0.9, 1,
         "20 % of 5 people is 1; the cut-off is 90 %, and 1 is paid."),
        ([0.9, 0.9, 0.7, 0.6, 0.5], "0.2", 1, 0.9, 2,
         "20 % of 5 people is 1; 2 people are tied for the last place at 90 %, so 2 are paid."),
        ([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "0.2", 2, 0.9, 2,
         "20 % of 6 people is 1.2, rounded up to 2; the cut-off is 90 %, and 2 are paid."),
        ([0.8] * 10, "0.2", 2, 0.8, 10,
         "20 % of 10 people is 2; all of them are tied for the last place at 80 %, so 10 are paid."),
        ([0.61], "0.2", 1, 0.61, 1,
         "20 % of 1 person is 0.2, rounded up to 1; the cut-off is 61 %, and 1 is paid."),
        ([], "0.2", 0, None, 0, "Nobody has finished yet, so nobody gets a bonus."),
        ([0.9, 0.8], "0", 0, None, 0, "0 % of 2 people is 0, so nobody gets a bonus."),
        ([0.9, 0.8, 5 / 6], "1", 3, 0.8, 3,
         "100 % of 3 people is 3; the cut-off is 80 %, and 3 are paid."),
        ([5 / 6, 5 / 6, 0.5, 0.5], "0.125", 1, 5 / 6, 2,
         "12.5 % of 4 people is 0.5, rounded up to 1; 2 people are tied for the last place at 83.3 %, so 2 are paid."),
    ],
)  # fmt: skip
def test_the_rule_by_hand(accuracies, share, places, accuracy, paid, sentence):
    found = find_cutoff(accuracies, Decimal(share))
    assert (found.places, found.accuracy, found.paid) == (places, accuracy, paid)
    assert explain(found).replace("\N{NO-BREAK SPACE}", " ") == sentence


def test_seven_percent_of_a_hundred_is_seven_and_not_a_bit_more():
    """As floating-point numbers, 0.07 · 100 is 7.000000000000001, which would round up to eight."""
    assert 0.07 * 100 > 7
    assert (
        find_cutoff(
            [place / 100 for place in range(100)], bonus_share_of(Study(bonus_share=0.07))
        ).paid
        == 7
    )


people_and_share = st.tuples(
    st.lists(st.integers(0, 20).map(lambda right: right / 20), max_size=40),
    st.integers(0, 100).map(lambda percent: Decimal(percent) / 100),
)


@given(people_and_share)
def test_somebody_is_paid_exactly_if_fewer_than_the_share_did_better(drawn):
    accuracies, share = drawn
    found = find_cutoff(accuracies, share)
    for accuracy in accuracies:
        better = sum(other > accuracy for other in accuracies)
        assert found.includes(accuracy) == (better < share * len(accuracies))
    assert found.paid == sum(map(found.includes, accuracies))
    assert explain(found)


# The people

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def dataset(make_once):
    return make_once(lambda: make_dataset(teaching=8, evaluation=6))


@pytest.fixture
def study(dataset) -> Study:
    study = make_study(dataset=dataset, arms="rt", reward=Decimal("2.50"), state="closed")
    return Study.objects.get(pk=study.pk)


def add(study: Study, accuracy: float | None, **fields) -> Participant:
    made = {"stage": "done", "evaluation_accuracy": accuracy} | fields
    return Participant.objects.create(study=study, version=StudyVersion.freeze(study), **made)


def prolific(study: Study, accuracy: float, name: str, **fields) -> Participant:
    return add(study, accuracy, recruiter="prolific", external_id=name, **fields)


def mturk(study: Study, accuracy: float, name: str, **fields) -> Participant:
    made = {"external_session": f"3{name}"} | fields
    return add(study, accuracy, recruiter="mturk", external_id=name, **made)


def test_only_live_people_who_finished_and_were_not_excluded_are_ranked(study):
    best = add(study, 0.6)
    add(study, 0.99, is_excluded=True)
    add(study, 0.99, purpose="pilot")
    add(study, 0.99, purpose="rehearsal")
    add(study, 0.99, stage="evaluation")
    add(study, 0.99, stage="withdrawn")
    add(study, None)
    others = [add(study, 0.5 - place / 100) for place in range(4)]
    plan = bonus_plan(study, [1])
    assert plan.cutoff.people == 1 + len(others)
    assert [person.code for person in plan.top] == [best.code]
    assert (plan.bonus, plan.total) == (Decimal("2.50"), Decimal("2.50"))


def test_equal_accuracies_tie_also_when_the_tests_had_different_lengths(study):
    add(study, 84 / 100)
    add(study, 21 / 25)
    for _ in range(8):
        add(study, 0.5)
    study.bonus_share = 0.1
    assert len(bonus_plan(study, [1]).top) == 2


def test_without_pay_there_is_no_bonus(study):
    for reward in (None, Decimal("0.00")):
        study.reward = reward
        assert bonus_of(study) is None
        assert bonus_plan(study, [1]).total is None


def test_who_took_another_test_is_ranked_apart_unless_somebody_decides_otherwise(researcher, study):
    study.bonus_share = 0.5
    study.save()
    first = [add(study, accuracy) for accuracy in (0.9, 0.8)]
    study.evaluation_size = 4
    study.save()
    second = [add(study, accuracy) for accuracy in (0.75, 0.5)]
    page = text_of(researcher, address(study))
    context = context_of(researcher, study)
    assert (context["plan"].cutoff.people, context["plan"].cutoff.places) == (2, 1)
    assert context["versions"].numbers == (2,)
    assert "version 1 and ranked separately: 2 people" in context["notes"]["other_versions"]
    assert [second[0].code in page, first[0].code in page] == [True, False]
    assert first[0].code in text_of(researcher, address(study, "?version=1"))
    pooled = text_of(researcher, address(study, "?version=all"))
    assert "Versions 1 and 2 are pooled by choice" in pooled
    assert [person.code in pooled for person in first + second] == [True, True, False, False]
    reply = researcher.get(address(study, "files/by-code.csv?version=all"))
    assert f"{study.slug}-bonus-by-code-pooled-versions-1-2.csv" in reply["Content-Disposition"]
    assert researcher.get(address(study, "?version=7")).status_code == 404


def test_recording_leads_back_to_the_same_versions(researcher, study):
    person = add(study, 0.9)
    study.evaluation_size = 4
    study.save()
    add(study, 0.8)
    fields = {"people": person.code, "amount": "2.50"}
    reply = researcher.post(address(study, "record/?version=1"), fields)
    assert reply.url == address(study, "?version=1")
    assert "paid_outside" not in context_of(researcher, study)["notes"]


# The files


def context_of(researcher: Client, study: Study, query: str = "") -> dict[str, Any]:
    """What the page shows, as values."""
    return researcher.get(address(study, query)).context_data


def address(study: Study, rest: str = "") -> str:
    return study_address(study, f"payment/{rest}")


def file_of(researcher: Client, study: Study, name: str) -> str:
    reply = researcher.get(address(study, f"files/{name}"))
    assert reply.status_code == 200
    assert "no-store" in reply["Cache-Control"]
    return b"".join(reply).decode()


@pytest.fixture
def everybody(study) -> dict[str, Participant]:
    """All of these are in the top."""
    study.bonus_share = 1
    study.save()
    return {
        "ann": prolific(study, 0.9, "5f1eann"),
        "bob": prolific(study, 0.8, "5f1ebob"),
        "mia": mturk(study, 0.7, "A1MIA"),
        "nobody": add(study, 0.6),
    }


def test_prolific_gets_its_bulk_bonus_lines_with_its_own_people_only(researcher, study, everybody):
    assert file_of(researcher, study, "prolific.txt") == "5f1eann,2.50\n5f1ebob,2.50\n"


def test_mechanical_turk_gets_its_own_form(researcher, study, everybody):
    rows = list(csv.DictReader(io.StringIO(file_of(researcher, study, "mturk.csv"))))
    (row,) = rows
    reason = row.pop("Reason")
    token = f"jedi-bonus-{everybody['mia'].code}"
    assert row == {
        "AssignmentId": "3A1MIA", "WorkerId": "A1MIA", "BonusAmount": "2.50", "UniqueRequestToken": token,
    }  # fmt: skip
    assert study.title in reason
    # Mechanical Turk takes no longer one, and refuses a bonus whose token it has seen.
    assert len(token) <= 64
    assert file_of(researcher, study, "mturk.csv?again=1").count(token) == 1


def test_people_without_a_recruiter_are_listed_by_code(researcher, study, everybody):
    text = file_of(researcher, study, "by-code.csv")
    assert list(csv.reader(io.StringIO(text))) == [
        ["participant", "bonus", "currency"],
        [everybody["nobody"].code, "2.50", "GBP"],
    ]
    page = text_of(researcher, address(study))
    assert everybody["nobody"].code in page
    # Ids are in the files, whose names say so; the page needs none.
    assert "5f1eann" not in page


def test_the_names_of_files_say_who_is_in_them(researcher, study, everybody):
    for name, shown in {
        "prolific.txt": f"{study.slug}-bonus-prolific-identifiable.txt",
        "mturk.csv": f"{study.slug}-bonus-mturk-identifiable.csv",
        "by-code.csv": f"{study.slug}-bonus-by-code.csv",
    }.items():
        reply = researcher.get(address(study, f"files/{name}"))
        assert reply["Content-Disposition"] == f'attachment; filename="{shown}"'
        assert AuditEntry.objects.filter(action="export", detail__contains=shown).exists()
    assert researcher.get(address(study, "files/paypal.csv")).status_code == 404


@pytest.mark.parametrize(
    "hostile", ["abc,500\nother", "abc,500", "=cmd()", "né", "a b", "@sum", 'a"b', "-1"]
)
def test_an_id_that_no_recruiter_issues_never_becomes_a_line(researcher, study, hostile):
    person = prolific(study, 0.9, hostile)
    assert file_of(researcher, study, "prolific.txt") == ""
    assert person.code in file_of(researcher, study, "by-code.csv")
    assert "invalid_ids" in context_of(researcher, study)["notes"]


def test_an_assignment_that_is_none_is_not_paid_by_file(researcher, study):
    person = mturk(study, 0.9, "A1", external_session="")
    assert file_of(researcher, study, "mturk.csv") == ""
    assert person.code in file_of(researcher, study, "by-code.csv")


def test_a_study_without_pay_has_no_file_and_says_what_to_do(researcher, study, everybody):
    Study.objects.update(reward=None)
    assert researcher.get(address(study, "files/prolific.txt")).status_code == 404
    assert "no_pay" in context_of(researcher, study)["notes"]
    assert 'name="left_out"' not in text_of(researcher, address(study))


# The record


def press(researcher: Client, study: Study, heading: str, **changes) -> str:
    """Opens the page, presses the button of one group, and gives the page after that."""
    page = text_of(researcher, address(study))
    section = page.partition(f'id="bonus-{heading}"')[2].partition("</section>")[0]
    fields = dict(re.findall(r'type="hidden" name="(people|amount)" value="([^"]*)"', section))
    reply = researcher.post(address(study, "record/"), fields | changes, follow=True)
    return reply.content.decode()


def test_recording_is_a_lasting_act_with_amount_actor_and_time(researcher, study, everybody):
    page = press(researcher, study, "prolific")
    assert "2 people recorded as paid." in page
    rows = Payment.objects.all()
    assert {row.participant.code for row in rows} == {
        everybody[name].code for name in ("ann", "bob")
    }
    assert {(row.amount, row.currency, row.recorded_by) for row in rows} == {
        (Decimal("2.50"), "GBP", "admin")
    }
    assert len({(row.batch, row.recorded_at) for row in rows}) == 1
    entry = AuditEntry.objects.get(action="pay")
    assert entry.detail == "Recorded as paid: 2 bonuses, GBP 5.00 in total."
    assert (entry.study, entry.actor_name) == (study, "admin")


def test_who_was_paid_is_in_no_further_file_unless_asked_for(researcher, study, everybody):
    press(researcher, study, "prolific")
    assert file_of(researcher, study, "prolific.txt") == ""
    assert file_of(researcher, study, "prolific.txt?again=1").count("\n") == 2
    prolific(study, 0.95, "5f1enew")
    assert file_of(researcher, study, "prolific.txt") == "5f1enew,2.50\n"


def test_pressing_twice_pays_once(researcher, study, everybody):
    page = text_of(researcher, address(study))
    (people,) = {
        match for match in re.findall(r'name="people" value="([^"]*)"', page) if " " in match
    }
    body = {"people": people, "amount": "2.50"}
    for _ in range(2):
        reply = researcher.post(address(study, "record/"), body, follow=True)
    assert "Nobody new was recorded" in reply.content.decode()
    assert Payment.objects.count() == 2
    assert AuditEntry.objects.filter(action="pay").count() == 1


def test_who_could_not_be_paid_is_ticked_and_stays_due(researcher, study, everybody):
    press(researcher, study, "prolific", left_out=[everybody["ann"].code])
    assert [row.participant for row in Payment.objects.all()] == [everybody["bob"]]
    assert file_of(researcher, study, "prolific.txt") == "5f1eann,2.50\n"


def test_taking_back_is_recorded_and_makes_the_people_due_again(
    researcher, study, everybody, admin_user
):
    press(researcher, study, "prolific")
    batch = Payment.objects.first().batch
    for words in ("Undone for 2 people.", "This had already been undone."):
        reply = researcher.post(address(study, "undo/"), {"batch": batch}, follow=True)
        assert words in reply.content.decode()
    assert Payment.objects.standing().count() == 0
    assert set(Payment.objects.values_list("undone_by", flat=True)) == {"admin"}
    assert AuditEntry.objects.filter(action="pay").count() == 2
    assert "undone" in text_of(researcher, address(study))
    assert file_of(researcher, study, "prolific.txt").count("\n") == 2
    press(researcher, study, "prolific")
    assert Payment.objects.standing().count() == 2
    assert Payment.objects.count() == 4


def test_the_database_itself_pays_nobody_twice(study, everybody):
    fields = {"participant": everybody["ann"], "amount": Decimal(1), "currency": "GBP"}
    Payment.objects.create(**fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        Payment.objects.create(**fields)


def test_people_of_another_study_and_strangers_to_the_rule_are_not_recorded(
    study, everybody, admin_user, dataset
):
    stranger = add(make_study(dataset=dataset, arms="rt"), 0.9)
    pilot, going = add(study, 0.9, purpose="pilot"), add(study, 0.9, stage="evaluation")
    codes = [person.code for person in (stranger, pilot, going)] + ["no-such"]
    assert record_payments(study, codes, amount=Decimal(1), actor=admin_user) == 0
    record_payments(study, [everybody["ann"].code], amount=Decimal(1), actor=admin_user)
    batch = Payment.objects.get().batch
    assert undo_payments(stranger.study, batch, actor=admin_user) == 0


def test_a_page_that_shows_an_old_pay_records_nothing(researcher, study, everybody):
    page = press(researcher, study, "prolific", amount="9.99")
    assert "has changed since you opened this page" in page
    assert not Payment.objects.exists()


def test_excluding_somebody_moves_the_cut_and_keeps_the_record(researcher, study, everybody):
    press(researcher, study, "prolific")
    Participant.objects.filter(pk=everybody["ann"].pk).update(is_excluded=True)
    context = context_of(researcher, study)
    assert context["notes"]["paid_outside"].endswith(": 1 person.")
    assert context["plan"].number_paid == 1
    assert Payment.objects.standing().count() == 2


def test_payments_are_counted_by_version_and_without_undone_ones(study, everybody, admin_user):
    first = [everybody[name].code for name in ("ann", "bob")]
    record_payments(study, first, amount=Decimal(1), actor=admin_user)
    study.evaluation_size = 4
    study.save()
    later = add(study, 0.9)
    record_payments(study, [later.code], amount=Decimal(1), actor=admin_user)
    assert [count_payments(study, numbers) for numbers in ([1], [2], [1, 2], [])] == [2, 1, 3, 0]
    assert bonus_plan(study, [1]).number_paid == 2
    batch = Payment.objects.get(participant=everybody["ann"]).batch
    undo_payments(study, batch, actor=admin_user)
    assert [count_payments(study, numbers) for numbers in ([1], [2], [1, 2])] == [0, 1, 1]
    assert bonus_plan(study, [1]).number_paid == 0
    assert count_payments(make_study(dataset=study.dataset, arms="rt"), [1, 2]) == 0


def test_the_page_warns_while_people_can_still_finish_and_of_a_foreign_currency(
    researcher, study, everybody
):
    assert set(context_of(researcher, study)["notes"]) == {"currency"}
    Study.objects.update(state="open", currency="USD")
    assert set(context_of(researcher, study)["notes"]) == {"not_closed"}


def test_the_page_explains_the_cut(researcher, study):
    for place in range(6):
        add(study, 0.5 + place / 20)
    page = text_of(researcher, address(study))
    assert "of 6 people is 1.2, rounded up to 2; the cut-off is 70" in page
    assert "GBP\N{NO-BREAK SPACE}5.00" in page


def test_an_empty_study_has_a_page(researcher, study):
    page = text_of(researcher, address(study))
    assert "<form method" not in page[page.index('class="people-page"') :]


# Who may


def test_readers_look_editors_pay_and_strangers_see_nothing(study, everybody, dataset):
    reader = browser_of(share(study, make_researcher("ada")))
    editor = browser_of(share(study, make_researcher("grace"), can_edit=True))
    page = reader.get(address(study))
    assert page.status_code == 200
    assert b"Record these as paid" not in page.content
    assert b"/payment/files/" not in page.content
    body = {"people": everybody["ann"].code, "amount": "2.50"}
    assert reader.get(address(study, "files/prolific.txt")).status_code == 403
    for call in ("record/", "undo/"):
        assert reader.post(address(study, call), body).status_code == 403
        assert editor.get(address(study, call)).status_code == 405
    assert not Payment.objects.exists()
    assert editor.get(address(study, "files/prolific.txt")).status_code == 200
    assert editor.post(address(study, "record/"), body).status_code == 302
    assert Payment.objects.get().recorded_by == "grace"
    others = make_study(dataset=dataset, arms="rt")
    assert editor.get(address(others)).status_code == 404
    assert editor.post(address(others, "record/"), body).status_code == 404


def test_more_people_ask_no_more_queries(researcher, study):
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert researcher.get(address(study)).status_code == 200
        return len(queries)

    for place in range(5):
        prolific(study, 0.5 + place / 10, f"5f{place}")
    few = count()
    for place in range(30):
        prolific(study, 0.9, f"6f{place}")
        mturk(study, 0.9, f"A{place}")
    assert count() == few
    # Session and user, the study with its data set, who may edit it, its versions, its people, who of them and of
    # these versions was paid, and the acts.
    assert few == 9
