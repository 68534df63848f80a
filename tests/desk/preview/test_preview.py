"""Trying a study out: any stage, any teacher, none of it counts, and all of it can be cleared."""

import pytest
from django.test import Client

from analysis.exports.files import Selection, gain_csv
from desk.preview import clear_trials, trial_sessions
from studies.models import AuditEntry, Participant, Study, StudyVersion
from teaching.engine import TEACHERS
from tests.builders import make_participant, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db
STAGES = ("consent", "memory", "teaching", "evaluation", "done")


@pytest.fixture
def study() -> Study:
    return make_study(state="draft", arms="jedi,rt")


def address(study: Study, page: str = "") -> str:
    return f"/admin/studies/study/{study.pk}/preview/{page}"


def preview(researcher: Client, study: Study, stage: str, teacher: str) -> Worker:
    """The session that the button opens, in the hands of somebody who answers it."""
    reply = researcher.post(address(study, "open/"), {"stage": stage, "teacher": teacher})
    assert reply.status_code == 302
    worker = object.__new__(Worker)
    worker.client, worker.orders = Client(), {}
    worker.token = reply["Location"].split("/")[2]
    return worker


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_opens_at_once_and_goes_on_to_the_end(researcher, study, stage):
    worker = preview(researcher, study, stage, "rt")
    assert worker.task()["kind"] == stage
    assert worker.go_to("done")["outcome"] == "completed"
    participant = worker.participant
    assert (participant.purpose, participant.arm) == ("preview", "rt")
    assert participant.evaluation_accuracy is not None


def test_every_teacher_can_be_seen_at_work(researcher, study):
    for teacher in TEACHERS:
        worker = preview(researcher, study, "teaching", teacher)
        for _ in range(4):
            worker.answer_current()
        participant = worker.participant
        steps = participant.teachingsteps.order_by("step")
        assert participant.arm == teacher
        assert [step.is_random for step in steps] == [True, True, True, False, False]


def test_the_stand_ins_are_those_of_somebody_who_came_this_far(researcher):
    study = make_study(short=False, evaluation_size=20, state="draft")
    participant = preview(researcher, study, "teaching", "jedi").participant
    assert participant.memory_lengths == [5, 5, 5]
    assert (participant.memory_span, participant.beta) == (5.0, 0.8)
    assert (participant.teaching_steps, participant.position) == (30, 2)
    assert participant.consented_at is not None
    progress = preview(researcher, study, "evaluation", "jedi").get().json()["session"]["stages"]
    assert [(part["done"], part["total"]) for part in progress] == [(3, 3), (30, 30), (0, 20)]


def test_the_span_of_a_stand_in_is_one_that_the_test_can_give(researcher, study):
    participant = preview(researcher, study, "teaching", "jedi").participant
    assert participant.memory_lengths == [3, 3]


def test_a_preview_takes_no_turn_no_place_and_is_in_no_file(researcher):
    study = make_study(arms="jedi,rt", max_participants=1)
    for stage in ("teaching", "done"):
        preview(researcher, study, stage, "jedi").go_to("done")
    study.refresh_from_db()
    assert (study.next_ticket, study.next_pilot_ticket) == (0, 0)
    assert not study.is_full()
    assert len(list(gain_csv(Selection(study)))) == 1


def test_the_workers_page_carries_a_quiet_ribbon(researcher, study):
    worker = preview(researcher, study, "memory", "jedi")
    page = Client().get(f"/w/{worker.token}/").content.decode()
    assert "Preview: nothing here counts" in page
    Study.objects.update(state="open")
    live = make_participant(Study.objects.get())
    assert "Preview" not in Client().get(live.get_absolute_url()).content.decode()


def test_what_is_no_stage_and_no_teacher_opens_nothing(researcher, study):
    for stage, teacher in (("abandoned", "jedi"), ("", "jedi"), ("teaching", "socrates")):
        reply = researcher.post(address(study, "open/"), {"stage": stage, "teacher": teacher})
        assert reply.status_code == 404
    assert not Participant.objects.exists()


def test_looking_at_the_page_makes_nothing(researcher, study):
    page = researcher.get(address(study)).content.decode()
    assert "None yet. Pilots" in page
    assert page.count("not in this study") == len(TEACHERS) - 2
    assert researcher.get(address(study, "open/")).status_code == 405
    assert not Participant.objects.exists()


# What was tried


def with_everything(study: Study) -> None:
    """Two pilots, one of them finished, one preview, one rehearsal, and one who counts."""
    Study.objects.update(state="pilot")
    study.refresh_from_db()
    finished = [make_participant(study)]
    for purpose in ("", "preview", "rehearsal"):
        make_participant(study, purpose=purpose)
    Study.objects.update(state="open")
    study.refresh_from_db()
    finished.append(make_participant(study))
    Participant.objects.filter(pk__in=[one.pk for one in finished]).update(stage="done")


def test_what_was_tried_is_counted_apart(researcher, study):
    with_everything(study)
    rows = {row["purpose"]: (row["sessions"], row["finished"]) for row in trial_sessions(study)}
    assert rows == {"pilot": (2, 1), "preview": (1, 0), "rehearsal": (1, 0)}
    page = researcher.get(address(study)).content.decode()
    assert f"?study__id__exact={study.pk}&amp;purpose__exact=pilot" in page


def test_clearing_asks_first(researcher, study):
    with_everything(study)
    page = researcher.get(address(study, "clear/")).content.decode()
    assert "2 sessions, 1 finished" in page
    assert 'value="preview" checked' in page
    assert 'value="rehearsal" checked' not in page
    assert Participant.objects.count() == 5


def test_clearing_deletes_what_is_ticked_and_leaves_a_record(researcher, admin_user, study):
    with_everything(study)
    reply = researcher.post(
        address(study, "clear/"), {"purpose": ["pilot", "preview"]}, follow=True
    )
    assert "3 sessions were deleted." in reply.content.decode()
    assert sorted(Participant.objects.values_list("purpose", flat=True)) == ["live", "rehearsal"]
    entry = AuditEntry.objects.get(action="delete")
    assert (entry.actor, entry.study) == (admin_user, study)
    assert entry.detail == "Cleared 3 sessions that never counted (pilot and preview)."
    assert StudyVersion.objects.exists(), "versions are a record, and stay"


def test_nobody_who_counts_is_ever_cleared(researcher, study):
    with_everything(study)
    for purposes in ([], ["live"], ["nonsense"]):
        researcher.post(address(study, "clear/"), {"purpose": purposes})
        clear_trials(study=study, purposes=purposes, actor=None)
    assert Participant.objects.count() == 5


def test_clearing_one_study_leaves_the_others_alone(researcher, study):
    with_everything(study)
    other = make_study(state="pilot")
    make_participant(other)
    researcher.post(address(study, "clear/"), {"purpose": ["pilot", "preview", "rehearsal"]})
    assert sorted(Participant.objects.values_list("purpose", flat=True)) == ["live", "pilot"]
