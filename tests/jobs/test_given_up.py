"""What a researcher reads of a job that has cost three workers their lives."""

import html

import pytest
from django.urls import reverse

from jobs.models import Job
from jobs.recovery import look_for_lost_work
from tests.jobs.lost import MAKERS, fall_silent

pytestmark = pytest.mark.django_db


def page_of(kind, job) -> str:
    if kind == "import":
        return reverse("admin:datasets_import_change", args=[job.pk])
    return f"/admin/studies/study/{job.study_id}/rehearsal/"


def test_these_are_all_kinds_of_jobs():
    assert {type(make()) for make in MAKERS.values()} == set(Job.__subclasses__())


@pytest.mark.parametrize("kind", MAKERS)
def test_the_page_of_a_job_that_was_given_up_says_why_and_what_to_do(kind, researcher):
    job = MAKERS[kind]()
    for _ in range(3):
        assert type(job).objects.get().claim()
        fall_silent(job)
        look_for_lost_work()
    page = researcher.get(page_of(kind, job)).content.decode()
    assert "stopped three times" in page
    assert html.escape("the server's log, then") in page
