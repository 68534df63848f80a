"""The human experiment with simulated workers."""

import dataclasses

import numpy as np
import pytest

from research.data import Labelled, held_out
from research.experiment import BadExperiment, Results
from research.humans import (
    ARMS,
    DEFAULT,
    JEDI,
    ORACLE,
    Humans,
    evaluation_answers,
    measured_span,
    teaching_length,
)
from research.teachers import Condition, OmniscientJEDI, cell_of
from teaching import pools
from teaching.engine import Pool
from tests.builders import make_dataset

from .builders import made_images


@pytest.fixture
def humans(tmp_path):
    path = made_images(tmp_path / "beasts.npz")
    return Humans(seeds=5, features=(path,)).prepared(tmp_path / "out")


def test_the_features_are_centred_by_what_is_taught(humans):
    pool, evaluation = humans.materials[0].load()
    np.testing.assert_allclose(pool.features.mean(axis=0), 0, atol=1e-12)
    assert np.abs(evaluation.features.mean(axis=0)).max() < 0.2
    assert pool.dimensions == 6


def test_every_teacher_gets_the_same_workers(humans):
    rows = [humans.run(cell, 2) for cell in humans.cells()]
    assert len({(row["beta"], row["span"]) for row in rows}) == 1
    assert humans.run(humans.cells()[0], 2) == rows[0]


@pytest.mark.parametrize(
    "teacher, span, steps",
    [("jedi", 2, 20), ("jedi", 4.5, 20), ("jedi", 5, 30), ("jedi", 6.5, 30), ("jedi", 7, 40),
     ("omniscient", 9, 40), ("imt", 9, 30), ("eer", 2, 30), ("rt", 5, 30)],
)  # fmt: skip
def test_only_jedi_teaches_in_proportion_to_the_memory(teacher, span, steps):
    assert teaching_length(teacher, span) == steps


def test_the_memory_test_finds_the_workers_span(humans):
    pool, _ = humans.materials[0].load()
    for seed in range(20):
        worker = humans.worker(pool, seed)
        assert 2 <= worker.span <= 9 + 1e-9
        assert abs(measured_span(worker) - worker.span) <= 1


def test_the_evaluation_is_balanced_and_each_image_comes_once(humans):
    labels = np.resize([1.0, -1.0, -1.0], 300)
    examples = Labelled(np.column_stack([labels, np.arange(300)]), labels)
    asked = []

    class Scribe:
        def answers(self, features):
            asked.extend(features[:, 1])
            return np.ones(len(features))

    right = evaluation_answers(Scribe(), examples, 0)
    assert len(right) == len(set(asked)) == 100
    assert sum(right) == 50


def test_the_gain_is_evaluation_less_first_seen(humans):
    row = humans.run(cell_of("beasts", JEDI), 0)
    assert row["gain"] == pytest.approx(row["evaluation"] - row["first_seen"])
    assert row["unique"] <= row["steps"]


def test_the_oracle_reads_the_workers_mind_and_the_others_know_the_measured_decay(humans):
    pool, _ = humans.materials[0].load()
    worker = humans.worker(pool, 0)
    oracle = humans.teacher(ORACLE, worker, 0.1, pool)
    assert isinstance(oracle, OmniscientJEDI)
    assert oracle.learner is worker.learner
    assert oracle.beta == worker.beta
    for arm in ARMS:
        teacher = humans.teacher(arm, worker, 0.1, pool)
        assert teacher.name == arm.teacher
        assert teacher.cold_start == 5
        assert arm.teacher == "omniscient" or teacher.beta == 0.1
    assert humans.teacher(JEDI, worker, 0.1, pool).repeat_window is None
    assert humans.teacher(Condition("jedi"), worker, 0.1, pool).repeat_window == 0


def test_the_report_has_the_papers_figure_and_says_what_gain_rewards(humans):
    results = Results({u: humans.run(u.cell, u.seed) for u in humans.units()})
    about, beasts = humans.report(results)
    assert any("also grows when" in sentence for sentence in about.sentences)
    table, differences = beasts.tables
    assert [row[0] for row in table.rows] == [arm.title for arm in ARMS]
    assert len(differences.rows) == len(ARMS) - 1
    gain, as_printed, accuracies = beasts.figures
    assert len(gain.data.rows) == 5 * len(DEFAULT)
    assert len(as_printed.data.rows) == 5 * 4
    assert len(accuracies.data.rows) == len(DEFAULT)
    for _, *numbers in accuracies.data.rows:
        for mean, low, high in (numbers[:3], numbers[3:]):
            assert low <= mean <= high
    assert "JEDI" in beasts.sentences[1]


def test_bernoulli_workers_answer_less_surely(humans):
    by_chance = dataclasses.replace(humans, bernoulli=True)
    pool, _ = humans.materials[0].load()
    x = pool.features[0]
    assert len({humans.worker(pool, 1).answer(x) for _ in range(20)}) == 1
    worker = by_chance.worker(pool, 1)
    assert len({worker.answer(x) for _ in range(60)}) == 2


def test_nothing_to_teach_with_is_refused(tmp_path):
    with pytest.raises(BadExperiment, match="--dataset"):
        Humans().prepared(tmp_path)


def test_a_part_of_a_pool_can_be_held_out():
    rng = np.random.default_rng(0)
    labels = np.resize([1, -1], 50)
    pool = Pool(rng.normal(size=(50, 3)) + 0.1 * labels[:, None], labels)
    split = held_out(pool, 1)
    assert len(split.evaluation.labels) == 24
    assert split.evaluation.labels.sum() == 12
    together = np.concatenate([split.teaching.features, split.evaluation.features])
    np.testing.assert_array_equal(
        together[np.lexsort(together.T)], pool.features[np.lexsort(pool.features.T)]
    )


@pytest.mark.django_db
def test_an_unknown_data_set_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(BadExperiment, match="None has been imported"):
        Humans(datasets=("Beasts",)).prepared(tmp_path)
    dataset = make_dataset()
    with pytest.raises(BadExperiment, match=f"There are: {dataset.name}"):
        Humans(datasets=("Beasts",)).prepared(tmp_path)


@pytest.mark.django_db
def test_an_imported_data_set_is_taught_with_its_own_pool(tmp_path):
    dataset = make_dataset(teaching=40, evaluation=30)
    humans = Humans(datasets=(dataset.name,)).prepared(tmp_path)
    material = humans.materials[0]
    pool, evaluation = material.load()
    assert material.pool == dataset.folder / "pool"
    assert len(evaluation.labels) == 30
    assert evaluation.features.shape[1] == pool.dimensions
    assert humans.run(cell_of(str(dataset), JEDI), 0)["evaluation"] is not None


@pytest.mark.django_db
def test_without_evaluation_features_a_part_of_the_pool_is_held_out(tmp_path):
    dataset = make_dataset(teaching=40, evaluation=30)
    (dataset.folder / pools.EVALUATION).unlink()
    material = Humans(datasets=(dataset.name,)).prepared(tmp_path).materials[0]
    pool, evaluation = material.load()
    assert (pool.n, len(evaluation.labels)) == (20, 20)
    assert "held out" in material.note
