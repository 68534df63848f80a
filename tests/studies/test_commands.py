"""The commands that script what the admin does."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from studies.models import Participant, Study
from teaching.models import TeachingStep
from tests.builders import database_snapshot, make_dataset, make_participant, make_study
from tests.teaching.sessions import taught_by
from tests.worker import Worker

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> str:
    output = io.StringIO()
    call_command(*map(str, arguments), stdout=output)
    return output.getvalue()


@pytest.fixture
def consent(tmp_path):
    path = tmp_path / "consent.txt"
    path.write_text("Do you agree?\n\nÜber alles klar.", encoding="utf-8")
    return path


def create(consent, *more: object, dataset: str = "Moths") -> str:
    return run("create_study", "moths-1", "--title", "Moths", "--dataset", dataset,
               "--consent-file", consent, *more)  # fmt: skip


def test_a_study_is_made_with_the_papers_values(consent):
    make_dataset(name="Moths", teaching=60, evaluation=100)
    first, second = create(consent).splitlines()
    assert first == "draft: http://127.0.0.1:8000/s/moths-1/"
    assert second.endswith("as the data set suggests.")
    study = Study.objects.get()
    assert (study.title, study.state, study.evaluation_size) == ("Moths", "draft", 100)
    assert study.consent == consent.read_text(encoding="utf-8")


def test_any_setting_can_be_given_and_the_newest_data_set_is_used(consent):
    make_dataset(name="Moths", teaching=60, evaluation=40)
    newest = make_dataset(name="Moths", teaching=60, evaluation=40)
    create(consent, "--open", "--set", "evaluation_size=40", "--set", "arms=rt,jedi", "--set",
           "shows_score=False", "--set", "max_participants=")  # fmt: skip
    study = Study.objects.get()
    assert (study.dataset, study.state) == (newest, "open")
    assert (study.evaluation_size, study.arm_names) == (40, ["rt", "jedi"])
    assert study.shows_score is False
    assert study.max_participants is None


def test_a_rate_far_from_the_data_sets_is_taken_and_questioned(consent):
    make_dataset(name="Moths", teaching=60, evaluation=100)
    warnings = io.StringIO()
    arguments = ("moths-1", "--title", "Moths", "--dataset", "Moths", "--consent-file", consent)
    call_command("create_study", *map(str, arguments), "--set=learning_rate=0.0001",
                 stdout=io.StringIO(), stderr=warnings)  # fmt: skip
    assert Study.objects.get().learning_rate == 0.0001
    assert "times smaller than" in warnings.getvalue()


def test_what_may_spoil_a_study_is_told_when_it_opens_at_once(consent):
    make_dataset(name="Moths", teaching=60, evaluation=100)
    warnings = io.StringIO()
    arguments = ("moths-1", "--title", "Moths", "--dataset", "Moths", "--consent-file", consent)
    call_command(
        "create_study", *map(str, arguments), "--open", stdout=io.StringIO(), stderr=warnings
    )
    assert "Consent text: The consent text has 6 words" in warnings.getvalue()
    assert "Public address: " in warnings.getvalue()


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("evaluation_size=102", "Choose at most 100"),
        ("evaluation_size=many", "must be an integer"),
        ("evaluation_size=", "evaluation_size"),
        ("short_steps=", "short_steps"),
        ("memory_max_length=", "memory_max_length"),
        ("short_memory_up_to=", "short_memory_up_to"),
        ("learning_rate=nan", "learning_rate"),
        ("learning_rate=inf", "learning_rate"),
        ("arms=socrates", "not known: socrates"),
        ("arms=", "arms"),
        ("nonsense=1", "write FIELD=VALUE with one of"),
        ("next_ticket=5", "write FIELD=VALUE with one of"),
        ("evaluation_size", "write FIELD=VALUE with one of"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_reason(consent, setting, reason):
    make_dataset(name="Moths", teaching=60, evaluation=100)
    before = database_snapshot()
    with pytest.raises(CommandError, match=reason):
        create(consent, "--set", setting)
    assert database_snapshot() == before


def test_a_link_name_is_used_once(consent):
    make_dataset(name="Moths", teaching=60, evaluation=100)
    create(consent)
    with pytest.raises(CommandError, match="slug"):
        create(consent)


def test_an_unknown_data_set_gets_the_names_that_there_are(consent):
    make_dataset(name="Beetles")
    with pytest.raises(CommandError, match="Data sets: Beetles"):
        create(consent)


def test_a_consent_text_that_cannot_be_read_is_named(tmp_path):
    make_dataset(name="Moths")
    with pytest.raises(CommandError, match="cannot be read as UTF-8"):
        create(tmp_path / "nothing.txt")
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe\xe9")
    with pytest.raises(CommandError, match="cannot be read as UTF-8"):
        create(tmp_path / "latin.txt")


def test_expiring_marks_only_those_who_stayed_away_too_long():
    study = make_study()
    overdue, present, done = (make_participant(study) for _ in range(3))
    long_ago = timezone.now() - timedelta(hours=25)
    Participant.objects.filter(pk__in=[overdue.pk, done.pk]).update(last_seen_at=long_ago)
    Participant.objects.filter(pk=done.pk).update(stage="done")
    assert run("expire_sessions") == "Sessions marked as abandoned: 1\n"
    stages = dict(Participant.objects.values_list("pk", "stage"))
    assert stages == {overdue.pk: "abandoned", present.pk: "consent", done.pk: "done"}
    assert Participant.objects.get(pk=overdue.pk).finished_at is not None
    before = database_snapshot()
    assert run("expire_sessions") == "Sessions marked as abandoned: 0\n"
    assert database_snapshot() == before


def test_a_replay_of_nobody_or_nothing_says_so():
    with pytest.raises(CommandError, match="There is no participant"):
        run("replay_session", "XXXX-XXXX")
    participant = make_participant()
    with pytest.raises(CommandError, match="has not reached teaching"):
        run("replay_session", participant.code)


def test_a_session_under_way_can_be_replayed_by_its_code_in_small_letters():
    worker = Worker(make_study())
    worker.go_to("teaching")
    worker.answer_current()
    code = worker.participant.code
    assert f"{code} (jedi): all 2 choices match." in run("replay_session", code.lower())
    TeachingStep.objects.filter(step=1).update(probabilities=[0.9, 0.9])
    with pytest.raises(CommandError, match=r"cannot be replayed: Step 1 .* do not add up to 1"):
        run("replay_session", code)


def differences_said(participant: Participant) -> str:
    """What the replay says of the last step, which somebody has changed."""
    output = io.StringIO()
    with pytest.raises(CommandError, match="1 of 5 choices differ"):
        call_command("replay_session", participant.code, stdout=output)
    [line] = [line for line in output.getvalue().splitlines() if "DIFFERS" in line]
    return line.partition("DIFFERS: ")[2]


def test_a_replay_names_what_differs_as_it_was_stored_and_as_it_is_now():
    participant = taught_by("tracked", answers=4)
    last = TeachingStep.objects.of(participant).last()
    kind, p = last.learner_kind, last.learner_kind_p
    changed = TeachingStep.objects.filter(pk=last.pk)

    changed.update(learner_kind_p=p - 1e-8)
    assert differences_said(participant) == (
        f"kind of learner {kind} {p - 1e-8:.10f} is now {kind} {p:.10f}"
    )
    changed.update(learner_kind="nobody", learner_kind_p=p)
    assert differences_said(participant) == (
        f"kind of learner nobody {p:.10f} is now {kind} {p:.10f}, nobody 0.0000000000"
    )
    examples = participant.study.dataset.examples.filter(split="teaching")
    other = examples.exclude(pk=last.example_id).order_by("pool_index")[0]
    changed.update(learner_kind=kind, probabilities=[0.25, 0.75], example=other)
    image, belief = differences_said(participant).split("; ")
    assert image == f"image {other.pool_index} is now {last.example.pool_index}"
    assert belief == f"p 0.7500000000 is now p {last.p:.10f}"


def test_a_replay_says_which_choices_an_earlier_version_of_the_teacher_made():
    participant = taught_by("tracked", answers=4)
    steps = TeachingStep.objects.of(participant)
    steps.filter(step__lte=3).update(teacher_version=1, learner_kind="habit", learner_kind_p=0.5)
    said = run("replay_session", participant.code)
    assert said.count("not compared: chosen by version 1, this software has 2") == 3
    assert "all 2 choices match." in said
    assert "3 choices are of an earlier version of the teacher" in said
    steps.update(teacher_version=1)
    assert "choices match" not in run("replay_session", participant.code)


def test_the_demo_is_loaded_once_and_left_alone():
    """The data set is made ahead, small: drawing the whole collection is proved elsewhere."""
    dataset = make_dataset(name="Butterflies", teaching=60, evaluation=100)
    assert run("load_demo") == "Demo study: http://127.0.0.1:8000/s/demo/\n"
    study = Study.objects.get()
    assert (study.slug, study.state, study.dataset) == ("demo", "open", dataset)
    assert study.effective_learning_rate == dataset.learning_rate
    Study.objects.update(title="Renamed by a researcher", state="closed")
    before = database_snapshot()
    run("load_demo")
    assert database_snapshot() == before
