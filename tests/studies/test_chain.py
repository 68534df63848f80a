"""The chain of answers: whatever is done to them in the database is found, and it is said where."""

import random
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from evaluation.models import EvaluationItem
from memorytest.models import MemoryRound
from studies import chain, stages
from studies.models import Participant, Study, Task
from studies.verification import ParticipantCheck, check_participant
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_study
from tests.worker import Worker

ANSWER_COLUMNS = ("answer", "is_correct", "answered_at", "response_ms", "digest")

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def finished(make_once) -> Participant:
    def make() -> Participant:
        study = make_study(dataset=make_dataset(teaching=12, evaluation=8), attention_checks=1)
        worker = Worker(study)
        worker.go_to("done")
        return worker.participant

    return make_once(make)


@pytest.fixture
def person(finished) -> Participant:
    """As the database has it now."""
    return Participant.objects.get(pk=finished.pk)


def answers(person: Participant) -> list[Task]:
    rows = [
        task
        for stage in stages.flow()
        if stage.task_model
        for task in stage.task_model.objects.filter(participant=person).order_by("position")
    ]
    return sorted(rows, key=lambda task: task.position)


def found(person: Participant) -> list[int]:
    """The positions of answers that are named."""
    now = Participant.objects.get(pk=person.pk)
    return [finding.position for finding in check_participant(now).findings if finding.position]


def write(task: Task, **values: object) -> None:
    type(task)._default_manager.filter(pk=task.pk).update(**values)


def changed(value: object, task: Task, name: str) -> object:
    """Another value of the same kind."""
    if name == "answered_at":
        return task.created_at
    if name == "example_id":
        images = task.participant.study.dataset.examples
        return images.filter(split="teaching").exclude(pk=value).first().pk
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return value[::-1]
    if name == "answer":
        return 1 - value
    return 0.5 if value is None or isinstance(value, float) else value + 100


def test_a_whole_session_fits(person):
    whole = answers(person)
    assert {type(task) for task in whole} == {MemoryRound, TeachingStep, EvaluationItem}
    assert check_participant(person) == ParticipantCheck(len(whole), 0, True, ())
    assert len({task.digest for task in whole} | {person.chain_head}) == len(whole) + 1
    assert re.fullmatch("[0-9a-f]{64}", person.chain_head)


@pytest.mark.parametrize("model", [MemoryRound, TeachingStep, EvaluationItem])
def test_every_changed_value_is_found_at_its_place(person, model):
    rows = model._default_manager.filter(participant=person, is_correct__isnull=False)
    task = rows.order_by("position")[1]
    for name in model.CHAINED:
        if name in ("position", "instructed_label"):
            continue
        before = getattr(task, name)
        write(task, **{name: changed(before, task, name)})
        assert found(person) == [task.position], name
        write(task, **{name: before})
    assert found(person) == []
    write(task, digest="0" * 64)
    assert task.position in found(person)


def test_every_removed_answer_is_found_at_its_place(person):
    for task in answers(person)[1:]:
        pk = task.pk
        task.delete()
        assert found(person) == [task.position]
        task.pk = pk
        task.save(force_insert=True)
    assert found(person) == []
    first = answers(person)[0]
    first.delete()
    assert found(person) == [first.position + 1], "the first that stands says that one is gone"


def test_answers_that_are_cut_off_at_the_end_are_found_even_if_everything_else_is_made_to_fit(
    person,
):
    whole = answers(person)
    for count in (1, 3):
        last = whole[-count]
        last.delete()
        Participant.objects.filter(pk=person.pk).update(position=last.position)
        assert found(person) == [last.position]
        for forged in ("", whole[-count - 1].digest, person.chain_head):
            Participant.objects.filter(pk=person.pk).update(chain_head=forged)
            assert found(person) == [last.position]
    for task in whole:
        type(task)._default_manager.filter(participant=person).delete()
    Participant.objects.filter(pk=person.pk).update(chain_head=person.chain_head)
    assert found(person) == [whole[-3].position]


