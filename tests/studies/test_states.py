"""The states of a study: which may follow which, who let whom in, and the record of it."""

import itertools

import pytest

from studies.errors import StateNotAllowed
from studies.models import AuditEntry, Study
from studies.services import STATE_MEANINGS, STATE_MOVES, change_state
from tests.builders import make_study

pytestmark = pytest.mark.django_db
ALLOWED = {
    ("draft", "pilot"), ("draft", "open"), ("pilot", "open"), ("pilot", "draft"), ("open", "paused"),
    ("open", "closed"), ("paused", "open"), ("paused", "closed"), ("closed", "open"),
}  # fmt: skip


def test_every_state_is_explained_and_has_a_way_out():
    assert set(STATE_MEANINGS) == set(STATE_MOVES) == set(Study.State.values)
    assert all(STATE_MOVES.values())


def test_a_state_follows_only_where_it_makes_sense(admin_user):
    study = make_study()
    for before, after in itertools.product(Study.State.values, repeat=2):
        Study.objects.update(state=before)
        if (before, after) in ALLOWED:
            assert change_state(study, after, admin_user).state == after
        else:
            with pytest.raises(StateNotAllowed, match=f"{before} cannot become {after}"):
                change_state(study, after, admin_user)
        study.refresh_from_db()
        assert study.state == (after if (before, after) in ALLOWED else before)
    assert AuditEntry.objects.count() == len(ALLOWED)


def test_a_change_of_state_says_who_made_it(admin_user):
    change_state(make_study(state="draft", slug="birds"), "open", admin_user)
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.study_name) == (admin_user, "state", "birds")
    assert entry.detail == "The state changed from draft to open."


def test_a_study_is_judged_by_its_stored_state(admin_user):
    study = make_study(state="draft")
    Study.objects.update(state="closed")
    with pytest.raises(StateNotAllowed):
        change_state(study, "pilot", admin_user)


def test_nobody_is_let_in_to_settings_that_do_not_hold_any_more(admin_user):
    study = make_study(state="paused")
    Study.objects.update(evaluation_size=400)
    with pytest.raises(StateNotAllowed, match="evaluation images") as refusal:
        change_state(study, "open", admin_user)
    assert set(refusal.value.fields) == {"evaluation_size"}
    assert change_state(study, "closed", admin_user).state == "closed"
