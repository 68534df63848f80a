"""Why an image was shown: the numbers behind the page, against slow forms and the stored steps."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.charts.shapes import Circle, Rect, Text
from analysis.charts.svg import svg
from desk.why import (
    ImageFormatter,
    Reason,
    other_context,
    other_reasons,
    reason_of,
    standings,
    why_context,
    with_teacher,
)
from desk.why_drawings import (
    SHADE_REACHES,
    ManyClasses,
    Scale,
    TwoClasses,
    belief_bar,
    belief_map,
    part_bars,
)
from image_datasets.checks.insight import map_of
from studies.models import Participant
from teaching.choice import choose, history_of
from teaching.engine import TEACHERS, PoolExhausted, Shown, make_teacher
from teaching.engine.bank import FAMILIES
from teaching.models import TeachingStep
from tests.builders import database_snapshot, make_dataset
from tests.teaching import sessions
from tests.teaching.engine import oracles

RULES = [name for name in TEACHERS if name != "rt"]


def with_map(pool, order):
    return {"map": asdict(map_of(pool))}


def taught_by(arm: str, answers: int = 9, **settings: Any) -> Participant:
    """Somebody in the middle of teaching, in a data set with a map."""
    dataset = make_dataset(teaching=16, evaluation=6, insight=with_map)
    return sessions.taught_by(arm, answers, dataset=dataset, **settings)


def steps_of(participant: Participant) -> list[TeachingStep]:
    return list(TeachingStep.objects.of(participant))


def at_step(participant: Participant, number: int) -> tuple[TeachingStep, Reason, list[Shown]]:
    steps = steps_of(participant)
    history = history_of(steps[: number - 1])
    return steps[number - 1], reason_of(participant, history), history


@pytest.mark.django_db
@pytest.mark.parametrize("arm", TEACHERS)
def test_the_reason_of_every_step_is_what_was_stored_with_it(arm):
    participant = taught_by(arm)
    for number in range(1, 11):
        step, reason, _ = at_step(participant, number)
        shown = reason.judged(step.example.pool_index)
        assert reason.choice.example == step.example.pool_index
        assert reason.step == number
        assert (shown.p, shown.f) == pytest.approx((step.p, step.f), abs=1e-12)
        assert reason.choice.is_cold_start == step.is_random
        if not reason.is_random:
            assert shown.rank == 1
            assert shown.score == pytest.approx(step.score, abs=1e-12)
            assert shown.diversity == pytest.approx(step.diversity, abs=1e-12)
            assert shown.usefulness == pytest.approx(step.usefulness, abs=1e-12)


@pytest.mark.django_db
def test_the_scores_of_jedi_are_the_objective_written_out():
    participant = taught_by("jedi")
    step, reason, history = at_step(participant, 10)
    pool = reason.pool
    p = oracles.padded_belief(pool.affinity.toarray(), history)
    for example in range(pool.n):
        expected = oracles.jedi_score(
            pool, history, p, example, beta=participant.beta, eta=step.learning_rate
        )
        candidate = reason.judged(example)
        assert candidate.score == pytest.approx(expected, rel=1e-6, abs=1e-9)
        assert candidate.p == pytest.approx(p[example], abs=1e-9)
        assert candidate.diversity - candidate.usefulness == pytest.approx(candidate.score)


@pytest.mark.django_db
def test_the_risks_of_eer_are_those_of_the_published_loop():
    _, reason, history = at_step(taught_by("eer"), 10)
    pool = reason.pool
    risks = oracles.eer_risks(pool.affinity.toarray(), pool.labels, history)
    allowed = np.flatnonzero(reason.allowed)
    for example in allowed:
        assert reason.judged(int(example)).score == pytest.approx(risks[example], rel=1e-6)
    wrong = [1 - p if y > 0 else p for p, y in zip(reason.judgement.p, pool.labels, strict=True)]
    label, risk_now = reason.explanation.baseline
    assert risk_now == pytest.approx(sum(wrong[i] for i in allowed), abs=1e-4)
    assert (label, reason.explanation.score_name) == ("risk now", "risk left")
    assert reason.window is None


@pytest.mark.django_db
@pytest.mark.parametrize("arm", RULES)
def test_the_best_are_in_order_and_ranks_count_those_who_are_better(arm):
    _, reason, history = at_step(taught_by(arm), 10)
    scores = reason.teacher.scores(reason.pool, history)
    best = reason.best(8)
    assert [one.score for one in best] == sorted(scores[np.isfinite(scores)])[: len(best)]
    assert best[0].example == reason.choice.example
    for example in range(reason.pool.n):
        judged = reason.judgement.scores
        better = sum(judged[i] < judged[example] for i in range(reason.pool.n))
        better_allowed = sum(scores[i] < judged[example] for i in range(reason.pool.n))
        assert reason.rank_in_pool(example) == better + 1
        assert reason.judged(example).rank == better_allowed + 1


@pytest.mark.django_db
@pytest.mark.parametrize("window", [None, 0, 3])
def test_what_the_window_leaves_out_is_what_the_last_steps_showed(window):
    participant = taught_by("jedi", repeat_window=window)
    steps = steps_of(participant)
    _, reason, history = at_step(participant, 10)
    size = round(2 / (1 - participant.beta)) if window is None else window
    assert reason.window == size
    recent = {shown.example for shown in history[len(history) - size :]} if size else set()
    left_out = reason.left_out()
    assert {one.example for one in left_out} == recent
    assert [one.score for one in left_out] == sorted(one.score for one in left_out)
    for one in left_out:
        shown_at = [step.step for step in steps[:9] if step.example.pool_index == one.example]
        assert list(one.shown_at) == shown_at


@pytest.mark.django_db
def test_eer_leaves_out_all_that_was_shown_and_the_newest_comes_first():
    _, reason, history = at_step(taught_by("eer"), 10)
    shown = [step.example for step in history][::-1]
    assert [one.example for one in reason.left_out()] == shown


@pytest.mark.django_db
@pytest.mark.parametrize(("arm", "number"), [("rt", 8), ("jedi", 2)])
def test_where_chance_decides_there_is_neither_score_nor_rank(arm, number):
    step, reason, _ = at_step(taught_by(arm), number)
    assert reason.is_random
    assert reason.best(8) == []
    shown = reason.judged(step.example.pool_index)
    assert (shown.score, shown.rank, shown.diversity) == (None, None, None)


@pytest.mark.django_db
def test_other_teachers_choose_from_the_same_history_by_the_same_seeds():
    participant = taught_by("jedi")
    _, reason, history = at_step(participant, 10)
    before = database_snapshot()
    others = other_reasons(participant, history)
    assert list(others) == [name for name in TEACHERS if name != "jedi"]
    for name, other in others.items():
        teacher = make_teacher(
            name,
            beta=participant.beta,
            learning_rate=reason.teacher.learning_rate,
            cold_start=participant.study_as_joined.cold_start,
        )
        rng = participant.generator("teaching", 10)
        assert other.choice.example == teacher.choose(reason.pool, history, rng).example
    assert participant.arm == "jedi"
    assert database_snapshot() == before


@pytest.mark.django_db
def test_in_the_cold_start_every_teacher_draws_the_same_image():
    participant = taught_by("imt", answers=3)
    step, _, history = at_step(participant, 3)
    for name in TEACHERS:
        choice = choose(with_teacher(participant, name), history)
        assert choice.example == step.example.pool_index


@pytest.mark.django_db
def test_every_teacher_judges_the_pool_once(monkeypatch):
    participant = taught_by("jedi")
    calls: Counter[str] = Counter()
    # IMT inherits the method of JEDI.
    for teacher in {cls for cls in TEACHERS.values() if "judge" in vars(cls)}:

        def judge(self, pool, past, original=teacher.judge):
            calls[self.name] += 1
            return original(self, pool, past)

        monkeypatch.setattr(teacher, "judge", judge)
    assert "refusal" not in why_context(participant, 10)
    assert calls == dict.fromkeys(TEACHERS, 1)


@pytest.mark.django_db
def test_a_teacher_that_cannot_go_on_says_why():
    participant = taught_by("jedi", answers=1)
    everything = [Shown(example, 1, 0.5) for example in range(16)]
    refusal = other_reasons(participant, everything)["eer"]
    assert isinstance(refusal, PoolExhausted)
    assert "never repeats" in str(refusal)


@pytest.mark.django_db
def test_standings_match_until_somebody_changes_a_stored_step():
    participant = taught_by("jedi")
    stands = standings(participant)
    assert len(stands) == 10
    assert all(stand.matches for _, stand in stands)
    assert [stand.rank for _, stand in stands] == [None] * 3 + [1] * 7
    last, _ = stands[-1]
    another = participant.study.dataset.examples.filter(split="teaching").exclude(
        pk=last.example_id
    )
    last.example = another.order_by("pool_index")[0]
    last.save()
    *others, changed = [stand for _, stand in standings(participant)]
    assert all(stand.matches for stand in others)
    assert not changed.matches
    assert changed.rank_in_pool > 1


@pytest.mark.django_db
def test_a_teacher_that_doubts_its_belief_tells_how_much_and_which_learner_it_sees(researcher):
    participant = taught_by("tracked")
    _, reason, _ = at_step(participant, 10)
    assert not reason.has_parts
    for one in reason.best(8):
        low, high = one.interval
        assert 0 <= low < high <= 1
    found = reason.explanation
    facts = dict(found.facts())
    assert f"{found.learner_rate:.3f}" in facts.values()
    assert f"{found.assumed_beta:.3f}" in facts.values()
    page = researcher.get(f"/admin/studies/participant/{participant.pk}/why/10/").content.decode()
    title = next(family.title for family in FAMILIES if family.name == found.leading)
    assert f"the worker {title}" in found.text
    assert found.text in page
    assert "4 times that for a worker who follows a concept" in page
    assert found.advantage(reason.best(1)[0].score) in page
    assert f"{100 * found.families[found.leading]:.0f}\N{NO-BREAK SPACE}%" in page


@pytest.mark.django_db
def test_jedi_with_the_regularised_estimate_says_so_from_the_first_image_on(researcher):
    participant = taught_by("jedi", jedi_estimator="mended")
    for number in (1, 10):
        _, reason, _ = at_step(participant, number)
        assert (
            dict(reason.explanation.facts())["estimate of what the worker believes"]
            == "regularised harmonic"
        )
    page = researcher.get(f"/admin/studies/participant/{participant.pk}/why/10/").content.decode()
    assert "the lowest score" in page
    assert "comes from the regularised harmonic estimate" in page


@pytest.mark.django_db
def test_an_image_that_another_teacher_may_not_repeat_is_not_ranked_among_its_choices():
    participant = taught_by("eer")
    step, reason, _ = at_step(participant, 10)
    words = ImageFormatter(participant.study_as_joined.dataset, {}, listed=[])
    repeated = steps_of(participant)[3].example.pool_index
    assert not other_context("eer", reason, repeated, words)["may_show"]
    assert other_context("eer", reason, step.example.pool_index, words)["may_show"]


# Drawings

beliefs = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(p=beliefs)
def test_shades_follow_the_belief_and_are_the_same_for_both_classes(p):
    scale = Scale.for_beliefs(p)
    assert scale.reach in SHADE_REACHES
    shades = [scale.shade(one) for one in sorted(p)]
    assert shades == sorted(shades)
    for one in p:
        distance = min(abs(one - bound) for bound in scale.bounds)
        if distance > 1e-9:
            place, mirrored = (int(scale.shade(x)[-1]) for x in (one, 1 - one))
            assert place + mirrored == 6
    assert len(scale.legend()) == 7


def test_the_scale_is_as_narrow_as_the_beliefs():
    assert Scale.for_beliefs([0.48, 0.5, 0.52]).reach == 0.05
    assert Scale.for_beliefs([0.0, 0.5, 1.0]).reach == 0.5
    nearly_all = [0.5] * 19 + [1.0]
    assert Scale.for_beliefs(nearly_all).reach == 0.05


def test_the_map_has_a_mark_for_every_image_and_a_ring_around_the_chosen_one():
    layout = {"pool_index": [0, 1, 2, 3], "x": [0, 1, 0.5, 1], "y": [0, 1, 0.5, 0]}
    drawing = belief_map(
        layout,
        TwoClasses([0.1, 0.9, 0.5, 0.5], [0, 1, 0, 1], Scale(0.5)),
        shown=frozenset({1, 2}),
        chosen=3,
        others={0: "EER", 3: "IMT"},
        title="A map",
    )
    marks = [shape for shape in drawing.shapes if shape.style.startswith("belief-")]
    assert {type(mark) for mark in marks if "seen" in mark.style} == {Rect, Circle}
    assert sum(isinstance(mark, Rect) for mark in marks) == 2
    assert sum(isinstance(mark, Circle) for mark in marks) == 2
    [ring] = [shape for shape in drawing.shapes if shape.style == "ring"]
    [chosen] = [mark for mark in marks if isinstance(mark, Rect) and "seen" not in mark.style]
    assert (ring.x, ring.y) == pytest.approx(
        (chosen.x + chosen.width / 2, chosen.y + chosen.height / 2)
    )
    written = [s.text for s in drawing.shapes if isinstance(s, Text) and s.style == "pointed"]
    assert written == ["EER", "IMT"]
    for shape in drawing.shapes:
        if isinstance(shape, Circle):
            assert 0 < shape.x < drawing.width
            assert 0 < shape.y < drawing.height


def test_an_image_that_is_not_on_the_map_gets_no_ring():
    layout = {"pool_index": [0], "x": [0.5], "y": [0.5]}
    drawing = belief_map(
        layout, TwoClasses([0.5, 0.5], [1, 1], Scale(0.5)), shown=frozenset({1}), chosen=1,
        others={1: "RT"}, title="A map",
    )  # fmt: skip
    assert [type(shape) for shape in drawing.shapes] == [Rect]


def test_a_mark_of_many_classes_shows_what_is_expected_how_surely_and_the_truth():
    layout = {"pool_index": [0, 1, 2], "x": [0, 1, 0.5], "y": [0, 1, 0.5]}
    beliefs = [[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.1, 0.2, 0.7]]
    painter = ManyClasses(beliefs, [0, 0, 1], ["#aa0000", "#00aa00", "#0000aa"])
    drawing = belief_map(
        layout, painter, shown=frozenset({2}), chosen=9, others={}, title="A map"
    )  # fmt: skip
    sure, open_, seen, truth = drawing.shapes
    assert (sure.style, sure.strength) == ("#aa0000", 1.0)
    assert (open_.style, open_.strength) == ("#aa0000", pytest.approx(0.3))
    assert seen.style == "seen #0000aa"
    assert 0.3 < seen.strength < 1
    assert truth.style == "truth #00aa00"
    assert (truth.x, truth.y) == (seen.x, seen.y)
    assert 'class="truth" fill="#00aa00"' in svg(drawing)


def test_the_bar_of_beliefs_is_as_wide_as_all_of_them_together():
    bar = belief_bar([0.5, 0.2, 0.3], ["#aa0000", "#00aa00", "#0000aa"], "A bar")
    assert [part.width / bar.width for part in bar.shapes] == pytest.approx([0.5, 0.2, 0.3])
    assert bar.shapes[-1].x + bar.shapes[-1].width == pytest.approx(bar.width)


@given(pairs=st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=5))
def test_bars_stay_inside_and_share_one_scale(pairs):
    drawings = part_bars(pairs, ["A title"] * len(pairs))
    low = min(0.0, *(value for pair in pairs for value in pair))
    high = max(0.0, *(value for pair in pairs for value in pair))
    for pair, drawing in zip(pairs, drawings, strict=True):
        bars = [shape for shape in drawing.shapes if isinstance(shape, Rect)]
        for value, bar in zip(pair, bars, strict=True):
            assert bar.x >= -1e-6
            assert bar.x + bar.width <= drawing.width + 1e-6
            if high > low:
                assert bar.width == pytest.approx(drawing.width * abs(value) / (high - low))


@pytest.mark.django_db
def test_a_choice_of_an_earlier_version_is_shown_with_the_kind_that_it_found(researcher):
    participant = taught_by("tracked")
    steps = TeachingStep.objects.of(participant)
    steps.filter(step=10).update(teacher_version=1, learner_kind="exemplar", learner_kind_p=0.4)
    page = researcher.get(f"/admin/studies/participant/{participant.pk}/why/10/").content.decode()
    assert "Version 1 of Tracked made this choice" in page
    assert "the worker compares with remembered images (with probability 0.40)" in page
    assert "Recalculated today" not in page
    whole = researcher.get(f"/admin/studies/participant/{participant.pk}/change/").content.decode()
    assert "An earlier version of the teacher made 1 of" in whole
    assert ">replay differs<" not in whole
