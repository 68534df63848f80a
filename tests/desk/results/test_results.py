"""The results of a study in the admin: what it shows, to whom, and at what cost."""

import csv
import io
import re
from datetime import timedelta
from xml.etree import ElementTree

import numpy as np
import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from scipy.stats import spearmanr

from analysis.results.data import load_results
from analysis.results.figures import FIGURES, FORMS
from analysis.results.page import WHAT_GAIN_REWARDS, results_page
from evaluation.models import EvaluationItem
from studies.models import AuditEntry, Participant, Study, StudyShare, StudyVersion
from teaching.ceiling import ceiling_sentence
from teaching.decay import estimate_group
from teaching.models import TeachingStep
from teaching.services import FITTED
from tests.analysis.charts.pdf_reader import texts_of
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
    text = b"".join(researcher.get(address(study, f"{key}.csv"))).decode()
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
    numbers = load_results(study)
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
        "Share lost",
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
    page = page_of(researcher, study)
    assert "2 of them without teaching gain or without a teacher: not shown." in page
    assert "1 of them without evaluation accuracy or without a teacher: not shown." in page


def test_values_without_spread_break_nothing(researcher, study):
    make_finished(study, 24)
    Participant.objects.update(teaching_gain=0.25, evaluation_accuracy=0.75, memory_span=5.0)
    page = page_of(researcher, study)
    assert "not possible" in page


def test_names_of_classes_cannot_write_formulas_or_marks(researcher):
    dataset = make_dataset(teaching=12, evaluation=8, classes=("=1+1", "<b>&"))
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
    # Session and user, the study with its data set, who may edit it, seven questions about its people, its versions,
    # and the names of its classes.
    assert few == 13
    # While the same people have finished, their answers are not counted again.
    assert count_queries(researcher, study, "gain.svg") == 7


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
    assert "12 bots have finished" in bots
    assert "is not a result" in bots


@pytest.mark.parametrize(
    ("purpose", "words", "mark"),
    [("rehearsal", "bots, not people", "-bots"), ("pilot", "pilots", "-pilots")],
)
def test_bots_and_pilots_never_look_like_people_who_count(researcher, study, purpose, words, mark):
    make_finished(study, 4)
    study.participants.update(purpose=purpose)

    def content(file: str) -> bytes:
        reply = researcher.get(address(study, file), {"purpose": purpose})
        name, _, form = file.rpartition(".")
        assert f'"{study.slug}-{name}{mark}.{form}"' in reply["Content-Disposition"]
        return b"".join(reply)

    page = text_of(researcher, address(study, f"?purpose={purpose}"))
    for key in FIGURES:
        rows = list(csv.DictReader(io.StringIO(content(f"{key}.csv").decode())))
        assert {row["purpose"] for row in rows} <= {purpose}
        # In the picture itself, and as its title.
        assert re.search(rf"<text [^>]*>{words}</text>", content(f"{key}.svg").decode())
    assert words in {shown.text for shown in texts_of(content("gain.pdf"))}
    assert len(re.findall(rf"<text [^>]*>{words}</text>", page)) == len(FIGURES)
    assert page.count(f"({words})</title>") == len(FIGURES)


def test_pictures_of_people_have_nothing_written_across_them(researcher, study):
    make_finished(study, 4)
    assert "watermark" not in page_of(researcher, study)
    assert {row["purpose"] for row in csv_of(researcher, study, "accuracy")} == {"live"}


def test_a_table_with_a_row_for_each_person_is_an_export_and_on_record(
    researcher, admin_user, study
):
    make_finished(study, 4)
    for key in FIGURES:
        for form in ("csv", "svg"):
            assert researcher.get(address(study, f"{key}.{form}")).status_code == 200
    with_people = [
        "gain", "evaluation", "gain-by-memory", "evaluation-by-memory", "decay", "unique-examples",
    ]  # fmt: skip
    entries = AuditEntry.objects.filter(study=study, action="export", actor=admin_user)
    assert {entry.detail for entry in entries} == {
        f"Downloaded {study.slug}-{key}.csv." for key in with_people
    }


