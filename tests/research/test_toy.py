"""The toy experiment."""

import numpy as np
import pytest

from research.experiment import Checkpoint, Results, Unit
from research.teachers import PLAIN, WINDOW, Condition, expected_unique
from research.toy import Toy, mixture
from teaching.engine import BadSetting


def results_of(experiment):
    return Results({unit: experiment.run(unit.cell, unit.seed) for unit in experiment.units()})


def test_the_mixtures_have_the_papers_moments():
    rng = np.random.default_rng(0)
    drawn = [mixture(rng) for _ in range(60)]
    features = np.concatenate([x for x, _ in drawn])
    labels = np.concatenate([y for _, y in drawn])
    assert drawn[0][0].shape == (300, 2)
    # 2/3 and 1/3 of the means; the covariance within and between the parts.
    np.testing.assert_allclose(features[labels > 0].mean(axis=0), [8 / 3, 16 / 3], atol=0.2)
    np.testing.assert_allclose(features[labels < 0].mean(axis=0), [-16 / 3, -8 / 3], atol=0.2)
    within = np.array([[34, 17], [17, 34]]) / 3
    between = 2 / 9 * np.outer([8, -8], [8, -8])
    np.testing.assert_allclose(np.cov(features[labels > 0].T), within + between, atol=1.0)


def test_the_number_of_different_draws_has_its_exact_moments():
    rng = np.random.default_rng(0)
    counts = [len(set(rng.integers(0, 30, 50))) for _ in range(4000)]
    mean, deviation = expected_unique(30, 50)
    assert np.mean(counts) == pytest.approx(mean, abs=0.1)
    assert np.std(counts) == pytest.approx(deviation, abs=0.1)


def test_182_lies_outside_what_the_stated_sizes_can_give():
    mean, deviation = expected_unique(300, 500)
    assert round(mean) == 243
    assert mean - 182 > 10 * deviation
    assert round(expected_unique(200, 500)[0]) == 184


def test_a_session_follows_from_its_seed():
    toy = Toy(seeds=1, steps=30)
    cell = Condition("jedi", 0.75, PLAIN).cell
    assert toy.run(cell, 3) == toy.run(cell, 3)
    assert toy.run(cell, 3) != toy.run(cell, 4)


def test_all_teachers_start_alike():
    toy = Toy(seeds=1, steps=10)
    rows = [toy.run(cell, 0) for cell in toy.cells()]
    assert len({row["chosen"][0] for row in rows}) == 1
    assert len({row["distance"][0] for row in rows}) == 1


def test_omniscient_teachers_arrive_where_chance_does_not():
    toy = Toy(seeds=3)
    last = {
        cell: np.mean([toy.run(cell, seed)["distance"][-1] for seed in range(3)])
        for cell in (Condition("sgd").cell, Condition("imt").cell, Condition("jedi", 0.75).cell)
    }
    sgd, imt, jedi = last.values()
    assert imt < 0.5 * sgd
    assert jedi < 0.5 * sgd


def test_a_window_leaves_out_what_was_just_shown():
    chosen = Toy(seeds=1, steps=60).run(Condition("jedi", 0.75, WINDOW).cell, 0)["chosen"]
    assert all(chosen[t] not in chosen[max(0, t - 8) : t] for t in range(len(chosen)))


def test_the_report_has_the_papers_counts_and_the_reasons():
    toy = Toy(seeds=2, steps=40)
    counts, convergence, scatters = toy.report(results_of(toy))
    assert [row[:2] for row in counts.tables[0].rows][:2] == [["SGD", "182"], ["IMT", "16"]]
    assert "cannot come from the sizes" in counts.sentences[0]
    assert len(convergence.figures) == 2
    assert [figure.drawing.title.split(",")[0] for figure in scatters.figures] == [
        "SGD", "IMT", "JEDI β = 0.75", "IMT", "JEDI β = 0.75",
    ]  # fmt: skip
    assert len(counts.tables[0].data.rows) == 2 * len(toy.cells())


def test_results_survive_the_checkpoint(tmp_path):
    toy = Toy(seeds=1, steps=10)
    cell = toy.cells()[0]
    kept = Checkpoint.open(tmp_path, toy.settings())
    kept.add(Unit(cell, 0), toy.run(cell, 0))
    assert Checkpoint.open(tmp_path, toy.settings()).rows == {Unit(cell, 0): toy.run(cell, 0)}


def test_a_beta_outside_its_range_is_refused():
    toy = Toy(seeds=1, steps=5, beta=1.5)
    with pytest.raises(BadSetting):
        toy.run(Condition("jedi", 1.5, PLAIN).cell, 0)
