"""A small study whose results are known: everything that the page states about it, worked out by hand or by SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from django.utils import timezone
from scipy import stats as scipy_stats

from analysis.results import data, figures
from analysis.results.decay import decay_table
from analysis.results.page import (
    analyse,
    compare_with,
    detectable_notes,
    results_page,
    size_notes,
)
from evaluation.models import EvaluationItem
from studies.models import Example, Participant, Study, StudyVersion
from studies.version_groups import VersionChoice, VersionGroup, VersionPeople
from teaching import decay
from teaching.models import TeachingStep
from tests.builders import make_dataset, make_study

pytestmark = pytest.mark.django_db

# By arm: the gain and the evaluation accuracy of every participant.
GAINS = {
    "jedi": (0.10, 0.20, 0.30, 0.20, 0.20, 0.40),
    "rt": (0.00, 0.10, -0.10, 0.00, 0.20),
    "imt": (0.05, 0.15),
}
ACCURACIES = {
    "jedi": (0.9, 0.8, 1.0, 0.7, 0.8, 0.9),
    "rt": (0.5, 0.6, 0.7, 0.6, 0.5),
    "imt": (0.8, 0.6),
}
SPANS = {"jedi": (4.0, 5.0, 6.0, 4.5, 5.5, 7.0), "rt": (5.0, 4.0, 6.0, 5.5, 4.5), "imt": (4.0, 5.0)}


@pytest.fixture
def study() -> Study:
    study = make_study(arms="jedi,rt,imt", dataset=make_dataset(teaching=12, evaluation=8))
    version = StudyVersion.freeze(study)
    for arm, gains in GAINS.items():
        for place, gain in enumerate(gains):
            Participant.objects.create(
                study=study,
                version=version,
                stage="done",
                arm=arm,
                teaching_gain=gain,
                evaluation_accuracy=ACCURACIES[arm][place],
                first_seen_accuracy=ACCURACIES[arm][place] - gain,
                evaluation_kappa=2 * ACCURACIES[arm][place] - 1,
                memory_span=SPANS[arm][place],
                beta=1 - 1 / SPANS[arm][place],
                teaching_steps=30 + place,
                unique_examples=10 + place,
            )
    return study


def cells(table, row: int) -> list:
    return list(table.rows[row])


def answer(person: Participant, position: int, example: Example, is_right: bool, **fields) -> None:
    """A teaching step, or with `item` an evaluation item."""
    task = EvaluationItem if "item" in fields else TeachingStep
    if task is TeachingStep:
        fields = {
            "step": position, "is_random": False, "probabilities": [0.5, 0.5], "p": 0.5, "f": 0.5,
            "learning_rate": 0.03, "choice_ms": 1.0, "is_first_showing": True, **fields,
        }  # fmt: skip
    task.objects.create(
        participant=person,
        position=position,
        example=example,
        answer=example.label if is_right else 1 - example.label,
        is_correct=is_right,
        answered_at=timezone.now(),
        **fields,
    )


def test_the_table_of_arms_has_means_deviations_and_intervals(study):
    table = results_page(study)["arms"]
    low, high = scipy_stats.t.interval(
        0.95, 5, np.mean(GAINS["jedi"]), scipy_stats.sem(GAINS["jedi"])
    )
    jedi = cells(table, 0)
    assert jedi[:4] == ["JEDI", 6, "+23.3", "10.3"]
    assert jedi[4] == f"+{100 * low:.1f} to +{100 * high:.1f}"
    # Evaluation accuracy, κ = 2 · 0.85 − 1, first seen = 0.85 − 0.2333.
    assert jedi[5].startswith("85.0")
    assert jedi[6] == "10.5"
    assert jedi[8] == "0.70"
    assert jedi[9].startswith("61.7")
    # Images shown 30 to 35, different images 10 to 15, n̄.
    assert (jedi[10], *jedi[12:]) == ("32.5", "12.5", "5.33")
    # Two participants have no interval.
    imt = cells(table, 2)
    assert imt[:5] == ["IMT", 2, "+10.0", "7.1", "–"]


def test_the_primary_outcome_leads(study):
    study.primary_outcome = "evaluation_accuracy"
    study.save()
    assert cells(results_page(study)["arms"], 0)[2].startswith("85.0")
    keys = [figure.key for figure in results_page(study)["figures"]]
    assert keys[:2] == ["evaluation", "gain"]
    assert keys.index("evaluation-by-memory") + 1 == keys.index("gain-by-memory")


def test_tests_are_scipys_and_leave_out_arms_that_are_too_small(study):
    analysis = analyse(data.load_results(study), "teaching_gain")
    jedi, rt = GAINS["jedi"], GAINS["rt"]
    welch = scipy_stats.f_oneway(jedi, rt, equal_var=False)
    assert (analysis.welch.statistic, analysis.welch.p) == pytest.approx(
        (welch.statistic, welch.pvalue)
    )
    # With two groups F is t², and its second degrees of freedom are Welch's.
    t = scipy_stats.ttest_ind(jedi, rt, equal_var=False)
    assert (analysis.welch.df, analysis.welch.df2) == pytest.approx((1, t.df))
    kruskal = scipy_stats.kruskal(jedi, rt)
    assert (analysis.kruskal.statistic, analysis.kruskal.p) == pytest.approx(
        (kruskal.statistic, kruskal.pvalue)
    )
    assert analysis.reference == "jedi"
    assert list(analysis.comparisons) == ["rt"]
    pair = analysis.comparisons["rt"]
    assert pair.difference == pytest.approx(np.mean(jedi) - np.mean(rt))
    assert (pair.test.statistic, pair.test.df, pair.test.p) == pytest.approx(
        (t.statistic, t.df, t.pvalue)
    )
    assert pair.p_holm == pytest.approx(t.pvalue)
    limits = t.confidence_interval(0.95)
    assert (pair.interval.low, pair.interval.high) == pytest.approx((limits.low, limits.high))
    assert {arm: one.n for arm, one in analysis.summaries.items()} == {"jedi": 6, "rt": 5, "imt": 2}


def test_p_values_are_corrected_over_the_comparisons_with_the_reference():
    values = {"jedi": (0.5, 0.6, 0.7), "rt": (0.1, 0.2, 0.4), "imt": (0.4, 0.5, 0.55)}
    pairs = compare_with("jedi", ["jedi", "rt", "imt"], values)
    assert list(pairs) == ["rt", "imt"]
    p = [pairs[arm].test.p for arm in ("rt", "imt")]
    assert [pairs[arm].p_holm for arm in ("rt", "imt")] == pytest.approx([2 * p[0], p[1]])
    assert compare_with("jedi", ["rt", "imt"], values) == {}
    assert compare_with(None, ["rt"], values) == {}


def test_the_page_states_the_tests(study):
    first = results_page(study)["analyses"][0]
    t = scipy_stats.ttest_ind(GAINS["jedi"], GAINS["rt"], equal_var=False)
    p = f"{t.pvalue:.3f}"
    assert first["welch"] == f"F(1, {t.df:.1f}) = {t.statistic**2:.2f}, p\u00a0=\u00a0{p}"
    kruskal = scipy_stats.kruskal(GAINS["jedi"], GAINS["rt"])
    assert first["kruskal"].startswith(f"H(1) = {kruskal.statistic:.2f}, ")
    row = cells(first["comparisons"], 0)
    assert row[:2] == ["JEDI − RT", "+19.3"]
    assert row[3:6] == [f"{t.statistic:.2f} ({t.df:.1f})", p, p]


def test_notes_follow_the_smallest_tested_arm(study):
    results = data.load_results(study)
    few, detectable = size_notes(results, "teaching_gain")
    assert "IMT" in few
    assert "JEDI" not in few
    assert "RT" not in few
    assert detectable.startswith("With 5 in the smallest arm")
    assert "rough" in detectable_notes(19)[0]
    assert "rough" not in detectable_notes(20)[0]
    assert detectable_notes(0) == []


def test_attrition_counts_every_state_once(study):
    version = study.versions.get()
    for arm, fields in (
        ("jedi", {"stage": "teaching"}),
        ("jedi", {"stage": "abandoned"}),
        ("jedi", {"stage": "withdrawn"}),
        ("jedi", {"stage": "done", "is_excluded": True}),
        ("", {"stage": "declined"}),
    ):
        Participant.objects.create(study=study, version=version, arm=arm, **fields)
    rows = results_page(study)["attrition"].rows
    # Joined, finished, under way, abandoned, withdrew, declined, share lost = 2 of 8, excluded.
    assert list(rows[0]) == ["JEDI", 10, 6, 1, 1, 1, "–", "25\u00a0%", 1]
    assert rows[-1][0] == "before assignment"
    assert rows[-1][6] == 1


def test_the_sample_says_who_is_left_out(study):
    version = study.versions.get()
    Participant.objects.create(study=study, version=version, arm="jedi", stage="teaching")
    Participant.objects.create(study=study, version=version, arm="rt", stage="memory")
    excluded = study.participants.filter(arm="imt").first()
    Participant.objects.filter(pk=excluded.pk).update(is_excluded=True)
    other = study.participants.filter(arm="rt", stage="done").first()
    Participant.objects.filter(pk=other.pk).update(memory_span=None)
    results = data.load_results(study)
    assert list(data.left_out_words(results)) == ["2 who did not finish, or not yet", "1 excluded"]
    assert data.describe_sample(results).startswith("12 live participants who finished.")
    assert data.missing_words(results, "teaching_gain") == ""
    assert data.answers_words(results) == ""
    assert data.missing_words(results, "memory_span", "teaching_gain").startswith("1 of them ")


def test_the_sample_of_sessions_says_which_versions_and_whether_older_ones_were_cut():
    only = VersionGroup((VersionPeople(2, joined=5, finished=4),))
    older = VersionGroup((VersionPeople(1, joined=3, finished=3),))
    newest = VersionChoice((2,), (only, older), (2,))
    text = data.describe_sessions(4, "live", newest, limit=4)
    assert text.startswith("4 live participants of version 2 who finished")
    assert "people who finished before them and people of version 1." in text
    assert "before them" not in data.describe_sessions(3, "live", newest, limit=4)
    alone = data.describe_sessions(4, "pilot", VersionChoice((2,), (only,), (2,)), limit=9)
    assert alone.startswith("4 pilots who finished")
    assert "version" not in alone


def test_equal_steps_keep_only_those_whom_all_teachers_show_equally_many(study):
    """JEDI shows 30, 45 or 60 images, depending on memory; the others always show 45."""
    study.participants.all().delete()
    version = study.versions.get()
    version.configuration |= {
        "arms": "jedi,rt", "short_steps": 5, "medium_steps": 8, "long_steps": 11, "other_steps": 8,
    }  # fmt: skip
    version.save()
    for arm, span, steps in (
        ("jedi", 3.0, 5), ("jedi", 5.5, 8), ("rt", 3.0, 8), ("rt", 5.5, 8), ("rt", None, 8),
        ("jedi", 5.5, 7),
    ):  # fmt: skip
        Participant.objects.create(
            study=study, version=version, stage="done", arm=arm, memory_span=span, teaching_steps=steps
        )  # fmt: skip
    results = data.load_results(study)
    assert results.has_unequal_steps
    equal = data.at_equal_steps(results)
    assert [(one.arm, one.memory_span) for one in equal.people] == [("jedi", 5.5), ("rt", 5.5)]
    assert equal.at_unequal_steps == 4
    assert not replace(results, people=equal.people).has_unequal_steps
    assert any(text.startswith("4 whom some teacher") for text in data.left_out_words(equal))


def test_answers_are_counted_by_step_class_and_time(study):
    one, two = study.participants.filter(arm="jedi").order_by("pk")[:2]
    teaching = list(Example.objects.filter(split="teaching").order_by("pk"))
    new = list(Example.objects.filter(split="evaluation").order_by("label", "pk"))
    answer(one, 1, teaching[0], True, response_ms=1010.0)
    answer(two, 1, teaching[1], False, response_ms=1035.0)
    answer(one, 2, teaching[0], True, response_ms=None, is_first_showing=False)
    answer(two, 2, teaching[2], False, response_ms=1990.0)
    zero, first = new[0], new[-1]
    assert (zero.label, first.label) == (0, 1)
    answer(one, 101, zero, True, item=1, response_ms=510.0)
    answer(one, 102, first, False, item=2, response_ms=None)
    answer(two, 103, first, True, item=1, response_ms=530.0)
    answers = data.load_results(study).answers
    assert answers.steps == {
        ("jedi", 1, True): (1, 2), ("jedi", 2, False): (1, 1), ("jedi", 2, True): (0, 1),
    }  # fmt: skip
    assert answers.confusion == {("jedi", 0, 0): 1, ("jedi", 1, 0): 1, ("jedi", 1, 1): 1}
    assert answers.times == {
        ("jedi", "teaching"): ((1000.0, 1), (1050.0, 1), (2000.0, 1)),
        ("jedi", "evaluation"): ((500.0, 1), (550.0, 1)),
    }
    results = data.load_results(study)
    every = figures.curve(results, "jedi")
    assert [(point.step, point.n, point.share) for point in every] == [(1, 2, 0.5), (2, 2, 0.5)]
    first_seen = figures.curve(results, "jedi", only_first=True)
    assert [(point.step, point.n, point.share) for point in first_seen] == [(1, 2, 0.5), (2, 1, 0)]
    assert figures.curve(results, "rt") == []
    assert figures.confusion_counts(results, "jedi") == [[1, 0], [1, 1]]
    assert cells(results_page(study)["recalls"], 0) == [
        "JEDI", "100.0\u00a0%", "50.0\u00a0%", "75.0\u00a0%",
    ]  # fmt: skip
    times = {tuple(row[:2]): row for row in figures.times_figure(results).rows}
    assert times["jedi", "evaluation"] == ["jedi", "evaluation", 525.0, 575.0, 1]
    box = figures.time_box([(500.0, 1), (1000.0, 2), (2000.0, 1)])
    assert (box.low, box.first, box.median, box.third, box.high) == (0.5, 0.5, 1.0, 1.0, 2.0)
    assert figures.time_box([]) is None


def test_the_figures_have_the_numbers_behind_them(study):
    results = data.load_results(study)
    accuracy = figures.accuracy_figure(results)
    arm, n, first_seen, low, high, evaluation, *_ = accuracy.rows[0]
    assert (arm, n) == ("jedi", 6)
    assert (first_seen, evaluation) == pytest.approx((0.85 - 1.4 / 6, 0.85))
    assert low < first_seen < high
    assert accuracy.rows[2][3:5] == [None, None]
    memory = figures.memory_figure(results)
    spans = [span for own in SPANS.values() for span in own]
    assert memory.rows == [
        (4.0, 3), (4.5, 2), (5.0, 3), (5.5, 2), (6.0, 2), (6.5, 0), (7.0, 1),
    ]  # fmt: skip
    assert f"mean {np.mean(spans):.2f}, SD {np.std(spans, ddof=1):.2f}" in memory.caption
    by_memory = figures.FIGURES["gain-by-memory"](results)
    test = scipy_stats.spearmanr(spans, [gain for own in GAINS.values() for gain in own])
    assert f"ρ = {test.statistic:.2f} (".replace("-", "−") in by_memory.caption
    assert f"p\u00a0=\u00a0{test.pvalue:.3f}." in by_memory.caption
    unique = figures.FIGURES["unique-examples"](results)
    assert unique.header == (
        "participant",
        "arm",
        "study_version",
        "unique_examples",
        "teaching_steps",
    )
    assert [row[3:] for row in unique.rows[:2]] == [[10, 30], [11, 31]]


def test_the_decay_table_summarises_spans_and_fits(study):
    assert decay_table(data.load_results(study)) is None
    fits = (0.3, 0.5, 0.7, 0.4, 0.6, 0.9)
    own = study.participants.filter(arm="jedi").order_by("pk")
    for person, fit, is_known in zip(own, fits, (1, 1, 1, 1, 1, 0), strict=True):
        person.beta_fitted = fit
        person.beta_fitted_low, person.beta_fitted_high = (0.1, 0.9) if is_known else (0.0, 0.95)
        person.beta_likelihood = [0] * (decay.BETAS.size * decay.RATES.size)
        person.save()
    table = decay_table(data.load_results(study))
    jedi, rt, *_, pooled = table.rows
    assert jedi[:2] == ["JEDI", 6]
    # The median of 4, 4.5, 5, 5.5, 6 and 7, whose interval is from the smallest to the largest.
    assert jedi[2:4] == ["5.25", "4.00 to 7.00"]
    assert jedi[4] == f"{np.median([1 - 1 / span for span in SPANS['jedi']]):.2f}"
    assert jedi[8] == "1.00"
    assert jedi[-1] == "1 of 6"
    assert rt[1:4] == [0, "–", "–"]
    assert pooled[:2] == ["all teachers", 6]
