"""Exclusion: a decision with a reason, kept for good, that takes effect everywhere at once and can be undone."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.template import Context, Template
from django.test import Client

from analysis.exports.files import Selection, gain_csv, table_chunks
from analysis.exports.tables import TABLES
from analysis.results.data import load_results
from desk import quality
from desk.bonus import bonus_plan
from desk.models import Decision
from studies.head_counts import head_count, outcome_groups
from studies.models import AuditEntry, Participant, Study
from teaching.assignment import emptiest_arm
from tests.builders import make_dataset, make_study
from tests.crowd import make_finished
from tests.people import browser_of, make_researcher, share, study_address, text_of

from .odd_sessions import add, take_part

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=60), reward=2)


def page_of(client: Client, study: Study, query: str = "") -> str:
    return text_of(client, study_address(study, f"quality/{query}"))


def decide(client: Client, person: Participant, **body) -> str:
    url = study_address(person.study, f"people/{person.pk}/exclusion/")
    return client.post(url, {"decision": "exclude", **body}, follow=True).content.decode()


def test_an_exclusion_keeps_who_decided_when_and_why(researcher, study):
    person = add(study)
    page = decide(researcher, person, reason="  Pressed one key\n all the time. ")
    assert f"{person.code} is now excluded" in page
    person.refresh_from_db()
    assert person.is_excluded
    decision = Decision.objects.get()
    assert (decision.participant, decision.excludes) == (person, True)
    assert (decision.reason, decision.actor_name) == ("Pressed one key all the time.", "admin")
    entry = AuditEntry.objects.get(action="exclude")
    assert entry.detail == f"Excluded {person.code}: Pressed one key all the time."
    assert (entry.study, entry.actor_name) == (study, "admin")
    assert "Pressed one key all the time." in page_of(researcher, study)


def test_it_can_be_taken_back_with_a_reason_and_the_log_keeps_both(researcher, study):
    person = add(study)
    decide(researcher, person, reason="One key.")
    page = decide(researcher, person, decision="include", reason="It was the other person.")
    assert f"{person.code} is included again" in page
    person.refresh_from_db()
    assert not person.is_excluded
    assert [row.reason for row in person.decisions.all()] == [
        "It was the other person.",
        "One key.",
    ]
    assert AuditEntry.objects.filter(action="include").count() == 1
    assert "One key." in page_of(researcher, study)


@pytest.mark.parametrize(
    ("reason", "words"), [("", "Give a reason"), (" \n\0", "Give a reason"), ("x" * 401, "at most 400")]
)  # fmt: skip
def test_without_a_sound_reason_nothing_happens(researcher, study, reason, words):
    person = add(study)
    assert words in decide(researcher, person, reason=reason)
    person.refresh_from_db()
    assert not person.is_excluded
    assert not Decision.objects.exists()
    with pytest.raises(ValidationError):
        quality.decide(person, excludes=True, reason=reason, actor=User.objects.get())


def test_deciding_the_same_twice_changes_nothing(researcher, study):
    person = add(study)
    decide(researcher, person, reason="First.")
    assert "was already excluded" in decide(researcher, person, reason="Second.")
    assert [row.reason for row in Decision.objects.all()] == ["First."]
    decision = {"excludes": False, "reason": "Nothing to undo.", "actor": User.objects.get()}
    assert not quality.decide(add(study), **decision)


def test_an_exclusion_counts_everywhere_at_once_and_so_does_taking_it_back(study, admin_user):
    study.assignment = "fill_gaps"
    study.save()
    people = make_finished(study, 8)
    person = people[0]
    assert person.arm == "jedi"
    before = everywhere(study)
    assert person.code in json.dumps(before)
    quality.decide(person, excludes=True, reason="A test.", actor=admin_user)
    after = everywhere(study)
    assert person.code not in json.dumps(after)
    assert after["finished"] == before["finished"] - 1
    assert after["next arm"] == "jedi"
    quality.decide(person, excludes=False, reason="A test.", actor=admin_user)
    assert everywhere(study) == before


def everywhere(study: Study) -> dict:
    """Everything that counts people: results, files, monitor, payment and balance. The desk's own tables are about
    those who were excluded, too."""
    study = Study.objects.get(pk=study.pk)
    study.bonus_share = 1
    files = {
        table: b"".join(table_chunks(Selection(study), table, "jsonl")).decode()
        for table in TABLES
        if table not in {"flags", "exclusions", "payments"}
    }
    return {
        "results": sorted(person.code for person in load_results(study).people),
        "gain": "".join(gain_csv(Selection(study))),
        "files": files,
        "payment": sorted(person.code for person in bonus_plan(study, [1]).top),
        "finished": head_count(outcome_groups(study)).done,
        "next arm": emptiest_arm(study, Participant.Purpose.LIVE),
    }


def test_the_box_of_a_participant_shows_flags_decisions_and_the_form(researcher, study):
    take_part(person := add(study))
    decide(researcher, person, reason="One key.")
    person.refresh_from_db()
    for may_edit in (True, False):
        box = Template("{% load desk %}{% quality_box participant %}").render(
            Context({"participant": person, "may_edit": may_edit, "csrf_token": "token"})
        )
        assert "40 identical answers in a row, of 40" in box
        assert "One key." in box
        assert ("Undo the exclusion" in box) == may_edit
        assert ('value="token"' in box) == may_edit


def test_the_form_leads_back_to_where_it_was(researcher, study):
    person = add(study)
    url = study_address(study, f"people/{person.pk}/exclusion/")
    reply = researcher.post(url, {"reason": "One key.", "from": "participant"})
    assert reply["Location"] == f"/admin/studies/participant/{person.pk}/change/"
    reply = researcher.post(url, {"reason": "One key."})
    assert reply["Location"] == study_address(study, "quality/")


def test_readers_look_editors_decide_and_strangers_see_nothing(study):
    take_part(person := add(study))
    url = study_address(study, f"people/{person.pk}/exclusion/")
    reader = browser_of(share(study, make_researcher("ada")))
    editor = browser_of(share(study, make_researcher("grace"), can_edit=True))
    assert "Reason for excluding" not in page_of(reader, study)
    assert reader.post(url, {"reason": "One key."}).status_code == 403
    assert editor.get(url).status_code == 405
    other = add(make_study(dataset=study.dataset))
    for foreign in (
        study_address(study, f"people/{other.pk}/exclusion/"),
        study_address(other.study, f"people/{other.pk}/exclusion/"),
    ):
        assert editor.post(foreign, {"reason": "One key."}).status_code == 404
    assert editor.get(study_address(other.study, "quality/")).status_code == 404
    assert not Decision.objects.exists()
    assert editor.post(url, {"reason": "One key."}).status_code == 302
    assert Decision.objects.get().actor_name == "grace"
