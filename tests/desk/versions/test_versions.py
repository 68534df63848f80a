"""The versions of a study as people read them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk.versions import TextLine, changed_lines, differences
from studies.models import Study
from tests.builders import make_dataset, make_participant, make_study
from tests.people import study_address, text_of

pytestmark = pytest.mark.django_db


def page_of(researcher, study: Study) -> str:
    return text_of(researcher, study_address(study, "versions/"))


def edited(study: Study, **changes) -> Study:
    study = Study.objects.get(pk=study.pk)
    for name, value in changes.items():
        setattr(study, name, value)
    study.full_clean()
    study.save()
    return study


def test_a_study_that_nobody_joined_has_none(researcher):
    assert "Nobody has joined yet, so there is no version" in page_of(researcher, make_study())


def test_each_version_has_its_date_hash_people_and_changes(researcher):
    study = make_study(arms="jedi,rt")
    make_participant(study)
    make_participant(study)
    study = edited(study, evaluation_size=10, arms="rt,jedi", memory_practice=True)
    make_participant(study)
    make_participant(study, purpose="preview")
    page = page_of(researcher, study)
    for version in study.versions.all():
        assert version.hash in page
        assert f"{version.created_at:%Y, %H:%M}" in page
    newest, first = page.split('id="version-1"')
    assert "The first version." in first
    for words in ("evaluation images", ">6<", ">10<", ">JEDI, RT<", ">RT, JEDI<", ">no<", ">yes<"):
        assert words in newest
    assert newest.count('<th scope="row">') >= 3
    people = (
        "<dt>Live participants</dt><dd>{}</dd></div><div><dt>Pilots, previews, bots</dt><dd>{}</dd>"
    )
    assert people.format(1, 1) in newest
    assert people.format(2, 0) in first


def test_each_version_lists_all_its_settings(researcher):
    study = make_study(evaluation_size=4)
    make_participant(study)
    page = page_of(researcher, edited(study, evaluation_size=10))
    newest, first = page.split('id="version-1"')
    for version, size in ((newest, 10), (first, 4)):
        settings = version.split('<table class="settings">')[1]
        assert f'<th scope="row">evaluation images</th><td>{size}</td>' in settings
        assert settings.count('<th scope="row">') == len(study.configuration())


def test_a_text_is_compared_line_by_line(researcher):
    study = make_study(consent="One.\n\nTwo.\n\nThree.")
    make_participant(study)
    page = page_of(researcher, edited(study, consent="One.\n\nTwo and a half.\n\nThree."))
    assert "<del>Two.</del><ins>Two and a half.</ins>" in page


def test_what_was_typed_is_never_markup(researcher):
    study = make_study(consent="Agree?")
    make_participant(study)
    page = page_of(researcher, edited(study, consent="<script>alert(1)</script>", welcome="<b>Hi"))
    assert "<script>alert" not in page
    assert "<ins>&lt;script&gt;alert(1)&lt;/script&gt;</ins>" in page


def test_lines_far_apart_have_a_gap_between_them():
    old = [f"line {number}" for number in range(9)]
    new = [*old[:1], "new", *old[2:7], "newer", *old[8:]]
    lines = list(changed_lines("\n".join(old), "\n".join(new)))
    assert [line.kind for line in lines] == [
        "same", "removed", "added", "same", "gap", "same", "removed", "added", "same",
    ]  # fmt: skip
    assert lines[1:3] == [TextLine("removed", "line 1"), TextLine("added", "new")]


def test_values_are_shown_as_the_form_shows_them():
    study = make_study()
    old = study.configuration()
    other = make_dataset(name="Moths")
    new = old | {
        "assignment": "fill_gaps",
        "repeat_window": 3,
        "learning_rate": 0.5,
        "dataset": {"key": other.key, "name": "Moths", "version": 2},
    }
    found = {change.name: (change.old, change.new) for change in differences(old, new)}
    assert set(found) == {"assignment", "repeat window", "learning rate η₀", "data set"}
    assert found["assignment"][1].startswith("fill gaps:")
    assert found["repeat window"] == ("empty", "3")
    assert found["learning rate η₀"] == (f"{study.dataset.learning_rate:g}", "0.5")
    assert found["data set"][1] == "Moths, version 2"


def test_settings_that_came_or_went_with_the_software_are_said_so():
    [came] = differences({"seed": 1}, {"seed": 1, "minutes": 20})
    assert str(came) == "minutes it takes: not a setting → 20"
    [went] = differences({"seed": 1, "old_dial": 4}, {"seed": 1})
    assert str(went) == "old dial: 4 → not a setting"
    [text] = differences({}, {"welcome": "Hello"})
    assert (text.old, text.new, text.lines) == ("not a setting", "Hello", ())


def test_the_page_costs_the_same_however_many_versions_there_are(researcher):
    study = make_study()
    make_participant(study)

    def cost() -> int:
        with CaptureQueriesContext(connection) as sent:
            page_of(researcher, study)
        return len(sent)

    one = cost()
    for size in (4, 8, 10):
        edited(study, evaluation_size=size)
    assert study.versions.count() == 4
    assert cost() == one
