"""Pilots, previews and rehearsals take part as everybody does, and count nowhere."""

import pytest
from django.core import signing
from django.test import Client

from analysis.exports.files import Selection, gain_csv
from studies.models import Participant, Study
from studies.recruitment import SALT, invitation, purpose_of
from tests.builders import make_study
from tests.worker import Worker


def joined_with(study, **parameters):
    return Worker(study, **parameters).participant


@pytest.mark.django_db
def test_who_joins_while_a_study_is_piloted_is_a_pilot():
    study = make_study(state=Study.State.PILOT)
    assert joined_with(study).purpose == "pilot"
    study.state = Study.State.OPEN
    study.save()
    assert joined_with(study).purpose == "live"


@pytest.mark.django_db
def test_a_pilot_takes_no_place_no_ticket_and_is_in_no_file():
    study = make_study(state=Study.State.PILOT, max_participants=1, arms="jedi,rt")
    for _ in range(3):
        Worker(study).go_to("done")
    assert not study.is_full()
    assert len(list(gain_csv(Selection(study)))) == 1
    study.refresh_from_db()
    assert (study.next_ticket, study.next_pilot_ticket) == (0, 3)
    study.state = Study.State.OPEN
    study.save()
    worker = Worker(study)
    worker.go_to("teaching")
    assert (worker.participant.arm, worker.participant.ticket) == ("jedi", 0)


@pytest.mark.django_db
def test_the_same_person_has_a_session_for_each_purpose():
    study = make_study(state=Study.State.PILOT)
    pilot = joined_with(study, PROLIFIC_PID="p1")
    Study.objects.update(state=Study.State.OPEN)
    live = joined_with(study, PROLIFIC_PID="p1")
    assert pilot != live
    assert joined_with(study, PROLIFIC_PID="p1") == live


@pytest.mark.django_db
@pytest.mark.parametrize("purpose", ["preview", "rehearsal"])
@pytest.mark.parametrize("state", ["draft", "closed", "open"])
def test_an_invitation_opens_a_study_in_any_state(purpose, state):
    study = make_study(state=state)
    participant = joined_with(study, invitation=invitation(study, purpose))
    assert participant.purpose == purpose
    page = Client().get(f"/s/{study.slug}/", {"invitation": invitation(study, purpose)})
    assert "<form" in page.content.decode()


@pytest.mark.django_db
def test_an_invitation_is_for_its_study_and_cannot_be_made_by_others():
    study, other = make_study(), make_study()
    assert purpose_of(invitation(study, "preview"), other) == ""
    assert purpose_of(invitation(study, "preview") + "x", study) == ""
    assert purpose_of("nonsense", study) == ""
    assert purpose_of(signing.dumps([study.pk, "live"], salt=SALT), study) == ""
    assert purpose_of(signing.dumps("live", salt=SALT), study) == ""


@pytest.mark.django_db
def test_a_forged_invitation_to_a_closed_study_is_refused():
    study = make_study(state="closed")
    reply = Client().post(
        f"/api/studies/{study.slug}/sessions/", {"invitation": "x"}, content_type="application/json"
    )
    assert reply.status_code == 403
    assert not Participant.objects.exists()
