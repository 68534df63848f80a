"""Synthetic learners on the Gaussian and on made texts."""

import dataclasses

import numpy as np
import pytest

from research.data import Labelled, accuracy_of, divided
from research.experiment import BadExperiment, Results
from research.synthetic import (
    BETAS,
    Synthetic,
    affinity_by_angle,
    affinity_by_features,
    gaussian,
    published,
)
from research.teachers import PLAIN, WINDOW, Condition, cell_of
from teaching.engine import LearningRate, Pool, SimulatedLearner, make_teacher, teach

from .builders import made_text


@pytest.fixture
def on_text(tmp_path):
    made_text(tmp_path / "comp_vs_sci.npz")
    made_text(tmp_path / "rec_vs_talk.npz", seed=1)
    return Synthetic(
        seeds=2, steps=15, data=("comp_vs_sci", "rec_vs_talk"), features=(tmp_path,)
    ).prepared(tmp_path / "out")


def test_the_gaussian_is_the_papers():
    examples = gaussian(np.random.default_rng(0), n=20_000)
    plus = examples.features[examples.labels > 0]
    np.testing.assert_allclose(plus.mean(axis=0), 0.6, atol=0.1)
    variances = plus.var(axis=0)
    assert variances.min() > 0.9 and variances.max() < 10.5 and np.ptp(variances) > 3


def test_a_fifth_is_taught_with_and_nothing_is_on_both_sides():
    examples = Labelled(np.arange(50.0)[:, None], np.resize([1.0, -1.0], 50))
    split = divided(examples, 0.2, np.random.default_rng(0))
    both = np.concatenate([split.teaching.features[:, 0], split.evaluation.features[:, 0]])
    assert len(split.teaching.labels) == 10
    assert sorted(both) == list(range(50))


def test_the_papers_graph_is_its_formula_between_nearest_neighbours():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 5, 0.2]
    affinity = affinity_by_features(X).toarray()
    i, j = np.argwhere(affinity)[0]
    expected = np.exp(-(((X[i] - X[j]) / X.std(axis=0)) ** 2).sum())
    assert affinity[i, j] == pytest.approx(expected)
    np.testing.assert_array_equal(affinity, affinity.T)
    assert (np.count_nonzero(affinity, axis=1) >= 10).all()
    assert not affinity.diagonal().any()


def test_the_graph_of_texts_goes_by_angles_and_leaves_empty_ones_alone():
    X = np.array([[1.0, 0.0], [2.0, 0.2], [0.0, 0.0], [0.9, 0.1]])
    affinity = affinity_by_angle(X).toarray()
    cosine = X[0] @ X[1] / np.linalg.norm(X[1])
    assert affinity[0, 1] == pytest.approx(np.exp(-(1 - cosine) / 0.03))
    assert not affinity[2].any()


def test_the_random_teacher_draws_as_the_engines_does(on_text):
    pool = on_text.split("comp_vs_sci", 0)[1]
    learner = SimulatedLearner(np.zeros(pool.dimensions))
    rt = make_teacher("rt", learning_rate=LearningRate(), cold_start=1)
    history = teach(rt, pool, learner, steps=15, rng=np.random.default_rng([0, 3]))
    row = on_text.run(cell_of("comp_vs_sci", Condition("rt")), 0)
    assert row["unique"] == len({step.example for step in history})


def test_a_session_is_the_engines_own(on_text):
    """The row of a condition, from the engine's parts put together by hand."""
    condition = Condition("jedi", 0.5, WINDOW)
    row = on_text.run(cell_of("rec_vs_talk", condition), 1)
    examples, pool = on_text.split("rec_vs_talk", 1)
    rate = LearningRate(0.03, 200)
    start = np.random.default_rng([1, 2]).standard_normal(pool.dimensions)
    learner = SimulatedLearner(
        start / np.linalg.norm(start),
        beta=0.5,
        learning_rate=rate,
        noise=0.001,
        rng=np.random.default_rng([1, 4]),
    )
    teacher = make_teacher("jedi", beta=0.5, learning_rate=rate, cold_start=1)
    history = teach(teacher, pool, learner, steps=15, rng=np.random.default_rng([1, 3]))
    assert row["unique"] == len({step.example for step in history})
    assert row["accuracy"] == accuracy_of(learner.concept, examples.evaluation)
    assert len(row["accuracy_curve"]) == 4


def test_the_readings_differ_by_the_window_alone():
    assert Condition("imt", reading=PLAIN).window == Condition("rt").window == 0
    assert [Condition("jedi", beta, WINDOW).window for beta in BETAS] == [3, 4, 8, 16, 2000]
    assert Condition("imt", reading=WINDOW).window == 2
    assert Condition("jedi", 0.999, WINDOW, cap=100).window == 100


def test_zero_rows_break_nothing(on_text):
    _, pool = on_text.split("comp_vs_sci", 0)
    assert isinstance(pool, Pool)
    assert 0 < on_text.run(on_text.cells()[3], 0)["accuracy"] < 1


def test_the_report_stands_the_paper_beside_both_readings(on_text):
    results = Results({u: on_text.run(u.cell, u.seed) for u in on_text.units()})
    about, comp, talk = on_text.report(results)
    assert any("window is the default" in sentence for sentence in about.sentences)
    unique, accuracy, early = comp.tables
    assert [row[1] for row in unique.rows] == ["210", "9", "14", "16", "27", "45", "64", "–"]
    assert talk.tables[1].rows[0][1] == "0.6041"
    assert len(unique.rows[1]) == len(unique.header) == 6
    assert len(comp.figures) == 4
    assert len(early.rows) == 7
    assert accuracy.data.header == ["condition", "seed", "accuracy"]


def test_the_papers_numbers_are_at_their_place():
    assert published("gaussian", Condition("jedi", 0.999), "unique") == 197
    assert published("rec_vs_talk", Condition("imt"), "accuracy") == 0.5607
    assert published("gaussian", Condition("jedi", 0.9), "unique") is None


def test_features_of_another_name_are_refused(tmp_path):
    path = made_text(tmp_path / "something.npz")
    with pytest.raises(BadExperiment, match="comp_vs_sci"):
        Synthetic(data=("comp_vs_sci",), features=(path,)).prepared(tmp_path)


def test_other_features_are_another_run(on_text, tmp_path):
    before = on_text.settings()
    made_text(tmp_path / "comp_vs_sci.npz", seed=9)
    assert on_text.settings() != before


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"X": np.ones((4, 2))}, "has no y"),
        ({"X": np.ones((4, 2)), "y": [1, -1, 1]}, "one for each row"),
        ({"X": np.ones((3, 2)), "y": [1, -1, 0]}, "−1 or"),
    ],
)
def test_a_bad_archive_is_refused_with_its_reason(tmp_path, arrays, message):
    path = tmp_path / "comp_vs_sci.npz"
    np.savez(path, **arrays)
    experiment = Synthetic(data=("comp_vs_sci",), features=(path,))
    with pytest.raises(BadExperiment, match=message):
        experiment.run(experiment.cells()[0], 0)


def test_what_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "comp_vs_sci.npz"
    path.write_text("words")
    experiment = Synthetic(data=("comp_vs_sci",), features=(path,))
    with pytest.raises(BadExperiment, match="no NumPy archive"):
        experiment.run(experiment.cells()[0], 0)


def test_options_become_settings():
    given = Synthetic.from_options({"data": ["gaussian"], "features": None, "noise": 0.5, "x": 1})
    assert given == Synthetic(data=("gaussian",), noise=0.5)
    assert dataclasses.replace(given, graph="own").settings()["graph"] == "own"
