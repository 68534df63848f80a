"""People's data: reading it strictly, predicting it fairly, and the report."""

import csv
import dataclasses

import numpy as np
import pytest

from jobs.sweeps import HERE
from reproduction import people_scores, runs
from reproduction.experiment import BadExperiment
from reproduction.people import HARMONIC, MENDED, RUNNING, TRACKED, Lesson, People, running
from reproduction.people_files import read_people, standardised
from teaching import decay
from teaching.engine import BadSetting

HEADER = ["person", "task", "trial", "item", "label", "answer", "is_taught", "response_ms"]


def write_csv(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def made_people(folder, *, people=3, k=2, steps=12, tested=0, own_labels=False):
    """A folder in the documented form: nine items on a grid, answers that get better."""
    folder.mkdir(parents=True)
    grid = [(i, i // 3, i % 3) for i in range(9)]
    write_csv(
        folder / "items.csv", ["item", "height", "width"], [[f"i{i}", a, b] for i, a, b in grid]
    )
    rng = np.random.default_rng(k)
    trials = []
    for person in range(people):
        turned = person % k if own_labels else 0
        for trial in range(steps + tested):
            item, row, _ = grid[rng.integers(9)]
            label = (min(row, k - 1) + turned) % k
            knows = rng.random() < 0.4 + trial / steps
            answer = label if knows else int(rng.integers(k))
            trials.append([person, 1, trial + 1, f"i{item}", label, answer, int(trial < steps), ""])
    write_csv(folder / "trials.csv", HEADER, trials)
    write_csv(folder / "memory.csv", ["person", "memory"], [[p, p / 2] for p in range(people)])
    return folder


@pytest.fixture(scope="module")
def two_sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    return (
        made_people(folder / "pairs", people=4, own_labels=True),
        made_people(folder / "triples", k=3, tested=4),
    )


# Reading.


def test_people_are_read_with_standardised_features_and_class_numbers(two_sets):
    data = read_people(two_sets[1])
    assert (data.name, data.people, list(data.classes)) == ("triples", 3, ["0", "1", "2"])
    np.testing.assert_allclose(data.features.std(axis=0), 1)
    session = data.sessions[0]
    assert session.is_taught.sum() == 12
    assert len(session.items) == 16
    assert data.memory["2"] == 1.0


def test_labels_are_shared_only_where_nobody_was_taught_others(two_sets):
    own, shared = (read_people(path) for path in two_sets)
    assert own.shared_labels is None
    assert set(own.labels_for(own.sessions[0])) == set(own.sessions[0].items.tolist())
    assert shared.labels_for(shared.sessions[0]) == shared.shared_labels


def test_of_many_features_the_scales_are_kept():
    features = np.random.default_rng(0).normal(size=(50, 20)) * np.arange(1, 21)
    kept = standardised(features).std(axis=0)
    np.testing.assert_allclose(kept / kept[0], features.std(axis=0) / features.std(axis=0)[0])


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("items.csv", "i3,", "i2,", "item 'i2' twice"),
        ("items.csv", "i3,1,0", "i3,tall,0", "line 5: height is 'tall', not a number"),
        ("trials.csv", "is_taught", "taught", "no column is_taught"),
        ("trials.csv", "0,1,2,", "0,1,1,", "trial number twice"),
        ("trials.csv", "0,1,2,i", "0,1,2,j", "is not in items.csv"),
        ("trials.csv", ",1,\n", ",yes,\n", "write 1 or 0"),
        ("trials.csv", ",1,\n", ",1\n", "8 values are expected"),
        ("memory.csv", "memory", "score", "no column memory"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, file, old, new, complaint):
    folder = made_people(tmp_path / "people")
    path = folder / file
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadExperiment, match=complaint):
        read_people(folder)


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(BadExperiment, match=r"items\.csv cannot be read"):
        read_people(tmp_path)


# Predicting.


@pytest.mark.parametrize("place", [0, 1])
def test_no_way_to_predict_looks_at_the_answers_to_come(two_sets, place):
    data = read_people(two_sets[place])
    session = data.sessions[0]
    k = len(data.classes)
    later = session.answers.copy()
    later[6:] = (later[6:] + 1) % k
    other = dataclasses.replace(session, answers=later)
    one, two = (Lesson.of(data, s, 12, 0.75).expected() for s in (session, other))
    for name, chances in one.items():
        np.testing.assert_allclose(chances[:7], two[name][:7], atol=1e-12, err_msg=name)
        np.testing.assert_allclose(chances.sum(axis=1), 1)


def test_the_running_accuracy_starts_from_a_guess_at_each_class():
    chances = running(np.array([0, 1, 2]), np.array([0, 1, 1]), 3)
    np.testing.assert_allclose(chances[0], [1 / 3] * 3)
    np.testing.assert_allclose(chances[2], [1 / 5, 1 / 5, 3 / 5])


def test_those_who_know_no_person_know_all_the_others(two_sets):
    rows = [
        {"person": p, "classes": 2, "labels": [1, 0], "answers": answers}
        for p, answers in (("a", [1, 1]), ("b", [1, 0]), ("b", [0, 0]))
    ]
    told = people_scores.without_person(rows)
    # Of the two tasks of b one was right at first and both were right at last.
    np.testing.assert_allclose(told["curve"][0], [[1 / 2, 1 / 2], [3 / 4, 1 / 4]])
    np.testing.assert_allclose(told["constant"][0][0], [1 / 3, 2 / 3])


def test_the_calibration_error_is_the_mean_distance_in_tenths():
    expected, said = np.array([0.05, 0.05, 0.95, 0.95]), np.array([0, 1, 1, 1.0])
    assert people_scores.calibration_error(expected, said) == pytest.approx((0.9 + 0.1) / 4)


def test_the_interval_of_the_calibration_error_covers_that_of_everybody():
    rng = np.random.default_rng(0)
    who, expected = np.repeat(np.arange(40), 25), rng.random(1000)
    said = (rng.random(1000) < np.clip(expected + 0.2, 0, 1)).astype(float)
    gaps = people_scores.binned_gaps(expected, said, who, 40)
    assert np.abs(gaps.sum(axis=0)).sum() / 1000 == pytest.approx(
        people_scores.calibration_error(expected, said)
    )
    interval = people_scores.calibration_interval(gaps, np.full(40, 25.0))
    assert interval.low < people_scores.calibration_error(expected, said) < interval.high


# The report.


def test_a_report_covers_every_set_with_its_tests_and_memory(two_sets, tmp_path):
    experiment = People(paths=two_sets, answers=12).prepared(tmp_path)
    results = runs.run(experiment, tmp_path, HERE)
    sections = experiment.report(results)
    assert [one.title for one in sections] == ["In short", "pairs", "triples"]
    assert [table.title for table in sections[2].tables][-1] == "Items that were not taught"
    row = results.of("triples")[0]
    assert {HARMONIC, TRACKED, RUNNING} <= set(row["chances"])
    assert {HARMONIC, MENDED, TRACKED, RUNNING} <= set(row["tests"])
    models = next(t.data for t in sections[2].tables if t.title == "Single models")
    assert len(models.rows) == len(row["models"]) > 100
    losses = people_scores.Scored(read_people(two_sets[1]), results.of("triples")).people
    family, model, mean, low, high = models.rows[40][:5]
    own = losses[f"{family}: {model}"].values()
    assert mean == pytest.approx(np.mean(list(own)))
    assert low < mean < high
    names = {part.data.name for one in sections for part in (*one.tables, *one.figures)}
    assert {"people-summary", "people-pairs-fits", "people-triples-tests"} <= names
    assert {"people-pairs-memory", "people-triples-models", "people-pairs-by-answers"} <= names
    assert {"people-pairs-decay", "people-pairs-betas"} <= names
    assert all(figure.svg for section in sections for figure in section.figures)


def test_a_person_has_one_decay_of_all_tasks_and_the_group_one_distribution(two_sets, tmp_path):
    experiment = People(paths=two_sets, answers=12).prepared(tmp_path)
    rows = runs.run(experiment, tmp_path, HERE).of("pairs")
    again = [*rows, *({**row, "task": "2"} for row in rows)]
    found = people_scores.Scored(read_people(two_sets[0]), again)
    person, surfaces = next(iter(found.surfaces.items()))
    assert [row["surface"] for row in again if row["person"] == person] == surfaces
    assert found.betas[person] == decay.together(surfaces)
    assert found.group.people == len(found.persons) == 4
    # A second task of everybody counts, though it adds no person.
    assert found.group.shares != people_scores.Scored(found.data, rows).group.shares


def test_rows_of_before_are_not_gone_on_with(two_sets, tmp_path):
    experiment = People(paths=two_sets, answers=12).prepared(tmp_path)
    settings = {name: value for name, value in experiment.settings().items() if name != "seeds"}
    del settings["rows"]
    runs.Checkpoint.open(tmp_path, settings)
    with pytest.raises(BadExperiment, match="--fresh"):
        runs.run(experiment, tmp_path, HERE)


def test_two_folders_of_one_name_are_refused(two_sets, tmp_path):
    with pytest.raises(BadExperiment, match="same name"):
        People(paths=(two_sets[0], two_sets[0])).prepared(tmp_path)


@pytest.mark.parametrize("name", ["items.csv", "trials.csv"])
def test_a_corrected_file_is_another_run(tmp_path, name):
    folder = made_people(tmp_path / "pairs")
    before = People(paths=(folder,)).settings()
    corrected = (folder / name).read_text().replace("i8,", "i8 ,")
    (folder / name).write_text(corrected)
    assert People(paths=(folder,)).settings() != before


def test_a_decay_that_is_none_is_refused_before_the_work(two_sets):
    with pytest.raises(BadSetting, match="lies in"):
        People(paths=two_sets, beta=2.0)
