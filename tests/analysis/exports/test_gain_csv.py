"""The CSV of teaching gain: what is in it, who may have it, and what a spreadsheet makes of it."""

import csv
import io
from datetime import datetime

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from analysis.exports.files import Selection, gain_csv
from analysis.exports.formats import cell
from studies.models import Participant, Study, StudyShare
from tests.builders import make_study
from tests.worker import Worker


def rows_of(study: Study) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(gain_csv(Selection(study))))))


@pytest.mark.django_db
def test_there_is_one_row_per_participant_with_what_is_stored():
    study = make_study()
    finished, under_way = Worker(study), Worker(study)
    finished.go_to("done")
    under_way.go_to("teaching")
    declined = Worker(study)
    declined.answer(position=1, agree=False)

    first, second, third = rows_of(study)
    person = finished.participant
    assert first["study"] == study.slug
    assert first["participant"] == person.code
    assert (first["status"], second["status"], third["status"]) == ("done", "teaching", "declined")
    assert [first["arm"], second["arm"], third["arm"]] == ["jedi", "imt", ""]
    assert [first["memory_length_1"], first["memory_length_2"]] == ["3", "3"]
    for name in (
        "memory_span",
        "beta",
        "first_seen_accuracy",
        "evaluation_accuracy",
        "teaching_gain",
    ):
        assert float(first[name]) == getattr(person, name)
    assert int(first["teaching_steps"]) == person.teaching_steps
    assert int(first["unique_examples"]) == person.unique_examples
    assert datetime.fromisoformat(first["finished_at"]) == person.finished_at
    assert float(first["duration_s"]) >= 0
    assert second["teaching_gain"] == third["memory_span"] == ""


@pytest.mark.django_db
def test_an_overdue_session_counts_as_abandoned():
    study = make_study()
    worker = Worker(study)
    Participant.objects.update(last_seen_at="2020-01-01T00:00Z")
    assert rows_of(study)[0]["status"] == "abandoned"
    assert worker.participant.stage == "consent"


@pytest.mark.django_db
def test_a_negative_gain_stays_a_number():
    study = make_study()
    Worker(study)
    Participant.objects.update(teaching_gain=-0.25)
    assert rows_of(study)[0]["teaching_gain"] == "-0.25"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_never_becomes_a_formula(start):
    assert cell(f"{start}HYPERLINK(1)") == f"'{start}HYPERLINK(1)"


@given(st.text())
def test_no_text_at_all_begins_like_a_formula(text):
    assert not str(cell(text)).startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@given(st.floats(allow_nan=False) | st.integers())
def test_numbers_are_left_alone(number):
    assert cell(number) == number


@pytest.mark.django_db
def test_a_formula_in_the_data_is_harmless_in_the_file():
    study = make_study()
    Worker(study)
    Participant.objects.update(arm="=1+1")
    assert rows_of(study)[0]["arm"] == "'=1+1"


@pytest.mark.django_db
def test_the_admin_streams_the_file(researcher):
    study = make_study()
    Worker(study).go_to("done")
    reply = researcher.get(f"/admin/studies/study/{study.pk}/downloads/teaching-gain.csv")
    assert reply.status_code == 200
    assert reply.streaming
    assert reply["Content-Type"] == "text/csv; charset=utf-8"
    assert f'filename="{study.slug}-teaching-gain.csv"' in reply["Content-Disposition"]
    assert b"".join(reply).decode() == "".join(gain_csv(Selection(study)))


@pytest.mark.django_db
def test_the_file_is_for_those_who_may_see_the_study():
    study = make_study()
    address = f"/admin/studies/study/{study.pk}/downloads/teaching-gain.csv"
    assert Client().get(address).status_code == 302

    staff = User.objects.create_user("assistant", is_staff=True)
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(address).status_code == 404

    staff.user_permissions.add(Permission.objects.get(codename="view_study"))
    assert client.get(address).status_code == 404

    StudyShare.objects.create(study=study, user=staff)
    assert client.get(address).status_code == 200


@pytest.mark.django_db
def test_the_file_of_an_unknown_study_is_not_there(researcher):
    assert researcher.get("/admin/studies/study/987/downloads/teaching-gain.csv").status_code == 404


@pytest.mark.django_db
def test_the_command_writes_the_same_file_to_the_screen_or_to_disk(tmp_path):
    study = make_study()
    Worker(study).go_to("done")
    screen = io.StringIO()
    call_command("export_gain", study.slug, stdout=screen)
    call_command("export_gain", study.slug, "--output", str(tmp_path / "gain.csv"))
    text = "".join(gain_csv(Selection(study)))
    assert screen.getvalue() == text
    assert (tmp_path / "gain.csv").read_bytes().decode() == text


@pytest.mark.django_db
def test_the_command_names_the_studies_that_there_are():
    study = make_study()
    with pytest.raises(CommandError, match=study.slug):
        call_command("export_gain", "nothing-like-it")
