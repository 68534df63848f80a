"""The results of a study in the admin: what it shows, to whom, and at what cost."""

import csv
import io
from datetime import timedelta
from xml.etree import ElementTree

import numpy as np
import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.results.figures import FIGURES, FORMS
from analysis.results.numbers import gather
from analysis.results.page import WHAT_GAIN_REWARDS, results_page
from evaluation.models import EvaluationItem
from studies.models import Participant, Study, StudyShare, StudyVersion
from teaching.ceiling import ceiling_sentence
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_participant, make_study
from tests.crowd import make_finished
from tests.people import study_address, text_of
from tests.worker import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(dataset=make_dataset(teaching=12, evaluation=8))


def address(study: Study, file: str = "") -> str:
    return study_address(study, f"results/{file}")


def page_of(researcher: Client, study: Study) -> str:
    return text_of(researcher, address(study))


def csv_of(researcher: Client, study: Study, key: str) -> list[dict[str, str]]:
    text = researcher.get(address(study, f"{key}.csv")).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_the_study_links_to_its_results(researcher, study):
    page = researcher.get(f"/admin/studies/study/{study.pk}/change/").content.decode()
    assert f'href="{address(study)}">Results<' in page


def test_the_page_shows_gain_beside_evaluation_with_what_the_gain_rewards(researcher, study):
    make_finished(study, 24)
    page = page_of(researcher, study)
    assert WHAT_GAIN_REWARDS in page
    assert ceiling_sentence(study.dataset) in page
    for key in FIGURES:
        assert f'id="{key}"' in page
        for form in FORMS:
            assert f'href="{address(study, f"{key}.{form}")}"' in page
    numbers = gather(study)
    for arm in study.arm_names:
        mean = np.mean(numbers.values(arm, "teaching_gain"))
        assert f"<b>{100 * mean:+.1f}".replace("-", "−") in page
        assert f"<b>{100 * np.mean(numbers.values(arm, 'evaluation_accuracy')):.1f}" in page
    assert page.count("JEDI − ") == 6


def test_the_page_has_nothing_that_the_policy_forbids(researcher, study):
    make_finished(study, 8)
    page = page_of(researcher, study)
    content = page[page.index('<div class="results-page">') :]
    assert " style=" not in content
    assert "<style" not in content
    assert "<script" not in content[: content.index('id="attrition"')]


def test_every_figure_downloads_in_every_form(researcher, study):
    make_finished(study, 8)
    for key in FIGURES:
        for form, kind in FORMS.items():
            reply = researcher.get(address(study, f"{key}.{form}"))
            assert reply.status_code == 200
            assert reply["Content-Type"] == kind
            assert f'filename="{study.slug}-{key}.{form}"' in reply["Content-Disposition"]
        ElementTree.fromstring(researcher.get(address(study, f"{key}.svg")).content)
        assert researcher.get(address(study, f"{key}.pdf")).content.startswith(b"%PDF")


@pytest.mark.parametrize("file", ["gain.png", "nothing.svg"])
def test_what_is_no_figure_is_not_found(researcher, study, file):
    assert researcher.get(address(study, file)).status_code == 404
    assert researcher.get("/admin/studies/study/987/results/").status_code == 404


def test_the_numbers_behind_a_figure_are_the_database(researcher, study):
    people = make_finished(study, 12)
    rows = csv_of(researcher, study, "gain")
    assert [row["participant"] for row in rows] == [person.code for person in people]
    assert [float(row["teaching_gain"]) for row in rows] == [p.teaching_gain for p in people]
    confusion = csv_of(researcher, study, "confusion")
    assert sum(int(row["answers"]) for row in confusion) == EvaluationItem.objects.count()
    wrong = [row for row in confusion if row["true_class"] != row["answer"]]
    assert (
        sum(int(row["answers"]) for row in wrong)
        == EvaluationItem.objects.filter(is_correct=False).count()
    )
    times = csv_of(researcher, study, "response-times")
    answered = EvaluationItem.objects.count() + TeachingStep.objects.count()
    assert sum(int(row["answers"]) for row in times) == answered


def test_learning_curves_count_first_showings_apart(researcher, study):
    make_finished(study, 12)
    rows = csv_of(researcher, study, "curves")
    for images, steps in {
        "all": TeachingStep.objects.all(),
        "first_seen": TeachingStep.objects.filter(is_first_showing=True),
    }.items():
        chosen = [row for row in rows if row["images"] == images]
        assert sum(int(row["n"]) for row in chosen) == steps.count()
        right = sum(float(row["accuracy"]) * int(row["n"]) for row in chosen)
        assert round(right) == steps.filter(is_correct=True).count()


