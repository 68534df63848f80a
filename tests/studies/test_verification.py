"""Results, labels and participants: changes by SQL are found, and what the product does is no finding."""

from contextlib import suppress
from importlib import import_module
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from desk.preview import clear_trials, create_preview
from desk.privacy import purge_people
from desk.quality import decide
from evaluation.models import EvaluationItem
from studies import chain, stages
from studies.models import Example, Participant, Study
from studies.services import expire_sessions, reopen_session
from studies.verification import check_participant, check_roster
from studies.withdrawal import withdraw
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_participant, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db
# What the migration that began the chain left of a participant who was there before it.
EARLIER_COLUMNS = {"roster_number": None, "seal": "", "chain_head": ""}


@pytest.fixture(scope="module")
def finished(make_once) -> Participant:
    def make() -> Participant:
        study = make_study(dataset=make_dataset(teaching=12, evaluation=8), attention_checks=1)
        worker = Worker(study)
        worker.go_to("done")
        Worker(study).go_to("evaluation")
        return worker.participant

    return make_once(make)


@pytest.fixture
def person(finished) -> Participant:
    return Participant.objects.get(pk=finished.pk)


def codes(person: Participant) -> set[str]:
    """What is found about a participant and its study."""
    now = Participant.objects.filter(pk=person.pk)
    findings = [finding for one in now for finding in check_participant(one).findings]
    findings += check_roster(Study.objects.get(pk=person.study_id))
    return {finding.code for finding in findings}