# The primary outcome


def headings(page: str) -> list[str]:
    return re.findall(r"<h2>([^<]*outcome[^<]*)</h2>", page)


@pytest.mark.parametrize(
    ("primary", "first", "second"),
    [
        ("teaching_gain", "Teaching gain", "Evaluation accuracy"),
        ("evaluation_accuracy", "Evaluation accuracy", "Teaching gain"),
    ],
)
def test_results_lead_with_the_primary_outcome_and_mark_the_other(
    researcher, study, primary, first, second
):
    study.primary_outcome = primary
    study.save()
    make_finished(study, 24)
    assert headings(page_of(researcher, study)) == [
        f"{first} (primary outcome): comparisons",
        f"{second} (secondary outcome): comparisons",
        f"{first} by teacher: primary outcome",
        f"{second} by teacher: secondary outcome",
    ]
    groups = [column.group for column in results_page(study)["arms"].columns if column.group]
    assert f"{first}, " in groups[0]
    assert "(primary outcome)" in groups[0]
    assert f"{second}, " in groups[3]


def test_a_primary_outcome_that_was_changed_later_is_confessed(study):
    make_finished(study, 8)
    assert not any("another one" in note for note in results_page(study)["notes"])
    study.primary_outcome = "evaluation_accuracy"
    study.save()
    (note,) = [note for note in results_page(study)["notes"] if "another one" in note]
    assert "when people of version 1 joined" in note


# Memory decay


def test_fitted_decay_stands_beside_the_memory_span_with_intervals(researcher, study):
    people = make_finished(study, 48)
    Participant.objects.filter(pk=people[0].pk).update(**dict.fromkeys(FITTED))
    table = results_page(study)["decay"]
    fitted = people[1:]
    assert [row[:2] for row in table.rows] == [
        ["JEDI", 11], ["IMT", 12], ["EER", 12], ["RT", 12], ["all teachers", 47],
    ]  # fmt: skip
    spans, betas = (
        [getattr(one, name) for one in fitted] for name in ("memory_span", "beta_fitted")
    )
    group = estimate_group([[one.beta_likelihood] for one in fitted])
    assert table.rows[-1][2] == f"{np.median(spans):.2f}"
    assert table.rows[-1][4] == f"{1 - 1 / np.median(spans):.2f}"
    ordered = sorted(spans)
    # Of 47 values in order the 17th and the 31st: fewer than 17 heads in 47 tosses come in 2 % of the cases.
    assert table.rows[-1][3] == f"{ordered[16]:.2f} to {ordered[30]:.2f}"
    assert table.rows[-1][6:8] == [
        f"{group.mean:.2f}",
        f"{group.low:.2f} to {group.high:.2f}",
    ]
    rho = f"{spearmanr(spans, betas).statistic:.2f}".replace("-", "−")
    assert table.rows[-1][8] == rho
    silent = sum((one.beta_fitted_low, one.beta_fitted_high) == (0, 0.95) for one in fitted)
    assert table.rows[-1][-1] == f"{silent} of 47"
    assert "1 of them without memory span or beta or beta fitted" in table.note
    assert f"ρ = {rho}" in page_of(researcher, study)
    [figure] = [one for one in results_page(study)["figures"] if one.key == "decay"]
    assert "Single fits of about thirty answers lean towards the middle" in figure.caption
    rows = csv_of(researcher, study, "decay")
    assert [float(row["beta_fitted"]) for row in rows[1:]] == betas
    assert rows[0]["beta_fitted"] == ""


def test_people_of_before_fits_were_kept_have_results_without_them(study):
    make_finished(study, 4)
    Participant.objects.update(**dict.fromkeys(FITTED))
    assert results_page(study)["decay"] is None


# Equal steps


