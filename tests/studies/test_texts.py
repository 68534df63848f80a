"""Texts are kept in one form, so that a form that was only opened and saved changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.models import StudyVersion
from studies.models.versions import tidy
from tests.admin_form import form_values
from tests.builders import make_participant, make_study


@given(st.text(alphabet="ab \n\r"))
def test_a_tidy_text_stays_as_it_is(text):
    assert tidy(tidy(text)) == tidy(text)
    assert "\r" not in tidy(text)
    assert tidy(text.replace("\r", "").replace("\n", "\r\n")) == tidy(text.replace("\r", ""))


@pytest.mark.django_db
def test_saving_a_form_unchanged_makes_no_version(researcher):
    study = make_study(welcome="Hello.\n\nWelcome.\n", consent="One.\nTwo.\n\n")
    make_participant(study)
    page = f"/admin/studies/study/{study.pk}/change/"
    values = form_values(researcher, page)
    for name in ("welcome", "consent"):
        values[name] = values[name].replace("\n", "\r\n")
    assert (
        researcher.post(f"/admin/studies/study/{study.pk}/check/", values).json()["changes"] == []
    )
    assert researcher.post(page, values).status_code == 302
    assert StudyVersion.objects.count() == 1