def sql(statement: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def verify_log(study: Study) -> str:
    """What the command writes, whether it fails or not."""
    output = StringIO()
    with suppress(CommandError):
        call_command("verify_log", study=study.slug, stdout=output)
    return output.getvalue()


def task_tables() -> list[str]:
    return [stage.task_model._meta.db_table for stage in stages.flow() if stage.task_model]


@pytest.mark.parametrize(
    "change",
    [
        "arm = 'rt'", "teaching_steps = teaching_steps + 1", "beta = beta + 0.01", "memory_span = memory_span + 1",
        "teaching_gain = teaching_gain + 0.1", "evaluation_accuracy = 1.5", "first_seen_accuracy = -1",
        "evaluation_kappa = -1", "evaluation_macro_recall = -1", "unique_examples = 1", "is_excluded = NOT is_excluded",
        "purpose = 'pilot'", "ticket = ticket + 10", "stage = 'abandoned'", "stage = 'withdrawn'", "finished_at = NULL",
        "created_at = finished_at", "software_version = '0.1.0'", "memory_lengths = '[5]'", "seal = ''",
        "roster_number = 1000", "roster_number = NULL", "roster_number = NULL, seal = ''",
    ],
)  # fmt: skip
def test_a_changed_result_is_found(person, change):
    assert codes(person) == set()
    sql(f"UPDATE studies_participant SET {change} WHERE id = %s", person.pk)
    assert codes(person)
    assert person.code in verify_log(person.study) or "number" in verify_log(person.study)


def test_emptied_digests_do_not_pass_as_answers_from_before_the_chain(person):
    for table in task_tables():
        sql(f"UPDATE {table} SET digest = '' WHERE participant_id = %s", person.pk)
    sql(
        "UPDATE evaluation_evaluationitem SET answer = 1 - answer WHERE participant_id = %s",
        person.pk,
    )
    sql("UPDATE studies_participant SET chain_head = '' WHERE id = %s", person.pk)
    assert codes(person) == {"digest", "results"}
    with pytest.raises(CommandError):
        call_command("verify_log", stdout=StringIO())


@pytest.mark.parametrize("model", [TeachingStep, EvaluationItem])
def test_a_changed_label_is_found_at_every_answer_to_the_image(person, model):
    task = model.objects.filter(participant=person, is_correct__isnull=False).first()
    Example.objects.filter(pk=task.example_id).update(label=1 - task.example.label)
    positions = {finding.position for finding in check_participant(person).findings}
    assert task.position in positions


def test_a_deleted_participant_leaves_a_gap(person):
    other = person.study.participants.exclude(pk=person.pk).get()
    for gone in (person, other):
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT before_deletion")
            for table in (*task_tables(), "studies_sessionevent", "desk_decision", "desk_payment"):
                if table in connection.introspection.table_names(cursor):
                    cursor.execute(f"DELETE FROM {table} WHERE participant_id = %s", [gone.pk])
            cursor.execute("DELETE FROM studies_participant WHERE id = %s", [gone.pk])
            assert codes(gone) == {"deleted"}
            cursor.execute("UPDATE studies_study SET roster = '' WHERE id = %s", [gone.study_id])
            assert "roster" in codes(gone)
            cursor.execute("ROLLBACK TO SAVEPOINT before_deletion")
    assert codes(person) == set()


def test_a_removal_is_signed_for_its_number_and_study(person):
    removal = chain.removal_digest(chain.signing_keys()[0], person.study_id, person.roster_number)
    for number in (person.roster_number, person.roster_number + 1):
        person.study.removed_participants.create(number=number, digest=removal)
    Participant.objects.filter(study=person.study).exclude(pk=person.pk).delete()
    assert [str(finding) for finding in check_roster(person.study)] == [
        "participant number 2 was deleted, and JEDI Web did not do it."
    ]


def test_a_count_that_is_set_back_is_found_and_not_signed_again(person):
    before = person.study.roster
    late = make_participant(person.study)
    Study.objects.filter(pk=person.study_id).update(roster=before)
    assert codes(person) == {"roster"}
    assert make_participant(Study.objects.get(pk=person.study_id)).roster_number is None
    Study.objects.filter(pk=person.study_id).update(roster="3 3 " + "0" * 64)
    assert "roster" in codes(late)


def test_a_study_whose_seals_and_numbers_were_all_removed_is_found(person):
    Participant.objects.filter(study=person.study).update(
        roster_number=None, seal="", teaching_gain=0.9
    )
    Study.objects.filter(pk=person.study_id).update(roster="")
    assert codes(person) == {"results", "roster"}
    # Whoever joins then gets a new roster, which does not hide it.
    make_participant(Study.objects.get(pk=person.study_id))
    assert codes(person) == {"results"}


def test_nothing_is_found_after_what_the_product_does(person, admin_user):
    study = person.study
    decide(person, excludes=True, reason="a test", actor=admin_user)
    assert codes(person) == set()
    decide(person, excludes=False, reason="a mistake", actor=admin_user)
    for stage in ("memory", "teaching", "evaluation", "done"):
        preview = create_preview(study=study, stage=stage, arm="imt")
        assert codes(preview) == set(), stage
    clear_trials(study=study, purposes=["preview"], actor=admin_user)
    assert study.removed_participants.count() == 4
    left = study.participants.exclude(pk=person.pk).get()
    Participant.objects.filter(pk=left.pk).update(last_seen_at="2020-01-01T00:00:00Z")
    assert expire_sessions(study) == 1
    assert codes(left) == set()
    reopen_session(Participant.objects.get(pk=left.pk), admin_user)
    assert codes(left) == set()
    purge_people(study.participants.filter(pk=person.pk), why="a test", actor=admin_user)
    assert codes(person) == codes(left) == set()


@pytest.mark.parametrize("on_withdrawal", Study.Withdrawal.values)
def test_nothing_is_found_after_a_withdrawal(on_withdrawal):
    worker = Worker(make_study(on_withdrawal=on_withdrawal))
    worker.go_to("teaching")
    withdraw(worker.participant)
    assert codes(worker.participant) == set()
    assert check_participant(worker.participant).is_sealed


def seal_as_the_migration_does(chain_began: object) -> None:
    MigrationRecorder(connection).migration_qs.filter(
        app="studies", name="0019_chain_of_answers"
    ).update(applied=chain_began)
    module = import_module("studies.migrations.0025_seals")
    module.sign_earlier_participants(apps, type("Editor", (), {"connection": connection}))


@pytest.mark.parametrize("is_before_the_chain", [True, False])
def test_an_upgrade_decides_which_answers_may_be_without_a_digest(person, is_before_the_chain):
    """A session that began after the chain has all its digests, however little an attacker left of them."""
    for table in task_tables():
        sql(f"UPDATE {table} SET digest = '' WHERE participant_id = %s", person.pk)
    Participant.objects.filter(study=person.study).update(**EARLIER_COLUMNS)
    Study.objects.filter(pk=person.study_id).update(roster="")
    seal_as_the_migration_does(timezone.now() if is_before_the_chain else person.created_at)
    now = Participant.objects.select_related("study").get(pk=person.pk)
    assert now.roster_number == 1
    assert codes(person) == (set() if is_before_the_chain else {"digest"})
    assert bool(check_participant(now).earlier) is is_before_the_chain
    sql("UPDATE studies_participant SET teaching_gain = 0.9 WHERE id = %s", person.pk)
    assert "results" in codes(person)


def test_a_whole_chain_cannot_be_made_to_look_like_one_from_before(person):
    """A site that was restored from a backup seems to have got the chain after all its sessions."""
    Participant.objects.filter(study=person.study).update(roster_number=None, seal="")
    Study.objects.filter(pk=person.study_id).update(roster="")
    seal_as_the_migration_does(timezone.now())
    assert codes(person) == set()
    for table in task_tables():
        sql(f"UPDATE {table} SET digest = '' WHERE participant_id = %s", person.pk)
    sql("UPDATE studies_participant SET chain_head = '' WHERE id = %s", person.pk)
    assert codes(person) == {"results"}


def answer_as_the_release_before(worker: Worker, monkeypatch, until: str) -> None:
    """The release before signs version 1 and knows nothing of seals."""
    digest = chain.answer_digest
    with monkeypatch.context() as patch:
        patch.setattr(chain, "answer_digest", lambda *values: digest(*values, is_v1=True))
        patch.setattr(chain, "seal", lambda pk: None)
        worker.go_to(until)


def test_sessions_that_a_server_of_the_release_before_goes_on_with_are_no_error(monkeypatch):
    study = make_study()
    with monkeypatch.context() as patch:
        patch.setattr(chain, "seal", lambda pk: None)
        patch.setattr(chain, "take_roster_number", lambda study: None)
        joined_there = Worker(study)
    joined_here = Worker(study)
    answer_as_the_release_before(joined_there, monkeypatch, "teaching")
    joined_here.go_to("memory")
    answer_as_the_release_before(joined_here, monkeypatch, "evaluation")
    for worker in (joined_there, joined_here):
        check = check_participant(worker.participant)
        assert (check.findings, check.is_sealed) == ((), False)
        worker.go_to("done")
        check = check_participant(worker.participant)
        assert (check.findings, check.is_sealed) == ((), True)
    assert "All" in verify_log(study)
    sql("UPDATE studies_participant SET arm = 'eer' WHERE study_id = %s", study.pk)
    assert codes(joined_here.participant) == codes(joined_there.participant) == {"results"}
    step = TeachingStep.objects.filter(participant=joined_there.participant).first()
    assert step.digest[:2] == "v2"
