"""The check list on its page, at opening and on the monitor."""

from datetime import timedelta

import pytest
from django.utils import timezone

from desk.check_rules import RULES
from desk.checks import check_list, check_summary
from studies.models import Participant, Study, StudyVersion
from tests.builders import make_dataset, make_study
from tests.people import browser_of, make_researcher, share, study_address, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    dataset = make_dataset(teaching=40, evaluation=100)
    return make_study(short=False, dataset=dataset, state="draft", reward="3.05")


def test_the_list_has_a_line_for_every_check_and_opens_the_study(researcher, study):
    page = text_of(researcher, study_address(study, "checks/"))
    for check in RULES:
        assert f'id="check-{check.key}"' in page
    assert check_summary(check_list(study)) in page
    assert 'name="state" value="open"' in page
    reply = researcher.post(study_address(study, "state/"), {"state": "open"}, follow=True)
    assert "The study is now open." in reply.content.decode()


def test_what_cannot_run_cannot_be_opened(researcher, study):
    Study.objects.update(evaluation_size=400)
    page = text_of(researcher, study_address(study, "checks/"))
    assert "The study cannot run yet." in page
    assert 'name="state"' not in page
    researcher.post(study_address(study, "state/"), {"state": "open"})
    assert Study.objects.get().state == "draft"


def test_opening_leads_through_the_list(researcher, study):
    link = f'href="/admin/studies/study/{study.pk}/checks/"'
    for state, name in (
        ("draft", "Open the study"),
        ("paused", "Open again"),
        ("closed", "Open again"),
    ):
        Study.objects.update(state=state)
        for page in ("change/", "monitor/"):
            text = text_of(researcher, study_address(study, page))
            assert f"{name}&nbsp;…</a>" in text and link in text
            assert 'name="state" value="open"' not in text


def test_a_reader_sees_the_list_without_the_button(study):
    reader = share(study, make_researcher("grace"))
    page = text_of(browser_of(reader), study_address(study, "checks/"))
    assert 'id="check-rate"' in page
    assert 'name="state"' not in page


def test_the_monitor_raises_half_a_minute_and_its_pay(researcher, study):
    page = text_of(researcher, study_address(study, "monitor/"))
    assert 'class="is-alarm"' not in page
    version, start = StudyVersion.freeze(study), timezone.now() - timedelta(hours=1)
    Participant.objects.create(
        study=study,
        version=version,
        stage="done",
        consented_at=start,
        finished_at=start + timedelta(seconds=27),
    )
    for address in ("monitor/", "monitor/news/"):
        page = text_of(researcher, study_address(study, address))
        assert page.count('class="is-alarm"') == 2
        assert "GBP 406.67 an hour" in page
        assert "1 of the 1 participants who finished took less than 3" in page
    bots = text_of(researcher, study_address(study, "monitor/?purpose=rehearsal"))
    assert 'id="alarms"' not in bots, "bots may be fast"


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        ("fine fine", "All 2 checks passed."),
        ("fine note", "1 of 2 checks passed; 1 needs attention."),
        ("fine question note", "1 of 3 checks passed; 2 need attention."),
        ("obstacle fine", "The study cannot run yet."),
    ],
)
def test_the_list_comes_to_a_sentence(grades, words):
    class Line:
        def __init__(self, grade: str) -> None:
            self.grade = grade

    assert check_summary([Line(grade) for grade in grades.split()]) == words