def test_mean_steps_are_shown_and_compared_at_equal_steps(study):
    study.medium_steps = study.other_steps
    study.save()
    people = make_finished(study, 60)
    page = results_page(study)
    steps = [person.teaching_steps for person in people if person.arm == "jedi"]
    columns = [(column.group, column.title) for column in page["arms"].columns]
    place = columns.index(("Images shown", "mean"))
    assert page["arms"].rows[0][place] == f"{np.mean(steps):.1f}"
    alike = [person for person in people if person.memory_span <= study.medium_memory_up_to]
    assert page["equal_steps"]["people"] == len(alike) < len(people)
    rows = page["equal_steps"]["arms"].rows
    assert {row[place] for row in rows} == {f"{study.other_steps:.1f}"}
    assert sum(row[1] for row in rows) == len(alike)


def test_equal_steps_need_no_comparison_of_their_own(study):
    study.arms = "eer,rt"
    study.save()
    make_finished(study, 12)
    assert results_page(study)["equal_steps"] == {}


# Who is in it, and which versions


def make_second_version(study: Study, **settings) -> None:
    for name, value in settings.items():
        setattr(study, name, value)
    study.save()


def test_every_table_and_figure_says_whom_it_leaves_out(researcher, study):
    people = make_finished(study, 24)
    Participant.objects.filter(pk__in=[people[0].pk, people[1].pk]).update(is_excluded=True)
    make_participant(study)
    sample = (
        "22 live participants who finished. Left out: 1 who did not finish, or not yet, 2 excluded."
    )
    page = results_page(study)
    assert page["arms"].note == sample
    assert [one["comparisons"].note for one in page["analyses"]] == [sample, sample]
    assert [figure.sample for figure in page["figures"]] == [sample] * len(FIGURES)
    assert {row["sample"] for row in csv_of(researcher, study, "curves")} == {sample}
    drawing = " ".join(
        ElementTree.fromstring(researcher.get(address(study, "gain.svg")).content).itertext()
    )
    assert "Left out: 1 who did not finish" in " ".join(drawing.split())


def test_versions_that_differ_are_not_mixed_unless_somebody_decides_so(researcher, study):
    make_finished(study, 8)
    make_second_version(study, evaluation_size=4)
    make_finished(study, 12, seed=6)
    page = page_of(researcher, study)
    assert "12 participants have finished" in page
    assert "This page is about version 2 only" in page
    assert "8 of version 1" in page
    older = text_of(researcher, address(study, "?version=1"))
    assert "8 participants have finished" in older
    assert f'href="{address(study, "gain.csv?version=1")}"' in older
    pooled = text_of(researcher, address(study, "?version=all"))
    assert "20 participants have finished" in pooled
    sentence = "Versions 1 and 2 are pooled by choice, although they differ in: evaluation images."
    assert pooled.count(sentence) > len(FIGURES)
    reply = researcher.get(address(study, "gain.csv?version=all"))
    assert f"{study.slug}-gain-pooled-versions-1-2.csv" in reply["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(b"".join(reply).decode())))
    assert {(row["study_version"], sentence in row["sample"]) for row in rows} == {
        ("1", True), ("2", True),
    }  # fmt: skip


def test_versions_that_differ_in_nothing_that_matters_are_one_sample(researcher, study):
    make_finished(study, 8)
    make_second_version(study, consent="Do you agree? Really?", arms="rt,eer,imt,jedi")
    make_finished(study, 12, seed=6)
    page = page_of(researcher, study)
    assert "20 participants have finished" in page
    assert "pooled by choice" not in page
    assert "8 participants have finished" in text_of(researcher, address(study, "?version=1"))


@pytest.mark.parametrize("version", ["3", "one", "1,", "-1", "1;2"])
def test_a_version_that_does_not_exist_is_not_found(researcher, study, version):
    make_finished(study, 4)
    for file in ("", "gain.csv"):
        assert researcher.get(address(study, file), {"version": version}).status_code == 404
