"""A new teacher is one class and one row: a session with it, and every page that names it, need nothing else."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from django.utils.html import escape

from analysis.exports.datasheet import codebook_csv, codebook_markdown
from analysis.results.page import reference_of
from studies.models import Participant, Study
from teaching.engine import TEACHERS, Explanation, Pool, Teacher
from teaching.engine.history import Past
from teaching.engine.learners.paper import error_probability
from teaching.engine.teachers.base import Fact, Judgement
from teaching.models import TeachingStep
from teaching.services import replay
from tests.builders import make_dataset, make_study
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, kw_only=True)
class HardestExplanation(Explanation):
    hard: int

    def facts(self) -> list[Fact]:
        return [("images that are probably wrong", str(self.hard))]


@dataclass(frozen=True, kw_only=True)
class Hardest(Teacher):
    """Shows the example with the largest estimated error probability."""

    name: ClassVar[str] = "hardest"
    title: ClassVar[str] = "Hardest First"
    description: ClassVar[str] = "Shows the image that the worker is most likely to get wrong."
    length_follows_memory: ClassVar[bool] = True
    is_reference: ClassVar[bool] = True

    def default_window(self) -> int:
        return 1

    def judge(self, pool: Pool, past: Past) -> Judgement:
        p = self.probabilities(pool, past)
        f = error_probability(p, pool.labels)
        why = HardestExplanation(
            text="It looked for the image that is most likely to be answered wrongly.",
            score_name="chance of a right answer",
            hard=int((f > 0.5).sum()),
        )
        return Judgement(p, 1 - f, explanation=why)


@pytest.fixture
def study(monkeypatch) -> Study:
    monkeypatch.setitem(TEACHERS, Hardest.name, Hardest)
    return make_study(dataset=make_dataset(teaching=16, evaluation=6), arms="rt,hardest")


@pytest.fixture
def participant(study) -> Participant:
    """The second of two workers who finished: round robin gives it the made-up teacher."""
    Worker(study).go_to("done")
    worker = Worker(study)
    worker.go_to("done")
    return worker.participant


def read(client, path: str) -> str:
    reply = client.get(path)
    assert reply.status_code == 200
    return reply.content.decode()


def test_a_whole_session_is_taught_by_it(study, participant):
    assert (participant.arm, participant.stage) == ("hardest", "done")
    # A right memory test of length 3: the length follows the span.
    assert participant.memory_span == 3
    assert participant.teaching_steps == study.short_steps
    steps = list(TeachingStep.objects.of(participant))
    assert [step.is_random for step in steps] == [True] * 3 + [False] * 3
    assert all(step.score is not None and step.diversity is None for step in steps)
    assert all(step.matches for step in replay(participant))


def test_the_study_form_offers_it_with_its_title_and_description(researcher, study):
    page = read(researcher, f"/admin/studies/study/{study.pk}/change/")
    assert 'name="arms" value="hardest" checked' in page
    assert "<b>Hardest First</b>" in page
    assert escape(Hardest.description) in page


def test_the_why_page_tells_its_own_explanation(researcher, participant):
    page = read(researcher, f"/admin/studies/participant/{participant.pk}/why/6/")
    assert "shown by Hardest First" in page
    assert "the lowest chance of a right answer" in page
    assert "most likely to be answered wrongly" in page
    assert "<dt>images that are probably wrong</dt>" in page
    assert ">Chance of a right answer</th>" in page


def test_the_why_page_of_another_teacher_tells_what_it_would_have_shown(researcher, participant):
    other = Participant.objects.get(arm="rt")
    page = read(researcher, f"/admin/studies/participant/{other.pk}/why/6/")
    assert "Hardest First would have shown" in page
    assert "<dt>chance of a right answer</dt>" in page


@pytest.mark.parametrize("page", ["monitor/", "results/", "model/", "preview/", "quality/"])
def test_the_pages_of_the_study_call_it_by_its_title(researcher, study, participant, page):
    assert "Hardest First" in read(researcher, f"/admin/studies/study/{study.pk}/{page}")


def test_the_participant_pages_call_it_by_its_title(researcher, participant):
    page = read(researcher, f"/admin/studies/participant/{participant.pk}/change/")
    assert "Hardest First" in page
    people = read(researcher, "/admin/studies/participant/?arm=hardest")
    assert participant.code in people
    assert people.count("Hardest First") > 1


def test_results_compare_the_others_with_it_if_it_says_so(study):
    assert reference_of(["rt", "hardest"]) == "hardest"


def test_the_codebook_lists_it(study):
    for text in (
        codebook_csv(study, identifiable=False),
        codebook_markdown(study, identifiable=False),
    ):
        assert "hardest (Hardest First)" in text
