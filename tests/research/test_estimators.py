"""Which estimator teaches whom: kinds of learners, shares of the way, predictions, and the report."""

import dataclasses

import numpy as np
import pytest

from analysis.stats import Interval, SampleSummary
from research.data import Labelled
from research.estimators import (
    PREDICTED,
    REGULARISED,
    TEACHERS,
    Estimators,
    Predictions,
    binned,
    cross_entropy,
    known,
)
from research.estimators_report import ESTIMATORS, cell_name, comparison, share_of_way, verdict
from research.experiment import BadExperiment, Results, Unit
from research.learners import FITS, KINDS, OTHER, PartialView, omniscient
from research.report import with_interval
from teaching.engine import LearningRate, Pool, Shown, Tracked, belief
from teaching.engine.classes import concept_vector, likeliest

from .builders import made_images


@pytest.fixture(scope="module")
def estimators(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estimators")
    path = made_images(folder / "beasts.npz", n=40, d=10)
    return Estimators(seeds=2, features=(path,)).prepared(folder / "out")


def kind(name):
    return next(one for one in KINDS if one.name == name)


@pytest.fixture(scope="module")
def start(estimators):
    return estimators.start(estimators.materials[0].load()[0], 3)


# Learners.


def test_every_kind_of_learner_starts_alike_and_differs_in_what_its_name_says(start):
    assumed = kind("fits").worker(start).learner
    fast, slow, long, short = (kind(n).worker(start) for n in ("fast", "slow", "long", "short"))
    assert fast.learner.learning_rate.initial == pytest.approx(2.5 * start.rate.initial)
    assert slow.learner.learning_rate.initial == pytest.approx(start.rate.initial / 2.5)
    assert long.learner.beta == pytest.approx(min(start.beta + 0.1, 0.95))
    assert short.learner.beta == pytest.approx(start.beta - 0.1)
    for worker in (fast, slow, long, short):
        np.testing.assert_array_equal(worker.learner.concept, assumed.concept)


def test_noise_is_as_long_as_a_first_step(start):
    learner = kind("noisy").worker(start).learner
    drawn = [np.linalg.norm(concept_vector(learner.draw_noise())) for _ in range(400)]
    step = 0.5 * start.rate.initial * np.sqrt(start.pool.squared_norms.mean())
    assert np.sqrt(np.mean(np.square(drawn))) == pytest.approx(step, rel=0.06)


def test_first_opinions_are_as_firm_as_the_kind_says(start):
    for name, conviction in (("fits", 0.1), ("opinion", 0.3), ("convinced", 1.0)):
        concept = concept_vector(kind(name).worker(start).learner.concept)
        margins = start.pool.features @ concept
        assert np.sqrt(np.mean(margins**2)) == pytest.approx(conviction)


def test_a_fifth_of_the_features_is_seen_and_learned(start):
    learner = kind("partial").worker(start).learner
    assert isinstance(learner, PartialView)
    assert learner.visible.sum() == 2
    assert (learner.learner.concept[:, ~learner.visible] == 0).all()


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_chances_are_what_the_worker_says(one, start):
    worker = one.worker(start)
    for example in range(6):
        worker.learn(start.pool.features[example], int(start.pool.labels[example]))
    few = start.pool.features[:5]
    chances = one.chances(worker, few)
    said = np.mean([worker.answers(few) > 0 for _ in range(300)], axis=0)
    np.testing.assert_allclose(said, chances, atol=0.12)


@pytest.mark.parametrize("one", [k for k in KINDS if k.has_concept], ids=lambda one: one.name)
def test_the_omniscient_teacher_foresees_the_distance_that_a_lesson_leaves(one, start):
    worker = one.worker(start)
    teacher, seen = omniscient(worker, start.pool)
    learner = teacher.learner
    learner.noise = 0.0
    scores = teacher.scores(seen, [])
    before = (learner.concept.copy(), learner.momentum.copy())
    left = []
    for x, y in zip(start.pool.features, start.pool.labels, strict=True):
        learner.concept, learner.momentum, learner.t = *before, 0
        worker.learn(x, int(y))
        left.append(2 * np.sum((learner.concept - seen.target) ** 2))
    np.testing.assert_allclose(left - scores, left[0] - scores[0], atol=1e-9)


# Sessions.


def test_every_teacher_gets_the_same_learner_and_as_many_examples(estimators):
    cells = [cell for cell in estimators.cells() if ": fits: " in cell]
    rows = [estimators.run(cell, 1) for cell in cells]
    assert [cell.rsplit(": ", 1)[1] for cell in cells] == list(TEACHERS)
    assert estimators.run(cells[0], 1) == rows[0]
    for cell, row in zip(cells, rows, strict=True):
        assert 0 <= row["evaluation"] <= 1
        assert ("answers" in row) == (cell.rsplit(": ", 1)[1] in PREDICTED)


def test_the_regularised_way_is_jedi_with_the_other_estimate(estimators, start):
    paper, regularised = (estimators.teacher(name, start) for name in ("jedi", REGULARISED))
    assert dataclasses.replace(paper, estimator="regularised") == regularised


def test_learners_without_a_concept_have_no_omniscient_teacher(estimators):
    for one in KINDS:
        asked = {c.rsplit(": ", 1)[1] for c in estimators.cells() if f": {one.name}: " in c}
        assert ("omniscient" in asked) == one.has_concept


def test_what_is_known_leaves_out_slips(start):
    worker = kind("lapses").worker(start)
    x = start.pool.features
    labels = likeliest(worker.learner.probabilities(x))
    assert known(worker, Labelled(x, labels)) == 1.0


def test_beliefs_are_those_of_the_moment(start):
    pool = start.pool
    tracked = Tracked(beta=start.beta, learning_rate=start.rate)
    predictions = Predictions(pool, tracked, lambda: np.full(pool.n, 0.5))
    history = [Shown(i, 1, 0.5) for i in range(5)]
    predictions.note(history, Shown(7, -1, 0.5))
    right = sum(pool.labels[:5] > 0)
    share = (right + 1) / 7
    assert predictions.next["harmonic"] == [round(float(belief(pool, history)[7]), 4)]
    assert predictions.next["running"] == [round(share if pool.labels[7] > 0 else 1 - share, 4)]
    assert [step for step in range(15) if predictions.is_due(step)] == [5, 8, 11, 14]
    row = predictions.row(history)
    assert row["answers"] == [-1]
    for name in ESTIMATORS:
        assert np.array(row[f"bins_{name}"])[:, 0].sum() == pool.n


def test_the_loss_over_a_pool_is_the_mean_of_what_would_be_answered():
    p, truth = np.array([0.2, 0.9, 1.0]), np.array([0.0, 0.5, 1.0])
    expected = -(np.log(0.8) + (np.log(0.9) + np.log(0.1)) / 2 + np.log(0.99)) / 3
    assert cross_entropy(p, truth) == pytest.approx(expected)
    bins = binned(p, truth)
    assert bins[2].tolist() == [1, 0.2, 0.0]
    assert bins[9].tolist() == [2, 1.9, 1.5]


# What comes of it.


def test_the_share_of_the_way_is_a_ratio_of_means_with_an_interval_around_it():
    rng = np.random.default_rng(0)
    start = 0.6 + 0.05 * rng.standard_normal(200)
    end = start + 0.1 + 0.02 * rng.standard_normal(200)
    reached = start + 0.08 + 0.02 * rng.standard_normal(200)
    share = share_of_way(start, reached, end)
    expected = (reached.mean() - start.mean()) / (end.mean() - start.mean())
    assert share.value == pytest.approx(expected)
    assert share.interval.low < expected < share.interval.high
    assert share.interval.high - share.interval.low < 0.15
    assert share_of_way(start, reached, start + 0.005) is None


def outcomes_of(tracked, *, group=FITS, jedi=0.6, best=0.7):
    """Made results of one kind: everybody the same, give or take a little."""
    one = next(k for k in KINDS if k.group == group)
    rng = np.random.default_rng(1)
    level = {"rt": 0.55, "jedi": jedi, "tracked": tracked, "omniscient": best}
    rows = {
        Unit(cell_name("beasts", one.name, teacher), seed): {
            "evaluation": mean + 0.005 * rng.standard_normal()
        }
        for teacher, mean in level.items()
        for seed in range(40)
    }
    return verdict(Results(rows), "beasts", one)


@pytest.mark.parametrize(
    "tracked, group, words",
    [
        (0.695, FITS, "holds"),
        (0.683, FITS, "missed"),
        (0.5, FITS, "worse than RT"),
        (0.56, OTHER, "not worse than RT"),
        (0.5, OTHER, "worse than RT"),
    ],
)
def test_a_verdict_says_whether_the_bar_holds(tracked, group, words):
    found = outcomes_of(tracked, group=group)
    assert found.words == words
    assert found.is_worse_than_jedi == (tracked < 0.59)


def test_a_teacher_is_compared_learner_by_learner():
    level, own = {"rt": 0.5, "jedi": 0.62, REGULARISED: 0.6}, np.linspace(0, 0.3, 7)
    rows = {
        Unit(cell_name("beasts", "fits", teacher), seed): {"evaluation": mean + own[seed]}
        for teacher, mean in level.items()
        for seed in range(7)
    }
    found = comparison(Results(rows), "beasts", kind("fits"), REGULARISED)
    assert found.over_rt.mean == pytest.approx(10)
    assert found.over_jedi.interval.high == pytest.approx(-2)
    assert found.is_worse_than_jedi
    assert not found.is_worse_than_rt


def test_the_report_says_where_a_way_is_worse(estimators):
    few = dataclasses.replace(estimators, seeds=6, kinds=("fits", "exemplar"))
    rows = {u: estimators.run(u.cell, u.seed % 2) for u in few.units() if u.seed < 2}
    everyone = {u: dict(rows[Unit(u.cell, u.seed % 2)]) for u in few.units()}
    for unit, row in everyone.items():
        if ": exemplar: tracked" in unit.cell:
            row["evaluation"] = 0.1
        if ": fits: regularised" in unit.cell:
            row["evaluation"] = 0.2
    short, beasts = few.report(Results(everyone))
    assert any("Worse than RT: exemplars that fade (beasts)" in text for text in short.sentences)
    for other in ("RT", "JEDI as in the paper"):
        told = f"JEDI with the regularised estimate is worse than {other}: as assumed (beasts)"
        assert any(told in text for text in short.sentences)
    accuracies, verdicts, regularised, by_rt, by_tracked = beasts.tables
    assert [row[0] for row in accuracies.rows] == ["as assumed", "exemplars that fade"]
    assert accuracies.rows[1][-1] == "–"
    assert verdicts.rows[1][-1] == "worse than RT"
    assert [len(row) for row in regularised.rows] == [len(regularised.header)] * 2
    for table in (by_rt, by_tracked):
        assert len(table.rows[0]) == len(table.header) == 8
    assert len(beasts.figures) == 3


def test_every_mean_of_the_report_has_its_interval_in_a_file(estimators):
    few = dataclasses.replace(estimators, seeds=6, kinds=("fits",))
    rows = {u: estimators.run(u.cell, u.seed % 2) for u in few.units()}
    _, beasts = few.report(Results(rows))
    accuracies, verdicts, regularised, *_ = beasts.tables
    means, by_rt, _ = beasts.figures
    for data in (verdicts.data, regularised.data):
        assert data.header[1:7] == [
            *("less_rt", "less_rt_low", "less_rt_high"),
            *("less_jedi", "less_jedi_low", "less_jedi_high"),
        ]
        [row] = data.rows
        assert row[2] < row[1] < row[3] and row[5] < row[4] < row[6]
    told = [with_interval(summary_of(row), 1) for row in means.data.rows]
    assert told == accuracies.rows[0][1:]
    for way, _, observed, _, low, high in by_rt.data.rows:
        if way.endswith("pool"):
            assert (low, high) == ("", "")
        else:
            assert low < high and low <= observed <= high


def summary_of(row):
    """A mean with its ends, as the file of a dot plot has it."""
    _, _, mean, low, high = row
    return SampleSummary(6, mean, interval=Interval(low, high))


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(BadExperiment, match=r"fits.*exemplar.*not psychic"):
        Estimators(kinds=("fits", "psychic"))


def test_a_pool_of_zeros_still_has_learners():
    pool = Pool(np.zeros((8, 3)), np.resize([1, -1], 8))
    start = dataclasses.replace(Estimators().start(pool, 0), rate=LearningRate(0.1))
    for one in KINDS:
        p = one.worker(start).learner.probabilities(pool.features)
        assert p.tolist() == [[0.5, 0.5]] * 8
