"""The checks of a study one by one: when each is fine, and what it says when it is not."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.stats.power import detectable_effect, power_by_formula
from desk.check_rules import RULES, Finding, Grade, StudyData, limited_reach
from desk.checks import alarms, check_list
from rehearsal.models import Rehearsal
from studies.demo_texts import CONSENTS
from studies.models import Participant, Study, StudyVersion
from tests.builders import make_dataset, make_study

pytestmark = pytest.mark.django_db

OWN_CONSENT = (
    "This study of the University of Somewhere asks how people learn to tell images apart. " * 4
)
CUE = {"name": "border", "title": "the colour of the border", "low": 0.6, "high": 0.71}


@pytest.fixture
def dataset():
    return make_dataset(teaching=40, evaluation=100, separation=1.5)


@pytest.fixture
def study(dataset) -> Study:
    """About 16 minutes, as in the paper."""
    return make_study(short=False, dataset=dataset, consent=OWN_CONSENT)


def found(study: Study, key: str) -> Finding:
    rule = next(rule for rule in RULES if rule.key == key)
    return rule.check(StudyData(study))


def judged(study: Study, key: str) -> tuple[str, str]:
    finding = found(study, key)
    return finding.grade, finding.sentence


def finish(study: Study, *minutes: float, **fields) -> None:
    version, start = StudyVersion.freeze(study), timezone.now() - timedelta(hours=2)
    for one in minutes:
        times = {"consented_at": start, "finished_at": start + timedelta(minutes=one)}
        Participant.objects.create(study=study, version=version, stage="done", **times, **fields)


def change(study: Study, **fields) -> Study:
    for name, value in fields.items():
        setattr(study, name, value)
    study.save()
    return study


# Settings


def test_settings_that_do_not_fit_are_an_obstacle(study):
    assert judged(study, "settings")[0] == Grade.FINE
    Study.objects.filter(pk=study.pk).update(evaluation_size=400, arms="socrates")
    broken = Study.objects.get()
    grade, sentence = judged(broken, "settings")
    assert grade == Grade.OBSTACLE
    assert "Choose at most" in sentence and "socrates" in sentence


def test_a_study_that_cannot_run_is_still_checked_in_everything(study):
    Study.objects.filter(pk=study.pk).update(arms="", reward=2)
    grades = {check.rule.key: check.grade for check in check_list(Study.objects.get())}
    assert list(grades) == [rule.key for rule in RULES]
    assert (grades["settings"], grades["minutes"], grades["pay"]) == ("obstacle", "note", "note")


def test_a_regularised_estimate_without_jedi_is_questioned(study):
    assert judged(study, "estimate") == (Grade.FINE, "It is the paper’s.")
    change(study, jedi_estimator="mended")
    assert judged(study, "estimate") == (Grade.FINE, "JEDI uses the regularised estimate.")
    finding = found(change(study, arms="imt,rt"), "estimate")
    assert finding.grade == Grade.QUESTION
    assert "no effect, because JEDI is not among the teachers" in finding.sentence
    assert finding.link.url.endswith("#id_jedi_estimator")
    assert judged(change(study, jedi_estimator="paper"), "estimate")[0] == Grade.FINE


# The data set


def shortcuts(mean: float):
    cue = CUE | {"mean": mean}
    return {
        "accuracy": {"mean": 0.71},
        "counts": [150, 150],
        "shortcuts": {"chance": 0.5, "together": cue | {"name": "together"}, "each": [cue, cue]},
    }


def test_shortcuts_are_told_with_the_way_to_the_data_set(study):
    assert judged(study, "shortcuts")[0] == Grade.NOTE, "nobody has looked"
    study.dataset.insight = shortcuts(0.65)
    finding = found(study, "shortcuts")
    assert finding.grade == Grade.QUESTION
    assert finding.sentence.startswith("The colour of the border alone tells the class of 65 %")
    assert finding.sentence.endswith("1 more on the data set’s page.")
    assert finding.link.url == f"/admin/studies/dataset/{study.dataset.pk}/change/"
    study.dataset.insight = shortcuts(0.5) | {"accuracy": {"mean": 0.9}}
    study.dataset.insight["shortcuts"]["each"] = []
    study.dataset.insight["shortcuts"]["together"]["low"] = 0.45
    assert judged(study, "shortcuts")[0] == Grade.FINE


def test_a_rate_far_from_the_data_sets_is_questioned(study):
    assert judged(study, "rate")[0] == Grade.FINE
    finding = found(change(study, learning_rate=study.dataset.learning_rate * 4), "rate")
    assert finding.grade == Grade.QUESTION
    assert finding.link.url.endswith("#id_learning_rate")


def test_a_low_ceiling_is_told_before_it_looks_like_failure(study):
    grade, sentence = judged(study, "ceiling")
    assert grade == Grade.FINE
    assert sentence.endswith("Compare results with that, not with 100 %.")
    hard = make_dataset(teaching=40, evaluation=100, separation=0.05)
    grade, sentence = judged(change(study, dataset=hard), "ceiling")
    assert grade == Grade.QUESTION
    assert "points above chance" in sentence


# What workers are told and paid


def test_the_minutes_are_compared_with_the_estimate(study):
    assert judged(study, "minutes") == (
        Grade.FINE,
        "Participants are told 20 minutes, and the estimate is 16 minutes.",
    )
    for told, words in ((5, "too short"), (60, "more than they are likely to need")):
        finding = found(change(study, minutes=told), "minutes")
        assert finding.grade == Grade.QUESTION
        assert words in finding.sentence and "The estimate is 16 minutes." in finding.sentence
        assert finding.link.url.endswith("#id_minutes")


def test_measured_minutes_count_more_than_the_estimate(study):
    finish(study, 29, 31, 30, purpose="pilot")
    grade, sentence = judged(study, "minutes")
    assert grade == Grade.QUESTION
    assert "The median of the 3 pilots who finished is 30\N{NO-BREAK SPACE}min 00" in sentence
    finish(study, 18, 19)
    assert judged(study, "minutes")[0] == Grade.FINE, "people who count, not pilots"


def test_sessions_that_no_person_can_have_taken_are_told(study):
    finish(study, 18, 19, 0.45)
    finding = found(study, "minutes")
    assert finding.grade == Grade.QUESTION
    assert finding.sentence.startswith("1 of the 3 participants who finished took less than 3")
    assert finding.link.url.endswith("/quality/")
    Participant.objects.filter(finished_at__lt=timezone.now() - timedelta(minutes=110)).update(
        is_excluded=True
    )
    assert judged(study, "minutes")[0] == Grade.FINE, "somebody has looked"


@pytest.mark.parametrize(
    ("reward", "currency", "grade", "words"),
    [
        ("3.00", "GBP", "fine", "GBP 3.00 is GBP 11.25 an hour: the estimate is 16 minutes."),
        ("1.50", "GBP", "question", "Prolific’s minimum is GBP 6.00."),
        ("2.00", "USD", "question", "Prolific’s minimum is USD 8.00."),
        ("2.00", "EUR", "fine", "EUR 7.50 an hour"),
        ("300", "GBP", "question", "Check the amount"),
        (None, "GBP", "note", "No pay is set"),
    ],
)
def test_the_pay_is_judged_by_the_hour(study, reward, currency, grade, words):
    Study.objects.filter(pk=study.pk).update(reward=reward, currency=currency)
    finding = found(Study.objects.get(), "pay")
    assert finding.grade == grade
    assert words in finding.sentence


def test_pay_for_half_a_minute_is_an_alarm(study):
    Study.objects.filter(pk=study.pk).update(reward="3.05")
    finish(study, 0.45, 0.4, 0.5)
    finding = found(Study.objects.get(), "pay")
    assert finding.grade == Grade.QUESTION
    assert "GBP 406.67 an hour" in finding.sentence
    assert "36 times the GBP 11.44" in finding.sentence
    assert finding.link.url.endswith("/quality/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CONSENTS[0], "still the demo’s"),
        (CONSENTS[0].replace("\n", "\r\n") + "\n\nOurs.", "still the demo’s"),
        ("Do you agree?", "has 3 words"),
    ],
)
def test_a_consent_text_that_is_not_the_researchers_own_is_questioned(study, text, words):
    assert judged(study, "consent")[0] == Grade.FINE
    finding = found(change(study, consent=text), "consent")
    assert finding.grade == Grade.QUESTION
    assert words in finding.sentence


def test_workers_should_be_able_to_prove_that_they_finished(study):
    assert judged(study, "completion")[0] == Grade.NOTE
    assert judged(change(study, completion_code="C0FFEE"), "completion")[0] == Grade.FINE
    link = "https://app.prolific.com/submissions/complete?cc=C0FFEE"
    study.completion_code = ""
    assert judged(change(study, prolific_return_url=link), "completion")[0] == Grade.FINE


# How many


def test_the_target_is_judged_by_the_difference_that_it_can_show(study):
    assert judged(study, "target")[0] == Grade.NOTE
    effect = detectable_effect(60, 0.05 / 3)
    assert power_by_formula(60, effect, 1.0, 0.05 / 3) == pytest.approx(0.8)
    assert judged(change(study, target_per_arm=60), "target") == (
        Grade.FINE,
        f"With 60 for each teacher, a difference in teaching gain of {effect:.2f} standard deviations is "
        "detected with 80 % power (at the 5 % level divided by 3 comparisons).",
    )
    finding = found(change(study, target_per_arm=10), "target")
    assert finding.grade == Grade.QUESTION
    assert finding.link.url.endswith("/rehearsal/#power")
    assert judged(change(study, target_per_arm=1), "target")[0] == Grade.QUESTION
    assert judged(change(study, arms="jedi"), "target")[0] == Grade.FINE, "nothing to compare"


def test_a_forecast_turns_the_difference_into_points_of_the_primary_outcome(study):
    rows = [{"gain": 0.1, "evaluation": 0.6}, {"gain": 0.3, "evaluation": 0.7}]
    results = {"jedi": rows, "rt": rows}
    Rehearsal.objects.create(study=study, kind="forecast", state="done", results=results)
    study = change(study, target_per_arm=60, arms="jedi,rt")
    effect = detectable_effect(60, 0.05)
    for outcome, sd in (("teaching_gain", 0.02**0.5), ("evaluation_accuracy", 0.005**0.5)):
        sentence = judged(change(study, primary_outcome=outcome), "target")[1]
        assert f"about {100 * effect * sd:.0f} points according to the forecast" in sentence


def test_too_few_places_for_the_target_are_told(study):
    finding = found(change(study, target_per_arm=60, max_participants=200), "target")
    assert finding.grade == Grade.QUESTION
    assert finding.link.url.endswith("#id_max_participants")
    assert "200" in finding.sentence and "240" in finding.sentence


# The server


@pytest.mark.parametrize(
    ("host", "reach"),
    [
        ("localhost", "on this computer"),
        ("127.0.0.1", "on this computer"),
        ("::1", "on this computer"),
        ("0.0.0.0", "on this computer"),
        ("192.168.1.20", "in your own network"),
        ("lab-server", "in your own network"),
        ("study.example.org", ""),
        ("8.8.8.8", ""),
    ],
)
def test_an_address_says_from_where_it_can_be_reached(host, reach):
    assert limited_reach(host) == reach


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:8000", "only works on this computer"),
        ("http://192.168.1.20", "only works in your own network"),
        ("http://study.example.org", "begins with http://"),
        ("https://study.example.org", ""),
    ],
)
def test_the_public_address_is_one_that_workers_can_use(study, settings, url, words):
    settings.JEDI_PUBLIC_URL = url
    grade, sentence = judged(study, "address")
    assert grade == (Grade.QUESTION if words else Grade.FINE)
    assert words in sentence


# Versions


def test_sessions_of_earlier_versions_are_told(study):
    assert judged(study, "versions")[0] == Grade.FINE
    version = StudyVersion.freeze(study)
    Participant.objects.create(study=study, version=version, stage="teaching")
    assert judged(study, "versions")[0] == Grade.FINE
    study = change(study, welcome="Hello.")
    assert judged(study, "versions") == (
        Grade.NOTE,
        "1 session of version 1 is still under way and keeps the earlier settings.",
    )
    finish(change(study, evaluation_size=40), 18)
    grade, sentence = judged(study, "versions")
    assert grade == Grade.QUESTION
    assert (
        "versions 1 and 3, which differ in: evaluation images. Results keep them apart." in sentence
    )
    assert "1 session of version 1 is still under way" in sentence


# All together


def test_alarms_are_the_questions_and_the_obstacles(study):
    study = change(study, consent=CONSENTS[0])
    raised = {check.rule.key for check in alarms(study)}
    doubtful = [check for check in check_list(study) if check.grade in ("question", "obstacle")]
    assert raised == {check.rule.key for check in doubtful} >= {"consent", "address"}
    assert "target" not in raised, "worth knowing, and not worth an alarm"