def test_answers_that_change_places_are_found_at_both(person):
    rng = random.Random(4)
    for model in (TeachingStep, EvaluationItem, MemoryRound):
        rows = list(model._default_manager.filter(participant=person).order_by("position"))
        one, other = sorted(rng.sample(rows, 2), key=lambda task: task.position)
        for first, second in (((one, 10**6)), (other, one.position), (one, other.position)):
            write(first, position=second)
        assert found(person) == [one.position, other.position]
        for first, second in ((one, 10**6), (other, other.position), (one, one.position)):
            write(first, position=second)
    assert found(person) == []


def test_an_inserted_answer_is_found_and_no_other(person):
    given = MemoryRound.objects.filter(participant=person).order_by("position").last()
    where = EvaluationItem.objects.filter(participant=person).order_by("position")[2].position
    for digest in ("", given.digest, "f" * 64):
        given.pk, given.position, given.digest = None, where, digest
        given.save(force_insert=True)
        assert found(person) == [where]
        given.delete()


def test_an_answer_of_somebody_else_is_found(person):
    other = Worker(person.study)
    other.go_to("teaching")
    other.answer_current()
    step = TeachingStep.objects.filter(participant=other.participant).order_by("step").first()
    own = TeachingStep.objects.filter(participant=person, step=1).get()
    write(own, **{name: getattr(step, name) for name in ANSWER_COLUMNS})
    assert own.position in found(person)
    assert found(other.participant) == []


def test_a_chain_that_is_made_without_the_servers_key_does_not_fit(person):
    """Whoever has the database alone can compute everything but the digests."""
    Participant.objects.filter(pk=person.pk).update(chain_head="")
    person.chain_head = ""
    with override_settings(SECRET_KEY="another key, of somebody who has only the database"):
        for task in answers(person):
            task.response_ms = 1.0
            person.chain_head = chain.link(person, task)
            task.save()
        person.save()
        chain.seal(person.pk)
        assert found(person) == []
    assert len(found(person)) > 1


def test_a_session_goes_on_under_a_new_key_and_is_checked_with_both(person):
    worker = Worker(person.study)
    worker.go_to("teaching")
    with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[old_key()]):
        worker.go_to("evaluation")
        assert found(worker.participant) == []
    assert found(worker.participant) != []


def old_key() -> str:
    from django.conf import settings

    return settings.SECRET_KEY


def test_answers_from_before_the_chain_are_counted_and_the_chain_begins_behind_them(person):
    worker = Worker(person.study)
    worker.go_to("teaching")
    early = answers(worker.participant)[:-1]
    for task in early:
        write(task, digest="")
    Participant.objects.with_token(worker.token).update(chain_head="")
    number = worker.participant.roster_number
    roster = chain.sign_roster(
        chain.signing_keys()[0], person.study_id, chain.Roster(joined=number, earlier=number)
    )
    Study.objects.filter(pk=person.study_id).update(roster=roster)
    worker.go_to("done")
    check = check_participant(worker.participant)
    assert (check.earlier, check.findings) == (len(early), ())
    assert check.linked == len(answers(worker.participant)) - len(early)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("verify_log", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_and_the_page_name_what_was_done(person, researcher):
    count = len(answers(person))
    assert run("--participant", person.code) == (
        f"All {count} answers of 1 participants are as they were given.\n"
    )
    page = f"/admin/studies/participant/{person.pk}/change/"
    assert f"All {count} answers are as they were given" in researcher.get(page).content.decode()
    item = EvaluationItem.objects.filter(participant=person).first()
    write(item, answer=1 - item.answer)
    out = StringIO()
    with pytest.raises(CommandError, match="1 of 1 participants"):
        call_command("verify_log", "--study", person.study.slug, stdout=out)
    assert f"{person.code}  Position {item.position}: " in out.getvalue()
    shown = researcher.get(page).content.decode()
    assert f"Position {item.position}: " in shown
    assert "data were changed" in shown
    with pytest.raises(CommandError, match="There is no participant 'XXXX'"):
        run("--participant", "XXXX")