def test_only_the_finished_count_and_the_lost_are_shown_by_arm(researcher, study):
    make_finished(study, 4)
    long_ago = timezone.now() - timedelta(hours=study.session_hours + 1)
    version = StudyVersion.freeze(study)
    for fields in (
        {"stage": "abandoned", "arm": "jedi", "teaching_gain": 0.9},
        {"stage": "teaching", "arm": "jedi"},
        {"stage": "teaching", "arm": "rt", "last_seen_at": long_ago},
        {"stage": "withdrawn", "arm": "jedi"},
        {"stage": "done", "arm": "imt", "is_excluded": True},
        {"stage": "done", "arm": "imt", "purpose": "pilot"},
        {"stage": "declined"},
        {"stage": "memory"},
    ):
        Participant.objects.create(study=study, version=version, **fields)
    table = results_page(study)["attrition"]
    columns = [column.title for column in table.columns]
    rows = {row[0]: dict(zip(columns, row, strict=True)) for row in table.rows}
    fields = (
        "Joined", "Finished", "Under way", "Abandoned", "Withdrew", "Declined", "Excluded",
        "Lost of those who ended",
    )  # fmt: skip
    assert [rows["JEDI"][name] for name in fields] == [4, 1, 1, 1, 1, "–", 0, "67\u00a0%"]
    assert [rows["RT"][name] for name in fields] == [2, 1, 0, 1, 0, "–", 0, "50\u00a0%"]
    assert [rows["IMT"][name] for name in fields] == [2, 1, 0, 0, 0, "–", 1, "0\u00a0%"]
    before = [rows["before assignment"][name] for name in fields]
    assert before == [2, "–", 1, 0, 0, 1, 0, "100\u00a0%"]
    assert len(csv_of(researcher, study, "gain")) == 4


def test_a_study_without_anybody_says_so(researcher, study):
    page = page_of(researcher, study)
    assert "Nobody has finished yet" in page
    assert 'class="plot"' not in page
    for key in FIGURES:
        for form in FORMS:
            assert researcher.get(address(study, f"{key}.{form}")).status_code == 200


def test_one_real_session_is_described_and_not_tested(researcher):
    study = make_study(arms="rt", dataset=make_dataset(teaching=12, evaluation=8))
    Worker(study).go_to("done")
    page = page_of(researcher, study)
    assert "1 participant has finished" in page
    assert "too few for an interval or a test" in page
    assert ">nan" not in page


def test_few_participants_get_a_quiet_note(researcher, study):
    make_finished(study, 24)
    assert "intervals and p values are rough" in page_of(researcher, study)


def test_missing_numbers_are_left_out_and_counted(researcher, study):
    people = make_finished(study, 24)
    Participant.objects.filter(pk=people[0].pk).update(teaching_gain=None, memory_span=None)
    Participant.objects.filter(pk=people[1].pk).update(arm="")
    EvaluationItem.objects.filter(participant=people[2]).update(response_ms=None)
    assert "2 finished without a teaching gain or a teacher" in page_of(researcher, study)


def test_values_without_spread_break_nothing(researcher, study):
    make_finished(study, 24)
    Participant.objects.update(teaching_gain=0.25, evaluation_accuracy=0.75, memory_span=5.0)
    page = page_of(researcher, study)
    assert "not possible" in page


def test_names_of_classes_cannot_write_formulas_or_marks(researcher):
    dataset = make_dataset(teaching=12, evaluation=8, negative_class="=1+1", positive_class="<b>&")
    study = make_study(dataset=dataset)
    make_finished(study, 4)
    assert {row["true_class"] for row in csv_of(researcher, study, "confusion")} == {
        "'=1+1", "<b>&",
    }  # fmt: skip
    assert "<b>&<" not in page_of(researcher, study)


def count_queries(researcher: Client, study: Study, file: str = "") -> int:
    with CaptureQueriesContext(connection) as queries:
        assert researcher.get(address(study, file)).status_code == 200
    return len(queries)


def test_more_participants_ask_no_more_queries(researcher, study):
    make_finished(study, 4)
    ceiling_sentence(study.dataset)  # It is computed once for a data set.
    few = count_queries(researcher, study)
    make_finished(study, 40, seed=6)
    assert count_queries(researcher, study) == few
    # Session and user, the study with its data set, who may edit it, and five questions about its people.
    assert few == 9
    # While the same people have finished, their answers are not counted again.
    assert count_queries(researcher, study, "gain.svg") == 5


def test_somebody_who_finishes_is_counted_at_once(researcher, study):
    make_finished(study, 4)
    page_of(researcher, study)
    make_finished(study, 4, seed=6)
    confusion = csv_of(researcher, study, "confusion")
    assert sum(int(row["answers"]) for row in confusion) == EvaluationItem.objects.count()


def test_strangers_are_sent_to_the_sign_in(study):
    for file in ("", "gain.csv", "gain.svg"):
        reply = Client().get(address(study, file))
        assert reply.status_code == 302
        assert reply["Location"].startswith("/admin/login/")


@pytest.mark.parametrize(("is_shared", "status"), [(False, 404), (True, 200)])
def test_results_are_for_those_who_may_see_the_study(study, is_shared, status):
    user = User.objects.create_user("grace", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_study"))
    if is_shared:
        StudyShare.objects.create(study=study, user=user)
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    make_participant(study)
    for file in ("", "gain.csv", "gain.svg", "gain.pdf"):
        assert client.get(address(study, file)).status_code == status


def test_pilots_and_bots_have_results_of_their_own(researcher, study):
    make_finished(study, 8)
    make_finished(study, 12, seed=6)
    newest = study.participants.order_by("-pk").values_list("pk", flat=True)[:12]
    study.participants.filter(pk__in=list(newest)).update(purpose="rehearsal")
    assert "8 participants have finished" in page_of(researcher, study)
    bots = text_of(researcher, address(study, "?purpose=rehearsal"))
    assert "12 participants have finished" in bots
    assert "is not a result" in bots
    rows = researcher.get(address(study, "gain.csv"), {"purpose": "rehearsal"}).content.decode()
    assert len(rows.splitlines()) == 13
