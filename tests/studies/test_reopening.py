"""An expired session can be reopened by a researcher and goes on where it stopped."""

from datetime import timedelta

import pytest
from django.utils import timezone

from studies.errors import StateNotAllowed
from studies.models import AuditEntry, Participant
from studies.services import expire_sessions, reopen_session
from tests.builders import make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("stage", ["consent", "memory", "teaching", "evaluation"])
@pytest.mark.parametrize("is_marked", [False, True], ids=["overdue", "marked-as-abandoned"])
def test_an_expired_session_goes_on_at_the_same_task(stage, is_marked, admin_user):
    worker = Worker(make_study())
    task = worker.go_to(stage)
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(days=9))
    if is_marked:
        assert expire_sessions(worker.participant.study) == 1
    assert worker.get().status_code == 410
    reopen_session(worker.participant, actor=admin_user)
    assert worker.task() == task
    assert worker.participant.finished_at is None
    assert worker.go_to("done")["outcome"] == "completed"
    assert AuditEntry.objects.get().actor == admin_user


def test_a_session_that_has_not_expired_cannot_be_reopened(admin_user):
    worker = Worker(make_study())
    for stage in ("teaching", "done"):
        worker.go_to(stage)
        with pytest.raises(StateNotAllowed):
            reopen_session(worker.participant, actor=admin_user)
    assert worker.participant.stage == "done"


def test_the_participants_page_offers_it(researcher):
    worker = Worker(make_study())
    page = f"/admin/studies/participant/{worker.participant.pk}/change/"
    address = (
        f"/admin/studies/study/{worker.participant.study_id}/people/{worker.participant.pk}/reopen/"
    )
    assert address not in researcher.get(page).content.decode()
    Participant.objects.update(stage="abandoned")
    assert address in researcher.get(page).content.decode()
    assert researcher.post(address).status_code == 302
    assert worker.participant.stage == "consent"
